"""A new value for lanes that are chosen, for the others the old one."""

from __future__ import annotations

import tensorflow as tf


class Chosen:
    """Which lanes [Z]; called with leaves [Z, ...] it takes the new for these, for others the old, or zeros."""

    def __init__(self, lanes: tf.Tensor):
        # Each is made once, by rank and by dtype: to compile an operation less is what a first call waits less for.
        self._lanes: dict[int, tf.Tensor] = {1: lanes}
        self._zeros: dict[tf.DType, tf.Tensor] = {}

    def __call__(self, new: tf.Tensor, old: tf.Tensor | None = None) -> tf.Tensor:
        rank, dtype = max(new.shape.rank, 1), new.dtype
        if rank not in self._lanes:
            self._lanes[rank] = tf.reshape(self._lanes[1], [-1] + [1] * (rank - 1))
        if old is None and dtype not in self._zeros:
            self._zeros[dtype] = tf.zeros([], dtype)
        return tf.where(self._lanes[rank], new, self._zeros[dtype] if old is None else old)
