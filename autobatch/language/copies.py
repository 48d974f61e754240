"""``copy.copy`` and ``copy.deepcopy`` of members' values."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any

import numpy as np
import tensorflow as tf

from autobatch.language.containers import MemberObject
from autobatch.language.list_methods import copied
from autobatch.language.lists import MemberList
from autobatch.language.values import is_tensor


def shallow_copy(value: Any) -> Any:
    """``copy.copy``: the object anew, of the same parts."""
    if isinstance(value, MemberList):
        return copied(value)
    return value if isinstance(value, tuple) else _copy(value, lambda part: part)


def deepcopy(value: Any, memo: dict[int, Any] | None = None) -> Any:
    """``copy.deepcopy``: the object anew, and those in it; what is in it twice is again."""
    memo = {} if memo is None else memo
    if id(value) not in memo:
        memo[id(value)] = _copy(value, lambda part: deepcopy(part, memo))
    return memo[id(value)]


def _copy(value: Any, of_part: Callable[[Any], Any]) -> Any:
    if is_tensor(value):
        return tf.identity(value)
    if isinstance(value, np.ndarray | set):
        return value.copy()
    if isinstance(value, MemberList):
        return dataclasses.replace(value, columns=tuple(map(tf.identity, value.columns)))
    if isinstance(value, MemberObject):
        names, parts = value.__tf_flatten__()  # type: ignore[attr-defined]
        return type(value).__tf_unflatten__(names, tuple(map(of_part, parts)))  # type: ignore[attr-defined]
    if isinstance(value, dict):
        return {key: of_part(part) for key, part in value.items()}
    if isinstance(value, tuple):
        parts = map(of_part, value)
        return type(value)(*parts) if hasattr(value, "_fields") else tuple(parts)
    return [*map(of_part, value)] if isinstance(value, list) else value
