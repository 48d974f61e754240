"""What surrounds running user code: where calls come from, and the checks that it makes of each member."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from enum import Enum
from threading import RLock
from typing import Any

from autobatch.errors import MemberError

tracing_lock = RLock()  # held while a program is made, traced or compiled: threads may call one function at once


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


_remarks: ContextVar[list[Remark] | None] = ContextVar("autobatch_remarks", default=None)


def check(passed: Any, error: type[MemberError], failure: str, text: str = "", values: tuple[Any, ...] = ()) -> None:
    """Asks that ``passed`` hold for each member that gets here."""
    remark(Remark(text, values, passed, error, failure))


def remark(made: Remark) -> None:
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
