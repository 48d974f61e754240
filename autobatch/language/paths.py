"""What is changed inside of what is inside of a variable: items of items, and attributes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import tensorflow as tf

from autobatch import errors
from autobatch.language.indexing import getitem, setitem
from autobatch.language.list_methods import as_member_list, gathered, of_range, owned, pop, position
from autobatch.language.lists import MemberList, is_list
from autobatch.language.objects import setattr_
from autobatch.language.values import is_tensor, per_member


@dataclass(frozen=True)
class Field:
    """A step of a path to an attribute."""

    name: str


def indices(values: Any) -> Any:
    """``range(len(values))`` of a list or an array, whose items a loop changes."""
    if not (is_list(values) or is_tensor(values) or isinstance(values, tuple | np.ndarray)):
        raise errors.TypeMismatchError(
            f"A loop changes the items of a {type(values).__name__}.", help="make it a list.", kind="items-changed"
        )
    if is_tensor(values):
        return of_range(values.shape[0])
    return of_range(values.length if isinstance(values, MemberList) else len(values))


def exchange(values: Any, first: Any, second: Any) -> Any:
    """``values`` after ``values[first], values[second] = values[second], values[first]``"""
    if not is_list(values):
        one, other = getitem(values, first), getitem(values, second)
        return setitem(setitem(values, first, other), second, one)
    if isinstance(values, list) and not (per_member(first) or per_member(second)):
        values = owned(values)
        values[first], values[second] = values[second], values[first]
        return values
    values = as_member_list(values)
    one, other = position(values, first), position(values, second)
    at = tf.range(values.capacity, dtype=tf.int64)
    return gathered(values, tf.where(at == one, other, tf.where(at == other, one, at)), values.length.tensor)


def pop_inside(values: Any, path: tuple, *where: Any) -> tuple[Any, Any]:
    """``values`` after ``item = values[i].a.pop(where)``, for a path (i, Field("a")), and the item"""
    if not path:
        return pop(values, *where)
    at = path[0]
    if isinstance(at, Field):
        inner, item = pop_inside(getattr(values, at.name), path[1:], *where)
        return setattr_(values, at.name, inner), item
    inner, item = pop_inside(getitem(values, at), path[1:], *where)
    return setitem(values, at, inner), item
