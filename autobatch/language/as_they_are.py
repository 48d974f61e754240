"""What stands for members' values, as functions of the user's see it that run as they are: no text, no odd attribute.

What TensorFlow shows to developers is not what Python would write of a member's value.
"""

from __future__ import annotations

import functools
import os
import sys
from typing import Any

import tensorflow as tf

from autobatch import context, errors
from autobatch.language.lists import MemberList
from autobatch.language.values import WeakScalar, text_of_members

_TEXTS = os.path.join(os.path.dirname(__file__), "texts.py")  # which makes those that programs ask for
_LIBRARY = os.path.dirname(os.__file__)
_FOR_DEVELOPERS = tuple(os.path.join(_LIBRARY, name) for name in ("logging", "site-packages", "traceback", "warnings"))


def _is_for_user() -> bool:
    """Whether a function of the user's asks for what is about to be told."""
    if context.mode() is not context.Mode.TRACING:
        return False
    frame = sys._getframe(2)
    while frame is not None and is_of_python(frame.f_code.co_filename):  # a dataclass's repr, pprint, string.Template
        frame = frame.f_back  # type: ignore[assignment]
    return frame is not None and (frame.f_code.co_filename == _TEXTS or context.is_users(frame.f_code))


@functools.cache
def is_of_python(file: str) -> bool:
    """Whether Python's library has it, or made it, but for what tells developers."""
    return file.startswith("<") or (file.startswith(_LIBRARY) and not file.startswith(_FOR_DEVELOPERS))


def _refuse_text(kind: type, name: str) -> None:
    theirs = getattr(kind, name)

    def show(self: Any) -> str:
        if _is_for_user():
            context.risk()
            raise text_of_members()
        return theirs(self)

    setattr(kind, name, show)


def _refuse_attributes(kind: type) -> None:
    """Those that it has not, where ``getattr(x, name, other)`` would take the other."""
    theirs = getattr(kind, "__getattr__", object.__getattribute__)

    def find(self: Any, name: str) -> Any:
        if not name.startswith("__") and _is_for_user():
            context.risk()
            raise errors.TypeMismatchError(
                f"A {'number' if kind is WeakScalar else 'tensor'} that differs between members has no `{name}` while "
                "the program is lowered.",
                help="its value is not known then; f.unbatched runs one member in plain Python.",
                kind="symbolic-attribute",
            )
        return theirs(self, name)

    kind.__getattr__ = find  # type: ignore[attr-defined]


def install() -> None:
    """Has them refuse both."""
    for kind in (tf.Tensor, WeakScalar, MemberList):
        for name in ("__str__", "__repr__"):
            _refuse_text(kind, name)
    for kind in (tf.Tensor, WeakScalar):
        _refuse_attributes(kind)
