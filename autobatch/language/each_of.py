"""What is done with one of several known values is done with each of them, and the member's is chosen."""

from __future__ import annotations

import enum
import functools
import operator
from collections.abc import Callable
from typing import Any

import tensorflow as tf

from autobatch import context, errors
from autobatch.language.choices import ifexp, limited_where
from autobatch.language.keys import key
from autobatch.language.one_of import Known, OneOf, are_apart, at, described, looked_up
from autobatch.language.raising import raise_
from autobatch.language.values import WIDE_DTYPES, WeakScalar, fits, is_near, per_member

_RAISED = (ArithmeticError, AttributeError, LookupError, TypeError, ValueError)  # of some values, and not of others


def each(function: Callable[[Any], Any], value: Any) -> Any:
    """``function(value)``; where it raises for some of what the value may be, the members fail that have these."""
    if not isinstance(value, OneOf):
        return function(value)
    number, made, failed = value.number.tensor, dict[int, Any](), dict[int, Exception]()
    for k, option in enumerate(value.options):
        try:
            made[k] = limited_where(functools.partial(tf.equal, number, k), functools.partial(function, option))
        except _RAISED as error:
            if isinstance(error, errors.AutobatchError):
                raise
            failed[k] = error
    if not made:
        raise failed[0]
    for k, error in failed.items():
        told = functools.partial(raise_, type(error), "{}", functools.partial(tuple, [str(error)]))
        limited_where(functools.partial(tf.equal, number, k), told)
    anything = next(iter(made.values()))
    return _of_number([made.get(k, anything) for k in range(len(value.options))], number)


def member_of(cls: type[enum.Enum]) -> Callable[..., Any]:
    """``cls`` called: the member that has a value."""

    def call(value: Any, *rest: Any, **options: Any) -> Any:
        if isinstance(value, OneOf):
            return each(cls, value)
        if not per_member(value):
            return cls(value, *rest, **options)
        members = [member for member in cls if isinstance(member.value, bool | int | float)]
        found = tf.stack([tf.convert_to_tensor(value == member.value) for member in members] or [tf.constant(False)])
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
        if all(isinstance(each, Known) for each in values):
            return at(values, number)
    found = values[-1]
    for k in reversed(range(len(values) - 1)):
        found = ifexp(tf.equal(number, k), lambda k=k: values[k], lambda found=found: found)
    return found


def _attribute(self: OneOf, name: str) -> Any:
    """``value.name``, which may be a method."""
    if name.startswith("__") or not self.is_value:
        raise AttributeError(name)
    if all(callable(getattr(option, name, None)) for option in self.options):
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
