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


class Stepping:
    def __init__(self, x):
        self.x = x

    def move(self, d):
        if d > 2:
            self.x = d % 23
        else:
            self.x = self.x + d
        return self.x

    @property
    def size(self):
        return abs(self.x) + 1


class Two:
    def __init__(self, a, b):
        self.a, self.b = a, b


M = np.array([3, 1, 2, 7])


@case(M)
def argument_changes_the_object(n):
    """A random program: the object was looked up as it was before, and what the argument changed was lost."""
    r = Two(Stepping(n), Stepping(4))
    k = r.a.move(1 if r.a.size < r.a.move(n) else 2) % 11
    j = r.a.move(r.b.move(r.a.move(2)))
    i = r.a.move(d=r.a.move(n) - r.b.x)
    return i, j, k, r.a.x, r.b.x


@case(M)
def argument_changes_the_item(n):
    ps = [Stepping(n), Stepping(4)]
    k = ps[0].move(ps[0].move(n) + ps[1].move(3))
    j = ps[n % 2].move(ps[0].move(n) + ps[1].move(3))
    return j, k, ps[0].x, ps[1].x


def placed(r, p):
    r.a = p
    return p.x


@case(M, refused="argument-that-changes")
def argument_puts_another_there(n):
    r = Two(Stepping(n), Stepping(4))
    k = r.a.move(placed(r, Stepping(n % 5)))
    return k, r.a.x


class Turned:
    def __init__(self, v):
        self.v, self.c = v, 0

    @property
    def w(self):
        self.c += 1
        return self.v * 2

    def up(self, by):
        self.v += by
        self.c += 1
        return self.v


@case(n)
def what_changes_an_object_comes_first(n):
    o, p, q = Turned(3 - n), Turned(n), Turned(n - 5)
    chained = o.w < (-9 if o.c >= 1 else n) <= 7
    item = [7, p.up(n)][(p.v if p.c > 0 else n) % 2]
    return chained, item, abs(q.up(n)) + abs(q.v or n), max(q.up(2), q.v or n), q.up(1) in (q.v if q.c > 0 else 77, 3)


class Stepped:
    def __init__(self):
        self.turns = 0

    def step(self, k):
        while k > 2:
            k -= 2
        self.turns += 1
        return k


@case(np.array([0, 1, 2, 3]), np.array([1, 0, 3, 0]))
def slices_before_what_changes(n, k):
    m, xs, s = np.arange(12).reshape(2, 2, 3) + n, [n, k, 3, 4], Stepped()
    first = m[..., s.step(k) % 3][0, 1] + m[0:1, :, s.step(n) % 3][0, 0]
    return first, xs[s.turns :][s.step(k) - 1], len(xs[s.turns : s.step(n) + 1])
