"""What the parts of a state are called."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import tensorflow as tf


def named_parts(state: Any) -> dict[str, Any]:
    """The tensors of a nest by name: a dictionary's keys, a namedtuple's fields, else x, or x0, x1, ..."""
    if not tf.nest.is_nested(state):
        return {"x": state}
    if isinstance(state, Mapping):
        children = dict(state)
    elif hasattr(state, "_fields"):
        children = {name: getattr(state, name) for name in state._fields}
    else:
        children = {f"x{k}": part for k, part in enumerate(state)}
    found = {}
    for name, child in children.items():
        if tf.nest.is_nested(child):
            found |= {f"{name}.{inner}": part for inner, part in named_parts(child).items()}
        else:
            found[str(name)] = child
    return found
