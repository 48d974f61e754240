"""From TensorFlow's operations on one member to operations on all lanes.

``tf.vectorized_map`` runs a function in the graph that it adds to, and converts what has come of it.  Here its
converters are given a graph that was made once, for however many machines; most operations need no converter.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from types import MappingProxyType
from typing import Any

import tensorflow as tf
from tensorflow.python.eager import execute, record
from tensorflow.python.ops.parallel_for import pfor
from tensorflow.python.util import object_identity

from autobatch.language.rounding import UNKNOWN
from autobatch.tracing.fusion import worth_keeping
from autobatch.tracing.member import Traced


class Lanes(pfor.PFor):
    """Adds the operations of one member to the default graph for ``size`` lanes, as far as they are asked for.

    Args:
      traced: the operations.
      inputs: for each leaf that goes in, those of all lanes, [size, ...].
      shared: the leaves of the arguments that all members share.
      size: how many lanes; an int or a scalar tensor.
      place: [] or [size] int, no less than -1, of which XLA knows nothing; None if XLA does not compile it.
      variables: by the ids of variables' handles, the values to take for theirs.
      is_whole: whether the operations are of the whole batch already, as those of a batched primitive.
    """

    def __init__(
        self,
        traced: Traced,
        inputs: Sequence[tf.Tensor],
        shared: Sequence[tf.Tensor],
        size: Any,
        place: tf.Tensor | None,
        variables: Mapping[int, tf.Tensor] = MappingProxyType({}),
        is_whole: bool = False,
    ):
        # Not PFor's own: the operations that it adds to the graph are seldom needed.
        self.graph, self.size, self.is_whole = traced.graph, size, is_whole
        self.place, self.variables = place, variables
        if place is not None and not (isinstance(size, int) and size > 1):
            self.place = _place_of_one(inputs, place, size)
        self._all_indices_partitioned, self._fallback_to_while_loop = False, False
        self._warn, self._pfor_config = False, None
        self._pfor_ops = set(traced.graph.get_operations())
        self._pfor_op_ids = {operation._id for operation in self._pfor_ops}
        self._conversion_map = object_identity.ObjectIdentityDictionary()
        self._kept = object_identity.ObjectIdentitySet()
        for placeholder, tensor in zip(traced.inputs.values(), inputs, strict=True):
            self._add_conversion(placeholder, pfor.wrap(tensor, not is_whole))
        for placeholder, tensor in zip(traced.shared, shared, strict=True):
            self._add_conversion(placeholder, pfor.wrap(tensor, False))
        for tensor, placeholder in traced.graph.captures:
            self._add_conversion(placeholder, pfor.wrap(tensor, False))
            if id(tensor) in variables:
                self._hold(placeholder, variables[id(tensor)])
        for number, tensor in traced.graph.get_collection(UNKNOWN) if place is not None else ():
            self._add_conversion(tensor, self._unknown(number, tensor.dtype))

    def _hold(self, handle: tf.Tensor, value: tf.Tensor) -> None:
        """Has reads of a variable give this value."""
        for operation in handle.consumers():
            match operation.type:
                case "ReadVariableOp":
                    self._add_conversion(operation.outputs[0], pfor.wrap(value, False))
                case "VariableShape":
                    self._add_conversion(operation.outputs[0], pfor.wrap(tf.shape(value), False))

    def _unknown(self, number: int, dtype: tf.DType) -> pfor.WrappedTensor:
        """A number of which XLA does not know which it is."""
        assert self.place is not None
        hidden = tf.where(self.place < -1, tf.constant(number + 1, dtype), tf.constant(number, dtype))
        return pfor.wrap(hidden, bool(self.place.shape.rank))

    @cached_property
    def _loop_var(self) -> tf.Tensor:
        with self.graph.as_default():
            index = tf.compat.v1.placeholder_with_default(0, [])
        self._add_conversion(index, pfor.wrap(self.all_indices, True))
        return index

    @cached_property
    def _loop_len_vector(self) -> tf.Tensor:
        return tf.convert_to_tensor([self.size])

    @cached_property
    def all_indices(self) -> tf.Tensor:
        return tf.range(self.size)

    def all_of(self, leaves: Sequence[tf.Tensor]) -> list[tf.Tensor]:
        """Tensors of one member for all lanes, [size, ...]."""
        if self.place is not None:
            results = [leaf for leaf in leaves if hasattr(leaf, "op")]
            self._kept = object_identity.ObjectIdentitySet(worth_keeping(results, _ELEMENTWISE))
        return [self._of(leaf) for leaf in leaves]

    def _of(self, leaf: tf.Tensor) -> tf.Tensor:
        found = self._found(leaf) if hasattr(leaf, "op") else pfor.wrap(leaf, False)
        return found.t if found.is_stacked or self.is_whole else tf.broadcast_to(found.t, (self.size, *leaf.shape))

    def _found(self, leaf: tf.Tensor) -> pfor.WrappedTensor:
        pending = [leaf]
        while pending:
            operation = pending[-1].op
            missing = [tensor for tensor in operation.inputs if tensor not in self._conversion_map]
            if pending[-1] in self._conversion_map:
                pending.pop()
            elif missing:
                pending += missing
            else:
                if not self._converted_at_once(operation):
                    self._convert_helper(pending[-1])
                if pending[-1] in self._kept:
                    self._keep(pending[-1])
        return self._conversion_map[leaf]

    def _keep(self, tensor: tf.Tensor) -> None:
        """Has XLA compute it once (see tracing/fusion.py)."""
        found, one = self._conversion_map[tensor], self._unknown(1, tensor.dtype)
        if found.is_stacked:
            aligned = tf.reshape(one.t, [-1] + [1] * tensor.shape.rank)
            self._conversion_map[tensor] = pfor.wrap(tf.realdiv(found.t, aligned), True)

    def _converted_at_once(self, operation: tf.Operation) -> bool:
        """Whether it needs no more than the same operation on what its inputs have become; then that is done."""
        inputs = [self._conversion_map[tensor] for tensor in operation.inputs]
        if operation.type == "ResourceGather" and not operation.get_attr("batch_dims"):
            self._add_conversion(operation.outputs[0], self._of_variable(operation, *inputs))
            return True
        batched = any(each.is_stacked for each in inputs)
        if operation.control_inputs or pfor._is_stateful_pfor_op(operation):
            return False
        if batched and not (operation.type in _ELEMENTWISE and _aligned(inputs)):
            return False
        graph = tf.compat.v1.get_default_graph()
        attributes = operation.node_def.attr
        if "f" in attributes:
            graph._add_function_recursive(operation.graph._get_function(attributes["f"].func.name))
        dtypes = [tensor.dtype for tensor in operation.outputs]
        made = graph.create_op(operation.type, [each.t for each in inputs], dtypes, attrs=attributes)
        if record.could_possibly_record():
            known = [each for name in attributes for each in (name, made.get_attr(name))]
            execute.record_gradient(operation.type, made.inputs, tuple(known), made.outputs[:])
        for old, new in zip(operation.outputs, made.outputs, strict=True):
            self._add_conversion(old, pfor.wrap(new, batched))
        return True

    def _of_variable(
        self, operation: tf.Operation, handle: pfor.WrappedTensor, indices: pfor.WrappedTensor
    ) -> pfor.WrappedTensor:
        """Rows of a variable, each lane's own."""
        value = self.variables.get(id(handle.t))
        if value is None:
            value = tf.raw_ops.ReadVariableOp(resource=handle.t, dtype=operation.get_attr("dtype"))
        return pfor.wrap(tf.gather(value, indices.t), indices.is_stacked)


def _place_of_one(inputs: Sequence[tf.Tensor], place: tf.Tensor, size: Any) -> tf.Tensor:
    """Of what may be a single lane, whose place compilers know inside of its block; what a sine is they do not."""
    for leaf in inputs:
        if leaf.shape.num_elements() != 0 and (leaf.dtype.is_floating or leaf.dtype.is_integer):
            wave = tf.sin(tf.cast(tf.reshape(leaf, [-1])[:1], tf.float32))
            found = tf.cast(tf.floor(tf.where(tf.math.is_nan(wave), tf.zeros_like(wave), wave)), tf.int32)
            return found if isinstance(size, int) else tf.broadcast_to(found, [size])
    return place


_ELEMENTWISE = {"Cast", "Equal", "Identity", "NotEqual", "SelectV2"} | {
    operation
    for operation, convert in pfor._pfor_converter_registry.items()
    if convert is pfor._pfor_converter_registry["AddV2"]
}


def _aligned(inputs: list[pfor.WrappedTensor]) -> bool:
    """Whether the axes of all inputs meet as those of one member's did: what is batched has the most."""
    ranks = [each.t.shape.rank for each in inputs]
    if None in ranks:
        return False
    most = max(rank + (not each.is_stacked) for rank, each in zip(ranks, inputs, strict=True))
    return all(rank == most for rank, each in zip(ranks, inputs, strict=True) if each.is_stacked)
