"""Numbers the blocks so that costly ones come last.

The machine runs the earliest block at which a lane waits (paper, section 2), so the numbering is a priority.  With
the costly blocks last, they run only once every live lane waits at one of them, and so with most lanes active.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

import tensorflow as tf

from autobatch import ir, regions
from autobatch.inference import symbolic
from autobatch.passes.stack_lowering import TypedStackProgram

COSTLY = 2000  # floating-point operations a member, above which waiting for more lanes pays


def costly_last(typed: TypedStackProgram) -> TypedStackProgram:
    """Moves the costly blocks behind the others, and the epilogue behind all; the first block stays first."""
    blocks = typed.program.blocks
    costs = [_block_cost(block, typed) for block in blocks]
    usual = sorted(costs)[len(costs) // 2]
    late = [i for i, cost in enumerate(costs) if i and cost >= max(COSTLY, 4 * usual) and i != typed.epilogue]
    last = [] if typed.epilogue is None else [typed.epilogue]
    order = [i for i in range(len(blocks)) if i not in (*late, *last)] + late + last
    to = {old: new for new, old in enumerate(order)}
    program = replace(
        typed.program,
        blocks=tuple(replace(blocks[i], terminator=_retarget(blocks[i].terminator, to)) for i in order),
        labels=tuple((to[i], name) for i, name in typed.program.labels),
    )
    epilogue = None if typed.epilogue is None else to[typed.epilogue]
    return replace(typed, program=program, live_end=tuple(typed.live_end[i] for i in order), epilogue=epilogue)


def _retarget(terminator: ir.Terminator, to: dict[int, int]) -> ir.Terminator:
    match terminator:
        case ir.Jump(target):
            return ir.Jump(to[target])
        case ir.Branch(_, true, false):
            return replace(terminator, true=to[true], false=to[false])
        case ir.PushJump(target, return_to):
            return replace(terminator, target=to[target], return_to=to[return_to])
        case _:
            return terminator


def _block_cost(block: ir.Block, typed: TypedStackProgram) -> int:
    """About how many floating-point operations the block does for one member."""
    cost = 0
    for region in regions.regions(block.ops):
        if isinstance(region, regions.Region) and any(op.function is not ir.COPY for op in region.ops):
            with tf.__internal__.FuncGraph("autobatch_cost").as_default() as graph:
                env = symbolic(region, {v: typed.types[v] for v in region.inputs}, typed.shared)
                if region.kind == "batch":
                    region.ops[0].function.call(*(env[v] for v in region.ops[0].inputs))
                else:
                    regions.execute(region.ops, env)
                cost += sum(map(_operation_cost, graph.get_operations()))
    return cost


def _operation_cost(operation: tf.Operation) -> int:
    if operation.type in ("Placeholder", "Const", "Reshape", "Identity", "ExpandDims", "Squeeze", "Shape"):
        return 0
    elements = sum(_size(output.shape) for output in operation.outputs)
    if operation.type in ("MatMul", "BatchMatMulV2", "Einsum", "Conv2D"):
        # every output element sums over what the inputs have and the output has not
        inputs = [_size(tensor.shape) for tensor in operation.inputs]
        return 2 * round(math.sqrt(math.prod(inputs) * max(elements, 1)))
    return max([elements, *(_size(tensor.shape) for tensor in operation.inputs)])


def _size(shape: tf.TensorShape | Sequence[int]) -> int:
    return math.prod(d or 1 for d in shape) if tf.TensorShape(shape).rank is not None else 1
