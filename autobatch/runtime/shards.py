"""The batch in parts, which the threads of TensorFlow's executor run beside each other.

XLA's CPU code for element-wise operations inside a loop uses one thread.  Members do not depend on each other, so the
same program, compiled once for a part of the batch, runs for all parts at once.
"""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Sequence
from statistics import mean
from typing import Any

import tensorflow as tf

from autobatch.passes.costs import FIXED
from autobatch.runtime.machine import Machine

SMALLEST = 32  # members from which on a part is worth its thread, if its blocks do enough
CACHED = 8 * 2**20  # bytes of the machine's state from which on smaller parts are faster, one after the other


def good_number(machine: Machine) -> int:
    """Into how many parts to cut the machine's batch: one for each core, or more if they would not fit its cache.

    A part must be large enough that its blocks take longer than it takes to reach them.
    """
    cores = tf.config.threading.get_inter_op_parallelism_threads() or len(os.sched_getaffinity(0))
    rounds = math.ceil(machine.size * machine.lane_bytes / (CACHED * cores))
    smallest = max(SMALLEST, FIXED / max(mean(machine.stored.costs), 1))
    return max(1, min(cores * rounds, int(machine.size / smallest)))


def in_shards(run: Callable[..., Any], size: int, count: int) -> Callable[..., Any]:
    """``run`` for a batch of ``size``, made of one for batches of ``ceil(size / count)``.

    Args:
      run: (leaves [part, ...], shared) -> a nest of tensors [part, ...], compiled by itself.
    """
    part = -(-size // count)
    starts = [min(k * part, size - part) for k in range(count)]  # the last may begin within the one before
    again = [max(0, k * part - start) for k, start in enumerate(starts)]

    def whole(leaves: Any, shared: Sequence[tf.Tensor]) -> Any:
        slices = (tf.nest.map_structure(lambda leaf, k=k: leaf[k : k + part], leaves) for k in starts)
        results = [run(each, shared) for each in slices]
        return tf.nest.map_structure(
            lambda *pieces: tf.concat([piece[skip:] for piece, skip in zip(pieces, again, strict=True)], axis=0),
            *results,
        )

    return whole
