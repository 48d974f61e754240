"""The user's classes, of which members make objects of their own."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from typing import Any

from autobatch.language.objects import MemberObject, is_plain, member_class
from autobatch.language.values import WeakScalar, is_tensor
from autobatch.tracing.explain import is_users_file

_BASES = ("builtins", "abc", "typing")


def makes_objects(value: Any) -> bool:
    """Whether this is a plain class of the user's."""
    if not isinstance(value, type) or value.__module__ in _BASES:
        return False
    return is_plain(value) and all(map(_is_users, value.__mro__))


def _is_users(cls: type) -> bool:
    if cls.__module__ in _BASES:
        return True
    if cls.__module__.partition(".")[0] == "autobatch":
        return False
    file = getattr(sys.modules.get(cls.__module__), "__file__", None)
    return cls.__module__ == "__main__" if file is None else is_users_file(file)


def adopt(value: Any, is_new: bool = False) -> None:
    """Makes objects in a value members' objects that the user's own code has made of what differs between them."""
    if isinstance(value, Mapping | list | tuple):
        for part in value.values() if isinstance(value, Mapping) else value:
            adopt(part, is_new)
    elif isinstance(value, MemberObject):
        for part in vars(value).values():
            adopt(part)
    elif makes_objects(type(value)) and (is_new or _is_of_members(value)):
        value.__class__ = member_class(type(value))
        adopt(value)


def _is_of_members(value: Any) -> bool:
    if isinstance(value, Mapping | list | tuple):
        return any(map(_is_of_members, value.values() if isinstance(value, Mapping) else value))
    if makes_objects(type(value)):
        return any(map(_is_of_members, vars(value).values()))
    return isinstance(value, WeakScalar | MemberObject) or (is_tensor(value) and not hasattr(value, "numpy"))
