"""``x op= y``, which changes an array of NumPy's or a list in place, where TensorFlow makes another tensor."""

from __future__ import annotations

import dis
import functools
import operator
import sys
from collections.abc import Callable
from types import CodeType, FrameType
from typing import Any

import numpy as np
import tensorflow as tf

from autobatch import context, errors
from autobatch.language.lists import is_list
from autobatch.language.objects import MemberObject, users_class
from autobatch.language.values import is_tensor

OPERATORS = ("add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "matmul", "lshift", "rshift", "and", "or", "xor")


def in_place(old: Any, new: Any) -> Any:
    """What ``old op= y`` leaves, of ``new = old op y``; what ``old`` is known by else is looked at later."""
    if context.mode() is not context.Mode.TRACING:
        return new
    if isinstance(old, MemberObject) and any(hasattr(old, f"__i{name}__") for name in OPERATORS):
        raise errors.UnsupportedSyntaxError(
            f"An item or an attribute is changed in place by an operator of `{users_class(old).__name__}`'s own.",
            help="give it a name first: p = ps[i]; p += y.",
            kind="augmented-object",
        )
    if is_array(old):
        context.augmented(old)
        return _kept_array(old, new)
    if is_list(old) or isinstance(old, dict | set):
        context.augmented(old)
    return new


def is_array(value: Any) -> bool:
    return bool(value.ndim) if isinstance(value, np.ndarray) else is_tensor(value) and bool(value.shape.rank)


def _kept_array(old: Any, new: Any) -> Any:
    """The array keeps its dtype and its shape."""
    if not (is_tensor(new) or isinstance(new, np.ndarray)):
        return new
    have, found = (tf.TensorSpec(x.shape, x.dtype) for x in (old, new))
    fits = np.can_cast(found.dtype.as_numpy_dtype, have.dtype.as_numpy_dtype, "same_kind")
    if not fits or found.shape != have.shape:
        shown, other = (f"{x.dtype.name}{x.shape.as_list()}" for x in (have, found))
        raise errors.TypeMismatchError(
            f"An array of {shown} cannot be changed in place into {other}.",
            help="make another array: x = x + y.",
            kind="augmented-dtype",
        )
    return new if found.dtype == have.dtype else tf.cast(new, have.dtype)


def noticed(old: Any, new: Any, frame: FrameType) -> Any:
    """What ``old op= y`` leaves in code that runs in this frame."""
    if _is_undecorated(frame):
        raise errors.UnsupportedSyntaxError(
            f"`{frame.f_code.co_name}` is not autobatched, and changes an array in place.",
            help="x = x + y for a new array; or call it by its name, with its arguments one by one.",
            kind="not-autobatched",
        )
    return in_place(old, new)


def is_in_place(frame: FrameType) -> bool:
    """Whether the operator that the frame is at is one of the user's ``x += y``."""
    return frame.f_lasti in _places(frame.f_code) and _is_users(frame)


def _is_users(frame: FrameType) -> bool:
    return frame.f_code.co_name.startswith(context.GENERATED) or context.is_users(frame.f_code)


@functools.cache
def _places(code: CodeType) -> frozenset[int]:
    """The offsets of its operators in place."""
    found = dis.get_instructions(code)
    return frozenset(each.offset for each in found if "INPLACE" in each.opname or each.argrepr.endswith("="))


def install() -> None:
    """Has tensors notice ``x += y`` of the user's code."""
    for name in OPERATORS:
        python = getattr(operator, f"{name}_" if name in ("and", "or") else name)
        setattr(tf.Tensor, f"__i{name}__", _of_tensor(python))
        theirs = getattr(tf.Tensor, f"__r{name}__")
        setattr(tf.Tensor, f"__r{name}__", _of_array(theirs))


def _of_tensor(python: Callable[[Any, Any], Any]) -> Callable[[tf.Tensor, Any], Any]:
    def apply(self: tf.Tensor, other: Any) -> Any:
        frame = sys._getframe(1)
        if context.mode() is not context.Mode.TRACING or not is_array(self) or not _is_users(frame):
            return NotImplemented
        return noticed(self, python(self, other), frame)

    return apply


def _of_array(theirs: Callable[[tf.Tensor, Any], Any]) -> Callable[..., Any]:
    """Of an array that is known while tracing, and a tensor: NumPy leaves ``x += y`` to the tensor."""

    def apply(self: tf.Tensor, other: Any, *rest: Any) -> Any:
        result = theirs(self, other, *rest)
        known = context.mode() is context.Mode.TRACING and isinstance(other, np.ndarray) and is_array(other)
        return noticed(other, result, frame) if known and is_in_place(frame := sys._getframe(1)) else result

    return apply


def _is_undecorated(frame: FrameType) -> bool:
    """Whether this runs a function that is neither autobatched nor inside one that is."""
    outer: FrameType | None = frame
    while outer is not None and not outer.f_code.co_name.startswith(context.GENERATED):
        outer = outer.f_back
    return outer is not None and not _is_in(frame.f_code, outer.f_code)


def _is_in(code: CodeType, outer: CodeType) -> bool:
    inside = (each for each in outer.co_consts if isinstance(each, CodeType))
    return code is outer or any(_is_in(code, each) for each in inside)
