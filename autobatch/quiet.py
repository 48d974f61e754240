"""Holds back lines that TensorFlow's C++ code writes."""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager

# What it says of the machine when it is imported, whatever TF_CPP_MIN_LOG_LEVEL is.
AT_IMPORT = (
    b"before absl::InitializeLog()", b"] oneDNN custom operations are on", b"] Could not find cuda drivers",
    b"] This TensorFlow binary is optimized", b"To enable the following instructions",
)  # fmt: skip


@contextmanager
def without(*noise: bytes) -> Iterator[None]:
    """What the process writes to its stderr meanwhile comes afterwards, without lines that contain any ``noise``."""
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
            said = b"".join(line for line in held if not any(each in line for each in noise))
            if said:
                os.write(2, said)
