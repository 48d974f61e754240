"""Lists in order: by their items, or by keys that stand beside them."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import tensorflow as tf

from autobatch import context, errors
from autobatch.language.item_columns import compared_columns
from autobatch.language.list_methods import as_member_list, gathered
from autobatch.language.lists import MemberList, item_at, not_compared, padded
from autobatch.language.looping import rows
from autobatch.language.rounding import check_exact
from autobatch.language.values import WIDE_DTYPES, WeakScalar, is_tensor, narrowed, per_member, python_kind, weak


def sorted_by(values: Any, keys: Any, reverse: Any = False) -> Any:
    """``sorted(values, key=...)``, of a list, with the key of each item."""
    count = len(values) if isinstance(values, list) else None
    if count is not None and not any(map(per_member, tf.nest.flatten(keys))):
        order = sorted(range(count), key=keys.__getitem__, reverse=reverse)
        return [values[i] for i in order]
    if per_member(reverse):
        raise errors.TypeMismatchError(
            "Members differ in whether a list is sorted in reverse.",
            help="write `if reverse:` and sort in each branch.",
            kind="sorted-by-key",
        )
    ordered = _ordered(as_member_list(values), as_member_list(keys), bool(reverse))
    return ordered if count is None else [item_at(ordered, i) for i in range(count)]


def sorted_numbers(items: list, reverse: bool) -> list:
    """``sorted(items)``, of members' numbers; beside floats, ints become such."""
    kind = float if float in map(python_kind, items) else int
    own = [item.dtype for item in items if is_tensor(item) and python_kind(item) is kind]
    dtype = max(own, key=lambda dtype: dtype.size, default=WIDE_DTYPES[kind])
    column = tf.stack([_in(dtype, item) for item in items])
    ordered = tf.unstack(tf.sort(column, direction="DESCENDING" if reverse else "ASCENDING"))
    return ordered if own else [WeakScalar(each, kind) for each in ordered]


def distinct(values: Any) -> Any:
    """``set(values)``, of which nobody sees the order: of members' items, a list of each once."""
    items = rows(values)
    items = items if isinstance(items, MemberList) else list(items)
    if not isinstance(items, MemberList) and not any(map(per_member, tf.nest.flatten(items))):
        return [*dict.fromkeys(items)]
    items = as_member_list(items)
    ordered = _ordered(items, items, reverse=False)
    if not ordered.columns:
        return ordered
    repeats = [column[1:] == column[:-1] for column in ordered.columns]
    again = tf.concat([[False], functools.reduce(tf.logical_and, repeats)], 0)
    new = ordered.own & ~again
    order = tf.argsort(tf.cast(~new, tf.int32), stable=True)
    return gathered(ordered, order, tf.reduce_sum(tf.cast(new, tf.int64)))


def _in(dtype: tf.DType, value: Any) -> tf.Tensor:
    tensor = value if is_tensor(value) else (value if isinstance(value, WeakScalar) else weak(value)).tensor
    check_exact(tensor, dtype)
    return narrowed(tensor, dtype)


def _ordered(values: MemberList, keys: MemberList, reverse: bool) -> MemberList:
    capacity = max(values.capacity, keys.capacity)
    values, keys = padded(values, capacity), padded(keys, capacity)
    order = tf.range(capacity)
    for column in reversed(compared_columns(keys, "lt")):  # by the last part of the key first: sorts are stable
        order = tf.gather(order, tf.argsort(tf.gather(_ranked(column, reverse), order), stable=True))
    is_padding = tf.cast(~values.own, tf.int32)
    order = tf.gather(order, tf.argsort(tf.gather(is_padding, order), stable=True))
    return gathered(values, order, values.length.tensor)


def _ranked(column: tf.Tensor, reverse: bool) -> tf.Tensor:
    """Numbers in the order in which their items are to come."""
    if column.shape.rank != 1:
        raise not_compared()
    ranked = tf.cast(column, tf.int64) if column.dtype.is_bool else column
    return ranked if not reverse else -ranked if ranked.dtype.is_floating else tf.bitwise.invert(ranked)


def _first(largest: bool) -> Callable:
    def first(values: Any, keys: Any) -> Any:
        name = "max" if largest else "min"
        ordered = sorted_by(values, keys, reverse=largest)  # of those that are equal, the first stays so
        if isinstance(ordered, list):
            if not ordered:
                raise ValueError(f"{name}() iterable argument is empty")
            return ordered[0]
        failure = f"{name}() iterable argument is empty"
        context.check(ordered.length.tensor > 0, errors.raised_by_members(ValueError), failure)
        return item_at(ordered, 0)

    return first


min_by, max_by = _first(largest=False), _first(largest=True)
