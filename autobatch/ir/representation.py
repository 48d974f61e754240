"""Between a user's value and the leaves of it that are stored, of a member and of the whole batch."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import tensorflow as tf

from autobatch.ir.types import Absent, Leaf, Shared, Static, Tensor, Type, Weak, dynamic, leaves, structure
from autobatch.language.lists import MemberList, fitted, unpacked
from autobatch.language.objects import ABSENT, MemberObject
from autobatch.language.one_of import OneOf, looked_up
from autobatch.language.rounding import check_number
from autobatch.language.values import WeakScalar, is_tensor


def value_from(type_: Type, stored: Sequence[tf.Tensor], shared: Sequence[tf.Tensor]) -> Any:
    """The value that user code sees, from one member's stored leaves."""
    remaining: Iterator[tf.Tensor] = iter(stored)

    def build(leaf: Leaf) -> Any:
        match leaf:
            case Static(value):
                return value
            case Absent():
                return ABSENT
            case Shared(index, Weak(kind)):
                return WeakScalar(shared[index], kind)
            case Shared(index, _):
                return shared[index]
            case Weak(kind, near):
                return WeakScalar(next(remaining), kind, near)
            case _:
                return next(remaining)

    return tf.nest.map_structure(build, type_)


def zero(type_: Type) -> Any:
    """A value of the type that stands where nobody looks at it."""
    return value_from(type_, [tf.zeros(leaf.shape, leaf.dtype) for leaf in dynamic(type_)], ())


def stored_from(type_: Type, value: Any) -> list[tf.Tensor]:
    """One member's stored leaves of ``type_``, from a value of that type or of one that joins into it."""
    value = fitted(type_, value)  # what is known here may be one of several elsewhere
    tf.nest.assert_same_structure(type_, value, check_types=False)  # a range's type is that of a list
    pairs = zip(leaves(type_), tf.nest.flatten(value), strict=True)
    stored = ((leaf, part) for leaf, part in pairs if isinstance(leaf, Tensor | Weak))
    return [tf.zeros(t.shape, t.dtype) if part is ABSENT else to_dtype(part, t.dtype) for t, part in stored]


def value_as(type_: Type, value: Any) -> Any:
    """A value of a type that joins into ``type_``, as a value of ``type_``; a member fails whose int does not fit."""
    value = fitted(type_, _without_absent(type_, value))

    def build(leaf: Leaf, part: Any) -> Any:
        number = part.tensor if isinstance(part, WeakScalar) else part
        if isinstance(leaf, Tensor | Weak) and not getattr(part, "near", False):
            check_number(number, leaf.dtype)
        if isinstance(leaf, Tensor):
            return part.astype(leaf.dtype) if isinstance(part, WeakScalar) else to_dtype(part, leaf.dtype)
        return part

    return tf.nest.map_structure(build, type_, value, check_types=False)


def _without_absent(type_: Type, value: Any) -> Any:
    """The value with zeros for what it lacks."""
    if value is ABSENT:
        return zero(type_)
    if isinstance(value, MemberObject):
        (names, parts), (_, types) = value.__tf_flatten__(), type_.__tf_flatten__()  # type: ignore[attr-defined]
        filled = tuple(_without_absent(t, part) for t, part in zip(types, parts, strict=True))
        return type(value).__tf_unflatten__(names, filled)  # type: ignore[attr-defined]
    return value


def plain(value: Any) -> Any:
    """A concrete value without TensorFlow: Python numbers for per-member Python numbers, NumPy's for tensors."""

    def leaf(part: Any) -> Any:
        if isinstance(part, WeakScalar):
            return part.tensor.numpy().item()  # type: ignore[attr-defined]
        return part.numpy() if is_tensor(part) else part

    return unpacked(tf.nest.map_structure(leaf, value))


def to_dtype(value: Any, dtype: tf.DType) -> tf.Tensor:
    if isinstance(value, WeakScalar):
        value = value.tensor
    if is_tensor(value):
        return tf.cast(tf.convert_to_tensor(value), dtype)  # of a variable, what it holds
    return tf.convert_to_tensor(value, dtype)


def coerce(
    source: Type, target: Type, stored: Sequence[tf.Tensor], shared: Sequence[tf.Tensor], size: Any
) -> list[tf.Tensor]:
    """A whole batch's stored leaves of type ``source``, as leaves of type ``target``."""
    remaining = iter(stored)
    result = []
    for have, want in zip(leaves(source), leaves(target), strict=True):
        part = next(remaining) if isinstance(have, Tensor | Weak) else None
        if isinstance(want, Tensor | Weak):
            if isinstance(have, Absent):
                part = tf.zeros((size, *want.shape), want.dtype)
            elif part is None:
                member = shared[have.index] if isinstance(have, Shared) else have.value  # type: ignore[union-attr]
                part = tf.broadcast_to(to_dtype(member, want.dtype), (size, *want.shape))
            result.append(tf.cast(part, want.dtype))
    return result


def given(
    source: Type, target: Type, stored: Sequence[tf.Tensor], shared: Sequence[tf.Tensor], size: Any
) -> list[tf.Tensor]:
    """As ``coerce``, also where a list of known length is to be one of any length."""
    if structure(source) == structure(target):
        return coerce(source, target, stored, shared, size)

    def member(leaves: Sequence[tf.Tensor]) -> list[tf.Tensor]:
        return stored_from(target, value_as(target, value_from(source, leaves, shared)))

    if not stored:
        return [tf.broadcast_to(leaf, (size, *leaf.shape)) for leaf in member([])]
    return list(tf.vectorized_map(member, list(stored), fallback_to_while_loop=False))


def truth_values(type_: Type, stored: Sequence[tf.Tensor], shared: Sequence[tf.Tensor], size: Any) -> tf.Tensor:
    """A condition as one bool for each member, [size]."""
    if isinstance(type_, MemberList):
        return stored[-1] > 0
    if isinstance(type_, OneOf):
        return looked_up([bool(option) for option in type_.options], tf.bool, stored[0])
    (test,) = coerce(type_, Tensor(tf.bool, ()), stored, shared, size)
    return test
