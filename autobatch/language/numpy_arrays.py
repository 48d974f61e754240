"""What NumPy's functions take for arrays, as tensors."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import tensorflow as tf

from autobatch import context, errors
from autobatch.language.values import is_tensor

tnp = tf.experimental.numpy


def array(value: Any, dtype: Any = None, copy: Any = None) -> tf.Tensor:
    del copy
    made = tf.identity(value) if is_tensor(value) else tf.convert_to_tensor(_of_one_dtype(value))
    return made if dtype is None else tf.cast(made, dtype_of(dtype))


def _of_one_dtype(items: Any) -> Any:
    """The nested lists, with numbers of the dtype that an array of them has."""
    leaves = tf.nest.flatten(items)
    kinds = [leaf.dtype.as_numpy_dtype if is_tensor(leaf) else np.asarray(leaf).dtype for leaf in leaves]
    dtype = tf.as_dtype(np.result_type(*kinds))
    return tf.nest.map_structure(lambda leaf: tf.cast(leaf, dtype), items)


def dtype_of(dtype: Any) -> tf.DType:
    """What NumPy takes for a dtype, which is float64 for ``float``."""
    return dtype if isinstance(dtype, tf.DType) else tf.as_dtype(np.dtype(dtype))


def tensor(value: Any) -> tf.Tensor:
    return value if is_tensor(value) else array(value)


def floating(x: Any) -> tf.Tensor:
    x = tensor(x)
    return x if x.dtype.is_floating else tf.cast(x, tf.float64)


def numbers(x: Any) -> tf.Tensor:
    """Of which NumPy takes differences, and so no truth values."""
    x = tensor(x)
    if x.dtype.is_bool:
        raise refused("NumPy does not subtract truth values.", "make them numbers: x.astype(int).")
    return x


def floatings(*values: Any) -> list[tf.Tensor]:
    """Of one dtype, the widest."""
    found = [floating(value) for value in values]
    widest = max((value.dtype for value in found), key=lambda dtype: dtype.size)
    return [tf.cast(value, widest) for value in found]


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
