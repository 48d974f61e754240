"""A member's text, bytes, enum member or function: one of several that are known, held as its number among them.

``state = "idle"`` on one path and ``state = "busy"`` on another is such a value.  What is done with one is done with
each that it may be, and the member's is chosen (``each_of.py``).
"""

from __future__ import annotations

import dataclasses
import enum
import os
import sys
from collections.abc import Sequence
from types import BuiltinFunctionType, CellType, FunctionType, ModuleType
from typing import Any, NoReturn

import numpy as np
import tensorflow as tf

from autobatch import context, errors
from autobatch.language.values import WeakScalar, is_tensor

Known = Any  # a text, bytes, a member of an enum, a function or a class
_FUNCTIONS = type | np.ufunc | type(np.dot)
_TENSORFLOW = os.path.dirname(tf.__file__)
MOST = 256  # that one value may be one of


class NumberHere(WeakScalar):
    """Of one of several that are no longer there after a branch, a loop or a call: they hold what members have here."""


@dataclasses.dataclass(frozen=True, eq=False, repr=False)
class OneOf:
    """One of several values, and the type of it.

    Attributes:
      options: the values, each once, in an order that does not depend on how they came together.
      number: the member's among them, a Python int that differs between members.
    """

    options: tuple[Known, ...]
    number: Any

    def __tf_flatten__(self) -> tuple[tuple, tuple]:
        return (self.options,), (self.number,)

    @classmethod
    def __tf_unflatten__(cls, metadata: tuple, components: tuple) -> OneOf:
        return cls(*metadata, *components)

    def __post_init__(self) -> None:
        here = any(isinstance(option, FunctionType) and captures_members(option) for option in self.options)
        if here and isinstance(self.number, WeakScalar):
            object.__setattr__(self, "number", NumberHere(self.number.tensor, int, near=True))

    def _no_python_value(self, *_: Any) -> NoReturn:
        context.risk()
        raise errors.TypeMismatchError(
            f"This needs one value of Python's, but it is {described(self)}, which differs between members.",
            help="compare it by ==, look it up by table[x], or read an attribute; tell the cases apart by if and elif.",
            kind="one-of-several-as-python",
        )

    __bool__ = __iter__ = __len__ = __int__ = __float__ = __index__ = __array__ = _no_python_value  # type: ignore[assignment]

    def __str__(self) -> str:
        by_tensorflow = sys._getframe(1).f_code.co_filename.startswith(_TENSORFLOW)  # of structures that differ
        return self._no_python_value() if self.is_value and not by_tensorflow else described(self)

    __repr__ = __str__

    def __format__(self, spec: str) -> str:
        return self._no_python_value() if self.is_value else described(self)

    @property
    def is_value(self) -> bool:
        """Whether this is a value, and not the type of one or a whole batch."""
        return isinstance(self.number, WeakScalar)


@dataclasses.dataclass(frozen=True)
class Whole:
    """One of several, as a leaf that ``tf.nest`` does not take apart."""

    value: OneOf


def whole(value: Any) -> Any:
    """What ``Whole`` has made a leaf of; any other value as it is."""
    return value.value if isinstance(value, Whole) else value


def is_known(value: Any) -> bool:
    """Whether members may differ in having this or another."""
    if isinstance(value, FunctionType):
        return not captures_members(value)
    return isinstance(value, str | bytes | enum.Enum) or is_function(value)


def is_function(value: Any) -> bool:
    """Whether this is a function or a class."""
    if isinstance(value, FunctionType):
        return True
    if isinstance(value, BuiltinFunctionType):  # or a method
        return isinstance(value.__self__, ModuleType | None)
    return isinstance(value, _FUNCTIONS) or (callable(value) and getattr(type(value), "__autobatch_static__", False))


def captures_members(function: FunctionType) -> bool:
    """Whether a function holds what differs between members, of where it was made."""
    cells = [cell.cell_contents for cell in function.__closure__ or () if cell != CellType()]
    held = [*cells, *(function.__defaults__ or ()), *(function.__kwdefaults__ or {}).values()]
    try:
        leaves = tf.nest.flatten(held)
    except TypeError:  # a dict of keys that have no order
        leaves = held
    return any(isinstance(leaf, WeakScalar) or (is_tensor(leaf) and not hasattr(leaf, "numpy")) for leaf in leaves)


def is_any(*values: Any) -> bool:
    """Whether each of these is such a value, or one of several."""
    return all(isinstance(value, OneOf | FunctionType) or is_known(value) for value in values)


def options_of(*values: Any) -> tuple[Known, ...]:
    """What any of these may be: of an enum in the order of its class, of texts and functions in that of the alphabet.

    Raises TypeMismatchError if that is too much.
    """
    found: dict[Any, Known] = {}
    for value in values:
        for option in value.options if isinstance(value, OneOf) else (value,):
            found.setdefault(_identity(option), option)
    if len(found) > MOST:
        raise errors.TypeMismatchError(
            f"This is one of more than {MOST} values.", help="tell the cases apart by numbers.", kind="too-many-options"
        )
    return tuple(option for _, option in sorted(found.items(), key=lambda pair: pair[0]))


def _identity(option: Known) -> tuple:
    """What tells the value from all others, and sorts."""
    kind = type(option)
    if isinstance(option, enum.Enum):
        names = [*kind.__members__.values()]
        at = next((k for k, each in enumerate(names) if each is option), len(names))
        return kind.__module__, kind.__qualname__, at, repr(option), id(kind)
    if is_function(option):
        made = getattr(option, "__code__", option)
        held = [getattr(option, f"__{name}__", None) for name in ("closure", "defaults", "kwdefaults")]
        # One that the program makes, anew each time that it is traced, is its code if it holds nothing.
        is_code = context.GENERATED in getattr(option, "__qualname__", "") and not any(held)
        name = f"{getattr(option, '__module__', '')}.{named(option)}"
        return "", "", getattr(made, "co_firstlineno", 0), name, id(made if is_code else option)
    return kind.__module__, kind.__qualname__, 0, option, id(kind)


def are_in_order(options: Sequence[Known]) -> bool:
    """Whether their numbers compare as they do."""
    return {*map(type, options)} in ({str}, {bytes})


def are_apart(options: Sequence[Known]) -> bool:
    """Whether each is equal to itself alone."""
    return all(type(each) in (str, bytes) or type(each).__eq__ is object.__eq__ for each in options)


def among(options: Sequence[Known], value: Any) -> OneOf:
    """A value that is one of these, as one of them all."""
    if not isinstance(value, OneOf):
        (place,) = _places(options, [value])
        return OneOf((*options,), _number(tf.constant(place, tf.int64)))
    return OneOf((*options,), _number(renumbered(options, value, value.number.tensor)))


def renumbered(options: Sequence[Known], value: OneOf, numbers: tf.Tensor) -> tf.Tensor:
    """The numbers among these of what has numbers among the value's options."""
    table = _places(options, value.options)
    return numbers if table == [*range(len(table))] else looked_up(table, tf.int64, numbers)


def _places(options: Sequence[Known], wanted: Sequence[Known]) -> list[int]:
    """Where among the options each of these is."""
    places = {_identity(option): k for k, option in enumerate(options)}
    lost = next((option for option in wanted if _identity(option) not in places), None)
    if lost is not None:
        what = f"function `{lost.__name__}`" if is_function(lost) else f"class of {named(lost)}"
        raise errors.UnsupportedSyntaxError(
            f"The {what} is made anew each time that the program is looked at.",
            help=f"make the {what.split()[0]} outside of the function.",
            kind="changing-class",
        )
    return [places[_identity(option)] for option in wanted]


def at(options: Sequence[Any], number: tf.Tensor) -> OneOf:
    """Of known values, those of one number among them; the same may be there more than once."""
    distinct = options_of(*options)
    return OneOf(distinct, _number(looked_up(_places(distinct, options), tf.int64, number)))


def looked_up(table: Sequence[Any], dtype: tf.DType, number: tf.Tensor) -> tf.Tensor:
    """The table's entry of this number, or of each of these."""
    if len({*map(repr, table)}) == 1:  # 0.0 is -0.0 by ==
        return tf.broadcast_to(tf.constant(table[0], dtype), number.shape)
    if dtype == tf.bool and table.count(True) == 1:
        return tf.equal(number, table.index(True))
    if dtype == tf.bool and table.count(False) == 1:
        return tf.not_equal(number, table.index(False))
    return tf.gather(tf.constant(table, dtype), number)


def _number(tensor: tf.Tensor) -> WeakScalar:
    return WeakScalar(tensor, int, near=True)


def named(option: Any) -> str:
    """As one would write it: ``'idle'``, ``State.IDLE``, ``max``."""
    if is_function(option):
        name = getattr(option, "__name__", type(option).__name__)
        return name if name.isidentifier() else "function"
    is_member = isinstance(option, enum.Enum) and option.name is not None
    return f"{type(option).__name__}.{option.name}" if is_member else repr(option)


def described(value: Any) -> str:
    """As ``'idle' or 'busy'``; of what is none of several, as Python shows it."""
    if not isinstance(value, OneOf):
        return repr(value)
    *most, last = map(named, value.options)
    return f"{', '.join(most)} or {last}" if most else last
