"""The file of a saved run: a line that says what it is, a digest, and a pickle."""

from __future__ import annotations

import hashlib
import os
import pickle
import tempfile
from pathlib import Path
from typing import Any

from autobatch import errors

VERSION = 2
_TITLE = b"autobatch run, version "


def write(path: str | os.PathLike, content: Any) -> None:
    """Puts the content into the file: whole, or, if that fails, not at all.

    Raises: RunFileError for what cannot be pickled; OSError.
    """
    try:
        pickled = pickle.dumps(content, protocol=5)
    except (pickle.PicklingError, AttributeError, TypeError) as error:
        raise errors.RunFileError(
            f"A run whose arguments cannot be pickled cannot be saved: {error}",
            help="define static functions and classes at the top of a module.",
        ) from error
    path = Path(path)
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(_TITLE + f"{VERSION}\n{hashlib.sha256(pickled).hexdigest()}\n".encode() + pickled)
            file.flush()
            os.fsync(file.fileno())
        os.replace(name, path)
    except BaseException:
        os.unlink(name)
        raise


def read(path: str | os.PathLike) -> Any:
    """The content.

    Raises: RunFileError if the file is none of these, of another version, truncated or damaged; OSError.
    """
    title, _, rest = Path(path).read_bytes().partition(b"\n")
    if not title.startswith(_TITLE):
        raise errors.RunFileError(f"{path} is not a saved run.")
    version = title.removeprefix(_TITLE).decode(errors="replace")
    if version != str(VERSION):
        raise errors.RunFileError(
            f"{path} is of version {version}; this is version {VERSION}.",
            help="load it with the version of autobatch that saved it.",
        )
    digest, _, pickled = rest.partition(b"\n")
    if digest.decode(errors="replace") != hashlib.sha256(pickled).hexdigest():
        raise errors.RunFileError(f"{path} is damaged, or was cut off.")
    try:
        return pickle.loads(pickled)
    except Exception as error:  # a class or function that it names is gone, or raises
        raise errors.RunFileError(f"{path} names what is not here any more: {error}") from error
