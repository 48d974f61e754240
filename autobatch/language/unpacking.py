"""What is unpacked into several targets."""

from __future__ import annotations

from typing import Any

import tensorflow as tf

from autobatch import context, errors
from autobatch.language.indexing import parts_of
from autobatch.language.list_methods import sliced
from autobatch.language.lists import MemberList, item_at
from autobatch.language.looping import rows
from autobatch.language.one_of import OneOf
from autobatch.language.values import WeakScalar


def unpack(value: Any, count: int) -> Any:
    """``value``, ready to be unpacked into ``count`` targets: a tensor's rows, which TensorFlow does not iterate."""
    if isinstance(value, WeakScalar) or (isinstance(value, tf.Tensor) and value.shape.rank == 0):
        raise errors.TypeMismatchError(
            f"A scalar cannot be unpacked into {count} targets.",
            help="for one member this is a scalar: the batch axis is not there.",
            kind="wrong-unpacking",
        )
    value = rows(value) if isinstance(value, OneOf) else value
    if isinstance(value, MemberList):
        failure = f"a list of another length is unpacked into {count} targets"
        context.check(tf.equal(value.length.tensor, count), errors.raised_by_members(ValueError), failure)
        return [item_at(value, k) for k in range(count)]
    if not isinstance(value, tf.Tensor) or not value.shape.rank:
        return value
    if value.shape[0] != count:
        raise errors.TypeMismatchError(
            f"{count} targets, but a tensor of {value.shape[0]} rows.", kind="wrong-unpacking"
        )
    return parts_of(value)


def unpack_rest(value: Any, before: int, after: int) -> tuple:
    """``value``, with a list of what stands between the first and the last items: for ``a, *rest, b = value``."""
    value = rows(value) if isinstance(value, OneOf) else value
    if isinstance(value, MemberList):
        length, least = value.length.tensor, before + after
        failure = f"not enough values to unpack (expected at least {least})"
        context.check(length >= least, errors.raised_by_members(ValueError), failure)
        first = [item_at(value, k) for k in range(before)]
        last = [item_at(value, length - k) for k in range(after, 0, -1)]
        return (*first, sliced(value, slice(before, -after or None)), *last)
    items = [*rows(value)]
    if len(items) < before + after:
        raise ValueError(f"not enough values to unpack (expected at least {before + after}, got {len(items)})")
    end = len(items) - after
    return (*items[:before], items[before:end], *items[end:])
