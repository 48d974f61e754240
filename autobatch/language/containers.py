"""What can be changed in place, and what it holds."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence, Set
from contextlib import suppress
from types import FunctionType
from typing import Any


class MemberObject:
    """What the classes of members' objects have in common."""

    __slots__ = ()


def contents(value: Any) -> Any:
    """A container's parts by identity, all the way down; None for what cannot be changed in place."""
    if isinstance(value, Mapping):
        return [(key, id(part), contents(part)) for key, part in value.items()]
    if isinstance(value, Set):
        return {*map(id, value)}
    if isinstance(value, MemberObject):
        return [(name, id(part), contents(part)) for name, part in zip(*value.__tf_flatten__(), strict=True)]  # type: ignore[attr-defined]
    if isinstance(value, Sequence) and not isinstance(value, str | bytes | range):
        return [(id(part), contents(part)) for part in value]
    if isinstance(value, FunctionType) and value.__closure__:
        return [(id(part), contents(part)) for part in captured(value) if not isinstance(part, FunctionType)]
    return None


def captured(function: FunctionType) -> list[Any]:
    """What a function holds of where it was made, and what functions do that it holds."""
    found: list[Any] = [function]
    for each in found:  # which grows
        for cell in (isinstance(each, FunctionType) and each.__closure__) or ():
            with suppress(ValueError):  # of a variable that is not set yet
                if all(cell.cell_contents is not part for part in found):
                    found.append(cell.cell_contents)
    return found[1:]


def parts_of(value: Any) -> Iterable[Any]:
    """What a container holds."""
    if isinstance(value, FunctionType):
        return [part for part in captured(value) if not isinstance(part, FunctionType)]
    if isinstance(value, MemberObject):
        return value.__tf_flatten__()[1]  # type: ignore[attr-defined]
    return value.values() if isinstance(value, Mapping) else value
