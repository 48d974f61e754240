"""Hamiltonian Monte Carlo with delayed rejection: what is rejected is tried again with smaller steps.

Modi, Barnett and Carpenter 2023, "Delayed rejection Hamiltonian Monte Carlo for sampling multiscale distributions",
with the momentum kept between attempts.  One chain; autobatch runs it for many.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import tensorflow as tf

from autobatch import random
from autobatch.api import autobatch
from autobatch.mcmc.hamiltonian import Point, State, log_joint, value_and_gradient


@dataclass(frozen=True)
class DelayedRejectionHMC:
    """Samples from a log density; for ``ab.mcmc.draws``.

    log_prob: q [d] -> [], straight-line TensorFlow; step_size, steps: of the first attempt; each of the ``attempts``
    after it takes steps ``shrink`` times smaller, and as many more.
    """

    log_prob: Callable
    step_size: float
    steps: int
    attempts: int = 3
    shrink: int = 4

    def start(self, q: tf.Tensor) -> State:
        """The state of one chain at q [d]."""
        return State(q, *value_and_gradient(self.log_prob, q))

    @autobatch
    def transition(self, state, key):
        """The next state, and the attempt that was accepted (``attempts`` if none was)."""
        assert tf.math.is_finite(state.log_prob), "the log density of the state is not finite"
        key, key_p = random.split(key)
        p = random.normal(key_p, state.q.shape, state.q.dtype)
        here, log_rejected = Point(state.q, p, state.log_prob, state.grad), 0.0
        for k in range(self.attempts):
            there, probability = self.attempt(here, k, log_rejected)
            if random.uniform(random.fold_in(key, k), (), p.dtype) < probability:
                return State(there.q, there.log_prob, there.grad), k
            log_rejected += tf.math.log1p(-probability)
        return state, self.attempts

    @autobatch
    def attempt(self, here, k, log_rejected):
        """The k-th proposal, and its probability after all earlier ones were rejected (equation 12, the recursion)."""
        q, p, log_prob, grad = here
        step, count = self.step_size, self.steps
        for _ in range(k):
            step, count = step / self.shrink, count * self.shrink
        for _ in range(count):
            p = p + 0.5 * step * grad
            q = q + step * p
            log_prob, grad = value_and_gradient(self.log_prob, q)
            p = p + 0.5 * step * grad
        there, log_ghosts = Point(q, -p, log_prob, grad), 0.0
        for j in range(k):  # from there, the earlier proposals would have been rejected too
            _, probability = self.attempt(there, j, log_ghosts)
            log_ghosts += tf.math.log1p(-probability)
        log_ratio = log_joint(there) - log_joint(here) + log_ghosts - log_rejected
        probability = tf.exp(tf.minimum(log_ratio, 0.0))
        return there, tf.where(tf.math.is_finite(log_ratio), probability, 0.0)
