"""Which values are better computed once than wherever they are read.

XLA's CPU code computes each result of a block in a loop of its own, with all element-wise operations that lead to it,
and so computes what several results come from several times over.  It does not do so with a division, which it takes
for expensive, and whose value it keeps: a value that is divided by one is computed once, if XLA cannot know that one.
"""

from __future__ import annotations

from collections.abc import Sequence, Set

import tensorflow as tf

MUCH = 16  # element-wise operations, of which to store and to load a value are worth about as many
_KEPT = frozenset(
    {"RealDiv", "Sqrt", "Rsqrt", "Exp", "Expm1", "Log", "Log1p", "Pow", "Tanh", "Sigmoid", "Erf", "Sin", "Cos", "Tan"}
)  # by XLA, of itself


def worth_keeping(results: Sequence[tf.Tensor], elementwise: Set[str]) -> list[tf.Tensor]:
    """The floats which several of the results, or of what is kept, come from by ``elementwise`` types of operations,
    and which take ``MUCH`` to compute."""
    behind = _behind(results, elementwise)  # of each operation, itself and what it would be computed again with
    loops: dict[tf.Operation, set] = {operation: set() for operation in behind}  # in which it is computed
    for k, result in enumerate(results):
        loops.get(result.op, set()).add(k)
    found = []
    for operation in reversed(behind):
        if len(loops[operation]) > 1:
            (value,) = operation.outputs
            if value.dtype.is_floating and len(behind[operation]) >= MUCH and operation.type not in _KEPT:
                found.append(value)
                loops[operation] = {operation}
            elif operation.type in _KEPT:
                loops[operation] = {operation}
        for tensor in operation.inputs:
            loops.get(tensor.op, set()).update(loops[operation])
    return found


def _behind(results: Sequence[tf.Tensor], elementwise: Set[str]) -> dict[tf.Operation, frozenset[tf.Operation]]:
    """In the order in which they are computed; no more than ``MUCH`` are told of each."""
    found: dict[tf.Operation, frozenset[tf.Operation]] = {}
    pending = [result.op for result in results]
    while pending:
        operation = pending[-1]
        inputs = [tensor.op for tensor in operation.inputs if tensor.op.type in elementwise]
        missing = [each for each in inputs if each not in found]
        if operation in found or operation.type not in elementwise:
            pending.pop()
        elif missing:
            pending += missing
        else:
            before: frozenset = frozenset()
            for each in inputs:
                if len(before) < MUCH and each.type not in _KEPT:
                    before |= found[each]
            found[pending.pop()] = before | {operation}
    return found
