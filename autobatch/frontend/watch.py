"""What a program read from outside when it was lowered: globals, closures, attributes of objects.

Python reads these at every call, so a program in which one has changed is out of date.  Containers and objects are
compared by their immediate parts; NumPy arrays, which can be changed in place, by identity.
"""

from __future__ import annotations

import sys
import types
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import gast

from autobatch.frontend.source import Source
from autobatch.frontend.syntax import names

_MISSING = object()
_PLAIN = (bool, int, float, complex, str, bytes, type(None))
_LIBRARIES = {
    "tensorflow",
    "keras",
    "tf_keras",
    "tensorflow_probability",
    "numpy",
    "autobatch",
    *sys.stdlib_module_names,
}


@dataclass(frozen=True)
class Watched:
    """A name in a namespace, and what stood there."""

    namespace: Mapping[str, Any]
    name: str
    value: Any
    parts: Any  # of a list, a tuple, a dict or an object

    def is_unchanged(self) -> bool:
        value = self.namespace.get(self.name, _MISSING)
        return _same(value, self.value) and (self.parts is None or _same_parts(self.parts, _parts(value)))


def watch(sources: Iterable[Source]) -> tuple[Watched, ...]:
    """Everything outside that these functions, and the helpers that they call, refer to."""
    watcher = _Watcher()
    for source in sources:
        watcher.source(source)
    return tuple(watcher.found.values())


class _Cell(Mapping):
    """A closure's cell as a namespace."""

    def __init__(self, cell: types.CellType):
        self.cell = cell

    def __getitem__(self, name: str) -> Any:
        try:
            return self.cell.cell_contents
        except ValueError:  # empty
            raise KeyError(name) from None

    def __iter__(self) -> Any:
        return iter(())

    def __len__(self) -> int:
        return 0


class _Watcher:
    def __init__(self) -> None:
        self.found: dict[tuple, Watched] = {}
        self.seen: set[int] = set()  # the code of functions

    def source(self, source: Source) -> None:
        free = [name for name in names(source.tree.body) if name not in source.parameters]
        self.function(source.function, free)
        for name, value in source.static.items():
            self.add({name: value}, name)
        attributes = (
            n for n in gast.walk(source.tree) if isinstance(n, gast.Attribute) and isinstance(n.value, gast.Name)
        )
        for node in attributes:
            owner = source.lookup(node.value.id, None) if node.value.id in free else None
            if isinstance(owner, types.ModuleType | type) and not _is_library(owner) and node.attr in vars(owner):
                self.add(vars(owner), node.attr)

    def function(self, function: Any, used: Iterable[str]) -> None:
        if id(function.__code__) in self.seen:
            return
        self.seen.add(id(function.__code__))
        for name, cell in zip(function.__code__.co_freevars, function.__closure__ or (), strict=True):
            self.add(_Cell(cell), name)
        for name in used:
            if name in function.__globals__:
                self.add(function.__globals__, name)

    def add(self, namespace: Mapping[str, Any], name: str) -> None:
        owner = namespace.cell if isinstance(namespace, _Cell) else namespace
        value = namespace.get(name, _MISSING)
        if (id(owner), name) in self.found or (isinstance(value, types.ModuleType) and _is_library(value)):
            return
        self.found[id(owner), name] = Watched(namespace, name, value, _parts(value))
        if isinstance(value, types.FunctionType) and not _is_library(value):
            self.function(value, value.__code__.co_names)


def _is_library(value: Any) -> bool:
    name = value.__name__ if isinstance(value, types.ModuleType) else getattr(value, "__module__", None) or ""
    return name.split(".")[0] in _LIBRARIES


def _parts(value: Any) -> Any:
    if isinstance(value, list | tuple):
        return list(value)
    if isinstance(value, dict):
        return dict(value)
    kind = type(value)
    if isinstance(value, type | types.ModuleType | types.FunctionType) or _is_library(kind):
        return None
    return dict(vars(value)) if hasattr(value, "__dict__") else None


def _same_parts(old: Any, new: Any) -> bool:
    if isinstance(old, dict):
        return isinstance(new, dict) and old.keys() == new.keys() and all(_same(v, new[k]) for k, v in old.items())
    return isinstance(new, list) and len(old) == len(new) and all(map(_same, old, new))


def _same(old: Any, new: Any) -> bool:
    return old is new or (type(old) is type(new) and isinstance(old, _PLAIN) and old == new)
