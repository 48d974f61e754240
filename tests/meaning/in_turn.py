"""What comes first: values before the targets they go to, receivers before arguments, and items one by one."""

# ruff: noqa
from itertools import pairwise

import numpy as np

from tests.meaning.case import case

a = np.array([3, -7, 2, 0])
b = np.array([2, 3, 2, 9])
v = np.array([[3, 1, 2], [-1, 4, -1]])


@case(a, b)
def values_before_indices(a, b):
    i, xs, stack, ys = 0, [0, 0], [2, 1], [0, 0, 0]

    def f():
        nonlocal i
        i = 1
        return a

    xs[i] = f()
    ys[stack[-1]] = stack.pop() + b
    return xs, ys, stack


@case(a, b)
def values_before_indices_of_rows(a, b):
    i, rows, out, p = 0, [[0, 0], [0, 0]], [0] * 5, 0
    tokens = [a, b, 3, 4]

    def f():
        nonlocal i
        i = 1
        return a

    def following():
        nonlocal p
        p += 1
        return tokens[p - 1]

    rows[i][1 - i] = f()
    while p < 4:
        out[p] = following()
    return rows, out


@case(v)
def values_before_indices_of_arrays(v):
    w, i = v.copy(), 0

    def f():
        nonlocal i
        i = 1
        return 50

    w[i] = f()
    return w


@case(a, b)
def receivers_before_arguments(a, b):
    rows, others, stack, i = [[], []], [[], []], [0, 1], 0

    def f():
        nonlocal i
        i = 1
        return a

    rows[stack[-1]].append(stack.pop())
    others[i].append(f())
    return len(rows[0]), len(rows[1]), len(others[0]), len(others[1])


@case(a, b)
def stars_in_their_turn(a, b):
    xs, ys = [a, b], [a, b]

    def f():
        ys[0] = 99
        return 1

    def g(*v):
        return v[0]

    shown = [*xs, xs.pop()]
    return shown, g(*ys, f()), (*ys[:1], ys.pop())


@case(a, b)
def stars_among_items(a, b):
    xs, ys = [0], [0]
    xs[0], *rest = a, b
    (ys[0], *more), i = (a, b), 2
    return xs, len(rest), ys, i, more[0]


@case(v, refused="augmented-array")
def augmented_under_another_name_after_an_item(v):
    m = v.copy()
    q = m
    m[0] = 4
    m *= 2
    return q


@case(a, b)
def any_and_all_stop(a, b):
    calls, seen, more = [0], [], [0]

    def t(x):
        calls[0] += 1
        return x > b

    def new(x):
        if x in seen:
            return False
        seen.append(x)
        return True

    def numbers():
        for x in range(6):
            more[0] += 1
            yield x

    first = any(t(x) for x in (a, b, 5)), any(map(t, (a, b, 5))), all(new(x) for x in (a, a, b))
    return first, calls[0], len(seen), b in numbers(), any(numbers()), all(numbers()), more[0]


@case(a, b, refused="generator-that-changes")
def any_of_a_generator_that_counts(a, b):
    calls = [0]

    def numbers():
        for x in range(6):
            calls[0] += 1
            yield x

    return any(x > b for x in numbers()), calls[0]


@case(a, b)
def any_raises_for_those_that_ask(a, b):
    def checked(x):
        if x > 4:
            raise ValueError(x)
        return x > b

    xs, known = [1, 2, 3], {0: 2, 1: 4}
    found = any(xs[k] == b for k in (0, 1, 2, 3)) or any(10 // k == b for k in (5, 0))
    try:
        return any(checked(x) for x in (a, b + 1, 5)), found
    except ValueError:
        return False, any(known[k] == a for k in (0, 1, 2))


class Lexer:
    def __init__(self):
        self.k = 0

    def eat(self):
        self.k += 1
        return self.k


@case(a, b)
def all_stops_for_methods(a, b):
    lexer = Lexer()
    return all(lexer.eat() < b for _ in range(4)), lexer.k


@case(a, b, refused="generator-that-changes")
def maps_beside_each_other(a, b):
    n = [0]

    def t(x):
        n[0] += 1
        return n[0] * x

    total = 0
    for x, y in zip(map(t, (a, b)), map(t, (1, 1))):
        total = total * 100 + x * 10 + y
    return total


@case(a, b, refused="generator-that-changes")
def maps_of_what_is_filtered(a, b):
    log = []

    def t(x):
        log.append(x)
        return x

    def u(x):
        log.append(-x)
        return x > 0

    return sum(map(t, filter(u, (a, b)))), log


@case(a, b)
def pairs_of_a_map(a, b):
    n = [0]

    def t(x):
        n[0] += 1
        return x

    for x, y in pairwise(map(t, (a, b, 3))):
        if y > 0:
            break
    return n[0]


@case(a, b, refused="generator-that-changes")
def keys_beside_a_map(a, b):
    log = []

    def t(x):
        log.append(x)
        return x

    return max(map(t, (a, b)), key=t), log


class Largest:
    def __init__(self, v):
        self.v = v

    def see(self, k):
        if k > self.v:
            self.v = k

    def more(self, k):
        self.v += k
        return self.v


def lessened(n):
    while n > 3:
        n -= 2
    return n


@case(np.array([1, 5, 3, 8]), np.array([2, 0, 4, 4]))
def arguments_of_methods_that_branch(n, k):
    p, q = Largest(k), Largest(n)
    p.see(lessened(n) or 0)
    q.see(lessened(n) if n > 2 else lessened(k) + 1)
    return p.more(lessened(n) if n > 2 else q.more(lessened(k))) + p.v, q.v
