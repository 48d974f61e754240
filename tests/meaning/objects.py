"""Identity, sequences, arrays and lists as objects, late binding, names of classes, small indices."""

# ruff: noqa
import copy
from collections import deque
import dataclasses

import numpy as np
import tensorflow as tf

import autobatch as ab
from tests.meaning.case import ARRAYS, X, case, i32, i64

N = np.array
A = ARRAYS


@case(X)
def is_true(x):
    done = x > 1
    return 1 if done is True else 2


@case(X)
def is_false(x):
    done = x > 1
    return 1 if done is False else 2


@case(X)
def while_is_not(x):
    done = x > 1
    k = 0
    while done is not True and k < 5:
        k = k + 1
        x = x + 1
        done = x > 1
    return k


@case(X, refused="identity-of-members")
def same_name(x):
    a = x
    return 1 if a is x else 2


@case(X)
def is_none(x):
    y = None
    if x > 1:
        z = 1
    else:
        z = 2
    return z if y is None else 0


@case(X)
def x_is_none(x):
    return 1 if x is None else 2


@case(X)
def list_times(n):
    a = [0] * n
    return len(a)


@case(X)
def times_list(n):
    a = n * [1, 2]
    return len(a)


@case(X)
def list_times_v(n):
    return [1, 2] * n


@case(X, refused="sequence-times-member")
def tuple_times(n):
    a = (1, 2) * n
    return a


@case(X)
def weak_times(x):
    n = 0
    while n < x:
        n += 1
    return [1, 2] * n


@case(X)
def list_plus(x):
    return [1, 2] + [x]


@case(X)
def list_aug(x):
    a = [1, 2]
    a += [x]
    return a[2]


@case(X, refused="list-augmented")
def list_aug_n(x):
    a = [1, 2]
    a *= x
    return a


@case(X)
def isinst(n):
    return 1 if isinstance(n, int) else 2


@case(X)
def typeis(n):
    return 1 if type(n) == int else 2


@case(X)
def typeis2(n):
    return 1 if type(n) is int else 2


@case(N([0.5, 3.0]))
def isfloat(n):
    return 1 if isinstance(n, float) else 2


@case(X)
def isbool(x):
    b = x > 1
    return 1 if isinstance(b, bool) else 2


@case(X)
def isboolint(x):
    b = x > 1
    return 1 if isinstance(b, int) else 2


@ab.autobatch
def swap(a, i, j):
    t = a[i]
    a[i] = a[j]
    a[j] = t


@case(A)
def swaps(a):
    swap(a, 0, 1)
    return a


def swap_h(a, i, j):
    t = a[i]
    a[i] = a[j]
    a[j] = t


@case(A)
def swaps_helper(a):
    swap_h(a, 0, 1)
    return a


@ab.autobatch
def sift(a, n):
    if n > 0:
        a[n] = a[n - 1] + 1
        sift(a, n - 1)


@case(A)
def sifts(a):
    sift(a, 3)
    return a


@case(A, refused="nothing-returned")
def mutates_own(a):
    a[0] = 100
    return 0


@case(A)
def alias(a):
    b = a
    b[0] = 100
    return a


@case(A)
def alias2(a):
    b = a
    a[0] = 100
    return b


@case(A, refused="shared-array")
def alias_list(a):
    c = [a, a]
    a[0] = 100
    return c[0][0] + c[1][0]


@case(A)
def alias_copy(a):
    b = a.copy()
    a[0] = 100
    return b


@case(A, refused="shared-array")
def alias_slice(a):
    b = a[1:]
    a[1] = 100
    return b


@case(N([[[1, 2], [3, 4]], [[5, 6], [7, 8]]], i32), refused="shared-array")
def alias_row(a):
    r = a[0]
    r[0] = 100
    return a


@case(A, X, refused="shared-array")
def alias_may(a, x):
    b = a if x > 1 else a + 0
    b[0] = 100
    return a


@case(A)
def alias_loop(a):
    b = a
    for i in range(4):
        b[i] = b[i] + 1
    return a


@case(X)
def zeros_alias(x):
    a = np.zeros(3)
    b = a
    b[0] = x
    return a


@case(X)
def list_of_lists(x):
    b = [[1], [2], [3], [4]]
    b[x].append(7)
    return len(b[0]) * 10 + len(b[3])


@case(X, refused="shared-array")
def chosen_set(x):
    b = [[1, 1], [2, 2], [3, 3], [4, 4]]
    r = b[x]
    r[0] = 5
    return b[0][0] * 10 + b[3][0]


@case(X)
def for_row(x):
    g = [[1, 1], [2, 2]]
    for row in g:
        row[0] = x
    return g[0][0] + g[1][0]


@case(X, refused="shared-array")
def ifexp_list(x):
    a = [1, 2]
    b = [3, 4]
    c = a if x > 1 else b
    c.append(5)
    return len(a) * 10 + len(b)


@case(X, refused="shared-array")
def ifexp_list_set(x):
    a = [1, 2]
    b = [3, 4]
    c = a if x > 1 else b
    c[0] = 9
    return a[0] * 10 + b[0]


@case(X)
def deque_append(x):
    q = deque([1, 2])
    if x > 1:
        q.append(5)
    return len(q)


@case(X)
def deque_plain(x):
    q = deque([1, 2])
    q.append(x)
    return q[2]


@case(X)
def list_append_branch(x):
    q = [1, 2]
    if x > 1:
        q.append(5)
    return len(q)


@case(X)
def list_alias_item(x):
    q = [1, 2]
    r = q
    q[0] = x
    return r[0]


@case(X)
def list_alias_item_b(x):
    q = [1, 2]
    r = q
    if x > 1:
        q[0] = x
    return r[0]


@case(X, refused="shared-array")
def nested_alias(x):
    q = [1, 2]
    r = [q, q]
    if x > 1:
        r[0][0] = x
    return r[1][0]


@case(X)
def dict_alias(x):
    q = {"a": 1}
    r = q
    if x > 1:
        q["a"] = x
    return r["a"]


@case(X)
def iter_while_change(x):
    a = [1, 2, 3]
    s = 0
    for v in a:
        if len(a) < 6:
            a.append(v)
        s += v
    return s + x


@case(A)
def iter_array_change(a):
    s = 0
    k = 0
    for v in a:
        if k < 3:
            a[k + 1] = 10
        k += 1
        s = s + v
    return s


@case(A)
def enum_change(a):
    s = 0
    for i, v in enumerate(a):
        if i + 1 < 4:
            a[i + 1] = a[i + 1] + v
        s = s + v
    return s


@case(X)
def mult_alias(x):
    g = [[0] * 2] * 2
    g[0][0] = x
    return g[1][0]


@case(X, refused="shared-array")
def mult_alias_b(x):
    g = [[0] * 2] * 2
    if x > 1:
        g[0][0] = x
    return g[1][0]


@case(X, refused="shared-default")
def default_list(x):
    def f(acc=[]):
        acc.append(1)
        return len(acc)

    f()
    return f() + x


@case(X, refused="kept-closure")
def late(x):
    fs = []
    for i in ab.unroll(range(3)):
        fs.append(lambda: i)
    return fs[0]() + x


@case(X)
def late_comp(x):
    fs = [lambda: i for i in range(3)]
    return fs[0]() + x


@case(X)
def late_comp_arg(x):
    fs = [lambda y: i * y for i in range(3)]
    return fs[0](x)


@case(X)
def late_default(x):
    fs = [lambda y, i=i: i * y for i in range(3)]
    return fs[0](x) + fs[2](x)


@case(X, refused="texts-without-end")
def late_for(x):
    fs = []
    for i in range(3):
        fs.append(lambda: i * x)
    return fs[0]()


@case(X, refused="kept-closure")
def late_def(x):
    fs = []
    for i in ab.unroll(range(3)):

        def g():
            return i * x

        fs.append(g)
    return fs[0]()


@case(X)
def late_map(x):
    fs = list(map(lambda k: lambda: k, range(3)))
    return fs[0]() + x


@case(X)
def late_after(x):
    k = 1
    f = lambda: k + x
    k = 2
    return f()


class Mangled:
    def __init__(self):
        self.__k = 3

    def get(self, x):
        return self.__k + x


@case(X)
def mangled(x):
    return M.get(x)


M = Mangled()


class Mangled2:
    def __init__(self):
        self.__k = 3

    @ab.autobatch
    def get(self, x):
        if x > 1:
            return self.__k + x
        return x


M2 = Mangled2()


@case(X)
def mangled_ab(x):
    return M2.get(x)


import dataclasses


@ab.struct
@dataclasses.dataclass
class P:
    a: int
    b: int


class Q(P):
    def total(self):
        return self.a + self.b


@dataclasses.dataclass
class Q3(P):
    c: int


@case(X)
def substruct(x):
    q = Q(x, 2)
    if x > 1:
        q = Q(x, 3)
    return q.total()


@case(X, refused="struct-subclass")
def substruct3(x):
    q = Q3(x, 2, 7)
    if x > 1:
        q = Q3(x, 3, x)
    return q.a + q.b + q.c


@case(X, refused="attribute-assignment")
def struct_alias(x):
    p = P(x, 1)
    q = p
    q.a = 9
    return p.a


@case(np.zeros((2, 200), i32), N([100, -56], np.int8))
def small_index8(t, i):
    t[i] = 9
    return t


@case(np.arange(400).reshape(2, 200).astype(i32), N([100, -56], np.int8))
def small_read8(t, i):
    return t[i]


@case(np.arange(800).reshape(2, 400).astype(i32), N([100, 200], np.uint8))
def small_readu8(t, i):
    return t[i]


@case(np.zeros((2, 400), i32), N([100, 200], np.uint8))
def small_indexu8(t, i):
    t[i] = 9
    return t


@case(np.zeros((2, 4), i32), N([1, 2], np.uint64))
def index_u64(t, i):
    t[i] = 9
    return t[i]


@case(np.zeros((2, 40000), i32), N([1, 20000], np.int16))
def index_i16(t, i):
    t[i] = 9
    return t[i]


@case(A)
def neg_step(a):
    s = 0
    for v in a[::-1]:
        s = s * 2 + v
    return s


@case(X)
def pop_items(x):
    a = [x, 2, 3]
    b = a.pop()
    return a[0] + b + len(a)


@case(A)
def unpack_change(a):
    a[0], a[1] = a[1], a[0]
    return a


@case(A)
def unpack_change2(a):
    i = 0
    i, a[i] = 1, 50
    return a


@case(X)
def sort_list(x):
    a = [3, 1, 2]
    a.sort()
    return a[0] + x


@case(X, refused="path-types-differ")
def big_join(x):
    r = 0
    if x > 1:
        r = 2**70
    else:
        r = 1
    return r % 7


@case(X)
def return_nested_list(x):
    def g(y):
        r = []
        for i in range(2):
            row = []
            for j in range(2):
                row.append(y + i * j)
            r.append(row)
        return r

    return g(x)[1][1]


@ab.autobatch
def make_rows(y):
    r = []
    for i in range(2):
        row = []
        for j in range(2):
            row.append(y + i * j)
        r.append(row)
    return r


@case(X)
def callee_list(x):
    return make_rows(x)[1][1]


@case(A, A[::-1])
def swaps_names(a, b):
    a, b = b, a
    a[0] = 100
    return a, b


@case(A, A[::-1])
def swaps_own_arrays(a, b):
    p, q = a + 0, b + 0
    for i in range(3):
        p, q = q, p
        p[i] = 100 + i
    return p, q, a


@ab.autobatch
def partition(a, low, high):
    pivot, store = a[high], low
    for i in range(low, high):
        if a[i] < pivot:
            a[i], a[store] = a[store], a[i]
            store += 1
    a[store], a[high] = a[high], a[store]
    return store


@ab.autobatch
def quick_sort(a, low, high):
    if low < high:
        p = partition(a, low, high)
        quick_sort(a, low, p - 1)
        quick_sort(a, p + 1, high)


@case(A)
def sorts_in_place(a):
    quick_sort(a, 0, 3)
    return a


@ab.autobatch
def sift_down(a, start, end):
    root = start
    while 2 * root + 1 <= end:
        child = 2 * root + 1
        if child + 1 <= end and a[child] < a[child + 1]:
            child += 1
        if a[root] >= a[child]:
            return
        a[root], a[child] = a[child], a[root]
        root = child


@case(A)
def heap_sort(a):
    for start in range(1, -1, -1):
        sift_down(a, start, 3)
    for end in range(3, 0, -1):
        a[0], a[end] = a[end], a[0]
        sift_down(a, 0, end - 1)
    return a


@ab.autobatch
def first_of(a, b):
    return a if a[0] > 2 else b


@case(A, A[::-1], refused="shared-array")
def changes_one_of_two(a, b):
    c = first_of(a, b)
    c[1] = 100
    return a, b


@ab.autobatch
def itself(a):
    return a


@case(A)
def changes_what_a_call_hands_through(a):
    b = itself(a)
    b[1] = 100
    return a


@case(A)
def memo(a):
    table = a * 0

    def fill(k):
        if k < 2:
            return k
        return fill(k - 1) + fill(k - 2)

    for k in range(4):
        table[k] = fill(k)
    return table


@case(A)
def sieve(a):
    marks = a * 0 + 1
    for p in range(2, 4):
        if marks[p] == 1:
            for q in range(p * p, 4, p):
                marks[q] = 0
    return marks


@case(A)
def reverses(a):
    left, right = 0, len(a) - 1
    while left < right:
        a[left], a[right] = a[right], a[left]
        left, right = left + 1, right - 1
    return a


@case(A, refused="shared-array")
def changes_two_names_of_one(a):
    fill_both(a, a)
    return a


@ab.autobatch
def fill_both(a, b):
    a[0] = 1
    b[1] = a[0] + 1


@case(A)
def keeps_a_copy(a):
    before = tf.identity(a)
    a[0] = 100
    return a[0] - before[0]


@case(A)
def old_and_new(a):
    old = a + 0
    for i in range(3):
        new = old + 0
        new[i] = old[i + 1]
        old = new
    return old


@case(X, refused="default-value")
def default_of_an_equal_name(x):
    w = x + 1

    def inner(y, w=w):
        if y > 2:
            return y + w
        return w

    return inner(x)


@case(X, refused="shared-array")
def inner_list_of_what_crossed(x):
    rows = [[x, 1], [2, 3]]
    for _ in range(x):
        row = rows[0]
        row[1] = 5
    return rows[0][1]


@case(A, refused="augmented-array")
def augmented_under_two_names(a):
    b = a
    a *= 2
    return b


@case(A, refused="augmented-array")
def augmented_row(a):
    b = a * 2
    rows = [b, a]
    b += 1
    return rows[0]


def add_one(v):
    v += 1
    return v


@case(A, refused="augmented-array")
def augmented_by_a_helper_that_branches(a):
    b = a * 2
    c = add_positive(b)
    return b, c


@ab.autobatch
def add_positive(v):
    if v[0] > 0:
        v += 1
    return v


@case(A)
def augmented_alone(a):
    b = a * 2
    b += 1
    c = b
    c -= 3
    total = c.sum()
    for _ in range(3):
        c *= 2
        total += c[0]
    d = add_positive(a * 3)
    d += 1
    return c, total, d


@case(A)
def copies_of_an_array(a):
    b, c = copy.copy(a), copy.deepcopy([a, 1])
    a[0] = 50
    b[1] = 7
    return a, b, c[0], c[1]


@case(X)
def deep_copies_share_as_before(x):
    row = [0, x]
    g = [row, row]
    h = copy.deepcopy(g)
    h[0][0] = 5
    return h[1][0] * 100 + g[0][0]


@case(X)
def shallow_copies(x):
    g = [[x, 1], [2, 3]]
    h = copy.copy(g)
    h[0] = [7, 7]
    h[1][0] = 50
    d = {"a": [x]}
    e = copy.copy(d)
    e["a"].append(3)
    e["b"] = 1
    return g[0][0], g[1][0], len(d["a"]), len(d)


@case(N([[[1, 2], [3, 4]], [[5, 6], [7, 8]]], i32), refused="shared-array")
def next_of_an_iterator(m):
    it = iter(m)
    p = next(it)
    p[0] = 50
    return m


def counter():
    n = 0

    def count():
        nonlocal n
        n += 1
        return n

    return count


def collector():
    found = []

    def collect(v):
        found.append(v)
        return len(found)

    return collect


@case(X)
def a_function_that_counts(x):
    c, d = counter(), collector()
    c()
    d(x)
    return c() + x, d(7)


@case(X, refused="changed-container")
def a_function_that_counts_in_a_branch(x):
    c = counter()
    if x > 2:
        c()
    return c()


@case(X, refused="changed-container")
def a_function_that_collects_in_a_loop(x):
    c = collector()
    for i in range(x):
        c(i)
    return c(7)


def filled(a, v):
    for i in range(len(a)):
        a[i] = v


@case(X)
def a_known_array_filled_by_a_helper(x):
    a = np.zeros(3)
    filled(a, x)
    return a


@case(X)
def or_of_a_known_list(x):
    xs, zs = [1], [x]
    ys, ws = xs or [2], zs or [2]
    ys.append(x)
    ws.append(x)
    return xs, zs


@case(X, refused="shared-array")
def popped_from_a_dict(x):
    xs = [1, 2, x]
    b = {"k": xs}
    ys = b.pop("k")
    if x > 1:
        ys += [7]
    return xs, ys


@case(X, refused="shared-array")
def popped_from_a_list(x):
    xs = [1, 2, x]
    b = []
    b.append(xs)
    ys = b.pop()
    if x > 1:
        ys.append(7)
    return xs, ys


def augments(v):
    v += 1


def doubled_total(v):
    v *= 2
    return v.sum()


@case(A, refused="augmented-array")
def augmented_by_a_helper(a):
    augments(a)
    return a


@case(A, refused="augmented-array")
def augmented_by_a_nested_function(a):
    def g(v):
        v += 1

    g(a)
    return a


@case(A)
def augmented_by_a_helper_and_done(a):
    return doubled_total(a)


@case(A, refused="augmented-dtype")
def augmented_to_floats(a):
    a /= 2
    return a


@case(A)
def augmented_floats(a):
    b = a * 1.0
    b += 1
    b /= 2
    return b


@case(X, refused="identity-of-members")
def is_true_on_one_path(x):
    y = True if x > 1 else 2
    return y is True


@case(X, refused="shared-array")
def put_into_a_dict_by_a_method(x):
    xs = [1, 2, x]
    b = {}
    b.update({"k": xs})
    ys = b["k"]
    for _ in range(2):
        ys[0] = 70
    return xs, ys


@case(X, refused="shared-array")
def chosen_from_a_display(x):
    a, b = [1], [2]
    r = [a, b][x % 2]
    r.append(5)
    return len(a), len(b)


@case(X, refused="int-or-float")
def is_a_bool_on_one_path(x):
    y = True if x > 1 else 0
    return isinstance(y, bool)


@case(X, refused="int-or-float")
def type_of_what_is_a_bool_on_one_path(x):
    y = True if x > 1 else 5
    return 1 if type(y) is bool else 2


@case(X, refused="int-or-float")
def type_of_a_bool_or_an_argument(x):
    y = (x > 1) and x
    return 1 if type(y) is bool else 2


@case(X, refused="int-or-float")
def type_of_an_item_that_may_be_a_bool(x):
    ys = []
    for i in range(x):
        ys.append(i if i % 2 else True)
    return 1 if len(ys) > 0 and type(ys[0]) is int else 2


@case(X)
def item_of_a_known_array_by_its_other_name(x):
    a = np.zeros(3)
    b = a
    a[0] = x
    return b[0]


@case(X)
def test_of_a_known_array_by_its_other_name(x):
    a = np.zeros(3)
    b = a
    a[0] = x
    if b[0] == 0:
        return 10
    return 20


@case(X)
def what_was_made_of_a_known_array(x):
    a = np.zeros((2, 2))
    b = a
    c = b + 1
    a[0, 1] = x
    d = b + 1
    return c[0, 1], d[0, 1], b[1][1]


@case(X)
def known_array_changed_in_turn(x):
    a = np.array([1, 2, 3])
    b = a
    total = 0
    for i in range(len(b)):
        b[i] += x
        total += a[i]
    return total, a[0]


@case(X)
def known_array_changed_on_one_path(x):
    a = np.zeros(3)
    b = a
    if x > 1:
        a[0] = x
    return b[0]


@case(X)
def loop_over_an_item_of_a_known_array(x):
    a = np.array([3, 1, 2])
    b = a
    a[1] += x
    n = b[1]
    total = 0
    for _ in range(n):
        total += 2
    return total
