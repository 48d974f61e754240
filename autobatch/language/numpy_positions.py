"""NumPy's functions that take items by their positions, leave them out or put others between them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import tensorflow as tf

from autobatch import context, errors
from autobatch.language.numpy_arrays import Array, array, dtype_of, inside, refused, tensor, tnp
from autobatch.language.values import per_member


def _take(x: Any, indices: Any, axis: int | None = None, *, mode: str = "raise") -> Array:
    x = tensor(x)
    x, axis = (tf.reshape(x, [-1]), 0) if axis is None else (x, axis)
    size = x.shape[axis]
    if mode == "raise":
        return tf.gather(x, inside(indices, size), axis=axis)
    at = tf.cast(tensor(indices), tf.int64)
    return tf.gather(x, at % size if mode == "wrap" else tf.clip_by_value(at, 0, size - 1), axis=axis)


def _take_along(x: Any, indices: Any, axis: int | None = -1) -> Array:
    x, at = tensor(x), tensor(indices)
    if axis is None:
        x, axis = tf.reshape(x, [-1]), 0
    if at.shape.rank != x.shape.rank:
        raise refused(
            "np.take_along_axis takes an array and positions of as many axes.",
            "give the positions as many: indices[:, None].",
        )
    x, at = tnp.moveaxis(x, axis, -1), tnp.moveaxis(inside(at, x.shape[axis]), axis, -1)
    around = tf.broadcast_static_shape(x.shape[:-1], at.shape[:-1])
    x, at = (tf.broadcast_to(part, [*around, part.shape[-1]]) for part in (x, at))
    rows = tf.reshape(at, [-1, at.shape[-1]])
    first = tf.range(rows.shape[0], dtype=at.dtype)[:, tf.newaxis] * x.shape[-1]
    return tnp.moveaxis(tf.reshape(tf.gather(tf.reshape(x, [-1]), rows + first), at.shape), -1, axis)


def _along(x: Any, axis: int | None) -> tuple[tf.Tensor, int]:
    """The array with that axis first, or flat; and the axis."""
    x = tensor(x)
    return (tf.reshape(x, [-1]), 0) if axis is None else (tnp.moveaxis(x, axis, 0), axis)


def _delete(x: Any, obj: Any, axis: int | None = None) -> Array:
    x, axis = _along(x, axis)
    size = x.shape[0]
    if not any(map(per_member, tf.nest.flatten(obj))):
        kept: Any = np.delete(np.arange(size), obj)
    elif len(tensor(obj).shape):
        raise refused("np.delete of several places that differ between members.", "delete one after the other.")
    else:
        rest = tf.range(size - 1, dtype=tf.int64)
        kept = rest + tf.cast(rest >= inside(obj, size), tf.int64)
    return tnp.moveaxis(tf.gather(x, kept), 0, axis)


def _insert(x: Any, obj: Any, values: Any, axis: int | None = None) -> Array:
    x, axis = _along(x, axis)
    size = x.shape[0]
    if len(tensor(obj).shape):
        raise refused("np.insert at several places is not supported.", "insert at one after the other.")
    at = tf.cast(tensor(obj), tf.int64)
    context.check((at >= -size) & (at <= size), errors.MemberIndexError, f"an index is out of range for size {size}")
    at = tf.where(at < 0, at + size, at)
    new: Any = tf.cast(tensor(values), x.dtype)
    if x.shape.rank > new.shape.rank:
        new = tf.broadcast_to(new, [1, *x.shape[1:]]) if x.shape.rank > 1 else tf.reshape(new, [-1])
    elif x.shape.rank > 1:
        new = tnp.moveaxis(new, axis, 0)
    count = new.shape[0]
    place: Any = tf.range(size + count, dtype=tf.int64) - at
    old = tf.gather(x, tf.clip_by_value(tf.where(place < 0, place, place - count) + at, 0, size - 1))
    is_new = tf.reshape((place >= 0) & (place < count), [-1, *[1] * (x.shape.rank - 1)])
    return tnp.moveaxis(tf.where(is_new, tf.gather(new, tf.clip_by_value(place, 0, count - 1)), old), 0, axis)


def _roll(x: Any, shift: Any, axis: Any = None) -> Array:
    x, shifts = tensor(x), shift if isinstance(shift, tuple | list) else (shift,)
    if axis is None:
        return tf.reshape(_roll(tf.reshape(x, [-1]), shift, 0), x.shape)
    axes = axis if isinstance(axis, tuple | list) else (axis,)
    count = max(len(shifts), len(axes))
    for by, along in zip(shifts * (count // len(shifts)), axes * (count // len(axes)), strict=True):
        x = tf.roll(x, tf.cast(by, tf.int32), axis=along)
    return x


def _column_stack(parts: Sequence[Any]) -> Array:
    parts = [tensor(part) for part in parts]
    return tf.concat([part if part.shape.rank > 1 else tf.reshape(part, [-1, 1]) for part in parts], axis=1)


def _array_split(x: Any, indices_or_sections: Any, axis: int = 0) -> list[Array]:
    x = tensor(x)
    parts = np.array_split(np.arange(x.shape[axis]), indices_or_sections)
    return [tf.gather(x, part, axis=axis) for part in parts]


def _vertical_split(x: Any, *rest: Any) -> Any:
    if len(tensor(x).shape) < 2:
        raise refused("np.vsplit splits arrays of at least two axes.", "np.split splits vectors.")
    return tnp.vsplit(x, *rest)


def _concatenate(parts: Any, axis: int = 0) -> Array:
    return tnp.concatenate(tf.unstack(parts) if per_member(parts) else parts, axis=axis)


def _pad(x: Any, pad_width: Any, mode: Any = "constant", *, constant_values: Any = 0) -> Array:
    x = tensor(x)
    widths = np.broadcast_to(np.asarray(pad_width), (x.shape.rank, 2))
    if mode != "constant":
        places = np.pad(np.arange(x.shape.num_elements()).reshape(x.shape), widths, mode)
        if mode not in ("edge", "reflect", "symmetric", "wrap"):
            raise refused(
                f"np.pad in the mode {mode!r} is not supported.",
                "the modes are constant, edge, reflect, symmetric, wrap.",
            )
        return tf.gather(tf.reshape(x, [-1]), places)
    if np.ndim(constant_values):
        raise refused("np.pad with several constants is not supported.", "pad one side after the other.")
    around = np.pad(np.ones(x.shape, bool), widths)
    return tf.where(around, tf.pad(x, widths), tf.cast(tensor(constant_values), x.dtype))


def _reshape(x: Any, shape: Any, order: str = "C") -> Array:
    x, shape = tensor(x), (shape,) if np.ndim(shape) == 0 else shape
    if order not in ("F", "C"):
        raise refused(f"The order {order!r} is not supported.", "the orders are 'C' and 'F'.")
    if order == "C":
        return tf.reshape(x, shape)
    size = x.shape.num_elements()
    places = np.arange(size).reshape(x.shape).reshape(shape, order="F")
    return tf.gather(tf.reshape(x, [-1]), places)


def _ravel(x: Any, order: str = "C") -> Array:
    return _reshape(x, -1, order)


def _triangle(theirs: Callable, ours: Callable) -> Callable:
    def part(x: Any, k: int = 0) -> Array:
        x = tensor(x)
        return (
            tf.where(ours(np.ones((x.shape[0], x.shape[0]), bool), k), x, tf.zeros_like(x))
            if x.shape.rank == 1
            else theirs(x, k)
        )

    return part


def _full(shape: Any, fill_value: Any, dtype: Any = None) -> Array:
    filling = fill_value if len(tensor(fill_value).shape) else tf.reshape(array([fill_value], dtype), [])
    made = tf.broadcast_to(tensor(filling), (shape,) if np.ndim(shape) == 0 else shape)
    return made if dtype is None else tf.cast(made, dtype_of(dtype))


def _size(x: Any, axis: int | None = None) -> int:
    return int(np.size(np.empty(tensor(x).shape), axis))


POSITIONS: dict[Callable, Callable] = {
    np.array: array, np.asarray: array, np.asanyarray: array, np.ascontiguousarray: array, np.copy: array,
    np.concatenate: _concatenate, np.column_stack: _column_stack,
    np.take: _take, np.take_along_axis: _take_along, np.delete: _delete, np.insert: _insert, np.roll: _roll,
    np.array_split: _array_split, np.vsplit: _vertical_split, np.pad: _pad, np.reshape: _reshape, np.ravel: _ravel,
    np.tril: _triangle(tnp.tril, np.tril), np.triu: _triangle(tnp.triu, np.triu), np.size: _size, np.full: _full,
}  # fmt: skip
