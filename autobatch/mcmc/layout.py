"""How the parts of a chain's state lie in one vector."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import tensorflow as tf

from autobatch import errors


@dataclass(frozen=True)
class Layout:
    """A nest of tensors of one dtype, each with the shape ``batch_shape + event shape``.

    skeleton: the nest, with the numbers of the parts for leaves; shapes: the parts' event shapes.
    """

    skeleton: Any
    shapes: tuple[tuple[int, ...], ...]
    batch_shape: tuple[int, ...]
    dtype: tf.DType

    @classmethod
    def of(cls, state: Any, batch_rank: int) -> Layout:
        """Raises SettingError unless the parts have one floating dtype, static shapes and a common batch shape."""
        parts = tf.nest.flatten(state)
        dtypes = sorted({part.dtype.name for part in parts})
        if dtypes not in (["float32"], ["float64"]):
            raise errors.SettingError(
                f"The parts of the state must all be float32 or all float64; these are {', '.join(dtypes) or 'none'}."
            )
        if not all(part.shape.is_fully_defined() for part in parts):
            raise errors.SettingError("The shapes of the state are not all known; autobatch needs static shapes.")
        batches = sorted({tuple(part.shape[:batch_rank]) for part in parts})
        if len(batches) > 1:
            raise errors.SettingError(
                f"The parts of the state disagree in their batch shape: {', '.join(str(list(b)) for b in batches)}."
            )
        if not any(part.shape.num_elements() for part in parts):
            shapes = ", ".join(str(list(part.shape)) for part in parts)
            raise errors.SettingError(f"There is nothing to sample in a state of shape {shapes}.")
        skeleton = tf.nest.pack_sequence_as(state, list(range(len(parts))))
        shapes = tuple(tuple(part.shape[batch_rank:]) for part in parts)
        return cls(skeleton, shapes, batches[0], parts[0].dtype)

    @property
    def chains(self) -> int:
        return math.prod(self.batch_shape)

    @property
    def sizes(self) -> list[int]:
        return [math.prod(shape) for shape in self.shapes]

    def to_vectors(self, state: Any) -> tf.Tensor:
        """[chains, d], from parts of shape batch_shape + event shape."""
        parts = tf.nest.flatten(state)
        flat = [tf.reshape(part, [self.chains, size]) for part, size in zip(parts, self.sizes, strict=True)]
        return flat[0] if len(flat) == 1 else tf.concat(flat, axis=1)

    def to_parts(self, vectors: Any, leading: Sequence[int] | None = None) -> Any:
        """The nest, from vectors [..., d] whose leading axes become ``leading`` (the batch shape if None)."""
        leading = self.batch_shape if leading is None else leading
        flat = [vectors] if len(self.shapes) == 1 else tf.split(vectors, self.sizes, axis=-1)
        parts = [tf.reshape(part, [*leading, *shape]) for part, shape in zip(flat, self.shapes, strict=True)]
        return tf.nest.pack_sequence_as(self.skeleton, parts)
