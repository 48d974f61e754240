"""The calls of Python functions, noted while other code runs: by a profiler's means, or by a debugger's."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any


@contextmanager
def calls_noted(note: Callable[[FrameType], None]) -> Iterator[None]:
    """Around code: has ``note`` see each frame that it enters, unless a profiler and a debugger are at work already."""

    def enters(frame: FrameType, event: str, _: Any) -> None:
        if event == "call":
            note(frame)

    # What others have set cannot always be set again: cProfile is no function.
    free = [set_ for get, set_ in ((sys.getprofile, sys.setprofile), (sys.gettrace, sys.settrace)) if get() is None]
    if not free:
        yield
        return
    start, *_ = free
    start(enters)
    try:
        yield
    finally:
        start(None)
