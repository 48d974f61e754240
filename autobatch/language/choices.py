"""Truth, and choices between values, that may differ between members."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import tensorflow as tf

from autobatch import context, errors
from autobatch.language.containers import contents
from autobatch.language.list_methods import chosen_list
from autobatch.language.lists import MemberList, copied_into, is_list
from autobatch.language.objects import ABSENT, MemberObject, truth_method, users_class
from autobatch.language.one_of import OneOf, Whole, among, described, is_any, looked_up, options_of, whole
from autobatch.language.rounding import check_exact, check_known
from autobatch.language.structs import map_nodes
from autobatch.language.values import (
    WeakScalar,
    adopts,
    as_weak,
    check_fits,
    is_tensor,
    per_member,
    promoted,
    python_kind,
    weak,
)


def truth(value: Any) -> Any:
    """``bool(value)``: a bool, or a scalar bool tensor if ``value`` is per-member."""
    if isinstance(value, WeakScalar):
        value = value.tensor
    elif isinstance(value, MemberList):
        return value.length.tensor > 0
    elif isinstance(value, MemberObject):
        return _truth_of_object(value)
    elif isinstance(value, OneOf):
        return looked_up([bool(option) for option in value.options], tf.bool, value.number.tensor)
    elif not is_tensor(value):
        return bool(value)
    if value.shape.rank != 0:
        raise errors.TypeMismatchError(
            f"A condition must be one truth value per member; this has shape {value.shape}.",
            help="use tf.reduce_all or tf.reduce_any.",
            kind="condition-of-several",
        )
    return value if value.dtype == tf.bool else tf.not_equal(value, tf.zeros([], value.dtype))


def _truth_of_object(value: MemberObject) -> Any:
    method = truth_method(users_class(value))
    return True if method is None else truth(method(value))


def not_(value: Any) -> Any:
    """``not value``"""
    known = truth(value)
    # As a choice, because TensorFlow makes not (a < b) into a >= b, which nan is not.
    return WeakScalar(tf.where(known, False, True), bool) if is_tensor(known) else not known


def _unified(left: Any, right: Any) -> tuple[Any, Any]:
    """Both values as tensors of one dtype and shape, for a choice between them."""
    if {python_kind(left), python_kind(right)} == {bool, int}:  # a number of Python's, of either type
        left, right = (as_weak(value) if is_tensor(value) else value for value in (left, right))
    left, right = promoted(left, right)
    if isinstance(left, WeakScalar | bool | int | float) and isinstance(right, WeakScalar | bool | int | float):
        kinds = {value.kind if isinstance(value, WeakScalar) else type(value) for value in (left, right)}
        kind = float if float in kinds else int if int in kinds else bool
        a, b = (value if isinstance(value, WeakScalar) else weak(value) for value in (left, right))
        if a.kind is b.kind:
            return a, b
        a, b = a + kind(0), b + kind(0)
        return WeakScalar(a.tensor, kind), WeakScalar(b.tensor, kind)  # no counter: one side may be a bool
    dtype = next((value.dtype for value in (left, right) if is_tensor(value)), None)
    tensors = []
    for value in (left, right):
        if isinstance(value, WeakScalar):
            value = value.astype(dtype or value.tensor.dtype)
        elif isinstance(value, bool | int | float) and dtype is not None and not adopts(type(value), dtype):
            raise errors.TypeMismatchError(
                f"One side of the choice is {value!r}, the other has dtype {dtype.name}.", kind="choice-of-unlike"
            )
        tensors.append(_choosable(value, left, right, dtype))
    a, b = tensors
    if a.dtype != b.dtype or a.shape != b.shape:
        raise errors.TypeMismatchError(
            f"The two sides of this choice differ: {a.dtype.name}{list(a.shape)} and {b.dtype.name}{list(b.shape)}.",
            kind="choice-of-unlike",
        )
    return a, b


def _choosable(value: Any, left: Any, right: Any, dtype: tf.DType | None) -> tf.Tensor:
    if dtype is not None:
        check_fits(value, dtype)
    try:
        tensor = tf.convert_to_tensor(value, dtype_hint=dtype)
    except (TypeError, ValueError):
        tensor = None
    if tensor is None or tensor.dtype == tf.string:
        raise errors.TypeMismatchError(
            f"Members choose between {_shown(left)} and {_shown(right)}, one of them no tensor and no number.",
            help="choose between numbers, between texts, or between functions.",
            kind="choice-of-objects",
        )
    return tensor


def _shown(value: Any) -> str:
    if isinstance(value, WeakScalar):
        return f"a Python {value.kind.__name__}"
    return f"the function {value.__qualname__}" if hasattr(value, "__qualname__") else described(value)


def ifexp(condition: Any, yes: Callable[[], Any], no: Callable[[], Any]) -> Any:
    """``yes() if condition else no()``, where both sides are cheap and cannot fail."""
    known = truth(condition)
    if not is_tensor(known):
        return yes() if known else no()
    left, right = limited_to(known, yes), limited_to(tf.logical_not(known), no)
    if is_list(left) and is_list(right) and (MemberList in (type(left), type(right)) or len(left) != len(right)):
        return chosen_list(known, left, right)
    if tf.nest.is_nested(left) and not isinstance(left, OneOf):
        a, b = (map_nodes(OneOf, Whole, side) for side in (left, right))
        tf.nest.assert_same_structure(a, b)
        chosen = left if left is right else tf.nest.map_structure(lambda a, b: _choice(known, a, b), a, b)
        for side in (left, right) if left is not right else ():
            copied_into(side)
        if left is not right:
            context.choice(chosen, contents(chosen))
            context.view(chosen, left)
            context.view(chosen, right)
        return chosen
    return _choice(known, left, right)


def limited_to(condition: tf.Tensor, side: Callable[[], Any]) -> Any:
    """``side()``, whose checks are only of the members that meet the condition."""
    return limited_where(lambda: condition, side)


def limited_where(condition: Callable[[], tf.Tensor], side: Callable[[], Any]) -> Any:
    """Likewise, of a condition that is asked for only if there are checks."""
    with context.collected_remarks() as made:
        value = side()
    for remark in made:
        context.remark(replace(remark, passed=tf.logical_or(remark.passed, tf.logical_not(condition()))))
    return value


def _choice(condition: tf.Tensor, left: Any, right: Any) -> Any:
    left, right = whole(left), whole(right)
    if left is right or right is ABSENT:
        return left
    if left is ABSENT:
        return right
    if is_any(left, right):
        options = options_of(left, right)
        a, b = among(options, left), among(options, right)
        numbers = tf.where(condition, a.number.tensor, b.number.tensor)
        return OneOf(options, WeakScalar(numbers, int, near=True)) if len(options) > 1 else left
    sides = left, right
    if float in map(python_kind, sides):
        for side, chosen in ((left, condition), (right, ~condition)):
            if per_member(side) and not getattr(side, "near", False):
                check_exact(side.tensor if isinstance(side, WeakScalar) else side, tf.float64, chosen)
            check_known(side, tf.float64, chosen)
    left, right = _unified(left, right)
    if isinstance(left, WeakScalar):
        return WeakScalar(tf.where(condition, left.tensor, right.tensor), left.kind, left.near and right.near)
    chosen = tf.where(condition, left, right)
    for side in sides:
        context.view(chosen, side)
    return chosen


def and_(left: Any, right: Callable[[], Any]) -> Any:
    """``left and right()``"""
    return ifexp(left, right, lambda: left)


def or_(left: Any, right: Callable[[], Any]) -> Any:
    """``left or right()``"""
    return ifexp(left, lambda: left, right)


def both(left: Any, right: Callable[[], Any]) -> Any:
    """``bool(left and right())``"""
    return ifexp(left, lambda: truth(right()), lambda: False)


def either(left: Any, right: Callable[[], Any]) -> Any:
    """``bool(left or right())``"""
    return ifexp(left, lambda: True, lambda: truth(right()))
