"""Which block runs next, of those at which lanes wait.  The results are the same whatever is chosen."""

from __future__ import annotations

from collections.abc import Callable
from statistics import mean

import numpy as np
import tensorflow as tf

from autobatch.passes.costs import FIXED
from autobatch.runtime.machine import Machine

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
    costs = FIXED / machine.size + np.array(machine.stored.costs[: machine.halt])
    return _heaviest(machine, 1 / costs)


def _heaviest(machine: Machine, weights: np.ndarray) -> Choice:
    def choose(pc: tf.Tensor) -> tf.Tensor:
        waiting = tf.reduce_sum(tf.cast(tf.equal(pc[:, tf.newaxis], tf.range(machine.halt)), tf.float32), axis=0)
        heaviest = tf.argmax(waiting * weights.astype(np.float32), output_type=tf.int32)
        return tf.where(tf.reduce_max(waiting) > 0, heaviest, machine.halt)

    return choose


def auto(machine: Machine) -> Choice:
    """Weighed, unless the blocks do so little that even to count the lanes at each takes longer."""
    worth = machine.size * mean(machine.stored.costs) > FIXED / 3
    return weighed(machine) if worth else earliest(machine)


SCHEDULES = {"auto": auto, "earliest": earliest, "most_populated": most_populated, "weighed": weighed}
