"""Of what there are derivatives, and which: operations, custom gradients, complex numbers, infinite ones."""

import numpy as np
import pytest
import tensorflow as tf

import autobatch as ab
from autobatch.errors import GradientError
from tests.test_gradients import N, X, gradient, gradients


def test_of_a_variable_that_is_returned_as_it_is():
    weight, pair = tf.Variable(0.75), tf.Variable([1.0, 2.0])

    @ab.autobatch
    def times(x, n):
        y = weight
        while n > 0:
            y, n = y * x, n - 1
        return y, [pair, weight]

    with tf.GradientTape() as tape:
        y, (two, one) = times(tf.constant([1.0, 2.0]), tf.constant([0, 2]))
        total = tf.reduce_sum(y) + 3 * tf.reduce_sum(two) + 5 * tf.reduce_sum(one)
    np.testing.assert_allclose(y, [0.75, 3.0])
    of_weight, of_pair = tape.gradient(total, [weight, pair])
    assert float(of_weight) == 1 + 4 + 10
    assert of_pair.numpy().tolist() == [6.0, 6.0]


def test_custom_gradients_count():
    """Also inside of a user's tf.function."""

    @tf.custom_gradient
    def straight_through(x):
        return tf.round(x), lambda cotangent: cotangent

    @tf.function
    def helper(x):
        return tf.sin(x) * straight_through(3.0 * x)

    @ab.autobatch
    def stepped(x, n):
        while n > 0:
            x = helper(x)
            n = n - 1
        return x

    (found,) = gradients(stepped, (X, N))
    for z in range(4):
        (one,) = gradients(lambda x, z=z: tf.stack([stepped.unbatched(x[0], N[z])]), (X[z : z + 1],))
        np.testing.assert_allclose(found[z] / (1.1 + np.sin(z)), one[0] / 1.1, rtol=1e-9)


def test_no_derivative():
    @ab.autobatch
    def remainder(x, n):
        while n > 0:
            x = tf.truncatemod(x, 1.5) + 1.0  # here
            n = n - 1
        return x

    with pytest.raises(GradientError, match="TruncateMod") as raised:
        gradients(remainder, (X, N))
    assert "# here" in str(raised.value)


def test_of_what_is_sorted():
    @ab.autobatch
    def weighted(xs):
        return sum(k * x for k, x in enumerate(sorted(xs)))

    xs = np.array([[0.5, -1.0, 3.0], [2.0, 1.0, 0.0], [7.0, 8.0, 9.0]])
    np.testing.assert_array_equal(gradient(weighted, tf.constant(xs)), np.argsort(np.argsort(xs)))


@ab.autobatch
def orbit(z, n):
    while n > 0:
        z = z * z + tf.constant(0.1 + 0.2j, tf.complex128)
        if tf.abs(z) > 1.0:
            z = z / tf.cast(tf.abs(z), tf.complex128)
        n = n - 1
    return tf.math.imag(z) * 2.0 + tf.math.real(z), z


@ab.autobatch
def turned(x, n):
    if n < 1:
        return tf.complex(x, 2.0 * x)
    return turned(0.9 * x, n - 1) * tf.complex(x, tf.ones_like(x))


@pytest.mark.parametrize(("function", "x"), [(orbit, tf.complex(X, 1.0 - X)), (turned, X)])
def test_of_complex_numbers(function, x):
    def gradient(call, x, n):
        with tf.GradientTape() as tape:
            tape.watch(x)
            parts = tf.nest.flatten(call(x, n))
            total = sum(tf.reduce_sum(tf.math.real(part)) + 3.0 * tf.reduce_sum(tf.math.imag(part)) for part in parts)
        return tape.gradient(total, x)

    expected = [gradient(function.unbatched, x[k], N[k]) for k in range(len(N))]
    np.testing.assert_allclose(gradient(function, x, N), expected, rtol=1e-12)


@ab.autobatch
def polar(x, y):
    r = tf.sqrt(x * x + y * y)
    if r == 0:
        return x, y
    return r, tf.atan2(y, x)


@ab.autobatch
def guarded(x, y):
    root, below = tf.sqrt(x), 1.0 / y
    z = x * y + 1.0
    if x <= 0:
        root = 0.0 * x
    return z + root + (below if y != 0 else y)


@pytest.mark.parametrize("function", [polar, guarded])
def test_nothing_times_infinity_is_nothing(function):
    """What a member computes where its derivative is infinite, and then does not use."""
    x, y = tf.constant([0.0, 3.0, 0.0, 4.0], tf.float64), tf.constant([0.0, 4.0, 2.0, 0.0], tf.float64)

    def gradients(call, x, y):
        with tf.GradientTape() as tape:
            tape.watch([x, y])
            total = sum(tf.reduce_sum(part) for part in tf.nest.flatten(call(x, y)))
        return tape.gradient(total, [x, y])

    expected = [gradients(function.unbatched, x[k], y[k]) for k in range(4)]
    np.testing.assert_allclose(gradients(function, x, y), np.transpose(expected), rtol=1e-12)
