"""The machine's choices, each against the default: recursive NUTS on a correlated 100-dimensional Gaussian."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
import tensorflow as tf

import autobatch as ab
from autobatch.mcmc.hamiltonian import State, value_and_gradient
from autobatch.mcmc.kernel import several_transitions
from autobatch.mcmc.multinomial import Multinomial
from benchmarks.problems import PROBLEMS
from benchmarks.timing import in_turn

CHOICES = {
    "the default": {},
    "one part": {"shards": 1},
    "one part, most populated": {"shards": 1, "schedule": "most_populated"},
    "one part, earliest": {"shards": 1, "schedule": "earliest"},
    "one part, earliest, switch_case": {"shards": 1, "schedule": "earliest", "dispatch": "switch_case"},
}


def nuts(
    chains: int, trajectories: int, problem: str = "gaussian", max_tree_depth: int = 10, leapfrogs: int = 1
) -> tuple[ab.Autobatched, tuple]:
    """NUTS's transitions alone, and what to call them with; its result is (state, (leapfrogs, ...)).

    ``leapfrogs`` of a leaf share the problem's step: with four of the whole step a trajectory could turn all the way
    round between two leaves, unseen.
    """
    target = PROBLEMS[problem]()
    density = partial(value_and_gradient, lambda q: target.log_prob(q[tf.newaxis])[0])
    sampler = Multinomial(density, max_tree_depth, leapfrogs_per_leaf=leapfrogs)
    q = tf.constant(target.starts(chains), tf.float32)
    start = State(q, *tf.vectorized_map(sampler.density, q))
    keys = ab.random.split(ab.random.key(0), chains)
    function = several_transitions.options(in_axes=(0, None, None, 0))
    return function, (sampler, trajectories, start, target.step_size / leapfrogs, tf.ones([target.dimensions]), keys)


def run(chains: int, trajectories: int, rounds: int) -> dict[str, dict[str, float]]:
    function, args = nuts(chains, trajectories)

    def leapfrogs(choice: dict[str, Any]) -> tf.Tensor:
        _, (taken, *_) = function.options(**choice)(*args)
        return taken

    results = in_turn({name: partial(leapfrogs, choice) for name, choice in CHOICES.items()}, rounds)
    gradients = int(np.sum(leapfrogs({})))
    return {name: {**times, "gradients_per_second": gradients / times["median"]} for name, times in results.items()}
