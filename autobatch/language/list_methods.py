"""What changes a list in place: ``xs.append(v)`` has become ``xs = append(xs, v)``.

A list that Python's code of the same straight line has made is changed in place, and stays the object that it is.  One
from before a branch, a loop or a call is left as it is, and the result is another: the passes see to its other names.
"""

from __future__ import annotations

import copy
import dataclasses
from collections.abc import Iterable
from typing import Any

import numpy as np
import tensorflow as tf

from autobatch import context, errors
from autobatch.language.augmented import in_place
from autobatch.language.item_columns import matches
from autobatch.language.lists import (
    MemberList,
    alike,
    capacity_for,
    copied_into,
    derived,
    is_list,
    item_at,
    number,
    of_items,
    padded,
    single,
)
from autobatch.language.structs import Rows
from autobatch.language.values import WeakScalar, is_tensor, per_member, weak


def owned(values: Any) -> Any:
    """A list or dict, to be changed in place; another if it has crossed a branch, a loop or a call, or is a choice."""
    return copy.copy(values) if context.has_crossed(values) or context.is_choice(values) else values


def _of(value: MemberList, columns: Iterable[tf.Tensor], length: Any) -> MemberList:
    return derived(dataclasses.replace(value, columns=tuple(columns), length=number(length)), value)


def gathered(value: MemberList, positions: tf.Tensor, length: Any) -> MemberList:
    """A list of the items at these positions, [capacity], of which ``length`` count."""
    at = tf.clip_by_value(tf.cast(positions, tf.int32), 0, value.capacity - 1)
    return _of(value, (tf.gather(column, at) for column in value.columns), length)


def with_room(value: MemberList, length: tf.Tensor) -> None:
    """Has the member fail whose list would have more items than there is room for."""
    failure = f"a list has more than {value.capacity} items"
    context.check(length <= value.capacity, errors.ListFullError, failure)


def of_rows(rows: Rows) -> MemberList:
    """The rows of a ragged argument, which are numbers, as a list."""
    values = MemberList(None, (rows.padded,), number(rows.length))
    return padded(values, capacity_for(rows.padded.shape[0]))


def as_member_list(values: Any) -> MemberList:
    copied_into(values)
    return values if isinstance(values, MemberList) else of_items(list(values))


def append(values: Any, item: Any) -> Any:
    """``values`` after ``values.append(item)``"""
    if not is_list(values):
        values.append(item)
        return values
    if isinstance(values, list):
        if item is values:
            raise errors.UnsupportedSyntaxError(
                "A list is put into itself.", help="append a copy of it: list(xs).", kind="list-in-itself"
            )
        values = owned(values)
        values.append(item)
        return values
    values, one = _with_item(values, item)
    return derived(write(values, *_appended(values, one)), item)


def place_of_append(values: MemberList, item: Any) -> tuple[tf.Tensor, tuple]:
    """What ``values.append(item)`` writes: where, [1], and the item's columns there with the list's new length."""
    return _appended(*_with_item(values, item))


def _appended(values: MemberList, one: MemberList) -> tuple[tf.Tensor, tuple]:
    at, length = values.length.tensor, values.length.tensor + 1
    with_room(values, length)
    return _writing(values, one, at, length)


def _with_item(values: MemberList, item: Any) -> tuple[MemberList, MemberList]:
    """The list, and one of the item alone, with items of one type."""
    context.put(item)
    typed, one = alike(values, single(item))
    return (typed if values.columns else padded(typed, capacity_for(1))), one


def place_of_item(values: MemberList, index: Any, item: Any) -> tuple[tf.Tensor, tuple]:
    """What ``values[index] = item`` writes, likewise."""
    values, one = _with_item(values, item)
    return _replaced(values, one, index)


def _replaced(values: MemberList, one: MemberList, index: Any) -> tuple[tf.Tensor, tuple]:
    return _writing(values, one, position(values, index), values.length.tensor)


def _writing(values: MemberList, one: MemberList, at: tf.Tensor, length: tf.Tensor) -> tuple[tf.Tensor, tuple]:
    where = tf.cast(tf.clip_by_value(at, 0, values.capacity - 1), tf.int32)
    return tf.expand_dims(where, 0), (*(tf.squeeze(column, 0) for column in one.columns), number(length))


def write(values: MemberList, where: tf.Tensor, what: tuple) -> MemberList:
    """The list with an item's columns put at a place (see ``place_of_append``)."""
    *parts, length = what
    pairs = zip(values.columns, parts, strict=True)
    place = tf.expand_dims(where, 0)
    columns = (tf.tensor_scatter_nd_update(column, place, tf.expand_dims(part, 0)) for column, part in pairs)
    return _of(values, columns, length.tensor)


def extend(values: Any, more: Any) -> Any:
    """``values`` after ``values.extend(more)``, or ``values += more``"""
    if not is_list(values):
        values.extend(more)
        return values
    if isinstance(values, list) and not isinstance(more, MemberList):
        values = owned(values)
        values.extend(tf.unstack(more) if is_tensor(more) else more)
        return values
    return joined(values, more)


def augment(values: Any, more: Any) -> Any:
    """``values`` after ``values += more``, which changes a list"""
    is_array = is_tensor(more) or isinstance(more, np.ndarray)
    if not is_list(values):
        return in_place(values, values + more)
    return values + more if is_array else extend(values, more)  # NumPy's arrays add themselves to a list


def joined(left: Any, right: Any) -> Any:
    """``left + right``, of which one at least is a list of a member's own length."""
    if not isinstance(right, MemberList):
        right = tf.unstack(right) if is_tensor(right) else list(right)
    for one, other in ((left, right), (right, left)):
        if isinstance(one, list) and not one:
            return copied(other) if isinstance(other, MemberList) else list(other)
    a, b = alike(as_member_list(left), as_member_list(right))
    length = a.length.tensor + b.length.tensor
    a = padded(a, max(a.capacity, b.capacity))
    with_room(a, length)
    positions = tf.range(a.capacity, dtype=tf.int64)
    of_b = tf.cast(tf.clip_by_value(positions - a.length.tensor, 0, b.capacity - 1), tf.int32)
    columns = []
    for x, y in zip(a.columns, b.columns, strict=True):
        mine = tf.reshape(a.own, [-1] + [1] * (x.shape.rank - 1))
        columns.append(tf.where(mine, x, tf.gather(y, of_b)))
    return derived(_of(a, columns, length), b)


def pop(values: Any, *where: Any) -> tuple[Any, Any]:
    """``values`` after ``item = values.pop(index)``, and the item"""
    if not is_list(values):
        item = values.pop(*where)
        return values, item
    if isinstance(values, list) and not any(map(per_member, where)):
        values = owned(values)
        return values, values.pop(*where)
    if isinstance(values, list) and not values:
        raise IndexError("pop from empty list")
    values = as_member_list(values)
    length = values.length.tensor
    context.check(length > 0, errors.raised_by_members(IndexError), "pop from empty list")
    if not where or (isinstance(where[0], int) and where[0] == -1):
        shorter = tf.maximum(length - 1, 0)
        return _of(values, values.columns, shorter), item_at(values, shorter)
    at = position(values, where[0], "pop index out of range")
    return _without(values, at), item_at(values, at)


def _without(values: MemberList, at: tf.Tensor) -> MemberList:
    positions = tf.range(values.capacity, dtype=tf.int64)
    return gathered(values, positions + tf.cast(positions >= at, tf.int64), tf.maximum(values.length.tensor - 1, 0))


def position(values: MemberList, index: Any, failure: str = "list index out of range") -> tf.Tensor:
    """An index as a position, [] int64; negative ones count from the end."""
    at = _integer(index)
    length = values.length.tensor
    inside = (at >= -length) & (at < length)
    context.check(inside, errors.MemberIndexError, failure)
    return tf.where(inside, tf.where(at < 0, at + length, at), 0)


def _integer(index: Any) -> tf.Tensor:
    index = index.tensor if isinstance(index, WeakScalar) else index
    tensor = tf.convert_to_tensor(index) if is_tensor(index) else weak(index).tensor
    tensor = tf.cast(tensor, tf.int64) if tensor.dtype.is_bool else tensor
    if tensor.shape.rank != 0 or not tensor.dtype.is_integer:
        raise TypeError(f"list indices must be integers or slices, not {tensor.dtype.name}{list(tensor.shape)}")
    return tf.cast(tensor, tf.int64)


def delete(values: Any, index: Any) -> Any:
    """``values`` after ``del values[index]``"""
    if isinstance(values, list) and not per_member(index):
        values = owned(values)
    if isinstance(index, slice) and isinstance(values, MemberList):
        raise errors.TypeMismatchError(
            "A slice of a list is deleted whose length differs between members.",
            help="make another list: xs[:a] + xs[b:].",
            kind="list-slice-assigned",
        )
    if not is_list(values) or not (isinstance(values, MemberList) or per_member(index)):
        del values[index]
        return values
    return pop(values, index)[0]


def insert(values: Any, index: Any, item: Any) -> Any:
    """``values`` after ``values.insert(index, item)``"""
    if isinstance(values, list) and not per_member(index):
        values = owned(values)
        values.insert(index, item)
        return values
    if not is_list(values):
        values.insert(index, item)
        return values
    if isinstance(values, list) and not values:
        return [item]
    values, one = _with_item(as_member_list(values), item)
    length, at = values.length.tensor, _integer(index)
    at = tf.clip_by_value(tf.where(at < 0, at + length, at), 0, length)
    with_room(values, length + 1)
    positions = tf.range(values.capacity, dtype=tf.int64)
    moved = gathered(values, positions - tf.cast(positions > at, tf.int64), length + 1)
    return derived(write(moved, *_writing(moved, one, at, length + 1)), item)


def setitem(values: Any, index: Any, item: Any) -> Any:
    """``values`` after ``values[index] = item``"""
    if isinstance(index, slice):
        if isinstance(values, list) and not isinstance(item, MemberList):
            values = owned(values)
            values[index] = item
            return values
        if index == slice(None):
            return item if isinstance(item, MemberList) else list(item)
        raise errors.TypeMismatchError(
            "A slice of a list is assigned whose length differs between members.",
            help="assign the items one by one in a loop.",
            kind="list-slice-assigned",
        )
    if isinstance(values, list) and not per_member(index):
        values = owned(values)
        values[index] = item
        return values
    if isinstance(values, list) and not values:
        raise IndexError("list assignment index out of range")
    values = as_member_list(values)
    values, one = _with_item(values, item)
    return derived(write(values, *_replaced(values, one, index)), item)


def clear(values: Any) -> Any:
    """``values`` after ``values.clear()``"""
    if isinstance(values, MemberList):
        return _of(values, values.columns, 0)
    values = owned(values) if isinstance(values, list) else values
    values.clear()
    return values


def reverse(values: Any) -> Any:
    """``values`` after ``values.reverse()``"""
    if isinstance(values, MemberList):
        return reversed_(values)
    values = owned(values) if isinstance(values, list) else values
    values.reverse()
    return values


def reversed_(values: MemberList) -> MemberList:
    length = values.length.tensor
    return gathered(values, length - 1 - tf.range(values.capacity, dtype=tf.int64), length)


def rotate(values: Any, count: Any) -> Any:
    """``values``, a deque, after ``values.rotate(count)``"""
    if isinstance(values, list) and not (values and per_member(count)):
        values, at = owned(values), -count % max(len(values), 1)
        values[:] = values[at:] + values[:at]
        return values
    values = as_member_list(values)
    length = values.length.tensor
    positions = tf.range(values.capacity, dtype=tf.int64) - _integer(count)
    return gathered(values, tf.math.floormod(positions, tf.maximum(length, 1)), length)


def remove(values: Any, item: Any) -> Any:
    """``values`` after ``values.remove(item)``"""
    if not is_list(values) or (isinstance(values, list) and not any(map(per_member, [item, *values]))):
        values = owned(values) if isinstance(values, list) else values
        values.remove(item)
        return values
    if isinstance(values, list) and not values:
        raise ValueError("list.remove(x): x not in list")
    values = as_member_list(values)
    found = matches(values, item)
    context.check(tf.reduce_any(found), errors.raised_by_members(ValueError), "list.remove(x): x not in list")
    return _without(values, tf.argmax(found))


def sliced(values: Any, index: slice) -> MemberList:
    """``values[start:stop:step]``, with bounds that may differ between members."""
    values = as_member_list(values)
    length = values.length.tensor
    step = 1 if index.step is None else index.step
    if per_member(step) or step == 0:
        raise errors.TypeMismatchError(
            "The step of this slice differs between members, or is zero.", help="write a loop.", kind="slice-bounds"
        )
    low, high = (0, length) if step > 0 else (tf.constant(-1, tf.int64), length - 1)
    first, last = (low, high) if step > 0 else (high, low)
    start = first if index.start is None else bounded(index.start, length, low, high)
    stop = last if index.stop is None else bounded(index.stop, length, low, high)
    count = tf.maximum((stop - start + (step - (1 if step > 0 else -1))) // step, 0)
    return gathered(values, start + step * tf.range(values.capacity, dtype=tf.int64), count)


def bounded(bound: Any, length: tf.Tensor, low: Any, high: Any) -> tf.Tensor:
    at = _integer(bound)
    return tf.clip_by_value(tf.where(at < 0, at + length, at), low, high)


def repeated(values: Any, times: Any) -> Any:
    """``values * times``, for times that differ between members."""
    if isinstance(values, list) and not values:
        return []
    whole = as_member_list(values)
    if tf.nest.is_nested(whole.kinds) or any(column.shape.rank > 1 for column in whole.columns):
        raise errors.TypeMismatchError(
            "A list is repeated whose items can be changed in place, so that all of them would be one.",
            help="[[0] * m for _ in range(n)] has rows of their own.",
            kind="repeated-containers",
        )
    values = as_member_list(values)
    length = values.length.tensor
    whole = length * tf.maximum(_integer(times), 0)
    with_room(values, whole)
    positions = tf.range(values.capacity, dtype=tf.int64) % tf.maximum(length, 1)
    return gathered(values, positions, whole)


def of_range(*bounds: Any) -> Any:
    """``list(range(*bounds))``, for bounds that differ between members; a ``range`` where they do not."""
    if not any(map(per_member, bounds)):
        return range(*bounds)
    start, stop, step = bounds if len(bounds) == 3 else (*bounds, 1) if len(bounds) == 2 else (0, *bounds, 1)
    start, stop = _integer(start), _integer(stop)
    if per_member(step) or step == 0:
        raise errors.TypeMismatchError(
            "The step of this range differs between members, or is zero.", help="write a loop.", kind="range-step"
        )
    count = tf.maximum((stop - start + (step - (1 if step > 0 else -1))) // step, 0)
    values = MemberList(int, (start + step * tf.range(capacity_for(1), dtype=tf.int64),), number(count))
    with_room(values, count)
    return values


def chosen_list(condition: tf.Tensor, left: Any, right: Any) -> MemberList:
    """``left if condition else right``"""
    a, b = alike(as_member_list(left), as_member_list(right))
    capacity = max(a.capacity, b.capacity)
    a, b = padded(a, capacity), padded(b, capacity)
    columns = (tf.where(condition, x, y) for x, y in zip(a.columns, b.columns, strict=True))
    chosen = _of(a, columns, tf.where(condition, a.length.tensor, b.length.tensor))
    context.view(chosen, left)
    context.view(chosen, right)
    return chosen


def copied(values: MemberList) -> MemberList:
    return _of(values, map(tf.identity, values.columns), values.length.tensor)
