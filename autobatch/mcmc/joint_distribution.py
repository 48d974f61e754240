"""The log density of a JointDistribution's unobserved parts."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import numpy as np
import tensorflow as tf
import tensorflow_probability as tfp

from autobatch import errors
from autobatch.mcmc.names import named_parts

Pinned = tfp.experimental.distributions.JointDistributionPinned
KINDS = (tfp.distributions.JointDistribution, Pinned)


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

    def __autobatch_parts__(self) -> list[Any]:
        """What a program that calls it depends on."""
        return [self.pinned, self.bijector, self.ranks]

    def __call__(self, *parts: tf.Tensor) -> tf.Tensor:
        state = self.packed(parts)
        with _quiet():
            correction = self.bijector.forward_log_det_jacobian(state, event_ndims=self.ranks)
            return self.pinned.unnormalized_log_prob(self.bijector.forward(state)) + correction

    @property
    def functions(self) -> tuple[Callable, ...]:
        """The user's functions in the model."""
        return tuple(filter(callable, tf.nest.flatten(self.joint.model)))

    @property
    def joint(self) -> Any:
        """The model before it was pinned."""
        return self.pinned.distribution if isinstance(self.pinned, Pinned) else self.pinned

    def named(self, parts: Any) -> dict[str, Any]:
        """The parts of what is nested as the model is, or as its unobserved parts are, by name."""
        names, flat = self.joint._flat_resolve_names(), self.joint._model_flatten
        if len(parts) == len(names):
            return dict(zip(names, flat(parts), strict=True))
        return dict(zip(self.pinned._flat_resolve_names(), self.pinned._model_flatten(parts), strict=True))

    def packed(self, parts: Any) -> Any:
        """The parts as the model nests them."""
        return tf.nest.pack_sequence_as(self.pinned.dtype, list(parts))

    def like_its_parts(self, samples: Any) -> Any:
        """Samples [chains, draws, ...], nested as the model is.  Raises SettingError if they are of another model."""
        shapes, flat = tf.nest.flatten(self.pinned.event_shape), tf.nest.flatten(samples)
        if len(flat) != len(shapes) or any(part.shape[2:] != shape for part, shape in zip(flat, shapes, strict=True)):
            theirs = ", ".join(f"{name} {list(part.shape[2:])}" for name, part in named_parts(samples).items())
            raise errors.SettingError(f"The model has other parts than what was sampled: {theirs}.")
        return self.packed(flat)

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

    def whole_draws(self, count: int, key: tf.Tensor) -> Any:
        """Of parts and data."""
        with _quiet():
            return self.joint.sample(count, seed=tf.bitcast(key, tf.int32))

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
