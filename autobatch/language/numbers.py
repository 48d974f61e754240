"""Python's functions of numbers, for those that differ between members."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import tensorflow as tf

from autobatch import context, errors
from autobatch.language.choices import both, either, ifexp, truth
from autobatch.language.each_of import each
from autobatch.language.lists import MemberList
from autobatch.language.objects import MemberObject
from autobatch.language.one_of import OneOf
from autobatch.language.rounding import to_digits
from autobatch.language.values import WIDE_DTYPES, WeakScalar, narrowed, per_member, python_kind


def _cast(python: type) -> Callable:
    def cast(*args: Any) -> Any:
        if python is bool and len(args) == 1 and isinstance(args[0], MemberList):
            return WeakScalar(truth(args[0]), bool)
        if len(args) == 1 and isinstance(args[0], MemberObject):
            return cast(truth(args[0]) if python is bool else getattr(args[0], f"__{python.__name__}__")())
        if len(args) == 1 and isinstance(args[0], OneOf):
            return each(python, args[0])
        if len(args) != 1 or not per_member(args[0]):
            return python(*args)
        value = args[0].tensor if isinstance(args[0], WeakScalar) else args[0]
        if python is bool:
            return WeakScalar(truth(value), bool)
        if value.shape.rank != 0:
            raise errors.TypeMismatchError(
                f"{python.__name__}() needs a scalar per member, not shape {value.shape}.", kind="scalar-function"
            )
        if python is int and value.dtype.is_floating:
            number = tf.abs(value) < 2.0**63
            nan, infinite = tf.math.is_nan(value), tf.math.is_inf(value)
            context.check(~nan, errors.raised_by_members(ValueError), "nan becomes an int")
            context.check(~infinite, errors.raised_by_members(OverflowError), "an infinite number becomes an int")
            context.check(number | nan | infinite, errors.NumberRangeError, "a number beyond 64 bits becomes an int")
            value = tf.where(number, value, tf.zeros([], value.dtype))
        if value.dtype.is_integer and python is int:
            near = args[0].near if isinstance(args[0], WeakScalar) else value.dtype.size < 8
            return WeakScalar(narrowed(value, tf.int64), int, near)
        return WeakScalar(tf.cast(value, WIDE_DTYPES[python]), python, near=value.dtype == tf.bool)

    return cast


int_, float_, bool_ = _cast(int), _cast(float), _cast(bool)


def divmod_(left: Any, right: Any) -> Any:
    """``divmod(left, right)``"""
    if not (per_member(left) or per_member(right)):  # objects, perhaps
        return divmod(left, right)
    return left // right, left % right


def round_(value: Any, ndigits: Any = None) -> Any:
    """``round(value)``, to the even of two integers that are as near; a narrow float to digits as NumPy does it."""
    if not per_member(value):
        return round(value) if ndigits is None else round(value, ndigits)
    kind = python_kind(value)
    if kind is None or per_member(ndigits):
        what = "of an array" if kind is None else "to a number of digits that differs between members"
        raise errors.TypeMismatchError(f"round {what}.", help="use tf.round.", kind="scalar-function")
    if kind is not float:
        if ndigits is None or ndigits >= 0:
            return int_(value)
        unit = 10**-ndigits
        whole, rest = divmod_(int_(value), unit)
        up = either(rest * 2 > unit, lambda: both(rest * 2 == unit, lambda: whole % 2 == 1))
        return (whole + ifexp(up, lambda: 1, lambda: 0)) * unit
    tensor = value.tensor if isinstance(value, WeakScalar) else value
    if ndigits is None:
        return int_(tf.round(tensor))
    if tensor.dtype == tf.float64:
        rounded = to_digits(tensor, ndigits)
        return WeakScalar(rounded, float) if isinstance(value, WeakScalar) else rounded
    scale = tf.constant(10.0 ** abs(ndigits), tensor.dtype)
    there, back = (tf.multiply, tf.divide) if ndigits >= 0 else (tf.divide, tf.multiply)
    rounded = back(tf.round(there(tensor, scale)), scale)
    return tf.where(tf.math.is_finite(rounded), rounded, tensor)


def pow_(base: Any, exponent: Any, modulus: Any = None) -> Any:
    """``pow(base, exponent)``, or that modulo a third int."""
    if modulus is None:
        return base**exponent
    if not any(map(per_member, (base, exponent, modulus))):
        return pow(base, exponent, modulus)
    if not all(python_kind(value) in (bool, int) for value in (base, exponent, modulus)):
        raise errors.TypeMismatchError("pow with a modulus is for integers.", kind="scalar-function")
    base, exponent, modulus = map(int_, (base, exponent, modulus))
    context.check(truth(exponent >= 0), errors.NumberRangeError, "an integer is raised to a negative power")
    context.check(truth(abs(modulus) < 2**31), errors.NumberRangeError, "the modulus of pow has more than 31 bits")
    result, square = 1 % modulus, base % modulus
    bits = 63 if isinstance(exponent, WeakScalar) else exponent.bit_length()
    with context.collected_remarks():  # what stays below the square of the modulus fits
        for k in range(bits):
            odd = (exponent >> k) & 1
            result = ifexp(odd, lambda r=result, s=square: r * s % modulus, lambda r=result: r)
            square = square * square % modulus
    return result


def cast_to(value: Any, dtype: Any, name: str | None = None) -> tf.Tensor:
    """``tf.cast(value, dtype)``, of all 64 bits of a Python int."""
    exact: Any = value.tensor if isinstance(value, WeakScalar) and value.kind is int else value
    return tf.cast(exact, dtype, name)
