"""What the samplers are compared on: the paper's two problems (section 4), and a funnel.

Each is written for TensorFlow with leading batch axes, for JAX without, and in Stan's language.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import tensorflow as tf


@dataclass(frozen=True)
class Problem:
    """log_prob: [..., d] -> [...]; for_jax: () -> (q [d] -> []); starts: chains -> [chains, d], near the target."""

    name: str
    dimensions: int
    step_size: float
    log_prob: Callable[[tf.Tensor], tf.Tensor]
    for_jax: Callable[[], Callable]
    starts: Callable[[int], np.ndarray]
    stan: str
    data: dict[str, Any] = field(default_factory=dict)


def gaussian(dimensions: int = 100) -> Problem:
    """The covariance has eigenvalues of about 0.5 to 4."""
    factor = np.random.default_rng(0).normal(size=(dimensions, dimensions))
    return _normal("gaussian", factor @ factor.T / dimensions + 0.5 * np.eye(dimensions), 0.2)


def ill_conditioned(dimensions: int = 100) -> Problem:
    """Three directions have standard deviations of 10, 20 and 30, the others of 1.

    Of 30 trajectories the longest is four to five times the mean, as on the paper's target.
    """
    deviations = np.append(np.ones(dimensions - 3), [10.0, 20.0, 30.0])
    rotation, _ = np.linalg.qr(np.random.default_rng(0).normal(size=(dimensions, dimensions)))
    return _normal("ill_conditioned", rotation @ np.diag(deviations**2) @ rotation.T, 0.4)


def _normal(name: str, covariance: np.ndarray, step_size: float) -> Problem:
    dimensions, precision = len(covariance), np.linalg.inv(covariance)
    constant = tf.constant(precision, tf.float32)

    def for_jax() -> Callable:
        import jax.numpy as jnp

        matrix = jnp.array(precision, jnp.float32)
        return lambda q: -0.5 * q @ (matrix @ q)

    return Problem(
        name, dimensions, step_size,
        lambda q: -0.5 * tf.reduce_sum(q * tf.matmul(q, constant), -1),
        for_jax,
        lambda chains: np.random.default_rng(1).multivariate_normal(np.zeros(dimensions), covariance, chains),
        """data { int d; matrix[d, d] precision; } parameters { vector[d] q; }
        model { target += -0.5 * dot_product(q, precision * q); }""",
        {"d": dimensions, "precision": precision.tolist()},
    )  # fmt: skip


def logistic(points: int = 10_000, dimensions: int = 100) -> Problem:
    """Bayesian logistic regression on synthetic data, with a standard normal prior."""
    rng = np.random.default_rng(0)
    x = rng.normal(size=(points, dimensions)).astype(np.float32)
    true = rng.normal(size=dimensions) / np.sqrt(dimensions)
    y = (rng.random(points) < 1 / (1 + np.exp(-x @ true))).astype(np.float32)
    inputs, outcomes = tf.constant(x), tf.constant(y)

    def log_prob(q: tf.Tensor) -> tf.Tensor:
        logits = tf.matmul(q, inputs, transpose_b=True)
        return tf.reduce_sum(outcomes * logits - tf.nn.softplus(logits), -1) - 0.5 * tf.reduce_sum(q**2, -1)

    def for_jax() -> Callable:
        import jax
        import jax.numpy as jnp

        matrix, seen = jnp.array(x), jnp.array(y)

        def one(q: Any) -> Any:
            logits = matrix @ q
            return jnp.sum(seen * logits - jax.nn.softplus(logits)) - 0.5 * q @ q

        return one

    return Problem(
        "logistic", dimensions, 0.012,
        log_prob,
        for_jax,
        lambda chains: true + 0.02 * np.random.default_rng(1).normal(size=(chains, dimensions)),
        """data { int n; int d; matrix[n, d] x; array[n] int y; } parameters { vector[d] q; }
        model { q ~ std_normal(); y ~ bernoulli_logit(x * q); }""",
        {"n": points, "d": dimensions, "x": x.tolist(), "y": y.astype(int).tolist()},
    )  # fmt: skip


def funnel(dimensions: int = 10) -> Problem:
    """Neal 2003, "Slice sampling": v ~ N(0, 3²) and nine x ~ N(0, exp(v)); trajectories of very unequal length."""
    count = dimensions - 1

    def log_prob(q: tf.Tensor) -> tf.Tensor:
        v, x = q[..., 0], q[..., 1:]
        return -(v**2) / 18 - 0.5 * tf.exp(-v) * tf.reduce_sum(x**2, -1) - 0.5 * count * v

    def for_jax() -> Callable:
        import jax.numpy as jnp

        return lambda q: -(q[0] ** 2) / 18 - 0.5 * jnp.exp(-q[0]) * jnp.sum(q[1:] ** 2) - 0.5 * count * q[0]

    def starts(chains: int) -> np.ndarray:
        rng = np.random.default_rng(1)
        v = 3 * rng.normal(size=(chains, 1))
        return np.concatenate([v, np.exp(v / 2) * rng.normal(size=(chains, count))], axis=1)

    return Problem(
        "funnel", dimensions, 0.1,
        log_prob,
        for_jax,
        starts,
        """data { int d; } parameters { real v; vector[d - 1] x; }
        model { v ~ normal(0, 3); x ~ normal(0, exp(v / 2)); }""",
        {"d": dimensions},
    )  # fmt: skip


def logistic_unequal() -> Problem:
    """The same, with a step size at which trajectories differ: most have 7 leapfrogs, others 15 or more."""
    return replace(logistic(), name="logistic_unequal", step_size=0.01)


PROBLEMS = {
    "gaussian": gaussian,
    "logistic": logistic,
    "logistic_unequal": logistic_unequal,
    "funnel": funnel,
    "ill_conditioned": ill_conditioned,
}
