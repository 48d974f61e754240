"""NumPy's functions and methods for members' arrays, by TensorFlow's own NumPy (``tf.experimental.numpy``)."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import numpy as np
import tensorflow as tf

from autobatch import errors
from autobatch.language.numbers import cast_to, float_, int_
from autobatch.language.numpy_arrays import dtype_of, refused, tnp
from autobatch.language.numpy_own import FUNCTIONS
from autobatch.language.numpy_views import as_views
from autobatch.language.values import WeakScalar, adopts, is_tensor, narrowed, per_member, python_kind

# TensorFlow's functions that do what NumPy's do, as tests/meaning/test_numpy_functions.py has found.
_ALIKE = {
    getattr(np, name): getattr(tnp, name) for name in (
        "abs", "add", "append", "arccos", "arccosh", "arcsin", "arcsinh", "arctan", "arctan2", "arctanh", "array_equal",
        "atleast_1d", "atleast_2d", "atleast_3d", "bitwise_and", "bitwise_or", "bitwise_xor", "broadcast_arrays",
        "broadcast_to", "cbrt", "conj", "cos", "cosh", "count_nonzero", "cross", "deg2rad", "diag",
        "diagflat", "diagonal", "diff", "divide", "dstack", "einsum", "empty_like", "equal", "exp", "exp2",
        "expand_dims", "expm1", "fabs", "flip", "fliplr", "flipud", "float_power", "full_like", "greater",
        "greater_equal", "hsplit", "hstack", "hypot", "imag", "isreal", "iscomplex", "isscalar",
        "less", "less_equal", "log", "log10", "log1p", "log2", "logaddexp", "logaddexp2", "logical_and", "logical_not",
        "logical_or", "logical_xor", "matmul", "moveaxis", "multiply", "ndim", "negative", "not_equal", "ones_like",
        "rad2deg", "real", "reciprocal", "repeat", "rot90", "select", "shape", "sign", "sin", "sinh",
        "split", "sqrt", "square", "squeeze", "stack", "subtract", "swapaxes", "tan", "tanh", "tensordot", "tile",
        "trace", "transpose", "vander", "vstack", "where", "zeros_like",
    )
}  # fmt: skip
OF_UNKNOWN_SIZE = frozenset((
    "argwhere", "compress", "extract", "flatnonzero", "intersect1d", "nonzero", "setdiff1d", "trim_zeros", "union1d",
    "unique",
))  # fmt: skip


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
            return _number(args[0], function)
        if function.__name__ in OF_UNKNOWN_SIZE:
            raise _as_many_as(function)
        theirs = FUNCTIONS.get(function) or _ALIKE.get(function)
        if theirs is None:
            name = f"{'linalg.' * function.__module__.endswith('linalg')}{function.__name__}"
            raise refused(
                f"np.{name} is not among NumPy's functions that take members' values.",
                "use TensorFlow's functions, or put the line in an @ab.primitive.",
            )
        weak = isinstance(function, np.ufunc) or function in (np.where, np.clip, np.select)
        args, options = tf.nest.map_structure(_to_tensor(leaves if weak else []), (args, options))
        if isinstance(function, np.ufunc) and not any(kinds.startswith(("i", "l")) for kinds in function.types):
            args = tuple(tf.cast(x, tf.float64) if is_tensor(x) and not x.dtype.is_floating else x for x in args)
        found = theirs(*args, **options)
        if not all(leaf.shape.is_fully_defined() for leaf in tf.nest.flatten(found) if is_tensor(leaf)):
            raise _as_many_as(function)
        return as_views(function, args, options, found)

    return call


def _number(value: Any, kind: type) -> tf.Tensor:
    """``kind(value)``; a member fails whose int it does not hold."""
    exact = value.tensor if isinstance(value, WeakScalar) else value
    if python_kind(value) is int and issubclass(kind, np.integer):
        return narrowed(exact, tf.as_dtype(np.dtype(kind)))
    return cast_to(value, kind)


def _as_many_as(function: Callable) -> errors.TypeMismatchError:
    return refused(
        f"np.{function.__name__} makes as many items as the values say, so members' arrays differ in length.",
        "count them (np.sum(x > 1)), choose (np.where(x > 1, x, 0)), or collect them in a list.",
    )


def _as_numpy(leaf: Any) -> Any:
    return np.dtype(leaf.as_numpy_dtype) if isinstance(leaf, tf.DType) else leaf


def _to_tensor(leaves: list[Any]) -> Callable:
    """From a member's Python number to a tensor, of the dtype of the tensors among these leaves where they hold it."""
    dtypes = [leaf.dtype for leaf in leaves if is_tensor(leaf) and not leaf.dtype.is_bool]
    widest = max(dtypes, key=lambda dtype: (dtype.is_floating, dtype.size)) if dtypes else None

    def convert(leaf: Any) -> Any:
        if not isinstance(leaf, WeakScalar):
            return leaf
        return leaf.astype(widest) if widest is not None and adopts(leaf.kind, widest) else leaf.tensor

    return convert


def _astype(x: tf.Tensor, dtype: Any) -> tf.Tensor:
    return tf.cast(x, dtype_of(dtype))


def _item(x: tf.Tensor, *index: Any) -> Any:
    if index:
        at = index[0] if len(index) == 1 else index
        x = x[at] if isinstance(at, tuple) else FUNCTIONS[np.take](x, at)
    return float_(x) if x.dtype.is_floating else int_(x)


def _reshape(x: tf.Tensor, *shape: Any, order: str = "C") -> tf.Tensor:
    return FUNCTIONS[np.reshape](x, shape[0] if np.ndim(shape[0]) else shape, order)


def _transpose(x: tf.Tensor, *axes: Any) -> tf.Tensor:
    return tf.transpose(x, axes[0] if len(axes) == 1 else axes or None)


def _bit_length(x: tf.Tensor) -> Any:
    if x.dtype.is_floating:
        raise AttributeError("'float' object has no attribute 'bit_length'")
    return int_(x).bit_length()


def _in_place(name: str) -> Callable:
    def refuse(*_: Any) -> Any:
        raise refused(f"The method {name} would change the array in place.", "assign what it makes: x[:] = np.sort(x).")

    return refuse


METHODS: dict[str, Callable] = {
    **{name: FUNCTIONS.get(getattr(np, name)) or _ALIKE[getattr(np, name)] for name in (
        "sum", "mean", "prod", "std", "var", "all", "any", "cumsum", "cumprod", "dot", "trace", "squeeze", "take",
        "repeat", "diagonal", "max", "min", "argmax", "argmin", "clip", "round", "argsort", "searchsorted", "swapaxes",
        "ravel", "conj",
    )},
    **{name: _in_place(name) for name in ("sort", "fill", "resize", "partition")},
    "bit_length": _bit_length, "copy": tf.identity, "astype": _astype,
    "item": _item, "reshape": _reshape, "transpose": _transpose, "tolist": tf.unstack,
    "flatten": lambda x, order="C": tf.identity(FUNCTIONS[np.ravel](x, order)),
}  # fmt: skip
ATTRIBUTES: dict[str, Callable] = {
    "T": tf.transpose, "size": lambda x: x.shape.num_elements(), "itemsize": lambda x: x.dtype.size,
    "nbytes": lambda x: x.shape.num_elements() * x.dtype.size, "real": tf.math.real,
}  # fmt: skip


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
