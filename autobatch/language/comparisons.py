"""Tuples and lists compared part by part, where parts are members' values."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import tensorflow as tf

from autobatch.language.choices import both, ifexp, not_
from autobatch.language.item_columns import has_own
from autobatch.language.list_methods import as_member_list
from autobatch.language.list_queries import differences, same_items
from autobatch.language.lists import MemberList, is_list, item_at
from autobatch.language.objects import FIELDWISE
from autobatch.language.values import WeakScalar, per_member, python_kind

_ORDERS = {"<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge}


def equal(left: Any, right: Any) -> Any:
    """``left == right``"""
    if MemberList in (type(left), type(right)) and isinstance(left, list | MemberList):
        return same_items(left, right) if isinstance(right, list | MemberList) else False
    if _is_beside_number(left, right):
        return False
    if not _are_alike(left, right) or has_own(type(left), "eq"):
        return left == right
    if len(left) != len(right):
        return False
    found: Any = True
    for a, b in zip(left, right, strict=True):
        found = both(found, lambda a=a, b=b: equal(a, b))
    return found


def ordered(left: Any, order: str, right: Any) -> Any:
    """``left < right``, or another order: that of the first parts that differ, or else of the lengths."""
    python = _ORDERS[order]
    if MemberList in (type(left), type(right)) and is_list(left) and is_list(right):
        return _ordered_lists(left, order, right)
    if MemberList in (type(left), type(right)):
        raise TypeError(f"'{order}' not supported between a list and a value of another class")
    if not _are_alike(left, right) or has_own(type(left), python.__name__):
        return python(left, right)
    if not (left and right):
        return python(len(left), len(right))
    (a, *others), (b, *theirs) = left, right
    return ifexp(equal(a, b), lambda: ordered([*others], order, [*theirs]), lambda: ordered(a, order, b))


def _ordered_lists(left: Any, order: str, right: Any) -> Any:
    if not (left_items := as_member_list(left)).columns or not (right_items := as_member_list(right)).columns:
        return _ORDERS[order](left_items.length, as_member_list(right).length)
    a, b, differ = differences(left_items, right_items)
    first = tf.argmax(differ)
    return ifexp(
        WeakScalar(tf.reduce_any(differ), bool),
        lambda: ordered(item_at(a, first), order, item_at(b, first)),
        lambda: _ORDERS[order](a.length, b.length),
    )


def _is_beside_number(left: Any, right: Any) -> bool:
    """Whether one is a text, a tuple or a list, and the other a member's int, which TensorFlow would not take so."""
    pairs = ((left, right), (right, left))
    unlike = (str, bytes, tuple, list)
    return any(isinstance(a, unlike) and per_member(b) and python_kind(b) in (bool, int) for a, b in pairs)


def _are_alike(left: Any, right: Any) -> bool:
    """Whether both are tuples, or lists, with parts that differ between members."""
    both_are = any(isinstance(left, kind) and isinstance(right, kind) for kind in (tuple, list))
    return both_are and any(map(per_member, tf.nest.flatten([left, right])))


def _in_order(order: str) -> Callable[[tuple, tuple], Any]:
    return lambda left, right: ordered(left, order, right)


for _order, _python in _ORDERS.items():
    setattr(MemberList, f"__{_python.__name__}__", _in_order(_order))
FIELDWISE |= {"eq": equal, "ne": lambda left, right: not_(equal(left, right))}
FIELDWISE |= {python.__name__: _in_order(order) for order, python in _ORDERS.items()}
