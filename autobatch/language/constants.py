"""Python's numbers in the graphs that programs become: one constant for all places that take the number.

Every operation on a tensor and a number makes a constant of the number; without this a third of all operations were
constants, and to add one takes TensorFlow more than half as long as to add a sum.
"""

from __future__ import annotations

from typing import Any

import tensorflow as tf

from autobatch import context


def once(value: float, dtype: tf.DType | None = None, name: str | None = None, as_ref: bool = False) -> Any:
    """A bool, int or float as a tensor, as a function for ``tf.register_tensor_conversion_function`` makes it.

    Returns: while programs are made, the graph's one constant for this number and dtype; otherwise NotImplemented:
      TensorFlow shall make one.
    """
    del name, as_ref
    if not context.tracing_lock.held or tf.executing_eagerly():
        return NotImplemented
    graph = tf.compat.v1.get_default_graph()
    if graph._get_control_flow_context() is not None:  # whose constants are not for what comes after it
        return NotImplemented
    made = getattr(graph, "_autobatch_numbers", None)
    if made is None:
        made = graph._autobatch_numbers = {}
    key = type(value), repr(value), dtype  # 0.0 is -0.0, and 1 is True, by ==
    if key not in made:
        made[key] = tf.constant(value, dtype)
    return made[key]
