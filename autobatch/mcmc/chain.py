"""Whole chains: autobatched programs in which no chain waits for another's transition."""

from __future__ import annotations

from typing import Any

import tensorflow as tf

from autobatch import random
from autobatch.api import autobatch
from autobatch.mcmc.adaptation import averaged

STATISTICS = ("step_size", "tree_depth", "n_leapfrog", "acceptance", "energy", "diverging", "cut", "log_prob")


@autobatch(static_argnames=("sampler", "count"))
def draws(sampler, count, q, key):
    """``count`` draws of one chain that starts at ``q`` [d]; called with q [chains, d] and key [chains, 2].

    sampler: an ``EllipticalSlice``, a ``DelayedRejectionHMC``, or any other hashable object with ``start(q)`` and an
    autobatched ``transition(state, key)`` that returns a state, whose ``q`` is kept, and what it tells of it.

    Returns the draws [chains, count, d] and what each transition told, [chains, count].
    """
    state = sampler.start(q)
    trace: Any = tf.zeros([count, *q.shape], q.dtype)
    told: Any = tf.zeros([count], tf.int32)
    for t in range(count):
        state, number = sampler.transition(state, random.fold_in(key, t))
        trace[t], told[t] = state.q, number
    return trace, told


@autobatch(static_argnames=("sampler", "capacity"))
def run_chain(sampler, capacity, state, averaging, scale, bend, target, tuning, first, draws, key):
    """``draws`` transitions of one chain, numbered from ``first``; the step size adapts if ``tuning``.

    Returns the last state, the averaging, and the traces of positions [capacity, d], STATISTICS [capacity, 8] and
    gradients [capacity, d].
    """
    trace: Any = tf.zeros([capacity, *state.q.shape], state.q.dtype)
    gradients: Any = tf.zeros([capacity, *state.q.shape], state.q.dtype)
    statistics: Any = tf.zeros([capacity, len(STATISTICS)], state.q.dtype)
    for t in range(draws):
        size = tf.exp(averaging.log_step)
        state, report = sampler.transition(state, size, scale, bend, random.fold_in(key, first + t))
        if tuning:
            averaging = averaged(averaging, report.acceptance, target)
        trace[t], gradients[t] = state.q, state.grad
        numbers = (size, report.depth, report.leapfrogs, report.acceptance, report.energy, report.diverging, report.cut)
        statistics[t] = tf.stack([tf.cast(x, size.dtype) for x in (*numbers, state.log_prob)])
    return state, averaging, trace, statistics, gradients
