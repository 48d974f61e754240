"""Whether a draw's cost grows with the number of draws kept, and what memory a long trace takes."""

from __future__ import annotations

import resource
from collections.abc import Callable
from functools import partial

import numpy as np
import tensorflow as tf

import autobatch as ab
from autobatch.mcmc.adaptation import averaging_from
from autobatch.mcmc.chain import run_chain
from autobatch.mcmc.hamiltonian import State, value_and_gradient
from autobatch.mcmc.multinomial import Multinomial
from benchmarks.correctness import autoregressive, exact_start
from benchmarks.timing import in_turn

CHAINS, DRAWS = 64, 100
ROOMS = (100, 1_000, 10_000)


def costs(rounds: int) -> dict[str, dict[str, float]]:
    """100 draws of 64 chains in 100 dimensions, into traces with room for more and more."""
    log_prob, covariance = autoregressive()
    sampler = Multinomial(partial(value_and_gradient, lambda q: log_prob(q[None])[0]))
    q = exact_start(covariance, CHAINS)
    state = State(q, *tf.vectorized_map(sampler.density, q))
    averaging = averaging_from(tf.fill([CHAINS], tf.math.log(0.25)))
    chain = run_chain.options(in_axes=(0, 0, None, None, None, None, None, None, 0))
    keys = ab.random.split(ab.random.key(0), CHAINS)

    def last_state(room: int) -> State:
        return chain(sampler, room, state, averaging, tf.ones([100]), (), 0.8, False, 0, DRAWS, keys)[0]

    systems: dict[str, Callable] = {f"{DRAWS} draws, room for {room:,}": partial(last_state, room) for room in ROOMS}
    return in_turn(systems, rounds)


def memory(chains: int = 1024, draws: int = 1000) -> dict[str, float]:
    """MiB that one call of ``sample`` adds to the process, compiling included: run it in a process of its own."""
    log_prob, covariance = autoregressive()
    start = exact_start(covariance, chains)
    before = _resident()
    result = ab.mcmc.sample(log_prob, start, draws, 0, step_size=0.25, max_tree_depth=3, seed=0)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return {"trace": np.asarray(result.samples).nbytes / 2**20, "extra": peak - before}


def _resident() -> float:
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * resource.getpagesize() / 2**20
