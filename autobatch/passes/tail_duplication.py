"""Short blocks that end in a branch, copied to the end of the blocks that jump to them.

A loop's test and a recursive function's test for its base case are such blocks.  Each jump to one is a step of the
machine, which costs the more the fewer members there are.
"""

from __future__ import annotations

from dataclasses import replace

from autobatch import ir
from autobatch.ir.flow import reachable
from autobatch.ir.leaves import Step, leaf_type, leaves_of
from autobatch.ir.typed import TypedStackProgram, makes_checks

LONGEST = 12  # TensorFlow operations that are copied


def duplicate_tails(typed: TypedStackProgram) -> TypedStackProgram:
    """The program with short tests where they are jumped to, and without the blocks that nothing reaches then."""
    blocks = typed.program.blocks
    short = {i for i in range(len(blocks)) if _is_short_test(typed, i)}
    into = {i: target for i, block in enumerate(blocks) if (target := _jumps_to(block)) in short}
    program = replace(
        typed.program,
        blocks=tuple(_with_test(b, blocks[into[i]]) if i in into else b for i, b in enumerate(blocks)),
    )
    flows = tuple(_flow_with_test(typed, i, into[i]) if i in into else f for i, f in enumerate(typed.flows))
    return replace(typed, program=program, flows=flows).with_blocks(sorted(reachable(program.blocks)))


def _is_short_test(typed: TypedStackProgram, i: int) -> bool:
    """Whether the block does no more than compare a few numbers, which cannot fail."""
    block = typed.program.blocks[i]
    if not isinstance(block.terminator, ir.Branch) or makes_checks(block.ops, typed.checks):
        return False
    if not all(isinstance(op, ir.Update) and op.function.kind == "member" for op in block.ops):
        return False
    used = {v for op in block.ops for v in (*op.inputs, *op.outputs)}
    if not used <= typed.types.keys():  # a value that is no tensor
        return False
    if any(leaf_type(leaf, typed.types).shape for v in used for leaf in leaves_of(v, typed.types)):
        return False
    return sum(len(step.operations) for step in typed.flows[i]) <= LONGEST


def _jumps_to(block: ir.Block) -> int | None:
    match block.terminator:
        case ir.Jump(target) | ir.PushJump(ir.Jump(target)):
            return target
        case _:
            return None


def _with_test(block: ir.Block, test: ir.Block) -> ir.Block:
    end = block.terminator
    assert isinstance(test.terminator, ir.Branch)
    end = replace(end, then=test.terminator) if isinstance(end, ir.PushJump) else test.terminator
    return ir.Block((*block.ops, *test.ops), end)


def _flow_with_test(typed: TypedStackProgram, i: int, test: int) -> tuple[Step, ...]:
    """The parts of both blocks; a region at the end of the first goes on in the second."""
    first, second = typed.flows[i], typed.flows[test]
    ops = typed.program.blocks[i].ops
    if not (first and second and isinstance(ops[-1], ir.Update) and ops[-1].function.kind == "member"):
        return (*first, *second)
    return (*first[:-1], first[-1].followed_by(second[0]), *second[1:])
