"""Objects of plain classes: made, read, changed, handed on and returned by members."""

# ruff: noqa
import copy
import math
from dataclasses import dataclass, field

import numpy as np

import autobatch as ab
from tests.meaning.case import case

x = np.array([0.5, -1.0, 2.0, 3.5, 0.0, 7.25])
n = np.array([3, 0, 5, 1, 4, 2])


class Ball:
    gravity = 9.81

    def __init__(self, height, speed=0.0):
        self.height = height
        self.speed = speed

    def energy(self):
        return 0.5 * self.speed**2 + self.gravity * self.height

    def fall(self, dt):
        self.speed -= self.gravity * dt
        self.height += self.speed * dt

    def step(self, dt):
        self.fall(dt)
        if self.height < 0:
            self.height = -self.height
            self.speed *= -0.8
        return self.height


@dataclass
class State:
    position: float
    velocity: float = 1.0

    def kick(self, by):
        self.velocity += by
        return self


@case(x)
def made_and_read(x):
    ball = Ball(x, 2.0)
    return ball.height + ball.energy()


@case(x, n)
def changed_in_a_loop(x, n):
    state = State(x)
    for i in range(n):
        state.position += state.velocity * 0.5
        if state.position > 2:
            state.velocity = -state.velocity
    return state.position, state.velocity


@case(x, n)
def methods(x, n):
    ball = Ball(abs(x))
    highest = 0.0
    for _ in range(n):
        highest = max(highest, ball.step(0.1))
    return ball.height, ball.energy(), highest


@case(x, n)
def a_method_in_straight_line(x, n):
    ball = Ball(x)
    ball.fall(0.5)
    ball.fall(0.25)
    return ball.height + n


@case(x, n)
def two_names(x, n):
    one = State(x)
    other = one
    if n > 2:
        other.position = 10.0
    one.velocity = 5.0
    return one.position + other.position, other.velocity


@case(x, n)
def two_objects(x, n):
    one, other = State(x), State(x)
    for _ in range(n):
        one.position += other.velocity
        other.velocity += one.position
    return one.position, other.position, other.velocity


def push(state, by):
    state.position += by
    if state.position > 3:
        state.velocity = 0.0


def swapped(a, b):
    a.position, b.position = b.position, a.position


@case(x, n)
def changed_by_functions(x, n):
    one, other = State(x), State(2.0 * x, 3.0)
    for _ in range(n):
        push(one, 1.0)
        swapped(one, other)
    return one.position, other.position, one.velocity + other.velocity


def made_by(x, n):
    if n > 2:
        return State(x)
    return State(-x, 2.0)


@case(x, n)
def returned_by_a_function(x, n):
    state = made_by(x, n)
    state.position += 1
    return state.position * state.velocity


class Account:
    def __init__(self, balance):
        if balance < 0:
            raise ValueError("negative balance")
        self.balance = balance
        self.history = []

    def deposit(self, amount):
        self.balance += amount
        self.history.append(amount)

    def withdraw(self, amount):
        if amount > self.balance:
            raise ValueError("insufficient funds")
        self.balance -= amount
        self.history.append(-amount)


@case(x, n)
def raising(x, n):
    account = Account(x)
    for i in range(n):
        account.deposit(2.0)
        account.withdraw(i + 0.5)
    return account.balance, account.history


@case(x, n)
def raising_and_catching(x, n):
    try:
        account = Account(x)
    except ValueError:
        return -1.0, 0
    failures = 0
    for i in range(n):
        try:
            account.withdraw(i * 1.0)
        except ValueError:
            failures += 1
            account.deposit(1.0)
    return account.balance, failures


class Stack:
    def __init__(self):
        self.items = []

    def push(self, item):
        self.items.append(item)

    def pop(self):
        if not self.items:
            raise IndexError("empty stack")
        return self.items.pop()

    def peek(self):
        return self.items[-1]

    def is_empty(self):
        return len(self.items) == 0

    def __len__(self):
        return len(self.items)


@case(x, n)
def a_stack(x, n):
    stack = Stack()
    for i in range(n):
        stack.push(i * i)
        if i % 3 == 2:
            stack.pop()
    total = 0
    while not stack.is_empty():
        total = total * 10 + stack.pop()
    return total


class Generator:
    def __init__(self, seed):
        self.state = seed

    def next(self):
        self.state = (self.state * 1103515245 + 12345) % 2**31
        return self.state

    def uniform(self):
        return self.next() / 2**31

    def below(self, n):
        value = self.next() % n
        return value if value != 3 else self.below(n)


@case(n, n[::-1])
def a_generator_of_random_numbers(n, seed):
    generator = Generator(seed)
    inside = 0
    for _ in range(10 * n):
        a, b = generator.uniform(), generator.uniform()
        if a * a + b * b < 1:
            inside += 1
    return inside, generator.below(7)


class Vector:
    def __init__(self, x, y):
        self.x, self.y = x, y

    def __add__(self, other):
        return Vector(self.x + other.x, self.y + other.y)

    def __mul__(self, scale):
        return Vector(self.x * scale, self.y * scale)

    def __neg__(self):
        return Vector(-self.x, -self.y)

    def __abs__(self):
        return math.sqrt(self.x**2 + self.y**2)

    def dot(self, other):
        return self.x * other.x + self.y * other.y

    @property
    def angle(self):
        return math.atan2(self.y, self.x)

    @staticmethod
    def unit(angle):
        return Vector(math.cos(angle), math.sin(angle))

    @classmethod
    def zero(cls):
        return cls(0.0, 0.0)


@case(x, n)
def operators(x, n):
    place, step = Vector(x, 1.0), Vector.unit(x)
    for _ in range(n):
        place = place + step * 0.5
        if place.x > 2:
            step = -step
    return place.x, place.y, abs(place), place.dot(step)


@case(x, n)
def properties_and_class_methods(x, n):
    total = Vector.zero()
    for i in range(n):
        total = total + Vector(x, i * 1.0)
    return total.angle, total.x


class Body:
    def __init__(self, position, velocity, mass=1.0):
        self.position, self.velocity, self.mass = position, velocity, mass

    def accelerate(self, force, dt):
        self.velocity = self.velocity + force * (dt / self.mass)
        self.position = self.position + self.velocity * dt


@case(x, n)
def objects_in_objects(x, n):
    body = Body(Vector(x, 0.0), Vector(0.0, 1.0), 2.0)
    for i in range(n):
        body.accelerate(Vector(-body.position.x, 0.5), 0.1)
        body.velocity.x += 0.01
        if body.position.y > 0.2:
            body.velocity.y = -body.velocity.y
    return body.position.x, body.velocity.y


class Shape:
    def __init__(self, size):
        self.size = size

    def area(self):
        return 0.0

    def scaled(self, by):
        if by > 0:
            self.size *= by
        return self.area()


class Square(Shape):
    def area(self):
        return self.size**2


class Disk(Shape):
    def __init__(self, size, hole):
        super().__init__(size)
        self.hole = hole

    def area(self):
        return math.pi * (self.size**2 - self.hole**2)


@case(x, n)
def inheritance(x, n):
    square, disk = Square(x), Disk(x + 1, 0.5)
    for i in range(n):
        square.scaled(i - 1)
        disk.scaled(1.5)
    return square.area(), disk.area(), isinstance(disk, Shape)


class Counter:
    def __init__(self, limit):
        self.limit, self.count = limit, 0

    def __call__(self, v):
        self.count += 1
        return v if v < self.limit else self.limit

    @property
    def is_full(self):
        if self.count > self.limit:
            return True
        return False


@case(x, n)
def branches_in_methods_of_the_language(x, n):
    counter = Counter(n)
    counter.count = n + 1 if x > 0 else 0
    return 1 if counter.is_full else 0


class Grid:
    def __init__(self, size):
        self.cells = [0] * size
        self.size = size

    def set(self, i, value):
        if 0 <= i < self.size:
            self.cells[i] = value

    def total(self):
        return sum(self.cells)


@case(n)
def lists_in_objects(n):
    grid = Grid(4)
    for i in range(-1, n):
        grid.set(i, i + 1)
        grid.cells[0] += 1
    return grid.total(), grid.cells


@dataclass
class Walker:
    place: float
    trail: list = field(default_factory=list)
    arrived: bool = False

    def walk(self, goal):
        while not self.arrived:
            self.trail.append(self.place)
            self.place += 0.75 if self.place < goal else -0.5
            if abs(self.place - goal) < 0.5 or len(self.trail) > 20:
                self.arrived = True


@case(x, n)
def loops_in_methods(x, n):
    walker = Walker(x)
    walker.walk(n)
    return walker.place, len(walker.trail)


@case(x, n)
def a_method_that_returns_self(x, n):
    state = State(x)
    other = state.kick(1.0)
    other.position = 4.0
    return state.position, state.velocity


@case(x, n)
def chosen(x, n):
    one, other = State(x), State(5.0)
    best = one if n > 2 else other
    return best.position + best.velocity


@case(x, n, refused="shared-array")
def chosen_and_changed(x, n):
    one, other = State(x), State(5.0)
    best = one if n > 2 else other
    best.position = 9.0
    return one.position, other.position


@case(x, n)
def copies(x, n):
    one = State(x)
    other = copy.copy(one)
    for _ in range(n):
        other.position += 1
    return one.position, other.position


@case(x, n)
def known_list_of_objects(x, n):
    states = [State(x), State(x + 1), State(x + 2)]
    for i in range(n):
        states[i % 3].position += 1
    return [s.position for s in states]


@case(x, n)
def methods_of_items(x, n):
    balls = [Ball(abs(x)), Ball(abs(x) + 1)]
    for i in range(n):
        balls[0].step(0.1)
        balls[i % 2].step(0.05)
    return [ball.height for ball in balls], balls[1].speed


@case(x, n)
def methods_of_attributes(x, n):
    body = Body(Ball(abs(x)), Ball(0.5))
    for i in range(n):
        body.position.step(0.1)
        body.velocity.step(0.2)
    return body.position.height, body.velocity.height


def first_of(balls):
    return balls[0]


@case(x, n, refused="shared-array")
def a_method_of_what_a_function_returns(x, n):
    balls = [Ball(abs(x)), Ball(1.0)]
    for i in range(n):
        first_of(balls).step(0.1)
    return balls[0].height


class Faster(Ball):
    def step(self, dt):
        self.fall(2 * dt)
        if self.height < 0:
            self.height = 0.0
        return self.height


def thrown(x, n):
    if n > 2:
        x = x + 1
    return Faster(abs(x))


@case(x, n)
def a_class_that_is_met_later(x, n):
    ball, other = Ball(abs(x)), thrown(x, n)
    for _ in range(n):
        ball.step(0.1)
        other.step(0.1)
    return ball.height + other.height


class Pair:
    __slots__ = ("left", "right")

    def __init__(self, left):
        self.left = left
        self.right = 1.0

    def __add__(self, other):
        return Pair(self.left + other.left)


@case(x, n)
def slots(x, n):
    pair = Pair(x)
    for _ in range(n):
        pair = pair + Pair(1.0)
        pair.right += 1
    return pair.left + pair.right


@case(x, n)
def changed_by_a_nested_function(x, n):
    state = State(x)

    def move(by):
        state.position += by
        return state.position

    total = 0.0
    for i in range(n):
        total += move(i)
    return state.position, total


class Mover:
    def __init__(self, x):
        if x < 0:
            x = 0
        self.x = x

    def go(self, d):
        if d > 2:
            self.x += d
        return self.x

    @property
    def far(self):
        return self.x * 2 if self.x > 1 else 0


class Runner(Mover):
    def __init__(self, x, speed):
        super().__init__(x)
        self.speed = speed

    def go(self, d):
        r = super().go(d + self.speed)
        if r > 5:
            self.speed += 1
        return r

    @property
    def far(self):
        if self.speed > 1:
            return super().far + 1
        return 0


class Jumper(Mover):
    def go(self, d):
        if d > 1:
            return super().go(d) * 2
        return 1


class Both(Jumper, Runner):
    pass


@case(n)
def super_of_one_parent(n):
    a, b = Runner(n, 2), Jumper(n)
    return a.go(n), a.go(1), a.speed, a.far, b.go(n), b.x


@case(n)
def super_goes_by_the_object(n):
    a, b = Both(n, 2), Jumper(n)
    return a.go(n), a.speed, b.go(n)


class Shelf:
    shared = [1, 2]
    sizes = {"a": 1}

    def __init__(self, n):
        self.n = n

    def grow(self):
        self.shared.append(3)
        return len(self.shared)

    def looked_up(self, i):
        return self.shared[i % 2] + self.sizes["a"] + self.n

    def own(self):
        self.shared = [self.n]
        self.shared.append(4)
        return len(self.shared)


@case(n, refused="changed-class")
def list_of_the_class_grown(n):
    return Shelf(n).grow()


@case(n, refused="changed-class")
def list_of_the_class_grown_on_a_path(n):
    shelf = Shelf(n)
    if n > 1:
        shelf.shared.append(7)
    return shelf.n


@case(n)
def list_of_the_class_read(n):
    return Shelf(n).looked_up(n), Shelf(n).own()


class Ordered:
    def __init__(self, x, y):
        self.x, self.y = x, y

    def __eq__(self, other):
        return self.x == other.x and self.y == other.y

    def __lt__(self, other):
        if self.x != other.x:
            return self.x < other.x
        return self.y < other.y

    def __le__(self, other):
        return self < other or self == other


@case(n)
def comparisons_that_branch(n):
    p, q = Ordered(n % 2, n), Ordered(1, 3)
    pair = [Ordered(n, 1), Ordered(1, 2)]
    return p == q, p != q, p < q, p <= q, (1 if p == q else 0), pair[0] == pair[1], p == p, pair[0] < pair[0]


@case(n)
def comparisons_as_conditions(n):
    p, q, t = Ordered(n % 2, n), Ordered(1, 3), 0
    if p == q:
        t += 1
    if not p == q:
        t += 10
    if p != q and p < q:
        t += 100
    while p < q and t < 130:
        p = Ordered(p.x, p.y + 1)
        t += 1
    return t


@dataclass(order=True)
class Dated:
    year: int
    day: int = 1
    note: float = field(default=0.0, compare=False)


@dataclass(eq=False)
class Noted(Dated):
    extra: int = 0


@case(n)
def dataclasses_that_are_compared(n):
    a, b, first = Dated(n % 3, n, 0.5), Dated(1, 4), Dated(0, 0)
    for k in range(n):
        found = Dated(k * 5 % 3, k)
        if found > first:
            first = found
    same = a == b, a != b, a == Dated(n % 3, n), Noted(n, 1, 0.0, 2) == Noted(3, 1, 0.0, 4)
    return same, a < b, a <= b, a > b, a >= b, first.year, first.day


class Trail:
    def __init__(self, x):
        self.x, self.seen = x, []

    def step(self):
        self.x += 1
        self.seen.append(self.x)


@case(n)
def objects_with_lists_in_lists(n):
    known, grown = [Trail(n), Trail(2)], []
    for _ in range(n):
        for each in known:
            each.step()
    for i in range(n):
        made = Trail(i)
        made.step()
        grown.append(made)
    for one in grown:
        one.step()
    return known[0].x, len(known[1].seen), sum(one.x for one in grown), sum(len(one.seen) for one in grown)
