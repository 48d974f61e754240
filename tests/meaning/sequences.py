"""What Python asks of lists as wholes: order, extremes, unpacking, exchanged rows, deques of a greatest length."""

# ruff: noqa
import math
from collections import deque, namedtuple
from dataclasses import dataclass, field

import numpy as np

from tests.meaning.case import case

n = np.array([3, 0, 5, 1])
m = np.array([3, 1, 0, 2])


def squares(n):
    made = []
    for i in range(n):
        made.append(i * i)
    return made


@case(n, m)
def lists_in_order(n, m):
    xs, ys = squares(n), [2 * i for i in range(m)]
    return xs < ys, xs <= ys, xs > [0, 1], [0, 1, 4] >= xs, xs == ys, xs < [], [] < xs, [] >= ys


@case(n, m)
def lists_of_pairs_in_order(n, m):
    xs, ys = [(i % 2, i) for i in range(n)], [(i % 2, -i) for i in range(m)]
    best = xs
    if ys > best:
        best = ys
    return xs < ys, len(best), max(xs, default=(7, 7)), min(ys, default=(-1, n))


@case(n)
def extremes_of_what_may_be_empty(n):
    xs = squares(n)
    return max(xs, default=-1), min(xs, default=n), max([(v, -v) for v in xs], default=(0, 0))


@case(n)
def greatest_of_pairs_that_may_be_missing(n):
    return max([(i % 3, i) for i in range(n)])


@case(n)
def first_and_rest(n):
    xs = squares(n + 2)
    first, *rest = xs
    *start, last = xs
    a, *middle, b = xs
    p, *q = [n, 1, 2]
    rest.append(9)
    return first, rest, start, last, a, middle, b, p, q, xs


@case(n)
def too_few_to_unpack(n):
    first, second, *rest = squares(n)
    return first + second, rest


@case(n)
def index_between(n):
    xs, ys = [1, 2, n, 3, n], squares(n + 3)
    return xs.index(n, 1), xs.index(3, 0, 4), ys.index(4, -n - 1), ys.index(1, 0, 5)


@case(n)
def index_not_between(n):
    return squares(n + 2).index(1, 2), [n, 1, 5].index(5, 0, n)


@case(n)
def products(n):
    xs = [i + 1 for i in range(n)]
    return math.prod(xs), math.prod(xs, start=2), math.prod([0.5 * v for v in xs])


@case(n)
def truth_values_as_indices(n):
    counts, xs = [0, 0], [10, 20]
    for i in range(n):
        counts[i % 3 == 1] += 1
    return counts, xs[n > 2], (5, 6)[not n], 1 << (n > 2), (n > 1) << 2, 5 >> (n > 0)


@case(n)
def rows_change_places(n):
    rows = [[n, 1], [2, 3], [4, 5]]
    first, i = rows[0], n % 3
    rows[0], rows[1] = rows[1], rows[0]
    first[1] = 9
    rows[1][0] += 7
    grown = []
    for k in range(n + 2):
        grown.append([k, -k])
    grown[i], grown[0] = grown[0], grown[i]
    grown[0][1] = 8
    return rows, first, grown


@case(n)
def rows_change_members_places(n):
    rows, i = [[n, 1], [2, 3], [4, 5]], n % 3
    rows[i], rows[0] = rows[0], rows[i]
    rows[i][0] = 9
    rows[0][1] += 5
    return rows


@case(np.array([1.0, 5.0, 0.0]), np.array([4.0, 1.0, 2.0]))
def determinants(a, b):
    rows, det = [[a, 2.0, 1.0], [b, 1.0, 5.0], [1.0, a, b]], 1.0
    for i in range(3):
        pivot = max(range(i, 3), key=lambda r: abs(rows[r][i]))
        if rows[pivot][i] == 0:
            return 0.0
        if pivot != i:
            rows[i], rows[pivot] = rows[pivot], rows[i]
            det = -det
        det *= rows[i][i]
        for r in range(i + 1, 3):
            f = rows[r][i] / rows[i][i]
            for c in range(i, 3):
                rows[r][c] -= f * rows[i][c]
    return det


@dataclass(order=True)
class Task:
    rank: int
    cost: int


class ByCost:
    def __init__(self, v, cost):
        self.v, self.cost = v, cost

    def __lt__(self, other):
        return self.cost > other.cost


@case(n)
def dataclasses_in_order(n):
    fixed = sorted([Task(n % 3, 1), Task(1, n), Task(2, 2)])
    grown = []
    for i in range(n):
        grown.append(Task(i * 3 % 5, -i))
    grown.sort(reverse=True)
    return [t.cost for t in fixed], [t.rank for t in grown], [t.cost for t in grown], max(fixed).cost


@case(n, refused="sorted-by-key")
def objects_in_the_order_of_a_method(n):
    grown = []
    for i in range(n):
        grown.append(ByCost(i, i * 3 % 5))
    return sorted(grown)[0].v


@case(n)
def deques_of_a_greatest_length(n):
    recent, total = deque(maxlen=3), 0
    for i in range(n):
        recent.append(i * i % 7)
        total += sum(recent)
    given, few = deque([1, 2, n, 4], 2), deque([n, n + 1], maxlen=n % 3)
    given.appendleft(9)
    few.extend([5, 6])
    return total, len(recent), list(given), len(few)


@case(n)
def deques_that_turn(n):
    fixed, grown = deque(range(5)), deque()
    fixed.rotate(n)
    grown.rotate(2)
    for i in range(n):
        grown.append(i)
        grown.rotate()
    grown.rotate(-n)
    return list(fixed), list(grown)


@case(n, refused="deque-of-a-length")
def deques_that_nested_functions_fill(n):
    recent = deque([n], maxlen=2)

    def put(v):
        recent.append(v)

    put(3)
    put(4)
    return list(recent)


@case(n)
def caught_and_raised_again(n):
    caught = 0
    try:
        try:
            if n == 3:
                raise KeyError(n)
            return 10 // n, caught
        except (ZeroDivisionError, KeyError):
            caught += 1
            raise
    except KeyError:
        return -1, caught


class Same:
    def __init__(self, x):
        self.x = x


class ByX:
    def __init__(self, x, y):
        self.x, self.y = x, y

    def __eq__(self, other):
        return self.x == other.x


@dataclass(order=True)
class Ranked:
    rank: int
    label: int = field(compare=False)


class Turned(namedtuple("Turned", "x y")):
    def __lt__(self, other):
        return self.y < other.y

    def __gt__(self, other):
        return self.y > other.y


@case(n, refused="list-objects-compared")
def objects_sought_by_which_they_are(n):
    grown = []
    for i in range(n):
        grown.append(Same(i))
    return Same(1) in grown


@case(n, refused="list-objects-compared")
def objects_sought_by_a_method(n):
    grown = [ByX(9, 9)]
    for i in range(n):
        grown.append(ByX(i, n))
    return grown.index(ByX(9, 0))


@case(n)
def dataclasses_by_the_fields_that_compare(n):
    grown = [Ranked(1, 5)]
    for i in range(n):
        grown.append(Ranked(i % 2, i))
    return grown.index(Ranked(1, 9)), grown.count(Ranked(0, 7)), Ranked(0, 8) in grown, max(grown).label


@case(n)
def tuples_with_an_order_of_their_own(n):
    return max(Turned(n, 1), Turned(2, 0)).x, min(Turned(n, 1), Turned(2, 0)).x, Turned(n, 1) < Turned(0, 3)


@case(n)
def sequences_beside_numbers(n):
    counted = 0
    for i in range(n):
        counted += 1
    pair = (n, 1)
    return [n] == n, n == [n, 1], pair == n, n != pair, [counted] == counted, counted != (counted, 1), n in [[n], n]


@case(np.array([62, 3, 63]), np.array([2**61, 5, 2**62]), fails=(2,))
def wide_sums_and_products(n, a):
    powers, signs, factors = [], [], []
    for i in range(n):
        powers.append(2**i)
    for i in range(3):
        signs.append(a if i == 0 else -a)
        factors.append(1 << n // 3)
    return sum(powers), sum(signs), math.prod(factors)
