"""Jumps past blocks that only jump on or return.

Once copies share registers, a loop's exit that returns what stands in the result's registers does nothing itself.
As a block of its own it would be a step of the machine.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from autobatch import ir
from autobatch.ir.flow import reachable
from autobatch.ir.stored import StoredProgram
from autobatch.ir.typed import makes_checks


def thread_jumps(stored: StoredProgram) -> StoredProgram:
    """The program without the blocks that nothing reaches then; the epilogue stays, as lanes gather there."""
    typed, old = stored.typed, stored.program.blocks
    past = {i: old[i].terminator for i in range(1, len(old)) if i != typed.epilogue and _only_goes_on(stored, i)}
    blocks = [replace(block, terminator=_threaded(block.terminator, past)) for block in old]
    labels = tuple((_end(i, past), name) for i, name in typed.program.labels)
    program = replace(typed.program, blocks=tuple(blocks), labels=labels)
    kept = sorted(reachable(blocks) if typed.epilogue is None else reachable(blocks) | {typed.epilogue})
    return replace(stored, typed=replace(typed, program=program)).with_blocks(kept)


def _only_goes_on(stored: StoredProgram, i: int) -> bool:
    block, storage = stored.program.blocks[i], stored.blocks[i]
    if not isinstance(block.terminator, ir.Jump | ir.Return) or makes_checks(block.ops, stored.typed.checks):
        return False
    return not storage.writes and not any(step.saves & stored.stacked for step in storage.steps)


def _threaded(terminator: ir.Terminator, past: Mapping[int, ir.Terminator]) -> ir.Terminator:
    match terminator:
        case ir.Jump(target):
            return ir.Return() if (end := _end(target, past)) == ir.RETURN else ir.Jump(end)
        case ir.Branch(_, true, false):
            return replace(terminator, true=_end(true, past), false=_end(false, past))
        case ir.PushJump(ir.Jump(target)) as call:
            end = _end(target, past)
            return call if end == ir.RETURN else replace(call, then=ir.Jump(end))
        case _:
            return terminator


def _end(target: int, past: Mapping[int, ir.Terminator]) -> int:
    """Where a jump to the block leads; an endless loop of jumps stays what it is."""
    seen: set[int] = set()
    while target in past and target not in seen:
        seen.add(target)
        then = past[target]
        target = then.target if isinstance(then, ir.Jump) else ir.RETURN
    return target
