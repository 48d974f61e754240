"""Calls under a ``tf.GradientTape``: what it watches of a call, and what the call records on it."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any

import tensorflow as tf
from tensorflow.python.eager import forwardprop_util, record

from autobatch import errors
from autobatch.backends.gradients import Gradients
from autobatch.backends.gradients_in_graph import GradientsInGraph
from autobatch.backends.in_graph import InGraph
from autobatch.ir.adjoint import AdjointProgram, has_derivatives
from autobatch.ir.leaves import Leaf
from autobatch.tracing.vectorize import Stored


@dataclass(frozen=True)
class Followed:
    """What some tape follows of a call's arguments and of what its code closes over.

    inputs: the leaves of the inputs; shared: positions of shared arguments' leaves; captured: tensors and variables'
    handles, by id; values: of all variables that are read, by their handles' ids.
    """

    inputs: frozenset[Leaf]
    shared: frozenset[int]
    captured: Mapping[int, tf.Tensor]
    values: Mapping[int, tf.Tensor]

    def __bool__(self) -> bool:
        return bool(self.inputs or self.shared or self.captured)


_is_for_export: ContextVar[bool] = ContextVar("is_for_export", default=False)


@contextmanager
def for_export() -> Iterator[None]:
    """What is traced in it has no gradients: files of TensorFlow's do not hold them."""
    token = _is_for_export.set(True)
    try:
        yield
    finally:
        _is_for_export.reset(token)


def may_be_taped() -> bool:
    """Whether there is a tape at all, or may be one once a graph is made."""
    return not _is_for_export.get() and (record.could_possibly_record() or not tf.executing_eagerly())


def followed(
    inputs: Sequence[str],
    arguments: Sequence[Stored],
    shared: Sequence[tf.Tensor],
    captured: Mapping[int, tf.Tensor],
    variables: Mapping[int, tf.Variable],
) -> Followed:
    """In a graph, all that a tape may turn out to follow: not what is closed over, but for variables.

    Raises GradientError for what a ``tf.autodiff.ForwardAccumulator`` follows.
    """
    _not_forwards([*itertools.chain.from_iterable(arguments), *shared, *captured.values()])
    values = {at: variable.read_value() for at, variable in variables.items()}  # which tapes see
    leaves = {(v, k): leaf for v, held in zip(inputs, arguments, strict=True) for k, leaf in enumerate(held)}
    trains = {at for at, variable in variables.items() if variable.trainable}
    maybe = not tf.executing_eagerly()
    return Followed(
        frozenset(leaf for leaf, tensor in leaves.items() if _is_followed(tensor, maybe)),
        frozenset(k for k, tensor in enumerate(shared) if _is_followed(tensor, maybe)),
        {at: tensor for at, tensor in captured.items() if _is_followed(values.get(at, tensor), maybe and at in trains)},
        values,
    )


def _not_forwards(tensors: list[tf.Tensor]) -> None:
    if forwardprop_util.pack_tangents(tensors).tangents:
        raise errors.GradientError(
            "A derivative was asked for forwards, and compiled programs have it backwards only.",
            help='use a tf.GradientTape; or f.options(backend="local_static")(...), which has both.',
            kind="forward-gradient",
        )


def _is_followed(tensor: tf.Tensor, maybe: bool) -> bool:
    return has_derivatives(tensor.dtype) and (maybe or record.should_record_backprop([tensor]))


def recorded(
    gradients: Gradients, followed: Followed, arguments: list[Stored], shared: list[tf.Tensor]
) -> list[Stored]:
    """What members return, as one operation on the tapes."""
    inputs = gradients.adjoint.stored.program.inputs
    leaves = {(v, k): leaf for v, held in zip(inputs, arguments, strict=True) for k, leaf in enumerate(held)}
    with record.stop_recording():
        results, run = gradients(arguments, shared)
        results = tf.nest.map_structure(tf.identity, results)
    sources = {leaf: leaves[leaf] for leaf in sorted(followed.inputs)}
    others = [shared[k] for k in sorted(followed.shared)]
    others += [followed.values.get(at, tensor) for at, tensor in followed.captured.items()]
    flat = [*sources.values(), *others]
    variables = [followed.values[at] for at in gradients.adjoint.variables]

    def backward(*cotangents: tf.Tensor) -> list[tf.Tensor]:
        with record.stop_recording():
            of_inputs, of_others = gradients.undone(run, tf.nest.pack_sequence_as(results, cotangents), variables)
            found = [of_inputs[at] if at in of_inputs else tf.zeros_like(leaf) for at, leaf in sources.items()]
            found = [tf.identity(tensor) for tensor in (*found, *of_others)]
        record.record_operation("AutobatchGradient", found, [*cotangents, *flat], _no_second)
        return found

    record.record_operation("Autobatch", tf.nest.flatten(results), flat, backward)
    return results


def in_graph(
    machine: InGraph,
    adjoint: Callable[[], AdjointProgram],
    followed: Followed,
    arguments: list[Stored],
    shared: list[tf.Tensor],
) -> list[Stored]:
    """The same in a ``tf.function``, of which it is not known whether a gradient will be asked for."""
    inputs, outputs = machine.typed.program.inputs, machine.typed.program.outputs
    leaves = [(v, k) for v, held in zip(inputs, arguments, strict=True) for k in range(len(held))]
    others = [followed.values.get(at, tensor) for at, tensor in followed.captured.items()]
    like: list[list[Stored]] = []

    @tf.custom_gradient
    def call(*flat: tf.Tensor) -> Any:
        held, parts = tf.nest.pack_sequence_as((arguments, shared), flat[: len(leaves) + len(shared)])
        results = machine(held, parts)
        like.append(results)

        @tf.custom_gradient
        def gradients(*cotangents: tf.Tensor) -> Any:
            of_leaves = zip(outputs, tf.nest.pack_sequence_as(results, cotangents), strict=True)
            known = {(v, k): t for v, each in of_leaves for k, t in enumerate(each) if has_derivatives(t.dtype)}
            program = adjoint()
            run = GradientsInGraph(program, machine.machine, machine.options)
            found = run(held, parts, known, [followed.values[at] for at in program.variables])
            return (*(found.inputs[leaf] for leaf in leaves if leaf in found.inputs), *found.shared), _no_second

        def backward(*cotangents: tf.Tensor, variables: Any = None) -> Any:
            found = iter(gradients(*cotangents))
            program = adjoint()
            given = [next(found) if leaf in program.reached else None for leaf in leaves]
            given += [next(found) if k in followed.shared else None for k in range(len(shared))]
            given += [*found]
            return given if variables is None else (given, [None] * len(variables))

        return tuple(tf.nest.flatten(results)), backward

    results = call(*tf.nest.flatten((arguments, shared)), *others)
    return tf.nest.pack_sequence_as(like[0], results)


def _no_second(*cotangents: tf.Tensor, variables: Any = None) -> Any:
    raise errors.GradientError(
        "A gradient of a gradient was asked for, and compiled programs have the first only.",
        help='f.options(backend="local_static")(...) has them.',
        kind="second-gradient",
    )
