"""Floats to the last bit, as Python has them, where compilers would compute something near."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from typing import Any

import numpy as np
import tensorflow as tf

from autobatch import context, errors


def operands(python: Callable, left: tf.Tensor, right: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor]:
    """What ``python(left, right)`` is to be computed from, such that it is rounded by itself.

    LLVM multiplies and adds at once where it can, so that b * b - 4 * a * c is not 0 for 0.1, 0.2, 0.1; TensorFlow and
    XLA make (a + 0.1) + 0.2 into a + 0.3 and a / b / c into a / (b * c), and multiply by the reciprocal of a known
    divisor: 49 * (1 / 49) < 1.  But for the last, only for one number a member: in arrays the time counts for more than
    the last bit.
    """
    if not left.dtype.is_floating:
        return left, right
    known = [tf.get_static_value(value) for value in (left, right)]
    if left.shape.rank == right.shape.rank == 0:
        fused = _FUSED.get(python, ())
        left, right = (
            rounded_by_itself(value) if _made_by(value, fused if other is None else _FOLDED) else value
            for value, other in ((left, known[1]), (right, known[0]))
        )
    if python is operator.truediv and known[0] is None and (known[1] is not None or not left.shape.rank):
        exact = known[1] is not None and np.isin(np.frexp(np.abs(known[1]))[0], (0, 0.5)).all()  # by powers of 2, and 0
        right = right if exact else rounded_by_itself(right)
    return left, right


# Of the operations that an operand is made by, those that compilers would do at once with each operator.
_FUSED = {
    operator.add: ("Mul", "Neg", "SelectV2", "AddV2"),
    operator.sub: ("Mul", "Neg", "SelectV2"),
    operator.truediv: ("RealDiv",),
}
_FOLDED = ("AddV2", "Sub", "Mul", "RealDiv", "Neg")


def _made_by(value: tf.Tensor, kinds: tuple[str, ...]) -> bool:
    operation = getattr(value, "op", None)  # a tensor of eager execution has none
    return operation is not None and operation.type in kinds


def rounded_by_itself(value: tf.Tensor) -> tf.Tensor:
    """The value, of which compilers do not see how it was made.

    It is a sum times one, or anything else less zero, of which they do not know that it is one or zero.  That is exact,
    and most often free, as it becomes one operation with the value's own or the next.  (TensorFlow moves a zero past
    other terms, and a one past other factors.)
    """
    if _made_by(value, ("AddV2", "Sub", "Neg")):
        return tf.multiply(value, _unknown(1, value.dtype))
    return tf.subtract(value, _unknown(0, value.dtype))


UNKNOWN = "autobatch_unknown"  # the graph's collection of (number, tensor): numbers to be hidden from compilers


def _unknown(number: int, dtype: tf.DType) -> tf.Tensor:
    graph = tf.compat.v1.get_default_graph()
    for known, tensor in graph.get_collection(UNKNOWN):
        if (known, tensor.dtype) == (number, dtype):
            return tensor
    made = tf.compat.v1.placeholder_with_default(tf.constant(number, dtype), [])
    graph.add_to_collection(UNKNOWN, (number, made))
    return made


def hides(operation: tf.Operation) -> bool:
    """Whether an operation computes nothing, and is only there to hide something from compilers."""
    unknown = [tensor for _, tensor in operation.graph.get_collection(UNKNOWN)]
    return any(tensor is each for each in unknown for tensor in (*operation.inputs, *operation.outputs))


_MANTISSA = {tf.float64: 52, tf.float32: 23, tf.float16: 10, tf.bfloat16: 7}


def exact_up_to(dtype: tf.DType) -> int:
    """Up to which int floats of this dtype hold all."""
    return 2 ** (_MANTISSA[dtype] + 1)


def check_exact(value: tf.Tensor, dtype: tf.DType, needed: tf.Tensor | bool = True) -> None:
    """Fails members of whom an int becomes a float that is another number."""
    if value.dtype.is_integer and value.dtype.size == 8 and dtype.is_floating:
        exact = tf.abs(value) <= exact_up_to(dtype)
        context.check(exact | ~tf.convert_to_tensor(needed), errors.NumberRangeError, rounding_failure(dtype))


def is_exact(number: Any, dtype: tf.DType) -> bool:
    """Whether a known number is the same in this dtype, if it is an int and the dtype one of floats."""
    return type(number) is not int or not dtype.is_floating or number == float(dtype.as_numpy_dtype(number))


def check_known(number: Any, dtype: tf.DType, needed: tf.Tensor | bool = True) -> None:
    """As ``check_exact``, of a number that is known."""
    if not is_exact(number, dtype):
        context.check(~tf.convert_to_tensor(needed), errors.NumberRangeError, rounding_failure(dtype))


def check_number(number: Any, dtype: tf.DType) -> None:
    """As ``check_exact``, of a number that is known or not; of anything else nothing."""
    if not tf.is_tensor(number):
        check_known(number, dtype)
    elif number.shape.rank == 0:
        check_exact(number, dtype)


def rounding_failure(dtype: tf.DType) -> str:
    return f"an int becomes a {dtype.name}, which would round it"


def to_digits(x: tf.Tensor, digits: int) -> tf.Tensor:
    """``round(x, digits)`` of a float64: the float nearest to what decimal arithmetic gives, halves to even."""
    if digits > 22:
        raise errors.TypeMismatchError("round to more than 22 digits.", kind="scalar-function")
    unit = float(10 ** abs(digits))
    size = tf.abs(x)
    if digits >= 0:
        whole = tf.floor(size * unit)
        beyond = _beyond_half(size, unit, whole)
    else:
        whole = tf.floor(_quotient(size, unit))
        beyond = size - (whole + 0.5) * unit
    odd = tf.math.floormod(whole, 2.0) == 1.0
    whole += tf.cast((beyond > 0) | ((beyond == 0) & odd), x.dtype)
    rounded = _quotient(whole, unit) if digits >= 0 else whole * unit
    is_whole = ~(size * unit < 2.0**53) if digits >= 0 else ~tf.math.is_finite(x)
    return tf.where(is_whole, x, tf.where(x < 0, -rounded, rounded))


def _quotient(x: tf.Tensor, unit: float) -> tf.Tensor:
    return tf.divide(*operands(operator.truediv, x, tf.constant(unit, x.dtype)))


def _beyond_half(x: tf.Tensor, factor: float, whole: tf.Tensor) -> tf.Tensor:
    """``x * factor - whole - 0.5``, of the right sign where it is small.

    From halves whose products are exact (Dekker, "A floating-point technique for extending the available precision",
    1971).
    """
    far = rounded_by_itself(x * (2.0**27 + 1))
    x_high = far - (far - x)
    x_low = x - x_high
    high = math.ldexp(round(math.ldexp(math.frexp(factor)[0], 26)), math.frexp(factor)[1] - 26)
    low = factor - high
    return ((x_high * high - whole) - 0.5) + x_high * low + x_low * high + x_low * low
