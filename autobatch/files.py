"""Files that are whole or not there: a line that says what they are, a digest, and the content."""

from __future__ import annotations

import hashlib
import os
import tempfile
from pathlib import Path


class DamagedError(Exception):
    """A file of another kind, or cut off, or changed; ``title``: its first line."""

    def __init__(self, title: str):
        self.title = title
        super().__init__(title)


def write(path: Path, title: str, content: bytes, settled: bool = True) -> None:
    """Whole, or, if that fails, not at all; ``settled``: also if the machine fails.  Raises OSError."""
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(f"{title}\n{hashlib.sha256(content).hexdigest()}\n".encode() + content)
            if settled:
                file.flush()
                os.fsync(file.fileno())
        os.replace(name, path)
    except BaseException:
        os.unlink(name)
        raise


def read(path: Path, title: str) -> bytes:
    """The content.  Raises DamagedError; OSError."""
    first, _, rest = path.read_bytes().partition(b"\n")
    digest, _, content = rest.partition(b"\n")
    if first != title.encode() or digest.decode(errors="replace") != hashlib.sha256(content).hexdigest():
        raise DamagedError(first.decode(errors="replace"))
    return content
