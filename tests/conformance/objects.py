"""Objects of plain classes."""

from dataclasses import dataclass

from tests.conformance import N, X, feature


class Ball:
    gravity = 9.81

    def __init__(self, height, speed=0.0):
        self.height = height
        self.speed = speed

    def step(self, dt):
        self.speed -= self.gravity * dt
        self.height += self.speed * dt
        if self.height < 0:
            self.height = -self.height
            self.speed *= -0.8
        return self.height


@dataclass
class State:
    place: float
    turns: int = 0


class Trail:
    def __init__(self, start):
        if start > 9:
            raise ValueError("too far")
        self.places = [start]

    @property
    def last(self):
        return self.places[-1] if self.places else 0.0

    def go(self, by):
        if self.last + by < 4:
            self.places.append(self.last + by)


@feature("objects of plain classes and dataclasses: made, read, changed, returned", X, N)
def objects(x, n):
    state = State(x)
    for _ in range(n):
        state.place += 0.5
        state.turns += 1
    return state.place * state.turns


@feature("methods that branch and change their object, `raise` in `__init__`, properties", X, N)
def methods(x, n):
    trail = Trail(x)
    for i in range(n):
        trail.go(i * 0.5)
    return trail.last + len(trail.places)


@feature("lists of objects, and loops that change them", X, N)
def several(x, n):
    balls = [Ball(1.0), Ball(x * x, 0.5)]
    for _ in range(n):
        for ball in balls:
            ball.step(0.25)
    return balls[0].height + balls[1].speed


def _lift(state, by):
    state.place += by
    if state.place > 1:
        state.turns = 1


@feature("functions that change an object, under two names", X, N)
def changed(x, n):
    state = State(x)
    also = state
    for i in range(n):
        _lift(state, i * 0.5)
    return also.place + also.turns


class Rubber(Ball):
    def step(self, dt):
        if self.speed > -1:
            return super().step(dt * 2)
        return super().step(dt)


@feature("inheritance, `super()`", X, N)
def inherited(x, n):
    ball, highest = Rubber(x * x), 0.0
    for _ in range(n):
        highest = max(highest, ball.step(0.25))
    return highest + ball.speed


class Pool:
    def __init__(self, size):
        self.places = [0.0] * 3
        self.size = size

    def __len__(self):
        return self.size if self.size < 3 else 3

    def __bool__(self):
        return bool(self.size > 0 and self.places[0] < 5)

    def __getitem__(self, k):
        return self.places[k % len(self)] if self else -1.0

    def __setitem__(self, k, x):
        if k < len(self):
            self.places[k] = x

    def __contains__(self, x):
        return any(place == x for place in self.places)

    def __call__(self, x):
        for k in range(len(self)):
            self[k] += x if k % 2 == 0 else -x
        return self[0]


@feature("`len(p)`, `if p:`, `p[k]`, `p[k] = v`, `x in p`, `p(x)` by methods that branch", X, N)
def by_itself(x, n):
    pool = Pool(n)
    pool[1] = x
    total = pool(0.5) + pool(x)
    if not pool:
        total -= 10
    return total + len(pool) if x in pool else total + pool[n]


class Angle:
    def __init__(self, degrees):
        self.degrees = degrees % 360

    def __add__(self, other):
        return Angle(self.degrees + (other.degrees if isinstance(other, Angle) else other))

    def __radd__(self, other):
        return self + other

    def __lt__(self, other):
        return self.degrees < other.degrees

    def __float__(self):
        return float(self.degrees if self.degrees < 180 else self.degrees - 360)


@feature("operators of a class, also with the object on the right; comparisons, conversions", X)
def operators(x):
    a, b = 90.0 + Angle(x * 100), Angle(45.0) + Angle(x)
    return float(max(a, b)) + (1.0 if b < a else 0.0)


@dataclass
class Order:
    price: float
    count: int = 1
    total: float = 0.0

    def __post_init__(self):
        self.total = self.price * self.count if self.count < 3 else self.price * 2.5

    @property
    def paid(self):
        return self.total

    @paid.setter
    def paid(self, amount):
        self.total = amount if amount > 0 else 0.0

    @classmethod
    def of_one(cls, price):
        return cls(price) if price > 0 else cls(-price, 2)

    @staticmethod
    def rounded(price):
        return round(price * 4) / 4


@feature("`__post_init__`, setters of properties, class methods and static methods of objects", X, N)
def made(x, n):
    order, other = Order(Order.rounded(x), n), Order.of_one(x)
    other.paid = other.paid - order.total
    return order.paid + 2 * other.total


class Highest:
    def __init__(self):
        self.value, self.at = None, None

    def see(self, x, k):
        if self.value is None or x > self.value:
            self.value, self.at = x, k


@feature("an attribute that is `None` for some members", X, N, note="a returned object's must not be")
def attribute_or_none(x, n):
    highest = Highest()
    for k in range(n):
        highest.see(x * (k - 1), k)
    return -1.0 if highest.at is None else highest.value + highest.at


def _longer(a, b):
    if isinstance(a, Angle):
        return a if Angle(b) < a else Angle(b)
    return max(a, b)


@feature("a function that gets one type at one call and another at the next, and asks which", X, N)
def of_two_types(x, n):
    return _longer(Angle(x), 2.0).degrees + _longer(n, 2)
