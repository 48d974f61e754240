"""Functions and classes that members choose between: tables of operations, states, strategies, handlers."""

# ruff: noqa
import math
import operator

import numpy as np
import tensorflow as tf

import autobatch as ab

from tests.meaning.case import case

n = np.array([0, 1, 2, 3, 5, 6])
k = np.array([2, 5, 1, 1, 3, 4])
x = np.array([0.5, 2.0, 3.0, -1.25])
y = np.array([1.0, 0.1, 9.0, 2.0])

OPERATORS = {"+": operator.add, "-": operator.sub, "*": operator.mul, "//": operator.floordiv}


def add(a, b):
    return a + b


def sub(a, b):
    return a - b


def double(v):
    return 2 * v


def collatz(v):
    steps = 0
    while v > 1:
        v = v // 2 if v % 2 == 0 else 3 * v + 1
        steps += 1
    return steps


def digits(v):
    return 1 if v < 10 else 1 + digits(v // 10)


def at_most_four(v):
    if v > 4:
        raise ValueError(f"{v} is too much")
    return 3 * v


def push(xs, v):
    xs.append(v)


def push_twice(xs, v):
    xs.append(v)
    xs.append(-v)


BINARY = [add, sub, max, min]
STEPS = [collatz, double]


@case(n, k)
def a_calculator(n, k):
    symbol = "+" if n > 3 else "-" if n > 0 else "*"
    return OPERATORS[symbol](n, k)


@case(n, k - 1)
def a_division_that_some_members_choose(n, k):
    return OPERATORS["//" if n > 1 else "+"](n, k)


@case(n, k)
def an_item_of_a_list(n, k):
    return BINARY[n % 4](n, k)


@case(n, k)
def on_two_paths(n, k):
    f = add if n > k else sub
    return f(n, k) + 10 * f(k, 2)


@case(n, k)
def by_if_and_elif(n, k):
    if n > 4:
        f = double
    elif n > 1:
        f = abs
    else:
        f = operator.neg
    return f(k - 3)


@case(n, k)
def called_at_once(n, k):
    return (add if n > k else sub)(n, k)


@case(n, k)
def with_loops_of_their_own(n, k):
    return STEPS[n % 2](k + 3)


@case(n, k)
def twice_on_one_line(n, k):
    f = collatz if n > 2 else digits
    return f(k + 20) + 100 * f(n + 7)


@case(n, k)
def one_in_another(n, k):
    return STEPS[n % 2](STEPS[k % 2](k + 2) + 1)


@case(n, k)
def beside_a_known_one(n, k):
    g = abs
    return STEPS[n % 2](g(k - 3) + 1) + g(-2)


@case(n, k)
def in_a_comprehension(n, k):
    f = collatz if n > 2 else double
    return sum([f(i + k + 1) for i in range(3)])


@case(n, k)
def another_for_each_item(n, k):
    return sum([STEPS[(i + n) % 2](i + k + 1) for i in range(3)])


def down(n, k):
    return 0 if n <= 0 else 1 + TURNS[k % 2](n - 1, k)


def faster_down(n, k):
    return 0 if n <= 0 else 2 + TURNS[(k + 1) % 2](n - 2, k)


TURNS = [down, faster_down]


@case(n, k)
def that_call_one_another(n, k):
    return TURNS[n % 2](n, k)


def apply(f, *values):
    return f(*values)


def applied(f, v):
    return f(v)


@case(n, k)
def as_an_argument(n, k):
    return applied(double if n > 1 else abs, k - 3)


@case(n, k)
def as_an_argument_with_loops(n, k):
    return applied(collatz if n > 1 else double, k + 3)


@case(n, k)
def by_keywords(n, k):
    f = add if n > k else sub
    return f(b=n, a=k)


@case(n, k)
def of_unlike_numbers_of_arguments(n, k):
    stack = [n, k, 3]
    for token in ["+", "n"] if n > 1 else ["n", "+"]:
        count, op = {"+": (2, operator.add), "n": (1, operator.neg)}[token]
        if count == 2:
            b = stack.pop()
            a = stack.pop()
            stack.append(op(a, b))
        else:
            stack.append(op(stack.pop()))
    return stack


@case(n, k)
def with_too_few_arguments(n, k):
    f = double if n > 1 else add
    return f(k)


@case(n, k)
def one_that_raises(n, k):
    f = at_most_four if n > 2 else double
    return f(n)


@case(n, k)
def caught(n, k):
    f = at_most_four if n > 2 else double
    try:
        return f(n)
    except ValueError:
        return -1


@case(n, k)
def a_list_of_own_length(n, k):
    chain = []
    if n > 2:
        chain.append(double)
    if k > 1:
        chain.append(abs)
    s = n - 4
    for f in chain:
        s = f(s)
    return s


@case(n, k)
def that_change_a_list(n, k):
    xs = [k]
    act = push if n > 1 else push_twice
    act(xs, n)
    act(xs, 7)
    return len(xs), xs[-1]


class Cell:
    pass


@case(n, k)
def an_attribute(n, k):
    cell = Cell()
    cell.op = add if n > 1 else sub
    return cell.op(n, k)


class Worker:
    def __init__(self, n):
        self.n = n
        self.op = add if n > 1 else max

    def work(self, k):
        self.n = self.op(self.n, k)
        return self.n


@case(n, k)
def a_strategy(n, k):
    worker = Worker(n)
    for _ in range(3):
        worker.work(k)
    return worker.n


@case(n, k)
def a_strategy_that_is_replaced(n, k):
    worker = Worker(n)
    worker.work(k)
    if worker.n > 5:
        worker.op = sub
    return worker.work(2)


@case(n, k)
def or_none(n, k):
    f = double if n > 3 else None
    return f(k) if f is not None else k


@case(n, k)
def one_or_another(n, k):
    f = None if n > 3 else add
    return (f or sub)(n, k)


@case(n, k)
def compared(n, k):
    f = OPERATORS["+" if n > k else "*"]
    return (f is operator.add) + 10 * (f == operator.mul) + 100 * (f in (operator.add, max)) + 1000 * (f is not sub)


@case(n, k)
def as_a_key(n, k):
    f = add if n > k else sub
    return {add: 1, sub: 2}[f]


@case(n, k)
def its_name(n, k):
    f = add if n > k else sub
    return f.__name__


@case(n, k)
def with_a_default(n, k):
    return OPERATORS.get("+" if n > k else "?", max)(n, k)


@case(n, k)
def as_the_key_of_sorted(n, k):
    key = abs if n > 2 else double
    return sorted([k - 3, 2, -1], key=key)


@case(n, k)
def mapped(n, k):
    f = double if n > 2 else abs
    return sum(map(f, [n, k - 4, -1]))


@case(n, k)
def the_best_of_several(n, k):
    best = max([add, sub], key=lambda f: f(n, k))
    return best(n, k), best.__name__


@case(n, k)
def in_turns(n, k):
    f, g = double, abs
    s = n - 3
    for _ in range(k):
        s = f(s) - 1
        f, g = g, f
    return s


@case(n, k)
def a_loop_that_changes_it(n, k):
    f = double
    s = 1
    while s < 40 and k < 12:
        s = f(s) + 1
        if s > n:
            f = collatz if s % 2 else double
        k += 1
    return s, k


def start(c):
    return even if c % 2 == 0 else odd


def even(c):
    return start if c > 3 else even


def odd(c):
    return odd if c < 5 else start


@case(n, k)
def states_that_are_functions(n, k):
    state, odds = start, 0
    for i in range(n):
        state = state(i + k)
        if state is odd:
            odds += 1
    return state.__name__, odds


class Square:
    def __init__(self, side):
        self.side = side

    def area(self):
        return self.side * self.side


class Disk:
    def __init__(self, radius):
        self.radius = radius

    def area(self):
        return 3 * self.radius * self.radius


@case(n, k)
def classes(n, k):
    kind = Square if n > k else Disk
    return kind(n).area()


@case(n, k)
def types_of_numbers(n, k):
    kind = int if n > 1 else float
    return kind(k) + 1


@case(n, k)
def of_unlike_results(n, k):
    f = operator.truediv if n > 2 else operator.add
    return f(k, 2)


@case(x, y)
def of_mathematics(x, y):
    f = math.sin if x > y else math.sqrt
    return f(x * x + 1.0)


@case(x, y)
def of_numpy(x, y):
    f = np.tanh if x > y else np.exp
    return f(x) + y


@case(x, y)
def of_mathematics_for_some(x, y):
    return [math.floor, math.ceil, abs][int(y) % 3](x)


@ab.autobatch
def fibonacci(n):
    return n if n < 2 else fibonacci(n - 1) + fibonacci(n - 2)


@ab.autobatch
def triangle(n):
    return 0 if n == 0 else n + triangle(n - 1)


@case(n, k)
def decorated(n, k):
    f = fibonacci if n > k else triangle
    return f(n) + 100 * f(k)


@case(n, k)
def decorated_or_not(n, k):
    return [fibonacci, double, collatz][n % 3](k + 1)


@case(n, k)
def lambdas(n, k):
    table = {"x": lambda v: v + 1, "y": lambda v: v * k}
    return table["x" if n > k else "y"](n)


@case(n, k)
def lambdas_in_a_loop(n, k):
    steps = [lambda v: v + 1, lambda v: v * 2, lambda v: v - 3]
    s = k
    for i in range(n):
        s = steps[(s + i) % 3](s)
    return s


@case(n, k)
def with_a_weight(n, k):
    weight, f = [(1, lambda v: v + k), (2, lambda v: v * k)][n % 2]
    return weight + f(n)


@case(n, k)
def opcodes(n, k):
    total = 0
    for op in ["add", "sub"] if n > 2 else ["sub", "sub", "add"]:
        if op == "sub":
            total = OPERATORS["-"](total, k)
        else:
            total = OPERATORS["+"](total, n)
    return total


@case(n, k, refused="object-returned")
def returned(n, k):
    return add if n > k else sub


@case(n, k, refused="object-across-branch")
def lambdas_across_a_branch(n, k):
    f = (lambda v: v + k) if n > 1 else (lambda v: v * k)
    s = 0
    for _ in range(n):
        s = f(s)
    return s


def composed(f, g):
    return lambda v: f(g(v))


@case(n, k, refused="changing-class")
def made_anew(n, k):
    f = composed(double, abs) if n > 2 else composed(abs, double)
    return f(k - 3)


def refuses(v):
    raise ValueError("no")


@case(n, k)
def one_that_always_raises(n, k):
    f = double if n > k else refuses
    try:
        return f(n)
    except ValueError:
        return -1


@case(n, k)
def one_that_always_raises_in_a_loop(n, k):
    total = fails = 0
    for i in range(n):
        f = [double, refuses, collatz][(i + k) % 3]
        try:
            total += f(i + 1)
        except ValueError:
            fails += 1
        else:
            total += 100
    return total, fails


@case(n, k)
def builtins_that_raise(n, k):
    f = math.sqrt if n > k else abs
    try:
        return f(-4) * 1.0
    except ValueError:
        return -1.0


PARTS = [lambda xs: xs[2],
         lambda xs: xs[0],
         lambda xs: 1 // xs[0]]  # fmt: skip


@case(n, k)
def lambdas_that_raise(n, k):
    return PARTS[n % 3]([n, k])


def scaled_by(k):
    def f(v, *, s=k):
        return v * s

    return f


SCALED = [scaled_by(2), scaled_by(3)]


@case(n, k)
def two_of_one_def(n, k):
    f = SCALED[0] if n > k else SCALED[1]
    return f(n + 1), {SCALED[0]: 10, SCALED[1]: 20}[f]


def kind_of(a, b):
    return 1 if isinstance(a, int) else 2


@case(n, k)
def one_that_asks_for_types(n, k):
    f = kind_of if n > k else add
    return f(n, k)


@case(n, k, refused="object-across-branch")
def that_use_up_an_iterator(n, k):
    f = sum if n > k else max
    return f(v * 2 for v in [n, k, 3])


COUNT = 0


def counts(v):
    global COUNT
    COUNT += 1
    return v + COUNT


@case(n, k, refused="global-statement")
def that_assign_a_global(n, k):
    f = counts if n > k else double
    return f(n)


@case(n, k, refused="chosen-function")
def lambdas_that_change_and_change_back(n, k):
    xs = [n]
    act = [lambda ys: ys.append(k), lambda ys: ys.pop()][k % 2]
    act(xs)
    return len(xs)


class Counter:
    def __init__(self, step, by):
        self.step, self.by = step, by

    def counted(self, v):
        return self.step(v * self.by)


@case(n, k)
def an_attribute_that_loops(n, k):
    counter = Counter(STEPS[n % 2], k)
    counters = [Counter(collatz if n > k else double, 1), counter]
    return counter.counted(n) + counter.step(k), sum(each.step(k) for each in counters)


@case(n, k)
def by_number_with_another(n, k):
    table = {1: collatz, 2: double}
    return table.get(n, digits)(k) + {0: digits, 3: double}.get(n, collatz)(k)


BY_NUMBER = {1: collatz, 2: double}


@case(n, k)
def one_or_none_by_number(n, k):
    step = BY_NUMBER.get(n)
    return -1 if step is None else step(k)
