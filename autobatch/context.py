"""Where a call to an autobatched function comes from."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from enum import Enum


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
