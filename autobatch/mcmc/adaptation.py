"""Warm-up: its windows, and the step size: a first one, dual averaging of each chain, and what suits all."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Literal, NamedTuple

import numpy as np
import tensorflow as tf

from autobatch.mcmc.hamiltonian import State

USUAL, MOST_TRIALS = 0.8, 40  # of the search for a first step
SHRINKAGE, DELAY, DECAY = 0.05, 10.0, 0.75  # gamma, t0 and kappa of Hoffman and Gelman


class Averaging(NamedTuple):
    """Dual averaging of one chain's log step size (Hoffman and Gelman 2014, section 3.2); all scalars.

    log_step: for the next transition; log_average: what it settles to; error: mean of target - acceptance;
    count: transitions so far; shrink_to: where log_step is drawn.
    """

    log_step: tf.Tensor
    log_average: tf.Tensor
    error: tf.Tensor
    count: tf.Tensor
    shrink_to: tf.Tensor


def averaging_from(log_step: tf.Tensor) -> Averaging:
    """Begins anew at this step size."""
    zero = tf.zeros_like(log_step)
    return Averaging(log_step, log_step, zero, zero, log_step + np.log(10.0))


def averaged(last: Averaging, acceptance: tf.Tensor, target: tf.Tensor) -> Averaging:
    """After a transition."""
    count = last.count + 1.0
    error = last.error + (target - acceptance - last.error) / (count + DELAY)
    log_step = last.shrink_to - tf.sqrt(count) / SHRINKAGE * error
    weight = count**-DECAY
    log_average = weight * log_step + (1.0 - weight) * last.log_average
    return Averaging(log_step, log_average, error, count, last.shrink_to)


class Window(NamedTuple):
    """A stretch of a run, and what it is for.

    "search": each chain looks for a step size; "fit": so too, and the metric is made of the draws; "pool": all have one
    step size, which is corrected by how that went; "draw": its draws are kept.
    """

    length: int
    purpose: Literal["search", "fit", "pool", "draw"]

    @property
    def searches(self) -> bool:
        return self.purpose in ("search", "fit")


def windows(num_warmup: int) -> list[Window]:
    """Stan's scheme: a window to find the typical set, windows that double, and some for the step size alone."""
    if num_warmup < 50:  # too few for the metric
        return [Window(num_warmup, "search")] if num_warmup else []
    first, last = min(75, round(0.15 * num_warmup)), min(100, num_warmup // 5)
    found, length, left = [Window(first, "search")], 25, num_warmup - first - last
    while left:
        length = left if left < 3 * length else length  # the next would not fit: this one takes the rest
        found.append(Window(length, "fit"))
        left, length = left - length, 2 * length
    search, pool = last // 5, last // 2
    return [*found, Window(search, "search"), Window(last - search - pool, "pool"), Window(pool, "pool")]


LEAST = 0.02  # acceptance that counts as no less, so that one bad trajectory in a short window does not decide


def pooled_step(step: float, acceptance: np.ndarray, target: float) -> float:
    """The step size at which the harmonic mean of all chains' acceptance is the target, from that at ``step``.

    Energy errors grow, on average, with the fourth power of the step (Beskos et al. 2013, "Optimal tuning of the hybrid
    Monte Carlo algorithm"), and with them 1 / acceptance - 1.  The mean of that sees the few chains that are where
    steps would have to be small, and are stuck there; where all places are alike, it is as good as any.
    """
    misses = np.mean(1.0 / np.maximum(acceptance, LEAST).astype(np.float64) - 1.0)
    return step * float(((1.0 / target - 1.0) / max(misses, 1e-3)) ** 0.25)


def first_step(density: Callable, state: State, step: float, seed: Sequence[int]) -> float:
    """Halved or doubled until one leapfrog step of all chains is accepted, on average, four times of five.

    density: [chains, d] -> (log density [chains], gradient [chains, d]).
    """
    q, log_prob, gradient = (np.asarray(part, np.float64) for part in state)
    momentum = np.random.default_rng(seed).normal(size=q.shape)

    def acceptance(step: float) -> float:
        with np.errstate(over="ignore", invalid="ignore"):
            half = momentum + 0.5 * step * gradient
            value, slope = density(tf.constant(q + step * half, state.q.dtype))
            end = half + 0.5 * step * np.asarray(slope, np.float64)
            gain = np.asarray(value, np.float64) - log_prob - 0.5 * ((end**2).sum(axis=1) - (momentum**2).sum(axis=1))
        return float(np.exp(np.minimum(np.where(np.isfinite(gain), gain, -np.inf), 0.0)).mean())

    larger = acceptance(step) > USUAL
    for _ in range(MOST_TRIALS):
        following = 2.0 * step if larger else 0.5 * step
        if larger and acceptance(following) <= USUAL:
            break
        step = following
        if not larger and acceptance(step) > USUAL:
            break
    return step
