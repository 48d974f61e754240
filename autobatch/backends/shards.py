"""Into how many parts a batch is cut."""

from __future__ import annotations

import math
import os
from statistics import mean

import tensorflow as tf

from autobatch import errors
from autobatch.machine.blocks import Machine
from autobatch.machine.sizes import lane_bytes
from autobatch.options import Options
from autobatch.passes.costs import FIXED

SMALLEST = 32  # members from which on a part is worth its thread, if its blocks do enough
SMALLEST_CHEAP = 128  # members, if they do little
CACHED = 8 * 2**20  # bytes of the machine's state from which on smaller parts are faster, one after the other


def parts(machine: Machine, options: Options) -> int:
    """Into how many parts the machine's batch is to be cut."""
    if machine.knows_positions and options.shards not in ("auto", 1):
        raise errors.SettingError(f"A primitive with a size takes the whole batch, which shards={options.shards} cuts.")
    if options.shards != "auto":
        return min(options.shards, max(machine.size, 1))
    if machine.safe or machine.max_steps is not None or machine.knows_positions:
        return 1
    return good_number(machine)


def good_number(machine: Machine) -> int:
    """Into how many parts to cut the machine's batch: one for each core, or more if they would not fit its cache.

    A part must be large enough that what its blocks compute matters beside what it takes to reach them.
    """
    cores = tf.config.threading.get_inter_op_parallelism_threads() or len(os.sched_getaffinity(0))
    rounds = math.ceil(machine.size * lane_bytes(machine) / (CACHED * cores))
    smallest = min(max(SMALLEST, FIXED / 10 / max(mean(machine.stored.costs), 1)), SMALLEST_CHEAP)
    return max(1, min(cores * rounds, int(machine.size / smallest)))
