"""Lanes that are refilled while the machine runs (``f.map``), against a call with a lane for each member."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import tensorflow as tf

import autobatch as ab
from autobatch.machine.sizes import lane_bytes
from benchmarks.dispatch import nuts
from benchmarks.programs import programs
from benchmarks.timing import in_turn

CALL, PLAIN = "a call", "a call, compact='never'"
LANES = (256, 1024, 4096)
WARM = 4  # calls before those that count, in which the machine compiles smaller ones if it wants them


def run(rounds: int) -> dict[str, dict[str, dict[str, float]]]:
    """For each program and each way to run it: times, utilization of the costliest block, bytes of the lanes' state."""
    return {name: _compared(function, args, rounds) for name, (function, args) in _cases().items()}


def _cases() -> dict[str, tuple[ab.Autobatched, tuple]]:
    rng, suite = np.random.default_rng(0), programs()
    tolerances = 10.0 ** rng.uniform(-5, -3, 100_000)
    return {
        "collatz, the numbers to 10^6": (suite["collatz"].function, suite["collatz"].args),
        "oscillator, 100,000 members": (
            suite["oscillator"].function,
            (tf.constant(rng.uniform(0, 10, 100_000), tf.float32), tf.constant(tolerances, tf.float32)),
        ),
        "NUTS, ill-conditioned, 4,096 chains x 3": nuts(4096, 3, "ill_conditioned"),
    }


def _compared(function: ab.Autobatched, args: tuple, rounds: int) -> dict[str, dict[str, float]]:
    plain = function.options(compact="never")
    ways: dict[str, Callable[[], Any]] = {CALL: partial(function, *args), PLAIN: partial(plain, *args)}
    ways |= {_refilled(lanes): partial(function.map, *args, lanes=lanes) for lanes in LANES}
    results = in_turn(ways, rounds, dict.fromkeys(ways, WARM))
    members = len(tf.nest.flatten(args[-1])[0])
    machine = function.lower(*args)._machine().machine
    results[PLAIN] |= {
        "utilization": ab.profile(plain, *args).costliest.utilization,
        "state_bytes": members * lane_bytes(machine(0, members)),
    }
    for lanes in LANES:
        results[_refilled(lanes)] |= {
            "utilization": ab.profile(function, *args, lanes=lanes).costliest.utilization,
            "state_bytes": lanes * lane_bytes(machine(0, lanes)),
        }
    return results


def _refilled(lanes: int) -> str:
    return f"f.map, {lanes:,} lanes"
