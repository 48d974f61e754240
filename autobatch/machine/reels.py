"""Reels hold the rows of tapes from one call to the next.

To get new memory for a tape, and zeros in it, takes as long as to write it.
"""

from __future__ import annotations

from collections import defaultdict
from typing import Any, NamedTuple

import tensorflow as tf
from tensorflow.python.eager import context as eager_context

from autobatch.machine.blocks import State
from autobatch.machine.tape import Tape

KEPT = 128 * 2**20  # bytes that nobody uses, of one layout on one device


class Lent(NamedTuple):
    """A reel for the tape of each part: handles of variables, by the keys of the rows that they hold."""

    reels: list[State]
    shelf: list[State]  # where they go afterwards
    room: int  # for so many

    def give_back(self) -> None:
        self.shelf.extend(self.reels[: max(0, self.room - len(self.shelf))])


class Reels:
    """For tapes of one layout, on each device; nobody else has what is lent, and what is in it is old."""

    def __init__(self, tape: Tape):
        self.tape = tape
        self._shelves: defaultdict[str | None, list[State]] = defaultdict(list)

    def lend(self, count: int) -> Lent:
        place: Any = eager_context.context()
        shelf = self._shelves[place.device_name]
        return Lent([self._taken(shelf) for _ in range(count)], shelf, KEPT // self.tape.bytes)

    def _taken(self, shelf: list[State]) -> State:
        try:
            return shelf.pop()
        except IndexError:
            return {key: _variable(rows) for key, rows in self.tape.blank().items()}


def _variable(value: tf.Tensor) -> tf.Tensor:
    """Which no scope or strategy knows, and which is gone when nobody has its handle."""
    name: Any = eager_context.anonymous_name()
    handle = tf.raw_ops.VarHandleOp(dtype=value.dtype, shape=value.shape, shared_name=name)
    tf.raw_ops.AssignVariableOp(resource=handle, value=value)
    return handle
