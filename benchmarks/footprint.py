"""What a run adds to the peak memory of a process of its own, compiling included."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from typing import Any


def added_bytes(make: Callable[..., Callable[[], Any]], args: Sequence[Any], package: str | None = None) -> int:
    """Of ``make(*args)()``, after the package was imported; ``make`` is a module's function, as it is sent by name."""
    with ProcessPoolExecutor(1, get_context("spawn")) as process:
        return process.submit(_grown, make, args, package).result()


def _grown(make: Callable[..., Callable[[], Any]], args: Sequence[Any], package: str | None) -> int:
    if package is not None:
        importlib.import_module(package)
    before = _peak()
    make(*args)()
    return _peak() - before


def _peak() -> int:
    """Bytes; what getrusage says begins with the peak of the parent."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(1024 * int(line.split()[1]) for line in lines if line.startswith("VmHWM"))
