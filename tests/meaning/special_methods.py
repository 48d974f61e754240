"""What Python calls by itself of a user's class: operators, calls, truth, items, conversions, setters."""

# ruff: noqa
import functools
import math
from collections import deque
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from tests.meaning.case import case

N = np.array


class V:
    def __init__(self, x, y):
        self.x = x
        self.y = y

    def __abs__(self):
        return math.sqrt(self.x * self.x + self.y * self.y)

    def __mul__(self, k):
        return V(self.x * k, self.y * k)

    __rmul__ = __mul__

    def norm(self):
        n = abs(self)
        if n == 0:
            raise ZeroDivisionError("zero")
        return self * (1 / n)


@case(N([1.0, 2.0]))
def const_chain(x):
    n = V(1, 1).norm()
    d = V(x, 2.0)
    r = 2 * d
    return n.x * x, r.x


@case(N([1.0, 2.0]))
def const_var(x):
    v = V(1, 1)
    if x > 1:
        v = v * x
    return v.norm().x


class PID:
    def __init__(self, k, limits=(None, None)):
        self.k = k
        self.lo, self.hi = limits
        self.i = 0
        self.prev = None

    def __call__(self, e, dt):
        self.i += e * dt
        d = 0 if self.prev is None else (e - self.prev) / dt
        self.prev = e
        u = self.k * e + self.i + d
        if self.hi is not None and u > self.hi:
            return self.hi
        if self.lo is not None and u < self.lo:
            return self.lo
        return u


@case(N([25.0, 20.0, 0.0]), N([1.0, 3.0, 0.5]))
def pid(s, k):
    pid = PID(k, limits=(-5, 5))
    t = 20.0
    for _ in range(5):
        t += pid(s - t, 0.1) * 0.1 - 0.01 * (t - 20)
    return t


class Scale:
    def __init__(self, k):
        self.k = k
        self.calls = 0

    def __call__(self, x):
        self.calls += 1
        return x * self.k if x > 0 else -x


@case(N([1.0, -3.0]), N([2.0, 4.0]))
def of_call(x, k):
    s = Scale(k)
    y = s(x) + s(-x)
    return y, s.calls


class Stack:
    def __init__(self, limit=10):
        self._items = []
        self.limit = limit

    def __len__(self):
        return len(self._items)

    def __bool__(self):
        return bool(self._items)

    def push(self, d):
        if len(self._items) >= self.limit:
            raise OverflowError("full")
        self._items.append(d)

    def pop(self):
        if not self._items:
            raise IndexError("empty")
        return self._items.pop()


@case(N([0, 3, 2, 4]))
def truth(n):
    s = Stack(limit=3)
    for i in range(n):
        s.push(i * i)
    total = 0
    while s:
        total = total * 3 + s.pop()
    if not s and len(s) == 0:
        total += 1
    return total


class Acc:
    rate = 0.02

    def __init__(self, b=0):
        self.__b = b
        self._log = []

    @property
    def b(self):
        return self.__b

    @b.setter
    def b(self, v):
        if v < 0:
            raise ValueError("negative")
        self.__b = v
        self._log.append(v)

    def interest(self):
        self.b = self.b * (1 + self.rate)

    def transfer(self, o, a):
        self.b -= a
        o.b += a


@case(N([100.0, 10.0, 5.0, 1000.0]), N([50.0, 0.0, 5.0, 1.0]), N([10.0, 20.0, 5.0, 0.0]))
def bank(a, b, amount):
    x = Acc(a)
    y = Acc(b)
    x.transfer(y, amount)
    y.interest()
    if y.b > x.b:
        y.transfer(x, y.b - x.b)
    return x.b, y.b, len(x._log)


class P(NamedTuple):
    x: int
    y: int

    def turn(self, right):
        return P(self.y, -self.x) if right else P(-self.y, self.x)

    def far(self):
        if self.x > self.y:
            return self.x
        return self.y


@case(N([0, 1, 2, 5]))
def named(n):
    d = P(0, 1)
    for i in range(n):
        d = d.turn(i % 3 > 0)
    return d.x, d.y, d.far()


class Q:
    def __init__(self, n):
        self.n = n
        self.a = [0] * n
        self.f = 0
        self.r = 0
        self.size = 0

    def __len__(self):
        return self.size

    def put(self, d):
        if self.size >= self.n:
            raise Exception("FULL")
        self.a[self.r] = d
        self.r = (self.r + 1) % self.n
        self.size += 1
        return self

    def get(self):
        if self.size == 0:
            raise Exception("UNDERFLOW")
        t = self.a[self.f]
        self.f = (self.f + 1) % self.n
        self.size -= 1
        return t


@case(N([1, 0, 0, 1]), N([0, 1, 0, 1]))
def of_len(a, b):
    q = Q(3)
    acc = 0
    for op in [a, b, a]:
        if op > 0:
            q.put(op).put(op + 1)
        else:
            acc = acc * 7 + q.get()
    return acc + 1000 * len(q)


class R:
    def __init__(self, n, d=1):
        if d == 0:
            raise ZeroDivisionError("R")
        g = math.gcd(n, d)
        if d < 0:
            g = -g
        self.n = n // g
        self.d = d // g

    def __float__(self):
        return self.n / self.d

    def __int__(self):
        return self.n // self.d

    def __radd__(self, o):
        if o > 3:
            return self.n
        return o + self.d

    def __contains__(self, k):
        if k > 3:
            return True
        return k == self.n

    def __getitem__(self, i):
        if i == 0:
            return self.n
        return self.d


@case(N([1, 5, 1, 7]), N([2, 10, 0, -3]))
def of_float(a, b):
    r = R(a, b)
    return float(r), int(r), a + r, (a in r), r[0] + r[b % 2]


class El:
    def __init__(self, floor=0):
        self.floor = floor
        self.queue = deque()
        self.t = 0

    def call(self, floor):
        if not 0 <= floor <= 9:
            raise ValueError("no")
        if floor not in self.queue:
            self.queue.append(floor)

    def run(self):
        while self.queue:
            target = self.queue.popleft()
            self.t += abs(target - self.floor)
            self.floor = target


@case(N([1, 10, 0]), N([5, -1, 0]))
def el(a, b):
    e = El()
    bad = 0
    for c in [a, b, a]:
        try:
            e.call(c)
        except ValueError:
            bad += 1
    e.run()
    return e.floor, e.t, bad


class M2:
    def __init__(self, rows):
        self.rows = rows

    @classmethod
    def identity(cls):
        return cls([[1, 0], [0, 1]])

    def __matmul__(self, o):
        return M2([[sum(self.rows[i][k] * o.rows[k][j] for k in range(2)) for j in range(2)] for i in range(2)])

    def __pow__(self, n):
        if n < 0:
            raise ValueError("neg")
        r, b = M2.identity(), self
        while n:
            if n & 1:
                r = r @ b
            b = b @ b
            n >>= 1
        return r

    @staticmethod
    def fib():
        return M2([[1, 1], [1, 0]])

    def __getitem__(self, ij):
        i, j = ij
        return self.rows[i][j]


@case(N([0, 1, 10, -1, 30]))
def of_pow(n):
    return (M2.fib() ** n)[0, 1]


@case(N([0.5, 0.1]), N([0.1, 0.5]))
def of_dict(beta, gamma):
    state = {"S": 0.99, "I": 0.01, "R": 0.0}
    peak, day = 0.0, 0
    for d in range(20):
        new = beta * state["S"] * state["I"]
        rec = gamma * state["I"]
        state["S"] -= new
        state["I"] += new - rec
        state["R"] += rec
        if state["I"] > peak:
            peak, day = state["I"], d
        if state["I"] < 1e-4:
            break
    return peak, day, state["R"]


@case(N([0, 3, 4]))
def dict2(n):
    d = {"a": 0, "b": 1}
    for i in range(n):
        if i % 2 == 0:
            d["a"] += i
        else:
            d["b"] *= 2
    return d["a"], d["b"]


@dataclass
class Card:
    rank: int
    suit: int = 0
    seen: list = field(default_factory=list)

    def __post_init__(self):
        if not 1 <= self.rank <= 13:
            raise ValueError(f"bad rank {self.rank}")
        if self.suit > 3:
            self.suit = 3
        self.seen.append(self.rank)

    def value(self):
        return min(self.rank, 10)


@dataclass(frozen=True)
class Pair:
    x: float
    y: float

    def __post_init__(self):
        if self.x < 0:
            raise ValueError("negative")

    @property
    def r(self):
        return math.hypot(self.x, self.y)


@case(N([1, 14, 13, 7]), N([2, 0, 5, 1]))
def card(n, s):
    c = Card(n, s)
    d = Card(rank=n % 13 + 1)
    return c.value() + d.value() * 100, c.suit, len(c.seen)


@case(N([1.0, -1.0, 2.0]))
def frozen_checked(x):
    p = Pair(x, 2.0)
    q = Pair(1.0, x)
    return p.r + q.r


class Bag:
    def __init__(self):
        self.xs = []

    def __len__(self):
        return len(self.xs)

    def __getitem__(self, i):
        if i < 0:
            return -1
        return self.xs[i]

    def __call__(self, k):
        if k > 1:
            self.xs.append(k)
        return self

    def __contains__(self, k):
        for x in self.xs:
            if x == k:
                return True
        return False


@case(N([0, 1, 2, 4]))
def beside_none(n):
    b = Bag()
    best = None
    for i in range(n):
        b(i)
        if i > 1:
            best = i
    if best:
        return best + len(b)
    if not best and n in b:
        return 5
    return 7


@case(N([0, 1, 2, 4]))
def beside_and(n):
    b = Bag()
    b(n)(n + 1)
    xs = [n]
    t = 0
    if b and xs and n:
        t += 1
    while xs and b:
        t += xs.pop()
    return t, (3 if b else 4), (not b), b[0] if b else b[-1]


@case(N([0, 1, 2, 4]))
def beside_func(n):
    b = Bag()

    def g(x):
        return x * 2 if x > 1 else x

    h = lambda v: v + 1
    for i in range(3):
        b(g(i) + n)
    return h(len(b)), b[-2], [x for x in b.xs]


class Amount:
    def __init__(self, x):
        self.x = x

    def __iadd__(self, d):
        self.x = (self.x + d) % 37
        return self

    def __contains__(self, d):
        return self.x == d

    def __isub__(self, d):
        if d > self.x:
            raise ValueError("less")
        self.x -= d
        return self

    def moved(self, d):
        if d > 1:
            self.x += d
        return self


@case(N([1, 2, 4, 0, 7]))
def augmented_in_place(n):
    p, q, k = Amount(n), Amount(5), n
    r = p
    if n > 1:
        n = 3
    for i in range(n):
        p += i
        q += p.x
        k += q.x
    try:
        p -= 3
    except ValueError:
        q -= 1
    if n in q or k not in r:
        k += 1
    return p.x, q.x, r.x, k


class Flat:
    def __init__(self, x, y):
        self.x, self.y = x, y

    def __add__(self, other):
        if other.y > self.y:
            return Flat(self.x + other.x, other.y)
        return Flat(self.x - other.x, self.y)

    def __mul__(self, k):
        if k < 0:
            k = -k
        return Flat(self.x * k, self.y * k)


@case(N([1, 2, 4, 0, 7]))
def augmented_anew(n):
    v = Flat(n, 1)
    w = v
    for i in range(n):
        v += Flat(1, 2 * i)
        v *= i - 2
    return v.x, v.y, w.x, w is None


@case(N([1, 2, 4]), refused="identity-of-members")
def itself(n):
    p = Amount(n)
    q = p
    p = p.moved(n)
    return p is q


@case(N([1, 2, 4]))
def keys_of_unlike_types(n):
    p = Amount(n)
    d = {"a": n, 3: 1}
    d["a"] = n + 1
    p += d["a"]
    return p.x + d[3]


class Equal:
    def __init__(self, x):
        self.x = x

    def __eq__(self, d):
        return isinstance(d, Equal) and self.x == d.x


@case(N([0, 3, 2, 4]))
def equal_to_others(n):
    p, q, s = Equal(n), Equal(3), 0
    if n > 1:
        p.x += 1
    if p == n or (n > 0 and 12 // n == q):
        s += 3
    return s + 5 if p == q else s


@dataclass(frozen=True)
class Fixed:
    x: float
    y: float = 0.0

    def __add__(self, other):
        return Fixed(self.x + other.x, self.y + other.y)

    def __rmul__(self, k):
        return Fixed(k * self.x, k * self.y)

    def __abs__(self):
        return math.hypot(self.x, self.y)

    def less(self, other):
        return Fixed(self.x - other.x, self.y - other.y)


@case(np.array([1.0, -3.0, 2.0]), np.array([2.0, 0.5, 2.5]))
def frozen_objects_that_methods_return(x, y):
    p = Fixed(abs(x), y)
    r = p.less(Fixed(y, 1.0))
    total = abs(r)
    while abs(p) < 40.0:
        p = p + 2.0 * Fixed(1.0, y)
    if x > 1:
        p = 2.0 * p
    points = [p, r]
    for k in range(2):
        points.append(Fixed(x * k, y))
    return total, p.x, p.y, sum(abs(q.less(points[0])) for q in points)


@dataclass(frozen=True, order=True)
class Place:
    x: int
    y: int = 0


ORIGIN = Place(0)


@case(N([0, 2, 0, 1]), N([0, 1, 3, 0]))
def beside_an_object_from_outside(a, b):
    here = Place(a, b)
    return here == ORIGIN, ORIGIN == here, here != ORIGIN, here > ORIGIN, ORIGIN <= here, here in (ORIGIN, 3)


class Level:
    def __init__(self, x):
        self.x = x

    def __eq__(self, other):
        if isinstance(other, Level):
            return self.x == other.x
        return self.x == 2 * other

    def __lt__(self, other):
        return self.x < (other.x if isinstance(other, Level) else other)

    def __gt__(self, other):
        return self.x > (other.x if isinstance(other, Level) else other)


@case(N([0, 3, 2, 4]))
def compared_from_the_right(n):
    p, q = Level(n), Level(2 * n + (n > 2))
    seen = [n == q, 2 == p, n != q, p != q, q != 2 * n, p == q, 3 < p, 3 > p, p < q, n > q]
    return seen, n == 3, p != n


class Money:
    def __init__(self, v):
        self.v = v

    def __add__(self, other):
        return self.v + other.v

    def __sub__(self, other):
        if self.v > 2:
            return self.v
        return other.v

    def __eq__(self, other):
        return self.v == other.v + (self.v > 2)

    def __lt__(self, other):
        return self.v < other.v

    def __gt__(self, other):
        if self.v > 2:
            return False
        return self.v >= other.v


class Foreign(Money):
    def __radd__(self, other):
        return 100 * self.v

    def __rsub__(self, other):
        if self.v > 2:
            return 200
        return other.v + 300


class Plain(Money):
    pass


OWN, ABROAD = Money(2), Foreign(3)


@case(N([0, 3, 2, 4]))
def the_right_side_first_where_its_class_is_below(n):
    p, q, r = Money(n), Foreign(3 - n), Plain(2)
    if n > 2:
        q.v = n
    sums = [p + q, q + p, p + r, p - q, q - p, p - r, r - q]
    return sums, p == q, q == p, p != q, p < q, p > q, q < p, p < r, p - ABROAD, OWN == p


class Left:
    def __init__(self, v):
        self.v = v


class Right:
    def __init__(self, v):
        self.v = v

    def __radd__(self, other):
        if self.v > 2:
            return 1 + self.v
        return 2 + other.v


@case(N([0, 3, 2, 4]))
def the_right_side_where_the_left_has_no_such_method(n):
    return Left(n) + Right(n + 1)


@functools.total_ordering
class Version:
    def __init__(self, major, minor):
        self.major, self.minor = major, minor

    def __eq__(self, other):
        return (self.major, self.minor) == (other.major, other.minor)

    def __le__(self, other):
        if self.major != other.major:
            return self.major < other.major
        return self.minor <= other.minor


@functools.total_ordering
class Height:
    def __init__(self, v):
        self.v = v

    def __eq__(self, other):
        return self.v == other.v

    def __lt__(self, other):
        return self.v < other.v


@case(N([0, 3, 2, 4]))
def all_orders_of_one(n):
    best = Version(0, 0)
    for k in range(3):
        v = Version(n * k % 3, k)
        if v > best:
            best = v
    p, q, h, g = Version(n, 1), Version(2, n), Height(n), Height(2)
    return best.major, best.minor, p < q, p > q, p >= q, p <= q, h > g, h >= g, h <= g, h < g


class Split:
    def __init__(self, v):
        self.v = v

    def __floordiv__(self, other):
        return self.v // other + 1000

    def __mod__(self, other):
        return self.v % other + 2000

    def __divmod__(self, other):
        return self.v + 7, other + 7


@case(N([0, 7, -4]))
def divmod_of_its_own(n):
    return divmod(Split(n), 3), divmod(n, 3), divmod(7, n + 1), Split(n) // 3


class Celsius:
    def __init__(self, degrees):
        self.degrees = degrees

    @property
    def degrees(self):
        return self._degrees

    @degrees.setter
    def degrees(self, value):
        if value < -273:
            raise ValueError("below absolute zero")
        self._degrees = value


class Rectangle:
    def __init__(self, width, height):
        self.width, self.height = width, height
        if width > height:
            self.kind, self.ratio = 1, width / 2
        else:
            self.ratio, self.kind = height / 2, 2

    @property
    def width(self):
        return self._width

    @width.setter
    def width(self, value):
        if value > 3:
            self._width = 3
        else:
            self._width = value

    @property
    def height(self):
        return self._height

    @height.setter
    def height(self, value):
        self._height = max(value, 1)

    @property
    def area(self):
        return self.width * self.height


class Square(Rectangle):
    def __init__(self, side):
        super().__init__(side, side)

    @property
    def side(self):
        return self.width

    @side.setter
    def side(self, value):
        self.width = value
        self.height = value


@case(N([20, -300, 5, -200]), N([0, 7, -290, 3]), fails=[1])
def properties_set_when_made(n, m):
    t = Celsius(n)
    try:
        t.degrees += m
    except ValueError:
        t.degrees = 0
    r, q = Rectangle(n % 5, m % 5), Square(m)
    q.side = n % 7 + 1
    r.width -= 1
    return t.degrees, r.area, r.kind, r.ratio, q.area, q.side, q.kind


class Weight:
    def __init__(self, x):
        self.x = x

    def __lt__(self, other):
        return self.x < other.x

    def __gt__(self, other):
        return self.x > other.x

    def __add__(self, other):
        return self.x + other.x

    def __eq__(self, other):
        return self.x == other.x


class Heavier(Weight):
    def __gt__(self, other):
        return self.x > other.x + 2

    def __radd__(self, other):
        return 100 + self.x

    def __eq__(self, other):
        return False


@dataclass(order=True)
class Couple:
    x: int
    y: int


class Nearer(Couple):
    pass


@case(np.array([0, 1, 2, 3, 5]), np.array([2, 1, 0, 3, 4]))
def asked_by_their_names(n, m):
    a, b = Weight(n), Heavier(m)
    of_pairs = [Couple(n, m).__lt__(Couple(m, n)), Couple(n, m).__eq__(Couple(n, n))]
    unlike = Couple(n, m).__lt__(Nearer(n, m)) is NotImplemented
    return a.__lt__(b), a < b, a.__add__(b), a + b, a.__eq__(Heavier(n)), a.__ne__(Heavier(n)), of_pairs, unlike
