"""The kernel, as users of ``tfp.mcmc`` call it: ten trajectories of each chain on the 100-dimensional Gaussian."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import tensorflow as tf
import tensorflow_probability as tfp

import autobatch as ab
from benchmarks.dispatch import nuts
from benchmarks.nuts import LIMIT, gradient_alone
from benchmarks.problems import PROBLEMS, Problem
from benchmarks.samplers import MAX_TREE_DEPTH, autobatch
from benchmarks.timing import in_turn

TRAJECTORIES = 10
WARM = 3  # calls of ``sample`` and of the transitions before the first that counts, as a smaller machine is compiled


def run(chains: int, rounds: int) -> dict[str, dict[str, float]]:
    """For each way its times, and gradients a second."""
    problem, counts = PROBLEMS["gaussian"](), dict[str, Any]()

    def counted(name: str, go: Callable[[], Any]) -> Callable[[], Any]:
        def once() -> Any:
            counts[name] = go()
            return counts[name]

        return once

    ways = {name: counted(name, go) for name, go in _ways(problem, chains).items()}
    results = in_turn(ways, rounds, dict.fromkeys(("ab.mcmc.sample", "transitions"), WARM))
    for name, row in results.items():
        row["gradients_per_second"] = float(np.sum(counts[name])) / row["median"]
    return results


def _ways(problem: Problem, chains: int) -> dict[str, Callable[[], Any]]:
    """Each returns how many leapfrogs were made."""
    start = tf.constant(problem.starts(chains), tf.float32)
    kernel = ab.mcmc.NoUTurnSampler(problem.log_prob, problem.step_size, trajectories_per_step=TRAJECTORIES)
    begun = kernel.bootstrap_results(start)
    transitions, args = nuts(chains, TRAJECTORIES)
    theirs = tfp.mcmc.NoUTurnSampler(problem.log_prob, problem.step_size, max_tree_depth=MAX_TREE_DEPTH)

    def step(state: tf.Tensor) -> tf.Tensor:
        return kernel.one_step(state, begun, seed=(1, 2))[1].leapfrogs_taken

    def in_tfp(state: tf.Tensor) -> tf.Tensor:
        taken = lambda _, results: results.leapfrogs_taken
        return tfp.mcmc.sample_chain(TRAJECTORIES, state, kernel=theirs, seed=(1, 2), trace_fn=taken).trace

    graph = tf.function(step, autograph=False)
    compiled = tf.function(step, autograph=False, jit_compile=True)
    tfp_compiled = tf.function(in_tfp, autograph=False, jit_compile=True)
    alone, sample = gradient_alone(problem, chains, TRAJECTORIES), autobatch(problem, chains, TRAJECTORIES)
    return {
        LIMIT: lambda: alone().leapfrogs,
        "ab.mcmc.sample": lambda: sample().leapfrogs,
        "transitions": lambda: transitions(*args)[1][0],
        "the kernel": lambda: step(start),
        "in a tf.function": lambda: graph(start),
        "with jit_compile=True": lambda: compiled(start),
        "tfp.mcmc, jit_compile=True": lambda: tfp_compiled(start),
    }
