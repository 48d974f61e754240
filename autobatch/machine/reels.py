"""Reels hold the rows of tapes from one call to the next.

To get new memory for a tape, and zeros in it, takes as long as to write it.
"""

from __future__ import annotations

from typing import Any

import tensorflow as tf
from tensorflow.python.eager import context as eager_context

from autobatch.machine.blocks import State
from autobatch.machine.tape import Tape

KEPT = 128 * 2**20  # bytes that nobody uses


class Reels:
    """For tapes of one layout."""

    def __init__(self, tape: Tape):
        self.tape = tape
        self._free: list[State] = []

    def take(self) -> State:
        """The handles of variables of nobody else's, by the keys of the rows that they hold; what is in them is old."""
        try:
            return self._free.pop()
        except IndexError:
            return {key: _variable(rows) for key, rows in self.tape.blank().items()}

    def give_back(self, reel: State) -> None:
        if (len(self._free) + 1) * self.tape.bytes <= KEPT:
            self._free.append(reel)


def _variable(value: tf.Tensor) -> tf.Tensor:
    """Which no scope or strategy knows, and which is gone when nobody has its handle."""
    name: Any = eager_context.anonymous_name()
    handle = tf.raw_ops.VarHandleOp(dtype=value.dtype, shape=value.shape, shared_name=name)
    tf.raw_ops.AssignVariableOp(resource=handle, value=value)
    return handle
