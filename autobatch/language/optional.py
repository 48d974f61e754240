"""Attributes that are None for some members: beside the value stands a flag, an attribute that no Python can name.

self.last = None       self.last, "last.none" = absent, True
self.last = x          self.last, "last.none" = x, False
"""

from __future__ import annotations

from typing import Any

from autobatch import errors
from autobatch.language.containers import MemberObject

_MARK = ".none"


def flag(name: str) -> str:
    """The attribute that says whether this one is None."""
    return f"{name}{_MARK}"


def is_flag(name: str) -> bool:
    return name.endswith(_MARK)


def is_none(value: MemberObject, name: str) -> bool:
    """Whether an object's attribute is None; raises UnsupportedSyntaxError if it is for some members."""
    found = vars(value).get(flag(name), False)
    if isinstance(found, bool):
        return found
    raise errors.UnsupportedSyntaxError(
        f"Whether `.{name}` is None differs between members, but the function that reads it is not autobatched.",
        help="call it by its name, not by map or the like.",
        kind="not-autobatched",
    )


def attribute_is_none(value: Any, name: str) -> Any:
    """``value.name is None``"""
    flagged = isinstance(value, MemberObject) and flag(name) in vars(value)
    return vars(value)[flag(name)] if flagged else getattr(value, name) is None


def attribute_if_any(value: Any, name: str) -> Any:
    """``value.name``, for members for which it is not None."""
    flagged = isinstance(value, MemberObject) and flag(name) in vars(value)
    return object.__getattribute__(value, name) if flagged else getattr(value, name)
