"""Generators that are looped over, or taken in as a whole, and itertools' functions."""

# ruff: noqa
import itertools
from collections import deque
from itertools import accumulate, chain, combinations, count, islice, pairwise, product, takewhile

import numpy as np

import autobatch as ab
from tests.meaning.case import case

n = np.array([0, 1, 2, 3, 5, 8, 13, 4])
x = np.array([3, 0, 7, 1, 2, 9, 4, 4])

SCALE = 3


def fibonacci(limit):
    a, b = 0, 1
    while a < limit:
        yield a
        a, b = b, a + b


def naturals():
    k = 0
    while True:
        yield k
        k += 1


def scaled(limit, by=SCALE):
    for k in range(limit):
        if k % 4 == 3:
            continue
        if k > 9:
            return
        yield k * by
        yield -k


def pairs(a, b):
    for i in range(a):
        for j in range(b):
            if i * j > 12:
                return
            if (i + j) % 2:
                yield i, j


def digits(number, base=10):
    while number > 0:
        yield number % base
        number //= base


def both(a, b):
    yield from fibonacci(a)
    yield 100
    yield from digits(b, base=2)


@case(n)
def summed(n):
    total = 0
    for a in fibonacci(n):
        total = total * 2 + a
    return total


@case(n, x)
def with_jumps(n, x):
    seen, last = 0, -1
    for v in scaled(n):
        if v == x:
            continue
        if v > 20:
            break
        seen += v
        last = v
    else:
        seen += 1000
    return seen, last


@case(n, x)
def leaves_two_loops(n, x):
    found = (-1, -1)
    for i, j in pairs(n, x):
        if i * 3 + j > 10:
            found = (i, j)
            break
        if j == 1:
            continue
        found = (j, i)
    else:
        return 7, 7
    return found


@case(n, x)
def returns_from_within(n, x):
    for k in naturals():
        if k * k > n * x:
            return k


@case(n)
def names_of_its_own(n):
    k, a, limit = 5, 6, 7
    total = 0
    for v in fibonacci(n):
        for b in fibonacci(v):
            total += b * a
    return total, k, limit


@case(n, x)
def of_generators(n, x):
    total = 0
    for v in both(n, x):
        total = total * 3 + v
        if total > 10_000:
            break
    return total


@case(n)
def as_a_whole(n):
    return sum(fibonacci(n)), max(scaled(n), default=-5), list(digits(n)), sorted(scaled(n)), len(list(fibonacci(n)))


@case(n, x)
def in_comprehensions(n, x):
    return [v * x for v in fibonacci(n) if v % 2], sum(d * d for d in digits(n + x)), any(v == x for v in scaled(n))


@case(n)
def numbered(n):
    total = 0
    for k, d in enumerate(digits(n * 37), start=1):
        total += k * d
    return total


@case(n, x)
def inside(n, x):
    step = 2

    def upward(limit):
        nonlocal_like = step
        v = x
        while v < limit:
            yield v
            v += step + nonlocal_like

    total = 0
    for v in upward(n + 4):
        step = 3  # the generator reads it late
        total += v
    return total


@case(n, x)
def twice(n, x):
    total = 0
    for v in fibonacci(n):
        total += v
    for v in fibonacci(x):
        total -= v
    return total


@case(n, x)
def of_itertools(n, x):
    total = 0
    for a, b in product(range(n), range(x)):
        if a == b:
            continue
        if a > 3:
            break
        total += a * b
    for a, b in combinations(range(n), 2):
        total += a ^ b
    for a, b in pairwise(range(x)):
        total -= a * b
    for a in chain(range(n), [x, 4]):
        total += a
    for a in accumulate(range(n)):
        total += a
    for a in islice(count(x), n):
        total += a
    for a in takewhile(lambda v: v < x, count(n, 2)):
        total += a
    for k in count():
        if k > x:
            break
        total += k
    return total


@case(n, x)
def permuted(n, x):
    best = 0
    for a, b, c in itertools.permutations([n, x, n + x], 3):
        best = max(best, a * 100 + b * 10 - c)
    for v in itertools.repeat(x, n):
        best += v
    for v in itertools.cycle([n, x]):
        best += 1 + v
        if best > 500:
            break
    return best


@case(n, x, fails=[0])
def raises_within(n, x):
    def checked(limit):
        if limit == 0:
            raise ValueError("nothing")
        for k in range(limit):
            yield x // (k + 1)

    total = 0
    for v in checked(n):
        total += v
    return total


@case(n, x)
def caught_around(n, x):
    total = 0
    try:
        for v in digits(n * 100 + x):
            total += 10 // v
    except ZeroDivisionError:
        total = -total
    return total


@case(n, x)
def filled_meanwhile(n, x):
    def collatz(v):
        while v > 1:
            yield v
            v = v // 2 if v % 2 == 0 else 3 * v + 1

    path = [x]
    for v in collatz(n):
        path.append(v)
    return path


@case(n, x)
def the_first(n, x):
    first = next(v for v in count(1) if v * v > n)
    second = next((v for v in fibonacci(n) if v > x), -1)
    third = next(digits(n + x), 0)
    return first, second, third, next(scaled(n)), x in fibonacci(n), n not in digits(x)


@case(n, x)
def stops(n, x):
    return next(v for v in range(n) if v > x)


@case(n, x)
def mapped(n, x):
    def cubed(v):
        return v * v * v

    total = sum(map(cubed, range(n))) + max(map(lambda v: -v * x, [n, x, 2])) + sum(filter(lambda v: v % 3, range(x)))
    total += len(list(filter(None, [n % 2, x % 3, n - x])))
    some = list(map(lambda a, b: a * b, range(n), range(x)))
    for v in map(cubed, some):
        total -= v
    for v in filter(lambda v: v > x, some):
        if v > 30:
            break
        total += v
    return total, some, list(map(float, some)), all(map(lambda v: v < 50, some)), sorted(map(abs, [n, -x, 3]))


@case(n)
def generator_expressions_that_are_taken_in(n):
    xs = [1]
    xs.extend(i for i in range(n) if i % 2)
    queue = deque(i for i in range(4) if i < n)
    queue.extend(i * i for i in range(n))
    ordered = sorted(i * 5 % 7 for i in range(n)), sorted((i * 5 % 7 for i in range(n)), reverse=True)
    return list(i for i in range(5) if i < n), xs, len(queue), ordered, len(set(i % 3 for i in range(n)))


@case(n)
def sets_of_what_nested_functions_find(n):
    parents = [0, 0, 1, n % 3]

    def find(x):
        while parents[x] != x:
            x = parents[x]
        return x

    return len({find(i) for i in range(4)}), len(set(find(i) for i in range(3)))
