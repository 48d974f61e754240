"""What takes long says so, where somebody looks: that a program is compiled, and bars."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from tqdm.auto import tqdm

PATIENCE = 2.0  # seconds of compiling before it is said
_PAUSE = 0.5  # seconds between two things that are compiled for one call, at most


def is_watched() -> bool:
    """Whether what goes to the standard error is looked at, in a terminal or a notebook."""
    interactive: Any = getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)()
    return "IPKernelApp" in getattr(interactive, "config", ()) or sys.stderr.isatty()


def is_wanted(told: bool | None) -> bool:
    """Whether to show a bar, as the user has told; None: where somebody looks."""
    return is_watched() if told is None else told


class Bar(tqdm):
    """A bar whose rate, and so the time that is left, is of the work alone, not of what is compiled meanwhile."""

    def __init__(self, *args: Any, **kwargs: Any):
        self._compiled = _compiling.seconds
        super().__init__(*args, **kwargs)

    def update(self, n: float | None = 1) -> bool | None:
        compiled, self._compiled = self._compiled, _compiling.seconds
        if not self.disable:
            self.last_print_t += self._compiled - compiled
        return super().update(n)


def seconds_of_work() -> float:
    """A clock that stands still while something is compiled."""
    return time.time() - _compiling.seconds


@contextmanager
def compiling(name: str) -> Iterator[None]:
    """Around what lowers or compiles a function of this name; what is within another such is part of it."""
    _compiling.enter(name)
    try:
        yield
    finally:
        _compiling.leave()


class _Compiling:
    """What is compiled now.  A thread says so, as long as there is anything, on a line that vanishes."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._names: list[str] = []
        self._began = self._since = self._ended = 0.0  # the last; the first of those that came without a pause
        self._total = 0.0
        self._thread: threading.Thread | None = None
        self._line: tqdm | None = None

    @property
    def seconds(self) -> float:
        """Spent compiling so far, in this process."""
        with self._lock:
            return self._total + (time.time() - self._began if self._names else 0.0)

    def enter(self, name: str) -> None:
        with self._lock:
            if not self._names:
                self._began = time.time()
                if self._began - self._ended > _PAUSE:
                    self._since = self._began
            self._names.append(name)
            if self._thread is None and is_watched():
                self._thread = threading.Thread(target=self._tell, daemon=True)
                self._thread.start()

    def leave(self) -> None:
        with self._lock:
            self._names.pop()
            if not self._names:
                self._ended = time.time()
                self._total += self._ended - self._began
                self._wipe()

    def _tell(self) -> None:
        while True:
            time.sleep(_PAUSE)
            with self._lock:
                if not self._names and time.time() - self._ended > _PAUSE:
                    self._thread = None
                    return
                if self._names and time.time() - self._since > PATIENCE:
                    self._write(f"autobatch: compiling {self._names[0]}")

    def _write(self, text: str) -> None:
        if self._line is None:
            self._line = tqdm(bar_format="{desc}, {elapsed}", leave=False)
            self._line.start_t = self._since
        self._line.set_description_str(text)

    def _wipe(self) -> None:
        if self._line is not None:
            self._line.close()
            self._line = None


_compiling = _Compiling()
