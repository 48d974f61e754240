"""Order of evaluation, one array under two names, loops over what changes, objects that hold arrays."""

# ruff: noqa
import functools
import operator
import types

import math

import numpy as np

import autobatch as ab
from tests.meaning.case import ARRAYS as A, X, case

N = np.array
n = N([3, 0, 7, 12])
F = N([[0.5, 1.5, 2.0], [3.0, 4.0, 5.0]])


@ab.autobatch
def bump(a):
    a[0] = a[0] + 1
    return a[0]


@ab.autobatch
def two(p, q):
    return p * 100 + q


@ab.autobatch
def put(a, b):
    a[0] = 5
    return b[0]


def first_two(a):
    return a[0] + a[1]


class Box:
    def __init__(self, z):
        self.z = z


def getter(z):
    return lambda i: z[i]


@case(A)
def read_before_a_call(a):
    return a[0] + bump(a)


@case(A)
def read_before_and_after(a):
    return (a[0], bump(a), a[0])


@case(A)
def read_in_a_dict(a):
    return {1: a[0], 2: bump(a)}[1] + [a[0], bump(a)][0]


@case(A)
def item_and_call(a):
    a[0] += bump(a)
    return a


@case(A)
def compared_with_a_call(a):
    return 1 if a[0] < bump(a) else 2


@case(A)
def chained_with_a_call(a):
    return 1 if a[0] < bump(a) < bump(a) else 2


@case(A)
def helper_before_a_call(a):
    return first_two(a) * 1000 + bump(a)


@case(A)
def read_before_a_chosen_call(a):
    return a[0] + (bump(a) if a[1] > 1 else 0)


@case(A)
def index_and_call(a):
    return a[a[0] % 3] + bump(a)


@case(A)
def keywords_in_their_order(a):
    return two(q=bump(a), p=bump(a))


@case(A, refused="shared-array")
def one_array_twice(a):
    return put(a, a)


@case(A, refused="shared-array")
def captured_and_passed(a):
    def inner(b):
        if b[1] > 0:
            b[0] = 50
        return a[0]

    return inner(a)


@case(A)
def nested_function_that_changes(a):
    def change(i):
        if i > 0:
            a[i] = 44
        return i

    change(1)
    return a[1]


@case(A)
def reversed_while_changing(a):
    k = 0
    total = 0
    for v in reversed(a):
        a[k] = v + 1
        k += 1
        total += v
    return total


@case(A)
def numbered_reversed(a):
    total = 0
    for k, v in enumerate(reversed(a), start=1):
        a[0] = v
        total += k * v
    return total


@case(A, refused="shared-array")
def in_step_with_a_view(a):
    total = 0
    for u, v in zip(a, a[1:]):
        a[2] = 100
        total += v
    return total


@case(A)
def in_step(a):
    b = a + 1
    for i, (u, v) in enumerate(zip(a, b)):
        a[i] = u * v
    return a


@case(A)
def unrolled_while_changing(a):
    total = 0
    for v in ab.unroll(a):
        a[3] = 10 + v
        total += v
    return total


@case(X)
def in_step_with_a_range(n):
    total = 0
    for i, v in zip(range(n), [10, 20, 30, 40]):
        total += i * v
    return total


@case(F)
def reversed_in_step(a):
    total = 0.0
    for u, v in zip(a, reversed(a)):
        total = total * 2 + u * v
    return total


@case(A, refused="shared-array")
def object_that_holds(a):
    v = Box(a)
    a[0] = 50
    return v.z


@case(A)
def object_that_held(a):
    v = Box(a)
    total = v.z[0]
    a[0] = 50
    return total


@case(A, refused="shared-array")
def namespace_that_holds(a):
    v = types.SimpleNamespace(z=a)
    a[0] = 50
    return v.z


@case(A, refused="shared-array")
def partial_that_holds(a):
    g = functools.partial(operator.getitem, a)
    a[0] = 50
    return g(0)


@case(A, refused="shared-array")
def closure_that_holds(a):
    g = getter(a)
    a[0] = 50
    return g(0)


@case(A, refused="shared-array")
def iterator_that_holds(a):
    v = enumerate(a)
    a[0] = 50
    return list(v)[0][1]


@case(X, refused="identity-of-members")
def lists_after_a_branch(x):
    xs = [1, 2]
    ys = xs
    if x > 1:
        x = x + 1
    return xs is ys


@case(X, refused="int-or-float")
def kind_of_a_chosen_number(x):
    k = 1 if x > 1 else 2.5
    return isinstance(k, int)


@case(N([1, 2, 3]))
def any_asks_no_further(x):
    return any(6 // (d - x) > 1 for d in (4, 2, 1))


@case(N([1, 2, 3]))
def all_asks_no_further(x):
    return all(6 // (d - x) > 1 for d in (4, 2, 1))


@case(N([[0.5, -1.0], [2.0, 3.0]]))
def truth_times_number(a):
    total = 0.0
    for x in a:
        total += x * (x > 0) + (x > 1) * 2.5
    return total


@case(N([0.5, -1.0, 0.0]))
def sign_by_truth(x):
    return int(x > 0) - (x < 0)


@case(X)
def wide_ints_in_tuples(n):
    total = 0
    for p, q in [(100003, 1), (200003, 2)]:
        total = total + p * p * q
    return total + n * 0.0 > 50001800018


@case(N([0, 3]))
def wide_ints_in_step(n):
    total = 0
    for p, q in zip([100000, 200000], [n, n]):
        total += p * q * 100000
    return total > 8 * 10**10


@case(N([0, 1]))
def exact_floats_in_tuples(n):
    w, _ = [(0.1, 1), (0.7, 2)][n]
    return w * 3


@case(F)
def floats_in_step(a):
    total = 0.0
    for w, v in zip([0.1, 0.2, 0.7], a):
        total += w * v
    return total


@case(X)
def within_a_range(n):
    return (n in range(2)), (n in range(9, 0, -2)), n in range(0)


@case(N([12, -18, 0, 7, 2**40]), N([18, 12, 5, 0, 2**35 * 3]))
def of_the_standard_library(a, b):
    k = min(abs(a) % 9, 6)
    return math.gcd(a, b), math.lcm(a, b), math.comb(10, k), math.perm(abs(b) % 11, k), math.gcd(12, 18)


@case(N([5, 3, 0, -1]), N([2, 5, -1, 2]))
def of_the_standard_library_raises(n, k):
    return math.comb(n, k) + math.perm(n, k)


@case(N([62, 61, 66, 20]), N([31, 28, 33, 3]))
def as_large_as_results_can_be(n, k):
    return math.comb(n, k), math.comb(62, 31) + n


@case(N([0, 1, 15, 16, 17, 2**52 - 1, (2**31 - 1) ** 2 - 1, 2**62, 2**63 - 1, -4]))
def integer_roots(n):
    return math.isqrt(n)


@case(N([5, 3, 0, -1]), N([2, 3, -1, 2]))
def tuples_are_compared(n, k):
    a = (n, k) == (3, 3), (n, (k, 1)) != (5, (2, 1)), [n, k] == [0, -1, 2], (n, k) == [n, k]
    inside = (n, k) in [(0, -1), (5, 1)], (3, k) not in ((n, 3),)
    return a, inside, sum(1 for i in range(n) if (i, k) != (2, 2)), any((i, 1) == (n, 1) for i in (3, 0))


@case(N([5, 3, 0, -1]), N([2, 0, -1, 0]))
def choice_by_truths_of_several_kinds(n, k):
    return 1 if n == 3 or (n % 2 and k // (n - 3)) else 0


@case(n)
def functions_that_change_what_a_comprehension_goes_through(n):
    xs, ys, zs = [n, n + 1, n + 2], [n, n + 1, n + 2], [n, n + 1, n + 2]

    def one(v):
        xs[1] = 50
        return v

    def two(v):
        ys[2] = 50
        return v > 40

    def three(v, w):
        zs[1] = v + w
        return v * w

    return sum(map(one, xs)), [one(v) for v in xs], any(map(two, ys)), sum(map(three, zs, zs))


@case(n)
def functions_that_change_what_a_generator_goes_through(n):
    table = np.array([n, n + 1, n + 2])

    def one(v):
        table[2] = 9
        return v

    return sum(one(v) for v in table), max(one(v) * k for k, v in enumerate(table))


@case(n, refused="shared-array")
def functions_that_change_a_row_that_a_comprehension_goes_through(n):
    rows = [[n, n + 1], [n + 2, 4]]

    def one(v):
        rows[1][0] = 9
        return v

    return [one(v) for v in rows[1]]


@case(n)
def keys_that_change_what_is_asked(n):
    later, earlier, asked = [n, n + 1, n + 2], [n, n + 1, n + 2], [0]

    def one(v):
        later[2] = -3
        return -v

    def two(v):
        earlier[0] = 100
        return -v

    def three(k):
        asked[0] += 1
        return later[k] if k != 1 else 10 * n

    return max(later, key=one), max(earlier, key=two), min(range(3), key=three), asked[0]


@case(n, refused="shared-known-list")
def a_list_that_grows_while_a_comprehension_goes_through_it(n):
    xs = [n, n + 1, n + 2]

    def one(v):
        if len(xs) < 5:
            xs.append(v + 10)
        return v

    return [one(v) for v in xs]


@case(n, refused="path-types-differ")
def a_list_of_unlike_things_that_grows_while_a_loop_goes_through_it(n):
    xs, count = [n, (1, 2), 3], 0
    for i, x in enumerate(xs):
        count += 1
        if i == 0:
            xs.append(n)
    return count


@case(n)
def what_is_unrolled_as_it_was(n):
    xs = [n, n + 1, 3]
    same, total = xs, 0
    for x in ab.unroll(xs):
        same.pop()
        total += x
    return total, len(xs)
