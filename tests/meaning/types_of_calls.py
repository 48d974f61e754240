"""Functions and methods that get one type at one call and another at the next, and ask which."""

# ruff: noqa
import numpy as np

from tests.meaning.case import case

N, X = np.array([1, 2, 4, 0, 7]), np.array([2.0, -1.5, 0.5, 3.0, 1.0])


class Vector:
    def __init__(self, x, y):
        self.x, self.y = x, y

    def __mul__(self, other):
        if isinstance(other, (int, float)):
            return Vector(self.x * other, self.y * other)
        return self.x * other.x + self.y * other.y

    __rmul__ = __mul__

    def __add__(self, other):
        if isinstance(other, Vector):
            return Vector(self.x + other.x, self.y + other.y)
        return Vector(self.x + other, self.y + other)


@case(N, X)
def operators(n, x):
    v, w = Vector(n, 1), Vector(x, 2.0)
    total = v * 2
    for i in range(n):
        total = total + v * x
        total = total + 1
    return total * w, (2 * w).x


def doubled(a):
    return a * 2 if isinstance(a, int) else a[0] + a[1]


def through(a, k):
    return doubled(a) if k > 1 else -doubled(a)


@case(N, X)
def through_another(n, x):
    return through(n, n) + through((n, x), n) + through([n, n], 3)


@case(N, X)
def nested(n, x):
    def g(a):
        return a * k if isinstance(a, int) else a[0] + a[1] * k

    k = n + 1
    return g(n) + g((n, x)) + g([n, n])


class Circle:
    def __init__(self, r):
        self.r = r

    def area(self):
        if self.r < 0:
            raise ValueError("negative")
        return 3 * self.r * self.r


class Square:
    def __init__(self, a, b):
        self.a, self.b = a, b

    def area(self):
        return self.a * self.b


def area(shape, k):
    if k > 1:
        return shape.area() * k
    return shape.area()


@case(N, X)
def of_shapes(n, x):
    c, s = Circle(x), Square(n, x)
    try:
        return area(c, n) + area(s, n) + area(c, 2)
    except ValueError:
        return area(s, 3)


def last(a, k):
    if k <= 0:
        return a if isinstance(a, (int, float)) else a.x
    return last(a, k - 1) + 1


@case(N, X)
def recursion(n, x):
    return last(n, 3) + last(Vector(x, n), n)


def wrapped(a, k):
    if k <= 0:
        return a
    return wrapped((a, k), k - 1)


@case(N, X, refused="path-types-differ")
def of_another_type_by_itself(n, x):
    return wrapped(n, n)[1]
