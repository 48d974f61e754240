"""Warm-up: the step size by dual averaging, the diagonal mass matrix from pooled draws, in windows."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import tensorflow as tf

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
    """A stretch of warm-up; the step size adapts in it, and after it the mass matrix if ``scales``."""

    length: int
    scales: bool


def windows(num_warmup: int) -> list[Window]:
    """Stan's scheme: a window to find the typical set, windows that double, one for the step size alone."""
    if num_warmup < 50:  # too few for the mass matrix
        return [Window(num_warmup, False)] if num_warmup else []
    first, last = (75, 50) if num_warmup >= 150 else (round(0.15 * num_warmup), max(10, round(0.1 * num_warmup)))
    found, length, left = [Window(first, False)], 25, num_warmup - first - last
    while left:
        length = left if left < 3 * length else length  # the next would not fit: this one takes the rest
        found.append(Window(length, True))
        left, length = left - length, 2 * length
    return [*found, Window(last, False)]


def pooled_deviations(trace: np.ndarray) -> np.ndarray:
    """Standard deviations [d] of all chains' draws [chains, draws, d], shrunk a little to 0.001, as in Stan."""
    mean = trace.mean(axis=(0, 1), dtype=np.float64)
    squares = sum(((chain - mean) ** 2).sum(axis=0) for chain in trace)  # a chain at a time, for memory
    count = trace.shape[0] * trace.shape[1]
    variance = squares / max(count - 1, 1)
    return np.sqrt((count * variance + 5 * 1e-3) / (count + 5))
