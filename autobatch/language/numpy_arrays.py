"""What NumPy's functions take for arrays, as tensors."""

from __future__ import annotations

import math
from typing import Any, TypeAlias

import numpy as np
import tensorflow as tf

from autobatch import context, errors
from autobatch.language.values import is_tensor, narrowing_failure

tnp: Any = tf.experimental.numpy
Array: TypeAlias = Any  # a tf.Tensor, of which the stubs know no static shapes, and not all indices


def array(value: Any, dtype: Any = None, copy: Any = None) -> Any:
    del copy
    if is_tensor(value):
        return tf.identity(value) if dtype is None else tf.cast(value, dtype_of(dtype))
    made = tf.convert_to_tensor(_of_one_dtype(value))
    return made if dtype is None else _held_by(made, dtype_of(dtype))


def _held_by(made: Any, dtype: tf.DType) -> Any:
    """In another dtype; of Python's ints a member fails that has one which this does not hold."""
    found = tf.cast(made, dtype)
    if made.dtype.is_integer and dtype.is_integer:
        fits = tf.reduce_all(tf.equal(tf.cast(found, made.dtype), made))
        context.check(fits, errors.NumberRangeError, narrowing_failure(dtype))
    return found


def _of_one_dtype(items: Any) -> Any:
    """The nested lists, with numbers of the dtype that an array of them has."""
    leaves = tf.nest.flatten(items)
    kinds = [leaf.dtype.as_numpy_dtype if is_tensor(leaf) else np.asarray(leaf).dtype for leaf in leaves]
    dtype = tf.as_dtype(np.result_type(*kinds))
    return tf.nest.map_structure(lambda leaf: tf.cast(leaf, dtype), items)


def dtype_of(dtype: Any) -> tf.DType:
    """What NumPy takes for a dtype, which is float64 for ``float``."""
    return dtype if isinstance(dtype, tf.DType) else tf.as_dtype(np.dtype(dtype))


def tensor(value: Any) -> Any:
    return value if is_tensor(value) else array(value)


def floating(x: Any) -> Any:
    x = tensor(x)
    return x if x.dtype.is_floating else tf.cast(x, tf.float64)


def numbers(x: Any) -> Any:
    """Of which NumPy takes differences, and so no truth values."""
    x = tensor(x)
    if x.dtype.is_bool:
        raise refused("NumPy does not subtract truth values.", "make them numbers: x.astype(int).")
    return x


def floatings(*values: Any) -> list[Any]:
    """Of one dtype, the widest."""
    found = [floating(value) for value in values]
    widest = max((value.dtype for value in found), key=lambda dtype: dtype.size)
    return [tf.cast(value, widest) for value in found]


def quotient(x: Any, y: Any) -> Any:
    """``x / y`` as NumPy divides: by zero too, also where Python's division would raise and be caught."""
    return tf.math.truediv(x, y)


def or_nan(is_nan: tf.Tensor, found: tf.Tensor) -> tf.Tensor:
    return tf.where(is_nan, tf.constant(math.nan, found.dtype), found)


def inside(at: Any, size: int) -> tf.Tensor:
    """Positions on an axis, negative ones counted from its end; members fail who have others."""
    at = tf.cast(tensor(at), tf.int64)
    is_inside = tf.reduce_all((at >= -size) & (at < size))
    context.check(is_inside, errors.MemberIndexError, f"an index is out of range for an axis of size {size}")
    return tf.clip_by_value(tf.where(at < 0, at + size, at), 0, size - 1)


def refused(message: str, help: str) -> errors.TypeMismatchError:
    return errors.TypeMismatchError(message, help=help, kind="numpy-of-member")
