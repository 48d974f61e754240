"""Which columns of a list say how its items compare: Python asks an item's class, not all that it holds."""

from __future__ import annotations

from typing import Any

import tensorflow as tf

from autobatch import errors
from autobatch.language.containers import MemberObject
from autobatch.language.lists import MemberList, alike, not_compared, of_items
from autobatch.language.objects import compared_fields, has_made, users_class
from autobatch.language.one_of import OneOf, are_apart, are_in_order
from autobatch.language.values import is_tensor


def compared_columns(values: MemberList, by: str) -> list[tf.Tensor]:
    """The columns that ``==`` ("eq") or an order ("lt") looks at, in Python's order.

    Raises TypeMismatchError where methods of the user's compare the items, or ``is``.
    """
    return _columns(tf.nest.pack_sequence_as(values.kinds, values.columns), by)


def matches(values: MemberList, item: Any) -> tf.Tensor:
    """[capacity], where the list has an item that is equal."""
    a, b = alike(values, of_items([item]))
    same = a.own
    for x, y in zip(compared_columns(a, "eq"), compared_columns(b, "eq"), strict=True):
        if x.shape.rank != 1:
            raise not_compared()
        same &= tf.equal(x, y[0])
    return same


def has_own(kind: type, by: str) -> bool:
    """Whether a class of tuples says itself how its objects compare."""
    return issubclass(kind, tuple) and getattr(kind, f"__{by}__") is not getattr(tuple, f"__{by}__")


def _columns(item: Any, by: str) -> list[tf.Tensor]:
    if is_tensor(item):
        return [item]
    if isinstance(item, MemberList):
        raise not_compared()
    if isinstance(item, OneOf) and (are_apart if by == "eq" else are_in_order)(item.options):
        return [item.number]
    cls = users_class(item) if isinstance(item, MemberObject) else type(item)
    if has_made(cls, by):
        item = tuple(getattr(item, name) for name in compared_fields(cls, by))
    elif isinstance(item, dict) and by == "eq":
        item = tuple(item.values())
    elif not isinstance(item, tuple) or has_own(cls, by):
        raise _by_a_method(by)
    return [column for part in item for column in _columns(part, by)]


def _by_a_method(by: str) -> errors.TypeMismatchError:
    if by == "eq":
        return errors.TypeMismatchError(
            "Objects are sought, or lists of them compared, by a method of theirs, or by which object they are.",
            help="compare what they hold: any(p.x == x for p in ps).",
            kind="list-objects-compared",
        )
    return errors.TypeMismatchError(
        "Objects are sorted whose order is a method's.", help="sort by a key: key=lambda p: p.x.", kind="sorted-by-key"
    )
