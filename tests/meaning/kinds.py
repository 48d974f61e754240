"""What a member's value is and has, and functions that are made now and called later."""

# ruff: noqa
import functools
from collections import abc

import numpy as np

from tests.meaning.case import case

N = np.array([3, 0, 1, 6])
A = np.array([[3.0, 1.0], [5.0, -1.0], [2.0, 2.0], [0.0, 0.0]])


@functools.singledispatch
def doubled(x):
    return x + x


@doubled.register
def _(x: int):
    return x * 2 + 1


@doubled.register(np.ndarray)
def _(x):
    return x * 2 + 100


@case(N, A)
def chosen_by_class(n, a):
    return doubled(n), doubled((n, 1)), doubled(a), doubled(2.5)


def sized(x):
    return 1 if hasattr(x, "append") else 2


@case(N, A)
def what_it_has(n, a):
    xs = [n] * n
    return (
        hasattr(n, "append"), hasattr(n, "__add__"), hasattr(xs, "append"), hasattr(a, "shape"), hasattr(a, "numpy"),
        getattr(n, "foo", 5), getattr(a, "ndim", 9), sized(n), sized([n]), sized(xs), getattr(a, "T")[0],
    )  # fmt: skip


@case(N, refused="symbolic-attribute")
def has_a_shape(n):
    """Python's ints have none, NumPy's have one."""
    return 1 if hasattr(n, "shape") else 2


@case(N, refused="symbolic-attribute")
def or_no_shape(n):
    return getattr(n, "shape", (9,)) == (9,)


@case(N, A)
def what_it_is(n, a):
    xs = [n] * n
    return (
        [isinstance(n, abc.Iterable), isinstance(n, abc.Sized), isinstance(n, (abc.Container, str))],
        [isinstance(a, abc.Iterable), isinstance(a, abc.Sized), isinstance(a, abc.Sequence), isinstance(a, list)],
        [isinstance(xs, abc.Sequence), isinstance(xs, abc.Mapping), isinstance(n, int | str), isinstance(n, object)],
        n.__class__ is int, [n].__class__ is list, xs.__class__ is list,
    )  # fmt: skip


@case(N)
def of_one_length(n):
    total = 0
    for a, b in zip([1] * n, range(n), strict=True):
        total += a * b
    return total, [a + b for a, b in zip([n, 1], [2, 3], strict=True)]


@case(N)
def of_unlike_lengths(n):
    total = 0
    for a, b in zip([2] * n, [1] * 3, strict=True):
        total += a * b
    return total


@case(N, refused="kept-closure")
def in_a_list(n):
    made = [lambda: n for _ in range(1)]
    n += 1
    return made[0]()


@case(N, refused="kept-closure")
def in_a_dict(n):
    made = {k: (lambda: n + k) for k in (1, 2)}
    n += 1
    return made[1]()


@case(N, refused="kept-closure")
def generators_in_a_list(n):
    made = [(n * i for i in range(3)) for _ in range(2)]
    n += 1
    return sum(made[0])


@case(N, refused="kept-closure")
def maps_in_a_list(n):
    made = [map(lambda v: v * n, [1, 2]) for _ in range(2)]
    n += 1
    return sum(made[0])


@case(N, refused="kept-closure")
def partial_in_a_list(n):
    made = [functools.partial(lambda k: n + k, i) for i in range(2)]
    n += 1
    return made[1]()


@case(N, refused="kept-closure")
def of_a_list(n):
    xs = [1]
    made = [lambda: sum(xs) for k in range(3)]
    xs = [n, n]
    return made[0]()


@case(N, refused="kept-closure")
def of_a_nonlocal(n):
    v = 0

    def set_it():
        nonlocal v
        v = n

    made = [lambda: v for _ in range(2)]
    set_it()
    return made[0]()


@case(N)
def used_where_they_are_made(n):
    n += 1
    rows = [[v * n for v in range(3)] for _ in range(2)]
    sums = [sum(v * n for v in row) for row in rows]
    n += 1
    return rows, sums, [(lambda v: v * n)(k) for k in (1, 2)], [lambda k=k: k * 2 for k in (1, 2)][1]()


class AtEnd(Exception):
    def __init__(self, code, *rest):
        self.code = code


@case(N)
def holds_any_number(n):
    try:
        if n > 2:
            raise AtEnd(n)
    except AtEnd as e:
        return e.code
    return -1


class Point:
    def __init__(self, x):
        self.x = x

    def __eq__(self, other):
        return self.x == other.x


@case(N)
def unequal_objects(n):
    p, q = Point(n), Point(3)
    return p != q, p == q, 1 if p != q else 2, [p != Point(k) for k in range(2)]


@case(N, A)
def chains_in_helpers(n, a):
    def between(b):
        return 1 < b[1] != 3

    row = lambda b: any(b[i] == b[j] == b[k] != 0 for i, j, k in ((0, 1, 2), (2, 1, 0)))
    first = lambda v: 0 <= v < 4
    return between([0, n]), row([n, n, n]), row([n, 1, n]), [first(v) for v in (n, -1)], first(n) and 1 < n
