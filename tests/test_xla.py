"""Loops that XLA makes one function of: which, and that nothing else in the process is."""

import os

import numpy as np
import pytest
import tensorflow as tf

import autobatch as ab
from autobatch import flags
from autobatch.machine import xla
from autobatch.passes.costs import smallest_product
from tests.backends import assert_same
from tests.programs import PROGRAMS

MATRIX = tf.constant(np.random.default_rng(0).normal(size=(3, 3)) / 3, tf.float32)


@ab.autobatch
def until_short(x):
    while tf.tensordot(x, x, 1) > 0.01:
        x = tf.linalg.matvec(MATRIX, x)
    return x


@ab.primitive(batched=True)
def all_shorter(x):
    return tf.matmul(x, MATRIX)


@ab.autobatch
def all_until_short(x):
    while tf.tensordot(x, x, 1) > 0.01:
        x = all_shorter(x)
    return x


@ab.autobatch
def until_small(x):
    while tf.tensordot(x, x, 1) > 0.01:
        x = x * 0.5
    return x


@ab.autobatch
def spread(x, n):
    if n == 0:
        return x
    return spread(x * 1.5, n - 1) + spread(x + 0.5, n - 1)


def stored(function, size=2):
    return function.lower(tf.ones([size, 3]))._program.stack()


@pytest.mark.parametrize("function", [until_short, all_until_short])
def test_the_smallest_product_of_matrices(function):
    assert smallest_product(stored(function), 2) == 4 * (9 + 3)
    assert smallest_product(stored(function), 1) == np.inf, "a matrix and a vector"


def test_products_of_vectors_do_not_count():
    assert smallest_product(stored(until_small), 2) == np.inf


def test_a_batched_primitive_costs_what_it_costs_a_lane():
    _, _, each, *_ = stored(until_short).costs
    _, _, all_, *_ = stored(all_until_short).costs
    assert all_ == pytest.approx(each, rel=0.5)


@pytest.mark.parametrize(("function", "whole"), [(until_short, False), (until_small, True)])
def test_loops_become_functions_unless_they_multiply_matrices(function, whole):
    lowered = function.lower(tf.ones([8, 3]))
    program, taken = lowered._program, lowered._taken
    executable = program.executable(8, function._options)
    text = executable.compiler_ir(program.arguments(taken), taken.shared, "optimized_hlo")
    entry = text[text.index("ENTRY") :]
    assert ('xla_cpu_small_call="true"' in entry) == whole
    assert (" while(" in entry) != whole


@pytest.mark.parametrize("size", [3, xla.MOST_SAVED_SINGLY + 1])
def test_frames_are_saved_alike_singly_and_together(size):
    x = tf.reshape(tf.linspace(-1.0, 1.0, 2 * size), [size, 2])
    n = tf.range(size) % 4
    expected = spread.options(backend="unbatched")(x[:12], n[:12])
    assert_same(tf.nest.map_structure(lambda leaf: leaf[:12], spread(x, n)), expected)


def test_the_option_is_set_for_what_is_compiled_in_it(monkeypatch):
    monkeypatch.setenv("XLA_FLAGS", "--xla_cpu_prefer_vector_width=256")
    monkeypatch.setattr(xla, "may_set", flags.heed_small_loops())
    option, before = f"{flags.SMALL_LOOP}=", f"{flags.SMALL_LOOP}={flags.DEFAULT}"
    function, args = PROGRAMS["fibonacci"]
    executable = function.lower(*args)._program.executable(len(args[0]), function._options)
    machine, limit = xla.fitted(executable.machine(4, 8), function._options)
    assert machine.saves_singly
    assert limit == xla.LARGEST
    for _ in range(2):
        with xla.whole_loops(limit):
            set_now = os.environ["XLA_FLAGS"]
            assert set_now.count(option) == 1
            assert f"{option}{xla.LARGEST}" in set_now
        set_now = os.environ["XLA_FLAGS"]
        assert set_now.startswith("--xla_cpu_prefer_vector_width=256 --xla_flags_reset=true ")
        assert set_now.count(option) == 1
        assert set_now.endswith(before)


def test_a_process_heeds_it_whose_parent_has_set_it(monkeypatch):
    monkeypatch.setenv("XLA_FLAGS", "--xla_cpu_prefer_vector_width=256")
    assert flags.heed_small_loops()
    inherited = os.environ["XLA_FLAGS"]
    assert flags.heed_small_loops()
    assert os.environ["XLA_FLAGS"] == inherited


@pytest.mark.parametrize("own", [f"--xla_backend_extra_options={flags.SMALL_LOOP}=5000", "/some/file"])
def test_a_users_own_flags_are_left_alone(monkeypatch, own):
    monkeypatch.setenv("XLA_FLAGS", own)
    assert not flags.heed_small_loops()
    assert os.environ["XLA_FLAGS"] == own
