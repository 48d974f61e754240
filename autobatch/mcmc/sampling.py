"""``sample``: from a log density or a model to draws, warm-up included."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, Literal

import numpy as np
import tensorflow as tf
from tqdm.auto import tqdm

from autobatch import errors, random
from autobatch.mcmc.adaptation import Averaging, averaging_from, pooled_deviations, windows
from autobatch.mcmc.chain import STATISTICS, run_chain
from autobatch.mcmc.hamiltonian import State
from autobatch.mcmc.model import problem_of, scattered_start
from autobatch.mcmc.result import Result, warn_of_trouble
from autobatch.mcmc.settings import (
    VARIANTS,
    chain_keys,
    check_count,
    check_step_size,
    check_trees,
    key_of_seed,
)

LOOKS = 20  # how often the progress bar moves while sampling
PIECE = 32 * 2**20  # bytes of draws that one call makes; more are put together outside of TensorFlow's memory


def sample(
    target: Any,
    init_state: Any = None,
    num_results: int = 1000,
    num_warmup: int = 500,
    seed: Any = None,
    *,
    observed: Any = None,
    chains: int | None = None,
    init: Literal["jitter", "prior"] = "jitter",
    step_size: float = 0.1,
    target_acceptance: float = 0.8,
    max_tree_depth: int = 10,
    max_energy_difference: float = 1000.0,
    leapfrogs_per_leaf: int = 1,
    variant: Literal["multinomial", "slice"] = "multinomial",
    progress: bool = False,
) -> Result:
    """Draws from a distribution with the No-U-Turn Sampler, all chains in one autobatched program.

    A chain's whole run is one function with a loop over draws, so no chain waits for another's trajectory: the fifth
    of one runs beside the eighth of another (a long run is cut where 32 MiB of draws are full).  The draws of a chain
    depend on the seed and, through warm-up, which is pooled, on the other chains; with ``num_warmup=0`` on the seed
    alone.

        result = ab.mcmc.sample(lambda x: -0.5 * tf.reduce_sum(x**2, -1), tf.zeros([8, 3]), seed=0)
        result = ab.mcmc.sample(model, observed={"y": y}, chains=8, seed=0)
        result.summary()

    Args:
      target: a log density up to a constant, of unconstrained parts of shape [chains, ...], returning [chains]; or a
        ``tfd.JointDistribution``, whose constrained parts are handled by its default bijectors.
      init_state: where the chains start: a tensor or a nest of tensors of shape [chains, ...]; with a leading axis of
        1 and ``chains=n``, all start around one point (uniformly within 1 of it).  A model needs none.
      num_results: draws that are kept of each chain.
      num_warmup: transitions before, which tune the step size by dual averaging (Hoffman and Gelman 2014) and the
        diagonal mass matrix by the variance of all chains' draws, in Stan's windows.
      seed: an int, or a pair of ints as in ``tfp.random``; required.
      observed: the model's data: a dictionary by name, or a tuple with None for what is not observed.
      chains: how many, if ``init_state`` does not tell; 16 for a model.
      init: starts of a model's chains: "jitter", uniform on (-2, 2) in the unconstrained space, or "prior".
      step_size: the first; with num_warmup=0 that of the whole run.
      target_acceptance: the mean acceptance probability that the step size is tuned to.
      max_tree_depth, max_energy_difference, leapfrogs_per_leaf, variant: as in ``NoUTurnSampler``.
      progress: whether to show a bar, for which the run is cut into pieces (the draws are the same).

    Returns: a ``Result``.  Divergences, chains that disagree and few effective draws are said by ``SamplingWarning``.

    Raises (errors of ``ab.errors``, before anything is compiled):
      SettingError: a setting is out of range, or no seed.
      LogDensityError: the log density has the wrong shape, or no gradient.
      StartError: chains start where the log density is not finite.
    """
    if not tf.executing_eagerly():
        raise errors.SettingError(
            "ab.mcmc.sample runs outside of tf.function only: between its windows it looks at all chains.",
            help="inside, use tfp.mcmc.sample_chain with ab.mcmc.NoUTurnSampler.",
        )
    _check(num_results, num_warmup, step_size, target_acceptance, chains)
    check_trees(variant, max_tree_depth, max_energy_difference, leapfrogs_per_leaf)
    key_start, key_chains = tf.unstack(random.split(key_of_seed(seed, "ab.mcmc.sample(..., seed=0)")))
    problem = problem_of(target, init_state, observed, chains, init, key_start)
    count = len(tf.nest.flatten(problem.start)[0])
    density, state = scattered_start(problem, key_start)
    layout = density.layout
    on_vectors = density.on_all if density.sees_position(state.q) else density.on_any
    sampler = VARIANTS[variant](on_vectors, max_tree_depth, float(max_energy_difference), leapfrogs_per_leaf)
    schedule = windows(num_warmup)
    longest = max(10, -(-num_results // LOOKS)) if progress else max([num_results, *(w.length for w in schedule)])
    longest = min(longest, max(10, PIECE // (count * sum(layout.sizes) * layout.dtype.size)))
    with tqdm(total=num_warmup + num_results, unit="draw", disable=not progress) as bar:
        chain = _Chains(sampler, longest, target_acceptance, chain_keys(key_chains, [count]), bar)
        scale, log_step = np.ones(sum(layout.sizes)), float(np.log(step_size))
        for window in schedule:
            state, averaging, trace, _ = chain.run(state, log_step, scale, window.length, tuning=True)
            log_step = float(np.median(averaging.log_average))
            if window.scales:
                last, scale = scale, pooled_deviations(np.asarray(trace))
                log_step -= float(np.median(np.log(scale / last)))  # so that the steps stay as long
        state, _, trace, statistics = chain.run(state, log_step, scale, num_results, tuning=False)
    result = Result(
        problem.constrain(layout.to_parts(trace, [count, num_results])),
        _named(statistics),
        float(np.exp(log_step)),
        scale,
        problem.observed,
    )
    warn_of_trouble(result, np.asarray(trace), max_tree_depth)
    return result


class _Chains:
    """All chains under one seed; ``run`` lets them take their next transitions."""

    def __init__(self, sampler: Any, longest: int, target: float, keys: tf.Tensor, bar: tqdm):
        self.sampler, self.longest, self.target, self.keys, self.bar = sampler, longest, target, keys, bar
        self.taken = 0
        # A scale for each chain, though all are alike: XLA compiles some models anew for each value of a shared one.
        axes = (0, 0, 0, None, None, None, None, 0)
        self.function: Callable = run_chain.options(in_axes=axes, max_depth=sampler.max_tree_depth + 1)

    def run(
        self, state: State, log_step: float, scale: np.ndarray, length: int, tuning: bool
    ) -> tuple[State, Averaging, tf.Tensor, tf.Tensor]:
        """``length`` transitions; returns the traces [chains, length, d] and [chains, length, statistics] too."""
        self.bar.set_description("warm-up" if tuning else "sampling")
        dtype = state.q.dtype
        averaging = averaging_from(tf.fill([len(self.keys)], tf.constant(log_step, dtype)))
        scales = tf.constant(np.tile(scale, (len(self.keys), 1)), dtype)

        def advance(state: State, averaging: Averaging, now: int) -> tuple[State, Averaging, tf.Tensor, tf.Tensor]:
            given = (scales, self.target, tuning, self.taken, now, self.keys)
            state, averaging, positions, numbers = self.function(self.sampler, self.longest, state, averaging, *given)
            self.taken += now
            self.bar.update(now)
            if not self.bar.disable:
                self.bar.set_postfix_str(f"step size {float(np.exp(np.median(averaging.log_step))):.3g}")
            return state, averaging, positions[:, :now], numbers[:, :now]

        if length <= self.longest:
            return advance(state, averaging, length)
        trace = _aligned((len(self.keys), length, len(scale)), dtype)
        statistics = _aligned((len(self.keys), length, len(STATISTICS)), dtype)
        for start in range(0, length, self.longest):
            piece = slice(start, min(start + self.longest, length))
            state, averaging, trace[:, piece], statistics[:, piece] = advance(state, averaging, piece.stop - start)
        return state, averaging, _tensor(trace), _tensor(statistics)


def _aligned(shape: tuple[int, ...], dtype: tf.DType, to: int = 64) -> np.ndarray:
    """An empty array that TensorFlow can take over without a copy."""
    size = math.prod(shape) * dtype.size
    raw = np.empty(size + to, np.uint8)
    start = -raw.ctypes.data % to
    return raw[start : start + size].view(dtype.as_numpy_dtype).reshape(shape)


def _tensor(array: np.ndarray) -> tf.Tensor:
    return tf.experimental.dlpack.from_dlpack(array.__dlpack__())


def _named(statistics: tf.Tensor) -> dict[str, tf.Tensor]:
    """[chains, draws] each, from [chains, draws, statistics]."""
    kinds = {"tree_depth": tf.int32, "n_leapfrog": tf.int32, "diverging": tf.bool, "cut": tf.bool}
    columns = zip(STATISTICS, tf.unstack(statistics, axis=-1), strict=True)
    return {name: tf.cast(column, kinds[name]) if name in kinds else column for name, column in columns}


def _check(num_results: Any, num_warmup: Any, step_size: Any, target_acceptance: Any, chains: Any) -> None:
    check_count("num_results", num_results)
    check_count("num_warmup", num_warmup, least=0)
    if chains is not None:
        check_count("chains", chains)
    check_step_size(step_size)
    if np.ndim(step_size):
        raise errors.SettingError("step_size is one number here; the mass matrix scales the coordinates.")
    if not 0 < target_acceptance < 1:
        raise errors.SettingError(f"target_acceptance must be between 0 and 1, not {target_acceptance!r}.")
