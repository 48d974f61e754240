"""``table.get(key, default)``, of members' own keys."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import tensorflow as tf

from autobatch import errors
from autobatch.language.dicts import found_in
from autobatch.language.each_of import each_key
from autobatch.language.indexing import chosen
from autobatch.language.one_of import OneOf
from autobatch.language.values import WeakScalar, per_member


def get(value: Any, key: Any, *default: Any) -> Any:
    """``value.get(key, default)``"""
    if not isinstance(value, Mapping):
        return value.get(key, *default)
    missing = [option for option in key.options if option not in value] if isinstance(key, OneOf) else []
    if missing and not default and len(missing) < len(key.options):
        raise _is_none(f"there is no key {missing[0]!r}")
    return each_key(lambda option: _got(value, option, *default), key)


def _got(value: Mapping, key: Any, *default: Any) -> Any:
    if not any(map(per_member, tf.nest.flatten(key))) or not value or type(value).get is not dict.get:
        return value.get(key, *default)
    if not default:
        raise _is_none("it need not have a member's key")
    is_there = found_in(value, key)
    position = tf.where(tf.reduce_any(is_there), tf.argmax(is_there), len(value))
    return chosen([*value.values(), *default], WeakScalar(position, int))


def _is_none(why: str) -> errors.TypeMismatchError:
    return errors.TypeMismatchError(
        f"What this dict gives may be None for some members: {why}.",
        help="say what it is then: table.get(x, -1).",
        kind="get-without-default",
    )
