"""What is asked of lists whose length differs between members."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import tensorflow as tf

from autobatch import context, errors
from autobatch.language.item_columns import compared_columns, matches
from autobatch.language.list_methods import as_member_list, bounded, copied, gathered, joined, repeated
from autobatch.language.lists import MemberList, alike, derived, is_list, item_at, not_compared, number, padded
from autobatch.language.values import WeakScalar, per_member


def same_items(left: Any, right: Any) -> WeakScalar:
    """``left == right``, of two lists"""
    for one, other in ((left, right), (right, left)):
        if isinstance(one, list) and not one:
            return WeakScalar(tf.equal(other.length.tensor, 0), bool)
    a, b, differ = differences(as_member_list(left), as_member_list(right))
    return WeakScalar(tf.equal(a.length.tensor, b.length.tensor) & ~tf.reduce_any(differ), bool)


def differences(left: MemberList, right: MemberList) -> tuple[MemberList, MemberList, tf.Tensor]:
    """Both with items of one type, and [capacity], where both have an item and these differ."""
    a, b = alike(left, right)
    capacity = max(a.capacity, b.capacity)
    a, b = padded(a, capacity), padded(b, capacity)
    differ = tf.zeros([capacity], tf.bool)
    for x, y in zip(compared_columns(a, "eq"), compared_columns(b, "eq"), strict=True):
        if x.shape.rank != 1:
            raise not_compared()
        differ |= tf.not_equal(x, y)
    return a, b, differ & a.own & b.own


def summed(values: MemberList, start: Any = 0) -> Any:
    """``sum(values, start)``"""
    kind, column = _numbers(values)
    column = tf.cast(column, tf.int64) if column.dtype.is_bool else column
    shape = [-1] + [1] * (column.shape.rank - 1)
    own = tf.where(tf.reshape(values.own, shape), column, tf.zeros([], column.dtype))
    total = tf.reduce_sum(own, 0)
    if kind is None:
        return total + start
    if kind is not float:
        _check_wide(tf.reduce_sum(tf.cast(own, tf.float64)), total, "a sum")
    return WeakScalar(total, float if kind is float else int) + start


def multiplied(values: MemberList, start: Any = 1) -> Any:
    """``math.prod(values, start=start)``"""
    kind, column = _numbers(values)
    column = tf.cast(column, tf.int64) if column.dtype.is_bool else column
    shape = [-1] + [1] * (column.shape.rank - 1)
    own = tf.where(tf.reshape(values.own, shape), column, tf.ones([], column.dtype))
    product = tf.reduce_prod(own, 0)
    if product.shape.rank == 0 and product.dtype.is_integer:
        _check_wide(tf.reduce_prod(tf.cast(own, tf.float64)), product, "a product")
    if kind is None:
        return product * start
    return WeakScalar(product, float if kind is float else int) * start


def _check_wide(expected: tf.Tensor, found: tf.Tensor, what: str) -> None:
    """Fails members whose int does not fit: what wrapped is off by a power of 2 that floats can tell."""
    bits = 8 * found.dtype.size
    fits = tf.abs(expected - tf.cast(found, tf.float64)) <= 2.0 ** (bits - 2)
    context.check(fits, errors.NumberRangeError, f"{what} leaves the range of {bits}-bit integers")


def _numbers(values: MemberList) -> tuple[type | None, tf.Tensor]:
    if len(values.columns) != 1 or tf.nest.is_nested(values.kinds):
        raise errors.TypeMismatchError(
            "The items of this list are no numbers.", help="loop over it.", kind="list-of-no-numbers"
        )
    return values.kinds, values.columns[0]


def extreme(values: MemberList, largest: bool) -> Any:
    """``max(values)``, or ``min``; of an empty list, the member fails."""
    _, column = _numbers(values)
    if column.shape.rank != 1:
        raise not_compared()
    column = tf.cast(column, tf.int64) if column.dtype.is_bool else column
    low = tf.constant(float("-inf") if column.dtype.is_floating else column.dtype.min, column.dtype)
    high = tf.constant(float("inf") if column.dtype.is_floating else column.dtype.max, column.dtype)
    nan = tf.math.is_nan(column) if column.dtype.is_floating else tf.zeros_like(values.own)
    ranked = tf.where(values.own & ~nan, column, low if largest else high)
    failure = f"{'max' if largest else 'min'}() iterable argument is empty"
    context.check(values.length.tensor > 0, errors.raised_by_members(ValueError), failure)
    first = tf.argmax(ranked) if largest else tf.argmin(ranked)  # of those that are equal
    return item_at(values, tf.where(nan[0], tf.zeros_like(first), first))  # nothing is above or below nan


def in_list(item: Any, values: MemberList) -> WeakScalar:
    """``item in values``"""
    return WeakScalar(tf.reduce_any(matches(values, item)), bool)


def sought(values: MemberList, start: bool) -> WeakScalar:
    """``all(values)`` if ``start``, else ``any(values)``"""
    _, column = _numbers(values)
    true = tf.not_equal(column, tf.zeros([], column.dtype))
    if start:
        return WeakScalar(tf.reduce_all(true | ~values.own), bool)
    return WeakScalar(tf.reduce_any(true & values.own), bool)


def counted(values: Any, item: Any) -> Any:
    """``values.count(item)``"""
    values = [*values] if isinstance(values, tuple) else values
    if not is_list(values) or not any(map(per_member, tf.nest.flatten([values, item]))):
        return values.count(item)
    if isinstance(values, list) and not values:
        return 0
    return number(tf.reduce_sum(tf.cast(matches(as_member_list(values), item), tf.int64)))


def index(values: Any, item: Any, *bounds: Any) -> Any:
    """``values.index(item, start, stop)``"""
    known = not any(map(per_member, tf.nest.flatten([values, item, *bounds])))
    if known or not isinstance(values, list | tuple | MemberList):
        return values.index(item, *bounds)
    values = [*values] if isinstance(values, tuple) else values
    if isinstance(values, list) and not values:
        raise ValueError("x is not in list")
    values = as_member_list(values)
    found = matches(values, item)
    if bounds:
        length, positions = values.length.tensor, tf.range(values.capacity, dtype=tf.int64)
        first, *last = (bounded(bound, length, 0, length) for bound in bounds)
        found &= (positions >= first) & (positions < (last[0] if last else length))
    context.check(tf.reduce_any(found), errors.raised_by_members(ValueError), "x is not in list")
    return number(tf.argmax(found))


def zipped(lists: Sequence[Any], strict: bool = False) -> MemberList:
    """``zip(*lists, strict=strict)``, as a list"""
    each = [as_member_list(values) for values in lists]
    capacity = max(values.capacity for values in each)
    columns = [column for values in each for column in padded(values, capacity).columns]
    lengths = tf.stack([values.length.tensor for values in each])
    length = tf.reduce_min(lengths)
    if strict:
        same = tf.equal(length, tf.reduce_max(lengths))
        context.check(same, errors.raised_by_members(ValueError), "zip() is given lists of unlike lengths")
    return derived(MemberList(tuple(values.kinds for values in each), tuple(columns), number(length)), *lists)


def kept_iterator(value: Any) -> Any:
    """``reversed(xs)`` and its like under a name: it goes through ``xs`` once, as it is then; a list does not."""
    if isinstance(value, MemberList):
        raise errors.TypeMismatchError(
            "An iterator over a list whose length differs between members is kept here.",
            help="make a list of it, list(zip(...)), or loop over it where it is made.",
            kind="kept-iterator",
        )
    return value


def numbered(values: MemberList, start: Any) -> MemberList:
    """``enumerate(values, start)``, as a list"""
    first = start.tensor if isinstance(start, WeakScalar) else tf.cast(start, tf.int64)
    numbers = first + tf.range(values.capacity, dtype=tf.int64)
    return derived(MemberList((int, values.kinds), (numbers, *values.columns), values.length), values)


def sorted_(values: MemberList, *, key: Any = None, reverse: Any = False) -> MemberList:
    """``sorted(values)``"""
    if key is not None or per_member(reverse) or len(values.columns) != 1 or values.columns[0].shape.rank != 1:
        raise errors.TypeMismatchError(
            "Members' values are sorted that are no numbers, or in an order that differs between members.",
            help="sort by a key that is a number, or several: sorted(pairs, key=lambda pair: (pair[0], pair[1])).",
            kind="sorted-by-key",
        )
    (column,) = values.columns
    ranked = tf.cast(column, tf.int64) if column.dtype.is_bool else column
    last = ranked if not reverse else -ranked if ranked.dtype.is_floating else tf.bitwise.invert(ranked)
    largest = tf.constant(float("inf") if last.dtype.is_floating else last.dtype.max, last.dtype)
    nan = tf.math.is_nan(last) if last.dtype.is_floating else tf.zeros_like(values.own)
    order = tf.argsort(tf.where(values.own & ~nan, last, largest), stable=True)
    return gathered(values, order, values.length.tensor)


def _equal(left: MemberList, right: Any) -> Any:
    if not tf.is_tensor(left.length) and not isinstance(left.length, WeakScalar):  # of types
        return isinstance(right, MemberList) and left.__tf_flatten__() == right.__tf_flatten__()
    return same_items(left, right) if is_list(right) else False


def _unequal(left: MemberList, right: Any) -> Any:
    same = _equal(left, right)
    return WeakScalar(tf.logical_not(same.tensor), bool) if isinstance(same, WeakScalar) else not same


MemberList.__eq__, MemberList.__ne__ = _equal, _unequal  # type: ignore[assignment]


def _sum(left: Any, right: Any) -> Any:
    for value in (left, right):
        if not is_list(value):
            raise TypeError(f"a list and a value of the class {type(value).__name__} have no sum")
    return joined(left, right)


MemberList.__add__ = _sum  # type: ignore[attr-defined]
MemberList.__radd__ = lambda right, left: _sum(left, right)  # type: ignore[attr-defined]
MemberList.__mul__ = MemberList.__rmul__ = repeated  # type: ignore[attr-defined]
MemberList.copy, MemberList.index, MemberList.count = copied, index, counted  # type: ignore[attr-defined]
