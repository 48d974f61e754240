"""More programs that are refused: each the smallest of its kind, or several at once. The others: ``test_errors.py``."""

import collections
import dataclasses
import functools
import time
from enum import Enum, Flag

import numpy as np
import tensorflow as tf

import autobatch as ab
from autobatch.errors import BatchShapeError, TypeMismatchError, UnsupportedSyntaxError


def changes_what_it_gets(x):
    kept = [x]
    act = [lambda xs: xs.append(x), lambda xs: xs.pop()][tf.cast(x > 0, tf.int32)]
    act(kept)  # here
    return kept[0]


class Chosen:
    @functools.singledispatchmethod
    def twice(self, x):
        return 0

    @twice.register
    def _(self, x: int):
        return x * 2


def chosen_by_class(n):
    return Chosen().twice(n)  # here


@ab.autobatch
def absolute(x):
    return x if x > 0 else -x


@ab.primitive(batched=True)
def total(x):
    return tf.reduce_sum(x)


@ab.primitive(size=64)
def for_sixty_four(x):
    return x + 1.0


@ab.autobatch(static_argnames="n")
def counts_up(x, n):  # here
    return counts_up(x, n + 1) if x > 0 else x


def waits(x):
    async def later():  # here
        return x

    return x


async def asynchronous(x):  # here
    return x


def indexes_an_unknown_size(x):
    found = tf.boolean_mask(tf.range(3.0), tf.range(3.0) > x)
    return found[tf.cast(x, tf.int32)]  # here


def sums_the_batch(x):
    return total(x)  # here


def of_another_size(x):
    return for_sixty_four(x)  # here


def defines_a_class(x):
    class Pair:  # here
        pass

    return x


def two_loops_in_one(x):
    return {k: absolute(y) for y in (x, -x) for k in (1, 2)}[1]  # here


def default_of_a_member(x):
    def climbs(y, step=x):  # here
        return y if y > 3 else climbs(y + 1, step)

    return climbs(x)


def lazy_branches(x):
    lazily = (absolute(y) for y in (x, -x))  # here
    return next(lazily)


def hides_a_name(x):
    size = x * 2

    def grown(y):
        while y < size:
            y = y * 2
        return y

    def shrunk(size):  # here
        return grown(size) if size > 0 else size

    return shrunk(x)


def imports_over_a_variable(x):
    import math  # here

    math = x * math.pi
    return math


def goes_over_a_set(x):
    found = set()
    found.add(x)
    return sum(v + 1 for v in found)  # here


def kinds_of_sides(x):
    return {x, 2.0 * x} == {1.0, x}  # here


def float_index(x):
    return tf.range(3.0)[x]  # here


def writes_into_a_result(x):
    tf.zeros([3])[0] = x  # here
    return x


def loop_over_items(x):
    y = tf.zeros([2])
    for y[0] in (1.0, 2.0):  # here
        x = x + y[0]
    return x


def matches(x):
    match {"a": x, "b": 2.0 * x}:  # here
        case {"a": first, **rest}:
            return first + rest["b"]
    return x


def shape_of_a_member(x):
    n = 0
    while n < x:
        n += 1
    return tf.reduce_sum(tf.zeros([n]))  # here


def returns_an_object(x):
    return object()  # here


def pops_in_any(x):
    xs = [x, 2.0, 3.0]
    return any(xs.pop() > x for _ in range(3)), len(xs)  # here


def pops_while_it_loops(x):
    xs, count = [x, (1, 2), 3], 0
    for _ in xs:  # here
        xs.pop()
        count += 1
    return count


def sorts_rows(x):
    return sorted([[x, 1], [-x, 2]])[0][0]  # here


class Link:
    def __init__(self, value, rest):
        self.value, self.rest = value, rest


def links_without_end(x):
    chain = None
    while x < 9:
        chain = Link(x, chain)  # here
        x = x + 1
    return x


def holds_itself(x):
    link = Link(x, None)
    link.rest = link  # here
    return link.rest.value


def makes_a_complex_number(x):
    return abs(complex(x, 1.0))  # here


def counts_bits_in_a_text(x):
    n = 0
    while n < x:
        n += 1
    return x + bin(n).count("1")  # here


def augments_to_floats(x):
    a = tf.stack([1, 2])
    a /= x  # here
    return a


def prints_all(x):
    print(*[x, x])  # here
    return x


def raises_a_variable(x):
    for error in (ValueError("a"), KeyError("b")):
        if x < 0:
            raise error  # here
    return x


def range_of_a_pair(x):
    for _ in range(*(1, 3)):  # here
        x = x + 1.0
    return x


def float_of_a_vector(x):
    return float(tf.stack([x, x]))  # here


def passes_a_pair(x):
    only = {"x": x}
    return absolute(**only)  # here


def without_end(x):
    return counts_up(x, 0)


def looks_at_the_value(x):
    return x.numpy()  # here


def chooses_an_item(x):
    return [x, tf.stack([x, x])][tf.cast(x, tf.int32)]  # here


@ab.autobatch
def stepped(x):
    return x + 1.0 if x > 0.0 else x


def unrolls_a_shared_list(x):
    v = [x, 1.0]
    (w,) = [v]
    x = stepped(x)
    v.append(x)  # here
    for y in ab.unroll([*v, *w]):
        x = x + y
    return x


def unrolls_a_list_of_members(x):
    v = [x, 1.0]
    if x > 0.0:
        v.append(x)
    for y in ab.unroll(v):  # here
        x = x + y
    return x


def yields(x):
    later = lambda: (yield x)  # here  # noqa: E731
    return later


def several_at_once(x):
    with tf.name_scope("a"):  # here
        y = x
    del y
    if x > 0:
        pass
    del x
    return 1.0


def several_later(x):
    only = {"x": x}
    for _ in range(*(1, 3)):  # here
        x = absolute(**only)
    print(*[x])
    return x


def is_it_the_same(x):
    y = x + 0.0
    return 1.0 if y is x else 2.0  # here


def repeats_a_tuple(x):
    n = 0
    while n < x:
        n += 1
    return (1.0,) * n  # here


def repeats_a_row(x):
    n = 0
    while n < x:
        n += 1
    return len([[0, 0]] * n)  # here


def list_in_a_set(x):
    found = []
    while len(found) < x:
        found.append(1)
    return set(found) == {1}  # here


def list_of_dtypes(x):
    n = tf.cast(x, tf.int32)
    kinds = [tf.int32, tf.float32]
    kinds[n % 2] = tf.bool  # here
    return len(kinds)


def seeks_a_row(x):
    rows = [[x]]
    while len(rows) < x:
        rows.append([x])
    return 1 if [x] in rows else 2  # here


def keeps_an_iterator(x):
    found = [x]
    while len(found) < x:
        found.append(x)
    last = reversed(found)  # here
    return sum(last) + sum(last)


def sums_pairs(x):
    pairs = [(1, x)]
    while len(pairs) < x:
        pairs.append((2, x))
    return sum(pairs)  # here


def assigns_a_slice(x):
    found = [1]
    while len(found) < x:
        found.append(1)
    found[1:] = [2]  # here
    return found


def adds_in_place(x):
    one, (two, three) = [1], ([2], 3)
    while len(one) < x:
        one.append(three)
    two += one  # here
    return two


NUMBERS = iter([2, 3, 5])


def takes_a_number(x):
    return x + next(NUMBERS)  # here


SEEN = {}


def remembers(x):
    SEEN[0] = x  # here
    return x


VISITS = []


def counts_visits(x):
    VISITS.append(x)
    return x if len(VISITS) > 2 else -x  # here


def hashes_an_object(x):
    return x + hash(Point(x)) % 10  # here


def looks_at_the_clock(x):
    return x + time.perf_counter_ns() % 1000  # here


@functools.cache
def halved(x):
    return x / 2


def asks_a_cache(x):
    return halved(x) + halved.cache_info().hits  # here


PRIMES = [2, 3, 5]


def changes_a_global(x):
    found = PRIMES
    if x > 0:
        found.append(7)  # here
    return len(found)


def deque_as_a_list(x):
    queue = collections.deque([1, 2])
    queue.append(x)
    return 1 if queue == [1, 2, x] else 2  # here


def changed_by_a_helper(x):
    found = [1]
    while len(found) < x:
        found.append(1)
    push = lambda: found.append(2)  # here  # noqa: E731
    push()
    return found


def deque_of_a_length(x):
    lasts = [collections.deque(maxlen=3)]  # here
    lasts[0].append(x)
    return lasts[0][0]


def meets_a_huge_int(x):
    n = 0
    while n < x:
        n += 1
    return n + 2**70  # here


def changes_a_part(x):
    table = tf.zeros([2, 2])
    row = table[0]  # also here
    row[0] = x  # here
    return table


def shares_a_default(x):
    def grown(items=[]):  # here  # noqa: B006
        items.append(x)
        return items

    return grown()[0]


@ab.struct
@dataclasses.dataclass
class Pair:
    a: float
    b: float


@dataclasses.dataclass
class Triple(Pair):
    c: float


def another_structure(x):
    t = Triple(x, x, x)  # here
    if x > 0:
        t = Triple(x, x, 0.0)
    return t.c


def meets_a_wide_int(x):
    n = tf.cast(x, tf.int32)
    return n + 3_000_000_000  # here


def reads_an_exception(x):
    try:
        y = 1 / x
    except ZeroDivisionError as error:
        print(error)  # here
        y = 0.0
    return y


def catches_deep_calls(x):
    try:
        return abs(x)
    except RecursionError:  # here
        return x


class Held:
    def __init__(self, v):
        self.v = v


def seeks_an_object(x):
    held = [Held(x), Held(1.0)]
    return held.index(held[1])  # here


def moves_what_it_appends_to(x):
    rows = [[x], [1.0]]

    def moved():
        rows.insert(0, [9.0])
        return x

    rows[0].append(moved())  # here
    return rows[0][0]


def raises_one_of_several(x):
    inverse = (lambda v: 1 / v) if PRIMES else None
    try:
        return inverse(x)
    except (ArithmeticError, ValueError):
        raise  # here


def keeps_what_was_caught(x):
    last = None
    try:
        if x > 0:
            raise ValueError("positive", x)
        if x < -1:
            raise KeyError(x)
    except Exception as error:  # noqa: BLE001
        last = error  # here
    return x if last is None else float(len(last.args))


def asks_for_any_class(x):
    inverse = (lambda v: 1 / v) if PRIMES else None
    try:
        return inverse(x)
    except Exception as error:  # noqa: BLE001
        return 1.0 if isinstance(error, ValueError) else x  # here


def says_what_was_caught(x):
    try:
        if x > 0:
            raise ValueError("positive", x)
    except ValueError as error:
        return error.args[1] + len(str(error))  # here
    return x


def leaves_by_finally(x):
    try:
        return 1 / x
    finally:
        if x == 0:  # here
            return x  # noqa: B012


def augments_a_shared_array(x):
    values = x * tf.ones(3)
    first = values
    values += 1.0  # here
    return first[0]


class Counter:
    def __init__(self, count):
        self.count = count

    def __iadd__(self, more):
        self.count += more
        return self

    def __add__(self, more):
        return Counter(self.count + more)


class Colour(Enum):
    RED = 1
    BLUE = 2


def gives_texts_to_tensorflow(x):
    names = ["long" if x > 1.0 else "short"]
    return tf.strings.length(names)[0]  # here


def hashes_a_text(x):
    names = ["long" if x > 1.0 else "short"]
    return {name: 1 for name in names}["long"]  # here


def puts_a_key_for_some(x):
    counts = {"long": 0}
    counts["long" if x > 1.0 else "short"] = 1  # here
    return {**counts}["long"]


LETTERS = "".join(map(chr, range(300)))


def spells_too_much(x):
    return LETTERS[tf.cast(x, tf.int32)] == "a"  # here


class Access(Flag):
    READ = 1
    WRITE = 2


def makes_a_flag_of_a_number(x):
    return Access(tf.cast(x, tf.int32)).value  # here


def makes_an_enum(x):
    sides = Enum("Sides", "LEFT RIGHT")
    side = sides.LEFT  # here
    while x > 0:
        side, x = sides.RIGHT, x - 1.0
    return x if side is sides.LEFT else -x


PRICES = collections.Counter(long=3)


def asks_without_a_default(x):
    return PRICES.get("long" if x > 1.0 else "short") is None  # here


def grows_a_text(x):
    bar = ""
    while x > 0:
        bar, x = bar + "=", x - 1.0  # here
    return len(bar)


def slices_by_steps(x):
    n = tf.cast(x, tf.int32)
    return "abcd"[n::2] == "bd"  # here


class Metres(int):
    pass


ONE, TWO = Metres(1), Metres(2)


def chooses_of_a_class_of_ints(x):
    length = ONE if x > 1.0 else TWO  # here
    return length + 1


def returns_an_enum(x):
    return Colour.RED if x > 1.0 else Colour.BLUE  # here


def appends_a_list_to_itself(x):
    xs = [x]
    xs.append(xs)  # here
    return len(xs)


class Bag:
    items = []

    def __init__(self, first):
        self.first = first

    def put_in(self, item):  # a name of no other class: a method that others have is called by way of a branch
        self.items.append(item)
        return len(self.items)


def changes_a_list_of_the_class(x):
    bag = Bag(x)
    return bag.put_in(1.0)  # here


def augments_an_object_in_a_list(x):
    counters = [Counter(x)]
    counters[0] += 1.0  # here
    return counters[0].count


def augments_a_list_in_a_list(x):
    rows, more = [[x], [2.0]], [3.0]
    first = rows[0]
    rows[0] += more  # here
    return len(first)


class Point:
    def __init__(self, x):
        self.x = x


def sets_by_name(x):
    point = Point(x)
    if x > 0:
        x = x + 1.0
    setattr(point, "x", x)  # here  # noqa: B010
    return point.x


def changes_items_of_a_dict(x):
    points = {1: Point(x), 2: Point(x)}
    for point in points:  # here
        point.x = 1.0
    return x


def takes_by_a_mask(x):
    values = tf.stack([x, x + 1])
    return tf.reduce_sum(values[values > 1])  # here


def puts_by_a_mask(x):
    values = np.zeros(3) + x
    values[values > 1] = [1.0, 2.0]  # here
    return values


def takes_rows_that_are_not_there(x):
    values = np.zeros(3) + x
    return values[[0, 3]]  # here


class ByIndex:
    def __init__(self, values):
        self.values = values

    def __getitem__(self, i):
        return self.values[i]


def goes_by_index(x):
    held = ByIndex(list(range(int(x))))
    total = 0.0
    for value in held:  # here
        total += value
    return total


def reads_a_bound(x):
    r = range(int(x))
    return r.stop  # here


CASES = [
    (goes_by_index, TypeMismatchError), (reads_a_bound, TypeMismatchError),
    (takes_by_a_mask, TypeMismatchError), (puts_by_a_mask, TypeMismatchError),
    (takes_rows_that_are_not_there, TypeMismatchError),
    (sets_by_name, UnsupportedSyntaxError), (changes_items_of_a_dict, TypeMismatchError),
    (counts_visits, UnsupportedSyntaxError), (hashes_an_object, UnsupportedSyntaxError),
    (remembers, UnsupportedSyntaxError), (looks_at_the_clock, UnsupportedSyntaxError),
    (takes_a_number, UnsupportedSyntaxError), (asks_a_cache, UnsupportedSyntaxError),
    (augments_a_shared_array, UnsupportedSyntaxError), (augments_an_object_in_a_list, UnsupportedSyntaxError),
    (changes_a_list_of_the_class, UnsupportedSyntaxError), (chooses_of_a_class_of_ints, TypeMismatchError),
    (gives_texts_to_tensorflow, TypeMismatchError), (hashes_a_text, TypeMismatchError),
    (puts_a_key_for_some, TypeMismatchError), (spells_too_much, TypeMismatchError),
    (returns_an_enum, TypeMismatchError), (makes_a_flag_of_a_number, TypeMismatchError),
    (makes_an_enum, UnsupportedSyntaxError), (slices_by_steps, TypeMismatchError),
    (changes_what_it_gets, UnsupportedSyntaxError),
    (asks_without_a_default, TypeMismatchError), (grows_a_text, TypeMismatchError),
    (appends_a_list_to_itself, UnsupportedSyntaxError),
    (augments_a_list_in_a_list, UnsupportedSyntaxError),
    (reads_an_exception, UnsupportedSyntaxError), (catches_deep_calls, UnsupportedSyntaxError),
    (seeks_an_object, TypeMismatchError), (moves_what_it_appends_to, UnsupportedSyntaxError),
    (raises_one_of_several, UnsupportedSyntaxError), (leaves_by_finally, UnsupportedSyntaxError),
    (meets_a_wide_int, TypeMismatchError),
    (is_it_the_same, TypeMismatchError), (repeats_a_tuple, TypeMismatchError), (meets_a_huge_int, TypeMismatchError),
    (repeats_a_row, TypeMismatchError), (list_in_a_set, TypeMismatchError), (list_of_dtypes, TypeMismatchError),
    (seeks_a_row, TypeMismatchError), (sums_pairs, TypeMismatchError), (assigns_a_slice, TypeMismatchError),
    (adds_in_place, TypeMismatchError), (deque_of_a_length, TypeMismatchError),
    (deque_as_a_list, UnsupportedSyntaxError), (changed_by_a_helper, TypeMismatchError),
    (changes_a_global, UnsupportedSyntaxError),
    (changes_a_part, UnsupportedSyntaxError), (shares_a_default, UnsupportedSyntaxError),
    (another_structure, TypeMismatchError),
    (waits, UnsupportedSyntaxError), (asynchronous, UnsupportedSyntaxError),
    (indexes_an_unknown_size, TypeMismatchError), (sums_the_batch, TypeMismatchError),
    (of_another_size, BatchShapeError), (defines_a_class, UnsupportedSyntaxError),
    (two_loops_in_one, UnsupportedSyntaxError), (default_of_a_member, UnsupportedSyntaxError),
    (lazy_branches, UnsupportedSyntaxError), (hides_a_name, UnsupportedSyntaxError),
    (kinds_of_sides, TypeMismatchError), (goes_over_a_set, UnsupportedSyntaxError),
    (imports_over_a_variable, UnsupportedSyntaxError),
    (float_index, TypeMismatchError),
    (writes_into_a_result, UnsupportedSyntaxError), (loop_over_items, UnsupportedSyntaxError),
    (matches, UnsupportedSyntaxError), (shape_of_a_member, TypeMismatchError),
    (returns_an_object, TypeMismatchError), (sorts_rows, TypeMismatchError),
    (pops_while_it_loops, UnsupportedSyntaxError), (pops_in_any, UnsupportedSyntaxError),
    (links_without_end, TypeMismatchError), (holds_itself, UnsupportedSyntaxError),
    (chosen_by_class, TypeMismatchError),
    (augments_to_floats, TypeMismatchError),
    (says_what_was_caught, UnsupportedSyntaxError), (asks_for_any_class, UnsupportedSyntaxError),
    (keeps_what_was_caught, UnsupportedSyntaxError),
    (makes_a_complex_number, TypeMismatchError), (counts_bits_in_a_text, TypeMismatchError),
    (prints_all, UnsupportedSyntaxError), (raises_a_variable, UnsupportedSyntaxError),
    (range_of_a_pair, UnsupportedSyntaxError), (float_of_a_vector, TypeMismatchError),
    (passes_a_pair, UnsupportedSyntaxError), (without_end, UnsupportedSyntaxError),
    (looks_at_the_value, TypeMismatchError), (chooses_an_item, TypeMismatchError),
    (yields, UnsupportedSyntaxError), (several_at_once, UnsupportedSyntaxError),
    (several_later, UnsupportedSyntaxError), (unrolls_a_shared_list, UnsupportedSyntaxError),
    (unrolls_a_list_of_members, UnsupportedSyntaxError), (keeps_an_iterator, TypeMismatchError),
]  # fmt: skip
