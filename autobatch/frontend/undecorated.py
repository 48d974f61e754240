"""Functions that an autobatched one calls, and that turn out to need autobatching too, decorated or not.

Straight-line helpers run as they are while a program is traced. One that branches on what differs between members,
calls Python's own functions of numbers with it, catches what fails for a member, or asks what a value is, cannot; the
program is lowered again, with it as a function of its own.
"""

from __future__ import annotations

import dis
import functools
import inspect
import types
from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import replace
from typing import Any

from autobatch import context
from autobatch.frontend.core import Callee, Core
from autobatch.frontend.dictionary import as_method
from autobatch.frontend.syntax import names

CalleeOf = Callable[[Any], Callee | None]


def with_helpers(callee_of: CalleeOf, helpers: Collection[types.CodeType], modes: Collection[str] = ()) -> CalleeOf:
    """As ``callee_of``, for which functions and methods of such code are autobatched too; modes: as for ``lower``."""
    all_with_dicts = "dicts_as_objects" in modes

    def is_one(helper: Callee) -> bool:
        code = helper.function.__code__
        return not helper.undecorated or code in helpers or (all_with_dicts and _makes_dicts(code))

    def found(value: Any) -> Callee | None:
        helper = as_program(value)
        return helper if helper is not None and is_one(helper) else callee_of(value)

    return found if helpers or all_with_dicts else callee_of


@functools.lru_cache(maxsize=1024)
def _makes_dicts(code: types.CodeType) -> bool:
    return any(each.opname in ("BUILD_MAP", "BUILD_CONST_KEY_MAP") for each in dis.get_instructions(code))


def as_program(value: Any) -> Callee | None:
    """A function or method of the user's that is not decorated, or one of a ``Dict``, as an autobatched function.

    Also an object that can be called.
    """
    receiver: tuple[Any, ...] = ()
    while not isinstance(value, types.FunctionType):
        value, first = _called(value)
        receiver = (*first, *receiver)
        if value is None:
            return None
    if (method := as_method(value)) is not None:
        return replace(method, receiver=receiver)
    if not context.is_users(value.__code__):
        return None
    if value.__name__ == "<lambda>":
        kept, given = value, (value.__defaults__, value.__kwdefaults__)
        value = context.remembered((as_program, kept), lambda: _remade(kept, "lambda_", *given))
    return Callee("autobatched", value, receiver=receiver, undecorated=True)


def _called(value: Any) -> tuple[Any, tuple[Any, ...]]:
    """What is run where this is called, and what it gets first; None if that is no function of Python's."""
    match value:
        case functools._lru_cache_wrapper():
            return value.__wrapped__, ()
        case functools.partial():
            return context.remembered((functools.partial, value), lambda: _with_defaults(value)), value.args
        case types.MethodType():
            return value.__func__, (value.__self__,)
    method = inspect.getattr_static(type(value), "__call__", None)
    return (method, (value,)) if isinstance(method, types.FunctionType) else (None, ())


def _remade(
    function: types.FunctionType, name: str, defaults: tuple[Any, ...] | None, by_name: dict[str, Any] | None
) -> types.FunctionType:
    """The function under another name, or with other defaults."""
    made = types.FunctionType(function.__code__, function.__globals__, name, defaults, function.__closure__)
    made.__kwdefaults__, made.__qualname__ = by_name, function.__qualname__
    return made


def _with_defaults(value: functools.partial) -> Any:
    """The function, of which a partial's keywords are defaults; None where it would not have these."""
    function, named = value.func, dict(value.keywords)
    if not named:
        return function
    if not isinstance(function, types.FunctionType):
        return None
    code, old = function.__code__, function.__defaults__ or ()
    names = code.co_varnames[: code.co_argcount]
    alone = code.co_varnames[code.co_argcount : code.co_argcount + code.co_kwonlyargcount]
    given = dict(zip(names[len(names) - len(old) :], old, strict=True)) | named
    defaults = {name: given[name] for name in names if name in given}
    if names[len(names) - len(defaults) :] != (*defaults,) or not {*named} <= {*names, *alone}:
        return None
    by_name = (function.__kwdefaults__ or {}) | named
    by_name = {name: by_name[name] for name in alone if name in by_name}
    return _remade(function, function.__name__, (*defaults.values(),), by_name)


def cached(cores: Iterable[Core]) -> Iterator[types.CodeType]:
    """The functions under ``lru_cache`` that programs read, which cannot take what differs between members."""
    for core in cores:
        for name in names(core.source.tree.body):
            value = core.source.lookup(name, None)
            if isinstance(value, functools._lru_cache_wrapper) and isinstance(value.__wrapped__, types.FunctionType):
                yield value.__wrapped__.__code__
