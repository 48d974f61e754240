"""The settings that the kernel and ``sample`` share: what they may be, and the random keys that a seed gives."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import tensorflow as tf

from autobatch import errors, random
from autobatch.mcmc.multinomial import Multinomial
from autobatch.mcmc.slice_nuts import Slice

VARIANTS = {"multinomial": Multinomial, "slice": Slice}


def check_trees(variant: Any, max_tree_depth: Any, max_energy_difference: Any, leapfrogs_per_leaf: Any) -> None:
    """Raises SettingError for what the No-U-Turn Sampler cannot use."""
    if variant not in VARIANTS:
        raise errors.SettingError(f"variant must be {' or '.join(map(repr, VARIANTS))}, not {variant!r}.")
    check_count("max_tree_depth", max_tree_depth)
    check_count("leapfrogs_per_leaf", leapfrogs_per_leaf)
    if not max_energy_difference > 0:
        raise errors.SettingError(f"max_energy_difference must be positive, not {max_energy_difference!r}.")


def check_count(setting: str, value: Any, least: int = 1) -> None:
    """Raises SettingError unless the value is an int that is large enough."""
    if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < least:
        raise errors.SettingError(f"{setting} must be an int of at least {least}, not {value!r}.")


def check_step_size(step_size: Any) -> None:
    """Raises SettingError for a step size that is known not to be a positive number."""
    for step in tf.nest.flatten(step_size):
        value = tf.get_static_value(step) if tf.is_tensor(step) else step
        if value is None and tf.is_tensor(step):
            continue
        if value is None or isinstance(value, bool | str) or not np.all(np.isfinite(value) & (np.asarray(value) > 0)):
            raise errors.SettingError(f"The step size must be positive and finite, not {value}.")


def key_of_seed(seed: Any, example: str) -> tf.Tensor:
    """The random key [2] of an int or a pair of ints.  Raises SettingError, with the example, for any other value."""
    if seed is None:
        raise errors.SettingError("There is no seed, and no random number without one.", help=f"pass one: {example}.")
    if isinstance(seed, int | np.integer) and not isinstance(seed, bool):
        return random.key(int(seed))
    seed = tf.convert_to_tensor(seed)
    if seed.shape == () and seed.dtype.is_integer:
        return random.key(seed)
    if seed.shape != (2,) or not seed.dtype.is_integer:
        raise errors.SettingError(
            f"A seed is an int or a pair of ints, not {seed.dtype.name}{list(seed.shape)}.", help=f"as in {example}."
        )
    return seed if seed.dtype == tf.uint32 else tf.bitcast(tf.cast(seed, tf.int32), tf.uint32)


def chain_keys(key: tf.Tensor, batch_shape: Sequence[Any]) -> tf.Tensor:
    """A key for each chain, [chains, 2].  The k-th along an axis is the same whatever the axis' length."""
    keys = key[tf.newaxis]
    for size in batch_shape:
        if keys.shape[0] == 1:  # vectorized_map traces anew at each call
            keys = random.split(keys[0], size)
        else:
            keys = tf.reshape(tf.vectorized_map(lambda k, n=size: random.split(k, n), keys), [-1, 2])
    return keys
