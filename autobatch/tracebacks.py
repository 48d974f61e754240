"""Errors as their users see them: their own frames, and the call that failed; not how the library came to it.

``AUTOBATCH_TRACEBACK=full`` shows all frames, the library's and TensorFlow's, with the errors that an error came from.
"""

from __future__ import annotations

import functools
import os
from collections.abc import Callable
from typing import ParamSpec, TypeVar

from autobatch.errors import AutobatchError

P = ParamSpec("P")
T = TypeVar("T")


def shortened(function: Callable[P, T]) -> Callable[P, T]:
    """A function that users call, from which an error of the library's comes with no frames of what it calls."""

    @functools.wraps(function)
    def entry(*args: P.args, **kwargs: P.kwargs) -> T:
        __tracebackhide__ = True  # pytest leaves out this frame
        try:
            return function(*args, **kwargs)
        except AutobatchError as error:
            if os.environ.get("AUTOBATCH_TRACEBACK") == "full":
                raise
            raise error.with_traceback(None) from None

    return entry
