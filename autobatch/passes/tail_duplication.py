"""Short blocks that end in a branch, copied to the end of the blocks that jump to them.

A loop's test and a recursive function's test for its base case are such blocks.  Each jump to one is a step of the
machine, which costs the more the fewer members there are.
"""

from __future__ import annotations

from dataclasses import replace

from autobatch import ir
from autobatch.passes.flow import reachable
from autobatch.passes.leaf_flow import leaf_type, leaves_of, steps
from autobatch.passes.stack_lowering import TypedStackProgram
from autobatch.regions import makes_checks

LONGEST = 12  # TensorFlow operations that are copied


def duplicate_tails(typed: TypedStackProgram) -> TypedStackProgram:
    """The program with short tests where they are jumped to, and without the blocks that nothing reaches then."""
    short = {i: block for i, block in enumerate(typed.program.blocks) if _is_short_test(block, typed)}
    blocks = [_with_test(block, short) for block in typed.program.blocks]
    kept = sorted(reachable(blocks))
    to = {old: new for new, old in enumerate(kept)}
    program = replace(
        typed.program,
        blocks=tuple(replace(blocks[i], terminator=ir.retargeted(blocks[i].terminator, to)) for i in kept),
        labels=tuple((to[i], name) for i, name in typed.program.labels if i in to),
    )
    owners = tuple(typed.owners[i] for i in kept)
    return replace(
        typed, program=program, owners=owners, epilogue=None if typed.epilogue is None else to[typed.epilogue]
    )


def _is_short_test(block: ir.Block, typed: TypedStackProgram) -> bool:
    """Whether it does no more than compare a few numbers, which cannot fail."""
    if not isinstance(block.terminator, ir.Branch) or makes_checks(block.ops, typed.checks):
        return False
    if not all(isinstance(op, ir.Update) and op.function.kind == "member" for op in block.ops):
        return False
    used = {v for op in block.ops for v in (*op.inputs, *op.outputs)}
    if not used <= typed.types.keys():  # a value that is no tensor
        return False
    if any(leaf_type(leaf, typed.types).shape for v in used for leaf in leaves_of(v, typed.types)):
        return False
    return sum(len(step.operations) for step in steps(block, typed.types, typed.shared)) <= LONGEST


def _with_test(block: ir.Block, short: dict[int, ir.Block]) -> ir.Block:
    match block.terminator:
        case ir.Jump(target) if target in short:
            return ir.Block((*block.ops, *short[target].ops), short[target].terminator)
        case ir.PushJump(ir.Jump(target)) as call if target in short:
            test = short[target].terminator
            assert isinstance(test, ir.Branch)
            return ir.Block((*block.ops, *short[target].ops), replace(call, then=test))
        case _:
            return block
