"""Phase space, as both variants of the No-U-Turn Sampler see it.

The momentum is standard normal.  A mass matrix and step sizes per coordinate are one thing, the step's size and the
metric (``metric.py``).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import tensorflow as tf

from autobatch import random


class State(NamedTuple):
    """Where a chain is.  q, grad: [d]; log_prob: []."""

    q: tf.Tensor
    log_prob: tf.Tensor
    grad: tf.Tensor


class Point(NamedTuple):
    """A point of phase space.  q, p, grad: [d]; log_prob: []."""

    q: tf.Tensor
    p: tf.Tensor
    log_prob: tf.Tensor
    grad: tf.Tensor


class Candidate(NamedTuple):
    """A point that may become the next draw, without its momentum.  log_joint: its log joint density, []."""

    q: tf.Tensor
    log_prob: tf.Tensor
    grad: tf.Tensor
    log_joint: tf.Tensor


class Report(NamedTuple):
    """What a transition was like; all scalars.

    acceptance: mean acceptance probability over the trajectory; energy: minus the log joint density of the new draw;
    moved: whether the draw is a new point; cut: whether the greatest depth ended the trajectory.
    """

    acceptance: Any
    leapfrogs: Any
    depth: Any
    energy: Any
    moved: Any
    diverging: Any
    cut: Any


def value_and_gradient(log_prob: Callable, q: tf.Tensor) -> tuple[tf.Tensor, Any]:
    """Of a log density of one chain's q [d]: [], [d]."""
    with tf.GradientTape() as tape:
        tape.watch(q)
        value = log_prob(q)
    return value, tape.gradient(value, q)


def log_joint(point: Point) -> tf.Tensor:
    return point.log_prob - 0.5 * tf.tensordot(point.p, point.p, 1)


def candidate(point: Point) -> Candidate:
    return Candidate(point.q, point.log_prob, point.grad, log_joint(point))


def log_uniform(key: tf.Tensor, dtype: tf.DType) -> tf.Tensor:
    """The logarithm of a number that is uniform on (0, 1]."""
    return -random.exponential(key, (), dtype)
