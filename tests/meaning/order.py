"""Tuples and lists in order: by the first parts that differ, or else by their lengths."""

# ruff: noqa
import numpy as np

from tests.meaning.case import case

n = np.array([3, 0, 7, 12])
x = np.array([1.5, -2.0, 0.25, 3.0])


@case(x, n)
def tuples_in_order(x, n):
    later = (x, n) > (n, x), (x, n) >= (x, 2), (x % 2, n, 1) < (n % 2, x), (x % 3, 2) <= (n % 3, 2)
    nested = (x % 2, (n % 2, x)) < (n % 2, (x % 2, n)), [x % 2, n] < [1, 3, 5], (n, 0) < (n,), () < (x,)
    limit = (3, x)
    days = 0
    while (x % 4, n) < limit and days < 5:
        n += 1
        days += 1
    return later, nested, days, n


@case(n)
def under_names(n):
    t, u = (n % 2, n), (1, 7)
    rows = [n % 2, 3]
    return t < u, u <= t, t == u, t != u, rows > [1, n], rows == [1, 3]


@case(n)
def the_best_pair_so_far(n):
    best, worst = (0, 0), (9, 9)
    for i in range(n + 1):
        pair = (i * 5 % 3, i)
        if pair > best:
            best = pair
        worst = min(worst, pair)
    return best, worst


@case(n)
def greatest_and_least(n):
    pairs = [(n % 2, n), (1, 3), (n % 3, 2)]
    first, second = (n % 2, n), (1, 3)
    three = min(first, second, (n, 0)), max(first, second)
    return three, max(pairs), min(pairs), max((v % 3, k) for k, v in enumerate([n, 3, 5]))


@case(n)
def sorted_pairs(n):
    pairs = [(n % 2, n), (1, 3), (n % 3, 2)]
    return sorted(pairs), sorted(pairs, reverse=True), sorted((v % 3, k) for k, v in enumerate([n, 3, 5]))


@case(n)
def pairs_that_grow(n):
    pairs = []
    for i in range(n + 1):
        pairs.append((i * 5 % 3, -i))
    greatest, least = max(pairs), min(pairs)
    pairs.sort()
    return greatest, least, [p[1] for p in pairs], sorted(pairs, reverse=True)[0]


@case(n)
def in_lambdas(n):
    limit = (n % 2, n)
    before = lambda p: p < limit
    return before((1, 5)), [p == (1, n) for p in [(1, 3), (1, 7)]]
