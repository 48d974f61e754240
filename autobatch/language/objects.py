"""Objects of the user's classes that members make: structures of what their attributes hold.

While a program is traced, ``Particle(x, v)`` is an object of a class of our own below ``Particle``, which has all that
``Particle`` has, and which ``tf.nest`` takes apart.  ``p.x = v`` has become ``p = setattr_(p, "x", v)``: an object that
was made in the same straight line is changed in place; one from before a branch, a loop or a call is left as it is, and
the result is another, as with lists (``list_methods.py``).
"""

from __future__ import annotations

import dataclasses
import functools
import inspect
import itertools
import sys
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from types import FunctionType
from typing import Any

from autobatch import context, errors
from autobatch.context import is_users
from autobatch.language.containers import MemberObject, contents
from autobatch.language.lists import MemberList
from autobatch.language.operand_order import REFLECTED, class_of, in_order
from autobatch.language.optional import flag, is_none


@dataclass(frozen=True)
class Absent:
    """Nothing, where a flag says so or before an attribute is set, and the type of it."""

    def __str__(self) -> str:
        return "None"


ABSENT = Absent()  # its value while user code is traced


def is_plain(cls: type) -> bool:
    """Whether objects of the class are what their attributes hold, as far as can be seen."""
    made_here = cls.__new__ is object.__new__ and "__init_subclass__" not in vars(cls)
    frozen = dataclasses.is_dataclass(cls) and cls.__dataclass_params__.frozen  # type: ignore[attr-defined]
    watches = hasattr(cls, "__getattr__") or (cls.__setattr__ is not object.__setattr__ and not frozen)
    return made_here and not (watches or hasattr(cls, "__tf_flatten__") or issubclass(cls, BaseException))


_MADE: dict[type, type] = {}  # of members' objects, by the user's own


def member_class(cls: type) -> type:
    """The class of members' objects of the user's ``cls``, which the program that is lowered has met now."""
    context.meet(cls)
    if cls not in _MADE:
        _MADE[cls] = _made(cls)
    return _MADE[cls]


def _is_users_code() -> bool:
    """Whether the user's code asks: ``tf.nest`` and types do too, and are not to run methods of the user's."""
    return context.mode() is not context.Mode.BATCH


def _made(cls: type) -> type:
    own: Any = cls

    raises = issubclass(cls, BaseException)

    def flatten(self: Any) -> tuple[tuple, tuple]:
        names = tuple(sorted({*attributes(self)})) + ("args",) * (raises and bool(BaseException.args.__get__(self)))
        return names, tuple(object.__getattribute__(self, name) for name in names)

    def unflatten(kind: type, names: tuple, parts: tuple) -> Any:
        made: Any = cls.__new__(kind) if raises else object.__new__(kind)  # type: ignore[call-overload]
        for name, part in zip(names, parts, strict=True):
            object.__setattr__(made, name, part)
        return made

    def get(self: Any, name: str) -> Any:
        if name in context.optional_attributes() and is_none(self, name):
            return None
        if name == "__class__" and context.is_users(sys._getframe(1).f_code):  # tf.nest asks for it too
            return cls
        found = own.__getattribute__(self, name)
        if found is ABSENT:
            raise AttributeError(f"'{cls.__name__}' object has no attribute '{name}'")
        if raises and (name in _OF_TRACEBACK or (name == "args" and isinstance(cls.__init__, FunctionType))):
            raise not_kept(name)
        if isinstance(inspect.getattr_static(cls, name, None), functools.singledispatchmethod):
            raise errors.TypeMismatchError(
                f"`{name}` is chosen by the class of its argument, and a member's number is no object of Python's.",
                help="ask for it in one method: if isinstance(x, int).",
                kind="single-dispatch-method",
            )
        of_class = isinstance(found, list | dict | set) and any(vars(c).get(name) is found for c in cls.__mro__)
        if of_class:
            context.keep(found, contents(found), f"{cls.__name__}.{name}")
        return found

    def set_own(self: Any, name: str, value: Any) -> None:
        if context.has_crossed(self):
            raise errors.UnsupportedSyntaxError(
                f"An object of `{cls.__name__}` from before a branch, a loop or a call is changed by Python.",
                help="change it in a method or a function that is called by its name.",
                kind="changed-object",
            )
        if name in context.optional_attributes() and hasattr(self, "__dict__"):
            object.__setattr__(self, flag(name), value is None)
            value = ABSENT if value is None else value
        plain_deque = type(value) is deque and value.maxlen is None
        own.__setattr__(self, name, list(value) if plain_deque else value)  # a list stands for it in programs

    of_fields = {f"__{name}__": _of_fields(cls, name) for name in _COMPARED if has_made(cls, name)}
    by_python = {name: method for name in REFLECTED if isinstance(method := getattr(cls, name, None), FunctionType)}
    operators = {name: in_order(name, method) for name, method in {**by_python, **of_fields}.items()}
    own_eq: Any = operators.get("__eq__", own.__eq__)
    own_ne: Any = operators.get("__ne__", _inverse(own_eq))

    def eq(self: Any, other: Any) -> Any:
        if _is_users_code():
            return own_eq(self, other)
        return type(self) is type(other) and flatten(self) == flatten(other)

    def ne(self: Any, other: Any) -> Any:
        return own_ne(self, other) if _is_users_code() else not eq(self, other)

    alone = {name: method.__wrapped__ for name, method in operators.items()}
    alone = {"__eq__": own_eq, "__ne__": _inverse(alone.get("__eq__", own_eq)), **alone}

    def truth(self: Any) -> Any:
        method = truth_method(cls)
        return method(self) if method is not None and _is_users_code() else True

    def text(self: Any, *_: Any) -> str:
        if _is_users_code():
            raise not_kept("text")
        return object.__repr__(self)

    def represented(self: Any) -> str:
        return own.__repr__(self) if _is_users_code() else object.__repr__(self)

    def as_text(self: Any) -> str:
        return own.__str__(self) if _is_users_code() else object.__repr__(self)

    def hashed(self: Any) -> int:
        if _is_users_code():
            raise errors.UnsupportedSyntaxError(
                f"An object of `{cls.__name__}` has no hash that differs between members.",
                help="use a number of it: hash(p.x), d[p.x].",
                kind="hash-of-object",
            )
        return hash(cls)

    def items(self: Any) -> Iterator[Any]:
        """By ``__getitem__`` up to an IndexError, which comes only where the length is known."""
        if any(isinstance(part, MemberList) for part in flatten(self)[1]):
            raise errors.TypeMismatchError(
                f"An object of `{cls.__name__}` is gone through by `__getitem__`, and members differ in length.",
                help="loop over the list that it holds, or over range(len(...)).",
                kind="object-looped",
            )
        return _by_index(self)

    goes_by_index = {"__iter__": items} if hasattr(cls, "__getitem__") and not hasattr(cls, "__iter__") else {}
    shown = ("__str__", "__repr__", "__format__")
    texts: dict[str, Any] = dict.fromkeys(shown, text) if raises else {"__repr__": represented, "__str__": as_text}
    body = {
        **texts, **goes_by_index,
        **operators,
        "__tf_flatten__": flatten, "__tf_unflatten__": classmethod(unflatten),
        "__setattr__": set_own, "__getattribute__": get,
        "__eq__": eq, "__ne__": ne, "__hash__": hashed, "__bool__": truth,
        "__module__": cls.__module__, "__qualname__": cls.__qualname__,
        "__slots__": (), "ab__alone": alone,
    }  # fmt: skip
    return type(cls)(cls.__name__, (cls, MemberObject), body)


def asked_alone(cls: type, operator: str) -> Callable[[Any, Any], Any] | None:
    """The method of members' objects for ``a.__lt__(b)``, before which the one of b's class is not asked."""
    return vars(cls)["ab__alone"].get(operator)


def _by_index(value: Any) -> Iterator[Any]:
    for k in itertools.count():
        try:
            item = value[k]
        except IndexError:
            return
        yield item


def _inverse(equal: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    """What Python has for ``!=`` where a class has ``==`` alone; the answer may differ between members."""

    def apply(self: Any, other: Any) -> Any:
        found = equal(self, other)
        return found if found is NotImplemented else found == False  # noqa: E712

    return apply


_OF_TRACEBACK = ("__cause__", "__context__", "__traceback__", "__notes__")


def not_kept(what: str) -> errors.AutobatchError:
    return errors.UnsupportedSyntaxError(
        f"The {what} of a caught exception is read, which is not kept.",
        help="give it numbers, and read those: e.code, or e.args[1] of a class without an __init__ of its own.",
        kind="exception-text",
    )


_COMPARED = ("eq", "ne", "lt", "le", "gt", "ge")
FIELDWISE: dict[str, Callable[[tuple, tuple], Any]] = {}  # how tuples are compared, by name (``comparisons.py``)


def has_made(cls: type, name: str) -> bool:
    """Whether a dataclass has this comparison from ``dataclasses``, or by way of the ``==`` that it has from there."""
    method: Any = getattr(cls, f"__{name}__")
    if name == "ne" and method is object.__ne__:
        return has_made(cls, "eq")
    code = getattr(method, "__code__", None)
    return dataclasses.is_dataclass(cls) and code is not None and code.co_filename == "<string>"


def compared_fields(cls: type, name: str) -> list[str]:
    """The fields that a comparison made by ``dataclasses`` looks at, in order."""
    owner: Any = next(each for each in cls.__mro__ if f"__{'eq' if name == 'ne' else name}__" in vars(each))
    return [field.name for field in dataclasses.fields(owner) if field.compare]


def _of_fields(cls: type, name: str) -> Callable[[Any, Any], Any]:
    fields = compared_fields(cls, name)

    def compare(self: Any, other: Any) -> Any:
        if not is_a(other, cls):  # an object from outside is of the user's own class
            return NotImplemented
        left, right = (tuple(getattr(value, field) for field in fields) for value in (self, other))
        return FIELDWISE[name](left, right)

    return compare


def attributes(value: Any) -> Iterator[str]:
    """The names of those that the object has itself, in its ``__dict__`` or in slots."""
    yield from getattr(value, "__dict__", ())
    for cls in type(value).__mro__:
        slots = vars(cls).get("__slots__", ())
        yield from (name for name in ((slots,) if isinstance(slots, str) else slots) if _holds(value, name))


def _holds(value: Any, slot: str) -> bool:
    """Whether something is in the slot, ``ABSENT`` too."""
    try:
        object.__getattribute__(value, slot)
    except AttributeError:
        return False
    return True


def users_class(value: MemberObject) -> type:
    """The class that the user wrote."""
    return type(value).__mro__[1]


def stands_for(value: MemberObject) -> type | None:
    """The class of Python's of which the object plays the part, if it is not of a class of the user's."""
    return getattr(type(value), "__autobatch_object__", None)


def truth_method(cls: type) -> Callable | None:
    """What says whether an object of the class is true, if that is not always so."""
    return getattr(cls, "__bool__", None) or getattr(cls, "__len__", None)


def replaced(value: Any, by: Any) -> Any:
    """What ``value``, an object, has become."""
    del value
    return by


def is_a(value: Any, cls: type) -> bool:
    """Whether this is an object of the class itself, none below it."""
    return class_of(value) is cls


def has_methods(value: Any) -> bool:
    """Whether this is a class of named tuples, or a struct, that may have methods of the user's."""
    if not isinstance(value, type) or not (issubclass(value, tuple) or hasattr(value, "__tf_flatten__")):
        return False
    return any(isinstance(each, FunctionType) and is_users(each.__code__) for each in vars(value).values())


def described(value: Any, part: Callable[[Any], str]) -> str:
    """As ``Particle(v=..., x=...)``"""
    parts = (f"{name}={part(each)}" for name, each in zip(*value.__tf_flatten__(), strict=True))
    return f"{users_class(value).__name__}({', '.join(parts)})"


def as_member(value: Any) -> Any:
    """An object from outside, as members' objects are."""
    names = (*sorted({*attributes(value)}),)
    parts = (*(object.__getattribute__(value, name) for name in names),)
    return member_class(type(value)).__tf_unflatten__(names, parts)  # type: ignore[attr-defined]


def blank(cls: type, names: tuple[str, ...]) -> Any:
    """An object before its ``__init__``, which sets these attributes."""
    return member_class(cls).__tf_unflatten__(names, (ABSENT,) * len(names))  # type: ignore[attr-defined]


def of_fields(cls: type, *args: Any, **kwargs: Any) -> Any:
    """An object of a dataclass before its ``__post_init__``"""
    kind = member_class(cls)
    bare: Any = type(kind)(cls.__name__, (kind,), {"__post_init__": lambda _: None, "__slots__": ()})
    made = bare(*args, **kwargs)
    names, parts = made.__tf_flatten__()
    return kind.__tf_unflatten__(names, parts)  # type: ignore[attr-defined]


def setattr_(value: Any, name: str, part: Any) -> Any:
    """``value`` after ``value.name = part``"""
    if context.mode() is context.Mode.TRACING:
        if not isinstance(value, MemberObject):
            raise errors.UnsupportedSyntaxError(
                f"An attribute is set of what is no object that members have made, but a {type(value).__name__}.",
                help="make the object in the function; of @ab.struct, dataclasses.replace makes another.",
                kind="attribute-assignment",
            )
        if context.has_crossed(value) or context.is_choice(value):
            names, parts = value.__tf_flatten__()  # type: ignore[attr-defined]
            value = type(value).__tf_unflatten__(names, parts)  # type: ignore[attr-defined]
    setattr(value, name, part)
    return value
