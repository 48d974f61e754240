"""The user's classes, of which members make objects of their own."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from autobatch import context, errors
from autobatch.context import is_users_file
from autobatch.language.containers import parts_of
from autobatch.language.copies import deepcopy
from autobatch.language.objects import MemberObject, attributes, is_plain, member_class
from autobatch.language.values import WeakScalar, is_tensor

_BASES = ("builtins", "abc", "typing")


def makes_objects(value: Any) -> bool:
    """Whether this is a plain class of the user's."""
    if not isinstance(value, type) or value.__module__ in _BASES:
        return False
    return is_plain(value) and all(map(_is_users, value.__mro__))


def _is_users(cls: type) -> bool:
    if cls.__module__ in _BASES or hasattr(cls, "__autobatch_object__"):
        return True
    if cls.__module__.partition(".")[0] == "autobatch":
        return False
    module = sys.modules.get(cls.__module__)
    if cls.__module__ == "__main__" or getattr(module, "__spec__", None) is None:
        return True  # of a notebook's cell, of exec's, or of a module made by hand
    file = getattr(module, "__file__", None)
    return file is not None and is_users_file(file)


def adopt(value: Any, call: Callable[..., Any], inputs: Sequence[Any]) -> None:
    """Has the objects that the user's own code has made for members, by this call, be members' objects.

    What is known and is found again where the call is made again, or in what it gets, is from outside.
    """
    for each, _ in _users_objects([given for given in inputs if isinstance(given, MemberObject)]):
        if _is_of_members(each):  # a method has put it there
            _adopt(each)
    found = [*_users_objects(value)]
    if not found:
        return
    again: list[tuple[Any, bool]] = []
    if not all(_is_of_members(each) for each, _ in found):
        with context.collected_remarks():
            again = [*_users_objects(call(*map(deepcopy, inputs)))]
    old = {id(each) for each, _ in (*again, *_users_objects(list(inputs)))}
    for each, is_held in found:
        is_new = len(again) == len(found) and id(each) not in old and not is_held
        if is_new or _is_of_members(each):
            _adopt(each)


def _adopt(value: Any) -> None:
    object.__setattr__(value, "__class__", member_class(type(value)))  # a frozen dataclass has no assignment


def _users_objects(value: Any, is_held: bool = False, within: tuple[Any, ...] = ()) -> Iterator[tuple[Any, bool]]:
    """The objects of plain classes in a value, but for members' objects; and whether another object holds them.

    within: what the value is a part of, from the outside in.
    """
    if any(value is each for each in within):
        raise errors.UnsupportedSyntaxError(
            "An object or a dict comes to hold itself, perhaps by way of others.",
            help="keep the objects in a list, and let them refer to one another by their indices.",
            kind="holds-itself",
        )
    if isinstance(value, MemberObject | Mapping | list | tuple):
        for part in parts_of(value):
            yield from _users_objects(part, is_held or isinstance(value, MemberObject), (*within, value))
    elif makes_objects(type(value)):
        yield value, is_held
        for name in attributes(value):
            yield from _users_objects(getattr(value, name), True, (*within, value))


def _is_of_members(value: Any) -> bool:
    """Whether an object holds what differs between members."""
    if isinstance(value, Mapping | list | tuple):
        return any(map(_is_of_members, parts_of(value)))
    if makes_objects(type(value)):
        return any(_is_of_members(getattr(value, name)) for name in attributes(value))
    return isinstance(value, WeakScalar | MemberObject) or (is_tensor(value) and not hasattr(value, "numpy"))
