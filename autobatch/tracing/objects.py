"""The user's classes, of which members make objects of their own."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from autobatch.context import is_users_file
from autobatch.language.containers import parts_of
from autobatch.language.objects import MemberObject, attributes, is_plain, member_class
from autobatch.language.values import WeakScalar, is_tensor

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
    if cls.__module__ == "__main__" or cls.__module__ not in sys.modules:  # of a notebook's cell, or of exec's
        return True
    file = getattr(sys.modules[cls.__module__], "__file__", None)
    return file is not None and is_users_file(file)


def adopt(value: Any, again: Callable[[], Any] | None) -> None:
    """Has the objects that the user's own code has made for members be members' objects.

    again: makes the value anew, if that depends on no variable; one that is found again is from outside.
    """
    found = [*_users_objects(value)]
    is_new = bool(found) and again is not None and again() is not value
    for each, is_held in found:
        if (is_new and not is_held) or _is_of_members(each):
            each.__class__ = member_class(type(each))


def _users_objects(value: Any, is_held: bool = False) -> Iterator[tuple[Any, bool]]:
    """The objects of plain classes in a value, but for members' objects; and whether another object holds them."""
    if isinstance(value, MemberObject | Mapping | list | tuple):
        for part in parts_of(value):
            yield from _users_objects(part, is_held or isinstance(value, MemberObject))
    elif makes_objects(type(value)):
        yield value, is_held
        for name in attributes(value):
            yield from _users_objects(getattr(value, name), is_held=True)


def _is_of_members(value: Any) -> bool:
    """Whether an object holds what differs between members."""
    if isinstance(value, Mapping | list | tuple):
        return any(map(_is_of_members, parts_of(value)))
    if makes_objects(type(value)):
        return any(_is_of_members(getattr(value, name)) for name in attributes(value))
    return isinstance(value, WeakScalar | MemberObject) or (is_tensor(value) and not hasattr(value, "numpy"))
