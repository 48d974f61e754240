"""Properties and other methods that change the object are run as often as Python runs them, and in its order."""

# ruff: noqa
import numpy as np

from tests.meaning.case import case

n = np.array([0, 1, 2, 5])


class Counting:
    def __init__(self):
        self.count, self._y, self.items = 0, 1, [1, 2]

    @property
    def x(self):
        self.count += 1
        return self.count

    @property
    def y(self):
        self.count += 1
        return self._y

    @y.setter
    def y(self, value):
        self._y = value * 2

    def __contains__(self, other):
        self.count += 1
        return other == 3

    def __getitem__(self, k):
        self.count += 100
        return self.items[k]

    def __setitem__(self, k, value):
        self.items[k] = value


@case(n)
def augmented_by_a_setter(n):
    p = Counting()
    p.y += n
    return p.count, p._y


@case(n)
def augmented_item(n):
    p = Counting()
    p[1] += n
    return p.count, p.items[1]


@case(n)
def bounds(n):
    p, s = Counting(), 0
    for i in range(p.x, p.x + 3, p.x):
        s = s * 10 + i
    return s + n


@case(n)
def index_and_value(n):
    p, xs, ys = Counting(), [0] * 6, [0] * 6
    xs[p.x] = p.x
    ys[p.x] += n + 1
    return xs[1] * 10 + xs[2], p.count, ys[3]


@case(n)
def read_before_in(n):
    p = Counting()
    return p.count * 100 + (3 in p) + n


class Number:
    def __init__(self, v):
        self.v = v

    def __hash__(self):
        return self.v

    def __eq__(self, other):
        return self.v == other.v


def is_number(o):
    return 1 if o.__class__ is Number else 0


@case(n)
def the_class(n):
    v = Number(n)
    w = v.__class__(n + 1)
    if n > 2:
        w = v.__class__(n + 2)
    return is_number(v), v.__class__ == Number, v.__class__ is Number, w.v


@case(n, refused="hash-of-object")
def the_hash(n):
    return hash(Number(n))
