"""What a member's value is, and has, in Python: not what the tensor that stands for it is."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from types import FunctionType, MethodType
from typing import Any

import numpy as np
import tensorflow as tf

from autobatch import context, errors
from autobatch.language.each_of import each
from autobatch.language.lists import MemberList
from autobatch.language.numpy import ATTRIBUTES, attribute
from autobatch.language.objects import MemberObject, asked_alone, stands_for, users_class
from autobatch.language.one_of import OneOf
from autobatch.language.values import WeakScalar, is_tensor, python_kind


def isinstance_(value: Any, kind: Any) -> bool:
    """``isinstance(value, kind)``: a member's scalar is a number of Python's, and one of NumPy's."""
    if isinstance(value, MemberList | tf.TensorShape):
        return issubclass(list if isinstance(value, MemberList) else tuple, kind) or isinstance(value, kind)
    if isinstance(value, MemberObject) and (python := stands_for(value)) is not None:
        return issubclass(python, kind)
    if isinstance(value, OneOf):
        return each(lambda option: isinstance(option, kind), value)
    if kinds_of(value) and any(map(_asks_itself, _classes(kind))):
        raise _unseen("A class's own `__instancecheck__`")
    python = python_kind(value)
    if isinstance(value, WeakScalar) and python is float and issubclass(int, kind) != issubclass(float, kind):
        raise _int_or_float()
    if isinstance(value, WeakScalar) and python is int and issubclass(bool, kind) != issubclass(int, kind):
        raise _int_or_float()
    if python is not None and issubclass(python, kind):
        return True
    if not is_tensor(value):
        return not isinstance(value, WeakScalar) and isinstance(value, kind)
    if issubclass(np.ndarray if value.shape.rank else value.dtype.as_numpy_dtype, kind):
        return True
    return any(isinstance(value, part) for part in _classes(kind) if issubclass(part, tf.Tensor))


def _asks_itself(kind: type) -> bool:
    method = inspect.getattr_static(type(kind), "__instancecheck__", None)
    return isinstance(method, FunctionType) and context.is_users(method.__code__)


def _unseen(what: str) -> errors.TypeMismatchError:
    return errors.TypeMismatchError(
        f"{what} would see what stands for a member's value while the program is lowered, not the value.",
        help="ask for what it is, isinstance(x, int), or compute with it: f(x) and x + 1, not x.__add__(1).",
        kind="symbolic-attribute",
    )


def of_object(function: Callable) -> Callable:
    """``dir``, ``vars`` or another that looks at the object itself."""

    def call(*args: Any, **options: Any) -> Any:
        if any(map(kinds_of, args)):
            raise _unseen(f"`{function.__name__}`")
        return function(*args, **options)

    return call


def special(value: Any, name: str) -> Any:
    """``value.__add__`` and others, which Python's numbers and lists have, and give what is not theirs to others."""
    if kinds_of(value):
        raise _unseen(f"`{name}`")
    if isinstance(value, MemberObject) and (method := asked_alone(type(value), name)) is not None:
        return MethodType(method, value)
    return getattr(value, name)


def _classes(kind: Any) -> Iterator[type]:
    """Of what ``isinstance`` takes."""
    for part in kind if isinstance(kind, tuple) else getattr(kind, "__args__", (kind,)):
        if isinstance(part, tuple):
            yield from _classes(part)
        elif isinstance(part, type):
            yield part


def _int_or_float() -> errors.TypeMismatchError:
    return errors.TypeMismatchError(
        "Whether this number is an int or a float, or a bool, may differ between members.",
        help="isinstance(x, (int, float)) holds for all; a float that has become an integer is x == int(x).",
        kind="int-or-float",
    )


def type_(value: Any, *rest: Any) -> Any:
    """``type(value)``"""
    if isinstance(value, MemberList) and not rest:
        return list
    if isinstance(value, MemberObject) and not rest:
        return stands_for(value) or users_class(value)
    if isinstance(value, OneOf) and not rest:
        return each(type, value)
    if isinstance(value, WeakScalar) and (value.kind is float or (value.kind is int and not value.near)):
        raise _int_or_float()
    return (None if rest else python_kind(value)) or type(value, *rest)


def hasattr_(value: Any, name: str) -> bool:
    """``hasattr(value, name)``; a scalar may be a number of Python's or of NumPy's, and these must agree."""
    kinds = kinds_of(value)
    if not kinds:
        return hasattr(value, name)
    found = {hasattr(kind, name) for kind in kinds}
    if len(found) > 1:
        raise errors.TypeMismatchError(
            f"Whether this has `{name}` depends on whether it is an int, a float, or a number of NumPy's.",
            help="ask for what it is, isinstance(x, (int, float)), or whether it has axes: np.ndim(x) > 0.",
            kind="symbolic-attribute",
        )
    return found.pop()


def kinds_of(value: Any) -> tuple[type, ...]:
    """The classes that a member's value may be of; none for what is as it is in Python."""
    if isinstance(value, MemberList):
        return (list,)
    if isinstance(value, WeakScalar):
        return (int, float) if value.kind is float else (value.kind,)
    if not is_tensor(value):
        return ()
    python = python_kind(value)
    return (np.ndarray,) if python is None else (python, value.dtype.as_numpy_dtype)


def getattr_(value: Any, name: str, *default: Any) -> Any:
    """``getattr(value, name, default)``"""
    if default and not hasattr_(value, name):
        return default[0]
    return attribute(value, name) if name in ATTRIBUTES else getattr(value, name)


def dispatched(function: Any) -> Callable:
    """A function of ``functools.singledispatch``, which asks for the class of its first argument."""

    def call(first: Any, *args: Any, **options: Any) -> Any:
        is_array = is_tensor(first) and first.shape.rank
        return function.dispatch(np.ndarray if is_array else type_(first))(first, *args, **options)

    return call
