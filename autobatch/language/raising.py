"""What members raise, and what their exceptions hold where some clause reads it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any, NoReturn

from autobatch import context, errors
from autobatch.language.choices import either, truth
from autobatch.language.objects import ABSENT, member_class, not_kept

OF_VALUES = (ArithmeticError, LookupError, ValueError, AssertionError)  # what Python raises of what values are


def assert_(condition: Any, source: str, text: str, values: Callable[[], tuple] = tuple) -> None:
    """``assert condition, text.format(*values())``"""
    passed = truth(condition)
    shown = _shown(values, passed)
    context.check(passed, errors.MemberAssertionError, f"`assert {source}` failed", text, shown)


def raise_(kind: type[Exception], text: str, values: Callable[[], tuple]) -> None:
    """``raise kind(text.format(*values()))``: the members that get here fail."""
    shown = _shown(values, False)
    context.check(False, errors.raised_by_members(kind), kind.__name__, text, shown)


def _shown(values: Callable[[], tuple], unless: Any) -> tuple:
    """The values, which Python computes first; what they raise it raises, but not what is a limit of ours."""
    shown: tuple = ()
    with context.collected_remarks() as made:
        try:
            shown = values()
        except Exception as error:
            of_none = isinstance(error, TypeError) and "'NoneType'" in str(error)
            of_values = isinstance(error, OF_VALUES) and not isinstance(error, errors.AutobatchError)
            if not (of_values or of_none or is_of_users_class(error)):
                raise
            context.check(False, errors.raised_by_members(type(error)), type(error).__name__, "{}", (str(error),))
    for remark in made:
        if remark.error is None or errors.is_of(remark.error, (Exception,)):
            context.remark(replace(remark, passed=either(unless, lambda remark=remark: remark.passed)))
    return shown


def is_of_users_class(error: Exception) -> bool:
    return type(error).__module__.partition(".")[0] not in ("builtins", "tensorflow", "numpy", "autobatch")


def raise_untold() -> None:
    """For members that read what an exception holds that no ``raise`` made."""
    context.check(False, errors.UntoldExceptionError, "what this exception holds is not kept")


def held(kind: type[Exception], *args: Any) -> Any:
    """An exception that holds these."""
    made: Any = kind.__new__(member_class(kind))  # type: ignore[call-overload]
    object.__setattr__(made, "args", args)
    return made


def absent() -> Any:
    """What stands for an exception where none is raised."""
    return ABSENT


class _Untold:
    """A text in an exception, which is not kept."""

    __autobatch_static__ = True

    def said(self, *_: Any) -> NoReturn:
        raise not_kept("text")

    __eq__ = __ne__ = __lt__ = __str__ = __format__ = __bool__ = __len__ = __iter__ = __add__ = __radd__ = said  # type: ignore[assignment]
    __getitem__ = __contains__ = __mod__ = __float__ = __int__ = __index__ = said

    def __hash__(self) -> int:
        return id(self)

    def __getattr__(self, name: str) -> NoReturn:
        if name.startswith("__"):
            raise AttributeError(name)
        self.said()


UNTOLD = _Untold()


def untold() -> Any:
    """What stands for a text in an exception."""
    return UNTOLD
