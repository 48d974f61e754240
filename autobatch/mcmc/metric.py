"""The metric: the linear map from standard normal momenta to steps in the space of positions, and how it is learnt.

With a mass matrix M = (A A')^-1, the momentum here is A' times that of the textbooks: positions move along A p, and
momenta are pushed by A' grad.  A is a scale for each coordinate, or that times 1 + U diag(stretch) U'.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import tensorflow as tf

from autobatch.batched import primitive

MOST_DIRECTIONS = 64
MOST_COORDINATES = 1024  # for which directions are looked for, at the cost of eigenvectors of so many
PLAIN = 2.0  # a direction counts from a variance of this, or its inverse, on, where the scales leave 1
SMALL = 5.0  # draws that speak for small scales, as in Stan
UNCORRELATED = 0.1  # draws that speak for uncorrelated coordinates


class Bend(NamedTuple):
    """1 + U diag(stretch) U'.  directions: U [d, k], its columns orthonormal; stretch: [k]; is_any: or all are 0."""

    directions: Any
    stretch: Any
    is_any: Any


class Metric(NamedTuple):
    """scale: [d]; bend: the same for all chains.  The samplers take them one by one, and () for no bend.

    A p is ``scale * bent(p, bend)``, A' gradient is ``bent(scale * gradient, bend)``.
    """

    scale: Any
    bend: Bend


@primitive(batched=True)
def bent(v: tf.Tensor, bend: Bend | tuple[()]) -> tf.Tensor:
    """[chains, d] from [chains, d]."""
    return _stretched(v, bend, bend.stretch) if bend else v


@primitive(batched=True)
def straightened(v: tf.Tensor, bend: Bend | tuple[()]) -> tf.Tensor:
    """The inverse of ``bent``."""
    return _stretched(v, bend, -bend.stretch / (1.0 + bend.stretch)) if bend else v


def _stretched(v: tf.Tensor, bend: Bend, stretch: tf.Tensor) -> tf.Tensor:
    directions = tf.reshape(bend.directions, bend.directions.shape[-2:])  # of one chain, it has a batch axis too

    def along() -> tf.Tensor:
        return v + tf.matmul(tf.matmul(v, directions) * stretch, directions, transpose_b=True)

    return tf.cond(tf.reshape(bend.is_any, []), along, lambda: v)


def unit(dimensions: int, dtype: Any) -> Metric:
    """The identity, of NumPy arrays, with room for directions."""
    room = min(dimensions, MOST_DIRECTIONS) if dimensions <= MOST_COORDINATES else 0
    return Metric(
        np.ones(dimensions, dtype), Bend(np.zeros((dimensions, room), dtype), np.zeros(room, dtype), np.False_)
    )


def fitted(positions: np.ndarray, gradients: np.ndarray) -> Metric:
    """From all chains' draws and the log density's gradients there, [chains, draws, d] each.

    The scales are the draws' standard deviations.  In coordinates of these, the map is the one that leaves draws and
    gradients alike: the geometric mean of the draws' covariance and the inverse of the gradients' (Seyboldt, Carlson
    and Carpenter 2026, "Preconditioning Hamiltonian Monte Carlo by minimizing Fisher divergence"), of which the
    directions of largest and smallest variance are taken.
    """
    d, dtype = positions.shape[-1], positions.dtype
    draws = positions.reshape(-1, d).astype(np.float64)
    count = len(draws)
    draws -= draws.mean(axis=0)
    variance = np.einsum("nd,nd->d", draws, draws) / max(count - 1, 1)
    scale = np.sqrt((count * variance + SMALL * 1e-3) / (count + SMALL))
    none = unit(d, dtype)._replace(scale=scale.astype(dtype))
    room = len(none.bend.stretch)
    if not room or not np.isfinite(gradients).all():
        return none
    slopes = gradients.reshape(-1, d).astype(np.float64) * scale
    slopes -= slopes.mean(axis=0)
    draws /= scale
    one = UNCORRELATED * np.eye(d)
    covariance, steepness = ((x.T @ x + one) / (count + UNCORRELATED) for x in (draws, slopes))
    values, vectors = np.linalg.eigh(_geometric_mean(covariance, steepness))
    taken = np.argsort(-np.abs(np.log(values)))[:room]
    taken = taken[np.abs(np.log(values[taken])) > np.log(PLAIN)]
    directions, stretch = np.zeros((d, room)), np.zeros(room)
    directions[:, : len(taken)], stretch[: len(taken)] = vectors[:, taken], np.sqrt(values[taken]) - 1.0
    bend = Bend(directions.astype(dtype), stretch.astype(dtype), np.bool_(len(taken) > 0))
    return Metric(scale.astype(dtype), bend)


def _geometric_mean(covariance: np.ndarray, steepness: np.ndarray) -> np.ndarray:
    """The positive definite X with X steepness X = covariance."""
    root, inverse_root = _powers(steepness, 0.5), _powers(steepness, -0.5)
    return inverse_root @ _powers(root @ covariance @ root, 0.5) @ inverse_root


def _powers(matrix: np.ndarray, exponent: float) -> np.ndarray:
    values, vectors = np.linalg.eigh(matrix)
    return (vectors * np.maximum(values, 1e-12) ** exponent) @ vectors.T
