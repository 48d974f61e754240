"""NumPy's reductions and ranks: with nan, masks, first values, and degrees of freedom."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from typing import Any

import numpy as np
import tensorflow as tf

from autobatch import context, errors
from autobatch.language.numpy_arrays import (
    Array,
    array,
    dtype_of,
    floating,
    numbers,
    or_nan,
    quotient,
    refused,
    tensor,
    tnp,
)


def _reduction(theirs: Callable, neutral: float, join: Callable | None = None) -> Callable:
    """``theirs`` with ``where`` and ``initial``.

    neutral: what changes no result, its sign if it is infinite; join: of a result and the first value, None where NumPy
    has no ``initial``.
    """

    def reduce(x: Any, axis: Any = None, *rest: Any, where: Any = None, initial: Any = None, **options: Any) -> Any:
        x = tensor(x)
        if where is not None:
            x = tf.where(where, x, tf.constant(_number(neutral, x.dtype)))
        found = theirs(x, axis, *rest, **options)
        return found if initial is None else join(found, initial)  # type: ignore[misc]

    return reduce


def _number(value: Any, dtype: tf.DType) -> Any:
    """In the dtype, of which integers have a least and a greatest for the infinite."""
    if dtype.is_bool:
        return value > 0
    if math.isinf(value) and not dtype.is_floating:
        return dtype.as_numpy_dtype(dtype.max if value > 0 else dtype.min)
    return dtype.as_numpy_dtype(value)


def _extreme(theirs: Callable) -> Callable:
    """The largest or smallest, which is nan if there is one; XLA's reductions take others."""

    def of_all(x: Any, axis: Any = None, *, keepdims: bool = False) -> Array:
        x = tensor(x)
        found = theirs(x, axis=axis, keepdims=keepdims)
        return or_nan(tnp.any(tf.math.is_nan(x), axis=axis, keepdims=keepdims), found) if x.dtype.is_floating else found

    return of_all


def _counted(x: Array, axis: Any, where: Any, keepdims: bool) -> Any:
    """How many items each result is made of."""
    if where is None:
        return tf.size(x) if axis is None else math.prod(x.shape[k] for k in (axis if np.ndim(axis) else [axis]))
    return tnp.sum(tf.cast(tf.broadcast_to(where, x.shape), x.dtype), axis=axis, keepdims=keepdims)


def _mean(x: Any, axis: Any = None, dtype: Any = None, *, keepdims: bool = False, where: Any = None) -> Array:
    x = tensor(x)
    if where is None:
        return tnp.mean(x, axis=axis, dtype=dtype, keepdims=keepdims)
    x = floating(x) if dtype is None else tf.cast(x, dtype_of(dtype))
    return quotient(SUM(x, axis, where=where, keepdims=keepdims), _counted(x, axis, where, keepdims))


def _variance(
    x: Any, axis: Any = None, dtype: Any = None, *, ddof: Any = 0, keepdims: bool = False, where: Any = None,
    correction: Any = None,
) -> Array:  # fmt: skip
    x = floating(x) if dtype is None else tf.cast(x, dtype_of(dtype))
    count = tf.cast(_counted(x, axis, where, keepdims), x.dtype)
    away = tf.square(x - _mean(x, axis, keepdims=True, where=where))
    freedom = tf.maximum(count - tf.cast(ddof if correction is None else correction, x.dtype), tf.zeros([], x.dtype))
    return quotient(SUM(away, axis, where=where, keepdims=keepdims), freedom)


def _deviation(*args: Any, **options: Any) -> Array:
    return tf.sqrt(_variance(*args, **options))


def _running(theirs: Callable) -> Callable:
    """A running sum or product, of truth values as numbers."""

    def of_all(x: Any, axis: int | None = None, dtype: Any = None) -> Array:
        x = tensor(x)
        return theirs(tf.cast(x, tf.int64) if x.dtype.is_bool else x, axis=axis, dtype=dtype)

    return of_all


def _place(theirs: Callable) -> Callable:
    """The place of the largest or smallest, which is that of the first nan if there is one."""

    def of_all(x: Any, axis: Any = None, *, keepdims: bool = False) -> Array:
        x = tensor(x)
        found = theirs(x, axis=axis)
        if x.dtype.is_floating:
            is_nan = tf.math.is_nan(x)
            found = tf.where(tnp.any(is_nan, axis=axis), tnp.argmax(tf.cast(is_nan, tf.int32), axis=axis), found)
        if not keepdims:
            return found
        return tf.reshape(found, [1] * x.shape.rank) if axis is None else tf.expand_dims(found, axis)

    return of_all


def _peak_to_peak(x: Any, axis: Any = None, *, keepdims: bool = False) -> Array:
    x = numbers(x)
    return MAX(x, axis, keepdims=keepdims) - MIN(x, axis, keepdims=keepdims)


def _average(x: Any, axis: Any = None, weights: Any = None, returned: bool = False, *, keepdims: bool = False) -> Any:
    x = floating(x)
    weights = tf.ones_like(x) if weights is None else tf.cast(tensor(weights), x.dtype)
    if weights.shape != x.shape:
        if axis is None or weights.shape.rank != 1 or weights.shape[0] != x.shape[axis]:
            raise TypeError("Axis must be specified when shapes of a and weights differ.")
        weights = tf.reshape(weights, [-1 if k == axis % x.shape.rank else 1 for k in range(x.shape.rank)])
        weights = tf.broadcast_to(weights, x.shape)
    whole = tnp.sum(weights, axis=axis, keepdims=keepdims)
    error = errors.raised_by_members(ZeroDivisionError)
    context.check(tf.reduce_all(whole != 0), error, "Weights sum to zero, can't be normalized")
    found = quotient(tnp.sum(x * weights, axis=axis, keepdims=keepdims), whole)
    return (found, whole) if returned else found


# --- but for nan -----------------------------------------------------------------------------------


def _but_nan(of_all: Callable) -> Callable:
    """The function of the items that are numbers."""

    def of_numbers(x: Any, *args: Any, **options: Any) -> Array:
        x = tensor(x)
        return (
            of_all(x, *args, where=~tf.math.is_nan(x), **options)
            if x.dtype.is_floating
            else of_all(x, *args, **options)
        )

    return of_numbers


def _extreme_but_nan(of_all: Callable, least: float) -> Callable:
    """nan only of nothing else."""

    def of_numbers(x: Any, axis: Any = None, *, keepdims: bool = False) -> Array:
        x = tensor(x)
        if not x.dtype.is_floating:
            return of_all(x, axis, keepdims=keepdims)
        is_nan = tf.math.is_nan(x)
        found = of_all(tf.where(is_nan, tf.constant(least, x.dtype), x), axis, keepdims=keepdims)
        return or_nan(tnp.all(is_nan, axis=axis, keepdims=keepdims), found)

    return of_numbers


# --- ranks -----------------------------------------------------------------------------------------


def _sort(x: Any, axis: int | None = -1, kind: Any = None, *, stable: Any = None) -> Array:
    """Ascending, nan last, which TensorFlow's own sort puts anywhere."""
    del kind, stable  # equal items are alike
    x, axis = (tf.reshape(tensor(x), [-1]), -1) if axis is None else (tensor(x), axis)
    if x.dtype.is_bool:
        return tf.cast(tf.sort(tf.cast(x, tf.int32), axis=axis), tf.bool)
    if not x.dtype.is_floating:
        return tf.sort(x, axis=axis)
    is_nan = tf.math.is_nan(x)
    found = tf.sort(tf.where(is_nan, tf.constant(math.inf, x.dtype), x), axis=axis)
    behind = tf.cumsum(tf.ones(x.shape, tf.int32), axis=axis, reverse=True)  # items from here on
    return or_nan(behind <= tf.reduce_sum(tf.cast(is_nan, tf.int32), axis, keepdims=True), found)


def _order(x: Any, axis: int | None = -1, kind: Any = None, *, stable: Any = None) -> Array:
    """What ``_sort`` puts where; those of infinity and nan in one array of more than one axis may take turns."""
    del kind, stable  # it always is
    x, axis = (tf.reshape(tensor(x), [-1]), -1) if axis is None else (tensor(x), axis)
    x = tf.cast(x, tf.int32) if x.dtype.is_bool else x
    if not x.dtype.is_floating:
        return tf.cast(tf.argsort(x, axis=axis, stable=True), tf.int64)
    x = tf.where(tf.equal(x, 0), tf.zeros([], x.dtype), x)  # XLA puts -0.0 before 0.0
    is_nan = tf.math.is_nan(x)
    order = tf.argsort(tf.where(is_nan, tf.constant(math.inf, x.dtype), x), axis=axis, stable=True)
    if x.shape.rank == 1:
        order = tf.gather(order, tf.argsort(tf.cast(tf.gather(is_nan, order), tf.int32), stable=True))
    return tf.cast(order, tf.int64)


def _in_order(x: Any, axis: int | None) -> tuple[Array, Array]:
    """Floats whose last axis is that one, or of all, in ascending order; and where one is nan."""
    x = floating(x)
    x = tf.reshape(x, [-1]) if axis is None else tnp.moveaxis(x, axis, -1)
    return _sort(x), tf.reduce_any(tf.math.is_nan(x), -1)


def _kept(found: Array, x: Any, axis: int | None, keepdims: bool) -> Array:
    """With the axis that was reduced, of one; ``found`` may have more axes before the others."""
    if not keepdims:
        return found
    rank = len(tensor(x).shape)
    if axis is None:
        return tf.reshape(found, [*found.shape, *[1] * rank])
    return tf.expand_dims(found, axis % rank - rank)


def _median(x: Any, axis: int | None = None, *, keepdims: bool = False) -> Array:
    values, is_nan = _in_order(x, axis)
    count = values.shape[-1]
    middle = (values[..., (count - 1) // 2] + values[..., count // 2]) / 2
    return _kept(or_nan(is_nan, middle), x, axis, keepdims)


_RANKS: dict[str, Callable[[Array], tf.Tensor]] = {"lower": tf.floor, "higher": tf.math.ceil, "nearest": tf.round}


def _quantile(
    x: Any, q: Any, axis: int | None = None, *, method: str = "linear", keepdims: bool = False, out_of: Any = 1
) -> Array:
    values, is_nan = _in_order(numbers(x), axis)
    q = tf.cast(array(q), tf.float64) / out_of
    error = errors.raised_by_members(ValueError)
    context.check(tf.reduce_all((q >= 0) & (q <= 1)), error, f"quantiles must be in the range [0, {out_of}]")
    last = values.shape[-1] - 1
    rank = tf.clip_by_value(q, 0, 1) * last
    if method in _RANKS:
        found = tf.gather(values, tf.cast(_RANKS[method](rank), tf.int32), axis=-1)
    elif method in ("linear", "midpoint"):
        at = tf.cast(tf.floor(rank), tf.int32)
        share = tf.cast(rank - tf.floor(rank), values.dtype)
        if method == "midpoint":
            share = tf.where(share > 0, tf.constant(0.5, share.dtype), share)
        below, above = tf.gather(values, at, axis=-1), tf.gather(values, tf.minimum(at + 1, last), axis=-1)
        step = above - below
        found = tf.where(share >= 0.5, above - step * (1 - share), below + step * share)
    else:
        methods = ["linear", "midpoint", *_RANKS]
        raise refused(f"Quantiles by the method {method!r} are not supported.", f"the methods are {methods}.")
    found = or_nan(is_nan[..., tf.newaxis] if q.shape.rank else is_nan, found)
    if q.shape.rank:
        found = tnp.moveaxis(found, -1, 0)
    return _kept(found, x, axis, keepdims)


def _percentile(x: Any, q: Any, axis: int | None = None, **options: Any) -> Array:
    return _quantile(x, q, axis, out_of=100, **options)


def _larger(theirs: Callable) -> Callable:
    """The larger or smaller of two, nan if one of them is."""

    def of_two(x: Any, y: Any) -> Array:
        found = theirs(x, y)
        if not found.dtype.is_floating:
            return found
        return or_nan(tf.math.is_nan(tf.cast(x, found.dtype)) | tf.math.is_nan(tf.cast(y, found.dtype)), found)

    return of_two


MAXIMUM, MINIMUM = _larger(tnp.maximum), _larger(tnp.minimum)
SUM = _reduction(tnp.sum, 0, operator.add)
PRODUCT = _reduction(tnp.prod, 1, operator.mul)
MAX = _reduction(_extreme(tnp.max), -math.inf, MAXIMUM)
MIN = _reduction(_extreme(tnp.min), math.inf, MINIMUM)
ANY, ALL = _reduction(tnp.any, 0), _reduction(tnp.all, 1)

REDUCTIONS: dict[Callable, Callable] = {
    np.sum: SUM, np.prod: PRODUCT, np.max: MAX, np.amax: MAX, np.min: MIN, np.amin: MIN, np.any: ANY, np.all: ALL,
    np.mean: _mean, np.var: _variance, np.std: _deviation, np.average: _average, np.ptp: _peak_to_peak,
    np.cumsum: _running(tnp.cumsum), np.cumprod: _running(tnp.cumprod),
    np.argmax: _place(tnp.argmax), np.argmin: _place(tnp.argmin), np.maximum: MAXIMUM, np.minimum: MINIMUM,
    np.nansum: _but_nan(SUM), np.nanprod: _but_nan(PRODUCT), np.nanmean: _but_nan(_mean),
    np.nanvar: _but_nan(_variance), np.nanstd: _but_nan(_deviation),
    np.nanmax: _extreme_but_nan(MAX, -math.inf), np.nanmin: _extreme_but_nan(MIN, math.inf),
    np.sort: _sort, np.argsort: _order, np.median: _median, np.quantile: _quantile, np.percentile: _percentile,
}  # fmt: skip
