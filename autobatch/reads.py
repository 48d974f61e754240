"""Notices when code reads files, or asks the system for anything else that may have changed by the next time."""

from __future__ import annotations

import functools
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

_EVENTS = ("open", "os.listdir", "os.scandir", "os.system", "subprocess.Popen", "sqlite3.connect", "urllib.Request")
_CODE = (".py", ".pyc", ".pyi", ".so", ".pyd", ".dll")

_noticing: list[list[str]] = []


@contextmanager
def noticed() -> Iterator[list[str]]:
    """What is read inside, in any thread: names of events of ``sys.audit``."""
    _listen()
    found: list[str] = []
    _noticing.append(found)
    try:
        yield found
    finally:
        _noticing[:] = [each for each in _noticing if each is not found]


@functools.cache
def _listen() -> None:
    sys.addaudithook(_hook)  # which cannot be taken away again


def _hook(event: str, args: tuple[Any, ...]) -> None:
    if not _noticing or not (event in _EVENTS or event.startswith("socket.")):
        return
    if event == "open" and str(args[0]).endswith(_CODE):  # imports, and lines for messages
        return
    for found in _noticing:
        found.append(event)
