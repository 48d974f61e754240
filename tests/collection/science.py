"""Root finding, steppers, geometry, physics, finance: formulas with validation."""

# ruff: noqa
import math

import numpy as np

from tests.collection.case import case

X = [0.5, 2.0, 10.0, 0.1]


@case(X)
def newton_sqrt(x):
    if x < 0:
        raise ValueError("negative number")
    guess = x / 2 if x > 1 else 1.0
    while abs(guess * guess - x) > 1e-10:
        guess = (guess + x / guess) / 2
    return guess


@case([2.0, 5.0, 1.5])
def bisection(target):
    low, high = 0.0, max(1.0, target)
    while high - low > 1e-9:
        mid = (low + high) / 2
        if mid * mid * mid < target:
            low = mid
        else:
            high = mid
    return mid


@case([0.5, 1.0, 2.5])
def newton_raphson(x0):
    x = x0
    for i in range(50):
        fx = x**3 - 2 * x - 5
        if abs(fx) < 1e-10:
            break
        derivative = 3 * x**2 - 2
        if derivative == 0:
            raise ZeroDivisionError("flat")
        x = x - fx / derivative
    return x


@case([1.0, 2.0], [2.0, 3.0])
def secant(x0, x1):
    f = lambda x: x**2 - 2
    for _ in range(30):
        f0, f1 = f(x0), f(x1)
        if f1 == f0:
            break
        x0, x1 = x1, x1 - f1 * (x1 - x0) / (f1 - f0)
    return x1


@case([0.0, 1.0], [1.0, 3.0])
def trapezoid(a, b, n=50):
    h = (b - a) / n
    total = 0.5 * (math.sin(a) + math.sin(b))
    for i in range(1, n):
        total += math.sin(a + i * h)
    return total * h


@case([0.0, 1.0], [1.0, 3.0])
def simpson(a, b):
    n = 20
    h = (b - a) / n
    total = math.exp(a) + math.exp(b)
    for i in range(1, n):
        total += (4 if i % 2 else 2) * math.exp(a + i * h)
    return total * h / 3


@case([1.0, 0.5], [0.1, 0.2])
def euler_decay(y, k):
    t, dt = 0.0, 0.01
    while t < 1.0:
        y += -k * y * dt
        t += dt
    return y


@case([1.0, 0.5])
def runge_kutta(y):
    def f(t, y):
        return y - t * t + 1

    t, h = 0.0, 0.1
    for _ in range(10):
        k1 = h * f(t, y)
        k2 = h * f(t + h / 2, y + k1 / 2)
        k3 = h * f(t + h / 2, y + k2 / 2)
        k4 = h * f(t + h, y + k3)
        y = y + (k1 + 2 * k2 + 2 * k3 + k4) / 6
        t += h
    return y


@case([10.0, 20.0], [30.0, 60.0])
def projectile_range(speed, angle):
    if speed < 0:
        raise ValueError("speed must not be negative")
    if not 0 <= angle <= 90:
        raise ValueError("angle must be between 0 and 90 degrees")
    return speed**2 * math.sin(2 * math.radians(angle)) / 9.81


@case([70.0, 50.0, -1.0], [1.75, 1.6, 1.8])
def body_mass_index(weight, height):
    if weight <= 0 or height <= 0:
        raise ValueError("weight and height must be positive")
    index = weight / height**2
    if index < 18.5:
        return 0
    elif index < 25:
        return 1
    elif index < 30:
        return 2
    return 3


@case([300.0, 250.0], [2.0, 1.0], [0.05, 0.02])
def ideal_gas_pressure(temperature, moles, volume):
    if temperature < 0 or moles < 0 or volume <= 0:
        raise ValueError("invalid inputs: temperature, moles and volume must be positive")
    return moles * 8.314462618 * temperature / volume


@case([1000.0, 500.0], [0.05, 0.03], [10, 5])
def compound_interest(principal, rate, years):
    if principal <= 0:
        raise Exception("principal must be positive")
    if rate < 0:
        raise Exception("rate must not be negative")
    balance = principal
    for _ in range(years):
        balance += balance * rate
    return round(balance, 2)


@case([200000.0, 100000.0], [0.04, 0.0], [30, 15])
def mortgage_payment(principal, annual_rate, years):
    months = years * 12
    rate = annual_rate / 12
    if rate == 0:
        return principal / months
    return principal * rate / (1 - (1 + rate) ** -months)


@case([[-1000.0, 300.0, 420.0, 680.0], [-500.0, 100.0, 200.0, 300.0]], [0.1, 0.05])
def net_present_value(flows, rate):
    total = 0.0
    for t, flow in enumerate(flows):
        total += flow / (1 + rate) ** t
    return round(total, 2)


@case([3.0, 5.0, 1.0], [4.0, 12.0, 1.0], [5.0, 13.0, 5.0])
def heron(a, b, c):
    if a + b <= c or b + c <= a or a + c <= b:
        raise ValueError("the sides do not form a triangle")
    s = (a + b + c) / 2
    return math.sqrt(s * (s - a) * (s - b) * (s - c))


@case([1.0, 0.0, 1.0], [-3.0, 2.0, 2.0], [2.0, -4.0, 5.0])
def quadratic_roots(a, b, c):
    if a == 0:
        raise ValueError("coefficient a must not be zero")
    delta = b * b - 4 * a * c
    if delta < 0:
        return 0.0, 0.0
    root = math.sqrt(delta)
    return (-b + root) / (2 * a), (-b - root) / (2 * a)


@case([0.0, 52.5], [0.0, 13.4], [10.0, 48.9], [20.0, 2.35])
def haversine(lat1, lon1, lat2, lon2):
    phi1, phi2 = math.radians(lat1), math.radians(lat2)
    dphi = math.radians(lat2 - lat1)
    dlambda = math.radians(lon2 - lon1)
    a = math.sin(dphi / 2) ** 2 + math.cos(phi1) * math.cos(phi2) * math.sin(dlambda / 2) ** 2
    return 2 * 6371.0 * math.atan2(math.sqrt(a), math.sqrt(1 - a))


@case([[0.0, 4.0, 4.0, 0.0], [0.0, 2.0, 3.0, 1.0]], [[0.0, 0.0, 3.0, 3.0], [0.0, 0.0, 2.0, 2.0]])
def polygon_area(xs, ys):
    n = len(xs)
    total = 0
    for i in range(n):
        j = (i + 1) % n
        total += xs[i] * ys[j] - xs[j] * ys[i]
    return abs(total) / 2


@case([0.3, 0.0, -0.7], [0.5, 1.0, 0.2])
def mandelbrot(re, im):
    x = y = 0.0
    n = 0
    while x * x + y * y <= 4.0 and n < 100:
        x, y = x * x - y * y + re, 2 * x * y + im
        n += 1
    return n


@case([20.0, 100.0], [0, 1])
def convert_temperature(value, to_fahrenheit):
    if to_fahrenheit:
        return round(value * 9 / 5 + 32, 1)
    return round((value - 32) * 5 / 9, 1)


@case([2000, 1900, 2024, 2023])
def is_leap_year(year):
    return year % 4 == 0 and (year % 100 != 0 or year % 400 == 0)


@case([2024, 2023], [2, 12], [29, 25])
def day_of_week(year, month, day):
    if month < 1 or month > 12:
        raise ValueError("month must be in 1..12")
    offsets = [0, 3, 2, 5, 0, 3, 5, 1, 4, 6, 2, 4]
    if month < 3:
        year -= 1
    return (year + year // 4 - year // 100 + year // 400 + offsets[month - 1] + day) % 7


@case([0.2, 1.0, -2.0])
def sine_series(x, terms=15):
    total, term = 0.0, x
    for n in range(1, terms):
        total += term
        term *= -x * x / ((2 * n) * (2 * n + 1))
    return total


@case([1e-6, 1e-3])
def pi_by_leibniz(tolerance):
    total, k = 0.0, 0
    while True:
        term = (-1) ** k / (2 * k + 1)
        total += term
        if abs(term) < 1e-3 + tolerance:
            return 4 * total
        k += 1


@case([12.0, 80.0, 300.0])
def tax(income):
    brackets = [(50.0, 0.1), (150.0, 0.2), (float("inf"), 0.35)]
    owed, lower = 0.0, 0.0
    for upper, rate in brackets:
        if income > lower:
            owed += (min(income, upper) - lower) * rate
        lower = upper
    return owed


@case([0.5, 3.0], [1.0, 1.0], [0.5, 2.0])
def normal_density(x, mu, sigma):
    if sigma <= 0:
        raise ValueError("sigma must be positive")
    return math.exp(-0.5 * ((x - mu) / sigma) ** 2) / (sigma * math.sqrt(2 * math.pi))


@case([100.0], [95.0], [0.05], [0.2], [1.0])
def black_scholes(s, k, r, sigma, t):
    def cdf(x):
        return (1.0 + math.erf(x / math.sqrt(2.0))) / 2.0

    d1 = (math.log(s / k) + (r + sigma**2 / 2) * t) / (sigma * math.sqrt(t))
    d2 = d1 - sigma * math.sqrt(t)
    return s * cdf(d1) - k * math.exp(-r * t) * cdf(d2)


@case([5, 0, -3])
def sign(x):
    if x > 0:
        return 1
    if x < 0:
        return -1
    return 0


@case([15, 3, 5, 7])
def fizzbuzz(n):
    if n % 15 == 0:
        return -3
    if n % 5 == 0:
        return -2
    if n % 3 == 0:
        return -1
    return n


@case([3, 5])
def towers_of_hanoi(n):
    return 0 if n == 0 else 2 * towers_of_hanoi(n - 1) + 1


@case([1, 2], [2, 3])
def ackermann(m, n):
    if m == 0:
        return n + 1
    if n == 0:
        return ackermann(m - 1, 1)
    return ackermann(m - 1, ackermann(m, n - 1))


@case([0.1, 0.9])
def clamp(x, low=0.2, high=0.8):
    try:
        return max(low, min(x, high))
    except TypeError:
        return low


@case([4, 6])
def dice_ways(total):
    ways = [1] + [0] * 12
    for _ in range(2):
        new = [0] * 13
        for s in range(13):
            for face in range(1, 7):
                if s + face <= 12:
                    new[s + face] += ways[s]
        ways = new
    return ways[total]


@case([[1.0, 2.0, 3.0, 4.0], [0.0, 1.0, 2.0, 3.0]], [[2.1, 3.9, 6.2, 7.8], [1.0, 1.0, 1.0, 1.0]])
def linear_fit(x, y):
    n = len(x)
    mx, my = np.mean(x), np.mean(y)
    slope = np.sum((x - mx) * (y - my)) / np.sum((x - mx) ** 2)
    return slope, my - slope * mx
