"""Holds back a line that TensorFlow's C++ code writes."""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def without(noise: bytes) -> Iterator[None]:
    """What the process writes to its stderr meanwhile comes afterwards, without the lines that contain ``noise``."""
    sys.stderr.flush()
    try:
        usual = os.dup(2)
    except OSError:  # there is no stderr
        yield
        return
    with tempfile.TemporaryFile() as held:
        os.dup2(held.fileno(), 2)
        try:
            yield
        finally:
            os.dup2(usual, 2)
            os.close(usual)
            held.seek(0)
            said = b"".join(line for line in held if noise not in line)
            if said:
                os.write(2, said)
