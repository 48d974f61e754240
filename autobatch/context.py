"""What surrounds running user code: where calls come from, and the checks that it makes of each member."""

from __future__ import annotations

import functools
import gc
import linecache
import os
import sys
import sysconfig
from collections.abc import Callable, Hashable, Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from contextvars import ContextVar
from dataclasses import dataclass
from enum import Enum
from threading import RLock
from types import CodeType
from typing import Any, TypeVar

from autobatch import errors
from autobatch.errors import MemberError

T = TypeVar("T")
GENERATED = "ab__"  # how the names of the functions begin that the frontend makes of the user's


class _TracingLock:
    """Held while a program is made, traced or compiled, as threads may call one function at once.

    Meanwhile Python does not look for garbage: there is little, and to look for it takes up to a tenth of the time.
    """

    def __init__(self) -> None:
        self._lock, self._depth, self._collects = RLock(), 0, False

    def __enter__(self) -> None:
        self._lock.acquire()
        if not self._depth:
            self._collects = gc.isenabled()
            gc.disable()
        self._depth += 1

    def __exit__(self, *_: object) -> None:
        self._depth -= 1
        if not self._depth and self._collects:
            gc.enable()
        self._lock.release()

    @property
    def held(self) -> bool:
        """Whether some thread holds it."""
        return self._depth > 0


tracing_lock = _TracingLock()


_OURS = os.path.dirname(os.path.realpath(errors.__file__))
_INSTALLED = tuple({os.path.realpath(path) + os.sep for path in (*sysconfig.get_paths().values(), _OURS)})


def is_users(code: CodeType) -> bool:
    """Whether the code is neither the standard library's nor an installed package's, nor made by AutoGraph."""
    return is_users_file(code.co_filename)


def is_users_file(name: str) -> bool:
    """Whether it is the user's, or a cell of a notebook's, whose text ``linecache`` has."""
    if name in linecache.cache and not os.path.isfile(name):
        return not name.startswith("<attrs ")
    of_autograph = os.path.basename(name).startswith("__autograph_generated_file")
    return os.path.isfile(name) and not of_autograph and not _is_installed(name)


@functools.cache
def _is_installed(name: str) -> bool:
    return os.path.realpath(name).startswith(_INSTALLED)


class Mode(Enum):
    BATCH = "batch"  # ordinary code: arguments are whole batches
    MEMBER = "member"  # the unbatched oracle: plain Python on one example
    TRACING = "tracing"  # a region being traced: symbolic values of one example


_mode: ContextVar[Mode] = ContextVar("autobatch_mode", default=Mode.BATCH)


def mode() -> Mode:
    return _mode.get()


@contextmanager
def entered(new: Mode) -> Iterator[None]:
    token = _mode.set(new)
    try:
        yield
    finally:
        _mode.reset(token)


class Primitive:
    """The running of one primitive, for functions that may be called only while it runs."""


_primitive: ContextVar[Primitive | None] = ContextVar("autobatch_primitive", default=None)


def primitive() -> Primitive | None:
    return _primitive.get()


@contextmanager
def tracing() -> Iterator[None]:
    """Around the running of one primitive on symbolic values."""
    token = _primitive.set(Primitive())
    try:
        with entered(Mode.TRACING):
            yield
    finally:
        _primitive.reset(token)


@dataclass(frozen=True)
class Remark:
    """What user code has to say of each member that gets to a place.

    Attributes:
      text: for ``str.format``, with a field for each of the values.
      values: what is shown; may differ between members.
      passed: a scalar bool (a tensor, mostly): whether there is nothing to say.
      error: the error with which a member fails that did not pass; None: the text is printed.
      failure: what happened to such a member.
    """

    text: str
    values: tuple[Any, ...] = ()
    passed: Any = False
    error: type[MemberError] | None = None
    failure: str = ""


_crossed: ContextVar[frozenset[int]] = ContextVar("autobatch_crossed", default=frozenset())


@contextmanager
def crossing(containers: frozenset[int]) -> Iterator[None]:
    """Around code that finds these containers, told by identity, from before a branch, a loop or a call."""
    token = _crossed.set(containers)
    try:
        yield
    finally:
        _crossed.reset(token)


def has_crossed(container: Any) -> bool:
    """Whether a container is from before a branch, a loop or a call, or stands for one of several."""
    return id(container) in _crossed.get()


_met: ContextVar[dict[type, None] | None] = ContextVar("autobatch_met", default=None)


def meet(cls: type) -> None:
    """Says that a program makes objects of a class of the user's."""
    if (met := _met.get()) is not None:
        met.setdefault(cls)


def met() -> Iterable[type]:
    """The classes of the objects that the program which is lowered is known to make, in the order of their meeting."""
    return tuple(_met.get() or ())


@contextmanager
def meeting(classes: dict[type, None]) -> Iterator[None]:
    """Around lowering: has what is met put into ``classes``."""
    token = _met.set(classes)
    try:
        yield
    finally:
        _met.reset(token)


_remembered: ContextVar[dict[Any, Any] | None] = ContextVar("autobatch_remembered", default=None)


def remembered(key: Hashable, find: Callable[[], T]) -> T:
    """What ``find()`` finds out about a program's code, or has found for this key before (see ``remembering``)."""
    found = _remembered.get()
    if found is None:
        return find()
    if key not in found:
        found[key] = find()
    return found[key]


@contextmanager
def remembering() -> Iterator[None]:
    """Around the lowerings of one program, for the same arguments; within another such, that one holds."""
    found = _remembered.get()
    token = _remembered.set({} if found is None else found)
    try:
        yield
    finally:
        _remembered.reset(token)


FIRST_CAPACITY = 32
_list_capacity: ContextVar[int] = ContextVar("autobatch_list_capacity", default=FIRST_CAPACITY)


def list_capacity() -> int:
    """The least capacity of lists whose length differs between members."""
    return _list_capacity.get()


@contextmanager
def lists_of(capacity: int) -> Iterator[None]:
    """Around tracing, with another ``list_capacity``."""
    token = _list_capacity.set(capacity)
    try:
        yield
    finally:
        _list_capacity.reset(token)


_optional: ContextVar[frozenset[str]] = ContextVar("autobatch_optional", default=frozenset())


def optional_attributes() -> frozenset[str]:
    """The names of attributes that may be None for some members."""
    return _optional.get()


@contextmanager
def optional(attributes: frozenset[str]) -> Iterator[None]:
    """Around tracing, with other ``optional_attributes``."""
    token = _optional.set(attributes)
    try:
        yield
    finally:
        _optional.reset(token)


def as_lowered_now(function: Callable) -> Callable:
    """The function, to be run with the ``list_capacity`` and the ``optional_attributes`` that there are now."""
    capacity, attributes = list_capacity(), optional_attributes()

    @functools.wraps(function)
    def run(*args: Any) -> Any:
        with lists_of(capacity), optional(attributes):
            return function(*args)

    return run if capacity != FIRST_CAPACITY or attributes else function


_remarks: ContextVar[list[Remark] | None] = ContextVar("autobatch_remarks", default=None)


def check(passed: Any, error: type[MemberError], failure: str, text: str = "", values: tuple[Any, ...] = ()) -> None:
    """Asks that ``passed`` hold for each member that gets here."""
    remark(Remark(text, values, passed, error, failure))


def remark(made: Remark) -> None:
    if made.error is not None:
        risk()
    collected = _remarks.get()
    if collected is not None:
        collected.append(made)


@contextmanager
def collected_remarks() -> Iterator[list[Remark]]:
    """The remarks made inside."""
    collected: list[Remark] = []
    token = _remarks.set(collected)
    try:
        yield collected
    finally:
        _remarks.reset(token)


Risk = tuple[tuple[CodeType, int], ...]  # functions that are called from another, innermost first, and where they are
_risks: ContextVar[set[Risk] | None] = ContextVar("autobatch_risks", default=None)


def risk() -> None:
    """Notes that Python might raise an error here, or an ``if`` of it take either way; and which functions led here."""
    found = _risks.get()
    if found is None:
        return
    callers, frame = [], sys._getframe(1)
    while frame is not None and not frame.f_code.co_name.startswith(GENERATED):
        callers.append((frame.f_code, frame.f_lineno))
        frame = frame.f_back
    if frame is not None:
        found.add(tuple(callers))


@contextmanager
def collected_risks() -> Iterator[set[Risk]]:
    """The risks taken inside."""
    found: set[Risk] = set()
    token = _risks.set(found)
    try:
        yield found
    finally:
        _risks.reset(token)


_checks_divisions: ContextVar[bool] = ContextVar("autobatch_checks_divisions", default=False)


def checks_divisions() -> bool:
    """Whether a float that is divided by zero raises ZeroDivisionError, as Python's does, and not NumPy's."""
    return _checks_divisions.get()


@contextmanager
def checked_divisions(whether: bool) -> Iterator[None]:
    """Around code of which the program catches ZeroDivisionError."""
    token = _checks_divisions.set(whether)
    try:
        yield
    finally:
        _checks_divisions.reset(token)


_views: ContextVar[dict[int, list[Any]] | None] = ContextVar("autobatch_views", default=None)


def view(part: Any, whole: Any) -> None:
    """Notes that a tensor is a part of another, or that very one, as NumPy's views are."""
    found = _views.get()
    if found is not None:
        found.setdefault(id(part), []).append(whole)
        found.setdefault(0, []).append(part)  # which keeps its identity


@contextmanager
def collected_views() -> Iterator[dict[int, list[Any]]]:
    """What is noted inside: by the part's identity, of what it is a part."""
    found: dict[int, list[Any]] = {}
    token = _views.set(found)
    try:
        yield found
    finally:
        _views.reset(token)


_puts: ContextVar[list[Any] | None] = ContextVar("autobatch_puts", default=None)


def put(item: Any) -> None:
    """Notes what a list gets as an item that keeps no identity there."""
    found = _puts.get()
    if found is not None:
        found.append(item)


@contextmanager
def collected_puts() -> Iterator[list[Any]]:
    """What is noted inside."""
    found: list[Any] = []
    token = _puts.set(found)
    try:
        yield found
    finally:
        _puts.reset(token)


_on_augmented: ContextVar[Callable[[Any], None]] = ContextVar("autobatch_on_augmented", default=lambda _: None)


def augmented(value: Any) -> None:
    """Notes that an array or a container is changed in place, where it is NumPy's or Python's, by ``x += y``."""
    _on_augmented.get()(value)


@contextmanager
def on_augmented(told: Callable[[Any], None]) -> Iterator[None]:
    """Has each value that is augmented inside told, before it changes."""
    token = _on_augmented.set(told)
    try:
        yield
    finally:
        _on_augmented.reset(token)


_around_tracing: ContextVar[Callable[[], AbstractContextManager]] = ContextVar(
    "autobatch_settling", default=nullcontext
)


def around_tracing() -> AbstractContextManager:
    """Around the tracing of a machine, while which the user's code runs."""
    return _around_tracing.get()()


@contextmanager
def settling(around: Callable[[], AbstractContextManager]) -> Iterator[None]:
    """Has ``around()`` stand around the tracing of machines inside."""
    token = _around_tracing.set(around)
    try:
        yield
    finally:
        _around_tracing.reset(token)


_moved: ContextVar[dict[int, tuple[Any, Any]] | None] = ContextVar("autobatch_moved", default=None)


def moved(old: Any, new: Any) -> None:
    """Notes that what was the one tensor is now the other, for whoever holds it."""
    found = _moved.get()
    if found is not None:
        found[id(old)] = (old, new)


def now(value: Any) -> Any:
    """What a tensor has become."""
    found = _moved.get() or {}
    while id(value) in found:
        value = found[id(value)][1]
    return value


@contextmanager
def moving() -> Iterator[None]:
    """While one member runs in plain Python."""
    token = _moved.set({} if _moved.get() is None else _moved.get())
    try:
        yield
    finally:
        _moved.reset(token)


_choices: ContextVar[list[tuple[Any, Any]] | None] = ContextVar("autobatch_choices", default=None)


def choice(container: Any, contents: Any) -> None:
    """Notes that a container stands for one of several, so that a change of it would be lost."""
    found = _choices.get()
    if found is not None:
        found.append((container, contents))


_kept: ContextVar[list[tuple[Any, Any, str]] | None] = ContextVar("autobatch_kept", default=None)


def keep(container: Any, contents: Any, name: str) -> None:
    """Notes a container that all members share, and what it holds: it is not to be changed."""
    found = _kept.get()
    if found is not None:
        found.append((container, contents, name))


@contextmanager
def kept() -> Iterator[list[tuple[Any, Any, str]]]:
    """What is noted inside."""
    found: list[tuple[Any, Any, str]] = []
    token = _kept.set(found)
    try:
        yield found
    finally:
        _kept.reset(token)


def is_choice(container: Any) -> bool:
    """Whether the primitive that runs has noted this one."""
    return any(container is made for made, _ in _choices.get() or ())


@contextmanager
def collected_choices() -> Iterator[list[tuple[Any, Any]]]:
    """What is noted inside."""
    found: list[tuple[Any, Any]] = []
    token = _choices.set(found)
    try:
        yield found
    finally:
        _choices.reset(token)
