"""autobatch: write a function for one example, run it on a whole batch."""

from __future__ import annotations

import importlib
from types import ModuleType

from autobatch import cache, errors, random
from autobatch.api import Autobatched, autobatch, load_run, primitive
from autobatch.calls.runs import Progress, Run
from autobatch.language.indexing import unroll
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


def __getattr__(name: str) -> ModuleType:
    if name == "mcmc":  # TensorFlow Probability and ArviZ take seconds to import
        return importlib.import_module("autobatch.mcmc")
    raise AttributeError(f"module 'autobatch' has no attribute {name!r}")
