"""Straight-line regions: the runs of primitives between two calls, which are traced and batched as one."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import tensorflow as tf

from autobatch import context, errors, ir
from autobatch.explain import raise_at
from autobatch.operators import Unlike


@dataclass(frozen=True)
class Region:
    """Consecutive primitives; either none is batched, or it is a single batched one.

    ``inputs`` are the variables read before the region sets them, ``assigned`` those that it sets.
    """

    ops: tuple[ir.Assign, ...]
    batched: bool

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
            result.append(Region(tuple(run), False))
            run.clear()

    for op in ops:
        if isinstance(op, ir.Primitive | ir.Update) and not op.function.batched:
            run.append(op)
            continue
        flush()
        result.append(Region((op,), True) if isinstance(op, ir.Primitive | ir.Update) else op)
    flush()
    return result


CROSSED = "(crossed)"  # key of ``env`` for the names of the region's inputs; no variable has such a name


@dataclass(frozen=True)
class Check:
    """A condition that each member must meet at a place in the user's code."""

    error: type[errors.MemberError]
    message: str
    location: ir.Location


def execute(ops: Sequence[ir.Assign], env: dict[str, Any], graph: tf.Graph | None = None) -> list[tuple[Any, Check]]:
    """Runs unbatched primitives on user values, in place in ``env``; errors point at the user's line.

    If ``graph`` is given, the operations that each primitive adds to it are looked at.

    Returns: the conditions (scalar bool tensors) that the member must meet.
    """
    conditions: list[tuple[Any, Check]] = []
    for op in ops:
        before_count = len(graph.get_operations()) if graph else 0
        inputs = [env[name] for name in op.inputs]
        before = [(name, _contents(value)) for name, value in zip(op.inputs, inputs, strict=True)]
        try:
            with context.entered(context.Mode.TRACING), context.collected_checks() as checks:
                outputs = op.function.call(*inputs)
        except Unlike as loop:
            raise Unlike(loop.count, variable=op.outputs[0]) from None
        except Exception as error:
            raise_at(op.location, error)
        conditions += [(c.passed, Check(c.error, c.message, op.location)) for c in checks]
        for name, contents in before:
            if name in env.get(CROSSED, ()) and _contents(env[name]) != contents:
                raise errors.UnsupportedSyntaxError(
                    f"`{name}` is a container that crossed a branch, a loop or a call, and is changed in place here.",
                    [(op.location, "")],
                    "make a new dict ({**d, 'key': v}); build a list by a comprehension, or fill a tensor (x[i] = v).",
                )
        if graph:
            _check_vectorizable(graph.get_operations()[before_count:], op.location)
        if len(op.outputs) == 1:
            env[op.outputs[0]] = outputs
        elif op.outputs:
            env.update(zip(op.outputs, outputs, strict=True))
    return conditions


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
