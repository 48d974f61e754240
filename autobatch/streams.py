"""Members that come one by one: from a dataset, a generator, or any other iterator."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import tensorflow as tf

from autobatch import errors


def is_stream(value: Any) -> bool:
    return isinstance(value, tf.data.Dataset | Iterator)


class Calls:
    """A call's arguments, some of which are streams: taken together, an item of each for a member."""

    def __init__(self, args: Sequence[Any], kwargs: Mapping[str, Any]):
        self.args, self.kwargs = list(args), dict(kwargs)
        given: dict[Any, Any] = {**dict(enumerate(args)), **kwargs}
        self.keys = [key for key, value in given.items() if is_stream(value)]
        self.items: Iterator[tuple] = zip(*(_items(given[key]) for key in self.keys), strict=True)
        self.has_arrays = any(tf.is_tensor(value) or isinstance(value, np.ndarray) for value in given.values())
        self.count = 0  # of members so far

    def peek(self) -> tuple[list[Any], dict[str, Any]] | None:
        """The arguments of a batch of the next member alone, which is still to come; None if there is none."""
        first = self._following(1)
        self.items = itertools.chain(first, self.items)
        return self._call(first) if first else None

    def take(self, count: int) -> tuple[list[Any], dict[str, Any]] | None:
        """The arguments of a batch of the next members, of fewer if there are no more; None if there are none.

        Raises BatchShapeError if members have unlike structures, shapes or dtypes.
        """
        items = self._following(count)
        call = self._call(items) if items else None
        self.count += len(items)
        return call

    def _following(self, count: int) -> list[tuple]:
        try:
            return list(itertools.islice(self.items, count))
        except ValueError as error:
            if "zip()" not in str(error):
                raise
            raise errors.BatchShapeError("The streams of members have different lengths.") from None

    def _call(self, items: list[tuple]) -> tuple[list[Any], dict[str, Any]]:
        args, kwargs = list(self.args), dict(self.kwargs)
        for key, values in zip(self.keys, zip(*items, strict=True), strict=True):
            where: Any = args if isinstance(key, int) else kwargs
            try:
                where[key] = tf.nest.map_structure(_stacked, *values)
            except (TypeError, ValueError) as error:
                raise errors.BatchShapeError(
                    f"Members {self.count} to {self.count + len(items) - 1} are not alike: {error}",
                    help="all members need one structure, and each of its tensors one shape and dtype.",
                ) from None
        return args, kwargs


def _items(stream: Iterable) -> Iterator:
    return stream.as_numpy_iterator() if isinstance(stream, tf.data.Dataset) else iter(stream)


def _stacked(first: Any, *others: Any) -> tf.Tensor:
    """A tensor with a row for each member; Python numbers get TensorFlow's dtypes for them."""
    if isinstance(first, bool | int | float):
        return tf.constant([first, *others])
    return tf.constant(np.stack([np.asarray(leaf) for leaf in (first, *others)]))


def members(batch: Any, count: int) -> Iterator[Any]:
    """So many, one after the other, as NumPy's arrays and numbers."""
    arrays = tf.nest.map_structure(lambda leaf: np.asarray(leaf) if tf.is_tensor(leaf) else leaf, batch)
    for k in range(count):
        yield tf.nest.map_structure(lambda leaf, k=k: leaf[k] if isinstance(leaf, np.ndarray) else leaf, arrays)
