"""Per-member Python numbers: a tensor underneath, a Python ``int``, ``float`` or ``bool`` in behaviour.

A literal such as ``total = 0`` may come to differ between members, and then lives in a tensor.  It must
still adopt the dtype that it meets, as a literal does; ``WeakScalar`` is that.
"""

from __future__ import annotations

import operator
import sys
from collections.abc import Callable
from typing import Any

import numpy as np
import tensorflow as tf
from tensorflow.python.framework import tensor_conversion_registry, tensor_util

from autobatch import context, errors
from autobatch.language.constants import once
from autobatch.language.rounding import operands

DEFAULT_DTYPES = {bool: tf.bool, int: tf.int32, float: tf.float32}
WIDE_DTYPES = {bool: tf.bool, int: tf.int64, float: tf.float64}


def adopts(kind: type, dtype: tf.DType) -> bool:
    """Whether a Python number of this kind may take this dtype (as in TensorFlow, but ``bool`` only bool)."""
    if kind is bool:
        return dtype == tf.bool
    if kind is int:
        return dtype != tf.bool and (dtype.is_integer or dtype.is_floating or dtype.is_complex)
    return dtype.is_floating or dtype.is_complex


def is_tensor(value: Any) -> bool:
    return isinstance(value, tf.Tensor | tf.Variable)


def is_of_jax(value: Any) -> bool:
    """Whether it is an array of JAX's, which need not be installed."""
    jax = sys.modules.get("jax")
    return jax is not None and isinstance(value, jax.Array)


def per_member(value: Any) -> bool:
    """Whether the value may differ between members."""
    return isinstance(value, WeakScalar) or is_tensor(value)


class WeakScalar:
    """A number that Python would hold as ``kind``, held as a scalar tensor.

    Attributes:
      tensor: int64, float64 or bool.
      kind: int, float or bool.
      near: whether it is a counter: an int that came about by small steps from a small one, so that no time is long
        enough for it to leave 64 bits by more of them.
    """

    __slots__ = ("kind", "near", "tensor")
    __array_ufunc__ = None  # NumPy's arrays leave their operators to ours

    def __init__(self, tensor: tf.Tensor, kind: type, near: bool = False):
        self.tensor, self.kind, self.near = tensor, kind, near

    def astype(self, dtype: tf.DType) -> tf.Tensor:
        """The number as a tensor; a member fails whose int the dtype does not hold."""
        if not adopts(self.kind, dtype):
            raise TypeError(f"a Python {self.kind.__name__} cannot become {dtype.name}")
        return narrowed(self.tensor, dtype)

    def _no_python_value(self, *_: Any) -> Any:
        context.risk()
        raise errors.TypeMismatchError(
            f"This needs one Python {self.kind.__name__}, but the value differs between members.",
            help="use a TensorFlow function; decorate a function that branches on it; a loop "
            "over ab.unroll(range(4)) has the same number for all members.",
            kind="needs-python-number",
        )

    def _no_text(self, *_: Any) -> Any:
        raise text_of_members()

    def __divmod__(self, other: Any) -> Any:
        return self // other, self % other

    def __rdivmod__(self, other: Any) -> Any:
        return other // self, other % self

    __bool__ = __int__ = __float__ = __index__ = __round__ = __trunc__ = __floor__ = __ceil__ = _no_python_value
    __str__ = __format__ = _no_text  # type: ignore[assignment]
    __hash__ = None  # type: ignore[assignment]

    def __neg__(self):
        value = number(self)
        _check_above_lowest(value)
        return WeakScalar(-value.tensor, value.kind, value.near)

    def bit_length(self) -> WeakScalar:
        """``int.bit_length``"""
        value = number(self)
        reached = tf.abs(value.tensor)[tf.newaxis] >= tf.constant([2**k for k in range(63)], tf.int64)
        bits = tf.reduce_sum(tf.cast(reached, tf.int64))
        return WeakScalar(tf.where(value.tensor == tf.int64.min, tf.constant(64, tf.int64), bits), int, near=True)

    def is_integer(self) -> WeakScalar:
        """``float.is_integer``"""
        tensor = tf.cast(self.tensor, tf.float64)
        return WeakScalar(tf.math.is_finite(tensor) & (tf.floor(tensor) == tensor), bool)

    def __pos__(self):
        return number(self)

    def __abs__(self):
        value = number(self)
        _check_above_lowest(value)
        return WeakScalar(tf.abs(value.tensor), value.kind, value.near)

    def __invert__(self):
        return WeakScalar(tf.bitwise.invert(number(self).tensor), int, self.near)

    def __repr__(self) -> str:
        return f"WeakScalar({self.kind.__name__}, {self.tensor!r})"


def text_of_members() -> errors.TypeMismatchError:
    """What members' texts are refused with."""
    return errors.TypeMismatchError(
        "This text would differ between members.",
        help="an int's digits are n // 10 and n % 10, its bits n >> 1 and n & 1; print(...) and assert show each "
        "member's own value.",
        kind="text-of-members",
    )


def number(value: Any) -> Any:
    """``value`` with bool turned into int, as Python's arithmetic does."""
    if not isinstance(value, WeakScalar):
        return +value
    if value.kind is bool:
        return WeakScalar(tf.cast(value.tensor, tf.int64), int, near=True)
    return value


def weak(value: bool | int | float) -> WeakScalar:
    """A Python number as a WeakScalar."""
    if isinstance(value, int) and not tf.int64.min <= value <= tf.int64.max:
        raise errors.TypeMismatchError(
            f"The int {value} does not fit 64 bits, and is to differ between members.",
            help="a member's ints have 64 bits; use floats.",
            kind="int-beyond-64-bits",
        )
    if type(value) not in WIDE_DTYPES:
        raise errors.TypeMismatchError(
            f"{value!r} is to differ between members, and is more than a number.",
            help="give members plain numbers: int(...).",
            kind="number-of-a-class",
        )
    return WeakScalar(tf.constant(value, WIDE_DTYPES[type(value)]), type(value), is_near(value))


def is_near(value: Any) -> bool:
    """Whether a counter may start from this number."""
    return isinstance(value, int) and abs(value) < 2**32


def narrowed(value: tf.Tensor, dtype: tf.DType) -> tf.Tensor:
    """The number in another dtype; a member fails whose int it does not hold."""
    cast = tf.cast(value, dtype)
    if value.dtype.is_integer and dtype.is_integer and value.dtype != dtype:
        fits = tf.equal(tf.cast(cast, value.dtype), value)
        if dtype.is_unsigned != value.dtype.is_unsigned and dtype.size >= value.dtype.size:
            fits &= value >= 0 if dtype.is_unsigned else cast >= 0
        context.check(fits, errors.NumberRangeError, narrowing_failure(dtype))
    return cast


def fits(value: Any, dtype: tf.DType) -> bool:
    """Whether the dtype holds the number, if it is a Python int and the dtype one of integers."""
    return type(value) is not int or not dtype.is_integer or dtype.min <= value <= dtype.max


def check_fits(value: Any, dtype: tf.DType) -> None:
    """Raises TypeMismatchError for a Python int that TensorFlow would wrap."""
    if not fits(value, dtype):
        raise errors.TypeMismatchError(
            f"The int {value} meets a tensor of {dtype.name}, which does not hold it.",
            help="pass int64, or use tf.cast.",
            kind="int-beyond-dtype",
        )


def narrowing_failure(dtype: tf.DType) -> str:
    return f"a Python int does not fit {dtype.name}, which it meets here"


def _meet(left: Any, right: Any) -> tuple[tf.Tensor, tf.Tensor, type]:
    """Two Python numbers (at least one a WeakScalar) as tensors of one dtype, and their common kind."""
    a, b = (v if isinstance(v, WeakScalar) else weak(v) for v in (left, right))
    kind = float if float in (a.kind, b.kind) else int if int in (a.kind, b.kind) else bool
    return tf.cast(a.tensor, WIDE_DTYPES[kind]), tf.cast(b.tensor, WIDE_DTYPES[kind]), kind


def promoted(left: Any, right: Any) -> tuple[Any, Any]:
    """Operands that TensorFlow would refuse together, as NumPy has them meet: of one dtype, or a number and a tensor.

    A member's integer or truth value is a number of Python's beside a float, of which the float decides the dtype.
    """
    numbers = [python_kind(value) for value in (left, right)]
    if is_tensor(left) and is_tensor(right) and left.dtype != right.dtype:
        exact = [value.dtype.is_integer or value.dtype.is_bool for value in (left, right)]
        if exact[0] != exact[1] and numbers[exact.index(True)] is not None:
            return (number(as_weak(left)), right) if exact[0] else (left, number(as_weak(right)))
        common = _common_dtype(left.dtype, right.dtype)
        return (tf.cast(left, common), tf.cast(right, common)) if common else (left, right)
    for k, (value, other) in enumerate(((left, right), (right, left))):
        kind = numbers[1 - k]
        if not is_tensor(value) or is_tensor(other) or kind is None or adopts(kind, value.dtype):
            continue
        if numbers[k] is not None and not value.dtype.is_floating:
            value = as_weak(value)
        elif kind is bool:
            other = number(other)
        else:
            value = tf.cast(value, WIDE_DTYPES[kind])
        return (value, other) if k == 0 else (other, value)
    return left, right


def python_kind(value: Any) -> type | None:
    """Which of Python's numbers this is, or a member's scalar stands for."""
    if isinstance(value, WeakScalar):
        return value.kind
    if type(value) in WIDE_DTYPES:
        return type(value)
    if not is_tensor(value) or value.shape.rank != 0:
        return None
    kinds = ((bool, value.dtype.is_bool), (int, value.dtype.is_integer), (float, value.dtype.is_floating))
    return next((kind for kind, has in kinds if has), None)


def as_weak(value: tf.Tensor) -> Any:
    """A member's integer or truth value as the number of Python's that it stands for; itself, where that is known."""
    if hasattr(value, "numpy"):
        return value.numpy().item()
    if value.dtype.is_bool:
        return WeakScalar(value, bool)
    return WeakScalar(narrowed(value, tf.int64), int, near=value.dtype.size < 8)


def _common_dtype(left: tf.DType, right: tf.DType) -> tf.DType | None:
    try:
        return tf.as_dtype(np.result_type(left.as_numpy_dtype, right.as_numpy_dtype))
    except TypeError:  # what NumPy does not know, which TensorFlow refuses
        return None


def beside_sequence(name: str, kind: type, other: Any) -> bool:
    """A number beside a list or a tuple, to each item of which TensorFlow would apply the operator."""
    if name in ("eq", "ne"):
        return name == "ne"
    raise TypeError(f"unsupported operand type(s) for {name}: '{kind.__name__}' and '{type(other).__name__}'")


def _combine(python: Callable, result: type | None, left: Any, right: Any) -> Any:
    """``python(left, right)`` where at least one is a WeakScalar; ``result``: its kind, None for the operands'."""
    for weak, other in ((left, right), (right, left)):
        if isinstance(other, list | tuple) and not (python is operator.mul and weak.kind is not float):
            return beside_sequence(python.__name__, weak.kind, other)
        if isinstance(weak, WeakScalar) and not isinstance(other, WeakScalar | bool | int | float):
            return _with_tensor(python, result, weak, other, weak is left)
    a, b, kind = _meet(left, right)
    if result is bool:
        return WeakScalar(_compared(python, left, right, a, b, kind), bool)
    if kind is bool and python not in _LOGICAL:
        a, b, kind = tf.cast(a, tf.int64), tf.cast(b, tf.int64), int
    if python in _DIVISIONS:
        b = divisor(b)
    if python in _SHIFTS:
        return WeakScalar(shifted(python, a, b), int)
    if python is operator.truediv and kind is not float:
        exact = tf.maximum(tf.abs(a), tf.abs(b)) <= 2**53
        context.check(exact, errors.NumberRangeError, "an int beyond 2**53 is divided, and floats would round it")
        a, b = tf.cast(a, tf.float64), tf.cast(b, tf.float64)
    if kind is float:
        return WeakScalar(_of_floats(python, a, b), float)
    if python is operator.floordiv:
        fits = (a != tf.int64.min) | (b != -1)
        context.check(fits, errors.NumberRangeError, TOO_WIDE)
    if python is operator.pow:  # of which a negative one would be a float
        check_power(a, b)
        b = tf.maximum(b, 0)
    value = tf.cast(python(a, b), WIDE_DTYPES[result or kind])
    near = kind is bool
    if kind is int and python in _GROWING:
        near = python is not operator.mul and python is not operator.pow and _is_step(left, right)
        if not near:
            check_range(python, a, b, value)
    return WeakScalar(value, result or kind, near)


def _with_tensor(python: Callable, result: type | None, weak: WeakScalar, other: Any, weak_is_left: bool) -> Any:
    if isinstance(other, tuple) and weak.kind is not float and python is operator.mul:
        raise sequence_times_member(other)
    try:
        other = tf.convert_to_tensor(other)
    except (TypeError, ValueError):
        return NotImplemented
    if result is bool and weak.kind is int and other.dtype.is_integer and other.dtype != tf.uint64:
        adopted, other = weak.tensor, tf.cast(other, tf.int64)  # a comparison needs no common dtype
    elif adopts(weak.kind, other.dtype):
        adopted = weak.astype(other.dtype)
    else:
        adopted, other = promoted(weak, other)
    return python(adopted, other) if weak_is_left else python(other, adopted)


def sequence_times_member(sequence: Any) -> errors.TypeMismatchError:
    kind = type(sequence).__name__
    return errors.TypeMismatchError(
        f"A {kind} is repeated as often as a number says that differs between members.",
        help="repeat it by a Python number; tf.fill and tf.zeros make tensors.",
        kind="sequence-times-member",
    )


def _is_step(left: Any, right: Any) -> bool:
    """Whether a counter takes a small step."""
    return any(
        isinstance(step, int) and abs(step) < 2**20 and isinstance(from_, WeakScalar) and from_.near
        for step, from_ in ((left, right), (right, left))
    )


TOO_WIDE = "a Python int does not fit 64 bits"


def divisor(value: tf.Tensor) -> tf.Tensor:
    """The value, of which a member fails that divides by zero; then 1, for whatever the others do beside it."""
    zero = tf.equal(value, tf.zeros([], value.dtype))
    # NumPy's arrays of integers divide by zero, with a warning.
    error = errors.NumberRangeError if value.shape.rank else errors.raised_by_members(ZeroDivisionError)
    context.check(~tf.reduce_any(zero), error, "a number is divided by zero")
    return tf.where(zero, tf.ones([], value.dtype), value)


def check_power(a: tf.Tensor, b: tf.Tensor) -> None:
    """Fails members of which an integer is raised to a negative power: Python's would be a float."""
    negative, zero = b < 0, errors.raised_by_members(ZeroDivisionError)
    context.check(~tf.reduce_any(negative & (a == 0)), zero, "zero is raised to a negative power")
    context.check(~tf.reduce_any(negative), errors.NumberRangeError, "an integer is raised to a negative power")


def _check_above_lowest(value: WeakScalar) -> None:
    """The lowest integer has no counterpart."""
    if value.kind is int and not value.near:
        context.check(value.tensor != tf.int64.min, errors.NumberRangeError, TOO_WIDE)


def check_range(python: Callable, a: tf.Tensor, b: tf.Tensor, value: tf.Tensor) -> None:
    """Fails members whose integer does not fit: what wrapped is off by a power of 2 that floats can tell."""
    x, y = tf.cast(a, tf.float64), tf.cast(b, tf.float64)
    fits = tf.abs(python(x, y) - tf.cast(value, tf.float64)) <= 2.0 ** (8 * value.dtype.size - 2)
    message = TOO_WIDE if value.dtype == tf.int64 else f"an integer does not fit {value.dtype.name}"
    context.check(fits, errors.NumberRangeError, message)


def shifted(python: Callable, value: tf.Tensor, by: tf.Tensor, wraps: bool = False) -> tf.Tensor:
    """An integer shifted by a count: what leaves its width is cut off if it ``wraps``, and else fails the member."""
    context.check(
        tf.reduce_all(by >= 0), errors.raised_by_members(ValueError), "a number is shifted by a negative count"
    )
    bits = 8 * value.dtype.size
    inside = tf.clip_by_value(by, tf.zeros([], by.dtype), tf.constant(bits - 1, by.dtype))
    if python is operator.rshift:
        return tf.bitwise.right_shift(value, inside)
    result = tf.bitwise.left_shift(value, inside)
    if not wraps:
        fits = (value == 0) | ((by < bits) & tf.equal(tf.bitwise.right_shift(result, inside), value))
        message = TOO_WIDE if value.dtype == tf.int64 else f"an integer does not fit {value.dtype.name}"
        context.check(tf.reduce_all(fits), errors.NumberRangeError, message)
    return tf.where((value == 0) | (by >= bits), tf.zeros([], value.dtype), result)


def _compared(python: Callable, left: Any, right: Any, a: tf.Tensor, b: tf.Tensor, kind: type) -> tf.Tensor:
    """Exactly, as Python compares an int and a float."""
    kinds = [value.kind if isinstance(value, WeakScalar) else type(value) for value in (left, right)]
    if kind is float and int in kinds:
        at = kinds.index(int)
        whole = left if at == 0 else right
        i, f = (whole if isinstance(whole, WeakScalar) else weak(whole)).tensor, (b, a)[at]
        # -1, 0 or 1, as the int is below the float, the same, or above
        inside = (f >= -(2.0**63)) & (f < 2.0**63)
        floor = tf.cast(tf.where(inside, tf.floor(f), 0.0), tf.int64)
        sign = tf.sign(tf.cast(i > floor, tf.float64) - tf.cast(i < floor, tf.float64))
        sign = tf.where((sign == 0) & (tf.floor(f) != f), tf.constant(-1.0, tf.float64), sign)
        sign = tf.where(inside, sign, -tf.sign(f))  # nan stays nan
        zero = tf.zeros([], tf.float64)
        return python(sign, zero) if at == 0 else python(zero, sign)
    if kind is bool and python not in (operator.eq, operator.ne):
        a, b = tf.cast(a, tf.int64), tf.cast(b, tf.int64)
    return python(a, b)


def floor_divided(a: tf.Tensor, b: tf.Tensor) -> tf.Tensor:
    """``a // b`` of floats, as Python and NumPy compute it: from the remainder, as a / b may round up to an integer."""
    remainder = tf.truncatemod(a, b)
    quotient = (a - remainder) / b
    opposite = (remainder != 0) & ((b < 0) != (remainder < 0))
    quotient = tf.where(opposite, quotient - 1, quotient)
    floor = tf.floor(quotient)
    floor = tf.where(quotient - floor > 0.5, floor + 1, floor)
    floor = tf.where(quotient == 0, tf.zeros([], a.dtype), floor)
    return tf.where(b == 0, a / b, floor)


def _of_floats(python: Callable, a: tf.Tensor, b: tf.Tensor) -> tf.Tensor:
    """Python's floats, which raise where TensorFlow's are infinite or no numbers."""
    if python is operator.floordiv:
        return floor_divided(a, b)
    a, b = operands(python, a, b)
    value = python(a, b)
    if python is operator.pow:
        passed = tf.math.is_finite(value) | ~(tf.math.is_finite(a) & tf.math.is_finite(b))
        at_zero, is_real = a == 0, ~tf.math.is_nan(value)
        for kind, case, failure in (
            (errors.raised_by_members(ZeroDivisionError), at_zero, "zero is raised to a negative power"),
            (errors.NumberRangeError, ~at_zero & ~is_real, "a float to this power is complex"),
            (errors.raised_by_members(OverflowError), ~at_zero & is_real, "a float to this power is too large"),
        ):
            context.check(passed | ~case, kind, failure)
    return value


_DIVISIONS = (operator.floordiv, operator.mod, operator.truediv)
_GROWING = (operator.add, operator.sub, operator.mul, operator.pow)
_SHIFTS = (operator.lshift, operator.rshift)
_LOGICAL = (operator.and_, operator.or_, operator.xor)
_RESULT_KINDS = dict.fromkeys(("add", "sub", "mul", "floordiv", "mod", "pow", "and_", "or_", "xor", "lshift", "rshift"))
_RESULT_KINDS |= {"truediv": float} | dict.fromkeys(("lt", "le", "gt", "ge", "eq", "ne"), bool)


def _install_operators() -> None:
    for name, result in _RESULT_KINDS.items():
        python = getattr(operator, name)
        method = name.rstrip("_")
        setattr(WeakScalar, f"__{method}__", lambda x, y, f=python, k=result: _combine(f, k, x, y))
        if result is not bool:
            setattr(WeakScalar, f"__r{method}__", lambda x, y, f=python, k=result: _combine(f, k, y, x))


_install_operators()


def _to_tensor(value: WeakScalar, dtype: tf.DType | None = None, name: str | None = None, as_ref: bool = False):
    del name, as_ref
    return value.astype(dtype or DEFAULT_DTYPES[value.kind])


tf.register_tensor_conversion_function(WeakScalar, _to_tensor)


def _list_to_tensor(value: Any, dtype: tf.DType | None = None, name: str | None = None, as_ref: bool = False) -> Any:
    """Lists that contain WeakScalars, which TensorFlow does not find in them."""
    del name, as_ref
    if context.mode() is not context.Mode.TRACING:
        return NotImplemented
    parts = tf.nest.flatten(value)
    if not any(isinstance(part, WeakScalar) for part in parts):
        return NotImplemented
    if dtype is None:
        kinds = {part.kind if isinstance(part, WeakScalar) else type(part) for part in parts}
        found = (part.dtype for part in parts if is_tensor(part))
        dtype = next(found, DEFAULT_DTYPES[float if float in kinds else int if int in kinds else bool])
    return _pack(value, dtype)


def _pack(value: Any, dtype: tf.DType) -> tf.Tensor:
    if isinstance(value, list | tuple):
        return tf.stack([_pack(part, dtype) for part in value])
    return tf.convert_to_tensor(value, dtype)


tf.register_tensor_conversion_function((list, tuple), _list_to_tensor, priority=90)


def _refusing_to_wrap(theirs: Callable) -> Callable:
    """TensorFlow's functions make 3000000000 an int32, -1294967296, beside an int32."""

    def make_tensor_proto(values: Any, dtype: Any = None, *rest: Any, **named: Any) -> Any:
        if type(values) is int and dtype is not None and context.mode() is context.Mode.TRACING:
            check_fits(values, tf.as_dtype(dtype))
        return theirs(values, dtype, *rest, **named)

    return make_tensor_proto


tensor_util.make_tensor_proto = _refusing_to_wrap(tensor_util.make_tensor_proto)
tensor_conversion_registry.register_tensor_conversion_function_internal((bool, int, float), once, priority=-1)
