"""Texts of what differs between members: of texts one of several; of numbers refused, but printed."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import tensorflow as tf

from autobatch import context, errors
from autobatch.language.each_of import each
from autobatch.language.one_of import OneOf, at
from autobatch.language.values import WeakScalar, per_member, python_kind, text_of_members


def text(template: str, *values: Any) -> str:
    """``template.format(*values)``"""
    for k, value in enumerate(values):
        if isinstance(value, OneOf):
            return each(lambda option, k=k: text(template, *values[:k], option, *values[k + 1 :]), value)
    _no_members(values)
    return template.format(*values)


def _no_members(values: Any) -> None:
    parts = [value.args if isinstance(value, BaseException) else value for value in tf.nest.flatten(values)]
    if any(map(per_member, tf.nest.flatten(parts))):
        raise text_of_members()


def _to_text(python: Callable) -> Callable:
    def convert(*args: Any) -> Any:
        if len(args) == 1 and isinstance(args[0], OneOf):
            return each(python, args[0])
        _no_members(args)
        return python(*args)

    return convert


def print_(text: str, *values: Any) -> None:
    """Prints ``text.format(*values)``."""
    context.remark(context.Remark(text, values))


def mod(left: Any, right: Any) -> Any:
    """``left % right``, which may be a text."""
    if isinstance(left, str) and isinstance(right, OneOf):
        return each(lambda option: left % option, right)
    if isinstance(left, str):
        _no_members(right)
    return left % right


def chr_(value: Any) -> Any:
    """``chr(value)``; a member fails whose number is beyond the letters of Latin-1."""
    if not per_member(value):
        return each(chr, value)
    if python_kind(value) is not int:
        raise TypeError("an integer is required by chr()")
    code = tf.cast(value.tensor if isinstance(value, WeakScalar) else value, tf.int64)
    context.check(code >= 0, errors.raised_by_members(ValueError), "chr() of a number below zero")
    context.check(code < len(_LETTERS), errors.NumberRangeError, "chr() of a member's number goes up to 255")
    return at(_LETTERS, tf.clip_by_value(code, 0, len(_LETTERS) - 1))


_LETTERS = [*map(chr, range(256))]


def ord_(value: Any) -> Any:
    """``ord(value)``"""
    return each(ord, value)


str_, repr_, format_ = map(_to_text, (str, repr, format))
bin_, oct_, hex_ = map(_to_text, (bin, oct, hex))
