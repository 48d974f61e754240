"""Markov chain Monte Carlo by autobatched functions."""

import importlib
from typing import TYPE_CHECKING, Any

from autobatch.mcmc.chain import draws
from autobatch.mcmc.delayed_rejection import DelayedRejectionHMC
from autobatch.mcmc.elliptical import EllipticalSlice
from autobatch.mcmc.result import Result, load
from autobatch.mcmc.sampling import sample
from autobatch.mcmc.trouble import SamplingWarning

if TYPE_CHECKING:
    from autobatch.mcmc.kernel import NoUTurnSampler, NoUTurnSamplerResults

__all__ = [
    "DelayedRejectionHMC",
    "EllipticalSlice",
    "NoUTurnSampler",
    "NoUTurnSamplerResults",
    "Result",
    "SamplingWarning",
    "draws",
    "load",
    "sample",
]


def __getattr__(name: str) -> Any:
    if name in ("NoUTurnSampler", "NoUTurnSamplerResults"):  # which need TensorFlow Probability, a second's import
        return getattr(importlib.import_module("autobatch.mcmc.kernel"), name)
    raise AttributeError(f"module 'autobatch.mcmc' has no attribute {name!r}")
