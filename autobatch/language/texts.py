"""Texts of what differs between members: of texts one of several; of numbers refused, but printed."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import tensorflow as tf

from autobatch import context
from autobatch.language.each_of import each
from autobatch.language.one_of import OneOf
from autobatch.language.values import per_member, text_of_members


def text(template: str, *values: Any) -> str:
    """``template.format(*values)``"""
    for k, value in enumerate(values):
        if isinstance(value, OneOf):
            return each(lambda option, k=k: text(template, *values[:k], option, *values[k + 1 :]), value)
    _no_members(values)
    return template.format(*values)


def _no_members(values: Any) -> None:
    if any(map(per_member, tf.nest.flatten(values))):
        raise text_of_members()


def _to_text(python: Callable) -> Callable:
    def convert(*args: Any) -> Any:
        if isinstance(args[0] if len(args) == 1 else None, OneOf):
            return each(python, *args)
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


def ord_(value: Any) -> Any:
    """``ord(value)``"""
    return each(ord, value)


str_, repr_, format_, chr_ = map(_to_text, (str, repr, format, chr))
bin_, oct_, hex_ = map(_to_text, (bin, oct, hex))
