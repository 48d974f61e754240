"""What ``ab.mcmc.sample`` samples: a log density of unconstrained parts, where chains start, and the way back."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
import tensorflow as tf
import tensorflow_probability as tfp

from autobatch import errors, random
from autobatch.mcmc.density import call, check_start, log_density, wrong_shape
from autobatch.mcmc.hamiltonian import State
from autobatch.mcmc.layout import Layout

Pinned = tfp.experimental.distributions.JointDistributionPinned
DEFAULT_CHAINS = 16
MOST_STARTS = 100  # how often a random start is drawn anew where the density is not finite, as in Stan


@dataclass(frozen=True)
class Problem:
    """log_prob: of a nest of unconstrained tensors [chains, ...]; start: such a nest, ``jitter`` random numbers on
    (-jitter, jitter) to be added to it; constrain: from unconstrained tensors [chains, draws, ...] to samples."""

    log_prob: Callable
    start: Any
    jitter: float
    constrain: Callable = lambda state: state
    observed: Mapping[str, Any] = field(default_factory=dict)


def problem_of(
    target: Any, init_state: Any, observed: Any, chains: int | None, init: Literal["jitter", "prior"], key: tf.Tensor
) -> Problem:
    """See ``ab.mcmc.sample`` for the arguments and errors."""
    if init not in ("jitter", "prior"):
        raise errors.SettingError(f"init must be 'jitter' or 'prior', not {init!r}.")
    if isinstance(target, tfp.distributions.JointDistribution | Pinned):
        return _of_model(target, init_state, observed, chains, init, key)
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


def _of_model(model: Any, init_state: Any, observed: Any, chains: int | None, init: str, key: tf.Tensor) -> Problem:
    density = ModelDensity(model, observed)
    if init_state is not None:
        start = tf.nest.map_structure(tf.convert_to_tensor, tf.nest.flatten(init_state))
        start, jitter = _spread(start, chains)
        start = density.bijector.inverse(density.packed(start))
    elif init == "prior":
        with _quiet():
            drawn = density.pinned.sample_unpinned(chains or DEFAULT_CHAINS, seed=tf.bitcast(key, tf.int32))
        start, jitter = density.bijector.inverse(drawn), 0.0
    else:
        shapes = density.bijector.inverse_event_shape(density.pinned.event_shape)
        start = tf.nest.map_structure(
            lambda dtype, shape: tf.zeros([chains or DEFAULT_CHAINS, *shape], dtype), density.pinned.dtype, shapes
        )
        jitter = 2.0
    return Problem(density, tf.nest.flatten(start), jitter, density.constrain, density.pinned.pins)


class ModelDensity:
    """The log density of a JointDistribution's unobserved parts, unconstrained, as a list.

    Equal for the same model and the same observations, so that what was compiled for it serves again.
    """

    def __init__(self, model: Any, observed: Any):
        self.model, self.pinned = model, _pinned(model, observed)
        self.bijector = self.pinned.experimental_default_event_space_bijector()
        self.ranks = self.bijector.inverse_event_ndims(
            tf.nest.map_structure(lambda shape: shape.rank, self.pinned.event_shape)
        )
        pins = tf.nest.flatten(self.pinned.pins, expand_composites=True)
        self.key = (
            id(model),
            *((name, np.asarray(pin).tobytes()) for name, pin in zip(self.pinned.pins, pins, strict=True)),
        )

    def __eq__(self, other: Any) -> bool:
        return isinstance(other, ModelDensity) and self.key == other.key

    def __hash__(self) -> int:
        return hash(self.key)

    def __call__(self, *parts: tf.Tensor) -> tf.Tensor:
        state = self.packed(parts)
        with _quiet():
            correction = self.bijector.forward_log_det_jacobian(state, event_ndims=self.ranks)
            return self.pinned.unnormalized_log_prob(self.bijector.forward(state)) + correction

    def packed(self, parts: Any) -> Any:
        """The parts as the model nests them."""
        return tf.nest.pack_sequence_as(self.pinned.dtype, list(parts))

    def constrain(self, parts: Any) -> Any:
        with _quiet():
            return self.bijector.forward(self.packed(parts))


@contextmanager
def _quiet() -> Iterator[None]:
    """Without TFP's warning of how AutoBatched models sample, which they do to learn their own shapes."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Saw Tensor seed", UserWarning)
        yield


def _pinned(model: Any, observed: Any) -> Any:
    if observed is None:
        return model if isinstance(model, Pinned) else model.experimental_pin()
    if isinstance(model, Pinned):
        raise errors.SettingError("The model is pinned already; give the observations in one place.")
    try:
        return model.experimental_pin(**observed) if isinstance(observed, Mapping) else model.experimental_pin(observed)
    except (ValueError, TypeError, KeyError) as error:
        raise errors.SettingError(
            f"The model does not take these observations: {error}",
            help="observed= is a dictionary from the names of the model's parts to their values.",
        ) from error


def scattered_start(problem: Problem, keys: tf.Tensor) -> tuple[Layout, State]:
    """Where the chains start, with the log density there.

    Random starts are drawn anew, up to 100 times, for chains whose log density is not finite.  Raises StartError for
    what is left of those, and LogDensityError.
    """
    parts = tf.nest.flatten(problem.start)
    value = tf.convert_to_tensor(call(problem.log_prob, problem.start))
    if tuple(value.shape) != tuple(parts[0].shape[:1]):
        raise wrong_shape(value.shape, [part.shape for part in parts], list(parts[0].shape[:1]))
    layout = Layout.of(problem.start, 1)
    density = log_density(problem.log_prob, layout)
    centre = layout.to_vectors(problem.start)
    q, settled = centre, np.zeros(layout.chains, bool)
    for attempt in range(MOST_STARTS if problem.jitter else 1):
        if problem.jitter:
            draw = tf.vectorized_map(
                lambda key, attempt=attempt: random.uniform(
                    random.fold_in(key, attempt), centre.shape[1:], layout.dtype, -problem.jitter, problem.jitter
                ),
                keys,
            )
            q = tf.where(settled[:, np.newaxis], q, centre + draw)
        value, gradient = density.value_and_gradient(layout.to_parts(q))
        vectors = layout.to_vectors(gradient)
        settled = np.isfinite(value) & np.isfinite(vectors).all(axis=1)
        if settled.all():
            return layout, State(q, value, vectors)
    check_start(value, gradient)
    raise AssertionError
