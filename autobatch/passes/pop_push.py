"""A value that is restored only to be saved again stays where it is (paper, section 3, the fifth optimisation)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from autobatch import ir
from autobatch.ir.typed import TypedStackProgram


def cancel_pops(typed: TypedStackProgram) -> TypedStackProgram:
    """The paper's fifth optimisation, in every block."""
    blocks = tuple(_cancelled(block, _passed(block, typed)) for block in typed.program.blocks)
    return replace(typed, program=replace(typed.program, blocks=blocks))


def _passed(block: ir.Block, typed: TypedStackProgram) -> frozenset[str]:
    """The variables whose tops a call at the end of the block hands over."""
    end = block.terminator
    return frozenset(typed.owners[end.targets[0]].inputs) if isinstance(end, ir.PushJump) else frozenset()


def _cancelled(block: ir.Block, passed: frozenset[str]) -> ir.Block:
    """``pop v`` ... ``push v = f(x)`` with v untouched between them becomes ``update v = f(x)``, and nothing at all if
    f is the copy of v and neither the block nor the call that it ends in (which gets ``passed``) reads v.
    """
    ops = list(block.ops)
    for k, pop in enumerate(ops):
        if not isinstance(pop, ir.Pop):
            continue
        for v in pop.variables:
            at = _push_without_touch(ops, k, v, passed)
            if at is None:
                continue
            push, now = ops[at], ops[k]
            assert isinstance(push, ir.Push)
            assert isinstance(now, ir.Pop)
            ops[k] = replace(now, variables=tuple(u for u in now.variables if u != v))
            kept = ir.Update(push.outputs, push.function, push.inputs, push.location)
            ops[at] = ir.Pop((), push.location) if push.inputs == push.outputs else kept
    return replace(block, ops=tuple(op for op in ops if not (isinstance(op, ir.Pop) and not op.variables)))


def _push_without_touch(ops: Sequence[ir.Op], start: int, variable: str, passed: frozenset[str]) -> int | None:
    """Where the variable is pushed next, if nothing needs the restored top."""
    for k in range(start + 1, len(ops)):
        op = ops[k]
        if isinstance(op, ir.Push) and op.outputs == (variable,):
            if op.inputs != op.outputs:
                return k if variable not in op.inputs else None
            later = [v for after in ops[k + 1 :] for v in ir.reads(after)]
            overwritten = any(variable in ir.writes(after) for after in ops[k + 1 :])
            return None if variable in later or (variable in passed and not overwritten) else k
        if variable in ir.reads(op) or variable in ir.writes(op):
            return None
    return None
