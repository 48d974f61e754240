"""How the parts of a chain's state lie in one vector."""

from __future__ import annotations

import functools
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import tensorflow as tf

from autobatch import errors
from autobatch.ir.types import static_shape


@dataclass(frozen=True)
class Layout:
    """A nest of tensors of one dtype, each with the shape ``batch_shape + event shape``.

    skeleton: the nest, with the numbers of the parts for leaves; shapes: the parts' event shapes.
    batch_shape: one of its axes may be None, whose length only the graph knows.
    """

    skeleton: Any
    shapes: tuple[tuple[int, ...], ...]
    batch_shape: tuple[int | None, ...]
    dtype: tf.DType

    @classmethod
    def of(cls, state: Any, batch_rank: int) -> Layout:
        """Raises SettingError for what ``check_parts`` refuses, and unless the parts have a common batch shape."""
        parts = check_parts(state)
        try:
            batch = functools.reduce(tf.TensorShape.merge_with, (part.shape[:batch_rank] for part in parts))
        except ValueError:
            batches = sorted({str(part.shape[:batch_rank].as_list()) for part in parts})
            raise errors.SettingError(
                f"The parts of the state disagree in their batch shape: {', '.join(batches)}."
            ) from None
        shapes = [part.shape[batch_rank:] for part in parts]
        if not all(shape.is_fully_defined() for shape in shapes) or batch.as_list().count(None) > 1:
            known = ", ".join(str(part.shape) for part in parts)
            raise errors.SettingError(
                f"Of the shapes of the state ({known}), more than the length of one batch axis is not known.",
                help="tf.ensure_shape says what is.",
            )
        skeleton = tf.nest.pack_sequence_as(state, list(range(len(parts))))
        return cls(skeleton, tuple(map(static_shape, shapes)), tuple(batch), parts[0].dtype)

    @property
    def chains(self) -> int | None:
        return None if None in self.batch_shape else math.prod(self.batch_shape)  # type: ignore[arg-type]

    @property
    def sizes(self) -> list[int]:
        return [math.prod(shape) for shape in self.shapes]

    def batch_of(self, chains: Any) -> list[Any]:
        """The batch shape of so many chains, of which only the graph may know how many there are."""
        others = math.prod(size for size in self.batch_shape if size is not None)
        return [chains // others if size is None else size for size in self.batch_shape]

    def to_vectors(self, state: Any) -> tf.Tensor:
        """[chains, d], from parts of shape batch_shape + event shape."""
        parts = tf.nest.flatten(state)
        chains = self.chains
        if chains is None:
            chains = tf.reduce_prod(tf.shape(parts[0])[: len(self.batch_shape)])
        flat = [tf.reshape(part, [chains, size]) for part, size in zip(parts, self.sizes, strict=True)]
        return flat[0] if len(flat) == 1 else tf.concat(flat, axis=1)

    def to_parts(self, vectors: Any, leading: Sequence[int] | None = None) -> Any:
        """The nest, from vectors [..., d] whose leading axes become ``leading`` (the batch shape if None)."""
        shape = self.batch_of(tf.shape(vectors)[0]) if leading is None else leading
        flat = [vectors] if len(self.shapes) == 1 else tf.split(vectors, self.sizes, axis=-1)
        parts = [tf.reshape(part, [*shape, *event]) for part, event in zip(flat, self.shapes, strict=True)]
        return tf.nest.pack_sequence_as(self.skeleton, parts)

    def to_batch(self, numbers: tf.Tensor) -> tf.Tensor:
        """Of the batch shape, from one for each chain."""
        return tf.reshape(numbers, self.batch_of(tf.shape(numbers)[0]))


def check_parts(state: Any) -> list[tf.Tensor]:
    """The parts.  Raises SettingError unless they are of one floating dtype, of known rank and not all empty."""
    parts = tf.nest.flatten(state)
    dtypes = sorted({part.dtype.name for part in parts})
    if dtypes not in (["float32"], ["float64"]):
        raise errors.SettingError(
            f"The parts of the state must all be float32 or all float64; these are {', '.join(dtypes) or 'none'}."
        )
    if any(part.shape.rank is None for part in parts):
        raise errors.SettingError("How many axes the parts of the state have is not known.")
    if all(part.shape.num_elements() == 0 for part in parts):
        shapes = ", ".join(str(list(part.shape)) for part in parts)
        raise errors.SettingError(f"There is nothing to sample in a state of shape {shapes}.")
    return parts
