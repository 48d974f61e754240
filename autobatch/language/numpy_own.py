"""NumPy's functions where TensorFlow's NumPy means something else, or has none: ours, on TensorFlow's operations."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from typing import Any

import numpy as np
import tensorflow as tf

from autobatch import errors
from autobatch.language.values import is_tensor

tnp = tf.experimental.numpy


def array(value: Any, dtype: Any = None, copy: Any = None) -> tf.Tensor:
    del copy
    made = tf.identity(value) if is_tensor(value) else tf.convert_to_tensor(_of_one_dtype(value))
    return made if dtype is None else tf.cast(made, dtype_of(dtype))


def _of_one_dtype(items: Any) -> Any:
    """The nested lists, with numbers of the dtype that an array of them has."""
    leaves = tf.nest.flatten(items)
    kinds = [leaf.dtype.as_numpy_dtype if is_tensor(leaf) else leaf for leaf in leaves]
    dtype = tf.as_dtype(np.result_type(*kinds))
    return tf.nest.map_structure(lambda leaf: tf.cast(leaf, dtype), items)


def dtype_of(dtype: Any) -> tf.DType:
    """What NumPy takes for a dtype, which is float64 for ``float``."""
    return dtype if isinstance(dtype, tf.DType) else tf.as_dtype(np.dtype(dtype))


def _tensor(value: Any) -> tf.Tensor:
    return value if is_tensor(value) else array(value)


def _floating(x: Any) -> tf.Tensor:
    x = _tensor(x)
    return x if x.dtype.is_floating else tf.cast(x, tf.float64)


# --- where a number is none ------------------------------------------------------------------------


def _or_nan(is_nan: tf.Tensor, found: tf.Tensor) -> tf.Tensor:
    return tf.where(is_nan, tf.constant(math.nan, found.dtype), found)


def _extreme(theirs: Callable) -> Callable:
    """The largest or smallest, which is nan if there is one; XLA's reductions take others."""

    def of_all(x: Any, axis: Any = None, *, keepdims: bool = False) -> tf.Tensor:
        x = _tensor(x)
        found = theirs(x, axis=axis, keepdims=keepdims)
        return (
            _or_nan(tnp.any(tf.math.is_nan(x), axis=axis, keepdims=keepdims), found) if x.dtype.is_floating else found
        )

    return of_all


def _place(theirs: Callable) -> Callable:
    """The place of the largest or smallest, which is that of the first nan if there is one."""

    def of_all(x: Any, axis: Any = None) -> tf.Tensor:
        x = _tensor(x)
        found = theirs(x, axis=axis)
        if not x.dtype.is_floating:
            return found
        is_nan = tf.math.is_nan(x)
        return tf.where(tnp.any(is_nan, axis=axis), tnp.argmax(tf.cast(is_nan, tf.int32), axis=axis), found)

    return of_all


def _larger(theirs: Callable) -> Callable:
    """The larger or smaller of two, nan if one of them is."""

    def of_two(x: Any, y: Any) -> tf.Tensor:
        found = theirs(x, y)
        if not found.dtype.is_floating:
            return found
        return _or_nan(tf.math.is_nan(tf.cast(x, found.dtype)) | tf.math.is_nan(tf.cast(y, found.dtype)), found)

    return of_two


def _clip(x: Any, a_min: Any = None, a_max: Any = None, *, min: Any = None, max: Any = None) -> tf.Tensor:
    low, high = a_min if min is None else min, a_max if max is None else max
    found = _tensor(x) if low is None else MAXIMUM(x, low)
    return found if high is None else MINIMUM(found, high)


def _peak_to_peak(x: Any, axis: Any = None, *, keepdims: bool = False) -> tf.Tensor:
    return MAX(x, axis, keepdims=keepdims) - MIN(x, axis, keepdims=keepdims)


def _sort(x: Any, axis: int = -1) -> tf.Tensor:
    """Ascending, nan last, which TensorFlow's own sort puts anywhere."""
    x = _tensor(x)
    if not x.dtype.is_floating:
        return tnp.sort(x, axis=axis)
    is_nan = tf.math.is_nan(x)
    found = tf.sort(tf.where(is_nan, tf.constant(math.inf, x.dtype), x), axis=axis)
    behind = tf.cumsum(tf.ones(x.shape, tf.int32), axis=axis, reverse=True)  # items from here on
    return _or_nan(behind <= tf.reduce_sum(tf.cast(is_nan, tf.int32), axis, keepdims=True), found)


def _order(x: Any, axis: int = -1) -> tf.Tensor:
    """What ``_sort`` puts where; those of infinity and nan in one array of more than one axis may take turns."""
    x = _tensor(x)
    if not x.dtype.is_floating:
        return tnp.argsort(x, axis=axis)
    is_nan = tf.math.is_nan(x)
    order = tf.argsort(tf.where(is_nan, tf.constant(math.inf, x.dtype), x), axis=axis, stable=True)
    if x.shape.rank == 1:
        order = tf.gather(order, tf.argsort(tf.cast(tf.gather(is_nan, order), tf.int32), stable=True))
    return tf.cast(order, tf.int64)


def _heaviside(x: Any, at_zero: Any) -> tf.Tensor:
    found = tnp.heaviside(x, at_zero)
    return _or_nan(tf.math.is_nan(tf.cast(x, found.dtype)), found)


def _median(x: Any) -> tf.Tensor:
    values = tf.sort(tf.reshape(_floating(x), [-1]))
    count = values.shape[0]
    middle = (values[(count - 1) // 2] + values[count // 2]) / 2
    return _or_nan(tf.reduce_any(tf.math.is_nan(values)), middle)


def _is_close(x: Any, y: Any, rtol: Any = 1e-5, atol: Any = 1e-8, equal_nan: bool = False) -> tf.Tensor:
    x, y = _floating(x), _floating(y)
    wider = x.dtype if x.dtype.size > y.dtype.size else y.dtype
    x, y = tnp.broadcast_arrays(tf.cast(x, wider), tf.cast(y, wider))
    near = tf.math.is_finite(x) & tf.math.is_finite(y) & (abs(x - y) <= atol + rtol * abs(y))
    near = near | tf.equal(x, y)
    return near | (tf.math.is_nan(x) & tf.math.is_nan(y)) if equal_nan else near


def _all_close(*args: Any, **options: Any) -> tf.Tensor:
    return tf.reduce_all(_is_close(*args, **options))


def _of_floats(theirs: Callable) -> Callable:
    """Of which integers are never one."""
    return lambda x: theirs(x) if _tensor(x).dtype.is_floating else tf.zeros(tf.shape(x), tf.bool)


def _signbit(x: Any) -> tf.Tensor:
    x = _tensor(x)
    return (x < 0) | (tf.equal(x, 0) & (1 / x < 0)) if x.dtype.is_floating else tnp.signbit(x)


def _angle(x: Any) -> tf.Tensor:
    x = _floating(x)
    return _or_nan(tf.math.is_nan(x), tf.where(_signbit(x), tf.constant(math.pi, x.dtype), tf.zeros([], x.dtype)))


# --- matrices --------------------------------------------------------------------------------------


def _norm(x: Any, ord: Any = None, axis: Any = None, keepdims: bool = False) -> tf.Tensor:
    x = _floating(x)
    if ord is None or x.shape.rank != 2 or axis is not None or keepdims:
        return tf.norm(x, ord="euclidean" if ord is None else ord, axis=axis, keepdims=keepdims)
    if ord in (1, -1, math.inf, -math.inf):
        sums = tf.reduce_sum(abs(x), 0 if abs(ord) == 1 else 1)
        return MAX(sums) if ord > 0 else MIN(sums)
    if ord == "fro":
        return tf.norm(x)
    raise errors.TypeMismatchError(
        f"The norm of matrices of order {ord!r} is not supported.",
        help="the orders are None, 'fro', 1, -1, inf and -inf; others are those of tf.linalg.svd(x)[0].",
        kind="numpy-of-member",
    )


def _solve(a: tf.Tensor, b: tf.Tensor) -> tf.Tensor:
    return tf.linalg.solve(a, b) if b.shape.rank > 1 else tf.linalg.solve(a, b[:, tf.newaxis])[:, 0]


def _determinant(x: Any) -> tf.Tensor:
    """By elimination with the largest pivot, as XLA has none of its own."""
    x = _floating(x)
    if x.shape.rank != 2 or x.shape[0] != x.shape[1]:  # several, or none that has one
        return tf.linalg.det(x)
    found = tf.ones([], x.dtype)
    while x.shape[0]:
        at = tf.argmax(abs(x[:, 0]))
        row, first = tf.gather(x, at), x[0]
        pivot = row[0]
        others = tf.where((tf.range(x.shape[0]) == tf.cast(at, tf.int32))[:, tf.newaxis], first, x)[1:]
        found = found * tf.where(tf.equal(at, 0), pivot, -pivot)
        share = others[:, :1] / tf.where(tf.equal(pivot, 0), tf.ones_like(pivot), pivot)
        x = (others - share * row)[:, 1:]
    return found


def _concatenate(parts: Any, axis: int = 0) -> tf.Tensor:
    return tnp.concatenate(tf.unstack(parts) if is_tensor(parts) else parts, axis=axis)


# --- numbers ---------------------------------------------------------------------------------------


def _rounded(x: tf.Tensor, decimals: int = 0) -> tf.Tensor:
    scale = tf.constant(10.0**decimals, x.dtype) if x.dtype.is_floating else tf.constant(1, x.dtype)
    return tf.round(x * scale) / scale if x.dtype.is_floating else x


def _linspace(start: Any, stop: Any, *args: Any, **options: Any) -> tf.Tensor:
    return tnp.linspace(_floating(start), _floating(stop), *args, **options)


def _trapezoid(y: Any, x: Any = None, dx: Any = 1.0) -> tf.Tensor:
    y = _floating(y)
    steps = tf.cast(dx, y.dtype) if x is None else tnp.diff(tf.cast(x, y.dtype))
    return tf.reduce_sum(steps * (y[..., 1:] + y[..., :-1]) / 2, -1)


def _trunc(x: Any) -> tf.Tensor:
    return tf.where(x < 0, tf.math.ceil(x), tf.math.floor(x)) if x.dtype.is_floating else x


def _fmod(x: Any, y: Any) -> tf.Tensor:
    if not any(is_tensor(part) and part.dtype.is_floating for part in (x, y)):
        return tnp.sign(x) * (abs(x) % abs(y))  # which checks for zero
    return tf.truncatemod(*tnp.broadcast_arrays(*(_floating(part) for part in (x, y))))


MAX, MIN = _extreme(tnp.max), _extreme(tnp.min)
MAXIMUM, MINIMUM = _larger(tnp.maximum), _larger(tnp.minimum)

FUNCTIONS: dict[Callable, Callable] = {
    np.array: array, np.asarray: array, np.copy: array, np.concatenate: _concatenate,
    np.max: MAX, np.amax: MAX, np.min: MIN, np.amin: MIN, np.maximum: MAXIMUM, np.minimum: MINIMUM, np.clip: _clip,
    np.argmax: _place(tnp.argmax), np.argmin: _place(tnp.argmin), np.ptp: _peak_to_peak, np.median: _median,
    np.sort: _sort, np.argsort: _order,
    np.heaviside: _heaviside, np.isclose: _is_close, np.allclose: _all_close, np.signbit: _signbit, np.angle: _angle,
    np.isinf: _of_floats(tnp.isinf), np.isposinf: _of_floats(tnp.isposinf), np.isneginf: _of_floats(tnp.isneginf),
    np.floor_divide: operator.floordiv, np.mod: operator.mod, np.remainder: operator.mod, np.divmod: divmod,
    np.power: operator.pow, np.fmod: _fmod, np.trunc: _trunc, np.round: _rounded, np.around: _rounded,
    np.radians: tnp.deg2rad, np.degrees: tnp.rad2deg, np.linspace: _linspace, np.trapezoid: _trapezoid,
    np.linalg.norm: _norm, np.linalg.solve: _solve, np.linalg.inv: tf.linalg.inv, np.linalg.det: _determinant,
    np.linalg.cholesky: tf.linalg.cholesky, np.linalg.eigvalsh: tf.linalg.eigvalsh,
}  # fmt: skip
