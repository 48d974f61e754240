"""A text's letters and parts, at places that differ between members."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import tensorflow as tf

from autobatch import errors
from autobatch.language.one_of import OneOf, at
from autobatch.language.values import WeakScalar, as_weak, is_tensor


def letter(text: str, position: Callable[[], tf.Tensor]) -> OneOf:
    """The letter at a position among its own."""
    if not text:
        raise IndexError("string index out of range")
    return at([*text], position())


def part(text: Any, index: slice) -> OneOf:
    """``text[index]``, one of all the parts that it has."""
    if index.step not in (None, 1):
        raise errors.TypeMismatchError("A text is sliced by steps.", help="loop over range(n).", kind="text-steps")
    size = len(text)
    start, stop = _bound(index.start, 0, size), _bound(index.stop, size, size)
    return at([text[i:j] for i in range(size + 1) for j in range(size + 1)], start * (size + 1) + stop)


def _bound(bound: Any, default: int, size: int) -> tf.Tensor:
    """Where a slice begins or ends, from 0 to the size."""
    bound = as_weak(bound) if is_tensor(bound) else bound
    place = (
        bound.tensor if isinstance(bound, WeakScalar) else tf.constant(default if bound is None else bound, tf.int64)
    )
    return tf.clip_by_value(tf.where(place < 0, place + size, place), 0, size)
