"""Whose method Python asks first for ``a + b`` and ``a < b``: the right side's, if its class is below the left side's.

https://docs.python.org/3/reference/datamodel.html#emulating-numeric-types, the note on ``__radd__``.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from autobatch.language.containers import MemberObject

_ARITHMETIC = ("add", "sub", "mul", "truediv", "floordiv", "mod", "divmod", "pow", "matmul", "and", "or", "xor",
    "lshift", "rshift")  # fmt: skip
_COMPARISONS = {"__lt__": "__gt__", "__le__": "__ge__", "__eq__": "__eq__", "__ne__": "__ne__", "__gt__": "__lt__",
    "__ge__": "__le__"}  # fmt: skip
REFLECTED = {**{f"__{name}__": f"__r{name}__" for name in _ARITHMETIC}, **_COMPARISONS}  # by the left side's method


def class_of(value: Any) -> type:
    """The class that the user wrote, of a member's object too."""
    return type(value).__mro__[1] if isinstance(value, MemberObject) else type(value)


def is_asked_first(right: type, left: type, operator: str) -> bool:
    """Whether the right side's class is asked before the left side's, whose method this is."""
    name = REFLECTED.get(operator)
    if name is None or right is left or not issubclass(right, left):
        return False
    method = getattr(right, name, None)
    return method is not None and (name in _COMPARISONS or method is not getattr(left, name, None))


def left_first(left: Any, right: Any, operator: str) -> bool:
    """Whether a member's object on the left is asked, and before what is on the right."""
    if not isinstance(left, MemberObject):
        return False
    ours, theirs = class_of(left), class_of(right)
    only_right = not hasattr(ours, operator) and hasattr(theirs, REFLECTED[operator])
    return not only_right and not is_asked_first(theirs, ours, operator)


def in_order(operator: str, method: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    """The left side's method, after the right side's where Python has it so: of members' objects it does not know."""

    @functools.wraps(method, assigned=("__name__", "__doc__"), updated=())
    def ask(self: Any, other: Any) -> Any:
        if is_asked_first(class_of(other), class_of(self), operator):
            found = getattr(other, REFLECTED[operator])(self)
            if found is not NotImplemented:
                return found
        return method(self, other)

    return ask
