"""When two static values are the same: if no program could tell them apart.

Type and content, recursively and in order; identity where that cannot be known.  Python's ``==`` is not enough: it
holds for True and 1, for 0.0 and -0.0, for ``Decimal("1.0")`` and ``Decimal("1.00")``, for dicts of another order, and
for objects of the user's that leave out some of what they are.
"""

from __future__ import annotations

import dataclasses
import types
from collections.abc import Hashable, Mapping, Set
from typing import Any

import numpy as np

from autobatch.language.containers import MemberObject

_BY_VALUE = (bool, int, str, bytes, type(None), type(...), type(NotImplemented))
_BY_TEXT = (float, complex)  # which tells 0.0 from -0.0, and finds nan the same as nan


class Same:
    """An object as a key: equal to itself only; kept, so that no other can take its place."""

    __slots__ = ("value",)

    def __init__(self, value: Any):
        self.value = value

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Same) and self.value is other.value

    def __hash__(self) -> int:
        return id(self.value)


def key(value: Any) -> Hashable:
    """Equal for values that no program could tell apart."""
    try:
        return _key(value)
    except RecursionError:  # it contains itself
        return Same(value)


def _key(value: Any) -> Hashable:
    kind = type(value)
    if kind in _BY_VALUE:
        return (kind, value)
    if kind in _BY_TEXT:
        return (kind, repr(value))
    if isinstance(value, np.generic):
        return (kind, value.dtype.str, value.tobytes())
    if kind in (list, tuple) or (isinstance(value, tuple) and hasattr(value, "_fields")):
        return (kind, *map(_key, value))
    if kind in (range, slice):
        return (kind, _key(value.start), _key(value.stop), _key(value.step))
    if isinstance(value, Mapping) and kind.__module__ in ("builtins", "collections", "types"):
        default = _key(getattr(value, "default_factory", None))
        return (kind, default, *((_key(name), _key(part)) for name, part in value.items()))
    if isinstance(value, Set) and kind in (set, frozenset):
        return (kind, *map(_key, value))
    if isinstance(value, MemberObject):
        return (kind, *map(_key, value.__tf_flatten__()))  # type: ignore[attr-defined]
    if isinstance(value, types.MethodType):
        return (kind, Same(value.__func__), _key(value.__self__))
    if dataclasses.is_dataclass(value) and not isinstance(value, type) and kind.__dataclass_params__.frozen:  # type: ignore[attr-defined]
        return (kind, *((field.name, _key(getattr(value, field.name, None))) for field in dataclasses.fields(value)))
    if kind.__eq__ is not object.__eq__ and not hasattr(value, "__dict__") and _is_hashable(value):
        return (kind, value, repr(value))  # a number or a date of a library
    return Same(value)


def _is_hashable(value: Any) -> bool:
    try:
        hash(value)
    except Exception:  # of a memoryview, or of a user's class
        return False
    return True
