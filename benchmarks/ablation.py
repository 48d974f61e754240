"""What each optimization is worth: everything, and everything but one, in turn."""

from __future__ import annotations

from functools import partial

import numpy as np
import tensorflow as tf

import autobatch as ab
from autobatch.machine import sizes
from autobatch.machine.blocks import Machine
from autobatch.options import OPTIMIZATIONS
from benchmarks.dispatch import nuts
from benchmarks.timing import in_turn
from examples.fibonacci import fibonacci

EVERYTHING, ONE_CHAIN = "everything", "NUTS, one chain"
DEPTH = 15  # saved frames, of which the bytes are told


def cases(chains: int, trajectories: int) -> dict[str, tuple[ab.Autobatched, tuple]]:
    numbers = tf.constant(np.random.default_rng(0).integers(3, 13, 1000), tf.int32)
    return {
        "fibonacci of 1,000 numbers": (fibonacci, (numbers,)),
        ONE_CHAIN: nuts(1, 100 * trajectories),
        f"NUTS, {chains} chains": nuts(chains, trajectories),
    }


def run(chains: int, trajectories: int, rounds: int) -> dict[str, dict[str, dict[str, float]]]:
    """For each program, for each optimization left out: times, bytes of a lane's state, and steps of several lanes."""
    results = {}
    for program, (function, args) in cases(chains, trajectories).items():
        variants = {EVERYTHING: function.options(max_depth=DEPTH)}
        for name in sorted(OPTIMIZATIONS):
            variants[name] = function.options(max_depth=DEPTH, optimizations=OPTIMIZATIONS - {name})
        results[program] = in_turn({name: partial(f, *args) for name, f in variants.items()}, rounds)
        for name, f in variants.items():
            results[program][name]["lane_bytes"] = lane_bytes(f, args)
            if program != ONE_CHAIN:  # to count takes another machine, for each of them
                results[program][name]["steps"] = sum(block.runs for block in ab.profile(f, *args).blocks)
    return results


def lane_bytes(function: ab.Autobatched, args: tuple) -> float:
    lowered = function.lower(*args)
    stored = lowered._program.stack(function._options.optimizations)
    return sizes.lane_bytes(Machine(stored, 1, DEPTH, safe=False))
