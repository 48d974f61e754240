"""A function of tensors in structures, traced once.

TensorFlow checks each argument of a ``tf.function`` against what it was traced for, which takes some 30 µs a tensor:
with a machine's state, more than what a small batch takes to compute.  Here they fit by construction.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import tensorflow as tf


class Traced:
    """``function`` for arguments of the structure, the dtypes and the shapes that ``arguments`` have."""

    def __init__(self, function: Callable, arguments: tuple):
        def flat(*tensors: tf.Tensor) -> list[tf.Tensor]:
            self._results = function(*tf.nest.pack_sequence_as(arguments, tensors))
            return tf.nest.flatten(self._results)

        specs = [tf.TensorSpec(tensor.shape, tensor.dtype) for tensor in tf.nest.flatten(arguments)]
        self._concrete = tf.function(flat, autograph=False).get_concrete_function(*specs)

    def __call__(self, *arguments: Any) -> Any:
        concrete: Any = self._concrete
        flat = concrete.inference_fn.call_flat(*tf.nest.flatten(arguments), *concrete.captured_inputs)
        return tf.nest.pack_sequence_as(self._results, flat or [])  # None of no results
