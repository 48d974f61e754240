"""What ``ab.mcmc.sample`` samples: a log density of unconstrained parts, where chains start, and the way back."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import tensorflow as tf

from autobatch import errors, random
from autobatch.mcmc.density import LogDensity, check_start, log_density
from autobatch.mcmc.hamiltonian import State
from autobatch.mcmc.layout import Layout
from autobatch.mcmc.settings import chain_keys

if TYPE_CHECKING:
    from autobatch.mcmc.joint_distribution import ModelDensity

DEFAULT_CHAINS = 16
MOST_STARTS = 100  # how often a random start is drawn anew where the density is not finite, as in Stan


@dataclass(frozen=True)
class Problem:
    """log_prob: of a nest of unconstrained tensors [chains, ...]; start: such a nest, ``jitter`` random numbers on
    (-jitter, jitter) to be added to it; constrain: from unconstrained tensors [chains, draws, ...] to samples;
    functions: the user's, of which a model is made; model: whose log density it is, if it is one's."""

    log_prob: Callable
    start: Any
    jitter: float
    constrain: Callable = lambda state: state
    observed: Mapping[str, Any] = field(default_factory=dict)
    functions: tuple[Callable, ...] = ()
    model: ModelDensity | None = None


def problem_of(
    target: Any, init_state: Any, observed: Any, chains: int | None, init: Literal["jitter", "prior"], key: tf.Tensor
) -> Problem:
    """See ``ab.mcmc.sample`` for the arguments and errors."""
    if init not in ("jitter", "prior"):
        raise errors.SettingError(f"init must be 'jitter' or 'prior', not {init!r}.")
    if (density := _of_joint_distribution(target, observed)) is not None:
        return _of_model(density, init_state, chains, init, key)
    if not callable(target):
        raise errors.SettingError(
            f"The first argument must be a log density or a JointDistribution, not a {type(target).__name__}."
        )
    if observed is not None or init == "prior":
        raise errors.SettingError("observed= and init='prior' are for a JointDistribution, not for a log density.")
    if init_state is None:
        raise errors.SettingError(
            "A log density needs an init_state.",
            help="tensors of shape [chains, ...]; or of shape [1, ...] with chains=n, for starts around one point.",
        )
    start = tf.nest.map_structure(tf.convert_to_tensor, init_state)
    start, jitter = _spread(start, chains)
    return Problem(target, start, jitter)


def _of_joint_distribution(target: Any, observed: Any) -> ModelDensity | None:
    if "tensorflow_probability" not in sys.modules:  # it takes a second to import, and made no target then
        return None
    from autobatch.mcmc import joint_distribution

    if not isinstance(target, joint_distribution.KINDS):
        return None
    return joint_distribution.ModelDensity(target, observed)


def _of_model(density: ModelDensity, init_state: Any, chains: int | None, init: str, key: tf.Tensor) -> Problem:
    density.check_batching()
    if init_state is not None:
        start, jitter = _spread(density.parts_of(init_state), chains)
        start = density.bijector.inverse(density.packed(start))
    elif init == "prior":
        start, jitter = density.bijector.inverse(density.prior_draws(chains or DEFAULT_CHAINS, key)), 0.0
    else:
        start, jitter = density.zeros(chains or DEFAULT_CHAINS), 2.0
    return Problem(density, tf.nest.flatten(start), jitter, density.constrain, density.pins, density.functions, density)


def _spread(start: Any, chains: int | None) -> tuple[Any, float]:
    """The start of all chains, and how far they are to be scattered: not at all, unless one point is given for all."""
    sizes = {part.shape[0] if part.shape.rank else None for part in tf.nest.flatten(start)}
    if len(sizes) != 1 or None in sizes:
        shapes = ", ".join(str(list(part.shape)) for part in tf.nest.flatten(start))
        raise errors.SettingError(
            f"The parts of init_state, of shape {shapes}, have no common leading axis, one entry for each chain.",
            help="for starts around one point give it a leading axis of 1, and chains=n.",
        )
    (size,) = sizes
    if chains is None or chains == size:
        return start, 0.0
    if size != 1:
        raise errors.SettingError(f"init_state has {size} chains, and chains={chains}.")
    return tf.nest.map_structure(lambda part: tf.repeat(part, chains, axis=0), start), 1.0


def scattered_start(problem: Problem, key: tf.Tensor) -> tuple[LogDensity, State]:
    """The log density, and where the chains start.

    Random starts are drawn anew, up to 100 times, for chains whose log density is not finite.  Raises StartError for
    what is left of those, and LogDensityError.
    """
    layout = Layout.of(problem.start, 1)
    density = log_density(problem.log_prob, layout, problem.functions)
    centre = layout.to_vectors(problem.start)
    q, settled = centre, np.zeros(len(centre), bool)
    keys = chain_keys(key, [len(centre)]) if problem.jitter else None
    for attempt in range(MOST_STARTS if problem.jitter else 1):
        if keys is not None:
            draw = _uniform(keys, tf.constant(attempt), sum(layout.sizes), layout.dtype.name)
            q = tf.where(settled[:, np.newaxis], q, centre + problem.jitter * draw)
        value, gradient = density.compute(q)
        settled = np.isfinite(value) & np.isfinite(gradient).all(axis=1)
        if settled.all():
            return density, State(q, value, gradient)
    check_start(value, gradient)
    raise AssertionError


@tf.function(autograph=False)  # traced once, or vectorized_map would be anew at each call
def _uniform(keys: tf.Tensor, attempt: tf.Tensor, size: int, dtype: str) -> tf.Tensor:
    """On (-1, 1), so many for each of the keys."""

    def of_one(key: tf.Tensor) -> tf.Tensor:
        return random.uniform(random.fold_in(key, attempt), [size], tf.as_dtype(dtype), -1.0, 1.0)

    return tf.vectorized_map(of_one, keys)
