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
from autobatch.mcmc.density import LogDensity, check_start, log_density
from autobatch.mcmc.hamiltonian import State
from autobatch.mcmc.layout import Layout
from autobatch.mcmc.result import named_parts
from autobatch.mcmc.settings import chain_keys

Pinned = tfp.experimental.distributions.JointDistributionPinned
DEFAULT_CHAINS = 16
MOST_STARTS = 100  # how often a random start is drawn anew where the density is not finite, as in Stan


@dataclass(frozen=True)
class Problem:
    """log_prob: of a nest of unconstrained tensors [chains, ...]; start: such a nest, ``jitter`` random numbers on
    (-jitter, jitter) to be added to it; constrain: from unconstrained tensors [chains, draws, ...] to samples;
    functions: the user's, of which a model is made."""

    log_prob: Callable
    start: Any
    jitter: float
    constrain: Callable = lambda state: state
    observed: Mapping[str, Any] = field(default_factory=dict)
    functions: tuple[Callable, ...] = ()


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
    density.check_batching()
    if init_state is not None:
        start, jitter = _spread(density.parts_of(init_state), chains)
        start = density.bijector.inverse(density.packed(start))
    elif init == "prior":
        start, jitter = density.bijector.inverse(density.prior_draws(chains or DEFAULT_CHAINS, key)), 0.0
    else:
        start, jitter = density.zeros(chains or DEFAULT_CHAINS), 2.0
    return Problem(density, tf.nest.flatten(start), jitter, density.constrain, density.pins, density.functions)


class ModelDensity:
    """The log density of a JointDistribution's unobserved parts, unconstrained, as a list.

    Equal for the same model and the same observations, so that what was compiled for it serves again.
    """

    def __init__(self, model: Any, observed: Any):
        self.model, self.pinned = model, _pinned(model, observed)
        self.pins = self.pinned.pins if isinstance(self.pinned, Pinned) else {}
        dtypes = named_parts(self.pinned.dtype)
        discrete = [name for name, dtype in dtypes.items() if not dtype.is_floating]
        if discrete:
            raise errors.SettingError(
                f"The part `{discrete[0]}` of the model is discrete ({dtypes[discrete[0]].name}), and has no gradient.",
                help="observe it, or sum over its values in the model.",
            )
        self.bijector = self.pinned.experimental_default_event_space_bijector()
        self.ranks = self.bijector.inverse_event_ndims(
            tf.nest.map_structure(lambda shape: shape.rank, self.pinned.event_shape)
        )
        data = [(name, np.asarray(leaf)) for name, pin in self.pins.items() for leaf in tf.nest.flatten(pin)]
        self.key = (id(model), *((name, value.shape, value.tobytes()) for name, value in data))

    def __eq__(self, other: Any) -> bool:
        return isinstance(other, ModelDensity) and self.key == other.key

    def __hash__(self) -> int:
        return hash(self.key)

    def __call__(self, *parts: tf.Tensor) -> tf.Tensor:
        state = self.packed(parts)
        with _quiet():
            correction = self.bijector.forward_log_det_jacobian(state, event_ndims=self.ranks)
            return self.pinned.unnormalized_log_prob(self.bijector.forward(state)) + correction

    @property
    def functions(self) -> tuple[Callable, ...]:
        """The user's functions in the model."""
        model = self.pinned.distribution if isinstance(self.pinned, Pinned) else self.pinned
        return tuple(filter(callable, tf.nest.flatten(model.model)))

    def packed(self, parts: Any) -> Any:
        """The parts as the model nests them."""
        return tf.nest.pack_sequence_as(self.pinned.dtype, list(parts))

    def constrain(self, parts: Any) -> Any:
        with _quiet():
            return self.bijector.forward(self.packed(parts))

    def zeros(self, chains: int) -> list[tf.Tensor]:
        """Unconstrained parts."""
        shapes = self.bijector.inverse_event_shape(self.pinned.event_shape)
        make = lambda dtype, shape: tf.zeros([chains, *shape], dtype)
        return tf.nest.flatten(tf.nest.map_structure(make, self.pinned.dtype, shapes))

    def prior_draws(self, chains: int, key: tf.Tensor) -> Any:
        sample = self.pinned.sample_unpinned if isinstance(self.pinned, Pinned) else self.pinned.sample
        with _quiet():
            return sample(chains, seed=tf.bitcast(key, tf.int32))

    def parts_of(self, state: Any) -> list[tf.Tensor]:
        """The tensors of a state that the user gives: by name, or nested as the model's."""
        dtypes = self.pinned.dtype
        if isinstance(state, Mapping):
            named = dtypes._asdict() if hasattr(dtypes, "_asdict") else dtypes
            if not isinstance(named, Mapping) or set(named) != set(state):
                raise errors.SettingError(
                    f"init_state has the parts {', '.join(map(str, state))}; the model's are "
                    f"{', '.join(named_parts(dtypes))}."
                )
            state = [state[name] for name in sorted(named)] if named is dtypes else [state[name] for name in named]
        parts, wanted = tf.nest.flatten(state), tf.nest.flatten(dtypes)
        if len(parts) != len(wanted):
            raise errors.SettingError(f"init_state has {len(parts)} tensors; the model's state has {len(wanted)}.")
        return [tf.cast(part, dtype) for part, dtype in zip(parts, wanted, strict=True)]

    def check_batching(self) -> None:
        """Raises SettingError unless n states have n log densities, whatever n: data or parts may have a batch axis."""
        for count in (2, 3):
            try:
                found = list(tf.function(self, autograph=False).get_concrete_function(*self.zeros(count)).output_shapes)
            except (ValueError, TypeError, tf.errors.OpError) as error:
                found = str(error).splitlines()[0]
            if found != [count]:
                raise errors.SettingError(
                    f"For {count} states the model has no {count} log densities; it gives {found}.",
                    help="observations must have their part's shape and dtype, and a part's axes must be its own: "
                    "tfd.Sample, tfd.Independent, or a model whose class ends in AutoBatched.",
                )


@contextmanager
def _quiet() -> Iterator[None]:
    """Without TFP's warning of how AutoBatched models sample, which they do to learn their own shapes."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Saw Tensor seed", UserWarning)
        yield


def _pinned(model: Any, observed: Any) -> Any:
    """The model given the observations, or the model itself if there are none."""
    if observed is None or (isinstance(observed, Mapping) and not observed):
        return model
    if isinstance(model, Pinned):
        raise errors.SettingError("The model is pinned already; give the observations in one place.")
    help = "observed= is a dictionary from the names of the model's parts to their values."
    dtypes = model.dtype._asdict() if hasattr(model.dtype, "_asdict") else model.dtype
    try:
        if isinstance(observed, Mapping):
            known = dtypes if isinstance(dtypes, Mapping) else {}
            pinned = model.experimental_pin(**{n: _as_data(value, known.get(n)) for n, value in observed.items()})
        else:
            pinned = model.experimental_pin(observed)
        left = tf.nest.flatten(pinned.dtype)
    except (ValueError, TypeError, KeyError, IndexError) as error:
        raise errors.SettingError(f"The model does not take these observations: {error}", help=help) from error
    if not left:
        raise errors.SettingError("Every part of the model is observed, so there is nothing to sample.", help=help)
    return pinned


def _as_data(value: Any, dtype: Any) -> Any:
    """In the dtype of the part, so that NumPy's float64 will do."""
    return value if value is None or not isinstance(dtype, tf.DType) else tf.cast(value, dtype)


def scattered_start(problem: Problem, key: tf.Tensor) -> tuple[LogDensity, State]:
    """The log density, and where the chains start.

    Random starts are drawn anew, up to 100 times, for chains whose log density is not finite.  Raises StartError for
    what is left of those, and LogDensityError.
    """
    layout = Layout.of(problem.start, 1)
    density = log_density(problem.log_prob, layout, problem.functions)
    centre = layout.to_vectors(problem.start)
    q, settled = centre, np.zeros(layout.chains, bool)
    keys = chain_keys(key, [layout.chains]) if problem.jitter else None
    for attempt in range(MOST_STARTS if problem.jitter else 1):
        if problem.jitter:
            draw = tf.vectorized_map(
                lambda key, attempt=attempt: random.uniform(
                    random.fold_in(key, attempt), centre.shape[1:], layout.dtype, -problem.jitter, problem.jitter
                ),
                keys,
            )
            q = tf.where(settled[:, np.newaxis], q, centre + draw)
        value, gradient = density.compute(q)
        settled = np.isfinite(value) & np.isfinite(gradient).all(axis=1)
        if settled.all():
            return density, State(q, value, gradient)
    check_start(value, gradient)
    raise AssertionError
