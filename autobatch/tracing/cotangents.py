"""A region's pullback for all lanes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import tensorflow as tf
from tensorflow.python.ops.parallel_for import pfor

from autobatch.ir.adjoint import Source, has_derivatives
from autobatch.ir.leaves import Leaf
from autobatch.tracing.lanes import Lanes
from autobatch.tracing.pullback import Pullback

_ADDING = {"AddN", "AddV2"}
_LINEAR = {"Identity", "Neg", "Reshape", "Transpose", "ExpandDims", "Squeeze", "Sum", "Cast"}  # in their first input


class Cotangents(Lanes):
    """Cotangents of what a region reads, from those of what it assigns.

    Args:
      pullback: how, of one member.
      inputs: the region's, for all lanes, [size, ...] each.
      shared: the leaves of the arguments that all members share.
      size: how many lanes.
      place: as for ``Lanes``.
      lanes: [size] bool, those that count.
      cotangents: of the region's outputs, [size, ...]; zero for lanes that do not count.
      variables: by the ids of variables' handles, what the variables held.
    """

    def __init__(
        self,
        pullback: Pullback,
        inputs: Sequence[tf.Tensor],
        shared: Sequence[tf.Tensor],
        size: int,
        place: tf.Tensor,
        lanes: tf.Tensor,
        cotangents: Mapping[Leaf, tf.Tensor],
        variables: Mapping[int, tf.Tensor],
    ):
        self.pullback = pullback
        super().__init__(pullback.traced, inputs, shared, size, place, variables, pullback.is_whole)
        self.lanes = lanes
        for leaf, placeholder in pullback.cotangents.items():
            self._add_conversion(placeholder, pfor.wrap(cotangents[leaf], not self.is_whole))

    def _add_conversion(self, old_output: Any, new_output: Any) -> None:
        """Nothing times what is infinite is nothing.

        As the root of zero is that a member only compares with zero: nothing that it returns depends on it.
        """
        at = self.pullback.factors.get(old_output.op.name) if isinstance(old_output, tf.Tensor) else None
        if at is not None:
            cotangent = self._conversion_map[old_output.op.inputs[at]]
            value, dy = new_output.t, cotangent.t
            if cotangent.is_stacked:
                missing = value.shape.rank - dy.shape.rank
                dy = tf.reshape(dy, [self.size] + [1] * missing + list(dy.shape[1:]))
            zero = tf.zeros([], value.dtype)
            new_output = pfor.wrap(tf.where(tf.equal(dy, 0), zero, value), new_output.is_stacked)
        super()._add_conversion(old_output, new_output)

    def of_all(self) -> dict[Source, tf.Tensor]:
        """Of the leaves that the region reads, [size, ...] each, and of what all members share, added up over lanes."""
        leaves = {source: tensor for source, tensor in self.pullback.sources.items() if source[0] == "leaf"}
        found = dict(zip(leaves, self.all_of(list(leaves.values())), strict=True))
        others = self.pullback.sources.keys() - leaves.keys()
        return found | {source: self._sum(self.pullback.sources[source]) for source in sorted(others)}

    def _sum(self, tensor: tf.Tensor) -> tf.Tensor:
        """Over lanes, if it is not that already.

        Of a product of matrices it is a product of larger ones, and nowhere is there a matrix for each lane.
        """
        operation = tensor.op
        if (
            not self.is_whole
            and operation.type in _LINEAR
            and has_derivatives(tensor.dtype)
            and operation.inputs[0].dtype == tensor.dtype
        ):
            others = [self._found(other) for other in operation.inputs[1:]]
            if not any(other.is_stacked for other in others):
                return self._again(operation, [self._sum(operation.inputs[0]), *(other.t for other in others)])
        if (
            operation.type in _ADDING
            and len({tuple(each.shape) for each in operation.inputs}) == 1
            and any(map(_has_own_sum, operation.inputs))
        ):
            return tf.add_n([self._sum(each) for each in operation.inputs])
        if operation.type == "MatMul":
            a, b = map(self._found, operation.inputs)
            if a.is_stacked and b.is_stacked:
                left = "zki" if operation.get_attr("transpose_a") else "zik"
                right = "zjk" if operation.get_attr("transpose_b") else "zkj"
                return tf.einsum(f"{left},{right}->ij", self._counting(a.t), self._counting(b.t))
        if operation.type == "UnsortedSegmentSum":
            rows, indices, count = map(self._found, operation.inputs)
            if rows.is_stacked and indices.is_stacked and not count.is_stacked:
                axes = indices.t.shape.rank
                flat = tf.reshape(self._counting(rows.t), [-1, *rows.t.shape[axes:]])
                return tf.math.unsorted_segment_sum(flat, tf.reshape(indices.t, [-1]), count.t)
        found = self._found(tensor)
        if self.is_whole:
            return found.t
        if not found.is_stacked:
            return found.t * tf.cast(tf.math.count_nonzero(self.lanes), found.t.dtype)
        return tf.reduce_sum(self._counting(found.t), axis=0)

    def _counting(self, values: tf.Tensor) -> tf.Tensor:
        """Zero in the lanes that do not count, whatever they hold."""
        return tf.where(
            tf.reshape(self.lanes, [-1] + [1] * (values.shape.rank - 1)), values, tf.zeros([], values.dtype)
        )

    def _again(self, operation: tf.Operation, inputs: Sequence[tf.Tensor]) -> tf.Tensor:
        """The same operation on other inputs."""
        graph: Any = tf.compat.v1.get_default_graph()
        dtypes = [tensor.dtype for tensor in operation.outputs]
        return graph.create_op(operation.type, list(inputs), dtypes, attrs=operation.node_def.attr).outputs[0]


def _has_own_sum(tensor: tf.Tensor) -> bool:
    """Whether there is more in it than numbers to add up: what ``Cotangents._sum`` finds, as far as it looks."""
    seen, pending = set[str](), [tensor.op]
    while pending:
        operation = pending.pop()
        if operation.type in ("MatMul", "UnsortedSegmentSum"):
            return True
        if operation.name not in seen and operation.type in _ADDING | _LINEAR:
            seen.add(operation.name)
            pending += [each.op for each in operation.inputs[: None if operation.type in _ADDING else 1]]
    return False
