"""Functions and classes that members choose between: each that it may be is called, and the member's result chosen."""

from __future__ import annotations

import dis
import enum
import functools
import inspect
from collections.abc import Callable, Iterable, Mapping, Sequence
from types import CodeType, FunctionType
from typing import Any

import tensorflow as tf

from autobatch import errors
from autobatch.context import is_users
from autobatch.language.asking import lead_to_asking
from autobatch.language.containers import contents
from autobatch.language.each_of import each, member_of
from autobatch.language.mathematics import STAND_INS
from autobatch.language.numpy import is_numpy, numpy_
from autobatch.language.objects import ABSENT, has_methods, member_class
from autobatch.language.one_of import OneOf, is_function, is_known, looked_up, options_of
from autobatch.language.values import WeakScalar


def install(builtins: Mapping[Callable, Callable]) -> None:
    """Has members call what they chose; ``builtins``: what they call in place of Python's own functions."""

    def called(option: Any) -> Callable:
        if not is_function(option):
            return option
        if isinstance(option, enum.EnumMeta):
            return member_of(option)  # type: ignore[arg-type]
        if has_methods(option):
            return member_class(option)
        if is_numpy(option):
            return numpy_(option)
        found: Any = builtins.get(option, STAND_INS.get(option))
        return option if found is None else found

    def call(self: OneOf, *args: Any, **options: Any) -> Any:
        reached = [*self.options, *args, *options.values()]
        before = contents(reached)

        def by(option: Any) -> Any:
            made = called(option)(*args, **options)
            if contents(reached) != before:
                raise _not_all("changes in place what it is given")
            return made

        def fails(option: Any, error: Exception) -> bool:
            return isinstance(error, TypeError) and not takes(option, len(args), options)

        try:
            _check(self.options, [*args, *options.values()])
            try:
                return each(by, self, fails)
            except (errors.AutobatchError, tf.errors.OperatorNotAllowedInGraphError):
                raise
            except Exception as error:  # which is not for those who have another
                raise _not_all(f"raises {type(error).__name__}") from error
        except Exception as error:  # they may be called one by one
            if all(map(is_function, self.options)) and all(map(is_known, self.options)):
                error.options = getattr(error, "options", ()) or self.options  # type: ignore[attr-defined]
            raise

    OneOf.__call__ = call  # type: ignore[attr-defined]


def takes(function: Any, count: int, names: Iterable[str]) -> bool:
    """Whether a function takes so many arguments, and others by these names."""
    try:
        inspect.signature(function).bind(*(None,) * count, **dict.fromkeys(names))
    except TypeError:
        return False
    except ValueError:  # it does not say what it takes
        return True
    return True


def _check(functions: Sequence[Any], given: Sequence[Any]) -> None:
    """Refuses what cannot be called once for each that members may have."""
    if any(hasattr(leaf, "__next__") for value in given for leaf in _leaves(value)):
        raise _not_all("is given an iterator, which is used up")
    if lead_to_asking(functions):
        raise _not_all("asks what a value is (by isinstance, type, is or the like)")
    for function in functions:
        if isinstance(function, FunctionType) and is_users(function.__code__) and _assigns_globals(function.__code__):
            raise _not_all("assigns a global variable")


def _leaves(value: Any) -> Sequence[Any]:
    try:
        return tf.nest.flatten(value)
    except TypeError:  # a dict of keys that have no order
        return [value]


def _not_all(why: str) -> errors.UnsupportedSyntaxError:
    return errors.UnsupportedSyntaxError(
        f"Of the functions that members choose here, which are all called, one {why}.",
        help="tell the cases apart by if and elif.",
        kind="chosen-function",
    )


@functools.cache
def _assigns_globals(code: CodeType) -> bool:
    return any(each.opname in ("STORE_GLOBAL", "DELETE_GLOBAL") for each in dis.get_instructions(code))


def others(function: Any, *known: Any) -> Any:
    """What members call who have none of the known functions; where there are none, what returns anything."""
    rest = [option for option in options_of(function) if all(option is not each for each in known)]
    if not rest:
        return lambda *_, **__: ABSENT
    if not isinstance(function, OneOf):
        return function
    table = [rest.index(option) if option in rest else 0 for option in function.options]
    return OneOf((*rest,), WeakScalar(looked_up(table, tf.int64, function.number.tensor), int, near=True))
