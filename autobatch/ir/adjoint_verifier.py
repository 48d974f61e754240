"""What must hold of an adjoint program: of what is recorded above all.

Whoever overwrites what a pullback needs has recorded it.  The pass finds what to record from all that is needed at
once, until nothing changes; here each need is followed by itself, from the block that has it to those that overwrite
it first.
"""

from __future__ import annotations

from autobatch import ir
from autobatch.ir.adjoint import AdjointProgram, BlockAdjoint, PartAdjoint, has_derivatives
from autobatch.ir.leaves import Leaf, Step, leaf_name, leaf_type
from autobatch.ir.verifier import check, fail, verify


@verify.register
def _(adjoint: AdjointProgram) -> None:
    stored = adjoint.stored
    check(len(adjoint.blocks) == len(stored.blocks), "Not every block has an adjoint.")
    known, stacked = set(stored.registers.values()), stored.stacked
    for leaf in (*sorted(adjoint.registers), *sorted(adjoint.stacks), *sorted(adjoint.inputs)):
        dtype = leaf_type(leaf, stored.types).dtype
        check(has_derivatives(dtype), f"`{leaf_name(leaf)}` has a cotangent, and is {dtype.name}.")
    for leaf in sorted(adjoint.registers - known):
        fail(f"`{leaf_name(leaf)}` has a cotangent, and is no register.")
    for leaf in sorted(adjoint.stacks - stacked):
        fail(f"The stack of `{leaf_name(leaf)}` has cotangents, and nothing restores what is saved there.")
    for i, block in enumerate(adjoint.blocks):
        _verify_block(adjoint, i, block)
        _verify_depth(adjoint, i, block)
        for register in sorted(block.reads):
            _verify_kept(adjoint, register, i)


def _verify_block(adjoint: AdjointProgram, i: int, block: BlockAdjoint) -> None:
    storage = adjoint.stored.blocks[i]
    check(len(block.parts) == len(storage.steps), f"Not every part of block {i} has an adjoint.")
    check(block.written == set(adjoint.stored.put(i)), f"Block {i} writes other registers than its adjoint knows.")
    for register in sorted(block.cotangents - adjoint.registers):
        fail(f"Block {i} changes the cotangent of `{leaf_name(register)}`, which has none.")
    for register in sorted(set(block.records) - block.written):
        fail(f"Block {i} records `{leaf_name(register)}`, and does not write it.")
    for part, step in zip(block.parts, storage.steps, strict=True):
        _verify_part(adjoint, f"of block {i}", part, step)


def _verify_part(adjoint: AdjointProgram, where: str, part: PartAdjoint, step: Step) -> None:
    for leaf in sorted({*part.outputs, *part.computes, *part.taped} - step.sources.keys()):
        fail(f"A part {where} has to do with `{leaf_name(leaf)}`, and does not set it.")
    for leaf in sorted(set(part.stacks) - ((step.saves | step.restores) & adjoint.stacks)):
        fail(f"A part {where} moves a cotangent of `{leaf_name(leaf)}`, which it neither saves nor restores.")
    for leaf in part.outputs:
        dtype = leaf_type(leaf, adjoint.stored.types).dtype
        check(has_derivatives(dtype), f"A part {where} has a cotangent of `{leaf_name(leaf)}`, which is {dtype.name}.")
    for leaf in part.taped:
        check(leaf in step.restores, f"A part {where} tapes `{leaf_name(leaf)}`, and does not restore it.")


def _verify_depth(adjoint: AdjointProgram, i: int, block: BlockAdjoint) -> None:
    terminator = adjoint.stored.program.blocks[i].terminator
    returns = ir.may_return(terminator)
    is_known = isinstance(terminator, ir.Return) or not returns
    moves = 1 if isinstance(terminator, ir.PushJump) else -1 if returns and is_known else 0
    wanted = (moves, not is_known) if adjoint.holds_depth else (0, False)
    told = f"Block {i} ends in `{terminator}`: its adjoint does not know how deep its lanes were."
    check((block.pushes, block.records_depth) == wanted, told)


def _verify_kept(adjoint: AdjointProgram, register: Leaf, reader: int) -> None:
    """What a block's pullback needs is recorded by all that may be the first to overwrite it."""
    seen, pending = set[int](), [reader]
    while pending:
        i = pending.pop()
        if i in seen:
            continue
        seen.add(i)
        block = adjoint.blocks[i]
        if register not in block.written:
            pending += adjoint.stored.typed.next_blocks(i)
        elif register not in block.records:
            name = leaf_name(register)
            fail(f"Block {i} overwrites `{name}`, which block {reader} needs backwards, and does not record it.")
