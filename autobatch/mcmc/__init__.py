"""Markov chain Monte Carlo by autobatched functions."""

from autobatch.mcmc.chain import draws
from autobatch.mcmc.delayed_rejection import DelayedRejectionHMC
from autobatch.mcmc.elliptical import EllipticalSlice
from autobatch.mcmc.kernel import NoUTurnSampler, NoUTurnSamplerResults
from autobatch.mcmc.result import Result, SamplingWarning
from autobatch.mcmc.sampling import sample

__all__ = [
    "DelayedRejectionHMC",
    "EllipticalSlice",
    "NoUTurnSampler",
    "NoUTurnSamplerResults",
    "Result",
    "SamplingWarning",
    "draws",
    "sample",
]
