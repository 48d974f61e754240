"""Gradients through a call: each member's own, as the oracle and finite differences have them."""

import numpy as np
import pytest
import tensorflow as tf

import autobatch as ab
from autobatch.errors import ExecutionError, SettingError


@ab.autobatch
def power(x, n):
    if n == 0:
        return tf.ones_like(x)
    half = power(x, n // 2)
    return half * half if n % 2 == 0 else x * half * half


@ab.autobatch
def newton(x, n):
    """The root of x, in as many steps as the member asks for."""
    y = x
    while n > 0:
        y = 0.5 * (y + x / y)
        n = n - 1
    return y


@ab.autobatch
def kinked(x, n):
    if x > 1.0:
        return tf.sin(x) * tf.cast(n, x.dtype)
    return x**3


@ab.autobatch
def norm(x, n):
    total = 0.0
    for k in range(3):
        if k < n:
            total = total + x[k] ** 2
    return tf.sqrt(total + 1.0)


X = tf.constant([0.5, 1.5, 2.0, 3.0], tf.float64)
N = tf.constant([0, 1, 3, 5])
CASES = {f.__name__: (f, X) for f in (power, newton, kinked)}
CASES["norm"] = (norm, tf.reshape(tf.range(12.0, dtype=tf.float64), [4, 3]))


def gradient(call, x):
    with tf.GradientTape() as tape:
        tape.watch(x)
        value = call(x)
    return tape.gradient(value, x)


@pytest.mark.parametrize("options", [{"backend": "local_static"}, {"backend": "local_static", "jit_compile": False}])
@pytest.mark.parametrize("name", CASES)
def test_each_member_has_its_own(name, options):
    function, x = CASES[name]
    found = gradient(lambda x: function.options(**options)(x, N), x)
    assert isinstance(found, tf.Tensor)
    for z, row in enumerate(found):
        one = gradient(lambda x, z=z: function.unbatched(x, N[z]), x[z])
        np.testing.assert_allclose(row, tf.zeros_like(x[z]) if one is None else one, rtol=1e-12)
    step = 1e-6
    for k in range(x.shape[-1] if x.shape.rank > 1 else 1):
        nudge = step * (tf.one_hot(k, x.shape[-1], dtype=x.dtype) if x.shape.rank > 1 else 1.0)
        difference = (function(x + nudge, N) - function(x - nudge, N)) / (2 * step)
        np.testing.assert_allclose(found[:, k] if x.shape.rank > 1 else found, difference, rtol=1e-5, atol=1e-8)


@pytest.mark.parametrize("name", CASES)
def test_the_machine_outside_of_xla(name):
    function, x = CASES[name]
    expected = gradient(lambda x: function.options(backend="local_static")(x, N), x)
    found = gradient(lambda x: function.options(jit_compile=False)(x, N), x)
    np.testing.assert_allclose(tf.convert_to_tensor(found), expected, rtol=1e-12)


@pytest.mark.parametrize("function", [power, newton])
def test_the_machine_refuses_a_tape(function):
    with pytest.raises(ExecutionError, match='backend="local_static"'):
        gradient(lambda x: function(x, N), X)


@pytest.mark.parametrize(
    "call",
    [
        lambda x: power.map(x, N),
        lambda x: power.start(x, N).result(),
        lambda x: power.options(deadline=60.0)(x, N),
        lambda x: power.options(strategy=tf.distribute.OneDeviceStrategy("/cpu:0"))(x, N),
    ],
)
def test_what_a_tape_cannot_follow(call):
    with pytest.raises(SettingError, match="has no gradients"):
        gradient(call, X)


def test_of_shared_arguments():
    @ab.autobatch(in_axes=(0, None), backend="local_static")
    def scaled(n, weight):
        y = weight
        while n > 0:
            y = y * weight
            n = n - 1
        return y

    weight = tf.constant(2.0)
    found = gradient(lambda weight: scaled(tf.constant([0, 1, 2]), weight), weight)
    np.testing.assert_allclose(found, 1.0 + 2 * 2.0 + 3 * 4.0)
