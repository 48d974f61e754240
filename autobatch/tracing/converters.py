"""What ``tf.vectorized_map`` does not vectorize well, or not: products, decompositions, scattering, random numbers.

TensorFlow batches ``A x`` with a matrix A that all members share as A [x1 x2 ...], between two transpositions of the
batch, and an inner product of two vectors as a batch of matrix products.  XLA's CPU code for these is three to ten
times slower than for the forms here, which keep the batch in front.  Random words come from one call of an element-wise
function, which stays one call.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import tensorflow as tf
from tensorflow.python.ops.parallel_for import pfor

from autobatch import random

_one_at_a_time = threading.RLock()


@contextmanager
def our_converters() -> Iterator[None]:
    """While this lasts, TensorFlow converts what is below our way."""
    registry = pfor._pfor_converter_registry
    with _one_at_a_time:
        theirs = {operation: registry[operation] for operation in _CONVERTERS if operation in registry}
        for operation, convert in _CONVERTERS.items():
            registry[operation] = lambda call, o=operation, ours=convert: ours(call) or theirs[o](call)
        try:
            yield
        finally:
            for operation in _CONVERTERS.keys() - theirs.keys():
                del registry[operation]
            registry.update(theirs)


def _product(call: pfor._PforInput) -> pfor.WrappedTensor | None:
    """The product [Z, m, n] of [m, k] and [k, n], either of them batched; None if it is no simple one."""
    (a, a_batched, _), (b, b_batched, _) = call.input(0), call.input(1)
    if not b_batched or None in (*a.shape[-2:], *b.shape[-2:]):
        return None
    a_turned, b_turned = bool(call.get_attr("transpose_a")), bool(call.get_attr("transpose_b"))
    (m, k), n, size = _turned(a.shape, a_turned), _turned(b.shape, b_turned)[1], batch_size(b)
    if not a_batched and n == 1:
        vectors = tf.reshape(b, [size, k])
        product = tf.matmul(vectors, a, transpose_b=not a_turned)
    elif a_batched and m == n == 1:
        product = tf.matmul(tf.reshape(a, [size, k]) * tf.reshape(b, [size, k]), tf.ones([k, 1], a.dtype))
    elif a_batched and k == 1:
        product = tf.reshape(a, [size, m, 1]) * tf.reshape(b, [size, 1, n])
    else:
        return None
    return pfor.wrap(tf.reshape(product, [size, m, n]), True)


def _turned(shape: Any, turned: bool) -> tuple[int, int]:
    """The last two axes, in the order in which the product takes them."""
    *_, rows, columns = shape
    return (columns, rows) if turned else (rows, columns)


def batch_size(batch: tf.Tensor) -> Any:
    """The size of the first axis; a tensor where only the graph knows it."""
    return batch.shape[0] if batch.shape[0] is not None else tf.shape(batch)[0]


def _random_words(call: pfor._PforInput) -> list[pfor.WrappedTensor] | None:
    """Threefry of words of which some are batched; None for any other call."""
    if random.autobatch_threefry.__name__ not in call.get_attr("f").name:
        return None
    inputs = [call.input(i) for i in range(4)]
    rank = max(word.shape.rank - batched for word, batched, _ in inputs)
    words = [_with_rank(word, rank) if batched else word for word, batched, _ in inputs]
    return [pfor.wrap(word, True) for word in random.threefry(*words)]


def _with_rank(word: tf.Tensor, rank: int) -> tf.Tensor:
    """[Z, ...] as [Z, 1, ..., ...], so that what follows the batch broadcasts."""
    _, *shape = word.shape
    return tf.reshape(word, [batch_size(word), *[1] * (rank - len(shape)), *shape])


def _determinant(call: pfor._PforInput) -> pfor.WrappedTensor:
    return pfor.wrap(tf.linalg.det(call.stacked_input(0)), True)


def _scattered(call: pfor._PforInput) -> pfor.WrappedTensor:
    """What is added to zeros at each lane's indices: the derivative of a sorted list."""
    call.stack_inputs([0, 1])
    indices, updates, shape = call.stacked_input(0), call.stacked_input(1), call.unstacked_input(2)
    size, axes = batch_size(indices), indices.shape.rank - 1
    lane = tf.reshape(tf.range(size, dtype=indices.dtype), [size] + [1] * axes)
    placed = tf.concat([tf.broadcast_to(lane, tf.concat([tf.shape(indices)[:-1], [1]], 0)), indices], -1)
    whole = tf.concat([[tf.cast(size, shape.dtype)], shape], 0)
    return pfor.wrap(tf.scatter_nd(placed, updates, whole), True)


def _rolled(call: pfor._PforInput) -> pfor.WrappedTensor | None:
    """TensorFlow's own adds one to the axis, whatever its sign, so that -1 is the batch's, and -2 the last.

    There is a shift for each axis; of each lane's own if they are batched.
    """
    axes = tf.get_static_value(call.unstacked_input(2))
    if axes is None:
        return None
    value, (shift, own, _) = call.stacked_input(0), call.input(1)
    places = [1 + int(axis) % (value.shape.rank - 1) for axis in np.ravel(axes)]
    if not own:
        return pfor.wrap(tf.roll(value, tf.reshape(shift, [-1]), places), True)
    for place, by in zip(places, tf.unstack(tf.reshape(shift, [batch_size(shift), len(places)]), axis=1), strict=True):
        from_ = (tf.range(value.shape[place], dtype=by.dtype) - by[:, tf.newaxis]) % value.shape[place]
        turned = tf.gather(tf.experimental.numpy.moveaxis(value, place, 1), from_, axis=1, batch_dims=1)
        value = tf.experimental.numpy.moveaxis(turned, 1, place)
    return pfor.wrap(value, True)


def _over_first_axes(call: pfor._PforInput) -> list[pfor.WrappedTensor]:
    """Of what takes a batch in front as it is; results that are not asked for have none."""
    call.stack_inputs()
    operation = call._op
    inputs = [call.stacked_input(i) for i in range(len(operation.inputs))]
    attributes = operation.node_def.attr
    made = pfor._create_op(operation.type, inputs, [out.dtype for out in operation.outputs], attributes)
    pairs = zip(made.outputs, operation.outputs, strict=True)
    return [pfor.wrap(of_batch, of_batch.shape.rank != of_one.shape.rank) for of_batch, of_one in pairs]


_CONVERTERS = {
    "MatMul": _product,
    "Roll": _rolled,
    **dict.fromkeys(("Svd", "Qr", "NextAfter"), _over_first_axes),
    "PartitionedCall": _random_words,
    "MatrixDeterminant": _determinant,
    "ScatterNd": _scattered,
}
