"""Flags that TensorFlow and XLA read from the environment once: they are set before either begins to work.

So this is done when autobatch is imported, which imports neither.  A user who has set the same by then is left alone.

Which loops XLA's CPU compiler makes one function of is set anew for each machine (``machine/xla.py``); XLA looks again
each time it compiles only if its flags say so.  Executables are looked for in a folder (``machine/pieces.py``).
"""

from __future__ import annotations

import os
import re

from autobatch import cache

SMALL_LOOP = "xla_cpu_small_while_loop_byte_threshold"
DEFAULT = 1024  # bytes
_RESET = "--xla_flags_reset=true"
_SETTING = f" --xla_backend_extra_options={SMALL_LOOP}="
EXECUTABLES = "ram://autobatch"
_FOLDER = "--tf_xla_persistent_cache_directory="


def heed_small_loops() -> bool:
    """Makes XLA heed what is set later; returns whether the user's own flags leave that to us."""
    flags = os.environ.get("XLA_FLAGS", "").strip()
    if re.search(rf"{_RESET}{_SETTING}\d+$", flags):  # by the process that started this one
        return True
    if SMALL_LOOP in flags or (flags and not flags.startswith("-")):  # set already, or the name of a file
        return False
    os.environ["XLA_FLAGS"] = f"{flags} {_RESET}".lstrip()
    set_small_loop(DEFAULT)
    return True


def set_small_loop(limit: int) -> int:
    """Returns what it was."""
    flags = os.environ.get("XLA_FLAGS", "")
    before = re.findall(rf"{_SETTING}(\d+)", flags)
    others = re.sub(rf"{_SETTING}\d+", "", flags)
    os.environ["XLA_FLAGS"] = f"{others}{_SETTING}{limit}"
    return int(before[0]) if before else DEFAULT


def look_for_executables() -> bool:
    """Has TensorFlow look for executables in the folder; returns whether the user's own flags leave that to us."""
    flags = os.environ.get("TF_XLA_FLAGS", "")
    if cache.folder() is None or (_FOLDER in flags and EXECUTABLES not in flags):
        return False
    if flags and not flags.startswith("-"):
        return False
    if EXECUTABLES not in flags:
        os.environ["TF_XLA_FLAGS"] = f"{flags} {_FOLDER}{EXECUTABLES}".lstrip()
    return True


heeds_small_loops = heed_small_loops()
looks_for_executables = look_for_executables()
