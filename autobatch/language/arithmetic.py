"""Python's operators on a member's tensors, wherever user code uses them while it is traced, helpers included.

TensorFlow's divide integers by zero in silence where XLA compiles them, raise integers to negative powers, round the
quotient of floats before they take its floor, and multiply a list as a vector.  ``tf.math.floordiv`` and its like keep
TensorFlow's meaning, and so do all operators outside of autobatched code.  The operators of a member's Python numbers
are in ``values.py``.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import numpy as np
import tensorflow as tf

from autobatch import context, errors
from autobatch.language.advanced_indexing import is_advanced, picked
from autobatch.language.list_methods import repeated
from autobatch.language.numbers import round_
from autobatch.language.objects import MemberObject
from autobatch.language.rounding import check_exact, operands
from autobatch.language.values import (
    WeakScalar,
    as_weak,
    beside_sequence,
    check_fits,
    check_power,
    check_range,
    divisor,
    fits,
    floor_divided,
    is_tensor,
    number,
    promoted,
    python_kind,
    sequence_times_member,
    shifted,
)  # fmt: skip

Operator = Callable[[Any, Any], Any]


def _floordiv(theirs: Operator, left: tf.Tensor, right: tf.Tensor) -> Any:
    if left.dtype.is_floating:
        return floor_divided(left, _divisor(right))
    return theirs(left, _divisor(right))


def _mod(theirs: Operator, left: tf.Tensor, right: tf.Tensor) -> Any:
    return theirs(left, _divisor(right))


def _truediv(theirs: Operator, left: tf.Tensor, right: tf.Tensor) -> Any:
    right = _divisor(right)
    if left.dtype.is_integer and left.dtype.size == 8:
        for value in (left, right) if not left.shape.rank and not right.shape.rank else ():
            check_exact(value, tf.float64)
        left, right = tf.cast(left, tf.float64), tf.cast(right, tf.float64)
    return theirs(*operands(operator.truediv, left, right))


_DIVISIONS = (_floordiv, _mod, _truediv)


def _refuse_zero(divisor: Any) -> None:
    """In plain Python, as there: TensorFlow has an error of its own for integers."""
    if python_kind(divisor) in (bool, int) and divisor == 0:
        raise ZeroDivisionError("division by zero")


def _mul(theirs: Operator, left: tf.Tensor, right: tf.Tensor) -> Any:
    left, right = operands(operator.mul, left, right)
    value = theirs(left, right)
    is_integer = value.dtype in (tf.int32, tf.int64) and value.shape.rank == 0
    if is_integer and tf.get_static_value(left) is None and tf.get_static_value(right) is None:
        check_range(operator.mul, left, right, value)  # by a constant it wraps: the check took collatz a quarter longer
    return value


def _of_two(python: Callable) -> Callable[[Operator, tf.Tensor, tf.Tensor], Any]:
    return lambda theirs, left, right: theirs(*operands(python, left, right))


def _pow(theirs: Operator, left: tf.Tensor, right: tf.Tensor) -> Any:
    known = tf.get_static_value(right)
    if not left.dtype.is_integer:
        if not left.shape.rank and not right.shape.rank:
            _check_float_power(left, right)
        # TensorFlow's own squares are off in the last bit, where its graphs are not optimized.
        return left * left if np.ndim(known) == 0 and known == 2 else theirs(left, right)
    if known is not None and np.any(known < 0):
        raise errors.TypeMismatchError(
            "An integer tensor has no negative power.", help="make it a float: tf.cast.", kind="negative-power"
        )
    if known is None:
        check_power(left, right)
        right = tf.maximum(right, tf.zeros([], right.dtype))  # whatever the others do beside it
    value = theirs(left, right)
    if not value.shape.rank and (known is None or known > 1):
        check_range(operator.pow, left, right, value)
    return value


def _check_float_power(left: tf.Tensor, right: tf.Tensor) -> None:
    """Of floats, which raise where the program catches that, as they do where they are divided by zero."""
    if context.checks_divisions():
        error = errors.raised_by_members(ZeroDivisionError)
        context.check((left != 0) | ~(right < 0), error, "zero is raised to a negative power")
    else:
        context.risk()


def _divisor(value: tf.Tensor) -> tf.Tensor:
    known = tf.get_static_value(value)
    if known is not None and np.all(known != 0):
        return value
    as_python = value.dtype.is_floating and not value.shape.rank and context.checks_divisions()
    if value.dtype.is_integer or as_python:
        return divisor(value)
    context.risk()
    return value


def _install(name: str, ours: Callable[[Operator, tf.Tensor, tf.Tensor], Any]) -> None:
    def method(theirs: Operator, reflected: bool) -> Callable[[tf.Tensor, Any], Any]:
        def apply(self: tf.Tensor, other: Any) -> Any:
            if other is None or isinstance(other, MemberObject):  # Python raises, or asks the object
                return NotImplemented
            if context.mode() is context.Mode.MEMBER and ours in _DIVISIONS:
                _refuse_zero(self if reflected else other)
            if context.mode() is not context.Mode.TRACING:
                return theirs(self, other)
            try:
                value = other.astype(self.dtype) if isinstance(other, WeakScalar) else _like(other, self.dtype)
            except (TypeError, ValueError):
                return theirs(self, other)  # which says what is wrong
            if value.dtype != self.dtype:
                return theirs(self, other)
            return ours(lambda a, b: theirs(b, a), value, self) if reflected else ours(theirs, self, value)

        return apply

    for reflected, attribute in ((False, f"__{name}__"), (True, f"__r{name}__")):
        setattr(tf.Tensor, attribute, method(getattr(tf.Tensor, attribute), reflected))


def _like(value: Any, dtype: tf.DType) -> tf.Tensor:
    return value if isinstance(value, tf.Tensor) else tf.convert_to_tensor(value, dtype_hint=dtype)


def _install_meeting(name: str, reflected: bool) -> None:
    """Has operands meet as NumPy's do where TensorFlow would refuse or misread them.

    A Python int that the tensor's dtype does not hold is compared as it is, and else refused.
    """
    attribute = f"__{'r' if reflected else ''}{name}__"
    theirs, python = getattr(tf.Tensor, attribute), getattr(operator, f"{name}_" if name in ("and", "or") else name)

    def apply(self: Any, other: Any, *modulus: Any) -> Any:
        if isinstance(other, MemberObject) or (other is None and name not in ("eq", "ne")):
            return NotImplemented
        if modulus:
            return pow(*map(_known, (self, other, *modulus)))
        if context.mode() is not context.Mode.BATCH:
            if isinstance(other, np.ndarray | np.generic):
                other = tf.constant(np.asarray(other))  # which TensorFlow would cast to the dtype that it meets
            pair = promoted(self, other)
            if name in _OF_NUMBERS and python_kind(self) is bool and python_kind(other) is bool:
                pair = number(as_weak(self)), other  # truth values are counted
            if pair[0] is not self or pair[1] is not other:
                return python(*(pair[::-1] if reflected else pair))
        beside = isinstance(other, list | tuple) and python_kind(self) in (bool, int) and name != "mul"
        if beside and context.mode() is not context.Mode.BATCH:
            return beside_sequence(name, int, other)
        times = name == "mul" and isinstance(other, list | tuple) and self.dtype.is_integer and self.shape.rank == 0
        if times and context.mode() is context.Mode.MEMBER:
            return other * _known(self)
        if context.mode() is context.Mode.TRACING:
            if times and isinstance(other, tuple):
                raise sequence_times_member(other)
            if times:
                return repeated(other, self)
            if name in _COMPARISONS and not fits(other, self.dtype):
                return tf.fill(self.shape, python(0, other))  # which is beyond all of its values
            check_fits(other, self.dtype)
        return theirs(self, other)

    setattr(tf.Tensor, attribute, apply)


_COMPARISONS = ("lt", "le", "gt", "ge", "eq", "ne")
_OF_NUMBERS = ("add", "sub", "mul", "floordiv", "mod", "truediv", "pow")
_MEETINGS = ("add", "sub", "mul", "and", "or", "xor", "floordiv", "mod", "truediv", "pow")


def _positive(self: tf.Tensor) -> Any:
    if python_kind(self) is bool:
        return as_weak(self) + 0
    return tf.identity(self) if self.shape.rank else self  # a new array


def _install_item() -> None:
    theirs = tf.Tensor.__getitem__

    def apply(self: tf.Tensor, index: Any, *rest: Any) -> Any:
        if context.mode() is not context.Mode.BATCH and is_advanced(index):
            return picked(self, index)
        if context.mode() is context.Mode.MEMBER:
            _check_inside(self, index)
        part = theirs(self, index, *rest)
        context.view(part, self)
        return part

    tf.Tensor.__getitem__ = apply


def _check_inside(values: tf.Tensor, index: Any) -> None:
    """Raises NumPy's IndexError, in plain Python: TensorFlow has an error of its own."""
    if not values.shape.rank or python_kind(index) is not int:
        return
    size = values.shape.as_list()[0]
    if size is not None and not -size <= index < size:
        raise IndexError(f"index {int(index)} is out of bounds for axis 0 with size {size}")


def _shift(python: Operator) -> Operator:
    def apply(left: Any, right: Any) -> Any:
        if context.mode() is context.Mode.BATCH:
            return NotImplemented
        left, right = map(_counted, (left, right))
        if not (_is_integer(left) and _is_integer(right)):
            return NotImplemented
        left, right = promoted(left, right)
        dtype = next((value.dtype for value in (left, right) if is_tensor(value)), None)
        if dtype is None:
            return python(left, right)
        by = None if isinstance(right, WeakScalar) else tf.get_static_value(right)
        left, right = (
            value.astype(dtype) if isinstance(value, WeakScalar) else tf.convert_to_tensor(value, dtype)
            for value in (left, right)
        )
        return shifted(python, left, right, wraps=by is not None)

    return apply


def _counted(value: Any) -> Any:
    """A truth value as the number that it is."""
    return as_weak(value) if is_tensor(value) and python_kind(value) is bool else value


def _is_integer(value: Any) -> bool:
    return isinstance(value, WeakScalar | bool | int) or (is_tensor(value) and value.dtype.is_integer)


def _install_shifts() -> None:
    for name in ("lshift", "rshift"):
        apply = _shift(getattr(operator, name))
        setattr(tf.Tensor, f"__{name}__", apply)
        setattr(tf.Tensor, f"__r{name}__", lambda right, left, shift=apply: shift(left, right))


def _install_unary() -> None:
    """``-`` of a truth value, and what tensors lack."""
    theirs = tf.Tensor.__neg__

    def negative(self: tf.Tensor) -> Any:
        counted = context.mode() is not context.Mode.BATCH and python_kind(self) is bool
        return -as_weak(self) if counted else theirs(self)

    tf.Tensor.__neg__ = negative
    tf.Tensor.__pos__ = _positive
    tf.Tensor.__divmod__ = lambda self, other: (self // other, self % other)
    tf.Tensor.__rdivmod__ = lambda self, other: (other // self, other % self)
    tf.Tensor.__round__ = _rounded


def _rounded(self: tf.Tensor, *digits: Any) -> Any:
    return round_(self, *digits) if context.mode() is context.Mode.TRACING else round(_known(self), *digits)


def _install_iteration() -> None:
    """``a, b = x`` and the like over the first axis, which TensorFlow allows where it computes at once."""
    theirs = tf.Tensor.__iter__

    def items(self: tf.Tensor) -> Any:
        size = self.shape.as_list()[0] if self.shape.rank else None
        if size is None or context.mode() is not context.Mode.TRACING:
            return theirs(self)
        return (self[k] for k in range(size))

    tf.Tensor.__iter__ = items


def _install_truth() -> None:
    theirs = tf.Tensor.__bool__

    def truth(self: tf.Tensor) -> bool:
        context.risk()
        return theirs(self)

    tf.Tensor.__bool__ = truth


def _install_matmul() -> None:
    """``@`` of vectors, which TensorFlow refuses."""
    for attribute, reflected in (("__matmul__", False), ("__rmatmul__", True)):
        theirs = getattr(tf.Tensor, attribute)

        def product(self: tf.Tensor, other: Any, theirs: Any = theirs, reflected: bool = reflected) -> Any:
            of_vectors = context.mode() is not context.Mode.BATCH and 1 in (self.shape.rank, np.ndim(other))
            if not of_vectors:
                return theirs(self, other)
            return tf.experimental.numpy.matmul(*((other, self) if reflected else (self, other)))

        setattr(tf.Tensor, attribute, product)


def _install_dtypes() -> None:
    """``x.dtype == float`` is of float64, as NumPy has it; TensorFlow takes float32 for ``float``.

    And what NumPy's dtypes tell, and TensorFlow's do not.
    """
    theirs, hashed = tf.DType.__eq__, tf.DType.__hash__

    def is_same(self: tf.DType, other: Any) -> Any:
        if self is other:
            return True
        of_python = isinstance(other, type) and any(other is kind for kind in (bool, int, float, complex))
        return theirs(self, np.dtype(other) if of_python and context.mode() is not context.Mode.BATCH else other)

    tf.DType.__eq__ = is_same
    tf.DType.__ne__ = lambda self, other: not is_same(self, other)
    tf.DType.__hash__ = hashed
    for name in ("kind", "char", "str", "itemsize", "type"):
        setattr(tf.DType, name, property(lambda self, name=name: getattr(np.dtype(self.as_numpy_dtype), name)))


def _install_repetition() -> None:
    """``[0] * n``"""
    for name in ("__mul__", "__rmul__"):
        theirs = getattr(WeakScalar, name)

        def times(self: WeakScalar, other: Any, theirs: Any = theirs) -> Any:
            return repeated(other, self) if isinstance(other, list) else theirs(self, other)

        setattr(WeakScalar, name, times)


def _known(value: Any) -> Any:
    """The number of a member in plain Python; elsewhere desugared code has functions for these."""
    return value.numpy().item() if is_tensor(value) else value


def install() -> None:
    _install_shifts()
    _install_unary()
    _install_truth()
    _install_iteration()
    _install_matmul()
    _install_dtypes()
    _install_repetition()
    divisions = (("floordiv", _floordiv), ("mod", _mod), ("truediv", _truediv))
    others = ((name, _of_two(getattr(operator, name))) for name in ("add", "sub"))
    for name, ours in (*divisions, ("pow", _pow), ("mul", _mul), *others):
        _install(name, ours)
    for name in _COMPARISONS:
        _install_meeting(name, reflected=False)
    for name in _MEETINGS:
        for reflected in (False, True):
            _install_meeting(name, reflected)
    _install_item()
