"""Simulations, statistics, dates and prices: scripts of a page."""

# ruff: noqa
import math
from dataclasses import dataclass

import numpy as np

from tests.collection.case import case

X = [0.3, 1.7, 4.0]
SAMPLES = [[1.0, 2.0, 4.0, 8.0], [3.0, 3.0, 3.0, 3.0], [-1.0, 0.5, 2.5, 0.0]]


@case([1, 2, 99])
def linear_congruential(seed):
    total = 0
    for _ in range(10):
        seed = (1103515245 * seed + 12345) % 2**31
        total += seed % 6 + 1
    return total


@case([1, 12345, 2**31])
def xorshift(state):
    if state == 0:
        raise ValueError("state must not be zero")
    for _ in range(5):
        state ^= (state << 13) & 0xFFFFFFFF
        state ^= state >> 17
        state ^= (state << 5) & 0xFFFFFFFF
    return state


@case([10.0, 25.0, 3.0])
def bouncing_ball(height):
    bounces, travelled = 0, height
    while height > 0.1:
        height *= 0.6
        travelled += 2 * height
        bounces += 1
    return bounces, round(travelled, 3)


@case([2.5, 3.2, 3.9])
def logistic_map(r):
    x = 0.5
    for _ in range(200):
        x = r * x * (1 - x)
    seen = [x]
    for _ in range(3):
        seen.append(r * seen[-1] * (1 - seen[-1]))
    return seen


@case([0.1, 0.3], [0.05, 0.1])
def epidemic(beta, gamma):
    s, i, r = 0.99, 0.01, 0.0
    peak, day_of_peak = i, 0
    for day in range(1, 161):
        infections = beta * s * i
        recoveries = gamma * i
        s, i, r = s - infections, i + infections - recoveries, r + recoveries
        if i > peak:
            peak, day_of_peak = i, day
    return peak, day_of_peak, r


@case([40.0, 9.0], [9.0, 5.0])
def predator_and_prey(prey, predators):
    history = []
    for step in range(50):
        prey += 0.01 * (1.1 * prey - 0.4 * prey * predators)
        predators += 0.01 * (0.1 * prey * predators - 0.4 * predators)
        history.append(prey)
    return max(history), min(history)


@case([1.0, 0.5], [0.0, 2.0])
def pendulum(angle, speed):
    time, dt = 0.0, 0.01
    while angle > 0 and time < 10:
        speed -= 9.81 * math.sin(angle) * dt
        angle += speed * dt
        time += dt
    return time


@case([70.0, 95.0], [20.0, 5.0])
def cooling(temperature, room):
    minutes = 0
    while temperature - room > 1:
        temperature -= 0.07 * (temperature - room)
        minutes += 1
        if minutes > 1000:
            raise RuntimeError("it never cools")
    return minutes


@dataclass
class Account:
    balance: float
    fee: float = 1.0

    def withdraw(self, amount):
        if amount > self.balance:
            return False
        self.balance -= amount + self.fee
        return True


@case([100.0, 50.0, 10.0])
def withdrawals(balance):
    account = Account(balance)
    done = 0
    for amount in (30.0, 20.0, 40.0):
        if account.withdraw(amount):
            done += 1
    return done, account.balance


@case([1000.0, 250.0], [0.05, 0.12])
def years_to_double(principal, rate):
    if rate <= 0:
        raise ValueError("rate must be positive")
    years, amount = 0, principal
    while amount < 2 * principal:
        amount *= 1 + rate
        years += 1
    return years


@case([5000.0, 1200.0], [0.02, 0.015], [300.0, 100.0])
def months_to_pay_off(balance, rate, payment):
    if payment <= balance * rate:
        raise ValueError(f"a payment of {payment} never pays {balance} off")
    months, interest = 0, 0.0
    while balance > 0:
        charge = balance * rate
        interest += charge
        balance = balance + charge - payment
        months += 1
    return months, interest


@case([[-100.0, 60.0, 60.0], [-100.0, 10.0, 120.0]])
def internal_rate_of_return(flows):
    low, high = -0.9, 5.0
    for _ in range(100):
        rate = (low + high) / 2
        value = sum(flow / (1 + rate) ** k for k, flow in enumerate(flows))
        if abs(value) < 1e-9:
            break
        if value > 0:
            low = rate
        else:
            high = rate
    return rate


@case([55.5, 92.0, 71.0, 101.0])
def grade(score):
    if not 0 <= score <= 100:
        raise ValueError("score out of range")
    if score >= 90:
        return 4
    elif score >= 80:
        return 3
    elif score >= 70:
        return 2
    return 1 if score >= 60 else 0


@case(SAMPLES)
def standard_deviation(values):
    n = len(values)
    if n < 2:
        raise ValueError("at least two values are needed")
    average = sum(values) / n
    return math.sqrt(sum((v - average) ** 2 for v in values) / (n - 1))


@case(SAMPLES)
def geometric_mean(values):
    if any(v <= 0 for v in values):
        raise ValueError("values must be positive")
    return math.prod(values) ** (1 / len(values))


@case(SAMPLES, [[2.0, 4.0, 8.0, 1.0]] * 3)
def correlation(x, y):
    mx, my = np.mean(x), np.mean(y)
    top = np.sum((x - mx) * (y - my))
    bottom = np.sqrt(np.sum((x - mx) ** 2) * np.sum((y - my) ** 2))
    return top / bottom if bottom > 0 else 0.0


@case(SAMPLES, [0.25, 0.5, 0.9])
def quantile(values, q):
    ordered = sorted(values)
    position = q * (len(ordered) - 1)
    low = int(position)
    high = min(low + 1, len(ordered) - 1)
    return ordered[low] + (position - low) * (ordered[high] - ordered[low])


@case(SAMPLES)
def exponential_smoothing(values, alpha=0.5):
    smoothed = [values[0]]
    for v in values[1:]:
        smoothed.append(alpha * v + (1 - alpha) * smoothed[-1])
    return smoothed[-1]


@case(SAMPLES)
def longest_run_up(values):
    longest = run = 1
    for before, after in zip(values, values[1:]):
        run = run + 1 if after > before else 1
        longest = max(longest, run)
    return longest


@case(SAMPLES, X)
def horner(coefficients, x):
    result = 0
    for c in reversed(coefficients):
        result = result * x + c
    return result


@case(SAMPLES, X)
def lagrange(ys, x):
    total = 0.0
    for i in range(4):
        term = ys[i]
        for j in range(4):
            if i != j:
                term *= (x - j) / (i - j)
        total += term
    return total


@case([2024, 1999, 2000], [2, 12, 2], [29, 31, 28])
def day_of_year(year, month, day):
    lengths = [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]
    if year % 4 == 0 and (year % 100 != 0 or year % 400 == 0):
        lengths[1] = 29
    if not 1 <= month <= 12:
        raise ValueError("no such month")
    if day > lengths[month - 1]:
        raise ValueError("no such day")
    return sum(lengths[: month - 1]) + day


@case([3661, 59, 86400])
def hours_minutes_seconds(seconds):
    hours, rest = divmod(seconds, 3600)
    minutes, seconds = divmod(rest, 60)
    return hours, minutes, seconds


@case([3, 2, 5], [4, 2, 10])
def ramanujan_fraction(a, b):
    numerator, denominator = a, b
    for _ in range(3):
        numerator, denominator = denominator + a * numerator, numerator + b
    divisor = math.gcd(numerator, denominator)
    return numerator // divisor, denominator // divisor


@case([2.0, 0.3, 15.0])
def golden_section(width):
    f = lambda x: (x - 1) ** 2 + 0.5 * x
    ratio = (math.sqrt(5) - 1) / 2
    low, high = -width, width
    while high - low > 1e-6:
        left, right = high - ratio * (high - low), low + ratio * (high - low)
        if f(left) < f(right):
            high = right
        else:
            low = left
    return (low + high) / 2


@case([1.0, -3.0, 0.0], [2.0, 4.0, 0.0])
def to_polar(x, y):
    radius = math.hypot(x, y)
    if radius == 0:
        return 0.0, 0.0
    return radius, math.degrees(math.atan2(y, x))
