"""NumPy's functions of series and tables: where a value stands among others, counts, interpolation, convolution."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import tensorflow as tf

from autobatch import context, errors
from autobatch.language.numpy_arrays import Array, floating, floatings, numbers, or_nan, quotient, refused, tensor, tnp
from autobatch.language.values import is_tensor


def _raises(kind: type[Exception], passed: Array, message: str) -> None:
    context.check(passed, errors.raised_by_members(kind), message)


# --- where a value stands among others -------------------------------------------------------------


def _search(a: Any, v: Any, side: str = "left") -> Array:
    """Where each value belongs, by halves as NumPy looks for it; ``a`` is in order, nan last."""
    a, v = tensor(a), tensor(v)
    if a.shape.rank != 1:
        raise refused("np.searchsorted looks through one axis.", "take a row, or a column: np.searchsorted(x[0], v).")
    if a.dtype != v.dtype:
        a, v = floatings(a, v) if a.dtype.is_floating or v.dtype.is_floating else map(_wide, (a, v))
    size = a.shape[0]
    low, high = tf.zeros(v.shape, tf.int64), tf.fill(v.shape, tf.constant(size, tf.int64))
    for _ in range(size.bit_length()):
        middle = low + (high - low) // 2
        item = tf.gather(a, tf.minimum(middle, size - 1))
        comes_before = _before(item, v) if side == "left" else ~_before(v, item)
        goes_on = low < high
        low, high = (
            tf.where(goes_on & comes_before, middle + 1, low), tf.where(goes_on & ~comes_before, middle, high)
        )  # fmt: skip
    return low


def _before(x: Array, y: Array) -> Array:
    """Whether ``x`` is sorted before ``y``; nan comes last."""
    return (x < y) | (tf.math.is_nan(y) & ~tf.math.is_nan(x)) if x.dtype.is_floating else x < y


def _wide(x: Array) -> Array:
    return tf.cast(x, tf.int64)


def _digitize(x: Any, bins: Any, right: bool = False) -> Array:
    bins = tensor(bins)
    up, down = tf.reduce_all(bins[1:] >= bins[:-1]), tf.reduce_all(bins[1:] <= bins[:-1])
    _raises(ValueError, up | down, "bins must be monotonically increasing or decreasing")
    side = "left" if right else "right"
    return tf.where(up, _search(bins, x, side), bins.shape[0] - _search(bins[::-1], x, side))


def _is_in(element: Any, test_elements: Any, *, invert: bool = False) -> Array:
    x, among = tensor(element), tf.reshape(tensor(test_elements), [-1])
    if x.dtype != among.dtype:
        x, among = floatings(x, among) if x.dtype.is_floating or among.dtype.is_floating else map(_wide, (x, among))
    found = tf.reduce_any(tf.equal(x[..., tf.newaxis], among), -1)
    return ~found if invert else found


def _interpolate(x: Any, xp: Any, fp: Any, left: Any = None, right: Any = None) -> Array:
    x, xp, fp = (tf.cast(tensor(part), tf.float64) for part in (x, xp, fp))
    last = xp.shape[0] - 1
    at = tf.clip_by_value(_search(xp, x, "right") - 1, 0, max(last - 1, 0))
    x0, x1, y0, y1 = (tf.gather(p, tf.minimum(at + k, last)) for p in (xp, fp) for k in (0, 1))
    slope = quotient(y1 - y0, x1 - x0)
    found = slope * (x - x0) + y0
    found = tf.where(tf.math.is_nan(found), slope * (x - x1) + y1, found)
    found = tf.where(tf.math.is_nan(found) & tf.equal(y0, y1), y0, found)
    found = tf.where(tf.equal(x, xp[-1]), fp[-1], found)
    found = tf.where(x < xp[0], fp[0] if left is None else tf.cast(left, tf.float64), found)
    found = tf.where(x > xp[-1], fp[-1] if right is None else tf.cast(right, tf.float64), found)
    return or_nan(tf.math.is_nan(x), found)


# --- counts ----------------------------------------------------------------------------------------


def _count_each(x: Any, weights: Any = None, minlength: int = 0) -> Array:
    x = tensor(x)
    if x.dtype.is_floating or x.shape.rank != 1:
        raise refused("np.bincount counts the integers of a vector.", "make them integers: x.astype(int).")
    if not minlength or is_tensor(minlength):
        raise refused(
            "np.bincount makes as many counts as the largest number says, which may differ between members.",
            "np.bincount(x, minlength=n), of numbers below n.",
        )
    _raises(ValueError, tf.reduce_all(x >= 0), "'list' argument must have no negative elements")
    message = f"a number is beyond np.bincount's minlength, {minlength}, so there would be more counts"
    context.check(tf.reduce_all(x < minlength), errors.MemberIndexError, message)
    here = tf.equal(tf.range(minlength, dtype=tf.int64)[:, tf.newaxis], tf.cast(x, tf.int64))
    if weights is None:
        return tf.reduce_sum(tf.cast(here, tf.int64), 1)
    return tf.reduce_sum(tf.where(here, tf.cast(tensor(weights), tf.float64), tf.zeros([], tf.float64)), 1)


def _histogram(x: Any, bins: Any = 10, range: Any = None, density: Any = None, weights: Any = None) -> tuple:
    x = tf.reshape(tensor(x), [-1])
    edges = _edges(x, bins, range) if isinstance(bins, int) else tensor(bins)
    if edges.dtype.is_floating or x.dtype.is_floating:
        values, limits = floatings(x, edges)
    else:
        values, limits = _wide(x), _wide(edges)
    _raises(ValueError, tf.reduce_all(limits[1:] >= limits[:-1]), "`bins` must increase monotonically")
    low, high = limits[:-1, tf.newaxis], limits[1:, tf.newaxis]
    is_last = np.arange(limits.shape[0] - 1)[:, np.newaxis] == limits.shape[0] - 2
    here = (values >= low) & ((values < high) | (is_last & tf.equal(values, high)))
    weights = tf.ones(x.shape, tf.int64) if weights is None else tf.reshape(tensor(weights), [-1])
    counts = tf.reduce_sum(tf.where(here, weights, tf.zeros([], weights.dtype)), 1)
    if density:
        counts = tf.cast(counts, tf.float64)
        widths = tf.cast(limits[1:] - limits[:-1], tf.float64)
        counts = quotient(quotient(counts, widths), tf.reduce_sum(counts))
    return counts, edges


def _edges(x: Array, bins: int, range: Any) -> Array:
    x = floating(x)
    low, high = (tf.reduce_min(x), tf.reduce_max(x)) if range is None else (tf.cast(end, x.dtype) for end in range)
    _raises(ValueError, tf.math.is_finite(low) & tf.math.is_finite(high), "autodetected range is not finite")
    half = tf.where(tf.equal(low, high), tf.constant(0.5, x.dtype), tf.zeros([], x.dtype))
    return spaced(low - half, high + half, bins + 1)


# --- along a series --------------------------------------------------------------------------------


def spaced(start: Array, stop: Array, num: int, endpoint: bool = True) -> Array:
    """``num`` values in a new first axis, as NumPy's linspace computes them."""
    steps = max(num - 1 if endpoint else num, 1)
    k = tf.reshape(tf.range(num, dtype=start.dtype), [-1, *[1] * start.shape.rank])
    step = (stop - start) / steps
    found = tf.where(tf.equal(step, 0), k / steps * (stop - start), k * step) + start
    return tf.concat([found[:-1], stop[tf.newaxis]], 0) if endpoint and num > 1 else found


def _convolve(a: Any, v: Any, mode: str = "full") -> Array:
    a, v = _vectors(a, v)
    if a.shape[0] < v.shape[0]:
        a, v = v, a
    return _slid(a, v[::-1], mode)


def _correlate(a: Any, v: Any, mode: str = "valid") -> Array:
    a, v = _vectors(a, v)
    return _slid(v, a, mode)[::-1] if a.shape[0] < v.shape[0] else _slid(a, v, mode)


def _vectors(a: Any, v: Any) -> list[Array]:
    a, v = tensor(a), tensor(v)
    if a.shape.rank > 1 or v.shape.rank > 1:
        raise refused("np.convolve and np.correlate take vectors.", "take one row after the other.")
    a, v = tf.reshape(a, [-1]), tf.reshape(v, [-1])
    return floatings(a, v) if a.dtype.is_floating or v.dtype.is_floating else [_wide(a), _wide(v)]


def _slid(a: Array, v: Array, mode: str) -> Array:
    """Sums of products of the longer vector with the other one beside it, at each place."""
    size, width = a.shape[0], v.shape[0]
    begin, count = {
        "full": (0, size + width - 1), "same": (width - 1 - width // 2, size), "valid": (width - 1, size - width + 1)
    }[mode]  # fmt: skip
    padded = tf.pad(a, [[width - 1, width - 1]])
    return tf.reduce_sum(tf.gather(padded, begin + np.arange(count)[:, np.newaxis] + np.arange(width)) * v, 1)


def _trapezoid(y: Any, x: Any = None, dx: Any = 1.0, axis: int = -1) -> Array:
    y = tnp.moveaxis(floating(y), axis, -1)
    steps = tf.cast(dx, y.dtype) if x is None else tnp.diff(tf.cast(x, y.dtype))
    return tf.reduce_sum(steps * (y[..., 1:] + y[..., :-1]) / 2, -1)


def _gradient(f: Any, *spacing: Any, axis: int | None = None) -> Any:
    f = floating(numbers(f))
    axes = range(f.shape.rank) if axis is None else [axis]
    steps = spacing * len(axes) if len(spacing) == 1 else spacing or (1.0,) * len(axes)
    found = [_slope(f, step, along) for step, along in zip(steps, axes, strict=True)]
    return found[0] if len(found) == 1 else found


def _slope(f: Array, step: Any, axis: int) -> Array:
    f, step = tnp.moveaxis(f, axis, -1), tf.cast(tensor(step), f.dtype)
    if step.shape.rank:
        before, after = tnp.diff(step)[:-1], tnp.diff(step)[1:]
        inner = (
            quotient(-after, before * (before + after)) * f[..., :-2]
            + quotient(after - before, before * after) * f[..., 1:-1]
            + quotient(before, after * (before + after)) * f[..., 2:]
        )
        first, last = step[1] - step[0], step[-1] - step[-2]
    else:
        inner, first, last = quotient(f[..., 2:] - f[..., :-2], 2 * step), step, step
    ends = quotient(f[..., 1:2] - f[..., :1], first), quotient(f[..., -1:] - f[..., -2:-1], last)
    return tnp.moveaxis(tf.concat([ends[0], inner, ends[1]], -1), -1, axis)


def _covariance(m: Any, y: Any = None, rowvar: bool = True, bias: bool = False, ddof: int | None = None) -> Array:
    rows = [_variables(part, rowvar) for part in (m, y) if part is not None]
    x: Any = tf.concat(rows, 0)
    x = x - tf.reduce_mean(x, 1, keepdims=True)
    freedom = max(x.shape[1] - ((0 if bias else 1) if ddof is None else ddof), 0)
    return tf.squeeze(quotient(x @ tf.linalg.matrix_transpose(x), tf.cast(freedom, x.dtype)))


def _variables(x: Any, rowvar: bool) -> Array:
    x = floating(x)
    x = x[tf.newaxis] if x.shape.rank < 2 else x
    return x if rowvar or x.shape[0] == 1 else tf.linalg.matrix_transpose(x)


def _correlation(x: Any, y: Any = None, rowvar: bool = True) -> Array:
    found = _covariance(x, y, rowvar)
    if not found.shape.rank:
        return quotient(found, found)
    deviation = tf.sqrt(tf.linalg.diag_part(found))
    return tf.clip_by_value(quotient(quotient(found, deviation[:, tf.newaxis]), deviation), -1, 1)


SERIES: dict[Callable, Callable] = {
    np.searchsorted: _search, np.digitize: _digitize, np.isin: _is_in, np.interp: _interpolate,
    np.bincount: _count_each, np.histogram: _histogram, np.convolve: _convolve, np.correlate: _correlate,
    np.trapezoid: _trapezoid, np.gradient: _gradient, np.cov: _covariance, np.corrcoef: _correlation,
}  # fmt: skip
