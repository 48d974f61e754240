"""What loops and comprehensions go through: the items, how many, and whether one position can stand for all."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import tensorflow as tf

from autobatch import context, errors
from autobatch.language.choices import ifexp
from autobatch.language.each_of import each
from autobatch.language.indexing import getitem, parts_of
from autobatch.language.lists import MemberList, item_at
from autobatch.language.one_of import OneOf
from autobatch.language.structs import Rows
from autobatch.language.values import WeakScalar, is_tensor, per_member

ROLLED = -1


class UnlikeItemsError(Exception):
    """The items of a loop have no common type, so it must be unrolled; or members differ in how often a comprehension
    turns, so it must be rolled.

    Attributes:
      count: the number of items, or ROLLED.
      function, variable: the program's function, and its variable that holds the items.
    """

    def __init__(self, count: int, function: str = "", variable: str = ""):
        self.count, self.function, self.variable = count, function, variable


def _iterable(value: Any) -> Any:
    value = _spelled(value)
    if isinstance(value, Rows | MemberList):
        return value
    if isinstance(value, WeakScalar) or (is_tensor(value) and not value.shape.rank):
        raise errors.TypeMismatchError(
            "A scalar cannot be looped over.", help="loop over range(n).", kind="scalar-looped"
        )
    return value if is_tensor(value) or isinstance(value, list | tuple) else list(value)


def _spelled(value: Any) -> Any:
    """A member's text as the list of what it consists of."""
    return each(list, value) if isinstance(value, OneOf) else value


def alike(items: Sequence[Any]) -> bool:
    """Whether one position can stand for any of the items: all numbers, or tensors of one dtype and shape, or nests."""
    try:
        for item in items:
            tf.nest.assert_same_structure(items[0], item)
    except (TypeError, ValueError):
        return False
    return all(map(_alike_leaves, zip(*map(tf.nest.flatten, items), strict=True)))


def _alike_leaves(column: Sequence[Any]) -> bool:
    if all(isinstance(leaf, int | float | WeakScalar) for leaf in column):
        return True
    if not all(isinstance(leaf, int | float | WeakScalar | tf.Tensor | tf.Variable | np.ndarray) for leaf in column):
        return False
    shaped = [leaf for leaf in column if not isinstance(leaf, int | float | WeakScalar)]
    shapes = {(tf.as_dtype(leaf.dtype), tuple(leaf.shape)) for leaf in shaped}
    return len(shapes) == 1 and (len(shaped) == len(column) or shaped[0].shape == ())


def sequence(value: Any, *beside: Any) -> Any:
    """What a ``for`` loop goes through: a tensor's rows, or a list of an iterable's items; ``beside``: in step."""
    items = _iterable(value)
    if isinstance(items, list | tuple) and not alike(items):
        raise UnlikeItemsError(_shortest(items, *beside))
    return items


def _shortest(*values: Any) -> int:
    """How many turns an unrolled loop has."""
    return min(_length(unrolled(value)) for value in values)


def _length(items: Any) -> Any:
    return items.length if isinstance(items, Rows | MemberList) else items.shape[0] if is_tensor(items) else len(items)


def unroll(iterable: Any) -> list:
    """The items of a loop that is to be unrolled: its body is copied for each, in which a known item stays known.

    ``for i in ab.unroll(range(4))`` makes ``i`` a Python number, which may index a list of unlike things.  Use it
    too where the types of what a loop changes differ from one turn to the next.

    Args:
      iterable: a Python iterable, or a tensor, for its rows.
    """
    items = _iterable(iterable)
    return parts_of(items) if is_tensor(items) else list(items)


def unrolled(iterable: Any, *beside: Any) -> Any:
    """What an unrolled loop goes through: a tensor, whose rows are looked up in their turn, or a list."""
    del beside
    items = _iterable(iterable)
    return items if is_tensor(items) or isinstance(items, list) else list(items)


def rows(value: Any) -> Any:
    """What a comprehension or a builtin goes through: a tensor's rows, which TensorFlow does not iterate."""
    value = _spelled(value)
    return parts_of(value) if is_tensor(value) and value.shape.rank else value


def unroll_first(value: Any, *beside: Any) -> Any:
    """Asks for the loop over ``value`` to be unrolled, or rolled where members differ in how long it is."""
    if isinstance(_iterable(value), Rows | MemberList):
        raise UnlikeItemsError(ROLLED)
    raise UnlikeItemsError(_shortest(value, *beside))


def range_(comprehension: str, *bounds: Any) -> range:
    """A comprehension's ``range(*bounds)``; asks for a loop if members differ in it."""
    if any(map(per_member, bounds)):
        raise UnlikeItemsError(ROLLED, variable=comprehension)
    return range(*bounds)


def items_of(comprehension: str, value: Any) -> Any:
    """What a comprehension goes through; asks for a loop if members differ in how long it is."""
    items = rows(value)
    if isinstance(items, Rows | MemberList):
        raise UnlikeItemsError(ROLLED, variable=comprehension)
    return items


def admits(comprehension: str, test: Any) -> bool:
    """Whether a comprehension's test admits an item; asks for a loop if members differ in it."""
    if per_member(test):
        raise UnlikeItemsError(ROLLED, variable=comprehension)
    return bool(test)


def item(items: Any, position: Any) -> Any:
    """``items[position]``, a position that the loop keeps in range."""
    if isinstance(items, MemberList):
        return item_at(items, position.tensor if isinstance(position, WeakScalar) else position)
    items = items.padded if isinstance(items, Rows) else items
    try:
        with context.collected_remarks():
            return getitem(items, position)
    except IndexError:
        raise _other_length() from None


def gone_through(count: int, *lengths: Any) -> None:
    """Refuses, after an unrolled loop, what has become longer in it, or shorter, with which Python would go on."""
    if min(lengths) != count:
        raise _other_length()


def _other_length() -> errors.UnsupportedSyntaxError:
    return errors.UnsupportedSyntaxError(
        "A list changes its length while a loop goes through it that is unrolled, as its items are unlike.",
        help="go through a copy: for x in list(xs).",
        kind="unrolled-list-changes",
    )


def item_from_end(items: Any, position: Any) -> Any:
    """What ``reversed(items)`` has at a position."""
    return item(items, _length(items) - 1 - position)


def length_from_end(items: Any, begun: Any, position: Any) -> Any:
    """How many items ``reversed`` has, which began at as many; none more where the list has become too short."""
    return ifexp(begun - 1 - position < _length(items), lambda: begun, lambda: 0)
