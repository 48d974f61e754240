"""NumPy's linear algebra."""

from __future__ import annotations

import functools
import math
import operator
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
import tensorflow as tf

from autobatch import context, errors
from autobatch.language.numpy_arrays import Array, array, floating, floatings, quotient, refused, tensor, tnp
from autobatch.language.numpy_reductions import MAX, MIN


def _norm(x: Any, ord: Any = None, axis: Any = None, keepdims: bool = False) -> Array:
    x = floating(x)
    if axis is not None or x.shape.rank != 2:
        return _norm_of_vectors(x, 2 if ord is None else ord, axis, keepdims)
    if keepdims:
        return tf.reshape(_norm(x, ord), [1, 1])
    if ord in (1, -1, math.inf, -math.inf):
        sums = tf.reduce_sum(abs(x), 0 if abs(ord) == 1 else 1)
        return MAX(sums) if ord > 0 else MIN(sums)
    if ord in (None, "fro"):
        return tf.norm(x)
    values = _singular_values(x)
    if ord not in (2, -2, "nuc"):
        raise refused(
            f"Matrices have no norm of order {ord!r}.", "the orders are None, 'fro', 'nuc', 1, -1, 2, -2, inf and -inf."
        )
    return tf.reduce_sum(values) if ord == "nuc" else values[0 if ord == 2 else -1]


def _norm_of_vectors(x: Array, ord: Any, axis: Any, keepdims: bool) -> Array:
    if axis is None and x.shape.rank > 2:
        if ord != 2:
            raise refused("This norm is one of vectors or matrices.", "name its axes: np.linalg.norm(x, axis=0).")
        axis = tuple(range(x.shape.rank))
    if isinstance(axis, tuple | list) and len(axis) > 1 and ord not in (2, "fro"):
        raise refused(f"The norm of order {ord!r} over several axes is not supported.", "take it of one matrix.")
    size = abs(x)
    if ord == math.inf:
        return MAX(size, axis, keepdims=keepdims)
    if ord == -math.inf:
        return MIN(size, axis, keepdims=keepdims)
    if ord == 0:
        return tnp.sum(tf.cast(x != 0, x.dtype), axis=axis, keepdims=keepdims)
    if ord in (2, "fro"):
        return tf.norm(x, axis=axis, keepdims=keepdims)
    return tnp.sum(size**ord, axis=axis, keepdims=keepdims) ** (1 / ord)


def _solve(a: Any, b: Any) -> Array:
    a, b = floatings(a, b)
    a = _regular(a)
    found = tf.linalg.solve(a, b) if b.shape.rank > 1 else tf.linalg.solve(a, b[:, tf.newaxis])[:, 0]
    return _sound(found, "Singular matrix", a, b)


def _square(x: Any) -> Array:
    x = tensor(x)
    if x.shape.rank != 2 or x.shape[0] != x.shape[1]:
        raise refused(
            f"This takes one square matrix, not an array of shape {list(x.shape)}.", "take one after the other."
        )
    return x


def _sound(found: Array, what: str, *given: Array) -> Array:
    """What was found; a member fails as in NumPy for whom that is no number, which XLA does not say.

    given: which may hold what is no number either, and then NumPy finds none.
    """
    is_finite, *were = (tf.reduce_all(tf.math.is_finite(each)) for each in (found, *given))
    known = functools.reduce(tf.logical_and, were, tf.constant(True))
    context.check(is_finite | ~known, errors.raised_by_members(np.linalg.LinAlgError), what)
    return found


SMALL = 16  # rows of a matrix whose pivots are looked at, which are operations one after the other


def _regular(x: Array) -> Array:
    """The matrix, of which a member fails that is singular; then another, for whatever the others do beside it."""
    if x.shape.rank != 2 or x.shape[0] != x.shape[1] or x.shape[0] > SMALL:
        return x
    is_singular = tf.reduce_any(tf.equal(tf.stack(_pivots(x)), 0))
    context.check(~is_singular, errors.raised_by_members(np.linalg.LinAlgError), "Singular matrix")
    return tf.where(is_singular, tf.eye(x.shape[0], dtype=x.dtype), x)


def _inverse(x: Any) -> Array:
    x = floating(x)
    return _sound(tf.linalg.inv(_regular(x)), "Singular matrix", x) if x.shape.rank == 2 else tf.linalg.inv(x)


def _cholesky(x: Any) -> Array:
    return _sound(tf.linalg.cholesky(floating(x)), "Matrix is not positive definite")


def _eigenvalues(x: Any) -> Array:
    return _sound(tf.linalg.eigvalsh(floating(x)), "Eigenvalues did not converge")


def _determinant(x: Any) -> Array:
    """By elimination with the largest pivot, as XLA has none of its own."""
    x = floating(x)
    if x.shape.rank != 2 or x.shape[0] != x.shape[1]:  # several, or none that has one
        return tf.linalg.det(x)
    return functools.reduce(operator.mul, _pivots(x), tf.ones([], x.dtype))


def _pivots(x: Array) -> list[Array]:
    """Whose product is the determinant."""
    found = []
    while x.shape[0]:
        at = tf.argmax(abs(x[:, 0]))
        row, first = tf.gather(x, at), x[0]
        pivot = row[0]
        others = tf.where((tf.range(x.shape[0]) == tf.cast(at, tf.int32))[:, tf.newaxis], first, x)[1:]
        found.append(tf.where(tf.equal(at, 0), pivot, -pivot))
        share = others[:, :1] / tf.where(tf.equal(pivot, 0), tf.ones_like(pivot), pivot)
        x = (others - share * row)[:, 1:]
    return found


class SignAndLog(NamedTuple):
    sign: Any
    logabsdet: Any


def _sign_and_log(x: Any) -> SignAndLog:
    pivots = tf.stack(_pivots(floating(_square(x))))
    return SignAndLog(tf.reduce_prod(tf.sign(pivots)), tf.reduce_sum(tf.math.log(abs(pivots))))


def _power(x: Any, n: int) -> Array:
    x = _square(x)
    if n < 0:
        return _power(_inverse(x), -n)
    found = tf.eye(x.shape[-1], dtype=x.dtype)
    for digit in bin(n)[2:]:
        found = found @ found
        found = found @ x if digit == "1" else found
    return found


def _chain(matrices: Sequence[Any]) -> Array:
    return functools.reduce(tnp.matmul, matrices)


class Decomposed(NamedTuple):
    U: Any
    S: Any
    Vh: Any


def _singular(x: Any, full_matrices: bool = True, compute_uv: bool = True, hermitian: bool = False) -> Any:
    del hermitian
    if not compute_uv:
        return _singular_values(x)
    values, left, right = tf.linalg.svd(floating(x), full_matrices=full_matrices)
    return Decomposed(left, _sound(values, "SVD did not converge"), tf.linalg.matrix_transpose(right))


def _singular_values(x: Any) -> Array:
    return _sound(tf.linalg.svd(floating(x), compute_uv=False), "SVD did not converge")


class Triangular(NamedTuple):
    Q: Any
    R: Any


def _triangular(x: Any, mode: str = "reduced") -> Any:
    if mode not in ("reduced", "complete", "r"):
        raise refused(f"np.linalg.qr in the mode {mode!r} is not supported.", "the modes are reduced, complete and r.")
    q, r = tf.linalg.qr(floating(x), full_matrices=mode == "complete")
    return r if mode == "r" else Triangular(q, r)


class Eigen(NamedTuple):
    eigenvalues: Any
    eigenvectors: Any


def _eigen(x: Any) -> Eigen:
    values, vectors = tf.linalg.eigh(floating(x))
    return Eigen(_sound(values, "Eigenvalues did not converge"), vectors)


def _pseudo_inverse(x: Any, rcond: Any = None) -> Array:
    return _sound(tf.linalg.pinv(floating(x), 1e-15 if rcond is None else rcond), "SVD did not converge")


def _rank(x: Any, tol: Any = None) -> Array:
    x = floating(x)
    values = _singular_values(x)
    if tol is None:
        tol = tf.reduce_max(values) * (max(x.shape[-2:]) * np.finfo(x.dtype.as_numpy_dtype).eps)
    return tf.reduce_sum(tf.cast(values > tol, tf.int64))


def _condition(x: Any, p: Any = None) -> Array:
    if p in (None, 2, -2):
        values = _singular_values(x)
        return quotient(values[-1], values[0]) if p == -2 else quotient(values[0], values[-1])
    return _norm(x, p) * _norm(_inverse(x), p)


def _outer(x: Any, y: Any) -> Array:
    if len(tensor(x).shape) != 1 or len(tensor(y).shape) != 1:
        raise refused("np.linalg.outer takes vectors.", "np.outer takes any arrays.")
    return tnp.outer(x, y)


def _of_arrays(theirs: Callable) -> Callable:
    """Python's numbers have dtypes of their own here, as in an array of them."""
    return lambda x, y, *rest, **options: theirs(array(x), array(y), *rest, **options)


MATRICES: dict[Callable, Callable] = {
    np.dot: _of_arrays(tnp.dot), np.inner: _of_arrays(tnp.inner), np.outer: _of_arrays(tnp.outer),
    np.kron: _of_arrays(tnp.kron), np.vdot: _of_arrays(tnp.vdot),
    np.linalg.norm: _norm, np.linalg.solve: _solve, np.linalg.inv: _inverse,
    np.linalg.det: _determinant, np.linalg.slogdet: _sign_and_log, np.linalg.cholesky: _cholesky,
    np.linalg.eigvalsh: _eigenvalues, np.linalg.eigh: _eigen, np.linalg.svd: _singular,
    np.linalg.qr: _triangular, np.linalg.pinv: _pseudo_inverse, np.linalg.matrix_power: _power,
    np.linalg.matrix_rank: _rank, np.linalg.cond: _condition, np.linalg.multi_dot: _chain, np.linalg.outer: _outer,
}  # fmt: skip
MATRICES |= {
    getattr(np.linalg, name): function
    for name, function in (("svdvals", _singular_values), ("matrix_transpose", tf.linalg.matrix_transpose))
    if hasattr(np.linalg, name)  # since NumPy 2
}
