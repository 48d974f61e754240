"""Ragged arguments of numbers as lists, for a program that does with them what only lists can: change them, slice them,
sort them, hand them on where a list is.

    function f(xs)  ->    function f.of_lists(xs)
                            list = list_of_rows(xs)
                            result = call f(list)
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from autobatch import ir
from autobatch.context import as_lowered_now
from autobatch.ir.types import Tensor
from autobatch.language.list_methods import of_rows
from autobatch.language.structs import Rows


def take_lists(program: ir.Program) -> ir.Program:
    """The program that makes lists of its ragged arguments of numbers before anything else."""
    entry = program.entry
    ragged = {v for v, type_ in zip(entry.inputs, program.arguments, strict=True) if is_of_numbers(type_)}
    lists = {v: f"{v}.list" for v in ragged}
    to_list = ir.Expression("list_of_rows(«0»)", as_lowered_now(of_rows))
    ops = [ir.Primitive((lists[v],), to_list, (v,), entry.location) for v in entry.inputs if v in ragged]
    call = ir.Call(entry.outputs, entry.name, tuple(lists.get(v, v) for v in entry.inputs), entry.location)
    first = replace(entry, name=f"{entry.name}.of_lists", blocks=(ir.Block((*ops, call), ir.Return()),))
    return replace(program, functions=(first, *program.functions))


def any_of_numbers(types: Iterable[Any]) -> bool:
    return any(map(is_of_numbers, types))


def is_of_numbers(type_: Any) -> bool:
    """Whether this is a ragged argument whose rows are numbers."""
    return isinstance(type_, Rows) and isinstance(type_.padded, Tensor) and len(type_.padded.shape) == 1
