"""What a program reads from outside, in whatever way, is read again when it has changed."""

import argparse
import array
import collections
import contextvars
import copy
import ctypes
import functools
import math
import os
import sys
import threading
import types
import warnings

import numpy as np
import pytest
import tensorflow as tf

import autobatch as ab
from tests.meaning import imported

X = np.array([0, 3], np.int32)
interpreted = {"backend": "local_static", "jit_compile": False}
LEVEL = 1


class Reader:
    def __init__(self):
        self.level = LEVEL

    @staticmethod
    def static():
        return LEVEL

    @classmethod
    def of_class(cls):
        return LEVEL

    @property
    def prop(self):
        return LEVEL

    @functools.cached_property
    def cached(self):
        return LEVEL

    def __call__(self):
        return LEVEL

    def __getitem__(self, k):
        return LEVEL

    def __add__(self, other):
        return LEVEL

    def __len__(self):
        return LEVEL


class Descriptor:
    def __get__(self, instance, owner):
        return LEVEL


class Described:
    level = Descriptor()


class Caller:
    """Of one test alone, which changes it for good."""

    def __call__(self):
        return 1


reader, described, caller = Reader(), Described(), Caller()


def of_static(x):
    return x + Reader.static()


def of_class(x):
    return x + Reader.of_class()


def of_property(x):
    return x + reader.prop


def of_cached_property(x):
    return x + Reader().cached


def of_call(x):
    return x + reader()


def of_item(x):
    return x + reader[0]


def of_init(x):
    return x + Reader().level


def of_operator(x):
    return x + (reader + 1)


def of_descriptor(x):
    return x + described.level


def of_len(x):
    return x + len(reader)


@pytest.mark.parametrize("function", [of_static, of_class, of_property, of_cached_property, of_call, of_item, of_init,
                                      of_operator, of_descriptor, of_len], ids=lambda f: f.__name__)  # fmt: skip
def test_a_global_behind_a_class(function, monkeypatch):
    f = ab.autobatch(function, **interpreted)
    assert np.asarray(f(X)).tolist() == [1, 4]
    monkeypatch.setitem(globals(), "LEVEL", 2)
    assert np.asarray(f(X)).tolist() == [2, 5]


NAMESPACE, SIMPLE, LOCAL = argparse.Namespace(a=1), types.SimpleNamespace(a=1), threading.local()
LOCAL.a = 1
USER, BEHIND, CHAIN = collections.UserDict(a=1), {"a": 1}, collections.ChainMap({"a": 1})
PROXY, ARRAY, CONTEXT = types.MappingProxyType(BEHIND), array.array("i", [1]), contextvars.ContextVar("c", default=1)
LARGE, LONG = np.ones(100_000), list(range(5000))
MODULE = types.ModuleType("of_a_user")
MODULE.inner = types.ModuleType("of_a_user.inner")
MODULE.inner.level = 1
PARTIAL = functools.partial(lambda a, x: x + a[0], [1])
PAIR = collections.namedtuple("Pair", "a b")([1], 2)
LIBRARY = math
COPY = [1].copy
ORDERED = types.SimpleNamespace(a=1, b=2)


def helper(x):
    return x + 1


def other_helper(x):
    return x + 2


def reordered():
    a = ORDERED.a
    del ORDERED.a
    ORDERED.a = a


CHANGES = {
    "a namespace": (lambda x: x + NAMESPACE.a, lambda: setattr(NAMESPACE, "a", 2)),
    "a simple namespace": (lambda x: x + SIMPLE.a, lambda: setattr(SIMPLE, "a", 2)),
    "a thread's own": (lambda x: x + LOCAL.a, lambda: setattr(LOCAL, "a", 2)),
    "a UserDict": (lambda x: x + USER["a"], lambda: USER.update(a=2)),
    "a ChainMap": (lambda x: x + CHAIN["a"], lambda: CHAIN.update(a=2)),
    "a mapping proxy": (lambda x: x + PROXY["a"], lambda: BEHIND.update(a=2)),
    "an array": (lambda x: x + ARRAY[0], lambda: ARRAY.__setitem__(0, 2)),
    "a context variable": (lambda x: x + CONTEXT.get(), lambda: CONTEXT.set(2)),
    "the environment": (
        lambda x: x + int(os.environ.get("AUTOBATCH_TEST", "1")), lambda: os.environ.update(AUTOBATCH_TEST="2")
    ),
    "a large NumPy array": (lambda x: x + int(LARGE[50_000]), lambda: LARGE.__setitem__(50_000, 2)),
    "a long list": (lambda x: x + LONG[4999] - 4998, lambda: LONG.__setitem__(4999, 5000)),
    "a module's module": (lambda x: x + MODULE.inner.level, lambda: setattr(MODULE.inner, "level", 2)),
    "a partial": (lambda x: PARTIAL(x), lambda: PARTIAL.args[0].__setitem__(0, 2)),
    "the order of attributes": (lambda x: x + next(iter(vars(ORDERED).values())), reordered),
    "a helper's code": (lambda x: helper(x), lambda: setattr(helper, "__code__", other_helper.__code__)),
    "a list in a named tuple": (lambda x: x + PAIR.a[0], lambda: PAIR.a.__setitem__(0, 2)),
    "a library's module": (
        lambda x: x + int(LIBRARY.pi) - 2, lambda: globals().update(LIBRARY=types.SimpleNamespace(pi=4))
    ),
    "a method of a list": (lambda x: x + COPY()[0], lambda: COPY.__self__.__setitem__(0, 2)),
    "a builtin": (lambda x: x + abs(-1), lambda: globals().update(abs=lambda x: 2)),
    "a method": (lambda x: x + caller(), lambda: setattr(Caller, "__call__", lambda self: 2)),
}  # fmt: skip


@pytest.mark.parametrize("name", CHANGES)
def test_a_change(name):
    read, change = CHANGES[name]
    called = types.FunctionType(read.__code__, globals(), "called")

    @ab.autobatch(**interpreted)
    def f(x):
        return called(x)

    assert np.asarray(f(X)).tolist() == [1, 4]
    assert f._program(f._take_apart((X,), {})).changed() is None
    change()
    try:
        assert np.asarray(f(X)).tolist() == [2, 5]
    finally:
        globals().pop("abs", None)


def test_what_python_notes_on_a_class_is_no_change():
    class Box:
        size = 2

    @ab.autobatch(**interpreted)
    def f(x):
        return x + Box.size

    program = f.lower(X).program
    copy.copy(Box())  # puts `__slotnames__` there
    assert f.lower(X).program is program


class ItemsOfOthers:
    def __getitem__(self, k):
        return LEVEL * k

    def __len__(self):
        return 4


class AnyAttribute:
    def __getattr__(self, name):
        return {"level": LEVEL}[name]


def of_a_module(x):
    return x + own.level


def of_an_import(x):
    from tests.meaning.imported import level

    return x + level


def of_c(x):
    return x + c_int.value


def of_objects_in_an_array(x):
    return x + objects[0][0]


def of_a_shape(x):
    return x + len(shaped)


own = types.ModuleType("own")
c_int = ctypes.c_int()
objects = np.array([[1, 2], [3]], dtype=object)
shaped = np.zeros(1)
BY_LEVEL = {
    of_a_module: lambda level: setattr(own, "level", level),
    of_an_import: lambda level: setattr(imported, "level", level),
    of_c: lambda level: setattr(c_int, "value", level),
    of_objects_in_an_array: lambda level: objects[0].__setitem__(0, level),
    of_a_shape: lambda level: shaped.resize((level, 1), refcheck=False),
}


@pytest.mark.parametrize("function", BY_LEVEL)
def test_what_hides(function):
    f = ab.autobatch(function, **interpreted)
    for level in (1, 2):
        BY_LEVEL[function](level)
        assert np.asarray(f(X)).tolist() == [level, 3 + level]


def test_items_and_attributes_that_a_class_makes(monkeypatch):
    items, attributes = ItemsOfOthers(), AnyAttribute()

    @ab.autobatch(**interpreted)
    def f(x):
        return items[x] + attributes.level

    for level in (1, 2):
        monkeypatch.setitem(globals(), "LEVEL", level)
        assert np.asarray(f(X)).tolist() == [level, 4 * level]


def test_what_is_read_by_name():
    @ab.autobatch(**interpreted)
    def f(x):
        return x + globals()["BY_NAME"]

    for value in (1, 2):
        globals()["BY_NAME"] = value
        assert np.asarray(f(X)).tolist() == [value, 3 + value]


@pytest.mark.compiles
def test_a_change_while_a_run_works(monkeypatch):
    @ab.autobatch
    def counted(n):
        k = 0
        while k < n:
            k += LEVEL
        return k

    run = counted.start(np.array([3, 5], np.int32)).advance(2)
    monkeypatch.setitem(globals(), "LEVEL", 2)
    assert np.asarray(run.result()).tolist() == [3, 5]  # as it began
    assert np.asarray(counted(np.array([3, 5], np.int32))).tolist() == [4, 6]


def test_what_changes_at_each_call_is_said_once():
    calls = []

    @ab.autobatch(**interpreted)
    def counting(x):
        return x + len(calls)

    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", ab.errors.CacheWarning)
        for k in range(15):
            assert np.asarray(counting(X)).tolist() == [k, 3 + k]
            calls.append(None)
    assert [str(w.message) for w in caught] == [
        "`counting` is compiled anew at each call, as `calls`, which it reads, has changed each time."
    ]
    assert caught[0].filename == __file__


def test_a_captured_variable_hides_the_global_of_its_name(monkeypatch):
    def made(LEVEL):
        def added(x):
            return x + LEVEL

        return added

    f = ab.autobatch(made(5), **interpreted)
    first = f.lower(X)
    monkeypatch.setitem(globals(), "LEVEL", 2)
    assert f.lower(X).program is first.program
    assert np.asarray(f(X)).tolist() == [5, 8]


def test_a_local_variable_or_an_attribute_hides_the_global_of_its_name(monkeypatch):
    """Scripts call their results as their functions call their variables."""
    point = types.SimpleNamespace(LEVEL=7)

    def added(x):
        def inner(LEVEL):
            return LEVEL + point.LEVEL

        LEVEL = 2
        while LEVEL < x:
            LEVEL += 3
        return LEVEL + inner(x)

    f = ab.autobatch(added, **interpreted)
    first = f.lower(X)
    monkeypatch.setitem(globals(), "LEVEL", 2)
    assert f.lower(X).program is first.program
    assert np.asarray(f(X)).tolist() == [added(x) for x in X]


def test_a_legacy_graph_is_refused():
    f = ab.autobatch(of_len)
    with tf.Graph().as_default(), pytest.raises(ab.errors.SettingError, match=r"tf\.function"):
        f(tf.constant([1, 2]))


def test_a_class_of_a_module_made_by_hand(monkeypatch):
    made = types.ModuleType("made_by_hand")
    monkeypatch.setitem(sys.modules, "made_by_hand", made)
    exec("class Point:\n    def __init__(self, x):\n        self.x = x\n", vars(made))
    Point = made.Point

    def f(x):
        p = Point(x)
        if x > 0:
            p.x = 7
        return p.x

    assert np.asarray(ab.autobatch(f, **interpreted)(X)).tolist() == [0, 7]
