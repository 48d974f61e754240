"""Autobatched functions as arguments of a ``tf.function``."""

from __future__ import annotations

import weakref
from typing import Any

from tensorflow.core.function.trace_type import default_types


class ArgumentOfGraph:
    """What arrives in a ``tf.function`` as it is; TensorFlow would hand over the function that it wraps."""

    def __tf_tracing_type__(self, context: Any) -> Any:
        del context
        return default_types.Weakref(weakref.ref(self))
