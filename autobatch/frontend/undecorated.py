"""Functions that an autobatched one calls, and that turn out to need autobatching too, decorated or not.

Straight-line helpers run as they are while a program is traced. One that branches on what differs between members,
calls Python's own functions of numbers with it, or catches what fails for a member, cannot; the program is lowered
again, with it as a function of its own.
"""

from __future__ import annotations

import functools
import inspect
import types
from collections.abc import Callable, Collection, Iterable, Iterator
from typing import Any

from autobatch.context import is_users
from autobatch.frontend.core import Callee, Core
from autobatch.frontend.syntax import names

CalleeOf = Callable[[Any], Callee | None]


def with_helpers(callee_of: CalleeOf, helpers: Collection[types.CodeType]) -> CalleeOf:
    """As ``callee_of``, which also takes functions and methods of such code for autobatched."""

    def found(value: Any) -> Callee | None:
        helper = as_program(value)
        return helper if helper is not None and helper.function.__code__ in helpers else callee_of(value)

    return found if helpers else callee_of


def as_program(value: Any) -> Callee | None:
    """An undecorated function or method of the user's as an autobatched one, if it can be."""
    if isinstance(value, functools._lru_cache_wrapper):
        value = value.__wrapped__
    function = getattr(value, "__func__", value)
    if not isinstance(function, types.FunctionType) or not is_users(function.__code__):
        return None
    if function.__code__.co_flags & (inspect.CO_VARARGS | inspect.CO_VARKEYWORDS):
        return None
    receiver = (value.__self__,) if function is not value else ()
    return Callee("autobatched", function, receiver=receiver, undecorated=True)


def cached(cores: Iterable[Core]) -> Iterator[types.CodeType]:
    """The functions under ``lru_cache`` that programs read, which cannot take what differs between members."""
    for core in cores:
        for name in names(core.source.tree.body):
            value = core.source.lookup(name, None)
            if isinstance(value, functools._lru_cache_wrapper) and isinstance(value.__wrapped__, types.FunctionType):
                yield value.__wrapped__.__code__
