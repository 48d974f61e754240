"""Tuples and lists compared part by part, where parts are members' values."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import tensorflow as tf

from autobatch.language.choices import both, ifexp, not_
from autobatch.language.list_queries import same_items
from autobatch.language.lists import MemberList
from autobatch.language.objects import FIELDWISE
from autobatch.language.values import per_member

_ORDERS = {"<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge}


def equal(left: Any, right: Any) -> Any:
    """``left == right``"""
    if MemberList in (type(left), type(right)) and isinstance(left, list | MemberList):
        return same_items(left, right) if isinstance(right, list | MemberList) else False
    if not _are_alike(left, right):
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
    if not _are_alike(left, right):
        return python(left, right)
    if not (left and right):
        return python(len(left), len(right))
    (a, *others), (b, *theirs) = left, right
    return ifexp(equal(a, b), lambda: ordered([*others], order, [*theirs]), lambda: ordered(a, order, b))


def _are_alike(left: Any, right: Any) -> bool:
    """Whether both are tuples, or lists, with parts that differ between members."""
    both_are = any(isinstance(left, kind) and isinstance(right, kind) for kind in (tuple, list))
    return both_are and any(map(per_member, tf.nest.flatten([left, right])))


def _in_order(order: str) -> Callable[[tuple, tuple], Any]:
    return lambda left, right: ordered(left, order, right)


FIELDWISE |= {"eq": equal, "ne": lambda left, right: not_(equal(left, right))}
FIELDWISE |= {python.__name__: _in_order(order) for order, python in _ORDERS.items()}
