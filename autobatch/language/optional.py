"""Attributes that are None for some members: beside the value stands a flag, an attribute of ours.

self.last = None       self.last, self.ab__none_last = absent, True
self.last = x          self.last, self.ab__none_last = x, False
"""

from __future__ import annotations

from typing import Any

from autobatch import errors
from autobatch.language.containers import MemberObject

_MARK = "ab__none_"


def flag(name: str) -> str:
    """The attribute that says whether this one is None."""
    return f"{_MARK}{name}"


def flagged(name: str) -> str | None:
    """The attribute of which this one says so, if it is such a flag."""
    return name.removeprefix(_MARK) if name.startswith(_MARK) else None


def _own(value: Any) -> dict[str, Any]:
    """What a member's object holds, if that is a dict: one of slots has no flags."""
    return getattr(value, "__dict__", {}) if isinstance(value, MemberObject) else {}


def is_none(value: MemberObject, name: str) -> bool:
    """Whether an object's attribute is None; raises UnsupportedSyntaxError if it is for some members."""
    found = _own(value).get(flag(name), False)
    if isinstance(found, bool):
        return found
    raise errors.UnsupportedSyntaxError(
        f"Whether `.{name}` is None differs between members, but the function that reads it is not autobatched.",
        help="call it by its name, not by map or the like.",
        kind="not-autobatched",
    )


def attribute_is_none(value: Any, name: str) -> Any:
    """``value.name is None``"""
    own = _own(value)
    return own[flag(name)] if flag(name) in own else getattr(value, name) is None


def attribute_if_any(value: Any, name: str) -> Any:
    """``value.name``, for members for which it is not None."""
    return object.__getattribute__(value, name) if flag(name) in _own(value) else getattr(value, name)
