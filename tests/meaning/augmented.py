"""``x op= y`` of arrays and lists that are items, attributes, or known to helpers: in place, as NumPy's are."""

# ruff: noqa
import numpy as np

import autobatch as ab
from tests.meaning.case import case

n = np.array([1, 2, 3, 4])
m = np.array([2, 0, 1, 3])


class Body:
    def __init__(self, x, v):
        self.x, self.v = x, v

    def kick(self, by):
        self.v += by

    def drift(self, dt):
        self.x += self.v * dt
        if self.x[0] > 9:
            self.x -= 9

    @property
    def reach(self):
        lengths = np.abs(self.x)
        lengths += 1
        return lengths.sum()


class Counter:
    def __init__(self, count):
        self.count = count

    def __iadd__(self, more):
        self.count += more
        return self

    def __add__(self, more):
        return 7


@case(n, m, refused="augmented-array")
def attribute_that_a_name_holds(n, m):
    a = np.zeros(2) + n
    body = Body(a, m)
    body.x += 1
    return a


@case(n, refused="augmented-array")
def item_that_a_name_holds(n):
    a = np.zeros(2) + n
    rows = [a, a + 1]
    rows[0] += 1
    return a


@case(n, m, refused="augmented-array")
def value_of_a_dict_that_a_name_holds(n, m):
    a = np.zeros(2) + n
    d = {"k": a}
    d["k"] += m
    return a


@case(n, refused="augmented-array")
def known_array_in_a_list(n):
    a = np.zeros(2)
    rows = [a]
    rows[0] += n
    return a


@case(n, m, refused="augmented-array")
def item_of_each_members_own_that_a_name_holds(n, m):
    a = np.zeros(2) + n
    rows = [a, a + 1]
    rows[m % 2] += 50
    return a


@case(n, m, refused="augmented-array")
def item_of_each_members_own_that_is_known(n, m):
    a = np.ones(2)
    rows = [a, np.ones(2) - m]
    rows[m % 2] += n
    return a


@case(n, refused="shared-array")
def item_that_is_there_twice(n):
    a = np.zeros(2) + n
    rows = [a, a]
    rows[0] += 1
    return rows[1]


@case(n, refused="shared-array")
def item_of_a_list_of_one(n, m=2):
    rows = [np.zeros(2)] * 3
    rows[1] += n
    return rows[0]


@case(n, refused="shared-array")
def attribute_that_is_there_twice(n):
    z = np.zeros(2)
    body = Body(z, z)
    body.x += n
    return body.v


@case(n, m, refused="augmented-array")
def attribute_in_a_loop(n, m):
    body = Body(np.zeros(2) + n, np.zeros(2))
    a = body.x
    while m > 0:
        body.x -= 1
        m -= 1
    return a


@case(n, m, refused="list-augmented")
def list_in_a_list(n, m):
    rows = [[n], [m]]
    first, more = rows[0], [1, 2]
    rows[0] += more
    return len(first)


@case(n, m)
def lists_that_nothing_else_holds(n, m):
    rows, more = [[n], [m]], [1, 2]
    body = Body([n], m)
    rows[0] += more
    body.x += more
    body.x += [m]
    return len(rows[0]), rows[0][1], len(body.x), body.x[-1]


@case(n, m)
def numbers(n, m):
    body, row, counts = Body(n, 2), [n, m], {"a": 0}
    before, same, first = body.x, row, row[0]
    body.x += 1
    row[0] += 5
    counts["a"] += n
    for i in range(m):
        row[i % 2] -= i
    return before, body.x, same[0], row[1], first, counts["a"]


@case(n, m)
def another_attribute(n, m):
    body = Body(np.zeros(2) + n, np.ones(2) * m)
    v = body.v
    body.x += v
    return body.x, v


@case(n, m)
def attributes_in_a_loop(n, m):
    body = Body(np.zeros(2) + n, np.zeros(2))
    while m > 0:
        body.x -= 1
        body.v += body.x
        m -= 1
    return body.x, body.v


@case(n, m)
def bodies_in_a_list(n, m):
    bodies = [Body(np.zeros(2) + n, n), Body(np.ones(2), m)]
    for body in bodies:
        body.x += body.v
    return bodies[0].x, bodies[1].x


@case(n, m)
def rows_in_a_loop(n, m):
    rows = [np.zeros(2) for _ in range(3)]
    for i in range(m):
        rows[i % 3] += n
    return rows[0], rows[1], rows[2]


@case(n, m)
def rows_of_an_array(n, m):
    a = np.zeros((3, 2))
    for i in range(m):
        a[i] += n
        a[:, 0] += 1
    a[0] *= 2
    return a


@case(n, m)
def by_methods(n, m):
    body = Body(np.zeros(2) + n, np.ones(2))
    body.kick(m)
    body.drift(0.5)
    body.drift(2.0)
    return body.x, body.v, body.reach


@case(n, m, refused="shared-array")
def by_a_method_what_a_name_holds(n, m):
    a = np.zeros(2) + n
    body = Body(a, np.ones(2))
    body.drift(1.0)
    return a


def under_two_names(n):
    x = np.zeros(2) + n
    y = x
    x += 1
    return x + y


@case(n, refused="augmented-array")
def a_helper_with_two_names(n):
    return under_two_names(n)


def raised(x, by):
    x += by
    return x


@case(n, refused="augmented-array")
def a_helper_given_a_known_array(n):
    a = np.zeros(2)
    b = raised(a, n)
    return a, b


@case(n)
def a_helper_given_what_nobody_reads(n):
    return raised(np.zeros(2), n)


@case(n, refused="augmented-array")
def a_nested_function_with_two_names(n):
    def g():
        x = np.zeros(2) + n
        y = x
        x += 1
        return x + y

    return g()


@case(n, m)
def a_nested_function_of_its_own(n, m):
    def g(k):
        x = np.zeros(2) + k
        x += 1
        return x

    return g(n) + g(m)


@case(n, refused="augmented-object")
def an_operator_of_the_class(n):
    counters = [Counter(n)]
    counters[0] += 1
    return counters[0].count


@case(n, m)
def known_array_in_a_loop(n, m):
    a = np.zeros(2)
    for _ in range(m):
        a += n
    return a


def numbers(n):
    for i in range(n):
        yield i


@case(n)
def beside_a_loop_what_changes_it(n):
    d, xs, s = {"y": 2}, [n, 4], n

    def more(v):
        nonlocal s
        s += v
        d["y"] += v
        xs[0] += v
        xs.append(v)
        return v

    s += more(n) + sum(numbers(n))
    d["y"] += next((w for w in (1, n, 3) if w > 2), more(2))
    xs[0] += more(n % 3) or sum(numbers(n))
    xs += [more(3), sum(numbers(n))]
    xs[sum(numbers(3)) - 2] += sum(numbers(n)) + more(1)
    return s, d["y"], xs
