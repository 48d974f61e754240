"""Python's own dicts, of keys that all members share, asked for a member's own key."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import tensorflow as tf

from autobatch import context, errors
from autobatch.language import list_methods
from autobatch.language.choices import ifexp
from autobatch.language.each_of import each_key
from autobatch.language.one_of import OneOf
from autobatch.language.values import WeakScalar, python_kind


def position_of(value: Any, key: Any) -> WeakScalar:
    """Where among its keys, which are ints, a dict has each member's own."""
    if type(value) is not dict or {*map(type, value)} != {int} or python_kind(key) is not int:
        what = "dict whose keys are no ints" if type(value) is dict and value else type(value).__name__
        raise errors.TypeMismatchError(
            f"A {what} cannot be asked for a key that differs between members.",
            help="use if and elif, or a list that is indexed by an int.",
            kind="dict-key-of-member",
        )
    wanted = tf.cast(key.tensor if isinstance(key, WeakScalar) else key, tf.int64)
    is_there = tf.equal(tf.constant([*value], tf.int64), wanted)
    context.check(tf.reduce_any(is_there), errors.raised_by_members(KeyError), "a dict has no such key")
    return WeakScalar(tf.argmax(is_there), int)


def get(value: Any, key: Any, *default: Any) -> Any:
    """``value.get(key, default)``"""
    if not isinstance(value, Mapping):
        return value.get(key, *default)
    missing = [option for option in key.options if option not in value] if isinstance(key, OneOf) else []
    if missing and not default and len(missing) < len(key.options):
        raise errors.TypeMismatchError(
            f"This is None for some members: there is no key {missing[0]!r}.",
            help="say what it is then: table.get(x, -1).",
            kind="get-without-default",
        )
    return each_key(lambda option: value.get(option, *default), key)


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
