"""The file of a saved run: a pickle."""

from __future__ import annotations

import os
import pickle
from pathlib import Path
from typing import Any

from autobatch import errors, files

VERSION = 3
_TITLE = "autobatch run, version "


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
    files.write(Path(path), f"{_TITLE}{VERSION}", pickled)


def read(path: str | os.PathLike) -> Any:
    """The content.

    Raises: RunFileError if the file is none of these, of another version, truncated or damaged; OSError.
    """
    try:
        pickled = files.read(Path(path), f"{_TITLE}{VERSION}")
    except files.DamagedError as damaged:
        if not damaged.title.startswith(_TITLE):
            raise errors.RunFileError(f"{path} is not a saved run.") from None
        version = damaged.title.removeprefix(_TITLE)
        if version != str(VERSION):
            raise errors.RunFileError(
                f"{path} is of version {version}; this is version {VERSION}.",
                help="load it with the version of autobatch that saved it.",
            ) from None
        raise errors.RunFileError(f"{path} is damaged, or was cut off.") from None
    try:
        return pickle.loads(pickled)
    except Exception as error:  # a class or function that it names is gone, or raises
        raise errors.RunFileError(f"{path} names what is not here any more: {error}") from error
