"""Inside a ``tf.function``: in parts, as one XLA program, and what is told of members that fail."""

import numpy as np
import pytest
import tensorflow as tf

import autobatch as ab
from autobatch.backends import in_graph
from tests.backends import assert_same
from tests.programs import PROGRAMS


def traced(function, *args, **how):
    return tf.function(lambda *args: function(*args), autograph=False, **how).get_concrete_function(*args)


def programs(graph):
    """The XLA programs that it runs, or would run if it were none itself."""
    return [op for op in graph.graph.get_operations() if op.type in ("PartitionedCall", "StatefulPartitionedCall")]


@pytest.mark.compiles
@pytest.mark.parametrize("size", [1, 2, 7, 9])
@pytest.mark.parametrize("jit", [False, True])
def test_a_batch_in_parts(size, jit):
    function, _ = PROGRAMS["fibonacci"]
    n = tf.range(size) % 8
    function = function.options(shards=3, max_depth=20)
    graph = traced(function, n, jit_compile=jit)
    assert_same(graph(n), function.options(backend="unbatched")(n))
    assert len(programs(graph)) == (1 if jit else min(3, size)), "XLA would run parts one after the other"


@pytest.mark.compiles
def test_parts_without_xla():
    function, (n,) = PROGRAMS["collatz"]
    function = function.options(shards=2, jit_compile=False)
    assert_same(traced(function, n)(n), function.options(backend="unbatched")(n))


@ab.autobatch(max_depth=4)
def total(n):
    assert n != 3, "three"
    return 0.0 if n == 0 else 1.0 + total(n - 1)


@pytest.mark.compiles
@pytest.mark.parametrize("shards", [1, 2])
def test_members_that_fail_in_any_part(shards):
    function = total.options(shards=shards)
    fine = tf.constant([1, 0, 2, 1, 2])
    assert traced(function, fine)(fine).numpy().tolist() == [1.0, 0.0, 2.0, 1.0, 2.0]
    for bad, words in ((3, "assert n != 3"), (9, "deeper than max_depth=4")):
        n = tf.constant([1, 0, 2, 1, bad])
        with pytest.raises(tf.errors.InvalidArgumentError, match=words):
            traced(function, n)(n)
        poisoned = traced(function, n, jit_compile=True)
        assert np.isnan(poisoned(n)).tolist() == [False] * 4 + [True]
        assert not [op for op in poisoned.graph.get_operations() if op.type == "Assert"], "XLA warns of each"


@pytest.mark.compiles
def test_as_many_parts_as_a_plain_call(monkeypatch):
    function, _ = PROGRAMS["fibonacci"]
    function = function.options(max_depth=21)  # which no other test has compiled
    monkeypatch.setattr(in_graph.shards, "parts", lambda machine, options: 2)
    assert len(programs(traced(function, tf.range(6)))) == 2
    of_any_size = tf.function(lambda n: function(n), [tf.TensorSpec([None], tf.int32)], autograph=False)
    assert len(programs(of_any_size.get_concrete_function())) == 1


@ab.autobatch
def whole(x):
    """Of one member; of a batch, as TensorFlow would call it without us, it is another number."""
    return tf.reduce_sum(x)


@ab.primitive
def largest_of_all(x):
    return tf.fill([tf.shape(x)[0]], tf.reduce_max(x))


def test_as_an_argument_of_a_tf_function():
    x = tf.constant([[1.0, 2.0], [3.0, 4.0]])
    call = tf.function(lambda function, x: function(x), autograph=False)
    np.testing.assert_allclose(call(whole, x), [3.0, 7.0])
    np.testing.assert_allclose(call(whole.options(shards=1), x), [3.0, 7.0])
    before = call.experimental_get_tracing_count()
    call(whole, x)
    assert call.experimental_get_tracing_count() == before
    seen = []
    tf.function(lambda function: seen.append(function), autograph=False)(largest_of_all)
    assert seen == [largest_of_all]
