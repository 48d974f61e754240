"""From a region, which is straight-line code for one member, to a function of the whole batch."""

from __future__ import annotations

import logging
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
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
    checks: Sequence[regions.Check] = (),
) -> Environment:
    """Runs a region for ``size`` members at once.

    Args:
      region: the operations.
      env: the stored leaves of (at least) the region's inputs.
      types: the types of the region's inputs and of ``wanted``.
      wanted: which of the assigned variables to return.
      shared: the shared arguments' leaves.
      size: the batch size Z.
      checks: the program's checks.

    Returns: the stored leaves of the ``wanted`` variables, and, if the region makes any of the checks, FAULT: for each
      member 1 + the position in ``checks`` of the first that it failed, or 0.
    """
    wanted = [v for v in wanted if v in region.assigned]
    if region.batched:
        return _run_batched(region.ops[0], env, types, wanted, shared, size)
    if all(op.function is ir.COPY for op in region.ops):
        return _copy(region.ops, env, types, wanted, shared, size)

    faulty = makes_checks(region.ops, checks)

    def member(stored: Mapping[str, Stored]) -> dict[str, Stored]:
        values: dict[str, Any] = {v: value_from(types[v], stored.get(v, []), shared) for v in region.inputs}
        values[regions.CROSSED] = frozenset(region.inputs)
        with tf.name_scope("region"):
            conditions = _execute_named(region.ops, values)
        results = {v: stored_from(types[v], values[v]) for v in wanted}
        if faulty:
            results[FAULT] = [_first_failure(conditions, checks)]
        # vectorized_map mishandles results that are outer tensors themselves.
        return {v: [tf.identity(leaf) for leaf in leaves] for v, leaves in results.items()}

    stored_inputs = {v: env[v] for v in region.inputs if env.get(v)}
    if not faulty and not any(dynamic(types[v]) for v in wanted):
        return {v: [] for v in wanted}
    if not stored_inputs:
        once = member({})
        return {v: [_repeat(leaf, size) for leaf in leaves] for v, leaves in once.items()}
    try:
        with _quiet():
            result = tf.vectorized_map(member, stored_inputs, fallback_to_while_loop=False)
    except (ValueError, NotImplementedError, TypeError) as error:
        raise _vectorization_error(error, region) from error
    return {v: list(result.get(v, [])) for v in (*wanted, *([FAULT] if faulty else []))}


@contextmanager
def _quiet() -> Iterator[None]:
    """Without TensorFlow's log of what it cannot vectorize, which our error says better."""
    logger = tf.get_logger()
    level = logger.level
    logger.setLevel(logging.CRITICAL)
    try:
        yield
    finally:
        logger.setLevel(level)


FAULT = "(fault)"  # key of an environment for the members' failed checks; no variable has such a name


def makes_checks(ops: Sequence[Any], checks: Sequence[regions.Check]) -> bool:
    places = {check.location for check in checks}
    return any(isinstance(op, ir.Assign) and op.location in places for op in ops)


def _first_failure(conditions: Sequence[tuple[tf.Tensor, regions.Check]], checks: Sequence[regions.Check]) -> tf.Tensor:
    code = tf.zeros([], tf.int32)
    for passed, check in reversed(conditions):
        code = tf.where(passed, code, 1 + checks.index(check))
    return code


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


def _execute_named(ops: Sequence[ir.Assign], values: dict[str, Any]) -> list[tuple[Any, regions.Check]]:
    """Runs the primitives, each in a name scope from which an error can be traced back to it."""
    conditions = []
    for k, op in enumerate(ops):
        with tf.name_scope(f"primitive_{k}") if len(ops) > 1 else nullcontext():
            conditions += regions.execute((op,), values)
    return conditions


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
