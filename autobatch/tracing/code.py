"""The code of a program's operations: what it reads from outside, and when two do the same.

That is if they are of one text and one scope, however often it was compiled.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from functools import partial
from types import CellType, CodeType, FunctionType
from typing import Any

from autobatch import context, ir
from autobatch.language.keys import Same, key


def code_key(value: Any, within: tuple[FunctionType, ...] = ()) -> Hashable:
    """Equal for functions that were made of the same code and hold the same; of other values, their ``key``.

    within: the functions that hold it, which it may hold in turn.
    """
    if isinstance(value, FunctionType):
        if value in within:
            return within.index(value)
        within = (*within, value)
        cells = tuple(_cell_key(cell, within) for cell in value.__closure__ or ())
        held = (value.__defaults__, (*(value.__kwdefaults__ or {}).items(),))
        return (value.__code__, Same(value.__globals__), cells, code_key(held, within))
    if isinstance(value, partial):
        return (partial, code_key((value.func, value.args, (*value.keywords.items(),)), within))
    if isinstance(value, ir.Expression):
        return (ir.Expression, value.template, value.kind, value.size, code_key(value.call, within))
    if isinstance(value, ir.Primitive | ir.Update):
        return (type(value), value.outputs, value.inputs, code_key(value.function, within))
    if type(value) is tuple:
        return tuple(code_key(part, within) for part in value)
    return key(value)


def _cell_key(cell: CellType, within: tuple[FunctionType, ...]) -> Hashable:
    return None if cell == CellType() else (code_key(cell.cell_contents, within),)


def read_outside(code: Any) -> Iterator[Any]:
    """What the user's statements read from outside, of those that a function of ours runs."""
    pending, seen = [code], set[int]()
    while pending:
        value = pending.pop()
        if id(value) in seen:
            continue
        seen.add(id(value))
        if isinstance(value, ir.Expression):
            pending.append(value.call)
        elif isinstance(value, partial):
            pending += (value.func, *value.args)
        elif isinstance(value, FunctionType):
            cells = dict(zip(value.__code__.co_freevars, value.__closure__ or (), strict=True))
            held = {name: cell.cell_contents for name, cell in cells.items() if cell != CellType()}
            if value.__name__.startswith(context.GENERATED):
                names = _names(value.__code__)
                yield from (part for name, part in held.items() if name != context.GENERATED)
                yield from (value.__globals__[name] for name in names if name in value.__globals__)
            else:
                pending += held.values()


def _names(code: CodeType) -> set[str]:
    inner = (_names(part) for part in code.co_consts if isinstance(part, CodeType))
    return set(code.co_names).union(*inner)
