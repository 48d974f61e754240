"""Functions that are called, but not decorated."""

# ruff: noqa
import functools
import math
import operator
import types

import numpy as np

import autobatch as ab
from tests.meaning.case import case

N = np.array
n = N([3, 0, -2, 5, 1])
x = N([0.5, 0.0, -2.0, 3.5])


def hypotenuse(a, b):
    return math.sqrt(a * a + b * b)


def sign(x):
    if x > 0:
        return 1
    elif x < 0:
        return -1
    return 0


def clamped_sum(xs, low=0.0):
    total = 0.0
    for x in xs:
        total += max(x, low) * sign(x)
    return total


def factorial(n):
    if n < 0:
        raise ValueError(n)
    return 1 if n <= 1 else n * factorial(n - 1)


def newton(f, x, *, turns=10):
    for _ in range(turns):
        if abs(f(x)) < 1e-9:
            break
        x = x - f(x) / (2 * x + 0.001)
    return x


def squared_minus_two(x):
    return x * x - 2


def swap_if(xs, i, j):
    if xs[i] > xs[j]:
        xs[i], xs[j] = xs[j], xs[i]


def collect(xs, value):
    if value % 2 == 0:
        xs.append(value)


class Model:
    def __init__(self, limit):
        self.limit = limit

    def step(self, x):
        if x > self.limit:
            return x - self.limit
        return x + self.rate()

    def rate(self):
        return math.exp(-self.limit)

    @staticmethod
    def half(x):
        return x / 2 if x > 1 else x


MODEL = Model(2.0)


@case(x)
def mathematics_in_a_helper(x):
    return hypotenuse(x, 1.0) + hypotenuse(x, 2.0) * sign(x)


@case(N([[1.0, -2.0, 3.0], [-1.0, 0.0, 0.5]]))
def helper_that_loops_and_calls(xs):
    return clamped_sum(xs), clamped_sum(xs, -1.0)


@case(n)
def recursive_helper(n):
    return factorial(n)


@case(n)
def helper_that_raises(n):
    try:
        return factorial(n)
    except ValueError:
        return -1


@case(N([1.0, 2.0, 5.0]))
def function_as_an_argument(x):
    return newton(squared_minus_two, x), newton(lambda y: y * y - 3, x, turns=6)


@case(N([[3, 1, 2], [1, 2, 0]]))
def helper_that_changes_an_array(xs):
    for i in range(3):
        for j in range(i + 1, 3):
            swap_if(xs, i, j)
    return xs


@case(n)
def helper_that_fills_a_list(n):
    found = []
    for i in range(n + 2):
        collect(found, i * n)
    return found


@case(x)
def methods(x):
    for _ in range(3):
        x = MODEL.step(x) + Model.half(x)
    return x


@case(x)
def in_a_comprehension(x):
    return [sign(x - k) for k in range(3)], sum(sign(v) for v in (x, -x, x + 1))


@case(x)
def within_a_nested_function(x):
    def both(a):
        if a > 1:
            return sign(a) + hypotenuse(a, a)
        return a

    return both(x) + both(x + 2)


@functools.lru_cache(maxsize=None)
def cached_fibonacci(n):
    if n < 2:
        return n
    return cached_fibonacci(n - 1) + cached_fibonacci(n - 2)


@case(N([0, 1, 5, 9]))
def cached_helper(n):
    return cached_fibonacci(n) + 1


@ab.autobatch
@functools.cache
def paths(i, j):
    return 1 if i == 0 or j == 0 else paths(i - 1, j) + paths(i, j - 1)


@case(N([0, 1, 3, 4]), N([2, 5, 3, 0]))
def decorated_and_cached(i, j):
    return paths(i, j)


@case(N([0, 1, 3, 4]), N([2, 5, 3, 0]))
def cached_nested_function(i, j):
    @functools.lru_cache(None)
    def go(a, b):
        if a == 0 or b == 0:
            return 1
        return go(a - 1, b) + go(a, b - 1)

    return go(i, j)


@case(x)
def imports_inside(x):
    import math as mathematics
    import os.path
    from math import pi, sin

    return mathematics.cos(x) + sin(x) * pi + len(os.path.sep)


@case(n)
def matches(n):
    match n:
        case 0:
            return 10
        case 1 | 3:
            k = 20
        case m if m < 0:
            k = -m
        case other:
            k = other + 30
    return k


@case(n, n[::-1])
def matches_pairs(n, m):
    match (n > 0, m):
        case (True, 1):
            return 1
        case (False, _):
            return 2
        case (_, k) if k > 2:
            return k
    return -1


@case(n)
def matches_in_a_loop(n):
    total = 0
    for i in range(6):
        match (i + n) % 4:
            case 0:
                continue
            case 1:
                total += 1
            case 2 if n > 2:
                total += 10
            case _:
                total += 100
                if total > 150:
                    break
    return total


def inverse_or_zero(v):
    try:
        return 1.0 / v
    except ZeroDivisionError:
        return 0.0


def quotient_or(a, b, default=-1):
    try:
        return a // b
    except (ZeroDivisionError, TypeError):
        return default


def first_positive(v):
    try:
        if v > 0:
            return v
    except Exception:
        return -100.0
    return 0.0


def at_twice(function, v):
    return function(2 * v)


class Solver:
    def inverse(self, v):
        try:
            return 1.0 / v
        except ZeroDivisionError:
            return -1.0


SOLVER = Solver()


def logged(function):
    @functools.wraps(function)
    def wrapper(*args):
        return function(*args)

    return wrapper


@logged
def wrapped_inverse(v):
    try:
        return 1.0 / v
    except ZeroDivisionError:
        return 7.0


@case(x, n[:4])
def helpers_that_catch(x, n):
    return inverse_or_zero(n), quotient_or(7, n), first_positive(x), SOLVER.inverse(n)


@case(n)
def a_helper_that_catches_within_others(n):
    return at_twice(inverse_or_zero, n)


@case(n)
def a_helper_that_catches_in_a_lambda(n):
    return at_twice(lambda v: inverse_or_zero(v) + 1, n)


@case(n)
def a_helper_that_catches_by_map(n):
    return sum(map(inverse_or_zero, [n, n + 2.0, 3.0])) + sum([inverse_or_zero(v) for v in (n, 1.0)])


@case(n)
def a_wrapped_helper_that_catches(n):
    return wrapped_inverse(n)


def total_of(items):
    try:
        return sum(1.0 / v for v in items)
    except ZeroDivisionError:
        return math.inf
    finally:
        pass


@case(n)
def a_helper_that_catches_around_a_generator(n):
    return total_of([n, n + 2.0, 1.0])


def made_safe(function, otherwise):
    def safe(*args):
        try:
            return function(*args)
        except (ValueError, ZeroDivisionError):
            return otherwise

    return safe


safe_root = made_safe(math.sqrt, -1.0)


@case(x)
def a_helper_made_by_a_function(x):
    return safe_root(x)


def bisect(function, low, high, turns):
    for _ in range(turns):
        middle = (low + high) / 2
        if function(low) * function(middle) <= 0:
            high = middle
        else:
            low = middle
    return low


def newton_of(function, x, derivative=None, tolerance=1e-9):
    for _ in range(20):
        slope = (function(x + 1e-6) - function(x - 1e-6)) / 2e-6 if derivative is None else derivative(x)
        if abs(function(x)) < tolerance:
            break
        x = x - function(x) / slope
    return x


def integral(function, a, b, depth=6):
    middle = (a + b) / 2
    if depth == 0 or abs(function(a) - function(b)) < 0.1:
        return function(middle) * (b - a)
    return integral(function, a, middle, depth - 1) + integral(function, middle, b, depth - 1)


def runge_kutta(slope, y, t, h):
    a = slope(t, y)
    b = slope(t + h / 2, [v + h / 2 * k for v, k in zip(y, a)])
    return [v + h * k for v, k in zip(y, b)]


@case(x, n[:4])
def closures_for_a_solver(x, n):
    def quadratic(v):
        return v * v - abs(x) - 1

    shift = n / 10
    root = bisect(quadratic, 0.0, 4.0, n + 3)
    return root, bisect(lambda v: v - shift, -5.0, 5.0, 12), bisect(math.cos, 0.0, 3.0, 6)


@case(x, n[:4])
def closures_with_branches(x, n):
    def kinked(v):
        if v < n:
            return -1.0
        return v - x

    return bisect(kinked, -10.0, 10.0, 9) + kinked(x)


@case(x)
def closures_and_defaults(x):
    def f(v):
        return v * v - abs(x) - 2

    return newton_of(f, 1.0), newton_of(f, 1.5, lambda v: 2 * v), newton_of(f, 3.0, tolerance=1e-3)


@case(x, n[:4])
def closures_through_a_recursion(x, n):
    return integral(lambda t: t * t + x, 0.0, 2.0) + integral(lambda t: n * t, 0.0, 1.0, 2)


@case(x, n[:4])
def nested_solvers(x, n):
    def pendulum(t, state):
        angle, speed = state
        return [speed, -math.sin(angle) - 0.1 * speed]

    def until(step, y, turns):
        t = 0.0
        while t < turns and y[0] < 3:
            y = step(pendulum, y, t, 0.25)
            t += 0.25
        return y

    return until(runge_kutta, [x, 1.0], n)[0]


@case(x, n[:4])
def a_closure_that_is_handed_on(x, n):
    def apply(function, v):
        return function(v) + 1 if v > 0 else again(function, v + 3)

    def scaled(v):
        return v * x + n

    return apply(scaled, n) + apply(lambda v: v - n, n)


def again(function, v):
    if v > 1:
        return function(v) * 2
    return function(v + 1)


@case(n)
def closures_that_change_a_list(n):
    seen = []

    def note(v):
        seen.append(v)
        return v * v - 2

    root = bisect(note, 0.0, 2.0, abs(n))
    return root, len(seen), sum(seen)


@case(n)
def closures_see_what_a_variable_becomes(n):
    total = 0
    for k in range(3):
        total += bisect(lambda v: v - k, -1.0, 4.0, abs(n) + 2)
    return total


@case(n)
def a_closure_asked_for_itself(n):
    def shifted(v):
        return v + n

    def apply(function, v):
        if v > 0:
            return [function][0](v)
        return v

    return apply(shifted, n)


ROWS = N([[3, 1, 2, 0], [0, 0, 0, 0], [5, -5, 5, 1], [-1, -2, -3, -4]])
m = N([0, 1, 2, 3])


@case(ROWS, m)
def nested_functions_that_change_what_they_get(a, n):
    b = np.zeros(3)
    xs = [v for v in a if v > n]
    ys = [1, 2]

    def set_first(v, to):
        v[0] = to

    def swap(x, i, j):
        x[i], x[j] = x[j], x[i]

    def turned(v):
        v.sort()
        v.reverse()

    def push(s, v):
        s.append(v)

    set_first(b, n)
    turned(xs)
    for i in range(2):
        swap(a, i, 3 - i)
        push(ys, i)
    return a, b, xs, ys


@case(ROWS, m)
def given_to_a_function(a, n):
    def set_first(v):
        v[0] = n

    def apply(function, v):
        function(v)

    apply(set_first, a)
    return a


@case(ROWS, m, refused="shared-array")
def another_name_within(a, n):
    def set_first():
        b = a
        b[0] = n

    set_first()
    return a


@case(ROWS, m)
def made_within(a, n):
    def unit(k):
        y = np.zeros(4)
        y[0] = k
        return y

    return unit(n) + unit(2) + a


def noting(xs, n):
    try:
        return 10 // n
    except ZeroDivisionError:
        xs.append(1)
        return 0


@case(m)
def a_helper_that_catches_and_appends(n):
    xs = []
    r = noting(xs, n)
    return r, len(xs)


def bounded(v, low=0, high=3):
    if v < low:
        return low
    return high if v > high else v


def doubly(g, v):
    for _ in range(2):
        v = g(v) % 31
    return v


def given(g, v):
    return g(v)


@case(n)
def nested_functions_that_call_helpers(n):
    count = [n]

    def g(v):
        return bounded(count[0], high=bounded(v))

    def h(v):
        return bounded(v + 1)

    k = lambda v: bounded(v) + n
    return given(g, n) + g(n), doubly(lambda w: w + h(w), n), k(n) + given(k, 2), doubly(lambda w: h(h(n)), n)


@case(n)
def a_helper_in_a_comprehension_that_may_raise(n):
    def checked(v):
        if v < 0:
            raise ValueError("negative")
        return sum([v + i for i in range(n)])

    try:
        return checked(n - 1)
    except ValueError:
        return -1


@case(n)
def nonlocal_variables(n):
    count, best = 0, n - 10
    a: float = 1.0

    def rec(k):
        nonlocal count, best
        count += 1
        if k > best:
            best = k
        if k > 0:
            rec(k - 1)

    def halve():
        nonlocal a, n
        a /= 2
        n += 1
        return n

    rec(n)
    for _ in range(3):
        halve()
    inner = sum(a for a in [1, 2])
    return count, best, a, halve(), n, inner


@case(n)
def nonlocal_of_a_function_in_a_function(n):
    k = 0

    def outer():
        def inner():
            nonlocal k
            k += 1

        inner()
        inner()

    outer()
    if n > 2:
        outer()
    return k


@case(n)
def nested_functions_that_change_what_they_capture(n):
    xs, count = [n, 2, 3], [0]

    def swap(i, j):
        xs[i], xs[j] = xs[j], xs[i]

    def add(v):
        count.append(v)

    swap(0, 2)
    if n > 2:
        swap(0, 1)
    for i in range(n):
        add(i)
    return xs, len(count)


def odd_number(v):
    if not isinstance(v, int) or v < 0:
        raise ValueError("no natural number")
    return v % 2 == 1


def counted_odd(v):
    return 1 if odd_number(v) else 0


def width(v):
    return 8 if type(v) is int else 4


@case(n)
def helpers_that_ask_for_types(n):
    return sum([i for i in range(2, n) if odd_number(i)]), counted_odd(abs(n)), width(n)


@case(n)
def helpers_that_refuse_a_number(n):
    return odd_number(n)


class Meter:
    def __init__(self, k):
        if not isinstance(k, int):
            raise ValueError("no int")
        self.k = k

    def add(self, v):
        if isinstance(v, int):
            return self.k + v
        return -1


@case(n)
def methods_that_ask_for_types(n):
    return Meter(n).add(n), Meter(2).add(3)


@case(np.array([[1.5, 2.5], [2.0, 3.0]]))
def arrays_are_arrays(a):
    exact = np.array(16777217, dtype=float) + np.asarray(a, dtype=int)[0]
    return isinstance(a, np.ndarray), isinstance(a, (list, np.ndarray)), isinstance(a, list), exact


def capped(v, low=0, high=9):
    if v < low:
        return low
    return high if v > high else v


def applied(g, v):
    return g(v)


@case(n)
def nested_functions_that_keep_what_helpers_return(n):
    items, count, last = [0, 0], [0], 0

    def kept(v):
        nonlocal last
        last = capped(v)
        items[1] = capped(v + 1)
        items[0] += capped(v, high=5)
        count.append(capped(v) * 2)
        return v

    kept(n)
    return applied(kept, n + 1), last, items[0], items[1], len(count), count[-1]


def positive(v):
    if v <= 0:
        raise ValueError(f"{v} is not positive")
    return v


def halves(v):
    return positive(v) / 2


@case(n)
def helpers_that_refuse_what_few_members_give(n):
    if n > 6:
        return positive(n) + positive(2)
    if n == 3:
        return positive(0)
    return halves(4) if n > 0 else 1


@case(n)
def what_helpers_refuse_is_caught(n):
    try:
        return positive(0) + n
    except ValueError:
        return -n


@case(n)
def helpers_that_refuse_in_loops(n):
    total = 0
    for k in (5, 2, 0):
        if n > 3 * k + 1:
            total += halves(k + 1)
    return total


def twice(g, v):
    return g(g(v))


tools = types.SimpleNamespace(applied=applied, twice=twice)


@case(n)
def one_function_of_a_namespace_with_several(n):
    def less(v):
        return v - 1 if v > 2 else v

    return tools.applied(less, n), tools.applied(lambda v: v * 2, n), tools.applied(abs, -n), tools.twice(less, n)


@case(n)
def reduced(n):
    grown = [i + 1 for i in range(n)]

    def digits(total, d):
        if d % 2 == 0:
            return total
        return total * 10 + d

    known = functools.reduce(operator.add, [n, 3, 2]), functools.reduce(operator.mul, [n, 3, 2])
    greatest = functools.reduce(max, [n, 3, 2 * n]), functools.reduce(lambda a, b: a if a > b else b, [3, n])
    lists = functools.reduce(lambda a, b: a * b % 1000, grown, 1), functools.reduce(operator.add, grown, 0)
    return known, greatest, lists, functools.reduce(digits, range(n), 0), functools.reduce(math.gcd, [n, 12, 18])


@case(np.array([2, 0, 3]))
def reduced_without_a_start(n):
    grown = [i + 1 for i in range(n)]
    return functools.reduce(lambda a, b: a - b, grown)


def weighed(seq):
    t = 0
    for i, v in enumerate(seq):
        if v > 1:
            t += i * v
    return t


def pairs(seq, k):
    t = 0
    for a, b in seq:
        if a > k:
            t += a * b
    return t


def gone_through_twice(seq):
    t = 0
    for v in seq:
        if v > 1:
            t += v
    return t + sum(1 for _ in seq)


@case(np.array([1.0, 0.5, 2.5]))
def iterators_given(x):
    xs = [x, 2.0, 3 * x, 1.5]
    ys = []
    for v in xs:
        if v > 1:
            ys.append(v)
    return weighed(reversed(xs)), pairs(zip(xs, xs[1:]), 1), pairs(k=1, seq=zip(ys, reversed(ys)))


@case(np.array([1.0, 0.5, 2.5]), refused="object-across-branch")
def iterator_gone_through_twice(x):
    return gone_through_twice(reversed([x, 2.0, 3 * x]))


@case(np.array([1.0, 0.5, 2.5]))
def maps_in_comprehensions(x):
    m = [[x, 1.0], [2.0, x]]
    return [list(map(float, r)) for r in m], [sum(map(math.sqrt, r)) for r in m], (lambda r: max(map(int, r)))(m[0])


def is_(a, b):
    return a > 3


def both(a, b):
    return a + 2 * b


def item(a, b=2):
    return a * b + 1


@case(np.array([1, 5, 3]))
def helpers_that_are_named_as_operators(n):
    a = None
    if n > 2:
        a = n
    d = is_(n, None), both(n, n + 1), item(n)
    if is_(n, None):
        return d, 1, 0
    return d, 2, 0 if a is None else item(a)
