"""``match``: of classes, attributes and sequences."""

# ruff: noqa
import dataclasses

import numpy as np

from tests.meaning.case import case

n = np.array([1, 2, 3, 4, 0])


@dataclasses.dataclass
class Point:
    x: int
    y: int


class Square:
    __match_args__ = ("side",)

    def __init__(self, side):
        self.side = side


def kind(v):
    match v:
        case bool():
            return 0
        case int(k) if k > 2:
            return k
        case int() | float():
            return -1
        case (a, b):
            return a + 2 * b
        case Square(side=3):
            return 33
        case Square(side):
            return side
        case None:
            return 99
        case _:
            return 100


@case(n)
def classes(n):
    return kind(n), kind(n / 2), kind(n > 2), kind(Square(n)), kind(None), kind((n, n)), kind(Point(n, 1))


@case(n)
def attributes(n):
    match Point(n, 2):
        case Point(x=1):
            return 10
        case Point(x=3, y=b):
            return b
        case Point(a, b) if a > 2:
            return a + b
        case Point(y=2):
            return 7
        case _:
            return 0


@case(n)
def attributes_of_attributes(n):
    match Point(n, Point(1, n)):
        case Point(x=2, y=Point(x=1, y=q)):
            return q
        case Point(y=Point(y=q)) as p:
            return -q - p.x


@case(n)
def objects_of_a_tuple(n):
    match (n, Point(n, 1)):
        case (1, Point(x=1)):
            return 1
        case (k, Point(x, y)):
            return k + x + y


def area(shape):
    match shape:
        case Point(x, y):
            return x * y
        case Square(side):
            return side * side


@case(n)
def in_a_helper(n):
    return area(Point(n, 3)) + area(Square(n))


@case(n)
def texts(n):
    state = "go" if n > 2 else "stop"
    match state:
        case str() as t if t == "go":
            return 1
        case str():
            return 2


def of_sequence(v):
    match v:
        case []:
            return 0
        case [1, *rest]:
            return 100 + len(rest)
        case [a]:
            return a
        case [a, b]:
            return a * b
        case [first, *_, last]:
            return first - last


@case(n)
def sequences(n):
    return of_sequence([n, 2]), of_sequence([n]), of_sequence([]), of_sequence((n, 1, 2)), of_sequence([3, n, n + 1])


@case(n)
def sequences_of_any_length(n):
    found, tail = [], [k for k in range(n + 1) if k != 1]
    for i in range(n):
        found.append(i + n)
    match tail:
        case [0, 2]:
            return 5, of_sequence(found)
        case [0, *more]:
            return sum(more), of_sequence(found)
        case _:
            return -1, of_sequence(found)


@case(n)
def commands(n):
    command = ["go", n] if n > 2 else ["stop", 1]
    match command:
        case ["go", distance]:
            return distance
        case ["stop", _]:
            return 0


@case(n)
def what_is_no_sequence(n):
    match n:
        case [a, b]:
            return 1
        case (a,):
            return 2
        case int():
            return 3


def size(shape):
    match shape:
        case {"kind": "circle", "radius": r}:
            return 3 * r * r
        case {"kind": "box", "sides": [a, b]} if a > 1:
            return a * b
        case {"radius": r}:
            return -r
        case _:
            return 0


@case(n)
def dicts(n):
    circle, box = {"kind": "circle", "radius": n}, {"kind": "box", "sides": [n, 2]}
    chosen = {"kind": "circle" if n > 2 else "other", "radius": n}
    return size(circle), size(box), size(chosen), size({"x": n}), size(n)


@case(n, refused="match-statement")
def the_rest_of_a_dict(n):
    match {"a": n, "b": 1}:
        case {"a": a, **rest}:
            return a + rest["b"]
