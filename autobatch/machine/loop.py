"""The machine's loops: ``tf.while_loop`` without what it adds for gradients and for structures that it does not know.

A machine has a loop for each block.  TensorFlow's own function takes longer to make one, whatever is in it, than most
blocks take: it describes what is carried several times over, orders operations that have no effects, and counts the
turns, for gradients, which compiled machines have in another way (``passes/adjoint.py``).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Protocol, TypeVar

import tensorflow as tf
from tensorflow.core.framework import attr_value_pb2
from tensorflow.python.eager.polymorphic_function import atomic_function

from autobatch.tracing.graphs import graph_of

T = TypeVar("T", bound=tuple)


class Owner(Protocol):
    """The machine; ``safe`` if XLA does not compile it, and TensorFlow's gradients go through its loops."""

    @property
    def safe(self) -> bool: ...


def while_loop(owner: Owner, goes_on: Callable[..., Any], body: Callable[..., T], carried: T) -> T:
    """``carried = body(*carried)`` as long as ``goes_on(*carried)``, in the graph that is being made.

    carried: nests of tensors, or of numbers; their shapes and dtypes stay.

    Raises:
      ValueError: the body gives something of another structure, shape or dtype.
    """
    outer: Any = tf.compat.v1.get_default_graph()
    if owner.safe:
        return tf.while_loop(goes_on, body, carried, parallel_iterations=1)
    start = [tf.convert_to_tensor(leaf) for leaf in tf.nest.flatten(carried)]

    def as_carried(leaves: Sequence[tf.Tensor]) -> T:
        return tf.nest.pack_sequence_as(carried, leaves)

    def turn(*leaves: tf.Tensor) -> list[tf.Tensor]:
        setattr(tf.compat.v1.get_default_graph(), _IS_TURN, True)
        made = body(*as_carried(leaves))
        tf.nest.assert_same_structure(carried, made)
        pairs = zip(tf.nest.flatten(made), start, strict=True)
        return [_like(old, tf.convert_to_tensor(new, dtype=old.dtype)) for new, old in pairs]

    step = graph_of("body", turn, start)
    test = graph_of("condition", lambda *leaves: [goes_on(*as_carried(leaves))], start)
    captured = _take_alike(len(start), test, step)
    step.outputs += step.inputs[len(start) :]
    inputs = [*start, *captured]
    is_stateful = any(operation._is_stateful for graph in (test, step) for operation in graph.get_operations())
    make = tf.raw_ops.While if is_stateful else tf.raw_ops.StatelessWhile
    shapes = [*(leaf.shape for leaf in start), *(leaf.shape for leaf in captured)]
    found = make(
        input=inputs, cond=_named(test, outer), body=_named(step, outer), output_shapes=shapes, parallel_iterations=1
    )
    found[0].op._set_attr("_xla_propagate_compile_time_consts", attr_value_pb2.AttrValue(b=True))
    found = found[: len(start)]
    return as_carried(found if hasattr(outer, _IS_TURN) else [*map(_without_gradient, found)])


_IS_TURN = "_is_turn_of_loop"  # of a graph


def _without_gradient(leaf: tf.Tensor) -> tf.Tensor:
    """TensorFlow would take two of what is carried for the counters of its own loops."""
    message = "a compiled program has gradients in plain calls and in f.map, not in what was made of it."
    return tf.raw_ops.PreventGradient(input=leaf, message=message) if leaf.dtype.is_floating else leaf


def _like(old: tf.Tensor, new: tf.Tensor) -> tf.Tensor:
    if not new.shape.is_compatible_with(old.shape):
        raise ValueError(f"A loop begins with the shape {old.shape}, and goes on with {new.shape}.")
    return new


def _take_alike(given: int, *graphs: Any) -> list[tf.Tensor]:
    """Has them take the same from outside, behind the inputs that they are given; returns that."""
    taken = {id(tensor): tensor for graph in graphs for tensor in graph.external_captures}
    for graph in graphs:
        with graph.as_default():
            graph.inputs = [*graph.inputs[:given], *(graph.capture(tensor) for tensor in taken.values())]
    return [*taken.values()]


def _named(graph: Any, outer: Any) -> str:
    """Its name, by which the outer graph finds it."""
    outer._add_function_recursive(atomic_function.from_func_graph(graph.name, graph, {}))
    return graph.name
