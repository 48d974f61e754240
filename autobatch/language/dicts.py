"""Python's own dicts, of keys that all members share, asked for a member's own key."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

import numpy as np
import tensorflow as tf

from autobatch import context, errors
from autobatch.language import list_methods
from autobatch.language.choices import ifexp
from autobatch.language.one_of import OneOf
from autobatch.language.values import WeakScalar, per_member, python_kind


def position_of(value: Any, key: Any) -> WeakScalar:
    """Where among its keys a dict has each member's own."""
    if type(value).__getitem__ is not dict.__getitem__ or hasattr(type(value), "__missing__"):
        raise _no_key(value)
    is_there = found_in(value, key)
    context.check(tf.reduce_any(is_there), errors.raised_by_members(KeyError), "a dict has no such key")
    return WeakScalar(tf.argmax(is_there), int)


def found_in(value: Collection, key: Any) -> tf.Tensor:
    """[number of keys or items], of each whether it is the member's own, which is a number, or a tuple of some."""
    if not value or any(isinstance(known, float) and known != known for known in value):
        raise _no_key(value)
    return _are(value, [*value], key)


def _are(value: Collection, known: Sequence[Any], key: Any) -> tf.Tensor:
    """[number of known keys or parts of them], of each whether it is the member's own."""
    if isinstance(key, tuple):
        fits = [isinstance(each, tuple) and len(each) == len(key) for each in known]
        found = tf.constant(fits)
        for k, part in enumerate(key):
            column = [each[k] if fit else None for each, fit in zip(known, fits, strict=True)]
            found &= _are(value, column, part)
        return found
    if not per_member(key):
        return tf.constant([each == key for each in known])
    kind = python_kind(key)
    if kind is None:
        raise _no_key(value)
    dtype = tf.float64 if kind is float else tf.int64
    numbers = [_as(each, dtype) for each in known]
    own = tf.cast(key.tensor if isinstance(key, WeakScalar) else key, dtype)
    column = tf.constant([0 if number is None else number for number in numbers], dtype)
    return tf.constant([number is not None for number in numbers]) & tf.equal(column, own)


def _as(known: Any, dtype: tf.DType) -> int | float | None:
    """The number of this dtype that a known key is equal to, if it is to any."""
    if not isinstance(known, int | float | np.integer | np.floating | np.bool_):
        if isinstance(known, str | bytes | tuple | frozenset | None) or type(known).__eq__ is object.__eq__:
            return None
        raise _no_key({known: None})
    try:
        number = float(known) if dtype.is_floating else int(known)
    except (OverflowError, ValueError):  # infinite
        return None
    return number if number == known and (dtype.is_floating or dtype.min <= number <= dtype.max) else None


def _no_key(value: Any) -> errors.TypeMismatchError:
    return errors.TypeMismatchError(
        f"This {type(value).__name__} is asked for a key that differs between members, and cannot be.",
        help="use a dict with numbers, texts, or tuples of these as keys; or if and elif.",
        kind="dict-key-of-member",
    )


def put(value: dict, key: OneOf, item: Any) -> dict:
    """``value`` after ``value[key] = item``, where it has all the keys that this may be."""
    missing = [option for option in key.options if option not in value]
    if missing:
        raise errors.TypeMismatchError(
            f"The key {missing[0]!r} is put into a dict for some members and not for others.",
            help="give it a value for all members before: {'a': 0, 'b': 0}.",
            kind="key-of-some-members",
        )
    value = list_methods.owned(value)
    for k, option in enumerate(key.options):
        value[option] = ifexp(tf.equal(key.number.tensor, k), lambda: item, lambda option=option: value[option])
    return value
