"""What is done with one of several known values is done with each of them, and the member's is chosen."""

from __future__ import annotations

import enum
import functools
import inspect
import itertools
import math
import operator
from collections.abc import Callable, Sequence
from typing import Any

import tensorflow as tf

from autobatch import context, errors
from autobatch.language.choices import ifexp, limited_where
from autobatch.language.containers import contents
from autobatch.language.keys import key
from autobatch.language.one_of import Known, OneOf, are_apart, at, described, is_any, is_function, looked_up
from autobatch.language.raising import raise_
from autobatch.language.values import WIDE_DTYPES, WeakScalar, fits, is_near, per_member, python_kind

_RAISED = (ArithmeticError, AttributeError, LookupError, TypeError, ValueError)


def _is_of_value(option: Any, error: Exception) -> bool:
    """Whether it is raised of some values, and not of what stands for members' values while a program is lowered."""
    if isinstance(error, errors.AutobatchError | tf.errors.OperatorNotAllowedInGraphError):
        return False
    is_of_tracing = isinstance(error, TypeError) and any(name in str(error) for name in ("Tensor", "WeakScalar"))
    return isinstance(error, _RAISED) and not is_of_tracing


def each(function: Callable[[Any], Any], value: Any, fails: Callable[[Any, Exception], bool] = _is_of_value) -> Any:
    """``function(value)``; where it raises what ``fails`` for some of what the value may be, who has that fails."""
    if not isinstance(value, OneOf):
        return function(value)
    number, made, failed = value.number.tensor, dict[int, Any](), dict[int, Exception]()
    for k, option in enumerate(value.options):
        try:
            made[k] = limited_where(functools.partial(tf.equal, number, k), functools.partial(function, option))
        except Exception as error:
            if not fails(option, error):
                raise
            failed[k] = error
    if not made:
        raise failed[0]
    for k, error in failed.items():
        told = functools.partial(raise_, type(error), "{}", functools.partial(tuple, [str(error)]))
        limited_where(functools.partial(tf.equal, number, k), told)
    anything = next(iter(made.values()))
    return _of_number([made.get(k, anything) for k in range(len(value.options))], number)


def each_key(function: Callable[[Any], Any], key: Any) -> Any:
    """``function(key)``, of a key that may be a tuple with some that are one of several."""
    for k, part in enumerate(key if isinstance(key, tuple) else ()):
        if isinstance(part, OneOf):
            return each(lambda option, k=k: each_key(function, (*key[:k], option, *key[k + 1 :])), part)
    return each(function, key)


def called(function: Callable[..., Any], inputs: Sequence[Any]) -> Any:
    """``function(*inputs)``; where it does not take one of several, as Python's own functions do not, done with each.

    Not where it has changed something in place, which it would do more than once.
    """
    several = [value for value in inputs if isinstance(value, OneOf)]
    ways = math.prod(len(value.options) for value in several)
    if not several or ways > MOST_WAYS or any(hasattr(value, "__next__") for value in inputs):
        return function(*inputs)
    before = [*map(contents, inputs)]
    try:
        return function(*inputs)
    except (errors.TypeMismatchError, TypeError, AttributeError) as error:  # another value might do
        if before != [*map(contents, inputs)]:
            raise

        def by(way: Sequence[Known]) -> Any:
            made = function(*_chosen(inputs, way))
            if before != [*map(contents, inputs)]:
                raise _ChangedError
            return made

        # What a chosen function raises here may be for what stands for members' values alone.
        is_chosen = any(is_function(option) for value in several for option in value.options)
        try:
            return each(by, _ways(several), (lambda *_: False) if is_chosen else _is_of_value)
        except Exception:
            raise error from error.__cause__


class _ChangedError(Exception):
    """It has changed something in place, and can be done once only."""


MOST_WAYS = 64  # in which several of them come together


def _ways(several: Sequence[OneOf]) -> OneOf:
    """All that these are together, as one of several tuples."""
    number = tf.zeros([], tf.int64)
    for value in several:
        number = number * len(value.options) + value.number.tensor
    ways: Any = itertools.product(*(value.options for value in several))
    return OneOf((*ways,), WeakScalar(number, int))


def _chosen(inputs: Sequence[Any], way: Sequence[Known]) -> list[Any]:
    options = iter(way)
    return [next(options) if isinstance(value, OneOf) else value for value in inputs]


def member_of(cls: type[enum.Enum]) -> Callable[..., Any]:
    """``cls`` called: the member that has a value."""

    def call(value: Any, *rest: Any, **options: Any) -> Any:
        if isinstance(value, OneOf):
            return each(cls, value)
        if not per_member(value):
            return cls(value, *rest, **options)
        if cls._missing_.__func__ is not enum.Enum._missing_.__func__:  # type: ignore[attr-defined]
            raise errors.TypeMismatchError(
                f"A member of `{cls.__name__}` is made of a number that differs between members.",
                help="tell the cases apart by if and elif; of a Flag, combine its members: f |= Access.READ.",
                kind="member-of-number",
            )
        members = [member for member in cls if isinstance(member.value, bool | int | float)]
        if python_kind(value) is None or not members:
            raise ValueError(f"this is not a valid {cls.__name__}")
        found = tf.stack([tf.convert_to_tensor(value == member.value) for member in members])
        failure = f"no {cls.__name__} has this value"
        context.check(tf.reduce_any(found), errors.raised_by_members(ValueError), failure)
        return at(members, tf.argmax(found))

    return call


def _of_number(values: list[Any], number: tf.Tensor) -> Any:
    """The value of this number."""
    first, kinds = values[0], {*map(type, values)}
    if not any(map(per_member, tf.nest.flatten(values))):
        if len({*map(key, values)}) == 1:
            return first
        if len(kinds) == 1 and type(first) in WIDE_DTYPES and all(fits(each, tf.int64) for each in values):
            kind = type(first)
            return WeakScalar(looked_up(values, WIDE_DTYPES[kind], number), kind, all(map(is_near, values)))
        if is_any(*values) and not any(isinstance(each, OneOf) for each in values):
            return at(values, number)
    found = values[-1]
    for k in reversed(range(len(values) - 1)):
        found = ifexp(tf.equal(number, k), lambda k=k: values[k], lambda found=found: found)
    return found


def _attribute(self: OneOf, name: str) -> Any:
    """``value.name``, which may be a method."""
    if (name.startswith("__") and name != "__name__") or not self.is_value:
        raise AttributeError(name)
    of_classes = [inspect.getattr_static(type(option), name, None) for option in self.options]
    if all(callable(found) or isinstance(found, classmethod | staticmethod) for found in of_classes):  # methods
        return lambda *args, **options: each(lambda option: getattr(option, name)(*args, **options), self)
    return each(operator.attrgetter(name), self)


def _item(self: OneOf, index: Any) -> Any:
    return each(lambda option: option[index], self)


def _compared(python: Callable) -> Callable:
    def compare(self: OneOf, other: Any) -> Any:
        if not self.is_value:  # of types
            return NotImplemented
        if isinstance(other, OneOf) and self.options == other.options and are_apart(self.options):
            return WeakScalar(python(self.number.tensor, other.number.tensor), bool)
        return each(lambda option: python(option, other), self)

    return compare


def _operator(python: Callable) -> Callable:
    return lambda self, other: each(lambda option: python(option, other), self)


def _reflected(python: Callable) -> Callable:
    return lambda self, other: each(lambda option: python(other, option), self)


def _unary(python: Callable) -> Callable:
    return lambda self: each(python, self)


def _hash(self: OneOf) -> int:
    if self.is_value:
        context.risk()
        raise errors.TypeMismatchError(
            f"A dict or a set of Python's is asked for what differs between members: {described(self)}.",
            help="in the decorated function itself, table[x] and `x in table` do that.",
            kind="hash-of-one-of-several",
        )
    return hash(self.options)


_BINARY = ("add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "lshift", "rshift", "and_", "or_", "xor")
for _name in ("eq", "ne"):
    setattr(OneOf, f"__{_name}__", _compared(getattr(operator, _name)))
for _name in ("lt", "le", "gt", "ge"):
    setattr(OneOf, f"__{_name}__", _operator(getattr(operator, _name)))
for _name in _BINARY:
    setattr(OneOf, f"__{_name.strip('_')}__", _operator(getattr(operator, _name)))
    setattr(OneOf, f"__r{_name.strip('_')}__", _reflected(getattr(operator, _name)))
for _name in ("neg", "pos", "abs", "invert"):
    setattr(OneOf, f"__{_name}__", _unary(getattr(operator, _name)))
OneOf.__getattr__, OneOf.__getitem__, OneOf.__hash__ = _attribute, _item, _hash  # type: ignore[attr-defined, method-assign]
