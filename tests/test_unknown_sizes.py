"""Inside a ``tf.function`` that learns the batch size when it is called; plain calls are the oracle."""

import numpy as np
import pytest
import tensorflow as tf

import autobatch as ab
from autobatch.errors import BatchShapeError, SettingError
from tests.backends import assert_same

MATRIX = tf.constant(np.random.default_rng(0).normal(size=(3, 3)) / 2, tf.float32)


@ab.autobatch(max_depth=10)
def grown(x, n, key):
    """Recursion, random numbers, a product, items that are written, a check."""
    if n == 0:
        return x
    assert n < 8, "too deep"
    x = tf.linalg.matvec(MATRIX, x) + ab.random.uniform(ab.random.fold_in(key, n), [3])
    x[n % 3] = x[n % 3] + 1.0
    return grown(x, n - 1, key) + grown(x * 0.5, n // 2, key)


@ab.primitive(size="all")
def centred(x):
    return x - tf.reduce_mean(x, 0)


@ab.autobatch
def centred_until_small(x):
    while x * x > 1.0:
        x = centred(x) * 0.5
    return x


@ab.autobatch
def add(x, y):
    return x + y


@ab.autobatch
def weighed(x):
    return x[0] + 2.0 * x[1]


@ab.autobatch
def double(x):
    return x * 2.0


def arguments(size):
    keys = ab.random.split(ab.random.key(0), max(size, 1))[:size]
    return tf.reshape(tf.range(3.0 * size), [size, 3]) % 5.0, tf.range(size) % 6, keys


@pytest.mark.compiles
@pytest.mark.parametrize("jit", [False, True])
def test_one_trace_serves_all_sizes(jit):
    traces = []

    def run(*args):
        traces.append(args)
        return grown(*args)

    specs = [tf.TensorSpec([None, 3]), tf.TensorSpec([None], tf.int32), tf.TensorSpec([None, 2], tf.uint32)]
    graph = tf.function(run, specs, autograph=False, jit_compile=jit)
    for size in (5, 1, 0, 70):
        assert_same(graph(*arguments(size)), grown(*arguments(size)))
    assert len(traces) == 1
    assert graph.get_concrete_function().structured_outputs.shape.as_list() == [None, 3]


@pytest.mark.compiles
@pytest.mark.parametrize("jit", [False, True])
def test_sizes_that_disagree_fail(jit):
    specs = [tf.TensorSpec([None]), tf.TensorSpec([None])]
    graph = tf.function(lambda x, y: add(x, y), specs, autograph=False, jit_compile=jit)
    assert graph(tf.ones([2]), tf.ones([2])).numpy().tolist() == [2.0, 2.0]
    with pytest.raises(tf.errors.InvalidArgumentError):
        graph(tf.ones([1]), tf.ones([4]))
    beside = tf.function(lambda x: add(x, tf.ones([3])), specs[:1], autograph=False, jit_compile=jit)
    assert beside(tf.ones([3])).shape == (3,)
    with pytest.raises((tf.errors.InvalidArgumentError, ValueError)):
        beside(tf.ones([1]))


@pytest.mark.compiles
def test_a_failed_member_is_poison_and_the_others_are_not():
    specs = [tf.TensorSpec([None, 3]), tf.TensorSpec([None], tf.int32), tf.TensorSpec([None, 2], tf.uint32)]
    graph = tf.function(lambda *args: grown(*args), specs, autograph=False, jit_compile=True)
    x, _, keys = arguments(3)
    found = graph(x, tf.constant([2, 9, 0]), keys).numpy()
    assert np.isnan(found).any(axis=1).tolist() == [False, True, False]


@pytest.mark.compiles
def test_another_batch_axis():
    graph = tf.function(lambda x: weighed.options(in_axes=1)(x), [tf.TensorSpec([2, None])], autograph=False)
    assert graph(tf.constant([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])).numpy().tolist() == [9.0, 12.0, 15.0]


@pytest.mark.compiles
@pytest.mark.parametrize("jit", [False, True])
def test_a_primitive_of_the_whole_batch(jit):
    x = tf.constant([9.0, -3.0, 0.25, 40.0, -7.0])
    graph = tf.function(lambda x: centred_until_small(x), [tf.TensorSpec([None])], autograph=False, jit_compile=jit)
    assert_same(graph(x), centred_until_small(x))


def test_a_primitive_of_the_whole_batch_gets_no_part_of_it():
    x = tf.constant([9.0, -3.0, 0.25, 40.0])
    with pytest.raises(SettingError, match="whole batch, which shards=2 cuts"):
        centred_until_small.options(shards=2)(x)
    with pytest.raises(SettingError, match="knows members by their lane"):
        centred_until_small.map(x, lanes=2)


def test_what_must_be_known():
    def traced(function, *shape):
        tf.function(function, [tf.TensorSpec(*shape)], autograph=False).get_concrete_function()

    with pytest.raises(BatchShapeError, match="more than the batch size is unknown"):
        traced(lambda x: double(x), [2, None])
    with pytest.raises(BatchShapeError, match="more than the batch size is unknown"):
        traced(lambda x: double(x), None)
    with pytest.raises(BatchShapeError, match="batch size is not known"):
        traced(lambda x: double.options(backend="local_static")(x), [None])
    with pytest.raises(BatchShapeError, match="batch size is not known"):
        traced(lambda x: double.lower(x), [None])
    with pytest.raises(SettingError, match="outside of tf.function"):
        traced(lambda x: double.map(x), [None])
