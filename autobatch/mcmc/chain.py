"""Whole chains: one autobatched program in which no chain waits for another's trajectory."""

from __future__ import annotations

from typing import Any

import tensorflow as tf

from autobatch import random
from autobatch.api import autobatch
from autobatch.mcmc.adaptation import averaged

STATISTICS = ("step_size", "tree_depth", "n_leapfrog", "acceptance", "energy", "diverging", "cut", "log_prob")


@autobatch(static_argnames=("sampler", "capacity"))
def run_chain(sampler, capacity, state, averaging, scale, target, tuning, first, draws, key):
    """``draws`` transitions of one chain, numbered from ``first``; the step size adapts if ``tuning``.

    Returns the last state, the averaging, and the traces of positions [capacity, d] and STATISTICS [capacity, 8].
    """
    trace: Any = tf.zeros([capacity, *state.q.shape], state.q.dtype)
    statistics: Any = tf.zeros([capacity, len(STATISTICS)], state.q.dtype)
    for t in range(draws):
        size = tf.exp(averaging.log_step)
        state, report = sampler.transition(state, size, scale, random.fold_in(key, first + t))
        if tuning:
            averaging = averaged(averaging, report.acceptance, target)
        trace[t] = state.q
        numbers = (size, report.depth, report.leapfrogs, report.acceptance, report.energy, report.diverging, report.cut)
        statistics[t] = tf.stack([tf.cast(x, size.dtype) for x in (*numbers, state.log_prob)])
    return state, averaging, trace, statistics
