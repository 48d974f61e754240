"""Per-member Python numbers: a tensor underneath, a Python ``int``, ``float`` or ``bool`` in behaviour.

A literal such as ``total = 0`` may come to differ between members, and then lives in a tensor.  It must
still adopt the dtype that it meets, as a literal does; ``WeakScalar`` is that.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import tensorflow as tf

from autobatch import context, errors

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


def per_member(value: Any) -> bool:
    """Whether the value may differ between members."""
    return isinstance(value, WeakScalar) or is_tensor(value)


class WeakScalar:
    """A number that Python would hold as ``kind``, held as a scalar tensor."""

    __slots__ = ("kind", "tensor")

    def __init__(self, tensor: tf.Tensor, kind: type):
        self.tensor, self.kind = tensor, kind

    def astype(self, dtype: tf.DType) -> tf.Tensor:
        if not adopts(self.kind, dtype):
            raise TypeError(f"a Python {self.kind.__name__} cannot become {dtype.name}")
        return tf.cast(self.tensor, dtype)

    def _no_python_value(self, *_: Any) -> Any:
        raise errors.TypeMismatchError(
            f"This needs one Python {self.kind.__name__}, but the value differs between members.",
            help="use a TensorFlow function (tf.sqrt for math.sqrt); decorate a function that branches on it; a loop "
            "over ab.unroll(range(4)) has the same number for all members.",
            kind="needs-python-number",
        )

    def _no_text(self, *_: Any) -> Any:
        raise errors.TypeMismatchError(
            "This text would differ between members.",
            help="print(...) and assert show each member's own value.",
            kind="text-of-members",
        )

    def __divmod__(self, other: Any) -> Any:
        return self // other, self % other

    def __rdivmod__(self, other: Any) -> Any:
        return other // self, other % self

    __bool__ = __int__ = __float__ = __index__ = __round__ = __trunc__ = __floor__ = __ceil__ = _no_python_value
    __str__ = __format__ = _no_text  # type: ignore[assignment]
    __hash__ = _no_python_value  # type: ignore[assignment]

    def __neg__(self):
        value = number(self)
        return WeakScalar(-value.tensor, value.kind)

    def __pos__(self):
        return number(self)

    def __abs__(self):
        value = number(self)
        return WeakScalar(tf.abs(value.tensor), value.kind)

    def __invert__(self):
        return -number(self) - 1

    def __repr__(self) -> str:
        return f"WeakScalar({self.kind.__name__}, {self.tensor!r})"


def number(value: WeakScalar) -> WeakScalar:
    """``value`` with bool turned into int, as Python's arithmetic does."""
    if value.kind is bool:
        return WeakScalar(tf.cast(value.tensor, tf.int64), int)
    return value


def weak(value: bool | int | float) -> WeakScalar:
    """A Python number as a WeakScalar."""
    return WeakScalar(tf.constant(value, WIDE_DTYPES[type(value)]), type(value))


def _meet(left: Any, right: Any) -> tuple[tf.Tensor, tf.Tensor, type]:
    """Two Python numbers (at least one a WeakScalar) as tensors of one dtype, and their common kind."""
    a, b = (v if isinstance(v, WeakScalar) else weak(v) for v in (left, right))
    kind = float if float in (a.kind, b.kind) else int if int in (a.kind, b.kind) else bool
    return tf.cast(a.tensor, WIDE_DTYPES[kind]), tf.cast(b.tensor, WIDE_DTYPES[kind]), kind


def _adopted(weak: WeakScalar, dtype: tf.DType) -> tf.Tensor:
    if not adopts(weak.kind, dtype):
        raise TypeError(f"a Python {weak.kind.__name__} meets a tensor of {dtype.name}; use tf.cast")
    return weak.astype(dtype)


def _combine(python: Callable, result: type | None, left: Any, right: Any) -> Any:
    """``python(left, right)`` where at least one is a WeakScalar; ``result``: its kind, None for the operands'."""
    for weak, other in ((left, right), (right, left)):
        if isinstance(weak, WeakScalar) and not isinstance(other, WeakScalar | bool | int | float):
            try:
                other = tf.convert_to_tensor(other)
            except (TypeError, ValueError):
                return NotImplemented
            adopted = _adopted(weak, other.dtype)
            return python(adopted, other) if weak is left else python(other, adopted)
    a, b, kind = _meet(left, right)
    if python in _DIVISIONS:
        b = divisor(b)
    if kind is bool and result is None and python not in _LOGICAL:
        a, b, kind = tf.cast(a, tf.int64), tf.cast(b, tf.int64), int
    if python is operator.pow and kind is int and not (isinstance(right, int) and right >= 0):
        raise errors.TypeMismatchError(
            "An int to a power that differs between members may be an int or a float.",
            help="make the base a float, or use tf.pow on tensors.",
            kind="power-of-members",
        )
    if python is operator.truediv and kind is not float:
        a, b = tf.cast(a, tf.float64), tf.cast(b, tf.float64)
    value = _FUNCTIONS.get(python, python)(a, b)
    if kind is int and python in _GROWING:
        small = any(isinstance(v, int) and abs(v) < 2**31 for v in (left, right))
        if not small or (python is not operator.add and python is not operator.sub):  # a step of a counter is safe
            _check_range(python, a, b, value)
    return WeakScalar(value, result or kind)


def divisor(value: tf.Tensor) -> tf.Tensor:
    """The value, of which a member fails that divides by zero; then 1, for whatever the others do beside it."""
    zero = tf.equal(value, tf.zeros([], value.dtype))
    context.check(~zero, errors.MemberArithmeticError, "a number is divided by zero")
    return tf.where(zero, tf.ones([], value.dtype), value)


def _check_range(python: Callable, a: tf.Tensor, b: tf.Tensor, value: tf.Tensor) -> None:
    """Fails members whose Python int does not fit 64 bits: 2.0**63, as floats see it."""
    x, y = tf.cast(a, tf.float64), tf.cast(b, tf.float64)
    exact = x * tf.pow(tf.constant(2.0, tf.float64), y) if python is operator.lshift else python(x, y)
    fits = tf.abs(exact - tf.cast(value, tf.float64)) <= 2.0**62
    context.check(fits, errors.MemberArithmeticError, "a Python int does not fit 64 bits")


_DIVISIONS = (operator.floordiv, operator.mod, operator.truediv)
_GROWING = (operator.add, operator.sub, operator.mul, operator.pow, operator.lshift)
_FUNCTIONS = {operator.lshift: tf.bitwise.left_shift, operator.rshift: tf.bitwise.right_shift}
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
