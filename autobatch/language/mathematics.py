"""Python's ``math`` for numbers that differ between members, with Python's errors.

CPython's rule for those: a result that is no number, of arguments that are numbers, is a ValueError; an infinite one,
of finite arguments, is one too where the function has a pole, and else an OverflowError.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable
from typing import Any

import tensorflow as tf

from autobatch import context, errors
from autobatch.language.choices import truth
from autobatch.language.kinds import of_object
from autobatch.language.list_queries import multiplied
from autobatch.language.lists import MemberList
from autobatch.language.looping import rows
from autobatch.language.numbers import int_
from autobatch.language.values import WeakScalar, is_tensor, per_member, python_kind


def _float(value: Any) -> Any:
    """A number as a float tensor: of its own dtype, or Python's."""
    if is_tensor(value) and value.dtype.is_floating:
        return value
    if isinstance(value, bool | int | float):
        return tf.constant(float(value), tf.float64)
    return tf.cast(value.tensor if isinstance(value, WeakScalar) else value, tf.float64)


def _floats(name: str, values: tuple) -> tuple[list[tf.Tensor], bool]:
    """The arguments as tensors of one dtype, and whether the result is a Python float."""
    for value in values:
        if python_kind(value) is None:
            raise errors.TypeMismatchError(
                f"math.{name} takes numbers, not arrays.",
                help=f"use np.{name}, or TensorFlow's function.",
                kind="scalar-function",
            )
    tensors = [_float(value) for value in values]
    own = [value.dtype for value in values if is_tensor(value) and value.dtype.is_floating]
    dtype = max(own, key=lambda dtype: dtype.size) if own else tf.float64
    return [tf.cast(tensor, dtype) for tensor in tensors], not own


def _function(name: str, tensorflow: Callable, pole: bool = False) -> Callable:
    python = getattr(math, name)

    def function(*values: Any) -> Any:
        if not any(map(per_member, values)):
            return python(*values)
        arguments, weak = _floats(name, values)
        result = tensorflow(*arguments)
        numbers, finite = (
            tf.reduce_all([test(argument) for argument in arguments])
            for test in (lambda x: ~tf.math.is_nan(x), tf.math.is_finite)
        )
        _check(~tf.math.is_nan(result) | ~numbers, ValueError, name)
        _check(~tf.math.is_inf(result) | ~finite, ValueError if pole else OverflowError, name)
        return WeakScalar(tf.cast(result, tf.float64), float) if weak else result

    return function


def _check(passed: tf.Tensor, kind: type[Exception], name: str) -> None:
    what = "is not defined there" if kind is ValueError else "is too large"
    context.check(passed, errors.raised_by_members(kind), f"math.{name} {what}")


def _at_powers(base: int, logarithm: Callable) -> Callable:
    """A logarithm that is exact where it is an integer, as Python's are."""
    powers = [float(base**k) for k in range(23)]

    def function(x: tf.Tensor) -> tf.Tensor:
        value = logarithm(x)
        near = tf.clip_by_value(tf.round(tf.where(tf.math.is_finite(value), value, 0)), 0, len(powers) - 1)
        exact = tf.gather(tf.constant(powers, x.dtype), tf.cast(near, tf.int32)) == x
        return tf.where(exact, near, value)

    return function


def _scaled_log(base: float) -> Callable:
    return lambda x: tf.math.log(x) / tf.constant(math.log(base), x.dtype)


def _gamma(x: tf.Tensor) -> tf.Tensor:
    whole = tf.floor(x) == x
    table = tf.constant([math.nan, *(float(math.factorial(k)) for k in range(170))], x.dtype)
    exact = tf.gather(table, tf.cast(tf.clip_by_value(tf.where(whole, x, 0), 0, 170), tf.int32))
    negative = (x < 0) & (tf.math.floormod(tf.floor(x), tf.constant(2, x.dtype)) != 0)
    magnitude = tf.exp(tf.math.lgamma(x))
    return tf.where(whole & (x <= 170), exact, tf.where(negative, -magnitude, magnitude))


def _log(value: Any, *base: Any) -> Any:
    return _NATURAL(value) if not base else _NATURAL(value) / _NATURAL(base[0])


_NATURAL = _function("log", tf.math.log, pole=True)


def _pow(x: Any, y: Any) -> Any:
    if per_member(x) or per_member(y):
        (base, exponent), _ = _floats("pow", (x, y))
        _check((base != 0) | (exponent >= 0) | tf.math.is_inf(exponent), ValueError, "pow")
    return _POWER(x, y)


_POWER = _function("pow", tf.pow)


def _hypot(*values: Any) -> Any:
    if not any(map(per_member, values)):
        return math.hypot(*values)
    arguments, weak = _floats("hypot", values)
    largest = tf.reduce_max(tf.abs(arguments), axis=0)
    scale = tf.where((largest > 0) & tf.math.is_finite(largest), largest, tf.ones([], largest.dtype))
    result = scale * tf.sqrt(tf.reduce_sum([(x / scale) ** 2 for x in arguments], axis=0))
    return WeakScalar(tf.cast(result, tf.float64), float) if weak else result


def _dist(p: Any, q: Any) -> Any:
    left, right = list(rows(p)), list(rows(q))
    if len(left) != len(right):
        raise ValueError("both points must have the same number of dimensions")
    return _hypot(*(a - b for a, b in zip(left, right, strict=True)))


def _to_int(name: str, tensorflow: Callable) -> Callable:
    python = getattr(math, name)

    def function(value: Any) -> Any:
        if not per_member(value):
            return python(value)
        if python_kind(value) in (int, bool):
            return int_(value)
        ((argument,), _) = _floats(name, (value,))
        return int_(tensorflow(argument))

    return function


def _test(name: str, tensorflow: Callable) -> Callable:
    python = getattr(math, name)

    def function(value: Any) -> Any:
        if not per_member(value):
            return python(value)
        ((argument,), _) = _floats(name, (value,))
        return tensorflow(argument)

    return function


def _isclose(a: Any, b: Any, *, rel_tol: Any = 1e-09, abs_tol: Any = 0.0) -> Any:
    if not any(map(per_member, (a, b, rel_tol, abs_tol))):
        return math.isclose(a, b, rel_tol=rel_tol, abs_tol=abs_tol)
    (a, b, relative, absolute), _ = _floats("isclose", (a, b, rel_tol, abs_tol))
    near = tf.abs(a - b) <= tf.maximum(relative * tf.maximum(tf.abs(a), tf.abs(b)), absolute)
    return (a == b) | (near & tf.math.is_finite(a) & tf.math.is_finite(b))


def _copysign(x: tf.Tensor, y: tf.Tensor) -> tf.Tensor:
    negative = (y < 0) | ((y == 0) & (1 / y < 0))
    return tf.where(negative, -tf.abs(x), tf.abs(x))


def _erf(x: tf.Tensor) -> tf.Tensor:
    return tf.math.erf(tf.clip_by_value(x, -9, 9))  # of infinity, TensorFlow's is no number


def _factorial(n: Any) -> Any:
    if not per_member(n):
        return math.factorial(n)
    if python_kind(n) not in (int, bool):
        raise errors.TypeMismatchError("math.factorial needs an int.", kind="scalar-function")
    n = int_(n)
    _check(truth(n >= 0), ValueError, "factorial")
    context.check(truth(n <= 20), errors.NumberRangeError, "math.factorial is too large")
    table = tf.constant([math.factorial(k) for k in range(21)], tf.int64)
    return WeakScalar(tf.gather(table, tf.clip_by_value(n.tensor, 0, 20)), int)


def _isqrt(n: Any) -> Any:
    if not per_member(n):
        return math.isqrt(n)
    if python_kind(n) not in (int, bool):
        raise errors.TypeMismatchError("math.isqrt needs an int.", kind="scalar-function")
    wide = int_(n).tensor
    _check(wide >= 0, ValueError, "isqrt")
    root = tf.cast(tf.sqrt(tf.cast(tf.maximum(wide, 0), tf.float64)), tf.int64)  # off by one at most
    root = tf.minimum(root, 3_037_000_499)
    root = tf.where(tf.square(root) > wide, root - 1, root)
    above = tf.square(root + 1)  # which may wrap
    root = tf.where((above > 0) & (above <= wide), root + 1, root)
    return WeakScalar(tf.maximum(root, 0), int)


def _prod(values: Any, *, start: Any = 1) -> Any:
    if isinstance(values, MemberList):
        return multiplied(values, start)
    for value in rows(values):
        start = start * value
    return start


_PLAIN: dict[str, Callable] = {
    "sqrt": tf.sqrt, "exp": tf.exp, "expm1": tf.math.expm1, "sin": tf.sin, "cos": tf.cos, "tan": tf.tan,
    "asin": tf.asin, "acos": tf.acos, "atan": tf.atan, "atan2": tf.atan2, "sinh": tf.sinh, "cosh": tf.cosh,
    "tanh": tf.tanh, "asinh": tf.asinh, "acosh": tf.acosh, "erf": _erf, "erfc": tf.math.erfc, "fabs": tf.abs,
    "fmod": tf.truncatemod, "copysign": _copysign,
    "degrees": lambda x: x * tf.constant(180 / math.pi, x.dtype),
    "radians": lambda x: x * tf.constant(math.pi / 180, x.dtype),
    "cbrt": lambda x: tf.sign(x) * tf.abs(x) ** tf.constant(1 / 3, x.dtype),
}  # fmt: skip
_WITH_POLES: dict[str, Callable] = {
    "log1p": tf.math.log1p, "atanh": tf.atanh, "gamma": _gamma, "lgamma": tf.math.lgamma,
    "log2": _at_powers(2, _scaled_log(2)), "log10": _at_powers(10, _scaled_log(10)),
}  # fmt: skip

# From Python's function to the one that members call.
STAND_INS: dict[Callable, Callable] = {
    **{getattr(math, name): _function(name, function) for name, function in _PLAIN.items()},
    **{getattr(math, name): _function(name, function, pole=True) for name, function in _WITH_POLES.items()},
    **{getattr(math, name): _to_int(name, getattr(tf.math, name)) for name in ("floor", "ceil")},
    math.trunc: _to_int("trunc", lambda x: x),
    math.isnan: _test("isnan", tf.math.is_nan),
    math.isinf: _test("isinf", tf.math.is_inf),
    math.isfinite: _test("isfinite", tf.math.is_finite),
    math.log: _log,
    math.pow: _pow,
    math.hypot: _hypot,
    math.dist: _dist,
    math.isclose: _isclose,
    math.factorial: _factorial,
    math.isqrt: _isqrt,
    math.prod: _prod,
    **{function: of_object(function) for function in (dir, vars, sys.getsizeof)},
}


def stand_in(function: Callable) -> Callable:
    """What members call for a function of Python's."""
    return STAND_INS.get(function, function)
