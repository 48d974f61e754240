"""A digest of what a program does and reads from outside, by which ``runs.load`` knows who saved a run."""

from __future__ import annotations

import hashlib
import types
from collections.abc import Iterable
from typing import Any

import numpy as np

from autobatch.frontend.watch import Watched
from autobatch.ir.stored import StoredProgram
from autobatch.ir.types import Leaf, Static, leaves
from autobatch.language.values import is_tensor


def fingerprint(stored: StoredProgram, watched: Iterable[Watched]) -> str:
    """Of a program, as it is laid out, and of the globals, closures and helper functions that it reads."""
    return _digest((*_layout(stored), of_watched(watched)))


def of_layout(stored: StoredProgram) -> str:
    """Of its operations, and where its variables live."""
    return _digest(_layout(stored))


def _layout(stored: StoredProgram) -> list[str]:
    kinds = ((name, *map(_kind, leaves(type_))) for name, type_ in sorted(stored.types.items()))
    return list(map(str, (stored.program, *kinds, sorted(stored.registers.items()), sorted(stored.stacked))))


def of_watched(watched: Iterable[Watched]) -> str:
    """Of what is read from outside."""
    return _digest(sorted(_digest((str(one.name), *map(_content, one.parts))) for one in watched))


def _kind(leaf: Leaf) -> str:
    return _content(leaf.value) if isinstance(leaf, Static) else str(leaf)


def _content(part: Any) -> str:
    """What of a value does not depend on the process."""
    if isinstance(part, bool | int | float | complex | str | bytes | None):
        return repr(part)
    if isinstance(part, types.CodeType):
        return _code(part)
    if is_tensor(part) or isinstance(part, np.ndarray):
        array = np.asarray(part)
        return f"{array.dtype} {array.shape} {hashlib.sha256(array.tobytes()).hexdigest()}"
    return type(part).__qualname__


def _code(code: types.CodeType) -> str:
    constants = [_code(c) if isinstance(c, types.CodeType) else _constant(c) for c in code.co_consts]
    return _digest((code.co_code.hex(), *code.co_names, *constants))


def _constant(value: Any) -> str:
    return repr(sorted(map(repr, value))) if isinstance(value, frozenset) else repr(value)


def _digest(parts: Iterable[str]) -> str:
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()
