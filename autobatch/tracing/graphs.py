"""Graphs made by hand: what ``tf.function`` makes, without what it does for arguments of which it knows nothing.

To describe what goes in and comes out, to look for it among what was traced before, and to order operations that have
no effects takes TensorFlow nearly as long as to make a region's operations.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import tensorflow as tf
from tensorflow.python.eager.graph_only_ops import graph_placeholder
from tensorflow.python.eager.polymorphic_function.concrete_function import ConcreteFunction
from tensorflow.python.framework import ops


def graph_of(name: str, function: Callable[..., Sequence[tf.Tensor]], like: Sequence[tf.Tensor]) -> Any:
    """The graph of what the function does with tensors like these; what it takes from outside comes in behind them."""
    graph: Any = tf.__internal__.FuncGraph(f"{name}_{ops.uid()}")
    with graph.as_default():
        graph.inputs = [graph_placeholder(leaf.dtype, leaf.shape) for leaf in like]
        graph.outputs = [graph.capture(tf.convert_to_tensor(leaf)) for leaf in function(*graph.inputs)]
    graph.variables = graph._watched_variables
    return graph


class GraphFunction:
    """``function(*arguments)`` for nests of tensors, as a graph, made for arguments like these."""

    def __init__(self, function: Callable[..., Any], *like: Any):
        result: Any = None

        def flat(*leaves: tf.Tensor) -> list[Any]:
            nonlocal result
            result = function(*tf.nest.pack_sequence_as(like, leaves))
            return tf.nest.flatten(result)

        self.graph = graph_of(getattr(function, "__name__", "graph"), flat, tf.nest.flatten(like))
        self.graph.control_outputs = [operation for operation in self.graph.get_operations() if operation._is_stateful]
        self._packed = _packing(tf.nest.map_structure(lambda _: None, result))
        self._concrete = ConcreteFunction.from_func_graph(self.graph, None, {})

    def __call__(self, *arguments: Any) -> Any:
        results = self._concrete._call_flat(tf.nest.flatten(arguments), self._concrete.captured_inputs)
        return self._packed(iter(results))


def _packing(like: Any) -> Callable[[Iterator[Any]], Any]:
    """``tf.nest.pack_sequence_as(like, ...)``, which looks at lists and tuples of ``like`` once, not each time."""
    if not tf.nest.is_nested(like):
        return next
    if isinstance(like, list | tuple):
        parts, of = [*map(_packing, like)], getattr(type(like), "_make", type(like))
        return lambda leaves: of([part(leaves) for part in parts])
    count = len(tf.nest.flatten(like))
    return lambda leaves: tf.nest.pack_sequence_as(like, [*itertools.islice(leaves, count)])
