"""Which block runs next, of those at which lanes wait.  The results are the same whatever is chosen.

(The dispatches "sweep" and "rounds" ask nobody: they run all blocks in turn.  And where a host looks at the
machine, each block gets a turn now and then, so that no lane starves: dispatch.py.)
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from statistics import mean
from typing import Any

import numpy as np
import tensorflow as tf

from autobatch import ir
from autobatch.machine.blocks import Machine
from autobatch.machine.sizes import lanes
from autobatch.passes.costs import FIXED

MANY = 2048  # lanes from which on they are counted in words
FEW = 3  # blocks up to which each lane is sooner compared with each

Choice = Callable[[tf.Tensor], tf.Tensor]  # from the program counters [Z] to a block; ``machine.halt`` if none waits


def earliest(machine: Machine) -> Choice:
    """The paper's choice: the first block in program order at which a lane waits."""
    del machine
    return tf.reduce_min


def most_populated(machine: Machine) -> Choice:
    """The block at which most lanes wait."""
    return _heaviest(machine, np.ones(machine.halt))


def weighed(machine: Machine) -> Choice:
    """The block that serves most lanes for what it costs.

    So a cheap block runs as soon as a few lanes wait there, which brings them to where others are, and a costly one
    once most have come.
    """
    costs = FIXED / max(lanes(machine), 1) + np.array(machine.stored.costs[: machine.halt])
    return _heaviest(machine, 1 / costs)


def _heaviest(machine: Machine, weights: np.ndarray) -> Choice:
    in_words = isinstance(machine.size, int) and machine.size >= MANY and machine.halt > FEW

    def choose(pc: tf.Tensor) -> tf.Tensor:
        counts = counts_in_words(pc, machine.halt) if in_words else counts_compared(pc, machine.halt)
        waiting = tf.cast(counts, tf.float32)
        heaviest = tf.argmax(waiting * weights.astype(np.float32), output_type=tf.int32)
        return tf.where(tf.reduce_max(waiting) > 0, heaviest, machine.halt)

    return choose


def counts_compared(pc: tf.Tensor, blocks: int) -> tf.Tensor:
    """How many lanes wait at each block: each lane is compared with each."""
    waits = tf.equal(pc, tf.range(blocks)[:, tf.newaxis])  # the other way round XLA takes twice as long
    return tf.reduce_sum(tf.cast(waits, tf.int32), axis=1)


def counts_in_words(pc: tf.Tensor, blocks: int) -> tf.Tensor:
    """The same, eight blocks at a time: each has a byte of a word, and words of 255 lanes are added up first."""
    size: Any = pc.shape[0]
    rows = -(-size // 255)
    pc = tf.reshape(tf.pad(pc, [[0, 255 * rows - size]], constant_values=blocks), [rows, 255])
    counts = []
    for first in range(0, blocks, 8):
        held = range(first, min(first + 8, blocks))
        bits = tf.cast(8 * ((pc - first) % 8), tf.uint64)
        marks = tf.where((pc >= first) & (pc < held.stop), tf.bitwise.left_shift(tf.ones_like(bits), bits), 0)
        sums, shifts = tf.reduce_sum(marks, axis=1), tf.constant([[8 * k] for k in range(len(held))], tf.uint64)
        bytes_ = tf.bitwise.bitwise_and(tf.bitwise.right_shift(sums, shifts), 255)  # [blocks, rows]
        counts.append(tf.reduce_sum(tf.cast(bytes_, tf.int32), axis=1))
    return tf.concat(counts, axis=0)


def auto(machine: Machine) -> Choice:
    """Weighed, unless there are loops of blocks that do little: lanes go round in the earliest at next to no cost."""
    worth = lanes(machine) * mean(machine.stored.costs) > FIXED / 3
    return weighed(machine) if worth or not has_loops(machine.program.blocks) else earliest(machine)


def has_loops(blocks: Sequence[ir.Block]) -> bool:
    """Whether a lane can come to a block again without a call."""
    reaches = np.zeros([len(blocks), len(blocks)], bool)
    for i, block in enumerate(blocks):
        reaches[i, list(ir.successors(block.terminator))] = True
    for _ in range(len(blocks).bit_length()):
        reaches |= reaches @ reaches
    return bool(reaches.diagonal().any())


SCHEDULES = {"auto": auto, "earliest": earliest, "most_populated": most_populated, "weighed": weighed}
