"""NumPy's advanced indexing, by lists and arrays: what is taken so is a copy, and no view."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import tensorflow as tf

from autobatch import errors
from autobatch.language.numpy_arrays import inside
from autobatch.language.values import WeakScalar, is_tensor, narrowed, per_member


def is_advanced(index: Any) -> bool:
    return any(isinstance(part, list) or _is_array(part) for part in _parts(index))


def _parts(index: Any) -> Sequence[Any]:
    return index if isinstance(index, tuple) else (index,)


def _is_array(part: Any) -> bool:
    return isinstance(part, np.ndarray | tf.Tensor) and len(part.shape) > 0


def picked(value: Any, index: Any) -> tf.Tensor:
    """``value[index]``"""
    at, axes = _positions(value.shape, index)
    return tf.gather(tf.reshape(value, [math.prod(value.shape[:axes].as_list()), *value.shape[axes:]]), at)


def replaced(value: Any, index: Any, item: tf.Tensor) -> tf.Tensor:
    """``value`` after ``value[index] = item``, of one dtype; of several items for one place, the last one counts."""
    if is_tensor(index) and index.dtype.is_bool and per_member(index):
        return _masked(value, index, item)
    at, axes = _positions(value.shape, index)
    count, rest = math.prod(value.shape[:axes].as_list()), value.shape[axes:]
    items = tf.reshape(_broadcast(item, [*at.shape, *rest]), [-1, *rest])
    rows = tf.reshape(value, [count, *rest])
    is_written, last = _last_writes(at, count)
    chosen = tf.where(tf.reshape(is_written, [count, *[1] * len(rest)]), tf.gather(items, last), rows)
    return tf.reshape(chosen, value.shape)


def _last_writes(at: Any, count: int) -> tuple[Any, Any]:
    """Of each place, whether something is written there, and which item is the last."""
    if isinstance(at, np.ndarray):
        last = np.full(count, -1)
        for k, place in enumerate(at.reshape(-1)):
            last[place] = k
        return last >= 0, np.maximum(last, 0)
    writes: Any = tf.equal(tf.range(count, dtype=at.dtype)[:, tf.newaxis], tf.reshape(at, [1, -1]))
    behind = tf.argmax(tf.reverse(writes, [1]), axis=1, output_type=tf.int32)
    return tf.reduce_any(writes, axis=1), writes.shape[1] - 1 - behind


def _masked(value: Any, mask: tf.Tensor, item: tf.Tensor) -> tf.Tensor:
    rank = mask.shape.rank
    if value.shape[:rank] != mask.shape:
        raise errors.TypeMismatchError(
            f"A mask of shape {list(mask.shape)} is put on an array of shape {list(value.shape)}.",
            help="masks have the array's own shape, or that of its first axes.",
            kind="no-such-items",
        )
    if item.shape.rank > value.shape.rank - rank:
        raise errors.TypeMismatchError(
            "As many items are put into the array as the mask says, which differs between members.",
            help="choose for each place: x = np.where(mask, y, x).",
            kind="mask-of-member",
        )
    mask = tf.reshape(mask, [*mask.shape, *[1] * (value.shape.rank - rank)])
    return tf.where(mask, _broadcast(item, value.shape), value)


def _broadcast(item: tf.Tensor, shape: Any) -> tf.Tensor:
    while item.shape.rank > len(shape) and item.shape[0] == 1:  # as NumPy does
        item = item[0]
    if tf.broadcast_static_shape(item.shape, tf.TensorShape(shape)) != shape:
        raise errors.TypeMismatchError(
            f"Items of shape {list(item.shape)} are put where the shape is {list(shape)}.", kind="item-shape"
        )
    return tf.broadcast_to(item, shape)


def _positions(shape: Any, index: Any) -> tuple[Any, int]:
    """Which of the places on so many first axes are meant, the axes taken as one."""
    if not any(map(per_member, tf.nest.flatten(index))):
        known = tf.nest.map_structure(lambda part: np.asarray(part) if is_tensor(part) else part, index)
        try:
            return np.arange(math.prod(shape.as_list()), dtype=np.int32).reshape(shape)[known], len(shape)
        except IndexError as error:
            raise errors.TypeMismatchError(
                f"The array has no such items: {error}.", help=f"its shape is {list(shape)}.", kind="no-such-items"
            ) from error
    parts = _parts(index)
    if any(is_tensor(part) and part.dtype.is_bool for part in parts):
        raise errors.TypeMismatchError(
            "A mask takes as many items as it says, so members' arrays would differ in length.",
            help="choose for each place (np.where(x > 1, x, 0)), count (np.sum(x > 1)), or collect items in a list.",
            kind="mask-of-member",
        )
    at: Any = tf.zeros([], tf.int64)
    for part, size in zip(parts, shape, strict=False):
        at = at * size + inside(_integers(part), size)
    return at, len(parts)


def _integers(part: Any) -> tf.Tensor:
    if isinstance(part, list) and tf.nest.flatten(part):
        numbers = [n.tensor if isinstance(n, WeakScalar) else tf.convert_to_tensor(n) for n in tf.nest.flatten(part)]
        if all(n.dtype.is_integer for n in numbers):
            shape = np.shape(tf.nest.map_structure(lambda _: 0, part))
            return tf.reshape(tf.stack([narrowed(n, tf.int64) for n in numbers]), shape)
    elif is_tensor(part) or isinstance(part, np.ndarray | int | WeakScalar):
        found = part.tensor if isinstance(part, WeakScalar) else tf.convert_to_tensor(part)
        if found.dtype.is_integer:
            return narrowed(found, tf.int64)
    raise errors.TypeMismatchError(
        "Beside arrays of each member's own, an index has only integers and arrays of them.",
        help="take slices first, or last: x[:, 1:][rows].",
        kind="index-type",
    )
