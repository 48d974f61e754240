"""Floats to the last bit."""

# ruff: noqa
import math

import numpy as np

from tests.meaning.case import case

N = np.array
x = N([49.0, 98.0, 3.0, 7.0, math.inf, math.nan, -49.0])


@case(N([49.0, 98.0, 3.0, -49.0]))
def divided_by_a_constant(x):
    return int(x / 49), x / 49 >= 1, x / 10 == 0.3


@case(N([49.0, 98.0, 3.0, -49.0]))
def divided_by_a_constant_variable(x):
    d = 49
    y = 1
    if x > 50:
        y = 2
    while y < 3 and x > 0:
        y += 1
        x = x / d
    return int(x), y, x


@case(N([[49.0, 3.0], [7.0, 98.0]]))
def array_divided_by_a_constant(x):
    return x / 49.0 >= 1.0, x[0] / 10 == 0.3, sum(x) / len(x)


@case(N([57, 29, 100, 7]), N([100, 50, 3, 700]))
def percent(points, total):
    return int(points / 100 * total), points / 100, math.floor(points / 49 * 49)


@case(x)
def special_quotients(x):
    return x / 3.0, x / 4, 1 / 3.0 * x


@case(N([0.1, 1.0, 2.0, 1.0]), N([0.2, 2.0, 1.0, 5.0]), N([0.1, 1.0, 3.0, 1.0]))
def roots(a, b, c):
    d = b * b - 4 * a * c
    if d == 0:
        return 1
    return 2 if d > 0 else 0


@case(N([1e8 + 1, 3.0, 0.1]))
def product_minus_product(a):
    return a * a - a * a * 1.0, a * a + 0.1 * a - 0.3, (a * a) - (a**2)


@case(N([0.1, 0.2, 1.5]), N([0.3, 0.6, 4.5]))
def collinear(x, y):
    return (x - 0.0) * (y * 2 - 0.1) - (x * 2 - 0.1) * (y - 0.0) == 0, x * 3 - y


HALVES = N(
    [2.675, 32.45, 1.005, 0.125, 0.375, 2.5, 3.5, -2.675, -0.125, 1e300, 0.0, 123456789.987654321, 5e-324, 1e15 + 0.3]
)


@case(HALVES)
def rounded(x):
    y = float(x)
    return round(y, 2), round(y, 1), round(y, 4), round(y, 0), round(y, -2), round(y, 10), round(y, -1), round(y, 15)


@case(N([math.nan, math.inf, -math.inf, 1.0]))
def rounded_to_no_number(x):
    y = float(x)
    return round(y, 2)


@case(N([2**53 + 1, 2**53, 5]), fails=[0])
def smallest(n):
    best = float("inf")
    best = min(best, n)
    return best % 10


@case(N([2**53 + 1, 2**53, 5]), fails=[0])
def joins_a_float(n):
    k = n + 0
    if n < 10:
        k = 0.5
    return k


@case(N([2**53 + 1, 2**53, 5]), fails=[0])
def quotient_of_wide_ints(n):
    return n / 1 == n


@case(N([2**40, 3, 5]))
def counters_and_floats(n):
    best = 0.5
    for i in range(4):
        if i * 3 > n % 7:
            best = i
    return best
