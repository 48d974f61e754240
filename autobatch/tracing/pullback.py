"""The pullback of a region: from the cotangents of what it assigns to those of what it reads.

It is made of the graph of one member, by TensorFlow's own gradients, so that a ``tf.custom_gradient`` of the user's
counts, and is converted for all lanes with what it needs of the region itself.  (Of the words see Griewank and Walther,
"Evaluating derivatives", 2008, chapter 3.)
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import tensorflow as tf
from tensorflow.python.eager.graph_only_ops import graph_placeholder

from autobatch import errors, ir
from autobatch.ir.adjoint import Source, has_derivatives
from autobatch.ir.leaves import Leaf
from autobatch.tracing.member import Traced

_MULTIPLYING = {"Mul", "RealDiv", "DivNoNan", "Xdivy", "SqrtGrad", "RsqrtGrad", "ReciprocalGrad", "InvGrad"}


@dataclass(frozen=True, eq=False)
class Pullback:
    """What a region's cotangents are for one member, or for the whole batch if it takes that.

    Attributes:
      traced: the region, in whose graph all of this is.
      cotangents: a placeholder for each leaf that the region sets and whose cotangent is known.
      sources: the cotangents of what the region reads; without those that do not depend on them.
      needs: the leaves whose values have to be known for that.
      factors: the operations that multiply a cotangent by what may be infinite, and which of their inputs it is.
      is_whole: whether it is of a primitive that takes the whole batch, and so of the whole batch itself.
    """

    traced: Traced
    cotangents: Mapping[Leaf, tf.Tensor]
    sources: Mapping[Source, tf.Tensor]
    needs: frozenset[Leaf]
    factors: Mapping[str, int]
    is_whole: bool


def pullback(
    traced: Traced,
    outputs: Mapping[Leaf, tf.Tensor],
    sources: Sequence[Source],
    location: ir.Location,
    is_whole: bool = False,
) -> Pullback:
    """Of these outputs with respect to these sources; ``is_whole``: the trace is of a whole batch.

    Raises GradientError where an operation between them has no derivative.
    """
    graph, tensors = traced.graph, {source: tensor for source, tensor in _tensors(traced).items() if source in sources}
    with graph.as_default():
        known = {leaf: graph_placeholder(tensor.dtype, tensor.shape) for leaf, tensor in outputs.items()}
        try:
            found = tf.gradients(list(outputs.values()), list(tensors.values()), list(known.values()))
        except LookupError as error:
            raise errors.GradientError(
                f"A gradient was asked for, and TensorFlow has none for something here: {str(error).splitlines()[0]}",
                [(location, "")],
            ) from error
        pairs = zip(tensors, found, strict=True)
        made = {source: tf.convert_to_tensor(gradient) for source, gradient in pairs if gradient is not None}
    read = _behind([tensor for tensor in made.values() if hasattr(tensor, "op")])
    needs = frozenset(leaf for leaf, tensor in traced.inputs.items() if tensor.op.name in read)
    return Pullback(traced, known, made, needs, _factors(graph, known.values()), is_whole)


def _factors(graph: tf.Graph, cotangents: Iterable[tf.Tensor]) -> dict[str, int]:
    found: dict[str, int] = {}
    behind = {tensor.op.name for tensor in cotangents}
    for operation in graph.get_operations():  # which lists operations behind their inputs
        at = [k for k, tensor in enumerate(operation.inputs) if tensor.op.name in behind]
        if at:
            behind.add(operation.name)
        if len(at) == 1 and operation.type in _MULTIPLYING and not _is_tame(operation.inputs[1 - at[0]]):
            found[operation.name] = at[0]
    return found


def _is_tame(tensor: tf.Tensor) -> bool:
    """Whether it is a constant that zero may be multiplied with, or divided by."""
    value = tf.get_static_value(tensor) if tensor.op.type == "Const" else None
    return value is not None and bool(np.all(np.isfinite(value) & (value != 0)))


def float_origins(traced: Traced, outputs: Mapping[Leaf, tf.Tensor]) -> dict[Leaf, frozenset[Source]]:
    """For each output what a derivative of it could be taken by: what it is computed from by way of floats alone."""
    origins: dict[str, frozenset[Source]] = {}
    for source, tensor in _tensors(traced).items():
        origins[tensor.op.name] = frozenset({source})
    none: frozenset[Source] = frozenset()
    for operation in traced.graph.get_operations():  # which lists operations behind their inputs
        if operation.name not in origins:
            through = [] if operation.type == "StopGradient" else operation.inputs
            origins[operation.name] = none.union(*(origins[t.op.name] for t in through if _carries(t.dtype)))
    of_graph = {leaf for leaf, tensor in outputs.items() if hasattr(tensor, "op") and has_derivatives(tensor.dtype)}
    return {leaf: origins[tensor.op.name] if leaf in of_graph else none for leaf, tensor in outputs.items()}


def captured(traced: Traced) -> dict[int, tf.Tensor]:
    """The tensors from outside that the region reads, variables' handles among them, by their ids."""
    return {id(tensor): tensor for tensor, _ in _captures(traced)}


def _captures(traced: Traced) -> list[tuple[tf.Tensor, tf.Tensor]]:
    """Tensors from outside, and what stands for them; small ones are constants of the graph."""
    small = traced.graph.function_captures
    constants = [(small.by_val_external[key], tensor) for key, tensor in small.by_val_internal.items()]
    return [*traced.graph.captures, *constants]


def variables(traces: Iterable[Traced]) -> dict[int, tf.Variable]:
    """Those that regions read, by the ids of their handles."""
    return {id(v.handle): v for traced in traces for v in traced.graph._watched_variables}


def _tensors(traced: Traced) -> dict[Source, tf.Tensor]:
    """What stands for each source in the region's graph."""
    found: dict[Source, tf.Tensor] = {("leaf", leaf): tensor for leaf, tensor in traced.inputs.items()}
    found |= {("shared", k): tensor for k, tensor in enumerate(traced.shared)}
    found |= {("captured", id(tensor)): inner for tensor, inner in _captures(traced)}
    return {source: tensor for source, tensor in found.items() if _carries(tensor.dtype)}


def _carries(dtype: tf.DType) -> bool:
    """Whether a derivative may come through; handles are of variables and lists."""
    return has_derivatives(dtype) or dtype in (tf.resource, tf.variant)


def _behind(tensors: Sequence[tf.Tensor]) -> set[str]:
    """The names of all operations that these come from."""
    seen: set[str] = set()
    pending = [tensor.op for tensor in tensors]
    while pending:
        operation = pending.pop()
        if operation.name not in seen:
            seen.add(operation.name)
            pending += [tensor.op for tensor in operation.inputs]
    return seen
