"""Runs straight-line user code: on symbolic members while it is traced, on real ones where it is interpreted."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from types import FunctionType
from typing import Any

import tensorflow as tf

from autobatch import context, errors, ir
from autobatch.ir.representation import stored_from
from autobatch.ir.typed import Check
from autobatch.ir.types import Exact, Static, dynamic, opaque, type_of
from autobatch.language.containers import contents, parts_of
from autobatch.language.each_of import called
from autobatch.language.looping import UnlikeItemsError
from autobatch.tracing.catching import functions_run, refuse_catching
from autobatch.tracing.explain import raise_at
from autobatch.tracing.objects import adopt

# Keys of ``env``; no variable has such a name.
CROSSED = "(crossed)"  # the containers among the region's inputs, and what they held
INSIDE = "(inside)"  # the identities of those containers, and of the ones inside them
CHOSEN = "(chosen)"  # the containers that stand for one of several, and what they held


@dataclass(frozen=True)
class Outcome:
    """A check that was made: whether a symbolic member passed, and the values to show, with their stored leaves."""

    check: Check
    passed: Any
    leaves: list[tf.Tensor]
    values: tuple[Any, ...]


def cross(env: dict[str, Any]) -> dict[str, Any]:
    """Marks the environment's containers as from outside the region, and returns it."""
    held = [(name, value, contents(value)) for name, value in env.items()]
    inside = frozenset(found for value in env.values() for found in _containers(value))
    return env | {CROSSED: [each for each in held if each[2] is not None], INSIDE: inside}


def _containers(value: Any) -> Iterator[int]:
    """The identities of a value's containers, all the way down."""
    if contents(value) is not None:
        yield id(value)
        for part in parts_of(value):
            yield from _containers(part)


def execute(ops: Sequence[ir.Assign], env: dict[str, Any], graph: tf.Graph | None = None) -> list[Outcome]:
    """Runs unbatched primitives on user values, in place in ``env``; errors point at the user's line.

    If ``graph`` is given, the operations that each primitive adds to it are looked at.

    Returns: the checks that were made, in order.
    """
    outcomes: list[Outcome] = []
    for op in ops:
        before_count = len(graph.get_operations()) if graph else 0
        inputs = [env[name] for name in op.inputs]
        foreign = env.get(INSIDE, frozenset()).union(id(made) for made, _ in env.get(CHOSEN, ()))
        try:
            with (
                context.tracing(),
                context.crossing(foreign),
                context.collected_remarks() as remarks,
                context.collected_risks() as risks,
                context.collected_choices() as chosen,
                context.kept() as kept,
            ):
                outputs = called(op.function.call, inputs)
            adopt(outputs, op.function.call, inputs)
        except UnlikeItemsError as loop:
            raise UnlikeItemsError(loop.count, variable=loop.variable or op.outputs[0]) from None
        except Exception as error:
            raise_at(op.location, error, inputs)
        refuse_catching(risks, op.location)
        outcomes += [_outcome(remark, op.location) for remark in remarks]
        env.setdefault(CHOSEN, []).extend(chosen)
        for made, held in env[CHOSEN]:
            if contents(made) != held:
                raise errors.UnsupportedSyntaxError(
                    f"A {type(made).__name__} that each member chooses is changed in place here.",
                    [(op.location, "")],
                    "put the items into a tensor, and assign to those: x[k, i] = v.",
                    kind="changed-container",
                )
        for container, held, name in kept:
            if contents(container) != held:
                raise errors.UnsupportedSyntaxError(
                    f"`{name}` is changed here, which all objects of the class share.",
                    [(op.location, "")],
                    "make it in __init__: self.x = [].",
                    kind="changed-class",
                )
        for name, value, held in env.get(CROSSED, ()):
            if contents(value) != held:
                error = _changed(name, value, op.location)
                error.helpers = functions_run(op.function.call, inputs)
                raise error
        if graph:
            _check_vectorizable(graph.get_operations()[before_count:], op.location)
        if len(op.outputs) == 1:
            env[op.outputs[0]] = outputs
        elif op.outputs:
            env.update(zip(op.outputs, outputs, strict=True))
    return outcomes


def _changed(name: str, value: Any, location: ir.Location) -> errors.UnsupportedSyntaxError:
    what, help = "container", "fill a tensor of the greatest length (x[i] = v), or build the list by a comprehension."
    if isinstance(value, dict):
        help = "make a new dict ({**d, 'key': v})."
    elif isinstance(value, FunctionType):
        what, help = "function with variables or lists of its own", "give it what it is to change, and return that."
    return errors.UnsupportedSyntaxError(
        f"`{name}` is a {what} that crossed a branch, a loop or a call, and is changed in place here.",
        [(location, "")],
        help,
        kind="changed-container",
    )


def _outcome(remark: context.Remark, location: ir.Location) -> Outcome:
    type_ = tuple(map(type_of, remark.values))
    if opaque(type_):  # an object: shown as it is while tracing
        type_ = tuple(Static(str(v)) if opaque(t) else t for v, t in zip(remark.values, type_, strict=True))
    check = Check(remark.error, remark.failure, remark.text, Exact(type_), location)
    leaves = [leaf for v, t in zip(remark.values, type_, strict=True) if dynamic(t) for leaf in stored_from(t, v)]
    return Outcome(check, remark.passed, leaves, tuple(remark.values))


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
                kind="tensorflow-control-flow",
            )
        if operation.type.startswith("Assign"):
            raise errors.UnsupportedSyntaxError(
                "A tf.Variable cannot be changed for each member.",
                [(location, "")],
                "return the new value, and assign it outside.",
                kind="variable-changed",
            )
        if operation.type.startswith(_RANDOM):
            raise errors.VectorizationError(
                f"TensorFlow's random numbers (here the operation {operation.type}) are not drawn per member.",
                [(location, "")],
                "use ab.random with a key per member.",
                kind="tensorflow-random",
            )
