"""Whatever holds what a program reads: when that has changed, the program is lowered again."""

import collections
import ctypes
import io
import logging
import multiprocessing
import queue
import sys
import threading
import types
import unittest.mock
from xml.etree import ElementTree

import numpy as np
import pytest

import autobatch as ab
from autobatch.calls import specialisation

N = np.array([1, 2, 5])
CASES = []


def case(make):
    CASES.append(make)
    return make


@case
def attribute_of_a_number():
    class Number(int):
        k = 1

    x = Number(3)
    x.j = 1
    return lambda n: n * x.j + 100 * x.k + x, lambda: setattr(x, "j", 2)


@case
def number_in_a_long_list():
    items = [0] * 500
    return lambda n: n + items[400], lambda: items.__setitem__(400, 7)


@case
def kind_of_a_number_in_a_long_list():
    items = [1] * 500
    return lambda n: n + len(repr(items[400])), lambda: items.__setitem__(400, True)


@case
def row_of_a_long_table():
    rows = [[k, 1.5, "a"] for k in range(300)]
    return lambda n: n + rows[200][0] * len(rows[200][2]), lambda: rows[200].__setitem__(2, "ab")


@case
def array_in_a_long_list():
    rows = [np.array([1, 2], np.int32) for _ in range(300)]
    return lambda n: n + rows[200].dtype.name.count("f"), lambda: rows.__setitem__(200, rows[200].view(np.float32))


@case
def list_in_a_long_tuple():
    rows = tuple([k] for k in range(300))
    return lambda n: n + len(rows[200]), lambda: rows[200].append(5)


@case
def views_of_a_dict():
    d = {1: 2}
    keys, values = d.keys(), d.values()
    return lambda n: n + len(keys) + sum(values) * 10, lambda: d.update({3: 4})


@case
def method_of_a_list():
    items = [1]
    size = items.__len__
    return lambda n: n + size(), lambda: items.append(1)


@case
def deque_of_a_class():
    class Queue(collections.deque):
        pass

    items = Queue([1, 2])
    return lambda n: n + len(items) * 10 + items[0], lambda: items.append(5)


@case
def attribute_of_a_set():
    class Set(set):
        pass

    items = Set([1])
    items.k = 1
    return lambda n: n * items.k, lambda: setattr(items, "k", 4)


@case
def attribute_of_an_array():
    class Array(np.ndarray):
        pass

    array = np.zeros(2).view(Array)
    array.k = 1
    return lambda n: n * array.k, lambda: setattr(array, "k", 4)


@case
def module_by_any_name():
    module, name = types.ModuleType("settings_of_a_test"), "K"
    module.K, module.L = 3, 5
    return lambda n: n * getattr(module, name) + vars(module)["L"], lambda: setattr(module, "K", 6)


@case
def element():
    tree = ElementTree.fromstring('<a k="3"/>')
    return lambda n: n + int(tree.get("k")), lambda: tree.set("k", "9")


@case
def mock():
    made = unittest.mock.Mock()
    made.v = 1
    return lambda n: n + made.v, lambda: setattr(made, "v", 5)


@case
def event():
    event = threading.Event()
    return lambda n: n + event.is_set(), event.set


@case
def queue_of_tasks():
    tasks = queue.Queue()
    return lambda n: n + tasks.qsize(), lambda: tasks.put(1)


@case
def shared_value():
    value = multiprocessing.Value("i", 3)
    return lambda n: n + value.value, lambda: setattr(value, "value", 9)


@case
def pointer():
    value = ctypes.c_int(3)
    held = ctypes.pointer(value)
    return lambda n: n + held.contents.value, lambda: setattr(value, "value", 9)


@case
def private_slot():
    class Private:
        __slots__ = ("__k",)

        def __init__(self):
            self.__k = 1

        def get(self):
            return self.__k

        def put(self, value):
            self.__k = value

    p = Private()
    return lambda n: n + p.get(), lambda: p.put(40)


@case
def polynomial():
    p = np.poly1d([1, 2])

    def change():
        p.coeffs[0] = 10

    return lambda n: n + int(p(2)), change


@case
def cell():
    made = types.CellType(3)
    return lambda n: n + made.cell_contents, lambda: setattr(made, "cell_contents", 9)


@case
def text_in_memory():
    text = io.StringIO("abc")
    return lambda n: n + len(text.getvalue()), lambda: (text.seek(3), text.write("defghi"))


@case
def level_of_a_logger():
    logger = logging.getLogger("autobatch.tests.watched")
    logger.setLevel(10)
    return lambda n: n + logger.level, lambda: logger.setLevel(20)


@case
def view_of_bytes():
    data = bytearray(b"ab")
    view = memoryview(data)
    return lambda n: n * data[0] + view[1], lambda: data.extend(b"") or data.__setitem__(1, 70)


@pytest.mark.parametrize("make", CASES, ids=lambda make: make.__name__)
def test_change_is_seen(make):
    helper, change = make()

    def function(n):
        return n * 1 + helper(n)

    called = ab.autobatch(function).options(backend="local_static", jit_compile=False)
    assert [*called(N).numpy()] == [function(n) for n in N]
    change()
    assert [*called(N).numpy()] == [function(n) for n in N]


def test_what_says_something_stays(monkeypatch):
    logger = logging.getLogger("autobatch.tests.said")

    @ab.autobatch(backend="local_static", jit_compile=False)
    def function(n):
        logger.debug("hello")
        return n + sys.maxsize % 7

    function(N)
    monkeypatch.setattr(specialisation, "_typed", None)  # it is not lowered again
    logger.info("something else")
    function(N)


def test_a_million_numbers_stay(monkeypatch):
    table = {"rows": [[0.5 * k] * 1000 for k in range(1000)]}

    @ab.autobatch(backend="local_static", jit_compile=False)
    def function(n):
        return n * table["rows"][2][7]

    assert function(N).numpy().tolist() == [1.0, 2.0, 5.0]
    lowered = specialisation._typed
    monkeypatch.setattr(specialisation, "_typed", None)
    function(N)
    monkeypatch.setattr(specialisation, "_typed", lowered)
    table["rows"][2][7] = 3.0
    assert function(N).numpy().tolist() == [3.0, 6.0, 15.0]
