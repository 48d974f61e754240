"""Random numbers per member: Threefry-2x32, bit-identical to ``jax.random`` with its threefry2x32 generator.

A key is a uint32 tensor of shape [2]; a function of a key is a pure function, so a member's numbers do not depend on
its batch, on the schedule, or on the backend.  Everything is element-wise uint32 code, which vectorizes and which XLA
fuses.

    key = ab.random.key(0)
    key, now = ab.random.split(key)            # unpack the leading axis
    x = ab.random.normal(now, [3])

Sources: Salmon et al. 2011, "Parallel random numbers: as easy as 1, 2, 3" (Threefry); the layout of counters is that of
jax.random with ``jax_threefry_partitionable`` (its default).
"""

from __future__ import annotations

import functools
import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import tensorflow as tf

Shape = Sequence[int] | tf.TensorShape

_ROTATIONS = ((13, 15, 26, 6), (17, 29, 16, 24))
_PARITY = 0x1BD11BDA


def threefry(*words: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor]:
    """Threefry-2x32 of the key's two words and the counter's two, element by element; their shapes broadcast.

    In a graph it is one operation, as its 140 take long to trace and longer to vectorize; outside NumPy computes them,
    as TensorFlow takes longer to start each.
    """
    if tf.executing_eagerly():
        first, second = _in_numpy(*map(np.asarray, words))
        return tf.constant(first), tf.constant(second)
    shape = functools.reduce(tf.broadcast_static_shape, (word.shape for word in words))
    first, second = _threefry_function()(*words)
    first.set_shape(shape)
    second.set_shape(shape)
    return first, second


@functools.cache
def _threefry_function() -> tf.types.experimental.ConcreteFunction:
    """For words of any shape: to trace it takes longer than to run it."""
    with tf.init_scope():
        word = tf.TensorSpec(None, tf.uint32)  # type: ignore[arg-type]
        return tf.function(autobatch_threefry, autograph=False).get_concrete_function(word, word, word, word)


def autobatch_threefry(k0: tf.Tensor, k1: tf.Tensor, x0: tf.Tensor, x1: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor]:
    return _rounds(tf.bitwise, k0, k1, x0, x1)


def _in_numpy(*words: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    first, second = _rounds(np, *map(np.atleast_1d, words))  # scalars would warn of overflow
    shape = np.broadcast_shapes(*(word.shape for word in words))
    return first.reshape(shape), second.reshape(shape)


def _rounds(bitwise: Any, k0: Any, k1: Any, x0: Any, x1: Any) -> tuple[Any, Any]:
    """All twenty, with the bitwise operations of TensorFlow or of NumPy."""

    def rotated_left(x: Any, by: int) -> Any:
        high, low = bitwise.left_shift(x, np.uint32(by)), bitwise.right_shift(x, np.uint32(32 - by))
        return bitwise.bitwise_or(high, low)

    keys = (k0, k1, bitwise.bitwise_xor(bitwise.bitwise_xor(k0, k1), np.uint32(_PARITY)))
    x0, x1 = x0 + k0, x1 + k1
    for group in range(5):
        for rotation in _ROTATIONS[group % 2]:
            x0 = x0 + x1
            x1 = bitwise.bitwise_xor(rotated_left(x1, rotation), x0)
        x0 = x0 + keys[(group + 1) % 3]
        x1 = x1 + keys[(group + 2) % 3] + np.uint32(group + 1)
    return x0, x1


def _words(key: tf.Tensor, shape: Shape) -> tuple[Any, Any]:
    """Two independent uint32 words for each element of ``shape``: NumPy's outside of graphs."""
    sizes = [int(size) for size in shape]  # type: ignore[arg-type]
    count = np.arange(math.prod(sizes), dtype=np.uint64).reshape(sizes)
    high, low = (count >> np.uint64(32)).astype(np.uint32), count.astype(np.uint32)
    key = _key(key)
    if tf.executing_eagerly():
        return _in_numpy(*key.numpy(), high, low)  # type: ignore[attr-defined]
    k0, k1 = tf.unstack(key)
    return threefry(k0, k1, tf.constant(high), tf.constant(low))


def _key(value: Any) -> tf.Tensor:
    key = tf.convert_to_tensor(value)
    if key.dtype != tf.uint32 or key.shape != (2,):
        raise ValueError(f"a random key has dtype uint32 and shape [2]; this is {key.dtype.name}{list(key.shape)}")
    return key


def key(seed: Any) -> tf.Tensor:
    """The key for an integer seed (a Python int, or an integer scalar tensor).  Shape [2], uint32."""
    if isinstance(seed, int):
        return tf.constant([(seed >> 32) & 0xFFFFFFFF, seed & 0xFFFFFFFF], tf.uint32)
    seed = tf.convert_to_tensor(getattr(seed, "tensor", seed))  # a Python int that differs between members has 64 bits
    if seed.dtype.size < 8:
        return tf.stack([tf.zeros([], tf.uint32), tf.cast(seed, tf.uint32)])
    seed = tf.cast(seed, tf.uint64)
    return tf.stack(
        [tf.cast(tf.bitwise.right_shift(seed, tf.constant(32, tf.uint64)), tf.uint32), tf.cast(seed, tf.uint32)]
    )


def split(key: tf.Tensor, num: Any = 2) -> tf.Tensor:
    """``num`` new independent keys, an int or, in a graph, a scalar tensor.  Shape [num, 2]; ``a, b = split(key)``."""
    if tf.is_tensor(num):
        low = tf.cast(tf.range(num), tf.uint32)
        return tf.stack(threefry(*tf.unstack(_key(key)), tf.zeros_like(low), low), axis=1)
    return tf.stack(_words(key, [num]), axis=1)


def fold_in(key: tf.Tensor, data: Any) -> tf.Tensor:
    """A new key for this key and an integer: a counter, an index.  Shape [2]."""
    x = globals()["key"](data)
    return tf.stack(threefry(*tf.unstack(_key(key)), *tf.unstack(x)))


def bits(key: tf.Tensor, shape: Shape = (), dtype: tf.DType = tf.uint32) -> tf.Tensor:
    """Uniform random bits; dtype uint32 or uint64."""
    high, low = _words(key, shape)
    if dtype == tf.uint32:
        return tf.bitwise.bitwise_xor(high, low)
    if dtype == tf.uint64:
        wide = tf.bitwise.left_shift(tf.cast(high, tf.uint64), tf.constant(32, tf.uint64))
        return tf.bitwise.bitwise_or(wide, tf.cast(low, tf.uint64))
    raise ValueError(f"bits come as uint32 or uint64, not {tf.as_dtype(dtype).name}")


def uniform(
    key: tf.Tensor, shape: Shape = (), dtype: tf.DType = tf.float32, minval: Any = 0.0, maxval: Any = 1.0
) -> tf.Tensor:
    """Uniform on [minval, maxval); dtype float32 or float64."""
    dtype = tf.as_dtype(dtype)
    if dtype == tf.float32:
        mantissa = tf.bitwise.right_shift(bits(key, shape), tf.constant(9, tf.uint32))
        unit = tf.cast(mantissa, tf.float32) * np.float32(2.0**-23)
    elif dtype == tf.float64:
        mantissa = tf.bitwise.right_shift(bits(key, shape, tf.uint64), tf.constant(12, tf.uint64))
        unit = tf.cast(mantissa, tf.float64) * 2.0**-52
    else:
        raise ValueError(f"uniform numbers come as float32 or float64, not {dtype.name}")
    low, high = tf.convert_to_tensor(minval, dtype), tf.convert_to_tensor(maxval, dtype)
    return tf.maximum(low, unit * (high - low) + low)


# Giles 2012, "Approximating the erfinv function", single precision: what XLA uses (TensorFlow's own kernel differs).
_ERFINV_CENTRAL = (
    2.81022636e-08, 3.43273939e-07, -3.5233877e-06, -4.39150654e-06, 0.00021858087, -0.00125372503, -0.00417768164,
    0.246640727, 1.50140941,
)  # fmt: skip
_ERFINV_TAIL = (
    -0.000200214257, 0.000100950558, 0.00134934322, -0.00367342844, 0.00573950773, -0.0076224613, 0.00943887047,
    1.00167406, 2.83297682,
)  # fmt: skip


def _erfinv(x: tf.Tensor) -> tf.Tensor:
    if x.dtype == tf.float64:
        return tf.math.erfinv(x)
    w = -tf.math.log1p(x * -x)
    central = w < 5.0
    w = tf.where(central, w - 2.5, tf.sqrt(w) - 3.0)
    p = tf.zeros([])
    for inner, outer in zip(_ERFINV_CENTRAL, _ERFINV_TAIL, strict=True):
        p = tf.where(central, inner, outer) + p * w
    return p * x


def normal(key: tf.Tensor, shape: Shape = (), dtype: tf.DType = tf.float32) -> tf.Tensor:
    """Standard normal; dtype float32 or float64."""
    dtype = tf.as_dtype(dtype)
    number: Any = dtype.as_numpy_dtype
    low = np.nextafter(number(-1.0), number(0.0), dtype=number)
    return number(np.sqrt(2)) * _erfinv(uniform(key, shape, dtype, minval=low, maxval=1.0))


def bernoulli(key: tf.Tensor, p: Any = 0.5, shape: Shape | None = None) -> tf.Tensor:
    """True with probability ``p`` (a float, or a tensor whose shape is the default for ``shape``)."""
    p = tf.convert_to_tensor(p, dtype_hint=tf.float32)
    return uniform(key, p.shape if shape is None else shape, p.dtype) < p


def rademacher(key: tf.Tensor, shape: Shape = (), dtype: tf.DType = tf.int32) -> tf.Tensor:
    """-1 or 1 with equal probability."""
    return tf.cast(2 * tf.cast(bernoulli(key, 0.5, shape), tf.int32) - 1, dtype)


def exponential(key: tf.Tensor, shape: Shape = (), dtype: tf.DType = tf.float32) -> tf.Tensor:
    """Exponential with rate 1."""
    return -tf.math.log1p(-uniform(key, shape, dtype))


def randint(key: tf.Tensor, shape: Shape, minval: Any, maxval: Any, dtype: tf.DType = tf.int32) -> tf.Tensor:
    """Integers on [minval, maxval), uniform up to the rounding of 64 bits; dtype int32."""
    if tf.as_dtype(dtype) != tf.int32:
        raise ValueError("random integers come as int32")
    low, high = tf.convert_to_tensor(minval, tf.int32), tf.convert_to_tensor(maxval, tf.int32)
    first, second = (bits(k, shape) for k in tf.unstack(split(key)))
    span = tf.cast(tf.where(high > low, high - low, 1), tf.uint32)
    multiplier = tf.math.floormod(tf.constant(1 << 16, tf.uint32), span)
    multiplier = tf.math.floormod(multiplier * multiplier, span)
    offset = tf.math.floormod(tf.math.floormod(first, span) * multiplier + tf.math.floormod(second, span), span)
    return low + tf.cast(offset, tf.int32)


def categorical(key: tf.Tensor, logits: tf.Tensor) -> tf.Tensor:
    """An index along the last axis of ``logits`` with probability proportional to exp(logits); int32."""
    logits = tf.convert_to_tensor(logits)
    number: Any = logits.dtype.as_numpy_dtype
    tiny = np.finfo(number).tiny
    gumbel = -tf.math.log(-tf.math.log(uniform(key, logits.shape, logits.dtype, minval=tiny)))
    return tf.argmax(gumbel + logits, axis=-1, output_type=tf.int32)
