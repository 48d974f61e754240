"""About how long each block takes, from the operations that it does: for the order and the choice of blocks.

The unit is an element-wise operation on one number, about 0.1 ns on a CPU of 2024; measured with NUTS on a
100-dimensional Gaussian (docs/performance.md).
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import tensorflow as tf

from autobatch import ir, regions
from autobatch.inference import symbolic
from autobatch.passes.stack_lowering import TypedStackProgram
from autobatch.types import dynamic

FIXED = 30_000  # running a block, however many lanes wait there
PRODUCT = 1 / 8  # a floating-point operation of a matrix product
STACKED = 3  # a number that goes to a stack, or comes from it
MOVED = 1  # a number that goes to a register


def block_costs(typed: TypedStackProgram) -> tuple[float, ...]:
    """For each block, what it costs for each lane."""
    return tuple(_computed(block, typed) + _moved(block, typed) for block in typed.program.blocks)


def _moved(block: ir.Block, typed: TypedStackProgram) -> float:
    cost = 0.0
    for op in block.ops:
        weight = MOVED if isinstance(op, ir.Update) else STACKED
        used = [v for v in ir.writes(op) if v in typed.types]
        cost += weight * sum(_size(leaf.shape) for v in used for leaf in dynamic(typed.types[v]))
    return cost


def _computed(block: ir.Block, typed: TypedStackProgram) -> float:
    cost = 0.0
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


def _operation_cost(operation: tf.Operation) -> float:
    if operation.type in ("Placeholder", "Const", "Reshape", "Identity", "ExpandDims", "Squeeze", "Shape"):
        return 0
    elements = sum(_size(output.shape) for output in operation.outputs)
    if operation.type in ("MatMul", "BatchMatMulV2", "Einsum", "Conv2D"):
        # every output element sums over what the inputs have and the output has not
        inputs = [_size(tensor.shape) for tensor in operation.inputs]
        return 2 * PRODUCT * math.sqrt(math.prod(inputs) * max(elements, 1))
    return max([elements, *(_size(tensor.shape) for tensor in operation.inputs)])


def _size(shape: tf.TensorShape | Sequence[int]) -> int:
    return math.prod(d or 1 for d in shape) if tf.TensorShape(shape).rank is not None else 1
