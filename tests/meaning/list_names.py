"""Lists under several names, in other lists, given to functions: what is one object in Python is one, or is refused."""

# ruff: noqa
import numpy as np

import autobatch as ab
from tests.meaning.case import case

N = np.array
n = N([3, 0, 7, 12])
m = N([2, 5, 0, 4])


@case(n, refused="shared-array")
def perhaps_two_names(n):
    v, u = [1], [2]
    w = v if n > 3 else u
    for i in range(n):
        v.append(i)
    return w


@case(n, refused="shared-array")
def a_row_is_changed(n):
    g = [[0, 0] for _ in range(n + 1)]
    row = g[n]
    row[0] = 5
    return g[n][0]


@case(n, refused="repeated-containers")
def rows_that_are_one(n):
    g = [[0, 0]] * (n + 1)
    g[n][0] = 5
    return g[0][0]


@case(n, refused="shared-array")
def chosen_and_changed(n):
    v, w = [i for i in range(n)], [4, 2]
    u = v if n > 3 else w
    u.append(n)
    return v, w


@case(n, refused="shared-array")
def rows_of_another_list(n):
    g = [[i, i] for i in range(n + 2)]
    h = g[::-1]
    h[0][0] = 100
    return g[n + 1][0]


@case(n, refused="shared-array")
def rows_of_a_sum_of_lists(n):
    g = [[i, i] for i in range(n + 2)]
    h = [[7]] + g
    row = h[n]
    row[0] = 100
    return g


@case(n)
def rows_in_a_loop(n):
    g = [[i, i] for i in range(n + 2)]
    for k, row in enumerate(g):
        row[0] = k
    return g


@case(n, refused="shared-array")
def array_in_a_list(n):
    a, g = np.zeros(2), []
    for i in range(n + 1):
        g.append(a)
    a[0] = n
    return g[n]


@case(n, refused="shared-array")
def the_same_row_twice(n):
    rows, row = [], [0]
    for i in range(n + 2):
        rows.append(row)
    row.append(n)
    return rows


@case(n, refused="shared-array")
def rows_that_hold_each_other(n):
    a, b = [[i] for i in range(n + 1)], [[9]]
    b.extend(a)
    for row in ab.unroll(range(1)):
        b[1][0] = 5
    return a[0]


@case(n, refused="shared-array")
def empty_lists_that_may_be_one(n):
    u, w = [], [[5]]
    v = u if n > 1 else w
    v.append([n])
    return u, w


@case(n, refused="shared-array")
def row_made_here_and_changed(n):
    g = []
    for i in range(n):
        row = []
        g.append(row)
        row.append(i)
    return g


@case(n, m, refused="shared-array")
def row_put_in_front(n, m):
    g, row = [[i] for i in range(n + 1)], [1]
    g.insert(0, row)
    row.append(m)
    return g


@case(n, m, refused="shared-array")
def row_of_a_sum(n, m):
    g, row = [[i] for i in range(n + 1)], [1]
    h = g + [row]
    row.append(m)
    return h


@case(n, m, refused="shared-array")
def chosen_here_and_changed(n, m):
    v, w = [1, 2], [3, 4]
    u = v if n > 1 else w
    v[0] = m
    return u


@case(n, m, refused="shared-array")
def either_of_two_lists(n, m):
    v, w = [i for i in range(n)], [3, 4]
    u = v or w
    w.append(m)
    return u


@case(n, m, refused="shared-array")
def row_of_a_known_list(n, m):
    g = [[1], [2], [3]]
    row = g[n % 3]
    g[0].append(m)
    return row


@case(n, refused="shared-array")
def row_of_a_tuple(n):
    v, w = [n], [7]
    p = (v, w)[n % 2]
    v[0] = 50
    return p


@case(n, m, refused="shared-array")
def one_row_twice(n, m):
    g = [[i] for i in range(n + 1)]
    g.append(g[0])
    g[0].append(m)
    return g


@case(n, m, refused="shared-array")
def rows_twice(n, m):
    g = [[i] for i in range(n + 1)]
    g = g + g
    g[0].append(m)
    return g


@case(n, m, refused="shared-array")
def extended_by_itself(n, m):
    g = [[i] for i in range(n + 1)]
    g.extend(g)
    g[0].append(m)
    return g


@case(n, m, refused="shared-array")
def spread_beside_its_item(n, m):
    g = [[i] for i in range(n + 1)]
    g = [g[0], *g]
    g[0].append(m)
    return g


@case(n, m, refused="shared-array")
def one_row_under_two_indices(n, m):
    g = [[i] for i in range(n + 2)]
    g[0] = g[1]
    g[1].append(m)
    return g


@case(n, refused="shared-array")
def the_last_row_again(n):
    g = [[0]]
    for i in range(n + 2):
        g.append(g[-1])
    g[0].append(n)
    return g


@case(n, m, refused="repeated-containers")
def a_members_row_repeated(n, m):
    row = [0] * m
    g = [row] * (n + 1)
    g[0].append(7)
    return g


@case(n, m, refused="repeated-containers")
def rows_repeated(n, m):
    g = [[i] for i in range(n + 1)] * 2
    g[0].append(m)
    return g


@case(n, m, refused="shared-array")
def another_name_learns(n, m):
    g = [[i] for i in range(n + 1)]
    h, row = g, [5] * m
    g.append(row)
    row.append(7)
    return h


@ab.autobatch
def store(g, row, n):
    if n >= 0:
        g.append(row)


@case(n, refused="shared-array")
def a_function_stores_a_row(n):
    g, row = [], [1]
    store(g, row, n)
    row.append(n)
    return g


@ab.autobatch
def put(g, row, k):
    g[k] = row


@case(n, m, refused="shared-array")
def a_function_puts_a_row(n, m):
    g, row = [[0] for _ in range(n + 1)], [m] * 3
    put(g, row, n)
    g[n].append(m)
    return row


@ab.autobatch
def sometimes_rebinds(v, n):
    if n > 1:
        v = [7]
    v.append(n)
    return len(v)


@case(n, refused="shared-array")
def a_parameter_is_sometimes_another(n):
    v = [1]
    k = sometimes_rebinds(v, n)
    return v, k


@case(n)
def identity_of_lists(n):
    v = list(range(n))
    u = v
    v.append(1)
    return v is u


@case(n, refused="member-list-changed-elsewhere")
def pops_in_a_comprehension(n):
    v = list(range(n + 2))
    return [v.pop() for _ in range(2)]


@case(n)
def enumerated_as_a_value(n):
    v = list(range(n))
    e = list(enumerate(v, 1))
    return e


@case(n)
def whole_slice(n):
    v = list(range(n + 1))
    w = v
    v[:] = [5] * n
    return w, v != [5, 5], v != w


KNOWN, WEIGHTS = [1, 2, 3], np.array([0.5, 1.0])


@case(n, refused="outside-changed")
def list_from_outside(n):
    v = KNOWN
    v.append(n)
    return v


@case(n, refused="outside-changed")
def list_from_outside_in_a_loop(n):
    v = KNOWN
    for i in range(n):
        v[0] = i
    return v[0]


@case(n, refused="outside-changed")
def array_from_outside(n):
    w = WEIGHTS
    w[0] = n
    return w


@case(n)
def copy_of_what_is_outside(n):
    v, w = list(KNOWN), WEIGHTS + 0
    v.append(n)
    w[0] = n
    total = KNOWN
    return v, w, len(total), sum(KNOWN), KNOWN[n % 3]


@ab.autobatch
def as_it_is(v):
    return v


@case(n)
def decided_by_its_length(n):
    v = [n, 4, 3]
    w = v
    n = as_it_is(n)
    v.append(n)
    if len(w) == 4:
        return 1, len(w)
    return 0, len(w)


@case(n)
def decided_by_an_item(n):
    v = [n, 4, 3]
    w = v
    n = as_it_is(n)
    v[2] = 5
    if w[2] == 5:
        return w[0], 1
    return w[0], 0


@case(n)
def decided_where_it_grows(n):
    v = [n]
    w = v
    for i in range(n):
        v.append(i)
    if len(w) == 1:
        return -1
    return len(w) + sum(w)


@case(n)
def unrolled_by_its_items(n):
    v = [n, 4, 3]
    w = v
    n = as_it_is(n)
    v += [n]
    total = 0
    for x in ab.unroll([*v, *w]):
        total = total * 3 + x
    return total


@case(n, refused="shared-array")
def put_from_another_place_of_each_members_own(x):
    rows = [[x, 0], [1, x], [1, 2]]
    rows[x % 3] = rows[(x + 1) % 3]
    rows[0][0] += 50
    return rows


@case(n)
def put_from_another_place_and_left(x):
    rows = [[x, 0], [1, x], [1, 2]]
    rows[x % 3] = rows[(x + 1) % 3]
    return rows[0][1] + rows[1][0] + rows[2][1]


@case(n)
def a_known_list_that_two_names_hand_to_each_other(n):
    xs, zs = [n], [4, 2, 7]
    for i in range(2):
        xs = zs
        zs.append(n)
        zs = xs
    return xs.pop()


class Body:
    def __init__(self, x, v=0.0):
        self.x, self.v = x, v


class World:
    def __init__(self, bodies):
        self.bodies, self.t, self.dt = bodies, 0.0, 0.5

    def forces(self):
        return [(b.x * 2, -b.v) for b in self.bodies]

    def grown(self):
        self.bodies.append(Body(self.bodies[0].x))
        return [1.0, 2.0, 3.0]

    def step(self):
        for b, (dv, dx) in zip(self.bodies, self.forces()):
            b.v += dv * self.dt
            b.x += dx * self.dt
        for b in self.bodies:
            b.x += b.v * self.dt
            if b.x > 3:
                b.x = 3.0
        self.t += self.dt


@case(np.array([1.0, 0.5, 2.5]))
def zipped_bodies(x):
    w = World([Body(x, 1.0), Body(-x, 2.0), Body(0.5)])
    while w.t < x:
        w.step()
    return w.bodies[0].x + w.bodies[1].v, w.t


@case(np.array([1.0, 0.5, 2.5]))
def two_lists_zipped(x):
    a, c = [Body(x), Body(1.0)], [Body(2 * x), Body(3.0), Body(4.0)]
    for p, k, q in zip(a, range(5), c):
        p.x += q.x * k
        q.v = p.x
        if q.v > 2:
            q.x = 0.0
    return a[0].x + a[1].x, sum(q.x + q.v for q in c)


@case(np.array([1.0, 0.5, 2.5]))
def a_list_that_grows_before(x):
    w = World([Body(x), Body(2.0)])
    for b, v in zip(w.bodies, w.grown()):
        b.v += v
    return [b.v for b in w.bodies]


@case(n[:2], np.array([[[0, 1], [1, 2]], [[2, 1], [0, 2]]]))
def pairs_in_lists_of_lists(k, edges):
    graph = [[] for _ in range(3)]
    for u, v in edges:
        graph[u].append((v, u + v + 1))
        graph[v].append((u, k))
    return sum(b * (i + 1) for i, row in enumerate(graph) for a, b in row), len(graph[0])


@case(n, refused="shared-array")
def pairs_in_one_list_twice(k):
    row = [(1, 2)]
    rows = [row, row]
    for i in range(2):
        rows[k % 2].append((k, i))
    return len(rows[0])


@case(N([0, 1, 2, 4]))
def items_that_another_name_has_added(n):
    xs, ys, zs, s = [n], [1], [n, 2], 0
    if n > 1:
        ys = xs
        xs.append(n)
        ys[1] = n + 5
        s = xs[1]
        ws = zs
        zs.pop()
        ws.append(n)
        if n > 2:
            ws.append(s)
            zs[2] += 1
        s += zs[1] + ys[-1]
    return s, xs, ys, zs


def filled(v, n):
    v.append(n)
    if n > 1:
        v.append(n + 1)


@case(N([0, 1, 2, 4]))
def items_that_a_call_has_added_under_another_name(n):
    xs, s = [n], 0
    if n > 0:
        ys = xs
        filled(xs, n)
        s = ys[1] + len(ys)
        filled(ys, n)
        s += xs[2]
    return s, xs


@case(N([0, 1, -1, 4]))
def the_same_text_at_places_out_of_range(n):
    names, rank = ["a", "a"], 1
    return names[n], ("bb",)[n - rank]


@case(N([0, 1, -1, 4]))
def nothing_at_places_out_of_range(n):
    return len([(), ()][n])


@case(N([0, 1, -1, 4]))
def a_text_of_one_letter_at_places_out_of_range(n):
    try:
        return ["ok"][n]
    except IndexError:
        return "no"
