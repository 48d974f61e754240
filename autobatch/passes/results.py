"""What a program may return: what a batch of tensors holds."""

from __future__ import annotations

import enum
from collections.abc import Mapping
from typing import Any

from autobatch import errors, ir
from autobatch.ir.typed import Variable
from autobatch.ir.types import Static, Type, leaves, opaque
from autobatch.language.objects import MemberObject, not_kept, stands_for
from autobatch.language.one_of import OneOf, described, is_function, is_known
from autobatch.language.raising import UNTOLD
from autobatch.language.structs import Rows, map_nodes


def check_results(entry: ir.Function, types: Mapping[Variable, Type], origin: Mapping[Variable, ir.Location]) -> None:
    """Refuses a result that no batch can hold; ``origin``: where variables got their types."""
    for v in entry.outputs:
        type_ = types[entry.name, v]
        if (found := opaque(type_)) is not None:
            help = found.help or "return tensors of static shape, or a structure of them."
            raise _refused(f"`{entry.name}` returns a {found}.", help, origin[entry.name, v])
        if _nodes(Rows, type_):
            raise _refused(f"`{entry.name}` returns a ragged argument.", "return a tensor.", origin[entry.name, v])
        if any(stands_for(value) for value in _objects(type_)):
            what = f"`{entry.name}` returns a dict of keys that differ between members."
            help = "return lists of its keys and of its values."
            raise _refused(what, help, origin[entry.name, v], kind="dict-handed-on")
        known = [leaf.value for leaf in leaves(type_) if isinstance(leaf, Static)]
        told_apart = [value for value in known if is_known(value) and not is_function(value)]
        for value in [*_nodes(OneOf, type_), *told_apart]:
            if not any(all(isinstance(option, kind) for option in _options(value)) for kind in (int, str, bytes)):
                what, help = "a text for some members and bytes for others", "no tensor holds that: return a text."
                if any(isinstance(option, enum.Enum) for option in _options(value)):
                    what, help = "a member of an enum", "no tensor holds that: return its .name, or its .value."
                elif any(map(is_function, _options(value))):
                    what, help = "a function", "no tensor holds that: return what it returns, or a number."
                raise _refused(f"`{entry.name}` returns {what}: {described(value)}.", help, origin[entry.name, v])
        if any(value is UNTOLD for value in known):
            raise not_kept("text")


def _options(value: Any) -> tuple[Any, ...]:
    return value.options if isinstance(value, OneOf) else (value,)


def _nodes(kind: type, type_: Type) -> list[Any]:
    """The parts of a type that are of this class."""
    found: list[Any] = []
    map_nodes(kind, lambda node: found.append(node) or node, type_)
    return found


def _objects(type_: Type) -> list[Any]:
    """Those of members in a type, and in one another."""
    found = _nodes(MemberObject, type_)
    return [*found, *(inner for each in found for part in each.__tf_flatten__()[1] for inner in _objects(part))]


def _refused(message: str, help: str, at: ir.Location, kind: str = "object-returned") -> errors.TypeMismatchError:
    return errors.TypeMismatchError(message, [(at, "")], help, kind=kind)
