"""A user's log density as the samplers see it: a value and a gradient for each chain's vector."""

from __future__ import annotations

import functools
from collections.abc import Callable, Hashable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Any

import numpy as np
import tensorflow as tf

from autobatch import errors
from autobatch.batched import primitive
from autobatch.frontend.watch import Watched, watch_callables
from autobatch.mcmc.layout import Layout

FEW = 8  # chains that a log density is tried with where nobody knows how many there are
MOST_KEPT = 64  # log densities whose compiled samplers are kept


class LogDensity:
    """``fn`` takes the parts of the state with their batch axes, and returns a tensor of the batch shape.

    It may treat chains differently by their position; where it does, it must always be given all of them.

    on_all: a primitive for the samplers: q [d] -> (log density [], gradient [d]).
    on_any: the same for any number of chains.
    watched: what ``fn`` reads from outside.
    """

    def __init__(self, fn: Callable, layout: Layout, watched: Sequence[Watched] = ()):
        self.fn, self.layout, self.watched = fn, layout, watched
        self.on_all = primitive(self._on_vectors, batched=True, size=layout.chains or "all")
        self.on_any = primitive(self._on_vectors, batched=True)
        # For any number of chains, outside of samplers; a partial, as TensorFlow warns of code that it traces often.
        self.compute = tf.function(functools.partial(self._on_vectors), autograph=False)
        self._sees_position: bool | None = None

    def __autobatch_parts__(self) -> list[Any]:
        """What a program that calls it depends on."""
        return [self.fn, self.layout]

    def __call__(self, state: Any) -> tf.Tensor:
        value = call(self.fn, state)
        if value.shape.rank is None or value.dtype != self.layout.dtype:
            raise errors.LogDensityError(
                f"The log density returns {value.dtype.name}{value.shape} for a state of {self.layout.dtype.name}."
            )
        return value

    def value_and_gradient(self, state: Any) -> tuple[tf.Tensor, Any]:
        """The log density [batch shape], and its gradient as a nest like the state.

        Raises LogDensityError if it has another shape, or if a part of the state has no gradient.
        """
        parts = [tf.identity(part) for part in tf.nest.flatten(state)]  # one tensor may stand for two parts
        with tf.GradientTape() as tape:
            tape.watch(parts)
            value = self(tf.nest.pack_sequence_as(state, parts))
        if not value.shape.is_compatible_with(self.layout.batch_shape):
            raise wrong_shape(value.shape, [part.shape for part in parts], list(self.layout.batch_shape))
        gradients = tape.gradient(value, parts)
        missing = [k for k, gradient in enumerate(gradients) if gradient is None]
        if missing:
            raise errors.LogDensityError(
                f"The log density has no gradient with respect to part {missing[0]} of the state.",
                help="it must depend on every part, through TensorFlow operations that have a gradient (NumPy's, "
                "casts to int, and tf.stop_gradient have none).",
            )
        return value, tf.nest.pack_sequence_as(state, [tf.convert_to_tensor(g) for g in gradients])

    def _on_vectors(self, q: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor]:
        """q [n, d] -> [n], [n, d]."""
        count = q.shape[0]
        some = self if count == self.layout.chains else LogDensity(self.fn, replace(self.layout, batch_shape=(count,)))
        value, gradient = some.value_and_gradient(some.layout.to_parts(q))
        return tf.reshape(value, [-1 if count is None else count]), some.layout.to_vectors(gradient)

    def sees_position(self, q: tf.Tensor) -> bool:
        """Whether a chain's log density depends on where in the batch it stands, or on how many there are.

        Tried with every other chain, in reverse, from near where they are (q [chains, d]); or, while they are not
        known, from near 0 and near 1.
        """
        if self._sees_position is None:
            if tf.executing_eagerly():
                found = [self._sees_position_near(q)]
            else:
                shape = self.layout.chains or FEW, sum(self.layout.sizes)
                places = [np.full(shape, x, q.dtype.as_numpy_dtype) for x in (0, 1)]
                with ThreadPoolExecutor(1) as outside:  # of the graph; init_scope stops the tapes too
                    found = list(outside.map(self._sees_position_near, places))
            self._sees_position = True in found or False not in found
        return self._sees_position

    def _sees_position_near(self, q: Any) -> bool | None:
        """None where it is not finite."""
        noise = np.random.default_rng(0).normal(scale=0.01, size=q.shape)
        nearby = tf.convert_to_tensor(q) + tf.constant(noise, q.dtype)
        try:
            found = zip(self.compute(nearby), self.compute(nearby[::-2]), strict=True)
            pairs = [(all_[::-2], some) for all_, some in found]
        except Exception:  # whatever the user's function raises when it is given fewer chains than it knows
            return True
        if not all(np.isfinite(all_).all() for all_, _ in pairs):
            return None
        return not all(_alike(all_, some) for all_, some in pairs)


def _alike(one: tf.Tensor, other: tf.Tensor) -> bool:
    """Equal up to rounding."""
    first, second = np.asarray(one, np.float64), np.asarray(other, np.float64)
    return bool(np.abs(first - second).max() <= 1e-4 * np.abs(first).max())


def call(fn: Callable, state: Any) -> tf.Tensor:
    """Parts are passed as TFP passes them: a list or tuple one by one, a dictionary by name.

    Raises LogDensityError for a function that returns no tensor.
    """
    state = state if isinstance(state, Mapping | list | tuple) else [state]
    value = fn(**state) if isinstance(state, Mapping) else fn(*state)
    try:
        return tf.convert_to_tensor(value)
    except (TypeError, ValueError) as error:
        raise errors.LogDensityError(f"The log density returns a {type(value).__name__}, not a tensor.") from error


def wrong_shape(shape: Any, parts: list[Any], expected: Any) -> errors.LogDensityError:
    shapes = ", ".join(str(list(part)) for part in parts)
    return errors.LogDensityError(
        f"The log density has shape {list(shape)} for a state of shape {shapes}; it must be {expected}.",
        help="it takes the whole batch: sum over a part's own axes only, as in "
        "-0.5 * tf.reduce_sum(x**2, axis=-1) for x of shape [chains, dimensions].",
    )


def check_start(value: Any, gradient: Any) -> None:
    """Raises StartError for chains [batch shape] whose log density or gradient is not finite."""
    value = np.asarray(value)
    good = np.isfinite(value)
    for part in tf.nest.flatten(gradient):
        good &= np.isfinite(np.asarray(part)).reshape(*value.shape, -1).all(axis=-1)
    if good.all():
        return
    chains = tuple(np.flatnonzero(~good).tolist())
    named = ", ".join(
        str(tuple(map(int, np.unravel_index(c, value.shape))) if value.ndim > 1 else c) for c in chains[:8]
    )
    what = "log density" if not np.isfinite(value).all() else "gradient of the log density"
    shown = f" (it is {value.reshape(-1)[chains[0]]} in the first)" if what == "log density" else ""
    raise errors.StartError(
        f"The {what} is not finite where {len(chains)} of {value.size} chains start{shown}: "
        f"chains {named}{', ...' if len(chains) > 8 else ''}.",
        help="start them where the density is positive, or give the sampler an unconstrained state.",
        members=chains,
    )


_kept: dict[Any, LogDensity] = {}


def log_density(fn: Callable, layout: Layout, parts: Sequence[Callable] = ()) -> LogDensity:
    """The same object for the same function and layout, so that what was compiled for it serves again.

    A function whose globals, closure or object have changed counts as another; ``parts`` are functions that it calls.
    """
    name = fn if isinstance(fn, Hashable) else id(fn)
    key = (name, repr(layout.skeleton), layout.shapes, layout.batch_shape, layout.dtype)
    found = _kept.get(key)
    if found is None or not all(watched.is_unchanged() for watched in found.watched):
        while len(_kept) >= MOST_KEPT:
            del _kept[next(iter(_kept))]
        _kept[key] = found = LogDensity(fn, layout, watch_callables([fn, *parts]))
    return found
