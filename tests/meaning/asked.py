"""Functions that run as they are, and ask what their values are, which one object they are, or how they are written."""

# ruff: noqa
import dataclasses
import functools
import math
import operator
import pprint
import reprlib
from fractions import Fraction
from typing import NamedTuple

import numpy as np

from tests.meaning.case import case

n = np.array([1, 2, 3, 4, 0])


def large(a, k=2):
    return (a > k) is True


def not_large(a):
    return (a > 2) is not True


def is_int(a):
    return a.__class__ is int


def kind(a):
    return 10 if isinstance(a, int) else 20


def real(a):
    return getattr(a, "real", 99) + getattr(a, "none", 1)


def case_of(a):
    match a:
        case [first, second]:
            return first + second
        case _:
            return a


def written(a):
    return str(a) == "3"


class Rule:
    def __init__(self, limit, rule=large):
        self.limit, self.rule = limit, rule

    def holds(self, a):
        return (a > self.limit) is True

    @staticmethod
    def of_two(a):
        return (a > 2) is True

    @classmethod
    def of_class(cls, a):
        return (a > 2) is True and cls is Rule

    @property
    def is_high(self):
        return (self.limit > 2) is True

    def __call__(self, a):
        return (a > self.limit) is True

    def by_rule(self, a):
        return self.rule(a)


RULE = Rule(2)
RULES, TABLE = [large, not_large], {"large": large, "int": is_int}


def beyond(k, a):
    return large(a, k)


above_three = functools.partial(beyond, 3)


@case(n)
def identities(n):
    return large(n), not_large(n), is_int(n)


def through(a):
    return large(a) + 1


@case(n)
def identities_further_down(n):
    return through(n)


@case(n)
def kinds(n):
    return kind(n), kind(n / 2), kind((n, n)), kind(n > 1)


@case(n)
def attributes(n):
    return real(n)


@case(n)
def cases(n):
    return case_of((n, 2)) + case_of([n, n]), case_of(n)


@case(n)
def methods(n):
    return RULE.holds(n), Rule.of_two(n), Rule.of_class(n), RULE(n), RULE.by_rule(n)


def of_new_object(a):
    rule = Rule(a)
    return rule.is_high


@case(n)
def a_property_of_a_new_object(n):
    return of_new_object(n)


@case(n)
def of_tables(n):
    return TABLE["large"](n), RULES[0](n), RULES[1](n)


@case(n)
def chosen_from_a_table(n):
    return RULES[n % 2](n), TABLE["large" if n > 1 else "int"](n)


@case(n)
def looped_over(n):
    found = 0
    for rule in RULES:
        found += rule(n)
    return found


@case(n)
def another_name(n):
    rule = large
    return rule(n)


def applied(rule, a):
    return rule(a)


@case(n)
def given_to_a_function(n):
    return applied(large, n), applied(RULE, n), applied(lambda a: (a > 2) is True, n)


@case(n)
def mapped(n):
    return list(map(large, [n, 3])), sum(map(RULE, [n, 3])), len(list(filter(large, [n, 1, 5])))


@case(n)
def as_keys(n):
    return sorted([n, 2, 3], key=large), max([n, 3], key=RULE)


@case(n)
def in_expressions(n):
    return any(large(a) for a in [n, 1]), [large(a) for a in [n, n + 1]], sum(1 for a in [n, 3] if RULE(a))


@case(n)
def reduced(n):
    return functools.reduce(lambda total, a: total + large(a), [n, 3], 0)


@case(n)
def with_first_arguments(n):
    return above_three(n)


def plainly(function):
    def run(a):
        return function(a)

    return run


@plainly
def decorated(a):
    return (a > 2) is True


@case(n)
def by_another_decorator(n):
    return decorated(n)


def counting(*values):
    return sum((value > 2) is True for value in values)


@case(n)
def of_any_number(n):
    return counting(n, 3)


def guarded(a):
    if not isinstance(a, int):
        raise TypeError(a)
    return a + 1


@case(n)
def what_is_raised(n):
    try:
        return guarded(n) + guarded(n / 2)
    except TypeError:
        return -guarded(n)


@case(n)
def known_to_all(n):
    return n + kind(3) + kind("text") + kind(2.5)


@case(n, refused="text-of-members")
def texts(n):
    return written(n)


@case(n, refused="text-of-members")
def texts_of_lists(n):
    return long(n)


def long(a):
    return len(f"{[a, 1]}")


class Pair(NamedTuple):
    first: int
    second: int


@dataclasses.dataclass
class Held:
    value: int


def length_of_pair(a):
    return len(str(Pair(a, 1)))


def length_of_object(a):
    return len(repr(Held(a)))


def looked_up(a, known={"(1, 2)": 5}):
    return known.get(str((a, 2)), 7)


@case(n, refused="text-of-members")
def texts_of_named_tuples(n):
    return length_of_pair(n)


@case(n, refused="text-of-members")
def texts_of_objects(n):
    return length_of_object(n)


@case(n, refused="text-of-members")
def texts_as_keys(n):
    return looked_up(n)


WEIGHTS = {"w0": 1, "w1": 2, "w2": 3}


def weighed(a, names=("w", "v")):
    total = 0
    for k in range(3):
        total += a * WEIGHTS[f"{names[0]}{k}"]
    return total


@case(n)
def texts_that_all_share(n):
    return weighed(n)


def told(a):
    print("value", a)
    return a + 1


@case(n)
def printed(n):
    return told(n)


def branching(k, a):
    return a * 2 if a > k else -a


class Scale:
    def __init__(self, by):
        self.by = by

    def __call__(self, a):
        if a > self.by:
            return a * self.by
        return -a


twice_above, scaled = functools.partial(branching, 2), Scale(3)


@case(n)
def objects_and_partials_that_branch(n):
    total = scaled(n) + twice_above(n)
    for k in map(scaled, [n, 5]):
        total += k
    return total, max([n, 4], key=scaled), list(map(twice_above, [n, 2]))


def same(a):
    one = [a]
    other = one
    return a if one is other else -a


@case(n)
def lists_that_are_one(n):
    return same(n)


ITEMS, PRICES = [4, 5, 6], {1: 10, 2: 20}


def item_or(i):
    try:
        return ITEMS[i]
    except Exception:
        return -1


def number_or(v):
    try:
        return float(v)
    except (TypeError, ValueError):
        return 0.0


def price_or(i):
    try:
        return PRICES[i]
    except (KeyError, TypeError):
        return -1


def safely(function, a):
    try:
        return function(a)
    except:
        return -7


def item(i):
    return ITEMS[i]


def doubled_at_last(i):
    try:
        i = i + 1
    finally:
        i = i * 2
    return i


@case(n)
def what_helpers_catch(n):
    return item_or(n), number_or(n), price_or(n), list(map(price_or, [n, 1])), max([n, 1], key=item_or)


@case(n)
def what_helpers_catch_of_others(n):
    return safely(item, n), safely(math.factorial, n - 2), doubled_at_last(n)


@functools.singledispatch
def of_class(a):
    return 0


@of_class.register(int)
def _(a):
    return a + 1


def by_class(a):
    return of_class(a) * 2


@case(n)
def by_singledispatch(n):
    return by_class(n), by_class(n) + by_class([n, n])


@case(n)
def of_numbers_of_unlike_kinds(n):
    half = n / 2
    return kind(3), kind(half), kind(n), kind(half + 1)


def has_name(a):
    return getattr(a, "name", "none") != "none" or getattr(a, "nothing", 3) == 3


@case(n)
def attributes_of_what_stands_there(n):
    return has_name(n)


check, kind_of = isinstance, type


def by_other_names(a):
    return check(a, int), {int: 1}.get(kind_of(a), 9), operator.is_(a > 2, True), operator.is_not(a > 2, True)


@case(n)
def builtins_by_other_names(n):
    return by_other_names(n), operator.is_(n > 1, True)


@case(n, refused="text-of-members")
def texts_by_the_library(n):
    return pprint.pformat(n) == "3"


@case(n, refused="text-of-members")
def texts_of_exceptions(n):
    return str(ValueError(n)) == "3"


@case(n, refused="dict-key-of-member")
def keys_that_equal_numbers(n):
    return n in {Fraction(1): 4, 2: 3}


class All(dict):
    def __contains__(self, key):
        return True


ALL = All({1: 2})


@case(n)
def a_dict_of_its_own_kind(n):
    return n in ALL


@case(n, refused="python-refuses")
def the_largest_of_a_number(n):
    return max(n)


class Reversed:
    def __init__(self, v):
        self.v = v

    def __lt__(self, other):
        return isinstance(other, Reversed) and self.v > other.v


@case(n)
def ordered_by_what_may_not_be_there(n):
    return Reversed(n) < 2, Reversed(n) < Reversed(2), Reversed(3) < Reversed(n)


def limited(v, low=0, high=2, *, scale=1):
    if v < low:
        return low * scale
    return high * scale if v > high else v * scale


clipped, low_clipped = functools.partial(limited, low=1, high=3), functools.partial(limited, high=1, scale=2)
over_three = functools.partial(large, k=3)


@case(n)
def partials_with_keywords(n):
    found = [clipped(n), clipped(n, high=2), low_clipped(n)] + list(map(clipped, [n, 0]))
    return found, max([n, 3, 1], key=low_clipped), over_three(n)


class Graph:
    def __init__(self, edges):
        self.edges = edges

    def __getitem__(self, u):
        return self.edges[u] if u in self.edges else -1

    def __contains__(self, u):
        return u in self.edges


GRAPH = Graph({1: 2, 3: 0})


@case(n)
def objects_from_outside_that_are_indexed(n):
    return GRAPH[n], n in GRAPH, n + 1 not in GRAPH, GRAPH[GRAPH[n] + 1]


class Whatever(type):
    def __instancecheck__(cls, value):
        return True


class Anything(metaclass=Whatever):
    pass


def is_anything(a):
    return isinstance(a, Anything)


@case(n, refused="symbolic-attribute")
def a_class_that_says_what_is_of_it(n):
    return is_anything(n)


def adds_fractions(a):
    return a.__add__(1.5) is not NotImplemented


@case(n, refused="symbolic-attribute")
def what_the_operators_of_numbers_do_not_take(n):
    return adds_fractions(n)


@case(n, refused="symbolic-attribute")
def the_names_that_a_number_has(n):
    return "real" in dir(n), n


@case(n, refused="not-autobatched")
def a_text_by_the_library_that_catches(n):
    return len(reprlib.repr(n)) + n


class Parent:
    def __init__(self, v):
        self.v = v

    def __eq__(self, other):
        return self.v == other.v


class Child(Parent):
    def __eq__(self, other):
        return super().__eq__(other)


@case(n)
def special_names_of_objects(n):
    return Child(n) == Child(2), Child(n).__eq__(Parent(3)), len(Child(n).__dict__)
