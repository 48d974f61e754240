"""NumPy's functions and methods for members' arrays, by TensorFlow's own NumPy (``tf.experimental.numpy``)."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import numpy as np
import tensorflow as tf

from autobatch import errors
from autobatch.language.numbers import cast_to, float_, int_
from autobatch.language.numpy_own import FUNCTIONS, dtype_of
from autobatch.language.numpy_views import as_views
from autobatch.language.values import WeakScalar, adopts, is_tensor, per_member

tnp = tf.experimental.numpy


def is_numpy(value: Any) -> bool:
    """Whether this is a function or a number type of NumPy."""
    if isinstance(value, np.ufunc) or (isinstance(value, type) and issubclass(value, np.generic)):
        return True
    return callable(value) and (getattr(value, "__module__", None) or "") in ("numpy", "numpy.linalg")


def numpy_(function: Callable) -> Callable:
    """What members call for a function of NumPy's."""

    def call(*args: Any, **options: Any) -> Any:
        leaves = tf.nest.flatten((args, options))
        if not any(map(per_member, leaves)):
            args, options = tf.nest.map_structure(_as_numpy, (args, options))
            return function(*args, **options)
        if isinstance(function, type):
            return cast_to(args[0], function)
        theirs = FUNCTIONS.get(function) or getattr(tnp, function.__name__, None)
        if theirs is None:
            raise errors.TypeMismatchError(
                f"TensorFlow's NumPy has no {function.__name__}.",
                help="use TensorFlow's functions, or put the line in an @ab.primitive.",
                kind="numpy-of-member",
            )
        args, options = tf.nest.map_structure(_to_tensor(leaves), (args, options))
        if isinstance(function, np.ufunc) and not any(kinds.startswith(("i", "l")) for kinds in function.types):
            args = tuple(tf.cast(x, tf.float64) if is_tensor(x) and not x.dtype.is_floating else x for x in args)
        found = theirs(*args, **options)
        if not all(leaf.shape.is_fully_defined() for leaf in tf.nest.flatten(found) if is_tensor(leaf)):
            raise errors.TypeMismatchError(
                f"np.{function.__name__} makes as many items as the values say, so members' arrays differ in length.",
                help="count them (np.sum(x > 1)), choose (np.where(x > 1, x, 0)), or collect them in a list.",
                kind="numpy-of-member",
            )
        return as_views(function, args, options, found)

    return call


def _as_numpy(leaf: Any) -> Any:
    return np.dtype(leaf.as_numpy_dtype) if isinstance(leaf, tf.DType) else leaf


def _to_tensor(leaves: list[Any]) -> Callable:
    """From a member's Python number to a tensor, of the dtype of the tensors beside it where they hold it."""
    dtypes = [leaf.dtype for leaf in leaves if is_tensor(leaf)]
    widest = max(dtypes, key=lambda dtype: (dtype.is_floating, dtype.size)) if dtypes else None

    def convert(leaf: Any) -> Any:
        if not isinstance(leaf, WeakScalar):
            return leaf
        return leaf.astype(widest) if widest is not None and adopts(leaf.kind, widest) else leaf.tensor

    return convert


def _astype(x: tf.Tensor, dtype: Any) -> tf.Tensor:
    return tf.cast(x, dtype_of(dtype))


def _item(x: tf.Tensor) -> Any:
    return float_(x) if x.dtype.is_floating else int_(x)


def _reshape(x: tf.Tensor, *shape: Any) -> tf.Tensor:
    return tf.reshape(x, shape[0] if np.ndim(shape[0]) else shape)


def _transpose(x: tf.Tensor, *axes: Any) -> tf.Tensor:
    return tf.transpose(x, axes[0] if len(axes) == 1 else axes or None)


def _in_place(name: str) -> Callable:
    def refuse(*_: Any) -> Any:
        raise errors.TypeMismatchError(
            f"The method {name} would change the array in place.",
            help="assign what it makes: x[:] = np.sort(x).",
            kind="numpy-of-member",
        )

    return refuse


METHODS: dict[str, Callable] = {
    **{name: getattr(tnp, name) for name in ("sum", "mean", "prod", "std", "var", "all", "any", "cumsum", "cumprod",
       "dot", "trace", "squeeze", "take", "repeat", "diagonal")},
    **{name: FUNCTIONS[getattr(np, name)] for name in ("max", "min", "argmax", "argmin", "clip", "round")},
    **{name: _in_place(name) for name in ("sort", "fill", "resize", "partition")},
    "bit_length": lambda x: int_(x).bit_length(), "copy": tf.identity, "astype": _astype,
    "item": _item, "reshape": _reshape,
    "transpose": _transpose,
    "ravel": lambda x: tf.reshape(x, [-1]), "flatten": lambda x: tf.identity(tf.reshape(x, [-1])),
    "tolist": tf.unstack,
}  # fmt: skip
ATTRIBUTES: dict[str, Callable] = {"T": tf.transpose, "size": lambda x: x.shape.num_elements()}


def method(value: Any, name: str) -> Callable:
    """``value.name``, a method, of NumPy's if the value is a tensor."""
    if not is_tensor(value) or hasattr(value, name):
        return getattr(value, name)

    def call(*args: Any, **options: Any) -> Any:
        result = METHODS[name](value, *args, **options)
        return as_views(lambda x, *rest, **named: getattr(x, name)(*rest, **named), [value, *args], options, result)

    return call


def attribute(value: Any, name: str) -> Any:
    """``value.name``, of NumPy's if the value is a tensor."""
    if not is_tensor(value) or hasattr(value, name):
        return getattr(value, name)
    return as_views(operator.attrgetter(name), [value], {}, ATTRIBUTES[name](value))
