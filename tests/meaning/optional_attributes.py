"""Attributes that are None for some members."""

# ruff: noqa
import copy
from dataclasses import dataclass
from typing import Optional

import numpy as np

from tests.meaning.case import case

N, X = np.array([1, 2, 4, 0, 7]), np.array([2.0, -1.5, 0.5, 3.0, 1.0])


class PID:
    def __init__(self, k, limits=(None, None)):
        self.k = k
        self.low, self.high = limits
        self.sum, self.previous = 0, None

    def __call__(self, error, dt):
        self.sum += error * dt
        slope = 0 if self.previous is None else (error - self.previous) / dt
        self.previous = error
        u = self.k * error + self.sum + slope
        if self.high is not None and u > self.high:
            return self.high
        if self.low is not None and u < self.low:
            return self.low
        return u


@case(np.array([25.0, 20.0, 0.0]), np.array([1.0, 3.0, 0.5]))
def controller(wanted, k):
    pid, t = PID(k, limits=(-5, 5)), 20.0
    for _ in range(5):
        t += pid(wanted - t, 0.1) * 0.1 - 0.01 * (t - 20)
    return t


class Best:
    def __init__(self):
        self.score = None
        self.at = None
        self.count = 0

    def offer(self, x, i):
        if self.score is None or x > self.score:
            self.score = x
            self.at = i
        self.count += 1

    def result(self):
        if self.score is None:
            raise ValueError("nothing")
        return self.score


@case(N, X)
def best_of(n, x):
    b = Best()
    for i in range(n):
        if i % 2 == 1:
            b.offer(x * i, i)
    if b.at is None:
        return -1.0
    return b.result() + b.at


@case(N, X)
def raises_without(n, x):
    b = Best()
    for i in range(n):
        b.offer(x * i, i)
    return b.result() + b.count


@case(N, X)
def set_to_what_may_be_none(n, x):
    b, best = Best(), None
    for i in range(n):
        if x > 0.6:
            best = x
        b.score = best
        if b.score:
            b.count += 1
        b.at = b.score
    return b.count, (0 if b.at is None else b.at), b.score or 7.0


class Cache:
    def __init__(self):
        self.last, self.hits = None, 0

    def get(self, k):
        if self.last is not None and self.last[0] == k:
            self.hits += 1
            return self.last[1]
        self.last = (k, k * k)
        return k * k


@case(N)
def a_pair_or_none(n):
    c, total = Cache(), 0
    for i in range(n):
        total += c.get(i // 2)
    return total, c.hits


@dataclass
class Sum:
    total: float = 0.0
    last: Optional[float] = None

    def add(self, v):
        if self.last is None or v != self.last:
            self.total += v
        self.last = v if v > 1 else None


@case(N, X)
def of_a_dataclass(n, x):
    a = Sum()
    for i in range(n):
        a.add(x + i)
    return a.total, a.last is None


class Point:
    def __init__(self, x):
        self.x = x


class Search:
    def __init__(self, x):
        self.x, self.best, self.seen = x, None, None

    def look(self, v):
        if self.best is None or v < self.best.x:
            self.best = Point(v)
        if self.seen is None:
            self.seen = [v]
        else:
            self.seen.append(v)


@case(N, X)
def an_object_or_none(n, x):
    s = Search(x)
    for i in range(n):
        s.look(x - i)
    return (0.0 if s.best is None else s.best.x), (0 if s.seen is None else len(s.seen))


@case(N, X)
def copies(n, x):
    p = Search(x)
    q = copy.copy(p)
    if n > 1:
        p.best = Point(x)
    r = copy.deepcopy(p)
    p.best = None
    return q.best is None, r.best is None, p.best is None, (1.0 if r.best is None else r.best.x)


class Tree:
    def __init__(self, v, left=None, right=None):
        self.v, self.left, self.right = v, left, right

    def total(self):
        t = self.v
        if self.left is not None:
            t += self.left.total()
        if self.right is not None:
            t += self.right.total()
        return t


@case(N, X)
def a_tree_of_known_shape(n, x):
    return Tree(x, Tree(n), Tree(2.0, None, Tree(n))).total()


@case(N, X, refused="nested-without-end")
def a_linked_list(n, x):
    head = None
    for i in range(n):
        head = Tree(x + i, head)
    return 0 if head is None else head.v


@case(N, X)
def the_one_asked_more(n, x):
    p, q = Best(), Best()
    q.score = 0.5
    for i in range(n):
        p.offer(x, i)
    best = max(p, q, key=lambda b: b.count)
    return best.count, -1.0 if best.score is None else best.score


@case(np.array([0, 1, 2, 3]), refused="shared-array")
def a_walk_that_begins_again(n):
    root = Tree(3)
    for i in range(n):
        c = root
        while c.left is not None:
            c = c.left
        c.left = Tree(i)
    return root.v


@case(np.array([0, 1, 2, 3]))
def one_walk(n):
    root = Tree(3, Tree(n), Tree(1))
    c = root
    while c.left is not None:
        c = c.left
    return root.v * 10 + c.v


class Slotted:
    __slots__ = ("low", "high")

    def __init__(self):
        self.low = None
        self.high = 0

    def add(self, x):
        if self.low is None or x < self.low:
            self.low = x
        self.high = max(x, self.high)


@case(N, refused="path-types-differ")
def of_slots(n):
    s = Slotted()
    for i in range(n):
        s.add(i * 5 % 7)
    return s.high


class Last:
    def __init__(self, v, last):
        self.v, self.last = v, last

    def shown(self):
        return self.v if self.last is None else self.last


@case(N[::-1], N)
def set_to_what_may_be_none(x, n):
    p, q = Last(x, None), Last(x, n if n > 3 else None)
    shown = p.shown() * 100 + q.shown()
    found = None
    for k in range(n):
        if k * k > x:
            found = k
    p.last = found
    shown = shown * 100 + p.shown() * 10 + q.shown()
    p.last, q.last = q.last, p.last
    return shown, p.shown(), q.shown(), q.last is None


class Latest:
    def __init__(self):
        self.last = None

    def see(self, k):
        if self.last is None or k > self.last:
            self.last = k


@case(N)
def one_or_another(n):
    a, p = None, Latest()
    if n > 3:
        a = n
    if n > 1:
        p.see(2)
        p.last = a or (a if n % 2 else p.last)
    else:
        p.last = a and a + 1
    return -1 if p.last is None else p.last
