"""``sum``, ``any``, ``max`` and their like over comprehensions that turn as often as a member says."""

# ruff: noqa
import math
import statistics

import numpy as np

import autobatch as ab
from tests.meaning.case import case

N = np.array
n = N([3, 0, 7, 12])
m = N([2, 5, 0, 4])
xs = N([[3.0, -1.0, 2.5, 0.0], [5.0, 9.0, -7.0, 8.0], [0.5, 0.5, -2.0, 1.0], [1.0, 2.0, 3.0, 4.0]])


@case(n)
def sum_of_a_range(n):
    return sum(i * i for i in range(n)) + sum([i for i in range(1, n + 1)], 100)


@case(n)
def harmonic(n):
    return sum(1 / k for k in range(1, n + 1))


@case(n)
def sum_of_divisors(n):
    return sum(d for d in range(1, n) if n % d == 0)


@case(n)
def is_prime(n):
    return n > 1 and all(n % d for d in range(2, int(n**0.5) + 1))


@case(n)
def count_primes(n):
    return sum(1 for k in range(2, n + 1) if all(k % d != 0 for d in range(2, math.isqrt(k) + 1)))


@case(n, m)
def two_loops(n, m):
    return sum(i * j for i in range(n) for j in range(i, m) if (i + j) % 2)


@case(n, m)
def any_of_two_loops(n, m):
    return any(i * j == 6 for i in range(n) for j in range(m)), all(i + j < 9 for i in range(n) for j in range(m))


@case(n)
def greatest(n):
    return max(i * (7 - i) for i in range(n))


@case(n)
def least_or_default(n):
    return min((abs(i - 4) for i in range(n) if i % 2), default=-1)


@case(n)
def counted(n):
    return len([k for k in range(n) if k % 3 == 0])


@case(n)
def product(n):
    return math.prod(k for k in range(1, n + 1)), math.prod((k for k in range(2, n)), start=2)


@case(xs)
def members_tests(xs):
    return sum(x for x in xs if x > 0), len([x for x in xs if x < 0]), any(x > 8 for x in xs if x != 9)


@case(xs, m)
def partial_sum(xs, m):
    return sum(xs[i] for i in range(m % 4)) / (1 + sum(xs[i] > 1 for i in range(m % 4)))


@case(xs)
def max_over_members_tests(xs):
    return max(x * i for i, x in enumerate(xs) if x > 0)


@case(n)
def stops_at_the_first(n):
    return any(10 // (3 - i) == 5 for i in range(n))


@case(n)
def names_stay_apart(n):
    i = 100
    total = sum(i for i in range(n)) + i
    k = sum(total + i for i in range(n) if total > i)
    return i, total, k


@ab.autobatch
def triangle(n):
    return sum(k for k in range(n + 1))


@case(n)
def calls_inside(n):
    return sum(triangle(k) for k in range(n) if k % 2)


@case(n, m)
def inside_of_others(n, m):
    return sum(max((j * i for j in range(m)), default=3) for i in range(n))


@case(n)
def in_conditions(n):
    k = 0
    while sum(j for j in range(k)) < n:
        k += 1
    if n > 3 and all(j != 7 for j in range(n)):
        k = -k
    return k if any(j == 2 for j in range(n)) else k + 100


@case(n)
def of_known_length(n):
    weights = [1, 2.5, 3]
    return sum(w * n for w in weights) + sum(weights[i] for i in range(len(weights))) + max(w + n for w in weights)


@case(n, m)
def in_a_nested_function(n, m):
    def choose(a, b):
        if b > a:
            return 0
        return math.prod(a - j for j in range(b)) // math.prod(j + 1 for j in range(b))

    return choose(n, m)


@case(n)
def statistics_of_a_list(n):
    values = [n, 1, 3, n * n]
    return statistics.mean(values), statistics.median(values), statistics.pstdev(values), statistics.variance(values)


@case(n)
def statistics_of_a_list_that_grows(n):
    values = [i * i % 5 for i in range(n)]
    try:
        spread = statistics.stdev(values)
    except statistics.StatisticsError:
        spread = -1.0
    return statistics.median([*values, 3]), spread


@case(n)
def mean_of_none(n):
    return statistics.fmean([i for i in range(n)])


@case(xs)
def statistics_of_an_array(x):
    return statistics.fmean(x), statistics.median(x), statistics.pvariance(x)


@case(n)
def statistics_of_what_is_generated(n):
    shown = statistics.median(i * i for i in range(n + 1)) + statistics.pvariance(n * j for j in (1, 2.5, 4))
    return shown, statistics.mean(1.5 * i for i in range(n)) if n > 0 else 0.0


@case(n, m)
def sorted_ints_and_floats(n, m):
    values = sorted([2.5, n, m * 0.75, 3])
    return values[0], values[1], sorted((n, 0.5, m), reverse=True)[1]


@case(N([2, 3, 4]))
def all_of_a_list_makes_all(n):
    return all([6 // (3 - i) > 2 for i in range(n)])


@case(N([1, 3, 5]))
def any_of_a_list_makes_all(n):
    made = 0

    def counted(v):
        nonlocal made
        made += 1
        return v

    found = any([counted(i) > 0 for i in range(n)])
    return found, made


@case(N([1, 3, 5]))
def any_of_a_generator_stops(n):
    made = 0

    def counted(v):
        nonlocal made
        made += 1
        return v

    found = any(counted(i) > 0 for i in range(n))
    return found, made


@case(np.array([10, 230, 3]))
def comprehensions_in_nested_functions(n):
    def divisors(n):
        return sum(i for i in range(1, n // 2 + 1) if n % i == 0)

    xs = [k for k in range(n % 7)]
    loss = lambda r: sum((v - r) ** 2 for v in xs)
    return divisors(n), divisors(divisors(n) + 1), loss(n) + loss(2)
