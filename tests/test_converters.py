"""Matrix products and random words of a batch, against a loop over its members."""

import itertools

import numpy as np
import pytest
import tensorflow as tf

from autobatch import random
from autobatch.tracing.converters import our_converters

Z = 7
CASES = [
    (m, k, n, batched, turned)
    for (m, k, n), batched, turned in itertools.product(
        [(3, 4, 1), (1, 4, 1), (3, 1, 2), (3, 4, 2), (1, 1, 1), (1, 4, 2), (3, 0, 1)],
        [(False, True), (True, False), (True, True)],
        itertools.product([False, True], repeat=2),
    )
]


@pytest.mark.parametrize(("m", "k", "n", "batched", "turned"), CASES)
def test_products_and_their_gradients(m, k, n, batched, turned):
    rng = np.random.default_rng(0)
    shapes = [(k, m) if turned[0] else (m, k), (n, k) if turned[1] else (k, n)]
    a, b = (
        tf.constant(rng.normal(size=(Z, *shape) if each else shape), tf.float32)
        for shape, each in zip(shapes, batched, strict=True)
    )

    def member(i):
        x, y = (tf.gather(value, i) if each else value for value, each in zip((a, b), batched, strict=True))
        with tf.GradientTape() as tape:
            tape.watch([x, y])
            product = tf.matmul(x, y, transpose_a=turned[0], transpose_b=turned[1])
            total = tf.reduce_sum(product**2)
        return product, tape.gradient(total, [x, y])

    with our_converters():
        found = tf.vectorized_map(member, tf.range(Z), fallback_to_while_loop=False)
    expected = tf.nest.map_structure(lambda *leaves: np.stack(leaves), *(member(i) for i in range(Z)))
    for f, e in zip(tf.nest.flatten(found), tf.nest.flatten(expected), strict=True):
        np.testing.assert_allclose(f, e, rtol=1e-5, atol=1e-5)


def test_tensorflow_keeps_its_own():
    from tensorflow.python.ops.parallel_for import pfor

    theirs = pfor._pfor_converter_registry["MatMul"]
    with our_converters():
        assert pfor._pfor_converter_registry["MatMul"] is not theirs
    assert pfor._pfor_converter_registry["MatMul"] is theirs


@pytest.mark.parametrize("shape", [(), (3,), (2, 3)])
@pytest.mark.parametrize(("own_key", "own_data"), [(True, True), (True, False), (False, True), (False, False)])
def test_random_words(own_key, own_data, shape):
    keys, data = random.split(random.key(0), Z), tf.range(Z)

    def member(i):
        key = random.fold_in(keys[0] if not own_key else tf.gather(keys, i), tf.gather(data, i) if own_data else 5)
        return random.bits(key, shape)

    with our_converters():
        found = tf.vectorized_map(member, tf.range(Z), fallback_to_while_loop=False)
    np.testing.assert_array_equal(found, [member(i) for i in range(Z)])


@pytest.mark.parametrize(
    ("shift", "axis"), [(1, -1), (1, 0), (-5, 1), ([1, 2], [0, -1]), ("own", -1), ("own", 0), ("both", [0, -1])]
)
def test_rolled(shift, axis):
    """A negative axis was the batch's, or the one before, and rows of other members came in."""
    values, own = tf.reshape(tf.range(Z * 6.0), [Z, 2, 3]), tf.range(Z) - 3

    def member(i):
        of_member = {"own": tf.gather(own, i), "both": tf.stack([tf.gather(own, i), 1])}
        by = of_member[shift] if isinstance(shift, str) else shift
        return tf.roll(tf.gather(values, i), by, axis)

    with our_converters():
        found = tf.vectorized_map(member, tf.range(Z), fallback_to_while_loop=False)
    np.testing.assert_array_equal(found, [member(i) for i in range(Z)])


@pytest.mark.parametrize("function", [
    lambda x: tf.linalg.svd(x, compute_uv=False), lambda x: tf.linalg.svd(x)[0], tf.linalg.matrix_rank, tf.linalg.pinv,
    lambda x: tf.abs(tf.linalg.qr(x)[1]), lambda x: tf.math.nextafter(x, 9 * x),
])  # fmt: skip
def test_over_first_axes(function):
    values = tf.constant(np.random.default_rng(0).normal(size=(Z, 2, 3)))

    def member(i):
        return function(tf.gather(values, i))

    with our_converters():
        found = tf.vectorized_map(member, tf.range(Z), fallback_to_while_loop=False)
    np.testing.assert_allclose(found, np.stack([member(i) for i in range(Z)]), rtol=1e-10)
