"""Functions of any number of arguments, and what hand-written decorators make."""

# ruff: noqa
import functools

import numpy as np

from tests.meaning.case import case

n = np.array([1, 2, 3, 4, 0])


def total(x, *rest):
    return x + total(*rest) if rest else x


def largest(*values):
    best = values[0]
    for v in values:
        if v > best:
            best = v
    return best


def clipped(x, *bounds, scale=1, **more):
    low, high = bounds
    if x < low:
        return low * scale + more.get("extra", 0)
    if x > high:
        return high * scale
    return x * scale


def logged(fn):
    @functools.wraps(fn)
    def wrapper(*args, **kwargs):
        result = fn(*args, **kwargs)
        return result

    return wrapper


@logged
def collatz(n):
    k = 0
    while n > 1:
        n = n // 2 if n % 2 == 0 else 3 * n + 1
        k += 1
    return k


def repeated(times):
    def deco(fn):
        def wrapper(*args):
            r = 0
            for _ in range(times):
                r += fn(*args)
            return r

        return wrapper

    return deco


@repeated(3)
def tri(a, b):
    if a > b:
        return a
    return b * 2


def checked(fn):
    def wrapper(n, *args, **kwargs):
        if n < 2:
            raise ValueError("small")
        return fn(n, *args, **kwargs)

    return wrapper


@checked
def half(n, by=2):
    return n // by


def counting(*values):
    return sum((v > 2) is True for v in values)


class A:
    def __init__(self, *xs, **kw):
        self.xs, self.k = xs, kw.get("k", 1)

    def sum(self, *more):
        s = 0
        for x in (*self.xs, *more):
            if x > 2:
                s += x * self.k
        return s


@case(n)
def that_call_themselves(n):
    return total(n, 1, 2) + total(n)


@case(n)
def the_largest(n):
    return largest(n, 2, 3), largest(n), largest(3 - n, n, 2 * n)


@case(n)
def names_and_keywords(n):
    return clipped(n, 2, 3), clipped(n, 2, 3, scale=n), clipped(n, 3, 4, extra=7)


@case(n)
def a_decorator(n):
    return collatz(n) + collatz(n + 3)


@case(n)
def a_decorator_with_arguments(n):
    return tri(n, 2) + tri(2, n)


@case(n)
def what_a_decorator_raises(n):
    return half(n) + half(n, by=3)


@case(n)
def what_a_decorator_raises_is_caught(n):
    try:
        return half(n)
    except ValueError:
        return -1


@case(n)
def that_ask(n):
    return counting(n, 3, n + 1), counting()


@case(n)
def methods(n):
    return A(n, 3).sum(n, n + 1) + A(n, k=n).sum()


@case(n)
def nested(n):
    def inner(*xs):
        t = 0
        for x in xs:
            if x > 2:
                t += x
        return t

    return inner(n, 2, 3) + inner(n)


@case(n, refused="star-arguments")
def a_variable_is_spread(n):
    pair = (n, 2)
    return largest(*pair)


@case(n)
def displays_are_spread(n):
    return largest(*(n, 3)) + largest(*[n, 2])


def spread(*args):
    if args[0] > 2:
        return max(*args)
    return min(args)


@case(n)
def spread_into_builtins(n):
    return spread(n, 4, 1)


def kwonly(*args, flag, **kw):
    if flag:
        return sum(args)
    return len(args) + sum(kw.values())


@case(n)
def keywords_only(n):
    return kwonly(n, 1, flag=n > 2, a=n, b=2), kwonly(flag=n > 1)


def forwards(*args, **kw):
    return kwonly(*args, **kw)


@case(n)
def all_handed_on(n):
    return forwards(n, 2, flag=n > 2, z=5)


def items(**kw):
    s = 0
    for k, v in kw.items():
        if v > 2:
            s += v
    return s, len(kw), "a" in kw


@case(n)
def keywords_as_a_dict(n):
    return items(a=n, b=3), items(c=n)


def change(*args):
    args = args[1:]
    if args[0] > 2:
        return 1
    return 0


@case(n)
def the_tuple_is_assigned(n):
    return change(1, n)


def mixed(*args):
    s = 0
    for a in args:
        if isinstance(a, tuple):
            s += a[0]
        elif a is None:
            s += 100
        else:
            s += a
    return s


@case(n)
def arguments_of_all_kinds(n):
    return mixed(n, (n, 2), None, 2.5)


@case(n)
def nested_with_what_they_capture(n):
    k = n * 2

    def inner(*xs, **kw):
        t = 0
        for x in xs:
            if x > 2:
                t += x + k
        return t + kw.get("z", 0)

    return inner(n, 2, 3) + inner(n) + inner(z=n)


@case(n)
def functions_with_their_arguments(n):
    def apply(f, *xs):
        if n > 2:
            return f(*xs)
        return -f(*xs)

    return apply(lambda a, b: a * b, n, 3) + apply(largest, n, 1, 2)


def apply(f, *a):
    return f(*a)


@case(n)
def helpers_with_their_arguments(n):
    return apply(collatz, n) + apply(largest, n, 2)


@case(n)
def displays_among_others(n):
    return largest(*[n, 3], 4) + total(*(n, n))


def g(a=0, b=2, c=0):
    return a * b + c if a > 1 else c - b


def lim(x):
    return x if x < 4 else 4


SCALE = 3


def f1(x, **k):
    k.setdefault("b", 8)
    return g(x, **k)


def f2(x, **k):
    k["b"] = 8
    return g(x, **k)


def f3(x, **k):
    b = 7
    return g(x, **k) + b


def f4(x, **k):
    return lim(x) * SCALE + len(k)


def f5(x, *a):
    w = lambda *a: g(*a)
    return w(x) + lim(x)


def f6(x, *a):
    w = lambda *a: len(a) + sum(a)
    return w(x, 1) + lim(x)


def f7(x, *a):
    w = lambda a: len(a) + lim(x)
    return w([1, x])


def f8(n, *a):
    def inner():
        nonlocal a
        a = a[1:]

    inner()
    return g(n, *a)


def mx(a, *r):
    if not r:
        return a
    m = mx(*r)
    return a if a > m else m


def f9(a, *b, c=1, **d):
    if a > 2:
        return a + sum(b) + c + len(d)
    return d.get("d", 0) * 10


def f10(x, **k):
    if x > 2:
        return g(x, **k) + k["b"] + len(k) + (5 if "c" in k else 0)
    return k.get("b", 1)


def f11(x, *a):
    return sum([g(*a) for a in [(1, x), (x,)]])


def set_b(d):
    d["b"] = 9


def f12(x, **k):
    set_b(k)
    return g(x, **k)


def f13(x, **k):
    j = k
    j["b"] = 8
    return g(x, **k)


@case(n, refused="star-arguments")
def a_default_is_set(n):
    return f1(n)


@case(n, refused="star-arguments")
def an_item_is_set(n):
    return f2(n)


@case(n)
def a_keyword_and_a_local_of_one_name(n):
    return f3(n, b=n)


@case(n)
def a_keyword_and_a_global_of_one_name(n):
    return f4(n, SCALE=n)


@case(n)
def an_inner_function_of_any_number(n):
    return f5(n)


@case(n)
def an_inner_function_with_its_own(n):
    return f6(n)


@case(n)
def an_inner_parameter_of_that_name(n):
    return f7(n)


@case(n, refused="star-arguments")
def a_nonlocal_tuple(n):
    return f8(n, 1)


@case(n)
def the_rest_is_handed_on(n):
    return mx(n, 2, 3, n - 1)


@case(n)
def a_keyword_named_as_all_others(n):
    return f9(n, 1, 2, d=n)


@case(n)
def keywords_that_are_only_read(n):
    return f10(n, b=3), f10(n, b=3, c=1)


@case(n, refused="star-arguments")
def a_comprehension_of_that_name(n):
    return f11(n, 1)


@case(n, refused="star-arguments")
def keywords_that_another_changes(n):
    return f12(n, b=1)


@case(n, refused="star-arguments")
def keywords_by_another_name(n):
    return f13(n, b=1)


def weighted(x, y, z):
    if x > y:
        return x * z
    return y + z


@case(n)
def a_variable_is_spread_over_all(n):
    pair, point, one = (n, 2), [n, 3, n + 1], (n,)
    steps = [weighted(*point), weighted(5, *pair), weighted(*pair, z=n), weighted(*one, 2, 3)]
    for _ in range(2):
        point = [point[1], *pair]
    return steps, weighted(*point)


@case(n)
def rows_are_spread(n):
    total = 0
    for row in [(n, 1, 2), (3, n, 1)]:
        total += weighted(*row)
    return total


@case(n, refused="member-list-as-python")
def a_list_of_the_members_own_length_is_spread(n):
    values = []
    for k in range(3 if n != 0 else 2):
        values.append(n + k % 2)
    return weighted(*values)


def bumped(values, k):
    if k > 1:
        values[0] += k
    return values[0]


@case(n, refused="shared-array")
def what_is_spread_is_changed(n):
    values = [n, 1]
    both = (values, n)
    return bumped(*both), values[0]


@case(n, refused="star-arguments")
def spread_beside_what_changes_it(n):
    values = [n, 1, 2]
    return weighted(values.pop(), *values)


@case(n, refused="star-arguments")
def spread_over_defaults(n):
    pair = (n, 2)
    return limited(*pair)


def limited(x, low, high=5):
    if x < low:
        return low
    return high if x > high else x
