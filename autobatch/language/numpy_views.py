"""Which arguments a result of NumPy's shares its items with: NumPy itself is asked, with arrays of zeros."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import tensorflow as tf

from autobatch import context
from autobatch.language.lists import OUTSIDE
from autobatch.language.values import WeakScalar, is_tensor


def as_views(function: Callable, args: Sequence[Any], options: Mapping[str, Any], result: Any) -> Any:
    """``result``, which is what ``function(*args, **options)`` returns for tensors, with the objects that NumPy's has:
    an argument itself where NumPy returns it, and else a new tensor; what it is a part of is noted.
    """
    given = [arg for arg in tf.nest.flatten((args, options)) if _is_array(arg)]
    if not given or not any(map(_is_array, tf.nest.flatten(result))):
        return result
    ways = [] if _makes_new(function) else [_Asked(function, args, options, order) for order in "CF"]

    def as_numpy_has(k: int, tensor: Any) -> Any:
        if not _is_array(tensor):
            return tensor
        for arg in given:
            if ways and all(way.is_same(k, arg) for way in ways):
                return arg
        tensor = tf.identity(tensor) if any(tensor is arg for arg in given) else tensor
        for arg in given:
            if any(way.shares(k, arg) for way in ways):
                context.view(tensor, arg)
        if any(way.is_fixed(k) for way in ways):
            context.view(tensor, OUTSIDE)
        return tensor

    leaves = [as_numpy_has(k, leaf) for k, leaf in enumerate(tf.nest.flatten(result))]
    return tf.nest.pack_sequence_as(result, leaves)


def _is_array(value: Any) -> bool:
    return is_tensor(value) and value.shape.rank != 0


def _makes_new(function: Callable) -> bool:
    return isinstance(function, np.ufunc) or getattr(function, "__module__", "") == "numpy.linalg"


class _Asked:
    """What NumPy returns for arrays of zeros, whose items lie in memory in one of two orders."""

    def __init__(self, function: Callable, args: Sequence[Any], options: Mapping[str, Any], order: Any):
        self.zeros: dict[int, np.ndarray] = {}

        def stand_in(value: Any) -> Any:
            if isinstance(value, WeakScalar):
                return value.kind(0)
            if isinstance(value, tf.DType):
                return value.as_numpy_dtype
            if not is_tensor(value):
                return value
            zeros = np.zeros(value.shape, value.dtype.as_numpy_dtype, order)
            return self.zeros.setdefault(id(value), zeros) if value.shape.rank else zeros[()]

        args, options = tf.nest.map_structure(stand_in, (list(args), dict(options)))
        self.made: list[Any] | None
        try:
            with np.errstate(all="ignore"):
                self.made = tf.nest.flatten(function(*args, **options))
        except Exception:  # which may be for the zeros alone
            self.made = None

    def is_same(self, k: int, arg: tf.Tensor) -> bool:
        return self.made is not None and any(made is self.zeros[id(arg)] for made in self.made[k : k + 1])

    def shares(self, k: int, arg: tf.Tensor) -> bool:
        return self.made is None or any(np.may_share_memory(made, self.zeros[id(arg)]) for made in self._arrays(k))

    def is_fixed(self, k: int) -> bool:
        with warnings.catch_warnings():  # to ask for this of what broadcast_arrays makes is to be deprecated
            warnings.simplefilter("ignore")
            return any(not made.flags.writeable for made in self._arrays(k))

    def _arrays(self, k: int) -> Iterator[np.ndarray]:
        return (made for made in (self.made or [])[k : k + 1] if isinstance(made, np.ndarray))
