"""Straight-line regions: the runs of primitives between two calls, which are traced and batched as one."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import tensorflow as tf

from autobatch import context, errors, ir
from autobatch.explain import raise_at
from autobatch.indexing import UnlikeItemsError
from autobatch.types import Exact, Static, dynamic, opaque, plain, stored_from, type_of, value_from


@dataclass(frozen=True)
class Region:
    """Consecutive primitives of the kind "member", or a single one of another kind (see ``ir.Expression``).

    ``inputs`` are the variables read before the region sets them, ``assigned`` those that it sets.
    """

    ops: tuple[ir.Assign, ...]
    kind: str = "member"

    @property
    def inputs(self) -> tuple[str, ...]:
        seen: set[str] = set()
        found: dict[str, None] = {}
        for op in self.ops:
            found |= {v: None for v in op.inputs if v not in seen}
            seen |= set(op.outputs)
        return tuple(found)

    @property
    def assigned(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(v for op in self.ops for v in op.outputs))


def regions(ops: Iterable[ir.Op]) -> list[Region | ir.Op]:
    """The operations with each run of primitives gathered into a Region."""
    result: list[Region | ir.Op] = []
    run: list[ir.Assign] = []

    def flush() -> None:
        if run:
            result.append(Region(tuple(run)))
            run.clear()

    for op in ops:
        if isinstance(op, ir.Primitive | ir.Update) and op.function.kind == "member":
            run.append(op)
            continue
        flush()
        result.append(Region((op,), op.function.kind) if isinstance(op, ir.Primitive | ir.Update) else op)
    flush()
    return result


CROSSED = "(crossed)"  # key of ``env`` for the names of the region's inputs; no variable has such a name


@dataclass(frozen=True)
class Check:
    """What a place in the user's code says of members: an error with which those fail that do not pass, or a print.

    Attributes:
      error: the error, or None: the text is printed.
      failure: what happened to a member that did not pass.
      text: more of it, for ``str.format``, with a field for each value.
      values: the type of the tuple of values.
      location: the place.
    """

    error: type[errors.MemberError] | None
    failure: str
    text: str
    values: Exact
    location: ir.Location

    def said(self, leaves: Sequence[tf.Tensor], shared: Sequence[tf.Tensor]) -> str:
        """The text for one member, from the stored leaves of its values."""
        return self.text.format(*map(plain, value_from(self.values.type, leaves, shared)))


@dataclass(frozen=True)
class Outcome:
    """A check that was made: whether a symbolic member passed, and the stored leaves of the values to show."""

    check: Check
    passed: Any
    leaves: list[tf.Tensor]


def execute(ops: Sequence[ir.Assign], env: dict[str, Any], graph: tf.Graph | None = None) -> list[Outcome]:
    """Runs unbatched primitives on user values, in place in ``env``; errors point at the user's line.

    If ``graph`` is given, the operations that each primitive adds to it are looked at.

    Returns: the checks that were made, in order.
    """
    outcomes: list[Outcome] = []
    for op in ops:
        before_count = len(graph.get_operations()) if graph else 0
        inputs = [env[name] for name in op.inputs]
        before = [(name, _contents(value)) for name, value in zip(op.inputs, inputs, strict=True)]
        try:
            with context.tracing(), context.collected_remarks() as remarks:
                outputs = op.function.call(*inputs)
        except UnlikeItemsError as loop:
            raise UnlikeItemsError(loop.count, variable=op.outputs[0]) from None
        except Exception as error:
            raise_at(op.location, error)
        outcomes += [_outcome(remark, op.location) for remark in remarks]
        for name, contents in before:
            if name in env.get(CROSSED, ()) and _contents(env[name]) != contents:
                raise errors.UnsupportedSyntaxError(
                    f"`{name}` is a container that crossed a branch, a loop or a call, and is changed in place here.",
                    [(op.location, "")],
                    "make a new dict ({**d, 'key': v})."
                    if isinstance(env[name], dict)
                    else "fill a tensor of the greatest length (x[i] = v), or build the list by a comprehension.",
                )
        if graph:
            _check_vectorizable(graph.get_operations()[before_count:], op.location)
        if len(op.outputs) == 1:
            env[op.outputs[0]] = outputs
        elif op.outputs:
            env.update(zip(op.outputs, outputs, strict=True))
    return outcomes


def _outcome(remark: context.Remark, location: ir.Location) -> Outcome:
    type_ = tuple(map(type_of, remark.values))
    if opaque(type_):  # an object: shown as it is while tracing
        type_ = tuple(Static(str(v)) if opaque(t) else t for v, t in zip(remark.values, type_, strict=True))
    check = Check(remark.error, remark.failure, remark.text, Exact(type_), location)
    leaves = [leaf for v, t in zip(remark.values, type_, strict=True) if dynamic(t) for leaf in stored_from(t, v)]
    return Outcome(check, remark.passed, leaves)


_CONTROL_FLOW = ("If", "StatelessIf", "While", "StatelessWhile", "Case", "StatelessCase")
_RANDOM = (
    "Random",
    "Rng",
    "StatelessRandom",
    "StatelessTruncated",
    "StatelessMultinomial",
    "StatelessShuffle",
    "Multinomial",
)


def _check_vectorizable(operations: Sequence[tf.Operation], location: ir.Location) -> None:
    for operation in operations:
        if operation.type in _CONTROL_FLOW:
            raise errors.VectorizationError(
                f"TensorFlow's own control flow (here the operation {operation.type}) cannot run per member.",
                [(location, "")],
                "write it as plain Python (if, while) in the autobatched function, or mark a function that takes the "
                "whole batch with @ab.primitive(batched=True).",
            )
        if operation.type.startswith("Assign"):
            raise errors.UnsupportedSyntaxError(
                "A tf.Variable cannot be changed for each member.",
                [(location, "")],
                "return the new value, and assign it outside.",
            )
        if operation.type.startswith(_RANDOM):
            raise errors.VectorizationError(
                f"TensorFlow's random numbers (here the operation {operation.type}) are not drawn per member.",
                [(location, "")],
                "use ab.random with a key per member.",
            )


def _contents(value: Any) -> Any:
    """A list's or dict's parts by identity, all the way down; None for what cannot be changed in place."""
    if isinstance(value, dict):
        return [(key, id(part), _contents(part)) for key, part in value.items()]
    if isinstance(value, list | tuple):
        return [(id(part), _contents(part)) for part in value]
    return None


def makes_checks(ops: Sequence[Any], checks: Sequence[Check]) -> bool:
    """Whether one of the operations is where a check is made."""
    places = {check.location for check in checks}
    return any(isinstance(op, ir.Assign) and op.location in places for op in ops)
