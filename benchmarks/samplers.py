"""The No-U-Turn Samplers that are compared, each as a function of no arguments that runs its chains once more.

A system: (problem, chains, transitions) -> run; run() -> Run.  Steps have one fixed size, the mass matrix is the unit.
"""

from __future__ import annotations

import atexit
import os
import signal
import time
from collections.abc import Callable
from multiprocessing import get_context
from typing import Any, NamedTuple

import numpy as np
import tensorflow as tf
import tensorflow_probability as tfp

import autobatch as ab
from benchmarks import jax_samplers
from benchmarks.problems import Problem

MAX_TREE_DEPTH = 10


class Run(NamedTuple):
    """draws: [chains, transitions, d]; leapfrogs: [chains, transitions], each one gradient."""

    draws: Any
    leapfrogs: Any


System = Callable[[Problem, int, int], Callable[[], Run]]


def autobatch(problem: Problem, chains: int, transitions: int) -> Callable[[], Run]:
    start = tf.constant(problem.starts(chains), tf.float32)

    def run() -> Run:
        result = ab.mcmc.sample(
            problem.log_prob, start, transitions, 0, step_size=problem.step_size, max_tree_depth=MAX_TREE_DEPTH, seed=0
        )
        return Run(result.samples, result.stats["n_leapfrog"])

    return run


def _tfp_chain(kernel: Any, seed: Any, problem: Problem, chains: int, transitions: int) -> Callable[[], Run]:
    start = tf.constant(problem.starts(chains), tf.float32)

    @tf.function(jit_compile=True, autograph=False)
    def compiled(q: tf.Tensor) -> Any:
        return tfp.mcmc.sample_chain(
            transitions, q, kernel=kernel, seed=seed, trace_fn=lambda _, results: results.leapfrogs_taken
        )

    def run() -> Run:
        draws, taken = compiled(start)
        return Run(np.swapaxes(draws, 0, 1), np.swapaxes(taken, 0, 1))

    return run


def tfp_mcmc(problem: Problem, chains: int, transitions: int, leapfrogs: int = 1) -> Callable[[], Run]:
    """``leapfrogs``: of a leaf, which share the problem's step."""
    kernel = tfp.mcmc.NoUTurnSampler(
        problem.log_prob,
        problem.step_size / leapfrogs,
        max_tree_depth=MAX_TREE_DEPTH,
        unrolled_leapfrog_steps=leapfrogs,
    )
    return _tfp_chain(kernel, (1, 2), problem, chains, transitions)


def tfp_auto_batching(problem: Problem, chains: int, transitions: int) -> Callable[[], Run]:
    """The paper's own code, as TFP has it, on its program-counter machine under XLA."""
    kernel = tfp.experimental.mcmc.NoUTurnSampler(
        problem.log_prob, problem.step_size, max_tree_depth=MAX_TREE_DEPTH, unrolled_leapfrog_steps=1, seed=1
    )
    run = _tfp_chain(kernel, None, problem, chains, transitions)  # its steps take no seed

    def counted() -> Run:
        draws, summed_up = run()
        return Run(draws, np.diff(summed_up, prepend=0))

    return counted


def _by_jax(make: Callable[..., Callable[[], tuple]]) -> System:
    def system(problem: Problem, chains: int, transitions: int) -> Callable[[], Run]:
        start = np.asarray(problem.starts(chains), np.float32)
        run = make(problem.for_jax(), start, problem.step_size, transitions, MAX_TREE_DEPTH)
        return lambda: Run(*(np.swapaxes(leaf, 0, 1) for leaf in run()))

    return system


def stan(problem: Problem, chains: int, transitions: int) -> Callable[[], Run]:
    """One chain for each core, in float64 and without vectors, whatever ``chains``: how Stan is run."""
    del chains, transitions
    starts = problem.starts(os.cpu_count() or 1)
    # A process of its own: pystan forks, which JAX's threads do not survive.  It never ends by itself: killed.
    context = get_context("spawn")
    here, there = context.Pipe()
    process = context.Process(target=_serve_stan, args=(there,))
    process.start()
    atexit.register(os.killpg, process.pid, signal.SIGKILL)

    def run() -> Run:
        here.send((problem.stan, problem.data, starts, problem.step_size))
        return here.recv()

    return run


def _serve_stan(requests: Any) -> None:
    os.setpgrp()  # pystan's own processes are killed with this one
    while True:
        requests.send(_stan_draws(*requests.recv()))


def _stan_draws(code: str, data: dict[str, Any], starts: np.ndarray, step_size: float) -> Run:
    import stan as library

    count, many, thin = len(starts), 30_000, 100  # draws go through a socket
    # pystan keeps what it has run with the same seed and starts, also from one process to the next.
    model = library.build(code, data=data, random_seed=time.time_ns() % 2**31)
    names = ["q"] if " q;" in code else ["v", "x"]
    cut = {"v": lambda q: q[0], "x": lambda q: q[1:], "q": lambda q: q}
    fit = model.hmc_nuts_diag_e_adapt(
        num_chains=count, num_samples=many, num_warmup=0, num_thin=thin, stepsize=step_size,
        max_depth=MAX_TREE_DEPTH, init=[{name: cut[name](q).tolist() for name in names} for q in starts],
    )  # fmt: skip
    draws = np.concatenate([np.atleast_3d(fit[name].reshape(-1, many // thin, count)) for name in names])
    return Run(np.transpose(draws, (2, 1, 0)), thin * fit["n_leapfrog__"].reshape(-1, count).T)


SYSTEMS: dict[str, System] = {
    "autobatch": autobatch,
    "tfp.mcmc": tfp_mcmc,
    "TFP auto_batching": tfp_auto_batching,
    "NumPyro": _by_jax(jax_samplers.numpyro),
    "BlackJAX": _by_jax(jax_samplers.blackjax),
    "Stan": stan,
}
