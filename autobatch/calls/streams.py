"""Members that come one by one: from a dataset, a generator, or any other iterator."""

from __future__ import annotations

import itertools
import operator
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import tensorflow as tf

from autobatch import errors
from autobatch.frontend.source import signature


def is_stream(value: Any) -> bool:
    return isinstance(value, tf.data.Dataset | Iterator)


def for_each(function: Callable, args: Sequence[Any], kwargs: Mapping[str, Any]) -> tuple[Sequence[Any], Any]:
    """The arguments, and instead of one stream of tuples, for a function that needs several, a stream for each."""
    parameters = signature(function).parameters.values()
    positional = [p for p in parameters if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
    needed = [p.name for p in positional if p.default is p.empty and p.name not in kwargs]
    if len(args) != 1 or len(needed) < 2 or not is_stream(args[0]):
        return args, kwargs

    def members() -> Iterator[Sequence[Any]]:
        for item in _items(args[0]):
            if not isinstance(item, tuple | list) or len(item) != len(needed):
                raise errors.BatchShapeError(
                    f"`{function.__name__}` needs {len(needed)} arguments, and a member is not that many.",
                    help=f"let the iterator give tuples ({', '.join(needed)}), or give one for each argument.",
                )
            yield item

    copies = itertools.tee(members(), len(needed))
    return [map(operator.itemgetter(k), copy) for k, copy in enumerate(copies)], kwargs


class Calls:
    """A call's arguments, some of which are streams: taken together, an item of each for a member."""

    def __init__(self, args: Sequence[Any], kwargs: Mapping[str, Any]):
        self.args, self.kwargs = list(args), dict(kwargs)
        given: dict[Any, Any] = {**dict(enumerate(args)), **kwargs}
        self.keys = [key for key, value in given.items() if is_stream(value)]
        self.items: Iterator[tuple] = zip(*(_items(given[key]) for key in self.keys), strict=True)
        self.has_arrays = any(tf.is_tensor(value) or isinstance(value, np.ndarray) for value in given.values())
        self.count = 0  # of members so far
        self.failure: Exception | None = None  # what ended the streams, once the members before it are taken

    def peek(self) -> tuple[list[Any], dict[str, Any]] | None:
        """The arguments of a batch of the next member alone, which is still to come; None if there is none."""
        first = self._following(1)
        self.items = itertools.chain(first, self.items)
        return self._call(self._alike(first)) if first else None

    def take(self, count: int) -> tuple[list[Any], dict[str, Any]] | None:
        """The arguments of a batch of the next members, of at most so many; None if there are no more.

        Raises, once the members before it are taken, what a stream raises, and BatchShapeError if the streams have
        different lengths, or a member is not like the one before it.
        """
        items = self._following(count)
        if not items:
            return None
        try:
            call = self._call(items)
        except (TypeError, ValueError):
            items = self._alike(items)
            call = self._call(items)
        self.count += len(items)
        return call

    def _following(self, count: int) -> list[tuple]:
        items: list[tuple] = []
        try:
            if self.failure is None:
                for item in itertools.islice(self.items, count):
                    items.append(tuple(map(_kept, item)))
        except Exception as error:
            other = len(self.keys) > 1 and isinstance(error, ValueError) and "zip()" in str(error)
            self.failure = errors.BatchShapeError("The streams of members have different lengths.") if other else error
        if self.failure is not None and not items:
            raise self.failure
        return items

    def _alike(self, items: list[tuple]) -> list[tuple]:
        """All, or those before the first that is not like them, which then ends the streams."""
        if self._why_unlike(items) is None:
            return items
        good, bad = 0, len(items)  # so many are alike, so many are not
        while bad - good > 1:
            middle = (good + bad) // 2
            good, bad = (middle, bad) if self._why_unlike(items[:middle]) is None else (good, middle)
        why = self._why_unlike(items[max(good - 1, 0) : bad])
        self.failure = errors.BatchShapeError(
            f"Member {self.count + good} is {'not like the one before it' if good else 'no tensor'}: {why}",
            help="all members need one structure, and each of its tensors one shape and dtype.",
        )
        if not good:
            raise self.failure
        return items[:good]

    def _why_unlike(self, items: list[tuple]) -> Exception | None:
        try:
            self._call(items)
        except (TypeError, ValueError) as error:
            return error
        return None

    def _call(self, items: list[tuple]) -> tuple[list[Any], dict[str, Any]]:
        args, kwargs = list(self.args), dict(self.kwargs)
        for key, values in zip(self.keys, zip(*items, strict=True), strict=True):
            where: Any = args if isinstance(key, int) else kwargs
            where[key] = tf.nest.map_structure(_stacked, *values)
        return args, kwargs


def _items(stream: Iterable) -> Iterator:
    return stream.as_numpy_iterator() if isinstance(stream, tf.data.Dataset) else iter(stream)


def _kept(part: Any) -> Any:
    """Arrays as they are now: their owner may use them for the next member."""
    if isinstance(part, bool | int | float):  # the rest takes longer than a short member
        return part
    return tf.nest.map_structure(lambda leaf: leaf.copy() if isinstance(leaf, np.ndarray) else leaf, part)


def _stacked(*leaves: Any) -> tf.Tensor:
    """A tensor with a row for each member; Python numbers get TensorFlow's dtypes for them."""
    if isinstance(leaves[0], bool | int | float):
        kinds = {kind.__name__ for kind in map(type, leaves)}
    else:
        leaves = tuple(map(np.asarray, leaves))
        kinds = {leaf.dtype.name for leaf in leaves}
    if len(kinds) > 1:
        raise TypeError(" and ".join(sorted(kinds)))
    if kinds == {"int"} and not tf.int32.min <= min(leaves) <= max(leaves) <= tf.int32.max:
        raise TypeError("an int does not fit int32; np.int64 is wider")
    return tf.constant(np.stack(leaves) if isinstance(leaves[0], np.ndarray) else leaves)


def members(batch: Any, count: int) -> Iterator[Any]:
    """So many, one after the other, as NumPy's arrays and numbers."""
    arrays = tf.nest.map_structure(lambda leaf: np.asarray(leaf) if isinstance(leaf, tf.Tensor) else leaf, batch)
    for k in range(count):
        yield tf.nest.map_structure(lambda leaf, k=k: _member(leaf, k), arrays)


def _member(leaf: Any, k: int) -> Any:
    if isinstance(leaf, tf.RaggedTensor):
        return leaf[k].numpy()
    return leaf[k] if isinstance(leaf, np.ndarray) else leaf
