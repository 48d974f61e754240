"""From a region, which is straight-line code for one member, to a function of the whole batch."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from typing import Any

import tensorflow as tf

from autobatch import errors, ir, regions
from autobatch.explain import raise_at
from autobatch.types import Tensor, Type, Weak, coerce, dynamic, stored_from, value_from

Stored = list[tf.Tensor]  # the dynamic leaves of one variable, each [Z, ...]
Environment = dict[str, Stored]


def run_region(
    region: regions.Region,
    env: Mapping[str, Stored],
    types: Mapping[str, Type],
    wanted: Sequence[str],
    shared: Sequence[tf.Tensor],
    size: int,
) -> Environment:
    """Runs a region for ``size`` members at once.

    Args:
      region: the operations.
      env: the stored leaves of (at least) the region's inputs.
      types: the types of the region's inputs and of ``wanted``.
      wanted: which of the assigned variables to return.
      shared: the shared arguments' leaves.
      size: the batch size Z.

    Returns: the stored leaves of the ``wanted`` variables.
    """
    wanted = [v for v in wanted if v in region.assigned]
    if region.batched:
        return _run_batched(region.ops[0], env, types, wanted, shared, size)
    if all(op.function is ir.COPY for op in region.ops):
        return _copy(region.ops, env, types, wanted, shared, size)

    def member(stored: Mapping[str, Stored]) -> dict[str, Stored]:
        values: dict[str, Any] = {v: value_from(types[v], stored.get(v, []), shared) for v in region.inputs}
        values[regions.CROSSED] = frozenset(region.inputs)
        with tf.name_scope("region"):
            _execute_named(region.ops, values)
        # vectorized_map mishandles results that are outer tensors themselves.
        return {v: [tf.identity(leaf) for leaf in stored_from(types[v], values[v])] for v in wanted}

    stored_inputs = {v: env[v] for v in region.inputs if env.get(v)}
    if not any(dynamic(types[v]) for v in wanted):
        return {v: [] for v in wanted}
    if not stored_inputs:
        once = member({})
        return {v: [_repeat(leaf, size) for leaf in leaves] for v, leaves in once.items()}
    try:
        result = tf.vectorized_map(member, stored_inputs, fallback_to_while_loop=False)
    except (ValueError, NotImplementedError, TypeError) as error:
        raise _vectorization_error(error, region) from error
    return {v: list(result[v]) if v in result else [] for v in wanted}


def _copy(
    ops: Sequence[ir.Assign],
    env: Mapping[str, Stored],
    types: Mapping[str, Type],
    wanted: Sequence[str],
    shared: Sequence[tf.Tensor],
    size: int,
) -> Environment:
    copies = dict(env)
    for op in ops:
        (source,), (target,) = op.inputs, op.outputs
        copies[target] = coerce(types[source], types[target], copies.get(source, []), shared, size)
    return {v: copies[v] for v in wanted}


def _execute_named(ops: Sequence[ir.Assign], values: dict[str, Any]) -> None:
    """Runs the primitives, each in a name scope from which an error can be traced back to it."""
    for k, op in enumerate(ops):
        with tf.name_scope(f"primitive_{k}") if len(ops) > 1 else nullcontext():
            regions.execute((op,), values)


def _run_batched(
    op: ir.Assign,
    env: Mapping[str, Stored],
    types: Mapping[str, Type],
    wanted: Sequence[str],
    shared: Sequence[tf.Tensor],
    size: int,
) -> Environment:
    arguments = [value_from(types[v], env.get(v, []), shared) for v in op.inputs]
    try:
        value = op.function.call(*arguments)
    except Exception as error:
        raise_at(op.location, error)
    result = {v: stored_from(types[v], value) for v in wanted}
    for v, leaves in result.items():
        for leaf, type_ in zip(leaves, dynamic(types[v]), strict=True):
            _check_batched_shape(leaf, type_, size, op)
    return result


def _check_batched_shape(leaf: tf.Tensor, type_: Tensor | Weak, size: int, op: ir.Assign) -> None:
    if leaf.shape != (size, *type_.shape):
        raise errors.BatchShapeError(
            f"A batched primitive returned shape {list(leaf.shape)}; {[size, *type_.shape]} was expected.",
            [(op.location, "")],
        )


def _repeat(leaf: tf.Tensor, size: int) -> tf.Tensor:
    return tf.broadcast_to(leaf, (size, *leaf.shape))


def _vectorization_error(error: Exception, region: regions.Region) -> Exception:
    """Names the TensorFlow operation that cannot be vectorized, and the user's line that it comes from."""
    text = str(error)
    found = re.search(r"primitive_(\d+)", text)
    op = region.ops[int(found.group(1))] if found else region.ops[0]
    operation = re.search(r"(?:No pfor vectorization defined for|converter defined for) (\w+)", text)
    what = f"the operation {operation.group(1)}" if operation else "this line"
    return errors.VectorizationError(
        f"TensorFlow cannot vectorize {what}.",
        [(op.location, "")],
        "put it in a function that takes the whole batch, marked @ab.primitive(batched=True); "
        "for random numbers use ab.random.",
    )
