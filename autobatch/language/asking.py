"""Functions that ask what stands for members' values: while a program is lowered, Python's answer is another.

``isinstance(x, int)``, ``flag is True`` or ``case int():``, in a function of the user's that runs as it is.
"""

from __future__ import annotations

import dis
import functools
import sys
from collections.abc import Iterable, Iterator
from itertools import islice
from types import CellType, CodeType, FunctionType, MethodType, ModuleType
from typing import Any

from autobatch import context

_NAMES = {"__class__", "hasattr", "isinstance", "issubclass", "type"}
_WRAPPED: tuple[tuple[Any, str], ...] = (  # what calls another, and which
    ((MethodType, staticmethod, classmethod), "__func__"),
    (functools._lru_cache_wrapper, "__wrapped__"),
    (property, "fget"),
)
_LOOKED_AT = 1000  # items of a container


@functools.cache
def asks(code: CodeType) -> bool:
    """Whether the code, or one in it, asks for types, or which object something is (other than None)."""
    inside = (each for each in code.co_consts if isinstance(each, CodeType))
    if not _NAMES.isdisjoint(code.co_names) or any(map(asks, inside)):
        return True
    steps = [*dis.get_instructions(code)]
    is_none = {at + 1 for at, step in enumerate(steps) if step.opname == "LOAD_CONST" and step.argval is None}
    return any(
        step.opname == "MATCH_CLASS" or (step.opname == "IS_OP" and at not in is_none) for at, step in enumerate(steps)
    )


def lead_to_asking(values: Iterable[Any]) -> bool:
    """Whether a function of the user's that asks may be run by what has these, by all that can be seen."""
    pending, seen = [*values], set[int]()
    while pending:
        value = pending.pop()
        if id(value) in seen:
            continue
        seen.add(id(value))
        if isinstance(value, FunctionType) and asks(value.__code__) and context.is_users(value.__code__):
            return True
        pending += _parts(value)
    return False


def _parts(value: Any) -> Iterator[Any]:
    """What can be seen of a value."""
    for kind, name in _WRAPPED:
        if isinstance(value, kind):
            yield getattr(value, name)
    if isinstance(value, dict):
        yield from islice(value.values(), _LOOKED_AT)
    elif isinstance(value, list | tuple | set | frozenset):
        yield from islice(value, _LOOKED_AT)
    elif isinstance(value, functools.partial):
        yield from (value.func, value.args, value.keywords)
    elif isinstance(value, FunctionType):
        if context.is_users(value.__code__):
            names = _names(value.__code__)
            yield from (value.__globals__[name] for name in names if name in value.__globals__)
        yield from (cell.cell_contents for cell in value.__closure__ or () if cell != CellType())
        yield from value.__defaults__ or ()
        yield from (value.__kwdefaults__ or {}).values()
    elif of_users(value):
        yield from getattr(value, "__dict__", {}).values()
        yield from value.__mro__ if isinstance(value, type) else [type(value)]


def of_users(value: Any) -> bool:
    """Whether it is a module or a class of the user's, or an object of one."""
    if not isinstance(value, ModuleType):
        cls = value if isinstance(value, type) else type(value)
        value = sys.modules.get(cls.__module__)
    return context.is_users_file(getattr(value, "__file__", None) or "")


@functools.cache
def _names(code: CodeType) -> frozenset[str]:
    inside = (_names(each) for each in code.co_consts if isinstance(each, CodeType))
    return frozenset(code.co_names).union(*inside)
