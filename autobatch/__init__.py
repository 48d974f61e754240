"""autobatch: write a function for one example, run it on a whole batch."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from autobatch import cache, errors
from autobatch import flags as _flags  # noqa: F401  they are set before TensorFlow begins to work

if TYPE_CHECKING:
    from autobatch import mcmc, random
    from autobatch.api import Autobatched, autobatch, load_run
    from autobatch.batched import primitive
    from autobatch.calls.runs import Progress, Run
    from autobatch.language.looping import unroll
    from autobatch.language.structs import struct
    from autobatch.profiling import profile
    from autobatch.stages import Compiled, Lowered

__all__ = [
    "Autobatched",
    "Compiled",
    "Lowered",
    "Progress",
    "Run",
    "autobatch",
    "cache",
    "errors",
    "load_run",
    "mcmc",
    "primitive",
    "profile",
    "random",
    "struct",
    "unroll",
]

# Where to find what is imported when it is first asked for (PEP 562): TensorFlow takes seconds.
_HOMES = {
    "Autobatched": "api",
    "Compiled": "stages",
    "Lowered": "stages",
    "Progress": "calls.runs",
    "Run": "calls.runs",
    "autobatch": "api",
    "load_run": "api",
    "primitive": "batched",
    "profile": "profiling",
    "struct": "language.structs",
    "unroll": "language.looping",
}
_ROOMS = ("mcmc", "random")


def __getattr__(name: str) -> Any:
    if name in _ROOMS:
        return importlib.import_module(f"autobatch.{name}")
    if name not in _HOMES:
        raise AttributeError(f"module 'autobatch' has no attribute {name!r}")
    found = getattr(importlib.import_module(f"autobatch.{_HOMES[name]}"), name)
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
