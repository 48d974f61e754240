"""``primitive``: functions that take the whole batch."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import tensorflow as tf

from autobatch import context, errors
from autobatch.calls import pickled
from autobatch.calls.argument_of_graph import ArgumentOfGraph
from autobatch.ir import BatchSize


class BatchedPrimitive(ArgumentOfGraph):
    """A function that takes the whole batch; see ``primitive``."""

    __autobatch_static__ = True

    def __init__(self, fn: Callable, size: BatchSize = None):
        self.fn = fn
        self.size: BatchSize = size
        functools.update_wrapper(self, fn)

    def __reduce_ex__(self, protocol: Any) -> Any:
        return pickled.name_of(self) or super().__reduce_ex__(protocol)

    def __autobatch_parts__(self) -> list[Any]:
        return [self.fn, self.size]

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if context.mode() is context.Mode.BATCH:
            return self.fn(*args, **kwargs)
        if self.size not in (None, 1, "all"):
            raise errors.BatchShapeError(f"`{self.__name__}` takes a batch of {self.size}, not one example.")
        # One example: a batch of one.
        args, kwargs = tf.nest.map_structure(lambda x: tf.convert_to_tensor(x)[tf.newaxis], (args, kwargs))
        return tf.nest.map_structure(lambda y: y[0], self.fn(*args, **kwargs))


def primitive(fn: Callable | None = None, *, batched: bool = True, size: BatchSize = None) -> Any:
    """Marks a function that autobatched code calls with the whole batch, or a part of it, at once.

    Use it for code that is batched already (a TFP ``log_prob``) or that TensorFlow cannot vectorize.  Its
    arguments come with a leading batch axis and so must its results; every member must depend on its own row only.
    Called from anywhere else it is the function itself.

    Args:
      fn: the function; without it, returns a decorator.
      batched: must be True; it stands in the code for its reader.
      size: the only batch size that it takes, if it knows the members by their position, or "all" for the whole batch,
        however large; None for any part of it.  With it the batch is not run in parts.
    """
    if not batched:
        raise ValueError("an undecorated function already runs as straight-line code; primitive is for batched=True")
    return functools.partial(BatchedPrimitive, size=size) if fn is None else BatchedPrimitive(fn, size)
