"""Each part of a statement in its turn: what is made before the statement does not overtake what stands left of it."""

# ruff: noqa
import math
from itertools import islice, pairwise, product

import numpy as np

from autobatch import autobatch
from tests.meaning.case import case

n = np.array([1, 2, 3, 0])
b = np.array([2, 0, 5, 3])


def items_of(xs):
    for x in xs:
        yield x


def push(xs, v):
    xs.append(v)
    return v


@case(n, b)
def calls_left_of_a_generator(n, b):
    xs, ys, zs = [n], [n, b], [n, b]
    one = push(xs, 5) + sum(items_of(xs))
    two = ys.pop() + sum(items_of(ys))
    three = [push(zs, 7), sum(items_of(zs)), len(zs)]
    return one, two, three


@case(n, b)
def items_left_of_a_generator(n, b):
    xs, log = [n, b], []

    def taking():
        while xs:
            log.append(len(xs))
            yield xs.pop()

    total = xs[0] * 10 + sum(taking())
    return total, log


@case(n)
def calls_left_of_next(n):
    xs, ys = [n], [n, 4]
    first = push(xs, 7) + next(v for v in xs if v > 3)
    second = ys.pop() - next((v for v in ys if v > 3), 100)
    return first, second, xs, ys


@case(n)
def a_walrus_left_of_a_generator(n):
    y = n
    total = (y := n + 5) + sum(items_of([y]))
    other = y * 100 + sum(items_of([(y := 2), y]))
    return total, other, y


@case(n, b)
def calls_left_of_a_search(n, b):
    xs, ys, zs = [n], [n], [b]
    one = [(push(xs, b) > 1) in items_of(xs), xs[0] + 1 in items_of(xs)]
    two = [push(ys, b), b in items_of(ys), any(v > 2 for v in items_of(ys))]
    three = (push(zs, n), all(items_of(zs)))
    return one, two, three


@case(n, b)
def a_generator_within_arguments(n, b):
    xs = [n]
    together = max(push(xs, b), sum(items_of(xs)), push(xs, 1), sum(items_of(xs)))
    table = {"a": push(xs, 1), "b": sum(items_of(xs)), "c": push(xs, 2) + sum(items_of(xs))}
    return together, table["a"], table["b"], table["c"]


@case(n, b)
def added_in_place_from_a_generator(n, b):
    xs, total = [n, b], [10, 20]

    def taking():
        for x in items_of(xs):
            yield x

    total[0] += sum(taking())
    total[xs[0] % 2] -= sum(items_of(xs))
    return total


@case(n, refused="generator-that-changes")
def added_in_place_to_what_a_generator_changes(n):
    total = [n]

    def adding():
        total[0] += 10
        yield 1

    total[0] += sum(adding())
    return total


@case(n, b)
def item_by_item_from_a_generator(n, b):
    log, both = [], []

    def numbers():
        for i in range(3):
            log.append(i)
            yield i * n

    squares = [push(log, v * 10) for v in numbers() if v != b]
    sums = sum(push(both, v) + len(log) for v in numbers())
    return squares, sums, log, both


@case(n, b)
def nonlocals_of_the_function_around(n, b):
    x, y = 1, n

    def outer():
        x = 2

        def inner():
            nonlocal x, y
            x += b
            y += x

        inner()
        inner()
        return x

    def other():
        nonlocal x
        x *= 3
        return x

    return outer() * 10 + x, y, other(), x


@case(n, b)
def nonlocals_of_a_parameter_around(n, b):
    x = n

    def outer(x):
        def inner():
            nonlocal x
            x += 1
            return x

        return inner() + inner()

    return outer(b), x, outer(x)


@case(n)
def reversed_lists_that_grow(n):
    xs, ys, turns = [1] * (n + 1), [n], 0
    for v in reversed(xs):
        if len(xs) < 4:
            xs.append(0)
    for v in reversed(ys):
        turns += 1
        if len(ys) < 3:
            ys.append(0)
    zs = [n, 2, 3, 4]
    seen = []
    for v in reversed(zs):
        seen.append(v)
        zs[0] = 9
    return xs, ys, turns, seen


@case(n)
def reversed_lists_that_shrink(n):
    xs, seen = [n, 1, 2, 3, 4], []
    for v in reversed(xs):
        seen.append(v)
        if len(xs) > n + 1:
            xs.pop()
    return seen, xs


@case(n)
def pools_of_products(n):
    xs, ys, turns = [1, n], [n, 0], 0
    for p, q in product(xs, [1]):
        turns += 1
        if len(xs) < 4:
            xs.append(7)
    for p, q in product(ys, [1, 2]):
        ys[1] += 1
        turns = turns * 10 + p
    return turns, xs, ys


@case(n)
def pairs_of_what_changes(n):
    xs, digits = [n, 2, 3, 4], 0
    for p, q in pairwise(xs):
        digits = digits * 10 + p * q
        xs[2] = 9
        xs[0] = 7
    return digits


@case(np.array([1, -1, 2, 0, 5]))
def slices_of_members_lengths(n):
    total = 0
    for v in islice([1, 2, 3], n):
        total += v
    return total


@case(n, b)
def enumerated_from_a_computed_start(n, b):
    xs, out = [n], []

    def grown():
        xs.append(b)
        return xs

    for k, v in enumerate(grown(), len(xs)):
        out.append((k, v))
    return out


class Box:
    def __init__(self, value):
        self.value, self.asked, self.added, self.compared = value, 0, 0, 0

    @property
    def noisy(self):
        self.asked += 1
        return self.value

    def __add__(self, other):
        self.added += 1
        return self.value + other

    def __lt__(self, other):
        self.compared += 1
        return self.value < other


class Logged:
    def __init__(self, value):
        self.log = [value, 0, 0]

    def reset(self, v):
        self.log = [v, v, v]
        return v

    def grow(self, v):
        self.log.append(v)
        return v


@case(n)
def properties_that_act_in_arms(n):
    b = Box(n)
    first = b.noisy if n > 1 else 0
    second = b + 1 if n != 3 else 0
    third = n > 1 and b.noisy > 0
    fourth = 1 < n < b.noisy
    fifth = n > 1 and b < 5
    return first, second, third, fourth, fifth, b.asked, b.added, b.compared


@case(n, b)
def methods_that_replace_what_is_assigned_to(n, b):
    box, other = Logged(n), Logged(b)
    box.log[0] = box.reset(7)
    other.log[other.log[1]] = other.reset(1) + 5
    return box.log, other.log


@case(n, b)
def methods_that_grow_what_is_assigned_to(n, b):
    box = Logged(n)
    box.log[-1] = box.grow(7)
    box.log[1] += box.grow(b)
    return box.log


@case(n)
def names_of_cases_with_guards(n):
    y = -1
    match n:
        case y if y > 2:
            found = 1
        case 1:
            found = 2
        case _:
            found = 3
    return found, y


@case(n, b)
def names_of_sequences_with_guards(n, b):
    p = q = -1
    match (n, b):
        case (p, q) if p > q:
            found = 1
        case (1, q):
            found = 2
        case _:
            found = 3
    return found, p, q


def doubled(f):
    def inner(*args):
        return 2 * f(*args)

    return inner


@case(n, refused="not-autobatched")
def decorated_inside(n):
    @doubled
    def f(k):
        if k > 1:
            return k
        return -k

    return f(n)


@case(np.array([0.1, 1e16, 1.0]))
def exact_sums(x):
    return math.fsum([x, 1.0, -x, 1e-16, 0.1, 0.2, 0.3]), math.fsum([x] * 10)


@case(np.array([2**53, 2**53 + 1, 3]), np.array([2.0**53, 2.0**53, 3.0]))
def ints_beside_floats(n, x):
    return n == x, n < x, n > x, n <= x, x != n


@case(np.array([3, 5, 10]))
def inverses(n):
    return pow(n, -1, 7), pow(3, -1, n)


class Odd:
    """Methods that branch, and those that do not, change what stands beside them."""

    def __init__(self, a):
        self.a = a

    def turned(self):
        if self.a > 1:
            self.a += 1
        else:
            self.a += 2
        return self.a

    def straight(self):
        self.a += 1
        return self.a

    def added(self):
        self.a += self.turned()
        return self.a

    @property
    def next(self):
        self.a += 1
        return self.a


def bumped(o):
    o.a += 1
    return o.a


def bumped_first(xs):
    xs[0] += 1
    return xs[0]


def pair(a, b):
    return a * 100 + b


@case(n)
def attributes_left_of_methods(n):
    o, p = Odd(n), Odd(n + 1)
    sums = o.a + o.turned(), o.a < o.turned(), o.a * 2 + 1 - o.turned(), -o.a + o.turned()
    parts = (o.a, o.turned()), [o.a, o.turned(), o.a], {"a": o.a, "b": o.turned()}
    x, y = p.a, p.turned()
    calls = pair(p.a, p.turned()), max(p.a, p.turned()) * 10 + min(p.a, p.turned()), p.added(), p.a
    return sums, parts[0], parts[1], parts[2]["a"], x, y, calls


@case(n)
def attributes_left_of_methods_in_statements(n):
    o, xs, a, k, total = Odd(n), [1, 2, 3], 1, 0, 0
    o.a += o.turned()
    xs[o.a % 3] += o.turned()
    xs.append(o.a * 10 + o.turned())
    a, o.a = o.a, o.turned()
    for i in range(o.a, o.turned() + 1):
        total += i
    while o.a < o.turned():
        k += 1
        if k > n:
            break
    return xs, a, k, total, o.a


@case(n)
def attributes_left_of_what_python_runs(n):
    o, xs = Odd(n), [n]
    first = o.a * 10 + o.next if n > 0 else 0
    second = o.a + (o.straight() if o.a > 1 else 2)
    third = o.a < o.straight() <= o.a, xs[0] < bumped_first(xs) <= xs[0]
    fourth = o.a + (w := bumped(o)) + w
    fifth = n > 0 and o.a + o.turned() == 2 * o.a - 1
    sixth = o.a + sum(o.turned() for _ in range(n))
    return first, second, third, fourth, fifth, sixth


@case(n)
def keywords_in_their_turn(n):
    k, xs = n, [n, 5]

    def f():
        nonlocal k
        k += 1
        return k

    def h(a, b):
        return a * 100 + b

    of_helper = h(b=k, a=f()), pair(b=k, a=f()), dict(a=k, b=f())["a"]
    return of_helper, h(b=len(xs), a=xs.pop()), pair(b=xs[0], a=bumped_first(xs)), xs


@case(n)
def names_that_are_set_twice_in_a_line(n):
    first = (y := 2) + (y := n)
    second = (z := n) < (z := 2), z
    third = [(w := n), (w := 7), w]
    return first, y, second, third, max((v := n), (v := 1)), v


@case(n, refused="argument-that-changes")
def items_looked_up_before_arguments_move_them(n):
    xs = [[n], [1], [2]]

    def moved():
        xs.insert(0, [9])
        return 5

    xs[0].append(moved())
    return xs


@case(n)
def items_whose_arguments_move_others(n):
    stacks = [[n, 1], [2], [3, 4]]

    def noted(v):
        return v * 2

    stacks[0].append(stacks[2].pop())
    stacks[n % 2].append(noted(stacks[0][0]))
    return stacks


@case(n, refused="kept-closure")
def functions_made_by_functions(n):
    k = 5

    def made():
        return lambda x: x + k

    f = made()
    k = n
    return f(1)


@case(n)
def functions_made_by_functions_of_what_stays(n):
    k = n + 5

    def made():
        return lambda x: x + k

    def greatest():
        return max([n, k, 3], key=lambda v: (v - k) ** 2)

    return made()(1), greatest()


@case(n)
def extended_until_an_item_fails(n):
    xs = []
    try:
        xs.extend(6 // (i - n) for i in range(4))
    except ZeroDivisionError:
        xs.append(77)
    return xs


@case(n, refused="except-clause")
def what_a_clause_unsets(n):
    e = 5
    try:
        if n > 1:
            raise ValueError
    except ValueError as e:
        pass
    return e


@case(n)
def names_of_clauses_that_others_bind(n):
    total = sum(e for e in [1, n])
    try:
        total += 10 // n
    except ZeroDivisionError as e:
        total += 1
    return total, [e * 2 for e in (n, 1)]
