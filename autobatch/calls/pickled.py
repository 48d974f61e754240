"""Autobatched functions in pickles: by name, as functions are, or by what they are made of.

A function of a script, or one that was made inside of another, travels whole (``cloudpickle`` does that, so Dask and
Ray do), and each time that it arrives it is another object.  What was compiled is found again by its content.
"""

from __future__ import annotations

import sys
from collections import OrderedDict
from collections.abc import Callable
from typing import Any, TypeVar

from autobatch.frontend.content import content
from autobatch.frontend.watch import found_by_name

T = TypeVar("T")
MOST = 64  # contents

_found: OrderedDict[str, Any] = OrderedDict()


def name_of(value: Any) -> str | None:
    """By which every process that has its module finds it there; None if it does not."""
    module = sys.modules.get(value.__module__)
    if module is None or module.__name__ in ("__main__", "__mp_main__"):  # another process has another
        return None
    return value.__qualname__ if found_by_name(value) is value else None


def by_content(parts: list[Any], make: Callable[[], T]) -> T | None:
    """What was made for such parts before; None if it cannot be known whether they are the same."""
    try:
        digest = content(parts).digest
    except Exception:  # as for what is kept: of what is not known
        return None
    _found[digest] = _found[digest] if digest in _found else make()
    _found.move_to_end(digest)
    if len(_found) > MOST:
        _found.popitem(last=False)
    return _found[digest]
