"""Functions that ask what stands for members' values: while a program is lowered, Python's answer is another.

``isinstance(x, int)``, ``flag is True`` or ``case int():``, in a function of the user's that runs as it is; and what is
raised there for the stand-in alone may be caught.
"""

from __future__ import annotations

import dis
import functools
import operator
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import islice, pairwise, starmap
from types import CellType, CodeType, FunctionType, MethodType, ModuleType
from typing import Any

from autobatch import context

_OF_ALL = ("__class__", "__delattr__", "__getattribute__", "__init__", "__new__", "__setattr__")
SPECIAL_NAMES = frozenset(  # ``x.__add__``
    name for kind in (int, float, list) for name in dir(kind) if name.startswith("__") and name not in _OF_ALL
)
_NAMES = SPECIAL_NAMES | {
    "__class__", "dir", "hasattr", "isinstance", "issubclass", "iterable", "isscalar", "suppress", "type",
}  # fmt: skip
_BY_OTHER_NAMES = (isinstance, issubclass, hasattr, type, operator.is_, operator.is_not)
_DISPATCH = functools.singledispatch(len).__code__  # of all functions that it makes
_WRAPPED: tuple[tuple[Any, str], ...] = (  # what calls another, and which
    ((MethodType, staticmethod, classmethod), "__func__"),
    (functools._lru_cache_wrapper, "__wrapped__"),
    (property, "fget"),
)
_ITEMS, _LOOKED_AT = 1000, 20_000  # of a container, and of all values


def asks(code: CodeType, outside: Mapping[str, Any]) -> bool:
    """Whether it is code of the user's that asks, or catches, or has code inside that does.

    outside: the names of its module.
    """
    if code is _DISPATCH:
        return True
    names = (outside.get(name) for name in _names(code))
    return context.is_users(code) and (_asks(code) or any(value is each for value in names for each in _BY_OTHER_NAMES))


@functools.cache
def _asks(code: CodeType) -> bool:
    inside = (each for each in code.co_consts if isinstance(each, CodeType))
    if not _NAMES.isdisjoint(code.co_names) or any(map(_asks, inside)):
        return True
    steps = [*dis.get_instructions(code)]
    has_default = "getattr" in code.co_names and any(s.opname in _CALLS and s.arg == 3 for s in steps)
    return has_default or _catches(steps) or any(starmap(_is_asking, pairwise(steps)))


_CALLS = ("CALL", "CALL_FUNCTION")


def _is_asking(before: dis.Instruction, step: dis.Instruction) -> bool:
    """Whether it asks for a class, or which object something is, other than None."""
    of_none = before.opname == "LOAD_CONST" and before.argval is None
    return step.opname in ("MATCH_CLASS", "MATCH_MAPPING", "MATCH_SEQUENCE") or (step.opname == "IS_OP" and not of_none)


def _catches(steps: Sequence[dis.Instruction]) -> bool:
    """Whether there is an ``except``; ``with`` and ``finally`` raise again."""
    if any(step.opname in ("CHECK_EXC_MATCH", "JUMP_IF_NOT_EXC_MATCH") for step in steps):
        return True
    ends = any(step.opname == "POP_EXCEPT" and after.opname != "RERAISE" for step, after in pairwise(steps))
    return ends and all(step.opname != "WITH_EXCEPT_START" for step in steps)


def lead_to_asking(values: Iterable[Any]) -> bool:
    """Whether a function of the user's that asks may be run by what has these, as far as is looked at."""
    for count, value in enumerate(reached(values, _parts)):
        if count > _LOOKED_AT or (isinstance(value, FunctionType) and asks(value.__code__, value.__globals__)):
            return True
    return False


def reached(values: Iterable[Any], parts: Callable[[Any], Iterable[Any]]) -> Iterator[Any]:
    """The values, their parts, and so on, each once."""
    pending, seen = [*values], set[int]()
    while pending:
        value = pending.pop()
        if id(value) not in seen:
            seen.add(id(value))
            yield value
            pending += parts(value)


def _parts(value: Any) -> Iterator[Any]:
    """What can be seen of a value."""
    for kind, name in _WRAPPED:
        if isinstance(value, kind):
            yield getattr(value, name)
    if isinstance(value, dict):
        yield from islice(value.values(), _ITEMS)
    elif isinstance(value, list | tuple | set | frozenset):
        yield from islice(value, _ITEMS)
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
