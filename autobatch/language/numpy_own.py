"""NumPy's functions where TensorFlow's NumPy means something else, or has none: ours, on TensorFlow's operations."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from typing import Any

import numpy as np
import tensorflow as tf

from autobatch.language.numpy_arrays import (
    Array,
    dtype_of,
    floating,
    floatings,
    numbers,
    or_nan,
    quotient,
    refused,
    tensor,
    tnp,
)
from autobatch.language.numpy_matrices import MATRICES
from autobatch.language.numpy_positions import POSITIONS
from autobatch.language.numpy_reductions import MAXIMUM, MINIMUM, REDUCTIONS
from autobatch.language.numpy_series import SERIES, spaced
from autobatch.language.rounding import rounded_by_itself

# --- where a number is none ------------------------------------------------------------------------


def _clip(x: Any, a_min: Any = None, a_max: Any = None, *, min: Any = None, max: Any = None) -> Array:
    low, high = a_min if min is None else min, a_max if max is None else max
    found = tensor(x) if low is None else MAXIMUM(x, low)
    return found if high is None else MINIMUM(found, high)


def _but_nan(of_two: Callable) -> Callable:
    """The larger or smaller of two, nan only if both are."""

    def choose(x: Any, y: Any) -> Array:
        found = of_two(x, y)
        if not found.dtype.is_floating:
            return found
        x, y = tf.cast(x, found.dtype), tf.cast(y, found.dtype)
        return tf.where(tf.math.is_nan(x), y, tf.where(tf.math.is_nan(y), x, found))

    return choose


def _heaviside(x: Any, at_zero: Any) -> Array:
    found = tnp.heaviside(x, at_zero)
    return or_nan(tf.math.is_nan(tf.cast(x, found.dtype)), found)


def _is_close(x: Any, y: Any, rtol: Any = 1e-5, atol: Any = 1e-8, equal_nan: bool = False) -> Array:
    x, y = floating(x), floating(y)
    wider = x.dtype if x.dtype.size > y.dtype.size else y.dtype
    x, y = tnp.broadcast_arrays(tf.cast(x, wider), tf.cast(y, wider))
    near = tf.math.is_finite(x) & tf.math.is_finite(y) & (abs(x - y) <= atol + rtol * abs(y))
    near = near | tf.equal(x, y)
    return near | (tf.math.is_nan(x) & tf.math.is_nan(y)) if equal_nan else near


def _all_close(*args: Any, **options: Any) -> Array:
    return tf.reduce_all(_is_close(*args, **options))


def _of_floats(theirs: Callable) -> Callable:
    """Of which integers are never one."""
    return lambda x: theirs(x) if tensor(x).dtype.is_floating else tf.zeros(tf.shape(x), tf.bool)


def _signbit(x: Any) -> Array:
    x = tensor(x)
    return (x < 0) | (tf.equal(x, 0) & (1 / x < 0)) if x.dtype.is_floating else tnp.signbit(x)


def _angle(x: Any) -> Array:
    x = floating(x)
    return or_nan(tf.math.is_nan(x), tf.where(_signbit(x), tf.constant(math.pi, x.dtype), tf.zeros([], x.dtype)))


def _nan_to_number(x: Any, copy: bool = True, nan: Any = 0.0, posinf: Any = None, neginf: Any = None) -> Array:
    del copy
    x = tensor(x)
    if not x.dtype.is_floating:
        return x
    most = np.finfo(x.dtype.as_numpy_dtype).max
    high, low = (
        tf.cast(end, x.dtype) for end in (most if posinf is None else posinf, -most if neginf is None else neginf)
    )
    found = tf.where(tf.equal(x, math.inf), high, tf.where(tf.equal(x, -math.inf), low, x))
    return tf.where(tf.math.is_nan(x), tf.cast(nan, x.dtype), found)


# --- numbers ---------------------------------------------------------------------------------------


def _rounded(x: Any, decimals: int = 0) -> Array:
    x = tensor(x)
    if not x.dtype.is_floating:
        if decimals >= 0:
            return numbers(x)
        return tf.cast(_rounded(tf.cast(numbers(x), tf.float64), decimals), x.dtype)
    if not decimals:
        return tf.round(x)
    scale = tf.constant(10.0 ** abs(decimals), x.dtype)
    x, divisor = rounded_by_itself(x), rounded_by_itself(scale)  # or compilers join it with what x was made of
    return quotient(tf.round(x * scale), divisor) if decimals > 0 else tf.round(quotient(x, divisor)) * scale


def _linspace(
    start: Any, stop: Any, num: int = 50, endpoint: bool = True, retstep: bool = False, dtype: Any = None, axis: int = 0
) -> Any:
    start, stop = tnp.broadcast_arrays(*floatings(start, stop))
    found = tnp.moveaxis(spaced(start, stop, num, endpoint), 0, axis)
    found = (
        found if dtype is None else tf.cast(tf.floor(found) if dtype_of(dtype).is_integer else found, dtype_of(dtype))
    )
    return (found, (stop - start) / (num - 1 if endpoint else num)) if retstep else found


def _logspace(start: Any, stop: Any, num: int = 50, endpoint: bool = True, base: Any = 10.0) -> Array:
    found = _linspace(start, stop, num, endpoint)
    return tf.cast(base, found.dtype) ** found


def _trunc(x: Any) -> Array:
    x = tensor(x)
    return tf.where(x < 0, tf.math.ceil(x), tf.math.floor(x)) if x.dtype.is_floating else x


def _whole(theirs: Callable) -> Callable:
    """Of floats; integers stay as they are."""
    return lambda x: theirs(x) if tensor(x).dtype.is_floating else tensor(x)


def _fmod(x: Any, y: Any) -> Array:
    if not any(tensor(part).dtype.is_floating for part in (x, y)):
        return tnp.sign(x) * (abs(x) % abs(y))  # which checks for zero
    return tf.truncatemod(*tnp.broadcast_arrays(*floatings(x, y)))


def _copysign(x: Any, y: Any) -> Array:
    x, y = floatings(x, y)
    return tf.where(_signbit(y), -abs(x), abs(x))


def _modf(x: Any) -> tuple[Array, Array]:
    x = floating(x)
    whole = _trunc(x)
    return _copysign(tf.where(tf.math.is_inf(x), tf.zeros([], x.dtype), x - whole), x), whole


def _polynomial(p: Any, x: Any) -> Array:
    x, found = tensor(x), tf.zeros_like(tensor(x))
    for coefficient in tf.unstack(tensor(p)):
        found = found * x + coefficient
    return found


def _sinc(x: Any) -> Array:
    x = floating(x)
    y = math.pi * tf.where(tf.equal(x, 0), tf.constant(1e-20, x.dtype), x)
    return quotient(tf.sin(y), y)


def _meshgrid(*xs: Any, sparse: bool = False, **options: Any) -> Any:
    if sparse:
        raise refused("np.meshgrid with sparse=True is not supported.", "x[:, None] and y[None, :] broadcast.")
    return tnp.meshgrid(*map(tensor, xs), **options)


def _equal_arrays(x: Any, y: Any) -> Any:
    """Whether one broadcasts to the other, and their items are equal."""
    try:
        return tf.reduce_all(tnp.equal(x, y))
    except (ValueError, tf.errors.InvalidArgumentError):
        return False


FUNCTIONS: dict[Callable, Callable] = {
    **REDUCTIONS, **MATRICES, **POSITIONS, **SERIES,
    np.clip: _clip, np.fmax: _but_nan(tnp.maximum), np.fmin: _but_nan(tnp.minimum),
    np.heaviside: _heaviside, np.isclose: _is_close, np.allclose: _all_close, np.signbit: _signbit, np.angle: _angle,
    np.isinf: _of_floats(tnp.isinf), np.isposinf: _of_floats(tnp.isposinf), np.isneginf: _of_floats(tnp.isneginf),
    np.isnan: _of_floats(tnp.isnan), np.isfinite: lambda x: ~_of_floats(lambda y: ~tnp.isfinite(y))(x),
    np.nan_to_num: _nan_to_number, np.array_equiv: _equal_arrays,
    np.floor_divide: operator.floordiv, np.mod: operator.mod, np.remainder: operator.mod, np.divmod: divmod,
    np.power: operator.pow, np.positive: lambda x: tf.identity(numbers(x)), np.left_shift: operator.lshift,
    np.right_shift: operator.rshift, np.invert: operator.invert,
    np.fmod: _fmod, np.trunc: _trunc, np.fix: _trunc, np.floor: _whole(tnp.floor), np.ceil: _whole(tnp.ceil),
    np.rint: lambda x: tf.round(floating(x)), np.round: _rounded, np.around: _rounded, np.copysign: _copysign,
    np.modf: _modf, np.sinc: _sinc, np.polyval: _polynomial, np.meshgrid: _meshgrid,
    np.radians: tnp.deg2rad, np.degrees: tnp.rad2deg, np.linspace: _linspace, np.logspace: _logspace,
}  # fmt: skip
