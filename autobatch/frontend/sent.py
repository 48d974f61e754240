"""The source of functions that another process has sent whole.

``cloudpickle`` leaves out in which file their code stands.  So that goes with an autobatched function; and the lines,
for where there is no such file.
"""

from __future__ import annotations

import hashlib
import inspect
import linecache
from types import CodeType, FunctionType
from typing import NamedTuple

from autobatch.frontend.watch import Watcher

UNKNOWN = "<dynamic-code>"  # what cloudpickle calls every file


class Place(NamedTuple):
    """Where the source of a function stands: its lines are the file's from ``first`` on."""

    file: str
    first: int
    lines: tuple[str, ...]


Places = dict[tuple, Place]  # by what tells code apart, wherever it stands


def places_of(function: FunctionType) -> Places:
    """Of this function, and of those of the user's that it refers to."""
    return {_key(each.__code__): place for each in _reached(function) if (place := _place(each))}


def restore(function: FunctionType, places: Places) -> None:
    """Gives the function, and those that it refers to, their files again."""
    for each in _reached(function):
        place = places.get(_key(each.__code__))
        if place is not None and each.__code__.co_filename == UNKNOWN:
            each.__code__ = _in_file(each.__code__, _file(place))


def _reached(function: FunctionType) -> list[FunctionType]:
    watcher = Watcher()
    watcher.add({"": function}, "")
    return watcher.functions


def _key(code: CodeType) -> tuple:
    constants = (
        _key(each) if isinstance(each, CodeType) else (type(each).__name__, repr(each)) for each in code.co_consts
    )
    return code.co_name, code.co_firstlineno, code.co_code, code.co_names, code.co_varnames, tuple(constants)


def _place(function: FunctionType) -> Place | None:
    code = function.__code__
    following = linecache.getlines(code.co_filename, function.__globals__)[code.co_firstlineno - 1 :]
    lines = tuple(inspect.getblock(following))
    return Place(code.co_filename, code.co_firstlineno, lines) if lines else None


def _in_file(code: CodeType, file: str) -> CodeType:
    parts = (_in_file(part, file) if isinstance(part, CodeType) else part for part in code.co_consts)
    return code.replace(co_filename=file, co_consts=tuple(parts))


def _file(place: Place) -> str:
    """The file itself, if these lines stand there; else one that only ``linecache`` has."""
    start = place.first - 1
    if tuple(linecache.getlines(place.file)[start : start + len(place.lines)]) == place.lines:
        return place.file
    digest = hashlib.sha256(repr(place).encode()).hexdigest()[:8]
    name = f"<{place.file}, as it was sent: {digest}>"
    lines = ["\n"] * start + list(place.lines)
    linecache.cache[name] = sum(map(len, lines)), None, lines, name
    return name
