"""NumPy's functions and methods for members' arrays, by TensorFlow's own NumPy (``tf.experimental.numpy``)."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import numpy as np
import tensorflow as tf

from autobatch import errors
from autobatch.language.numbers import cast_to, float_, int_
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
            return function(*args, **options)
        if isinstance(function, type):
            return cast_to(args[0], function)
        theirs = _OWN.get(function) or getattr(tnp, function.__name__, None)
        if theirs is None:
            raise errors.TypeMismatchError(
                f"TensorFlow's NumPy has no {function.__name__}.",
                help="use TensorFlow's functions, or put the line in an @ab.primitive.",
                kind="numpy-of-member",
            )
        args, options = tf.nest.map_structure(_to_tensor(leaves), (args, options))
        if isinstance(function, np.ufunc) and not any(kinds.startswith(("i", "l")) for kinds in function.types):
            args = tuple(tf.cast(x, tf.float64) if is_tensor(x) and not x.dtype.is_floating else x for x in args)
        return as_views(function, args, options, theirs(*args, **options))

    return call


def _to_tensor(leaves: list[Any]) -> Callable:
    """From a member's Python number to a tensor, of the dtype of the tensors beside it where they hold it."""
    dtypes = [leaf.dtype for leaf in leaves if is_tensor(leaf)]
    widest = max(dtypes, key=lambda dtype: (dtype.is_floating, dtype.size)) if dtypes else None

    def convert(leaf: Any) -> Any:
        if not isinstance(leaf, WeakScalar):
            return leaf
        return leaf.astype(widest) if widest is not None and adopts(leaf.kind, widest) else leaf.tensor

    return convert


def _array(value: Any, dtype: Any = None, copy: Any = None) -> tf.Tensor:
    del copy
    made = tf.identity(value) if is_tensor(value) else tf.convert_to_tensor(_of_one_dtype(value))
    return made if dtype is None else tf.cast(made, _dtype(dtype))


def _of_one_dtype(items: Any) -> Any:
    """The nested lists, with numbers of the dtype that an array of them has."""
    leaves = tf.nest.flatten(items)
    kinds = [leaf.dtype.as_numpy_dtype if is_tensor(leaf) else leaf for leaf in leaves]
    dtype = tf.as_dtype(np.result_type(*kinds))
    return tf.nest.map_structure(lambda leaf: tf.cast(leaf, dtype), items)


def _dtype(dtype: Any) -> tf.DType:
    """What NumPy takes for a dtype, which is float64 for ``float``."""
    return dtype if isinstance(dtype, tf.DType) else tf.as_dtype(np.dtype(dtype))


def _norm(x: Any, ord: Any = None, axis: Any = None, keepdims: bool = False) -> tf.Tensor:
    return tf.norm(_floating(x), ord="euclidean" if ord is None else ord, axis=axis, keepdims=keepdims)


def _solve(a: tf.Tensor, b: tf.Tensor) -> tf.Tensor:
    return tf.linalg.solve(a, b) if b.shape.rank > 1 else tf.linalg.solve(a, b[:, tf.newaxis])[:, 0]


def _rounded(x: tf.Tensor, decimals: int = 0) -> tf.Tensor:
    scale = tf.constant(10.0**decimals, x.dtype) if x.dtype.is_floating else tf.constant(1, x.dtype)
    return tf.round(x * scale) / scale if x.dtype.is_floating else x


def _linspace(start: Any, stop: Any, *args: Any, **options: Any) -> tf.Tensor:
    return tnp.linspace(_floating(start), _floating(stop), *args, **options)


def _median(x: Any) -> tf.Tensor:
    values = tf.sort(tf.reshape(_floating(x), [-1]))
    count = values.shape[0]
    middle = (values[(count - 1) // 2] + values[count // 2]) / 2
    return tf.where(tf.reduce_any(tf.math.is_nan(values)), tf.cast(float("nan"), values.dtype), middle)


def _trapezoid(y: Any, x: Any = None, dx: Any = 1.0) -> tf.Tensor:
    y = _floating(y)
    steps = tf.cast(dx, y.dtype) if x is None else tnp.diff(tf.cast(x, y.dtype))
    return tf.reduce_sum(steps * (y[..., 1:] + y[..., :-1]) / 2, -1)


def _trunc(x: Any) -> tf.Tensor:
    return tf.where(x < 0, tf.math.ceil(x), tf.math.floor(x)) if x.dtype.is_floating else x


def _fmod(x: Any, y: Any) -> tf.Tensor:
    return tf.truncatemod(*tnp.broadcast_arrays(*(_floating(part) for part in (x, y))))


def _floating(x: Any) -> tf.Tensor:
    return x if is_tensor(x) and x.dtype.is_floating else tf.cast(x, tf.float64)


_OWN: dict[Callable, Callable] = {
    np.array: _array, np.asarray: _array, np.linalg.norm: _norm, np.linalg.solve: _solve, np.linalg.inv: tf.linalg.inv,
    np.linalg.det: tf.linalg.det, np.linalg.cholesky: tf.linalg.cholesky, np.copy: _array, np.round: _rounded,
    np.linspace: _linspace, np.around: _rounded, np.median: _median, np.trapezoid: _trapezoid, np.trunc: _trunc,
    np.radians: tnp.deg2rad, np.degrees: tnp.rad2deg, np.linalg.eigvalsh: tf.linalg.eigvalsh, np.fmod: _fmod,

}  # fmt: skip


def _astype(x: tf.Tensor, dtype: Any) -> tf.Tensor:
    return tf.cast(x, _dtype(dtype))


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
    **{name: getattr(tnp, name) for name in ("sum", "mean", "max", "min", "prod", "std", "var", "all", "any", "argmax",
       "argmin", "cumsum", "cumprod", "dot", "clip", "trace", "squeeze", "take", "repeat", "diagonal")},
    **{name: _in_place(name) for name in ("sort", "fill", "resize", "partition")},
    "bit_length": lambda x: int_(x).bit_length(), "copy": tf.identity, "round": _rounded, "astype": _astype,
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
