"""A function whose argument is of one type at one call and of another at the next becomes one for each call.

y = call scaled(v, k)          y = call scaled(v, k)
z = call scaled(v, w)   ->     z = call scaled.2(v, w)         k: a number, w: a vector of the user's class
"""

from __future__ import annotations

import itertools
from dataclasses import replace

from autobatch import ir

MOST_FUNCTIONS = 100  # of a program, with the copies


def one_for_each_call(program: ir.Program, name: str) -> ir.Program:
    """The program with a copy of the function for each call from others; itself if there are not several."""
    function = program[name]
    others = [f for f in program.functions if f.name != name]
    count = sum(_calls(op, name) for f in others for b in f.blocks for op in b.ops)
    if function is program.entry or count < 2 or len(program.functions) + count > MOST_FUNCTIONS:
        return program
    taken = {f.name for f in program.functions}
    free = (each for k in itertools.count(2) if (each := f"{name}.{k}") not in taken)
    names = iter([name, *itertools.islice(free, count - 1)])
    copies = []

    def copied(op: ir.LocalOp) -> ir.LocalOp:
        if not _calls(op, name):
            return op
        copies.append(_renamed(function, next(names)))
        return replace(op, function=copies[-1].name)  # type: ignore[arg-type]

    callers = [replace(f, blocks=tuple(replace(b, ops=tuple(map(copied, b.ops))) for b in f.blocks)) for f in others]
    return replace(program, functions=(*callers, *copies))


def asks_for_types(program: ir.Program, name: str) -> bool:
    """Whether the function, or one that it calls, asks what a value is."""
    found = [name]
    for each in found:  # which grows
        ops = [op for block in program[each].blocks for op in block.ops]
        if any(isinstance(op, ir.Assign) and any(f"{ask}(" in op.function.template for ask in _ASKS) for op in ops):
            return True
        found += dict.fromkeys(op.function for op in ops if isinstance(op, ir.Call) and op.function not in found)
    return False


_ASKS = ("isinstance_", "type_", "hasattr_", "getattr_")


def _calls(op: ir.LocalOp, name: str) -> bool:
    return isinstance(op, ir.Call) and op.function == name


def _renamed(function: ir.Function, name: str) -> ir.Function:
    """The function under another name, by which it calls itself."""

    def own(op: ir.LocalOp) -> ir.LocalOp:
        return replace(op, function=name) if _calls(op, function.name) else op  # type: ignore[arg-type]

    return replace(function, name=name, blocks=tuple(replace(b, ops=tuple(map(own, b.ops))) for b in function.blocks))
