"""About how long each block takes, from the operations that it does: for the order and the choice of blocks.

The unit is an element-wise operation on one number, about 0.1 ns on a CPU of 2024; measured with NUTS on a
100-dimensional Gaussian (docs/performance.md).
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import zip_longest

import tensorflow as tf

from autobatch.ir import regions
from autobatch.ir.leaves import leaf_type
from autobatch.ir.stored import BlockStorage, StoredProgram

FIXED = 30_000  # running a block, however many lanes wait there
PRODUCT = 1 / 8  # a floating-point operation of a matrix product
STACKED = 3  # a number that goes to a stack, or comes from it
MOVED = 1  # a number that goes to a register
FREE = ("Placeholder", "PlaceholderWithDefault", "Const", "Reshape", "Identity", "ExpandDims", "Squeeze", "Shape")
PRODUCTS = ("MatMul", "BatchMatMulV2", "Einsum", "Conv2D")


def estimate(stored: StoredProgram) -> StoredProgram:
    """The program with what each block costs for each lane, its products of matrices, and the smallest of these."""
    costs = tuple(_computed(block) + _moved(block, stored) for block in stored.blocks)
    products = tuple(sum(_products(step.operations) for step in block.steps) for block in stored.blocks)
    return replace(
        stored, costs=costs, products=products, smallest_product=(_smallest(stored, 1), _smallest(stored, 2))
    )


def line_costs(stored: StoredProgram) -> tuple[dict[tuple[str, int], float], ...]:
    """For each block, what each line of the source, (file, line), computes for each lane."""
    found: list[dict[tuple[str, int], float]] = []
    for block, storage in zip(stored.program.blocks, stored.blocks, strict=True):
        found.append({})
        for part, step in zip(regions.regions(block.ops), storage.steps, strict=True):
            ops = part.ops if isinstance(part, regions.Region) else (part,)
            for op, operations in zip_longest(ops, step.work, fillvalue=()):
                place = (op.location.file, op.location.line)
                found[-1][place] = found[-1].get(place, 0) + computed(operations, step.lanes)
    return tuple(found)


def computed(operations: Iterable[tf.Operation], lanes: int) -> float:
    """What these, which were traced for so many lanes, cost for each."""
    return sum(map(_operation_cost, operations)) / lanes


def _computed(block: BlockStorage) -> float:
    return sum(computed(step.operations, step.lanes) for step in block.steps)


def _moved(block: BlockStorage, stored: StoredProgram) -> float:
    saved = [leaf for step in block.steps for leaf in (step.saves | step.restores) & stored.stacked]
    weighed = [(leaf, STACKED) for leaf in saved] + [(leaf, MOVED) for leaf in block.writes]
    return sum(weight * _size(leaf_type(leaf, stored.types).shape) for leaf, weight in weighed)


def _operation_cost(operation: tf.Operation) -> float:
    if operation.type in FREE:
        return 0
    if operation.type == "PartitionedCall":
        return sum(map(_operation_cost, _body(operation)))
    elements = sum(_size(output.shape) for output in operation.outputs)
    if operation.type in PRODUCTS:
        # every output element sums over what the inputs have and the output has not
        inputs = [_size(tensor.shape) for tensor in operation.inputs]
        return 2 * PRODUCT * math.sqrt(math.prod(inputs) * max(elements, 1))
    return max([elements, *(_size(tensor.shape) for tensor in operation.inputs)])


def _products(operations: Iterable[tf.Operation]) -> int:
    """How many products of matrices they are."""
    return sum(_products(_body(o)) if o.type == "PartitionedCall" else o.type in PRODUCTS for o in operations)


def _body(call: tf.Operation) -> list[tf.Operation]:
    return call.graph._get_function(call.get_attr("f").name).graph.get_operations()


def smallest_product(stored: StoredProgram, lanes: int) -> float:
    """The bytes of the operands, of one lane, of the smallest product of matrices; infinite if there is none.

    Not counted are those of two vectors and, in one lane alone, of a matrix and a vector.
    """
    return stored.smallest_product[lanes > 1]


def _smallest(stored: StoredProgram, lanes: int) -> float:
    steps = [step for block in stored.blocks for step in block.steps]
    return min((_product_bytes(o, step.lanes, lanes) for step in steps for o in step.operations), default=math.inf)


def _product_bytes(operation: tf.Operation, traced: int, lanes: int) -> float:
    """Of an operation that was traced for so many lanes, and is to run for others."""
    if operation.type == "PartitionedCall":
        return min((_product_bytes(o, traced, lanes) for o in _body(operation)), default=math.inf)
    if not re.search("Mat|Conv|Einsum|Cholesky|Qr|Svd|Eig", operation.type):
        return math.inf
    inputs = [_size(tensor.shape) // (traced if tensor.shape[:1] == [traced] else 1) for tensor in operation.inputs]
    elements = sum(_size(output.shape) for output in operation.outputs) / traced
    terms = math.sqrt(math.prod(inputs) * max(elements, 1))
    if operation.type in PRODUCTS and terms <= max(inputs) and (lanes == 1 or elements == 1):
        return math.inf
    return sum(size * tensor.dtype.size for size, tensor in zip(inputs, operation.inputs, strict=True))


def _size(shape: tf.TensorShape | Sequence[int]) -> int:
    return math.prod(d or 1 for d in shape) if tf.TensorShape(shape).rank is not None else 1
