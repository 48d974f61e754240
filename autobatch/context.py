"""What surrounds running user code: where calls come from, and the checks that it makes of each member."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from enum import Enum
from typing import Any

from autobatch.errors import MemberError


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


@dataclass(frozen=True)
class Condition:
    """What a member must meet: a scalar bool (a tensor, mostly); else it fails with the error and the message."""

    passed: Any
    error: type[MemberError]
    message: str


_checks: ContextVar[list[Condition] | None] = ContextVar("autobatch_checks", default=None)


def check(condition: Condition) -> None:
    """Asks that the condition hold for each member that gets here."""
    collected = _checks.get()
    if collected is not None:
        collected.append(condition)


@contextmanager
def collected_checks() -> Iterator[list[Condition]]:
    """The checks made inside."""
    collected: list[Condition] = []
    token = _checks.set(collected)
    try:
        yield collected
    finally:
        _checks.reset(token)
