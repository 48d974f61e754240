"""Lambdas outside of the function that branch, loop, ask or call themselves."""

# ruff: noqa
import functools

import numpy as np

from tests.meaning.case import case

n = np.array([1, 2, 3, 4, 0])

OPERATIONS = {"abs": lambda v: v if v > 0 else -v, "square": lambda v: v * v}
STEPS = [lambda v: v + 1 if v > 2 else v, lambda v: -v]
clip = lambda v: 1 if v < 1 else 3 if v > 3 else v
is_big = lambda v: (v > 2) is True
factorial = lambda k: 1 if k < 2 else k * factorial(k - 1)
first, other = (lambda v: v if v > 2 else 0), (lambda v: v if v > 1 else 0)
ordered = lambda xs: sorted(xs, key=lambda v: -v)[0]
many = lambda a, b=2, *rest, **named: (
    a if a > b
    else sum(rest) + len(named)
)  # fmt: skip


def times(k):
    return lambda v: v * k if v > k else -v


twice, thrice = times(2), times(3)


class Rules:
    positive = staticmethod(lambda v: v if v > 2 else 0)
    own = lambda self, v: v if v > 2 else 1


@case(n)
def in_tables(n):
    return OPERATIONS["abs"](n - 2) + OPERATIONS["square"](n), STEPS[0](n) + STEPS[1](n)


@case(n)
def chosen(n):
    return OPERATIONS["abs" if n > 2 else "square"](n - 3), STEPS[n % 2](n)


@case(n)
def by_name(n):
    return clip(n), is_big(n), factorial(n), clip(clip(n) + 2)


@case(n)
def several_on_a_line(n):
    return first(n) + 10 * other(n), ordered([n, 2, 3])


@case(n)
def made_by_a_function(n):
    return twice(n) + thrice(n)


@case(n)
def of_classes(n):
    return Rules.positive(n), Rules().own(n)


@case(n)
def in_builtins(n):
    found = [clip(k) for k in (n, 7)]
    return (
        sum(map(clip, [n, 0])),
        sorted([n, 2, 3], key=clip)[0],
        found,
        functools.reduce(lambda a, k: a + clip(k), [n, 9], 0),
    )


@case(n)
def on_several_lines(n):
    return many(n), many(n, 1, 4, z=3), many(n, 3, 5, 6)


@case(n, refused="texts-without-end")
def made_in_a_loop(n):
    found = []
    for i in range(2):
        found.append(lambda: i)
    return found[0]() + n
