"""Compiled programs that outlive their process: a folder, with a file for each.

It is ``autobatch`` in the user's cache folder; the environment variable AUTOBATCH_CACHE names another, or is ``off``.
A program that is read runs, so whoever can write to the folder is trusted as whoever can write to the code: it is made
for its user alone, and one that others may write to is not used.
"""

from __future__ import annotations

import os
import stat
import time
from pathlib import Path

import platformdirs

from autobatch import files

SETTING = "AUTOBATCH_CACHE"
MOST = 2 * 2**30  # bytes; what was used longest ago goes
SUFFIX = ".program"
_TITLE = "autobatch program, version 1"
_FRESH = 60.0  # seconds after which a use is noted again


def folder() -> Path | None:
    """Where programs are kept; None if they are not."""
    named = os.environ.get(SETTING, "")
    if named.lower() in ("off", "0", "no", "false"):
        return None
    return Path(named).expanduser() if named else Path(platformdirs.user_cache_dir("autobatch"))


def size() -> int:
    """How many bytes they take."""
    return sum(state.st_size for state, _ in _files())


def clear() -> None:
    """Removes them all."""
    for _, path in _files():
        path.unlink(missing_ok=True)


def read(name: str) -> bytes | None:
    """What was kept under the name; None if nothing was, or it is damaged."""
    where = _trusted()
    if where is None:
        return None
    path = where / name
    try:
        content = files.read(path, _TITLE)
    except OSError:
        return None
    except files.DamagedError:
        forget(name)
        return None
    try:
        if time.time() - path.stat().st_mtime > _FRESH:
            os.utime(path)
    except OSError:  # of a read-only folder
        pass
    return content


def write(name: str, content: bytes) -> None:
    """Keeps it, if there is room: a folder that is full or read-only only costs the gain."""
    where = folder()
    if where is None:
        return
    try:
        where.mkdir(mode=0o700, parents=True, exist_ok=True)
        if _trusted() is not None:
            _make_room(len(content))
            files.write(where / name, _TITLE, content, settled=False)
    except OSError:
        return


def forget(name: str) -> None:
    """Removes what was kept under the name."""
    where = folder()
    if where is not None:
        try:
            (where / name).unlink(missing_ok=True)
        except OSError:
            return


def _trusted() -> Path | None:
    """The folder, if it is there and nobody else can write to it."""
    where = folder()
    if where is None:
        return None
    try:
        found = where.stat()
    except OSError:
        return None
    if os.name == "nt":
        return where
    is_own = found.st_uid == os.getuid() and not found.st_mode & (stat.S_IWGRP | stat.S_IWOTH)
    return where if is_own else None


def _files() -> list[tuple[os.stat_result, Path]]:
    where = folder()
    try:
        paths = [] if where is None else [path for path in where.iterdir() if path.suffix == SUFFIX]
    except OSError:
        return []
    found = []
    for path in paths:
        try:
            found.append((path.stat(), path))
        except OSError:
            continue  # another process has removed it
    return found


def _make_room(needed: int) -> None:
    found = _files()
    total = needed + sum(state.st_size for state, _ in found)
    for state, path in sorted(found, key=lambda each: each[0].st_mtime):
        if total <= MOST:
            return
        path.unlink(missing_ok=True)
        total -= state.st_size
