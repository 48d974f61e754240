"""Whether the samplers are right: known moments, reference posteriors, calibration, the peers' trajectory lengths."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np
import tensorflow as tf
import tensorflow_probability as tfp
from rich.progress import track

import autobatch as ab

tfd = tfp.distributions


class Check(NamedTuple):
    """expected and found: as text; holds: whether they agree."""

    name: str
    expected: str
    found: str
    holds: bool


def autoregressive(dimensions: int = 100, rho: float = 0.9) -> tuple[Callable, np.ndarray]:
    """The log density of a Gaussian with covariance rho**|i - j|, and the covariance."""
    covariance = rho ** np.abs(np.subtract.outer(np.arange(dimensions), np.arange(dimensions)))
    precision = tf.constant(np.linalg.inv(covariance), tf.float32)
    return lambda x: -0.5 * tf.reduce_sum(x * tf.matmul(x, precision), -1), covariance


def exact_start(covariance: np.ndarray, chains: int) -> tf.Tensor:
    draws = np.random.default_rng(0).multivariate_normal(np.zeros(len(covariance)), covariance, chains)
    return tf.constant(draws, tf.float32)


def gaussian(chains: int = 256, draws: int = 200) -> Iterator[Check]:
    """Moments of 100 correlated coordinates, and the length of trajectories at the peers' settings."""
    log_prob, covariance = autoregressive()
    lengths = {"multinomial": "35.9 (NumPyro, BlackJAX)", "slice": "no reference"}
    for variant, expected in lengths.items():
        start = exact_start(covariance, chains)
        result = ab.mcmc.sample(log_prob, start, draws, 0, step_size=0.25, seed=0, variant=variant)
        length = float(np.mean(result.stats["n_leapfrog"]))
        yield Check(
            f"gradients a trajectory, {variant}",
            expected,
            f"{length:.1f}",
            variant == "slice" or abs(length - 35.9) < 1,
        )
        found = np.cov(np.reshape(result.samples, [-1, 100]).T)
        error = np.abs(found - covariance).max()
        yield Check(f"covariance of a 100-d Gaussian, {variant}", "error < 0.04", f"largest {error:.3f}", error < 0.04)
        mean = np.abs(np.mean(result.samples, (0, 1))).max()
        yield Check(f"mean of a 100-d Gaussian, {variant}", "error < 0.03", f"largest {mean:.3f}", mean < 0.03)


def funnel(chains: int = 64, draws: int = 1000) -> Iterator[Check]:
    """Neal's funnel in 10 dimensions; its neck is v ~ N(0, 3)."""

    def centred(v, x):
        return tfd.Normal(0.0, 3.0).log_prob(v) - 0.5 * tf.reduce_sum(x**2 * tf.exp(-v)[..., None] + v[..., None], -1)

    def non_centred(v, x):
        return tfd.Normal(0.0, 3.0).log_prob(v) - 0.5 * tf.reduce_sum(x**2, -1)

    start = [tf.zeros([chains]), tf.random.stateless_normal([chains, 9], (0, 1))]
    for name, log_prob, bias in (("non-centred", non_centred, 0.1), ("centred, target 0.99", centred, 0.6)):
        target = 0.8 if log_prob is non_centred else 0.99
        result = ab.mcmc.sample(log_prob, start, draws, 500, target_acceptance=target, seed=0)
        mean, sd = float(np.mean(result.samples[0])), float(np.std(result.samples[0]))
        holds = abs(mean) < bias and abs(sd - 3) < bias
        yield Check(f"funnel, {name}: v", f"0 ± 3 (within {bias})", f"{mean:.2f} ± {sd:.2f}", holds)


SIGMA = np.array([15, 10, 16, 11, 9, 11, 10, 18], np.float32)
EFFECT = np.array([28, 8, -3, 7, -1, 1, 18, 12], np.float32)


@tfd.JointDistributionCoroutineAutoBatched
def non_centred_schools():
    mu = yield tfd.Normal(0.0, 5.0, name="mu")
    tau = yield tfd.HalfCauchy(0.0, 5.0, name="tau")
    theta = yield tfd.Sample(tfd.Normal(0.0, 1.0), 8, name="theta")
    yield tfd.Normal(mu + tau * theta, SIGMA, name="y")


@tfd.JointDistributionCoroutineAutoBatched
def centred_schools():
    mu = yield tfd.Normal(0.0, 5.0, name="mu")
    tau = yield tfd.HalfCauchy(0.0, 5.0, name="tau")
    theta = yield tfd.Sample(tfd.Normal(mu, tau), 8, name="theta")
    yield tfd.Normal(theta, SIGMA, name="y")


def eight_schools(chains: int = 64, draws: int = 1000) -> Iterator[Check]:
    """Against posteriordb's reference posterior: mu 4.4, tau 3.6."""
    models = {"non-centred": (non_centred_schools, 0.8, 0.15), "centred": (centred_schools, 0.99, 0.5)}
    for name, (model, target, bias) in models.items():
        result = ab.mcmc.sample(
            model, observed={"y": EFFECT}, chains=chains, num_results=draws, target_acceptance=target, seed=0
        )
        mu, tau = float(np.mean(result.samples.mu)), float(np.mean(result.samples.tau))
        holds = abs(mu - 4.4) < bias and abs(tau - 3.6) < bias
        yield Check(f"eight schools, {name}: mu, tau", f"4.4, 3.6 (within {bias})", f"{mu:.2f}, {tau:.2f}", holds)


def small_model(y: Any) -> Callable:
    """mu ~ N(0, 1), s ~ N(0, 1/2), five y ~ N(mu, exp(s)), for data [chains, 5]; of q = (mu, s), [chains, 2]."""

    def log_prob(q):
        mu, s = q[..., :1], q[..., 1:]
        likelihood = tf.reduce_sum(-0.5 * ((y - mu) / tf.exp(s)) ** 2 - s, -1)
        return likelihood + tf.reduce_sum(-0.5 * mu**2 - 2.0 * s**2, -1)

    return log_prob


def prior_draw(count: int, seed: int) -> np.ndarray:
    return (np.random.default_rng(seed).normal(size=[count, 2]) * [1.0, 0.5]).astype(np.float32)


def simulation_based_calibration(replications: int = 1024, variant: str = "multinomial") -> Iterator[Check]:
    """Talts et al. 2018: the rank of the true parameter among 63 posterior draws is uniform.

    Every replication is a chain, with data of its own, that starts at the parameter that made them.
    """
    truth = prior_draw(replications, 0)
    noise = np.random.default_rng(1).normal(size=[replications, 5])
    y = tf.constant(truth[:, :1] + np.exp(truth[:, 1:]) * noise, tf.float32)
    result = ab.mcmc.sample(small_model(y), truth, 63 * 4, 0, step_size=0.4, seed=0, variant=variant)
    draws = np.asarray(result.samples)[:, 3::4]
    for k, name in enumerate(("mu", "s")):
        ranks = (draws[..., k] < truth[:, None, k]).sum(axis=1)
        counts = np.bincount(ranks // 4, minlength=16)
        statistic = float(((counts - replications / 16) ** 2 / (replications / 16)).sum())
        p = float(1 - tfd.Chi2(15.0).cdf(statistic))
        yield Check(f"calibration of {name}, {variant}", "p > 0.001", f"p = {p:.2f}", p > 0.001)


def geweke(chains: int = 2048, steps: int = 100, variant: str = "multinomial") -> Iterator[Check]:
    """Geweke 2004: draws of parameters given data and of data given parameters, in turn, keep the prior's moments."""

    @tf.function(autograph=False, jit_compile=True)
    def run(q):
        def body(t, q):
            seeds = tf.random.experimental.stateless_split((7, t), 2)
            noise = tf.random.stateless_normal([chains, 5], seeds[0])
            kernel = ab.mcmc.NoUTurnSampler(small_model(q[:, :1] + tf.exp(q[:, 1:]) * noise), 0.5, variant=variant)
            return t + 1, kernel.one_step(q, kernel.bootstrap_results(q), seed=seeds[1])[0]

        return tf.while_loop(lambda t, q: t < steps, body, (0, q))[1]

    q = run(tf.constant(prior_draw(chains, 2))).numpy().astype(np.float64)
    mu, s = q[:, 0], q[:, 1] / 0.5
    moments = {"mu": mu, "mu²": mu**2 - 1, "s": s, "s²": s**2 - 1, "mu s": mu * s}
    scores = {name: x.mean() / x.std() * np.sqrt(chains) for name, x in moments.items()}
    found = ", ".join(f"{name} {z:+.1f}" for name, z in scores.items())
    yield Check(f"Geweke's joint test, {variant}", "|z| < 4", found, max(map(abs, scores.values())) < 4)


def same_in_every_batch() -> Iterator[Check]:
    log_prob, covariance = autoregressive()
    start = exact_start(covariance, 8)
    eight, three = (
        np.asarray(ab.mcmc.sample(log_prob, start[:n], 5, 0, step_size=0.1, seed=0).samples)[:3] for n in (8, 3)
    )
    error = np.abs(eight - three).max()
    yield Check("a chain in a batch of 8 and of 3, 5 draws", "float rounding", f"{error:.1e} apart", error < 1e-3)


def everything() -> list[Check]:
    parts = [
        gaussian,
        funnel,
        eight_schools,
        simulation_based_calibration,
        lambda: simulation_based_calibration(variant="slice"),
        geweke,
        lambda: geweke(variant="slice"),
        same_in_every_batch,
    ]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ab.mcmc.SamplingWarning)
        return [check for part in track(parts, description="correctness") for check in part()]
