"""What a model says of data, for each draw of its other parts: how likely each datum is, and the data it would make."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from typing import Any

import tensorflow as tf
import tensorflow_probability as tfp

from autobatch.mcmc.joint_distribution import ModelDensity
from autobatch.mcmc.names import named_parts
from autobatch.mcmc.settings import chain_keys

tfd = tfp.distributions


def log_likelihoods(model: ModelDensity, samples: Any) -> dict[str, tf.Tensor]:
    """Of each datum: [chains, draws, ...], by the names of the data.

    The data of a ``tfd.Sample`` or ``tfd.Independent`` are told apart; those of a distribution whose event they are
    together, as of a multivariate normal, have one number.
    """

    def of_one(parts: Mapping[str, Any]) -> dict[str, Any]:
        distributions, _ = model.joint.sample_distributions(**parts, **model.pins)
        by_name = model.named(distributions)
        return {name: _of_each(by_name[name], value) for name, value in model.pins.items()}

    parts = model.named(samples)
    return _for_each_draw(of_one, parts, dict.fromkeys(model.pins, tf.nest.flatten(parts)[0].dtype))


def predictions(model: ModelDensity, samples: Any, key: tf.Tensor) -> dict[str, tf.Tensor]:
    """Data like those observed: [chains, draws, ...], by name."""
    chains, draws = tf.nest.flatten(samples)[0].shape[:2]
    keys = tf.reshape(chain_keys(key, [chains * draws]), [chains, draws, 2])

    def of_one(parts: tuple[Mapping[str, Any], tf.Tensor]) -> dict[str, Any]:
        given, seed = parts
        made = model.named(model.joint.sample(**given, seed=tf.bitcast(seed, tf.int32)))
        return {name: made[name] for name in model.pins}

    dtypes = tf.nest.map_structure(lambda leaf: leaf.dtype, dict(model.pins))
    return _for_each_draw(of_one, (model.named(samples), keys), dtypes)


def prior(model: ModelDensity, draws: int, key: tf.Tensor) -> dict[str, tf.Tensor]:
    """Of parts and data: [draws, ...], by name."""
    return model.named(model.whole_draws(draws, key))


def _of_each(distribution: Any, value: Any) -> Any:
    if isinstance(distribution, tfd.Independent | tfd.Sample):
        return _of_each(distribution.distribution, value)
    return distribution.log_prob(value)


def _for_each_draw(function: Callable, parts: Any, dtypes: Any) -> dict[str, tf.Tensor]:
    """Of a nest of parts [chains, draws, ...]; by name.

    One after the other: to vectorize the samplers of distributions takes longer than thousands of draws.
    """
    chains, draws = tf.nest.flatten(parts)[0].shape[:2]
    flat = tf.nest.map_structure(lambda part: tf.reshape(part, [chains * draws, *part.shape[2:]]), parts)
    found = tf.function(functools.partial(_mapped, function, dtypes), autograph=False)(flat)
    return {name: tf.reshape(leaf, [chains, draws, *leaf.shape[1:]]) for name, leaf in named_parts(found).items()}


def _mapped(function: Callable, dtypes: Any, flat: Any) -> Any:
    return tf.map_fn(function, flat, fn_output_signature=dtypes)
