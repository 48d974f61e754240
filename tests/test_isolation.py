"""What happens to one member changes nothing, not a bit, for another."""

import numpy as np
import pytest
import tensorflow as tf
from hypothesis import given, settings
from hypothesis import strategies as st

import autobatch as ab
from autobatch.errors import DeadlineError, MemberError, StepLimitError
from tests.fuzz.control import accepted, arguments, programs
from tests.fuzz.test_fuzz import fixed

BACKENDS = [{}, {"jit_compile": False}, {"backend": "local_static"}]


@ab.autobatch
def troubled(kind, x, n):
    """What ``kind`` says happens to the member."""
    total = x
    for _ in range(n):
        if kind == 1:
            total = total / (total - total)  # nan, inf
        if kind == 2:
            assert total < 0.0, "failed"
        if kind == 3:
            total = total + tf.cast(n // (n - n), tf.float32)  # division by zero
        if kind == 4:
            while kind == 4:  # for ever
                total = total + 1.0
        total = tf.sin(total) + deeper(kind, total, 3)
    return total


@ab.autobatch
def deeper(kind, x, n):
    if kind == 5:
        return 1.0 + deeper(kind, x, n + 1)  # without end
    if n == 0:
        return x
    return 0.5 * deeper(kind, tf.cos(x), n - 1)


def results(function, *args):
    """Of all members, those that failed included, and which these are."""
    try:
        return tf.nest.map_structure(np.asarray, function(*args)), ()
    except MemberError as error:
        return tf.nest.map_structure(np.asarray, error.results), error.members


@pytest.mark.parametrize("options", BACKENDS, ids=str)
@settings(fixed, max_examples=15)
@given(kinds=st.lists(st.sampled_from([0, 0, 1, 2, 3, 5]), min_size=6, max_size=6))
def test_poison(options, kinds):
    size = len(kinds)
    x, n = tf.linspace(0.1, 1.0, size), tf.range(size) % 4 + 1
    function = troubled.options(max_depth=30, **options)
    healthy, failed = results(function, tf.zeros_like(kinds), x, n)
    assert not failed
    if 5 in kinds and options.get("backend") == "local_static":
        return  # recursion there is Python's own: all end together
    found, failed = results(function, tf.constant(kinds), x, n)
    unharmed = np.equal(kinds, 0)
    np.testing.assert_array_equal(found[unharmed], healthy[unharmed])
    assert not set(failed) & set(np.flatnonzero(unharmed))
    expected = {k for k, kind in enumerate(kinds) if kind in (2, 3, 5)}
    assert set(failed) <= expected and bool(failed) == bool(expected)


def test_an_endless_loop():
    kinds, x, n = tf.constant([0, 4, 0]), tf.constant([0.1, 0.2, 0.3]), tf.constant([1, 2, 3])
    expected = troubled(tf.zeros(3, tf.int32), x, n).numpy()
    with pytest.raises(StepLimitError) as caught:
        troubled.options(max_steps=10_000)(kinds, x, n)
    assert caught.value.members == (1,)
    np.testing.assert_array_equal(caught.value.results.numpy()[[0, 2]], expected[[0, 2]])
    with pytest.raises(DeadlineError) as late:
        troubled.options(deadline=2.0)(kinds, x, n)
    assert late.value.members == (1,)
    np.testing.assert_array_equal(late.value.results.numpy()[[0, 2]], expected[[0, 2]])
    run = troubled.start(kinds, x, n).advance(10_000)
    members, found = run.partial_result()
    np.testing.assert_array_equal(members, [0, 2])
    np.testing.assert_array_equal(found, expected[[0, 2]])


@settings(fixed, max_examples=10)
@given(text=programs(), values=arguments, poison=st.integers(0, 2), at=st.integers(0, 100))
def test_random_programs(text, values, poison, at):
    function = accepted(text, values).options(jit_compile=False)
    z = at % len(values[0])
    bad = [np.array(value) for value in values]
    for value in bad:
        if value.dtype.kind == "f":
            value[z] = [np.nan, np.inf, -1e30][poison]
    found, failed = results(function, *bad)
    expected, failed_before = results(function, *values)
    others = [k for k in range(len(values[0])) if k != z and k not in (*failed, *failed_before)]
    assert_rows_same(found, expected, others)


def assert_rows_same(found, expected, rows):
    for one, other in zip(tf.nest.flatten(found), tf.nest.flatten(expected), strict=True):
        np.testing.assert_array_equal(one[rows], other[rows])
