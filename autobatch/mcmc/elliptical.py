"""Elliptical slice sampling: no tuning, and a number of evaluations that differs from draw to draw.

Murray, Adams and MacKay 2010, "Elliptical slice sampling", figure 2.  One chain; autobatch runs it for many.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import tensorflow as tf

from autobatch import random
from autobatch.api import autobatch
from autobatch.mcmc.hamiltonian import log_uniform


class EllipticalState(NamedTuple):
    """q: [d]; log_likelihood: []."""

    q: Any
    log_likelihood: Any


@dataclass(frozen=True)
class EllipticalSlice:
    """Samples the product of a likelihood and a Gaussian of mean zero; for ``ab.mcmc.draws``.

    log_likelihood: q [d] -> [], straight-line TensorFlow; prior_draw: key -> [d], a draw from the Gaussian.
    """

    log_likelihood: Callable
    prior_draw: Callable

    def start(self, q: tf.Tensor) -> EllipticalState:
        """The state of one chain at q [d]."""
        return EllipticalState(q, self.log_likelihood(q))

    @autobatch
    def transition(self, state, key):
        """The next state, and how often the likelihood was evaluated."""
        key_ellipse, key_height, key_angle, key = random.split(key, 4)
        other = self.prior_draw(key_ellipse)
        height = state.log_likelihood + log_uniform(key_height, state.q.dtype)
        assert tf.math.is_finite(height), "the log likelihood of the state is not finite"
        angle = random.uniform(key_angle, (), state.q.dtype, 0.0, 2 * math.pi)
        low, high, evaluations = angle - 2 * math.pi, angle, 0
        while True:
            q = state.q * tf.cos(angle) + other * tf.sin(angle)
            log_likelihood, evaluations = self.log_likelihood(q), evaluations + 1
            # (At the state itself in the end, whose likelihood may round below the height.)
            if log_likelihood >= height or tf.reduce_all(q == state.q):
                return EllipticalState(q, log_likelihood), evaluations
            low, high = (angle, high) if angle < 0 else (low, angle)
            key, key_angle = random.split(key)
            angle = random.uniform(key_angle, (), state.q.dtype, low, high)
