"""``x[i] = v`` in place: the cost of a write is that of what it writes, not of ``x``.

    x = setitem(x, i, v)      becomes      where, what = place(x, i, v)
                                           x = write(x, where, what)

if x is a tensor, or a list of a member's own length, to which also ``x.append(v)`` writes.  ``place`` is straight-line
code like any other; ``write`` is an operation of the backends, which scatter ``what`` into the rows of the members that
take part, and leave the others' alone.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

import tensorflow as tf

from autobatch import ir
from autobatch.ir import regions
from autobatch.ir.flow import live_before, liveness
from autobatch.ir.typed import TypedProgram, Variable
from autobatch.ir.types import Tensor, Type, opaque, same, type_of
from autobatch.language.indexing import scatter
from autobatch.language.lists import MemberList
from autobatch.tracing.execute import execute
from autobatch.tracing.symbolic import symbolic

WRITE = ir.Expression("write(«0», «1», «2»)", scatter, "write")


def write_in_place(typed: TypedProgram) -> TypedProgram:
    """Splits item assignments to tensors into where, what and the write itself."""
    types = dict(typed.types)
    functions = tuple(_rewritten(function, typed, types) for function in typed.program.functions)
    return replace(typed, program=replace(typed.program, functions=functions), types=types)


def _rewritten(function: ir.Function, typed: TypedProgram, types: dict[Variable, Type]) -> ir.Function:
    blocks = []
    for block in function.blocks:
        ops: list[Any] = []
        for part in regions.regions(block.ops):
            if isinstance(part, regions.Region):
                ops += _in_place(part, function.name, typed, types)
            else:
                ops.append(part)
        blocks.append(replace(block, ops=tuple(ops)))
    return _coalesced(replace(function, blocks=tuple(blocks)))


def _coalesced(function: ir.Function) -> ir.Function:
    """Gives a written variable and the one that it is copied from one name, where the latter is not read again."""
    new: dict[str, str] = {}
    fixed = {*function.inputs, *function.outputs}
    for pair in _copied_to_write(function):
        source, target = (new.get(v, v) for v in pair)
        if source == target or {source, target} <= fixed or _interfere(function, source, target):
            continue
        root, other = (target, source) if target in fixed else (source, target)
        function = _with_names(function, {other: root})
        new = {v: root if name == other else name for v, name in new.items()} | {other: root}
    return function


def _copied_to_write(function: ir.Function) -> list[tuple[str, str]]:
    pairs = []
    for block in function.blocks:
        for copy, write in zip(block.ops, block.ops[1:], strict=False):
            if isinstance(write, ir.Primitive) and write.function is WRITE and copy.outputs == write.outputs:
                pairs.append((copy.inputs[0], copy.outputs[0]))
    return pairs


def _interfere(function: ir.Function, one: str, other: str) -> bool:
    """Whether one of the variables is set, other than to a copy of the other, while the other is still to be read."""
    _, live_end = liveness(function)
    for block, live in zip(function.blocks, live_end, strict=True):
        for k, op in enumerate(block.ops):
            after = live_before(block.ops[k + 1 :], live)
            for a, b in ((one, other), (other, one)):
                is_copy = isinstance(op, ir.Primitive) and op.function is ir.COPY and op.inputs == (b,)
                if a in op.outputs and b in after and not is_copy:
                    return True
    return {one, other} <= set(function.inputs)


def _with_names(function: ir.Function, new: Mapping[str, str]) -> ir.Function:
    def names(variables: Iterable[str]) -> tuple[str, ...]:
        return tuple(new.get(v, v) for v in variables)

    blocks = []
    for block in function.blocks:
        ops = (replace(op, inputs=names(op.inputs), outputs=names(op.outputs)) for op in block.ops)
        kept = tuple(op for op in ops if not (op.inputs == op.outputs and getattr(op, "function", None) is ir.COPY))
        end = block.terminator
        if isinstance(end, ir.Branch):  # on whether a list has items
            end = replace(end, condition=new.get(end.condition, end.condition))
        blocks.append(replace(block, ops=kept, terminator=end))
    return replace(function, blocks=tuple(blocks))


def _in_place(region: regions.Region, function: str, typed: TypedProgram, types: dict[Variable, Type]) -> list[Any]:
    if not any(op.function.place for op in region.ops):
        return list(region.ops)
    ops: list[Any] = []
    with tf.__internal__.FuncGraph("autobatch_writes").as_default():
        env = symbolic(region, {v: types[function, v] for v in region.inputs}, typed.shared)
        for k, op in enumerate(region.ops):
            before = dict(env)
            execute((op,), env)
            if op.function.place is None or not _has_places(op, before, env) or _keeps(region, k, before):
                ops.append(op)
                continue
            number = sum(f == function and v.startswith("where:") for f, v in types)
            where, what = f"where:{number}", f"what:{number}"
            operator, _, arguments = op.function.template.partition("(")
            text = f"{'place' if operator == 'setitem' else f'place_of_{operator}'}({arguments}"
            place = ir.Primitive((where, what), ir.Expression(text, op.function.place), op.inputs, op.location)
            execute((place,), env)
            ops += [place, *_write(op, where, what)]
            new = {v: type_of(env[v]) for v in {where, what, *(u for o in region.ops[: k + 1] for u in o.outputs)}}
            for v, type_ in new.items():
                types.setdefault((function, v), type_)
    return ops


def _has_places(op: ir.Assign, before: Mapping[str, Any], after: Mapping[str, Any]) -> bool:
    """Whether what changes is a tensor, or a list that keeps its capacity."""
    old, new = type_of(before[op.inputs[0]]), type_of(after[op.outputs[0]])
    if isinstance(new, MemberList):
        return same(old, new) and "slice_(" not in op.function.template
    return isinstance(new, Tensor)


def _keeps(region: regions.Region, k: int, env: Mapping[str, Any]) -> bool:
    """Whether something lives across operation ``k`` that cannot cross from one region to another."""
    made = {v for op in region.ops[:k] for v in op.outputs} - {region.ops[k].inputs[0]}
    later = {v for op in region.ops[k:] for v in op.inputs}
    return any(opaque(type_of(env[v])) or isinstance(env[v], list | dict) for v in made & later)


def _write(op: ir.Assign, where: str, what: str) -> list[Any]:
    (target,), source = op.outputs, op.inputs[0]
    write = ir.Primitive((target,), WRITE, (target, where, what), op.location)
    return [write] if source == target else [ir.Primitive((target,), ir.COPY, (source,), op.location), write]
