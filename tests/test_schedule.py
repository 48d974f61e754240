"""The order in which blocks run, and the parts in which the batch does, change nothing but the time."""

import itertools
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
import tensorflow as tf

import autobatch as ab
from autobatch.backends import shards
from autobatch.backends.shards import CACHED, SMALLEST, SMALLEST_CHEAP, good_number
from autobatch.machine import partial, schedule
from autobatch.machine.blocks import Machine
from autobatch.machine.schedule import SCHEDULES, counts_compared, counts_in_words, has_loops
from autobatch.passes.costs import FIXED
from tests.backends import assert_same
from tests.programs import PROGRAMS

CHOICES = [
    *itertools.product(("guarded", "switch_case"), ("earliest", "most_populated", "weighed"), (1, 2)),
    ("sweep", "earliest", 1),
    ("rounds", "earliest", 1),
    ("rounds", "weighed", 2),
]


@pytest.mark.parametrize("name", ["quicksort", "collatz"])
@pytest.mark.parametrize(("dispatch", "schedule", "shards"), CHOICES)
def test_every_choice_gives_the_same(name, dispatch, schedule, shards):
    function, args = PROGRAMS[name]
    chosen = function.options(dispatch=dispatch, schedule=schedule, shards=shards)
    assert_same(chosen(*args), function.options(backend="unbatched")(*args))


@pytest.mark.parametrize("blocks", [1, 2, 7, 8, 9, 16, 31])
@pytest.mark.parametrize("lanes", [1, 254, 255, 256, 3000])
def test_lanes_are_counted(lanes, blocks):
    pc = np.random.default_rng(lanes).integers(0, blocks + 5, lanes)  # some are done, or wait for deeper stacks
    for some in (pc, np.zeros_like(pc), np.full_like(pc, blocks - 1)):
        told = np.bincount(some, minlength=blocks)[:blocks]
        for counts in (counts_compared, counts_in_words):
            assert counts(tf.constant(some, tf.int32), blocks).numpy().tolist() == told.tolist()


@pytest.mark.parametrize("chosen", ["most_populated", "weighed"])
def test_lanes_counted_in_words(chosen, monkeypatch):
    monkeypatch.setattr(schedule, "MANY", 1)
    function, args = PROGRAMS["quicksort"]
    assert_same(function.options(schedule=chosen)(*args), function.options(backend="unbatched")(*args))


@pytest.mark.parametrize("chosen", SCHEDULES)
def test_no_members(chosen):
    function, _ = PROGRAMS["fibonacci"]
    assert function.options(schedule=chosen)(tf.zeros([0], tf.int32)).shape == [0]


@pytest.mark.parametrize(
    ("name", "loops"), [("fibonacci", False), ("quicksort", True), ("collatz", True), ("is_even", False)]
)
def test_loops_are_not_recursion(name, loops):
    function, args = PROGRAMS[name]
    assert has_loops(function.lower(*args).stack_program.blocks) is loops


@pytest.mark.parametrize("size", [1, 2, 5, 9])
def test_a_batch_of_any_size_in_any_number_of_parts(size):
    function, _ = PROGRAMS["collatz"]
    n = tf.range(1, size + 1)
    for parts in range(1, size + 1):
        assert_same(function.options(shards=parts)(n), function.options(backend="unbatched")(n))


def test_how_many_parts(monkeypatch):
    def parts(size, lane_bytes, cost):
        monkeypatch.setattr(shards, "lane_bytes", lambda machine: lane_bytes)
        return good_number(SimpleNamespace(size=size, stored=SimpleNamespace(costs=(0.0, 2.0 * cost))))

    monkeypatch.setattr(tf.config.threading, "get_inter_op_parallelism_threads", lambda: 2)
    assert parts(2 * SMALLEST - 1, 8, FIXED) == 1
    assert parts(2 * SMALLEST, 8, FIXED) == 2
    assert parts(2 * SMALLEST_CHEAP - 1, 8, FIXED / 10_000) == 1, "cheap blocks"
    assert parts(2 * SMALLEST_CHEAP, 8, FIXED / 10_000) == 2
    assert parts(10**6, 8, FIXED) == 2
    assert parts(1024, CACHED // 256, FIXED) == 4, "twice what the caches hold"
    assert parts(0, 8, 0.0) == 1


@pytest.fixture
def chunks_of_two(monkeypatch):
    monkeypatch.setattr(partial, "LARGEST", 2)


@pytest.mark.usefixtures("chunks_of_two")
@pytest.mark.parametrize("dispatch", ["guarded", "switch_case"])
@pytest.mark.parametrize("name", ["collatz", "quicksort", "newton_sqrt", "tak", "mandelbrot", "adaptive_simpson"])
def test_gathered_blocks(name, dispatch):
    function, args = PROGRAMS[name]
    chosen = function.options(partial="gather", dispatch=dispatch, schedule="most_populated", shards=1)
    assert_same(chosen(*args), function.options(backend="unbatched")(*args))


@pytest.mark.usefixtures("chunks_of_two")
def test_gathered_blocks_see_failed_checks():
    n = np.full(9, 5, np.int32)
    n[7] = 60
    with pytest.raises(ab.errors.MemberAssertionError) as caught:
        reciprocals.options(partial="gather", shards=1)(n)
    assert caught.value.members == (7,)


def test_what_is_gathered():
    """Never what touches a stack or knows its members by their position, and nothing outside XLA."""

    @ab.primitive(size=64)
    def positioned(x):
        return x + tf.range(64.0)[:, tf.newaxis]

    @ab.autobatch
    def recursive(x, depth):
        if depth == 0:
            return tf.tanh(x)
        x = positioned(x)
        return recursive(x, depth - 1) + x

    lowered = recursive.lower(tf.zeros([64, 3]), tf.zeros([64], tf.int32))
    machine = Machine(lowered._program.stack(), 64, 4, safe=False)
    texts = [str(block) for block in machine.program.blocks]
    possible = [partial.can_gather(machine, i) for i in range(machine.halt)]
    assert any(possible)
    for text, gathered in zip(texts, possible, strict=False):
        assert not (gathered and ("positioned" in text or "push" in text or "pop" in text))
    assert not any(partial.can_gather(replace(machine, safe=True), i) for i in range(machine.halt))


@ab.autobatch
def reciprocals(n):
    total = 0.0
    for i in range(1, n):
        assert i < 50, "too many"
        total += 1.0 / float(i)
    return total


def test_a_failed_member_of_a_later_part_is_named():
    n = np.full(100, 5, np.int32)
    n[77] = 60
    with pytest.raises(ab.errors.MemberAssertionError) as caught:
        reciprocals.options(shards=4)(n)
    assert caught.value.members == (77,)
    assert np.isfinite(np.delete(np.asarray(caught.value.results), 77)).all()


@ab.autobatch
def depth(n):
    return 0 if n < 1 else depth(n - 1) + 1


def test_stacks_grow_in_parts():
    n = tf.constant([1] * 9 + [40], tf.int64)
    assert_same(depth.options(shards=2)(n), n)
    with pytest.raises(ab.errors.StackOverflowError) as caught:
        depth.options(shards=2, max_depth=20)(n)
    assert caught.value.members == (9,)


def test_a_primitive_that_takes_the_whole_batch_only():
    rows = tf.range(200.0)

    @ab.primitive(batched=True, size=200)
    def shifted(x):
        return x + rows

    @ab.autobatch
    def program(x):
        while x < 100.0:
            x = shifted(x) + 1.0
        return x

    x = tf.zeros([200])
    expected = rows + 1.0
    while (expected < 100.0).numpy().any():
        expected = tf.where(expected < 100.0, expected + rows + 1.0, expected)
    np.testing.assert_array_equal(program(x), expected)
    with pytest.raises(ab.errors.SettingError, match="whole batch, which shards=2 cuts"):
        program.options(shards=2)(x)


def test_limits_of_options():
    with pytest.raises(ValueError, match="shards"):
        ab.autobatch(shards=0)
    with pytest.raises(ValueError, match="schedule"):
        ab.autobatch(schedule="latest")
