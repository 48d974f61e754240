"""When two pieces of code do the same: if they are of one text and one scope, however often it was compiled."""

from __future__ import annotations

from collections.abc import Hashable
from functools import partial
from types import CellType, FunctionType
from typing import Any

from autobatch import ir
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
