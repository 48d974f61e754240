"""Static values share a program if and only if no program could tell them apart."""

import collections
import dataclasses
import decimal
import math

import numpy as np
import pytest

import autobatch as ab
from autobatch.language.keys import key

X = np.array([0, 3], np.int32)
interpreted = {"backend": "local_static", "jit_compile": False}


def numbers(result):
    return np.asarray(result).tolist()


Plain = collections.namedtuple("Plain", "a b")


@dataclasses.dataclass(frozen=True)
class Settings:
    a: int
    b: int = dataclasses.field(compare=False)


def sign(x, c):
    return x + int(math.copysign(1, c))


def sign_inside(x, c):
    return x + int(math.copysign(1, c[0]))


def has_true(x, c):
    return x + (10 if any(v is True for v in c) else 0)


def stop(x, c):
    return x + c.stop


def digits(x, c):
    return x + len(str(c))


def field(x, c):
    return x + c.b


def missing(x, c):
    return x + c.copy()["zz"]


def first_key(x, c):
    return x + next(iter(c.values()))


TWINS = [
    (sign, 0.0, -0.0), (sign_inside, (0.0,), (-0.0,)), (has_true, (1,), (True,)), (has_true, [1], [True]),
    (has_true, frozenset({1}), frozenset({True})), (stop, range(0, 3, 2), range(0, 4, 2)),
    (digits, decimal.Decimal("1.0"), decimal.Decimal("1.00")), (digits, 1, 1.0),
    (field, Settings(1, 2), Settings(1, 3)),
    (missing, collections.defaultdict(int, a=1), collections.defaultdict(lambda: 6, a=1)),
    (first_key, {"a": 1, "z": 2}, {"z": 2, "a": 1}),
]  # fmt: skip


@pytest.mark.parametrize(("function", "one", "other"), TWINS)
def test_equal_is_not_the_same(function, one, other):
    assert one == other and key(one) != key(other)
    f = ab.autobatch(function, static_argnames="c", **interpreted)
    for value in (one, other, one):
        assert numbers(f(X, value)) == [function(0, value), function(3, value)]
    assert len(f._programs) == 2


@pytest.mark.parametrize(
    "make",
    [lambda: (1, [2.0, float("nan")]), lambda: {"a": {1, 2}}, lambda: Settings(1, 2), lambda: decimal.Decimal("1.0"),
     lambda: range(3), lambda: Plain(1, "b"), lambda: np.float32(1.5)],
)  # fmt: skip
def test_what_is_made_again_is_the_same(make):
    assert key(make()) == key(make()) and hash(key(make())) == hash(key(make()))


def test_an_object_that_contains_itself():
    items = [1]
    items.append(items)
    assert key(items) == key(items)


def test_objects_of_the_users_are_told_apart_by_identity():
    class Loose:
        def __eq__(self, other):
            return True

        def __hash__(self):
            return 1

    assert key(Loose()) != key(Loose())


def test_a_dict_argument_in_another_order():
    @ab.autobatch(**interpreted)
    def joined(d):
        r = 0
        for k in d:
            r = r * 10 + d[k]
        return r

    a, b = np.array([1, 2]), np.array([3, 4])
    assert numbers(joined({"a": a, "z": b})) == [13, 24]
    assert numbers(joined({"z": b, "a": a})) == [31, 42]


def test_dicts_of_two_orders_meet():
    @ab.autobatch(**interpreted)
    def chosen(x):
        if x > 1:
            d = {"a": x, "z": 1}
        else:
            d = {"z": 1, "a": x}
        return d["a"]

    with pytest.raises(ab.errors.TypeMismatchError, match=r"{a: int32\[\], z: 1} on one path and {z: 1"):
        chosen(X)


def test_classes_of_one_name():
    def made(name, total):
        return type(name, (collections.namedtuple("Pair", "a b"),), {"total": total})

    @ab.autobatch(**interpreted)
    def total(pair):
        return pair.total()

    assert numbers(total(made("Pair", lambda self: self.a - self.b)(X, X + 1))) == [-1, -1]
    assert numbers(total(made("Pair", lambda self: self.a + self.b)(X, X + 1))) == [1, 7]
