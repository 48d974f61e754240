"""About how long each block takes, from the operations that it does: for the order and the choice of blocks.

The unit is an element-wise operation on one number, about 0.1 ns on a CPU of 2024; measured with NUTS on a
100-dimensional Gaussian (docs/performance.md).
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import tensorflow as tf

from autobatch.passes.leaf_flow import leaf_type
from autobatch.passes.storage import BlockStorage, StoredProgram

FIXED = 30_000  # running a block, however many lanes wait there
PRODUCT = 1 / 8  # a floating-point operation of a matrix product
STACKED = 3  # a number that goes to a stack, or comes from it
MOVED = 1  # a number that goes to a register


def block_costs(stored: StoredProgram) -> tuple[float, ...]:
    """For each block, what it costs for each lane."""
    return tuple(_computed(block) + _moved(block, stored) for block in stored.blocks)


def _computed(block: BlockStorage) -> float:
    return sum(_operation_cost(operation) for step in block.steps for operation in step.operations)


def _moved(block: BlockStorage, stored: StoredProgram) -> float:
    saved = [leaf for step in block.steps for leaf in (step.saves | step.restores) & stored.stacked]
    weighed = [(leaf, STACKED) for leaf in saved] + [(leaf, MOVED) for leaf in block.writes]
    return sum(weight * _size(leaf_type(leaf, stored.types).shape) for leaf, weight in weighed)


def _operation_cost(operation: tf.Operation) -> float:
    if operation.type in ("Placeholder", "Const", "Reshape", "Identity", "ExpandDims", "Squeeze", "Shape"):
        return 0
    if operation.type == "PartitionedCall":
        body = operation.graph._get_function(operation.get_attr("f").name).graph
        return sum(map(_operation_cost, body.get_operations()))
    elements = sum(_size(output.shape) for output in operation.outputs)
    if operation.type in ("MatMul", "BatchMatMulV2", "Einsum", "Conv2D"):
        # every output element sums over what the inputs have and the output has not
        inputs = [_size(tensor.shape) for tensor in operation.inputs]
        return 2 * PRODUCT * math.sqrt(math.prod(inputs) * max(elements, 1))
    return max([elements, *(_size(tensor.shape) for tensor in operation.inputs)])


def _size(shape: tf.TensorShape | Sequence[int]) -> int:
    return math.prod(d or 1 for d in shape) if tf.TensorShape(shape).rank is not None else 1
