"""Names that are plainly one object, ``ys = xs``, get what a change in place makes of it before types are known.

What happens behind the change may depend on it: ``ys[1] = v`` fails for a list of one item.  Which other names hold the
object, or a part of it, is known with the types alone (``aliasing.py``).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from autobatch import ir
from autobatch.ir.flow import live_before, liveness
from autobatch.passes.changed_arguments import changed_by
from autobatch.passes.sharing import State, joined

_NOTHING = State(frozenset(), frozenset())


def share_by_name(program: ir.Program) -> ir.Program:
    """The program with copies behind its changes."""
    return replace(program, functions=tuple(_shared(function, program) for function in program.functions))


def _shared(function: ir.Function, program: ir.Program) -> ir.Function:
    ops = [op for block in function.blocks for op in block.ops]
    changes = {op: changed_by(op, program) for op in ops}
    if not any(changes.values()) or all(_source(op) is None for op in ops):
        return function

    def after(state: State, op: ir.LocalOp) -> State:
        for new, old in changes[op]:
            state = state.changed(old, new, (), {*state.like(old)})
        made = {v for v in op.outputs if v not in dict(changes[op])}
        source = _source(op)
        return state.assigned({v: {} if source is None else {source: True} for v in made})

    before: list[State | None] = [_NOTHING, *(None for _ in function.blocks[1:])]
    pending = [0]
    while pending:
        i = pending.pop()
        state = before[i] or _NOTHING
        for op in function.blocks[i].ops:
            state = after(state, op)
        for j in ir.successors(function.blocks[i].terminator):
            new = joined(before[j], state)
            if new != before[j]:
                before[j] = new
                pending.append(j)

    _, live_end = liveness(function)

    def with_copies(i: int, block: ir.Block) -> Iterator[ir.LocalOp]:
        state = before[i] or _NOTHING
        for k, op in enumerate(block.ops):
            yield op
            live = live_before(block.ops[k + 1 :], live_end[i])
            for new, old in changes[op]:
                for other in sorted(state.like(old) & live - {new, old, *op.inputs, *op.outputs}):
                    yield ir.Primitive((other,), ir.COPY, (new,), op.location)
            state = after(state, op)

    blocks = (replace(block, ops=tuple(with_copies(i, block))) for i, block in enumerate(function.blocks))
    return replace(function, blocks=tuple(blocks))


def _source(op: ir.LocalOp) -> str | None:
    """What the operation gives another name."""
    return op.inputs[0] if isinstance(op, ir.Primitive) and op.function == ir.COPY else None
