"""What surrounds running user code: where calls come from, and the checks that it makes of each member."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from enum import Enum
from typing import Any


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


_checks: ContextVar[list[tuple[Any, str]] | None] = ContextVar("autobatch_checks", default=None)


def check(passed: Any, message: str) -> None:
    """Asks that ``passed`` (a scalar bool tensor) hold for each member, or the member fails with ``message``."""
    collected = _checks.get()
    if collected is not None:
        collected.append((passed, message))


@contextmanager
def collected_checks() -> Iterator[list[tuple[Any, str]]]:
    """The checks made inside."""
    collected: list[tuple[Any, str]] = []
    token = _checks.set(collected)
    try:
        yield collected
    finally:
        _checks.reset(token)
