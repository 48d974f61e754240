"""The No-U-Turn Samplers in turn, and the gradient alone in a loop: what none of them can pass."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable, Sequence

import arviz
import numpy as np
import tensorflow as tf

import autobatch as ab
from benchmarks.dispatch import nuts
from benchmarks.footprint import added_bytes
from benchmarks.problems import PROBLEMS, Problem
from benchmarks.samplers import SYSTEMS, Run, System
from benchmarks.timing import in_turn

LIMIT = "the gradient alone"
PACKAGES = {"NumPyro": "numpyro", "BlackJAX": "blackjax", "Stan": "stan"}  # of the extra `benchmarks`
WARM = 3  # calls of ours before the first that counts, in which the machine compiles smaller ones if it wants them
TRANSITIONS = {"gaussian": 50, "logistic": 10, "logistic_unequal": 10, "funnel": 100}
IN_STEP = ("tfp.mcmc", "NumPyro", "BlackJAX")  # all chains wait for the longest trajectory


def gradient_alone(problem: Problem, chains: int, transitions: int) -> Callable[[], Run]:
    """The log density and its gradient for all chains, in a loop under XLA."""
    start, count = tf.constant(problem.starts(chains), tf.float32), 10 * transitions

    @tf.function(jit_compile=True, autograph=False)
    def compiled(q: tf.Tensor) -> tf.Tensor:
        def body(i: tf.Tensor, q: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor]:
            with tf.GradientTape() as tape:
                tape.watch(q)
                value = problem.log_prob(q)
            return i + 1, q + 1e-9 * tape.gradient(value, q) + 1e-9 * value[:, tf.newaxis]

        return tf.while_loop(lambda i, _: i < count, body, (0, q))[1]

    return lambda: Run(np.asarray(compiled(start))[:, np.newaxis], np.full([chains, 1], count))


MAKERS: dict[str, System] = {LIMIT: gradient_alone, **SYSTEMS}


def installed(names: Sequence[str]) -> list[str]:
    return [name for name in names if name not in PACKAGES or importlib.util.find_spec(PACKAGES[name])]


def run(problem: str, chains: int, systems: Sequence[str], rounds: int) -> dict[str, dict[str, float]]:
    """For each system its times, gradients a second, and effective draws a second of the slowest coordinate.

    And the share of chains that are active when gradients are computed, and what the system adds to peak memory.
    """
    target = PROBLEMS[problem]()
    transitions = max(TRANSITIONS[problem], 1600 // chains)
    last: dict[str, Run] = {}

    def kept(name: str, make: System) -> Callable[[], np.ndarray]:
        go = make(target, chains, transitions)

        def once() -> np.ndarray:
            last[name] = go()
            return np.asarray(last[name].leapfrogs)

        return once

    warm = {"autobatch": WARM} if "autobatch" in systems else {}
    results = in_turn({name: kept(name, MAKERS[name]) for name in (LIMIT, *systems)}, rounds, warm)
    for name, row in results.items():
        row["gradients_per_second"] = float(np.sum(last[name].leapfrogs)) / row["median"]
        row["leapfrogs"] = float(np.mean(last[name].leapfrogs))
        if name == "autobatch":
            function, args = nuts(chains, transitions, problem)
            row["utilization"] = ab.profile(function, *args).costliest.utilization
        elif name in IN_STEP:
            row["utilization"] = _utilization_in_step(np.asarray(last[name].leapfrogs))
        if name != "Stan":  # which does not live in this process
            row["added_bytes"] = added_bytes(_made, (name, problem, chains, transitions), PACKAGES.get(name))
        if name != LIMIT and transitions >= 100:
            row["effective_per_second"] = _effective(np.asarray(last[name].draws)) / row["median"]
    return results


def _made(name: str, problem: str, chains: int, transitions: int) -> Callable[[], Run]:
    return MAKERS[name](PROBLEMS[problem](), chains, transitions)


def _utilization_in_step(leapfrogs: np.ndarray) -> float:
    """Of [chains, transitions], where each transition takes as long as its longest."""
    return float(leapfrogs.sum() / (len(leapfrogs) * leapfrogs.max(axis=0).sum()))


def _effective(draws: np.ndarray) -> float:
    """The least effective sample size of a coordinate, over all chains; draws [chains, draws, d]."""
    return min(float(arviz.ess(draws[..., k])) for k in range(draws.shape[-1]))
