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
from benchmarks.problems import gaussian
from benchmarks.timing import in_turn

DIMENSIONS = 100
CHOICES = {
    "the default": {},
    "one part": {"shards": 1},
    "one part, most populated": {"shards": 1, "schedule": "most_populated"},
    "one part, earliest": {"shards": 1, "schedule": "earliest"},
    "one part, earliest, switch_case": {"shards": 1, "schedule": "earliest", "dispatch": "switch_case"},
}


def gaussian_log_prob():
    """The paper's Gaussian, of one chain."""
    precision = tf.constant(gaussian(DIMENSIONS).data["precision"], tf.float32)
    return lambda q: -0.5 * tf.tensordot(q, tf.linalg.matvec(precision, q), 1)


def run(chains: int, trajectories: int, rounds: int) -> dict[str, dict[str, float]]:
    sampler = Multinomial(partial(value_and_gradient, gaussian_log_prob()))
    q = tf.constant(np.random.default_rng(1).normal(size=(chains, DIMENSIONS)), tf.float32)
    start = State(q, *tf.vectorized_map(sampler.density, q))
    keys = ab.random.split(ab.random.key(0), chains)

    def leapfrogs(choice: dict[str, Any]) -> tf.Tensor:
        chain = several_transitions.options(in_axes=(0, None, None, 0), **choice)
        _, (taken, *_) = chain(sampler, trajectories, start, 0.2, tf.ones([DIMENSIONS]), keys)
        return taken

    results = in_turn({name: partial(leapfrogs, choice) for name, choice in CHOICES.items()}, rounds)
    gradients = int(np.sum(leapfrogs({})))
    return {name: {**times, "gradients_per_second": gradients / times["median"]} for name, times in results.items()}
