"""From a region, which is straight-line code for one member, to a function of the whole batch."""

from __future__ import annotations

import logging
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from types import MappingProxyType
from typing import Any

import tensorflow as tf

from autobatch import errors, ir
from autobatch.ir import regions
from autobatch.ir.representation import coerce, stored_from, value_from
from autobatch.ir.typed import Check, TypedProgram, TypedStackProgram, makes_checks
from autobatch.ir.types import Tensor, Type, Weak, dynamic
from autobatch.tracing.converters import batch_size, our_converters
from autobatch.tracing.execute import Outcome
from autobatch.tracing.explain import raise_at
from autobatch.tracing.lanes import Lanes
from autobatch.tracing.member import Stored, traced

Environment = dict[str, Stored]  # the leaves of all members, each [Z, ...]


def run_region(
    region: regions.Region,
    env: Mapping[str, Stored],
    types: Mapping[str, Type],
    wanted: Sequence[str],
    shared: Sequence[tf.Tensor],
    size: Any,
    program: TypedProgram | TypedStackProgram,
    place: tf.Tensor | None,
    variables: Mapping[int, tf.Tensor] = MappingProxyType({}),
) -> Environment:
    """Runs a region for ``size`` members at once.

    Args:
      region: the operations.
      env: the stored leaves of (at least) the region's inputs.
      types: the types of the region's inputs and of ``wanted``.
      wanted: which of the assigned variables to return.
      shared: the shared arguments' leaves.
      size: the batch size Z, an int or a scalar tensor.
      program: the program that the region is of.
      place: [] or [size] int, no less than -1, of which XLA knows nothing; None if XLA does not compile it.
      variables: as for ``Lanes``.

    Returns: the stored leaves of the ``wanted`` variables, and what the region has to say of the checks that it makes:
      FAULT: for each member 1 + the position in ``checks`` of the first that it failed, or 0.
      note(k): what the check at position k shows of a member that failed it.
      printed(n, k): whether the region's n-th print, the check at position k, shows something, and what.
    """
    wanted = [v for v in wanted if v in region.assigned]
    if region.kind == "batch":
        return _run_batched(region.ops[0], env, types, wanted, shared, size)
    if region.kind == "write":
        (op,) = region.ops
        if not wanted:
            return {}
        everyone = tf.ones([size], tf.bool)
        leaves = range(len(env[op.inputs[0]]))
        return {op.outputs[0]: [write_items(op, env, k, env[op.inputs[0]][k], everyone, drops=False) for k in leaves]}
    if all(op.function is ir.COPY for op in region.ops):
        return _copy(region.ops, env, types, wanted, shared, size)

    checks = program.checks
    telling = makes_checks(region.ops, checks)
    if not telling and not any(dynamic(types[v]) for v in wanted):
        return {v: [] for v in wanted}
    member = traced(region, types, program.shared, program.traces)
    results = {v: member.stored(v, types) for v in wanted}
    if telling:
        with member.graph.as_default():
            results |= _told(member.outcomes, checks)
    try:
        with quiet(), our_converters():
            inputs = [leaf for v in region.inputs for leaf in env.get(v, [])]
            lanes = Lanes(member, inputs, shared, size, place, variables)
            found = iter(lanes.all_of([leaf for leaves in results.values() for leaf in leaves]))
            return {v: [next(found) for _ in leaves] for v, leaves in results.items()}
    except (ValueError, NotImplementedError, TypeError) as error:
        raise vectorization_error(error, region) from error


@contextmanager
def quiet() -> Iterator[None]:
    """Without TensorFlow's log of what it cannot vectorize, which our error says better."""
    logger = tf.get_logger()
    level = logger.level
    logger.setLevel(logging.CRITICAL)
    try:
        yield
    finally:
        logger.setLevel(level)


# Keys of an environment for what a region says of its checks; no variable has such a name.
FAULT = "(fault)"


def note(k: int) -> str:
    return f"(note {k})"


def printed(n: int, k: int) -> str:
    return f"(print {n} {k})"


def _told(outcomes: Sequence[Outcome], checks: Sequence[Check]) -> dict[str, Stored]:
    """One member's checks: the first that failed, what is to be shown of it, and what is printed."""
    code, told = tf.zeros([], tf.int32), {}
    for n, outcome in reversed(list(enumerate(outcomes))):
        k, leaves = _of_program(outcome, checks)
        if outcome.check.error is None:
            told[printed(n, k)] = [tf.logical_not(outcome.passed), *leaves]
            continue
        code = tf.where(outcome.passed, code, 1 + k)
        if leaves:
            later = told.get(note(k), leaves)
            told[note(k)] = [tf.where(outcome.passed, b, a) for a, b in zip(leaves, later, strict=True)]
    return told | {FAULT: [code]}


def _of_program(outcome: Outcome, checks: Sequence[Check]) -> tuple[int, Stored]:
    """Which of the program's checks it is, and the values to show as that has them: where blocks have been merged,
    more may be known of them now than when the program was typed."""
    if outcome.check in checks:
        return checks.index(outcome.check), outcome.leaves
    k = next(k for k, check in enumerate(checks) if replace(check, values=outcome.check.values) == outcome.check)
    pairs = zip(outcome.values, checks[k].values.type, strict=True)
    return k, [leaf for value, type_ in pairs if dynamic(type_) for leaf in stored_from(type_, value)]


def _copy(
    ops: Sequence[ir.Assign],
    env: Mapping[str, Stored],
    types: Mapping[str, Type],
    wanted: Sequence[str],
    shared: Sequence[tf.Tensor],
    size: Any,
) -> Environment:
    copies = dict(env)
    for op in ops:
        (source,), (target,) = op.inputs, op.outputs
        if target not in types:  # nobody reads it
            continue
        copies[target] = coerce(types[source], types[target], copies.get(source, []), shared, size)
    return {v: copies[v] for v in wanted}


def _run_batched(
    op: ir.Assign,
    env: Mapping[str, Stored],
    types: Mapping[str, Type],
    wanted: Sequence[str],
    shared: Sequence[tf.Tensor],
    size: Any,
) -> Environment:
    if isinstance(op.function.size, int) and op.function.size != size:
        raise errors.BatchShapeError(
            f"A batched primitive takes a batch of {op.function.size}, and this is a batch of {size}.",
            [(op.location, "")],
            "call the function with a batch of that size, or leave out the primitive's size.",
            kind="batched-primitive-size",
        )
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


def _check_batched_shape(leaf: tf.Tensor, type_: Tensor | Weak, size: Any, op: ir.Assign) -> None:
    expected = [size if isinstance(size, int) else None, *type_.shape]
    if not leaf.shape.is_compatible_with(expected):
        raise errors.BatchShapeError(
            f"A batched primitive returned shape {list(leaf.shape)}; {expected} was expected.",
            [(op.location, "")],
            kind="batched-primitive-result",
        )


def write_items(
    op: ir.Assign, env: Mapping[str, Stored], k: int, old: tf.Tensor, active: tf.Tensor, drops: bool
) -> tf.Tensor:
    """Writes some items of the active members (see ``operators.place``).

    Args:
      op: the write; its inputs are the variable, where and what.
      env: the stored leaves of where [Z, ..., k] and what [Z, ..., ...].
      k: which of the variable's leaves; the last of several is a list's length, which is written as a whole.
      old: this leaf, [Z, ...].
      active: [Z] bool.
      drops: whether a scatter drops what is out of range, as XLA's does; otherwise it fails.
    """
    (where,), what = env[op.inputs[1]], env[op.inputs[2]][k]
    if k and k == len(env[op.inputs[2]]) - 1:
        return tf.where(active, what, old)
    size = batch_size(old)
    shape = [size] + [1] * (where.shape.rank - 1)
    lanes = tf.reshape(tf.where(active, tf.range(size), size) if drops else tf.range(size), shape)
    indices = tf.concat([tf.broadcast_to(lanes, [size, *where.shape[1:-1], 1]), where], axis=-1)
    if not drops:
        chosen = tf.reshape(active, [-1] + [1] * (what.shape.rank - 1))
        what = tf.where(chosen, what, tf.gather_nd(old, indices))
    return tf.tensor_scatter_nd_update(old, indices, what)


def vectorization_error(error: Exception, region: regions.Region, of: str = "") -> Exception:
    """Names the TensorFlow operation that cannot be vectorized, and the user's line that it comes from."""
    text = str(error)
    found = re.search(r"primitive_(\d+)", text)
    op = region.ops[int(found.group(1))] if found else region.ops[0]
    operation = re.search(r"(?:No pfor vectorization defined for|converter defined for) (\w+)", text)
    what = f"the operation {operation.group(1)}" if operation else "this line"
    return errors.VectorizationError(
        f"TensorFlow cannot vectorize {of}{what}.",
        [(op.location, "")],
        "put it in a function that takes the whole batch, marked @ab.primitive(batched=True); "
        "for random numbers use ab.random.",
        kind="not-vectorizable",
    )
