"""Posteriors that are hard in a way of their own, sampled with defaults: ours beside TFP's windowed sampler.

What is known of them exactly, by hand or by quadrature, is what the draws are held to.
"""

from __future__ import annotations

import functools
import time
import warnings
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import arviz
import numpy as np
import tensorflow as tf
import tensorflow_probability as tfp
from rich.progress import track

import autobatch as ab
from autobatch.mcmc.names import named_parts
from autobatch.mcmc.trouble import LARGEST_R_HAT, SMALLEST_ESS

tfd = tfp.distributions

CHAINS, DRAWS, WARM_UP = 32, 500, 500
AT_MOST = 20_000  # draws of each chain, of a run that goes on until they are enough
FARTHEST = 4.0  # standard errors that a mean may be away


@dataclass(frozen=True)
class Posterior:
    """known: the exact means of some parts, or of their first coordinate."""

    model: Any
    observed: Mapping[str, Any] = field(default_factory=dict)
    known: Mapping[str, float] = field(default_factory=dict)


class Found(NamedTuple):
    """seconds: compiling and warm-up included; again: once more with another seed, so without most of compiling.

    r_hat: the largest; ess: the smallest, bulk or tail; error: the farthest mean, in standard errors (nan: none known);
    gradients: of all chains, in the draws that were kept.
    """

    seconds: float
    again: float
    r_hat: float
    ess: float
    error: float
    divergences: int
    gradients: int

    @property
    def passes(self) -> bool:
        """Divergences are allowed, as they are said."""
        return self.r_hat < LARGEST_R_HAT and self.ess >= SMALLEST_ESS and not self.error > FARTHEST


def banana() -> Posterior:
    """Haario, Saksman and Tamminen 1999."""

    @tfd.JointDistributionCoroutineAutoBatched
    def model() -> Iterator:
        x = yield tfd.Normal(0.0, 10.0, name="x")
        yield tfd.Normal(0.03 * (x**2 - 100.0), 1.0, name="y")

    return Posterior(model, known={"x": 0.0, "y": 0.0})


def ill_conditioned(dimensions: int = 100) -> Posterior:
    """A Gaussian of condition number 10⁶, not along the axes."""
    random = np.random.default_rng(0)
    rotation = np.linalg.qr(random.normal(size=[dimensions, dimensions]))[0]
    root = rotation * np.geomspace(1e-3, 1.0, dimensions) @ rotation.T
    factor = np.linalg.cholesky(root @ root.T).astype(np.float32)

    @tfd.JointDistributionCoroutineAutoBatched
    def model() -> Iterator:
        yield tfd.MultivariateNormalTriL(tf.zeros(dimensions), factor, name="x")

    return Posterior(model, known={"x": 0.0})


def funnel(dimensions: int = 10) -> Posterior:
    """Neal 2003, non-centred."""

    @tfd.JointDistributionCoroutineAutoBatched
    def model() -> Iterator:
        yield tfd.Normal(0.0, 3.0, name="v")
        yield tfd.Sample(tfd.Normal(0.0, 1.0), dimensions - 1, name="x")

    return Posterior(model, known={"v": 0.0})


def radon(counties: int = 85) -> Posterior:
    """Varying intercepts, centred, as Gelman and Hill's model of radon in Minnesota; the houses are simulated."""
    random = np.random.default_rng(0)
    county = np.repeat(np.arange(counties), np.maximum(1, random.lognormal(1.7, 1.0, counties).astype(int)))
    uranium = random.normal(scale=0.4, size=counties).astype(np.float32)
    floor = (random.random(len(county)) < 0.17).astype(np.float32)
    level = 1.46 + 0.7 * uranium + 0.16 * random.normal(size=counties)
    y = (level[county] - 0.66 * floor + 0.75 * random.normal(size=len(county))).astype(np.float32)

    @tfd.JointDistributionCoroutineAutoBatched
    def model() -> Iterator:
        base = yield tfd.Normal(0.0, 10.0, name="base")
        slope = yield tfd.Normal(0.0, 10.0, name="slope")
        effect = yield tfd.Normal(0.0, 10.0, name="effect")
        between = yield tfd.HalfNormal(1.0, name="between")
        within = yield tfd.HalfNormal(1.0, name="within")
        levels = yield tfd.Normal(base + slope * uranium, between, name="levels")
        yield tfd.Normal(tf.gather(levels, county, axis=-1) + effect * floor, within, name="y")

    return Posterior(model, {"y": y})


def item_response(students: int = 400, questions: int = 100) -> Posterior:
    """Of 501 parameters: each of 400 students answers 75 of 100 questions; one parameter is their mean ability."""
    random = np.random.default_rng(0)
    ability, difficulty = random.normal(0.75, 1.0, students), random.normal(size=questions)
    asked = np.argsort(random.random([students, questions]), axis=1)[:, :75]
    student = np.repeat(np.arange(students), 75)
    question = asked.reshape(-1)
    chance = 1 / (1 + np.exp(difficulty[question] - ability[student]))
    right = (random.random(len(student)) < chance).astype(np.float32)

    @tfd.JointDistributionCoroutineAutoBatched
    def model() -> Iterator:
        mean = yield tfd.Normal(0.75, 1.0, name="mean")
        able = yield tfd.Sample(tfd.Normal(0.0, 1.0), students, name="able")
        hard = yield tfd.Sample(tfd.Normal(0.0, 1.0), questions, name="hard")
        logits = mean[..., tf.newaxis] + tf.gather(able, student, axis=-1) - tf.gather(hard, question, axis=-1)
        yield tfd.Independent(tfd.Bernoulli(logits=logits, dtype=tf.float32), 1, name="right")

    return Posterior(model, {"right": right})


def brownian() -> Posterior:
    """A random walk of 30 steps, seen with noise in the first and the last ten; both scales are unknown."""
    random = np.random.default_rng(0)
    seen = np.r_[0:10, 20:30]
    y = (np.cumsum(random.normal(scale=0.1, size=30)) + random.normal(scale=0.15, size=30))[seen].astype(np.float32)

    @tfd.JointDistributionCoroutineAutoBatched
    def model() -> Iterator:
        walks = yield tfd.LogNormal(0.0, 2.0, name="walks")
        noise = yield tfd.LogNormal(0.0, 2.0, name="noise")
        steps = yield tfd.Sample(tfd.Normal(0.0, walks), 30, name="steps")
        places = tf.cumsum(steps, axis=-1)
        yield tfd.Normal(tf.gather(places, seen, axis=-1), noise[..., tf.newaxis], name="y")

    walks, noise = _scales_of_a_walk(seen, y)
    return Posterior(model, {"y": y}, {"walks": walks, "noise": noise})


def _scales_of_a_walk(seen: np.ndarray, y: np.ndarray) -> tuple[float, float]:
    """The posterior means of ``brownian``'s two scales by quadrature: given them, all is Gaussian."""
    values, vectors = np.linalg.eigh(1.0 + np.minimum.outer(seen, seen))
    square = (vectors.T @ y.astype(np.float64)) ** 2
    walks, noise = (np.exp(axis) for axis in np.meshgrid(np.linspace(-12, 3, 601), np.linspace(-12, 3, 601)))
    variance = walks[..., None] ** 2 * values + noise[..., None] ** 2
    log_prob = -0.5 * (square / variance + np.log(variance)).sum(axis=-1)
    log_prob -= 0.125 * (np.log(walks) ** 2 + np.log(noise) ** 2)
    weight = np.exp(log_prob - log_prob.max())
    return float((weight * walks).sum() / weight.sum()), float((weight * noise).sum() / weight.sum())


POSTERIORS: dict[str, Callable[[], Posterior]] = {
    "banana": banana,
    "funnel, non-centred": funnel,
    "random walk": brownian,
    "radon": radon,
    "ill-conditioned Gaussian": ill_conditioned,
    "item response": item_response,
}


def ours(posterior: Posterior, at_most: int = DRAWS) -> Callable[[int], tuple[Any, np.ndarray, np.ndarray]]:
    """Of a seed: the draws [chains, draws, ...], gradients and divergences [chains, draws]."""
    settings = {"observed": posterior.observed, "chains": CHAINS, "at_most": at_most, "progress": False}

    def run(seed: int) -> tuple[Any, np.ndarray, np.ndarray]:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ab.mcmc.SamplingWarning)
            result = ab.mcmc.sample(posterior.model, None, DRAWS, WARM_UP, seed, **settings)
        return result.samples, np.asarray(result.stats["n_leapfrog"]), np.asarray(result.stats["diverging"])

    return run


def windowed(posterior: Posterior) -> Callable[[int], tuple[Any, np.ndarray, np.ndarray]]:
    """``tfp.experimental.mcmc.windowed_adaptive_nuts``, compiled whole."""

    @tf.function(autograph=False, jit_compile=True)
    def compiled(seed: tf.Tensor) -> Any:
        return tfp.experimental.mcmc.windowed_adaptive_nuts(
            DRAWS, posterior.model, n_chains=CHAINS, num_adaptation_steps=WARM_UP, seed=seed, **posterior.observed
        )

    def run(seed: int) -> tuple[Any, np.ndarray, np.ndarray]:
        draws, trace = compiled(tf.constant([0, seed]))
        draws = tf.nest.map_structure(lambda part: np.swapaxes(part, 0, 1), draws)
        return draws, np.swapaxes(trace["n_steps"], 0, 1), np.swapaxes(trace["diverging"], 0, 1)

    return run


SYSTEMS = {
    "autobatch": ours,
    "autobatch, until it is enough": functools.partial(ours, at_most=AT_MOST),
    "TFP windowed": windowed,
}


def judged(posterior: Posterior, run: Callable[[int], tuple[Any, np.ndarray, np.ndarray]]) -> Found:
    times = []
    for seed in (0, 1):
        start = time.perf_counter()
        draws, gradients, diverging = run(seed)
        times.append(time.perf_counter() - start)
    parts = {name: np.asarray(part, np.float64) for name, part in named_parts(draws).items()}
    data = arviz.convert_to_dataset(parts)
    smallest = [arviz.ess(data, method=method) for method in ("bulk", "tail")]
    ess = min(float(found.min()) for each in smallest for found in each.data_vars.values())
    r_hat = max(float(found.max()) for found in arviz.rhat(data).data_vars.values())
    errors = []
    for name, mean in posterior.known.items():
        part = parts[name].reshape(*parts[name].shape[:2], -1)[..., 0]
        errors.append(abs(part.mean() - mean) / float(arviz.mcse(part)))
    return Found(
        *times,
        r_hat,
        ess,
        max(errors, default=np.nan),
        int(diverging.sum()),
        int(gradients.sum()),
    )


def everything(only: str = "") -> Iterator[tuple[str, str, Found]]:
    """Each posterior, or one, by each system."""
    for name in track([only] if only else list(POSTERIORS), description="posteriors"):
        posterior = POSTERIORS[name]()
        for system, runner in SYSTEMS.items():
            yield name, system, judged(posterior, runner(posterior))
