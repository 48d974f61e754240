"""Markov chain Monte Carlo by autobatched functions."""

from autobatch.mcmc.kernel import NoUTurnSampler, NoUTurnSamplerResults
from autobatch.mcmc.result import Result, SamplingWarning
from autobatch.mcmc.sampling import sample

__all__ = ["NoUTurnSampler", "NoUTurnSamplerResults", "Result", "SamplingWarning", "sample"]
