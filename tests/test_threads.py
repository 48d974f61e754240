"""One function called from many threads at once."""

from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

import numpy as np
import pytest
import tensorflow as tf

import autobatch as ab
from autobatch import context
from autobatch.machine.engine import Engine
from tests.backends import assert_same
from tests.programs import PROGRAMS

THREADS = 8
OPTIONS = [{}, {"backend": "local_static"}, {"shards": 2, "compact": "always"}, {"max_depth": 40}]


def at_once(calls):
    """What the calls return, each made by a thread of its own, all at the same time."""
    gate = Barrier(len(calls))

    def made(call):
        gate.wait()
        return call()

    with ThreadPoolExecutor(len(calls)) as threads:
        return list(threads.map(made, calls))


@pytest.mark.parametrize("options", OPTIONS, ids=str)
@pytest.mark.parametrize("name", ["fibonacci", "collatz"])
def test_the_same_call(name, options):
    function, args = PROGRAMS[name]
    function = ab.autobatch(function._fn, **options)  # nothing is traced yet
    expected = function.options(backend="unbatched")(*args)
    for found in at_once([lambda: function(*args)] * THREADS) + at_once([lambda: function(*args)] * THREADS):
        assert_same(found, expected)


def test_all_ways_and_sizes():
    function, (n,) = PROGRAMS["fibonacci"]
    function = ab.autobatch(function._fn)
    calls = [
        lambda k=k, way=way: np.asarray(way(tf.constant(n[:k])))
        for k in (1, 2, 3)
        for way in (function, function.map, lambda x: function.start(x).result())
    ]
    expected = function.options(backend="unbatched")(n).numpy()
    for found in at_once(calls):
        np.testing.assert_array_equal(found, expected[: len(found)])


def test_the_first_run_holds_up_no_other_thread(monkeypatch):
    """Only what is made, traced or compiled does, which is one thing at a time."""

    class Traced(dict):
        def __getitem__(self, function):
            runs.append(context.tracing_lock._depth)
            return super().__getitem__(function)

    def __init__(self, *args, **kwargs):  # noqa: N807
        made(self, *args, **kwargs)
        self._traced = Traced()

    runs, made = [], Engine.__init__
    monkeypatch.setattr(Engine, "__init__", __init__)
    function, (n,) = PROGRAMS["fibonacci"]
    ab.autobatch(function._fn)(n)
    assert set(runs) == {0}
