"""``sample``: from a log density or a model to draws, warm-up included."""

from __future__ import annotations

import math
import os
from typing import Any, Literal

import numpy as np
import tensorflow as tf

from autobatch import errors, random
from autobatch.api import Autobatched
from autobatch.calls.fingerprint import of_watched
from autobatch.calls.jax_function import jax_module
from autobatch.mcmc.adaptation import Window, averaging_from, first_step, pooled_step, windows
from autobatch.mcmc.chain import STATISTICS, run_chain
from autobatch.mcmc.checkpoint import Checkpoint, Standing, Trace
from autobatch.mcmc.hamiltonian import State
from autobatch.mcmc.metric import Metric, fitted, unit
from autobatch.mcmc.model import problem_of, scattered_start
from autobatch.mcmc.result import Result
from autobatch.mcmc.settings import (
    VARIANTS,
    chain_keys,
    check_count,
    check_step_size,
    check_trees,
    key_of_seed,
)
from autobatch.mcmc.trouble import has_mixed, warn_of_trouble
from autobatch.profiling import Profile
from autobatch.profiling import profile as count
from autobatch.progress import Bar, is_wanted, seconds_of_work
from autobatch.tracebacks import shortened

FIRST_PIECE = 10  # draws of the first call of a run that shows a bar, or saves itself
LONGEST_PIECE = 5.0  # seconds between two moves of the bar, about: where it is cut, chains wait for each other
ROOMS = 256, 512, 1024  # draws that one call has room for: so most runs of a target have the same program
PIECE = 32 * 2**20  # bytes of draws that one call makes; more are put together outside of TensorFlow's memory


@shortened
def sample(
    target: Any,
    init_state: Any = None,
    num_results: int = 1000,
    num_warmup: int = 500,
    seed: Any = None,
    *,
    at_most: int | None = None,
    observed: Any = None,
    chains: int | None = None,
    init: Literal["jitter", "prior"] = "jitter",
    step_size: float = 0.1,
    target_acceptance: float = 0.8,
    max_tree_depth: int = 10,
    max_energy_difference: float = 1000.0,
    leapfrogs_per_leaf: int = 1,
    variant: Literal["multinomial", "slice"] = "multinomial",
    progress: bool | None = None,
    autosave: str | os.PathLike | None = None,
    every: float = 60.0,
    strategy: tf.distribute.Strategy | None = None,
    device: Literal["jax"] | None = None,
    profile: bool = False,
) -> Result:
    """Draws from a distribution with the No-U-Turn Sampler, all chains in one autobatched program.

    A chain's whole run is one function with a loop over draws, so no chain waits for another's trajectory: the fifth
    of one runs beside the eighth of another (a long run is cut after 1,024 draws, or 32 MiB of them).  The draws of a
    chain depend on the seed and, through warm-up, which is pooled, on the other chains; with ``num_warmup=0`` on the
    seed alone.

        result = ab.mcmc.sample(lambda x: -0.5 * tf.reduce_sum(x**2, -1), tf.zeros([8, 3]), seed=0)
        result = ab.mcmc.sample(model, observed={"y": y}, chains=8, seed=0)
        result.summary()

    Args:
      target: a log density up to a constant, of unconstrained parts of shape [chains, ...], returning [chains]; or a
        ``tfd.JointDistribution``, whose constrained parts are handled by its default bijectors.
      init_state: where the chains start: a tensor or a nest of tensors of shape [chains, ...]; with a leading axis of
        1 and ``chains=n``, all start around one point (uniformly within 1 of it).  A model needs none.
      num_results: draws that are kept of each chain.
      at_most: how many are kept if num_results are not enough: the run goes on, by so many, until R-hat is at most 1.01
        and the effective sample size at least 400, as far as a ``SamplingWarning`` would tell.
      num_warmup: transitions before, in Stan's windows.  They tune the metric (the inverse mass matrix): a scale for
        each coordinate and some directions, from all chains' draws and gradients; and the step size, by dual averaging
        (Hoffman and Gelman 2014), at last by all chains' acceptance.
      seed: an int, or a pair of ints as in ``tfp.random``; required.
      observed: the model's data: a dictionary by name, or a tuple with None for what is not observed.
      chains: how many, if ``init_state`` does not tell; 16 for a model.
      init: starts of a model's chains: "jitter", uniform on (-2, 2) in the unconstrained space, or "prior".
      step_size: where the search for one begins; with num_warmup=0 that of the whole run.
      target_acceptance: what the step size is tuned to: the harmonic mean of all chains' acceptance probability, which
        is about their mean where curvature is the same everywhere, and less than it elsewhere.
      max_tree_depth: a trajectory ends after this many doublings.
      max_energy_difference: a trajectory whose log joint density falls by more than this has diverged.
      leapfrogs_per_leaf: leapfrog steps between two points of the trajectory.
      variant: as in ``NoUTurnSampler``.
      progress: whether to show a bar, for which the run is cut into pieces (the draws are the same); None: in a
        terminal or a notebook, unless ``profile`` is asked for.
      autosave: a file in which the run outlives its process: it saves itself there, also when it is interrupted, and
        the same call goes on from there, to the same draws.  It is a pickle: use only one that you trust.
      every: seconds from one time to the next, about.
      strategy: over whose replicas the chains are split, as for ``autobatch``; the draws are the same up to the
        rounding of another batch size, which grows from draw to draw.
      device: "jax": JAX compiles and runs the chains, on its default device: on a GPU without TensorFlow's CUDA.  The
        draws are those of TensorFlow up to rounding.
      profile: whether to count what the machine does for the first call's draws (all of them, unless they are more than
        1,024 or 32 MiB, or ``progress`` or ``autosave`` cut them); ``Result.profile`` has it.

    Returns: a ``Result``.  Divergences, chains that disagree and few effective draws are said by ``SamplingWarning``.

    Raises:
      SettingError: a setting is out of range, or no seed.
      LogDensityError: the log density has the wrong shape, or no gradient.
      StartError: chains start where the log density is not finite. As the two above, before anything is compiled.
      RunFileError: the file cannot be read, or is that of another run.
    """
    if not tf.executing_eagerly():
        raise errors.SettingError(
            "ab.mcmc.sample runs outside of tf.function only: between its windows it looks at all chains.",
            help="inside, use tfp.mcmc.sample_chain with ab.mcmc.NoUTurnSampler.",
        )
    _check(num_results, num_warmup, step_size, target_acceptance, chains)
    at_most = num_results if at_most is None else at_most
    check_count("at_most", at_most, least=num_results)
    if device not in (None, "jax"):
        raise errors.SettingError(f'device must be None or "jax", not {device!r}.')
    if device is not None and (strategy is not None or profile):
        raise errors.SettingError('device="jax" has no strategy and no profile.')
    check_trees(variant, max_tree_depth, max_energy_difference, leapfrogs_per_leaf)
    key_start, key_chains = tf.unstack(random.split(key_of_seed(seed, "ab.mcmc.sample(..., seed=0)")))
    progress = is_wanted(False if profile and progress is None else progress)  # pieces would be counted alone
    problem = problem_of(target, init_state, observed, chains, init, key_start)
    count = len(tf.nest.flatten(problem.start)[0])
    density, state = scattered_start(problem, key_start)
    layout = density.layout
    on_vectors = density.on_all if density.sees_position(state.q) else density.on_any
    sampler = VARIANTS[variant](on_vectors, max_tree_depth, float(max_energy_difference), leapfrogs_per_leaf)
    stages = [*windows(num_warmup), Window(num_results, "draw")]
    longest = max(stage.length for stage in stages)
    fits = PIECE // (2 * count * sum(layout.sizes) * layout.dtype.size)
    longest = min(next((room for room in ROOMS if room >= longest), max(ROOMS)), max(10, fits))
    settings = {
        "num_results": num_results, "num_warmup": num_warmup, "seed": tuple(key_chains.numpy().tolist()),
        "step_size": step_size, "target_acceptance": target_acceptance, "max_tree_depth": max_tree_depth,
        "max_energy_difference": max_energy_difference, "leapfrogs_per_leaf": leapfrogs_per_leaf, "variant": variant,
    }  # fmt: skip
    checkpoint = Checkpoint(autosave, every, settings, of_watched(density.watched), state)
    at = checkpoint.read()
    if at is None:
        if num_warmup:
            step_size = first_step(density.compute, state, step_size, key_start.numpy().tolist())
        at = _first(state, float(np.log(step_size)), unit(sum(layout.sizes), layout.dtype.as_numpy_dtype))
    with Bar(total=num_warmup + num_results, initial=at.taken, unit="draw", disable=not progress) as bar:
        keys = chain_keys(key_chains, [count])
        chain = _Chains(sampler, longest, target_acceptance, keys, bar, checkpoint, strategy, device, profile)
        for window in stages[at.stage : -1]:
            at, trace = chain.run(at, window)
            at = _tuned(at, window, Trace(*map(np.asarray, trace)), target_acceptance)
        at, trace = chain.draw(at, num_results, at_most)
        checkpoint.write(at)
    result = Result(
        problem.constrain(layout.to_parts(trace.positions, [count, trace.positions.shape[1]])),
        _named(trace.statistics),
        float(np.exp(at.log_step)),
        at.metric,
        problem.observed,
        chain.profile,
        problem.model,
    )
    warn_of_trouble(result.stats, np.asarray(trace.positions), max_tree_depth)
    return result


def _first(state: State, log_step: float, metric: Metric) -> Standing:
    chains, dtype = len(state.q), state.q.dtype.as_numpy_dtype
    none = Trace(*(np.empty((chains, 0, width), dtype) for width in (len(metric.scale), len(STATISTICS), 0)))
    return Standing(0, 0, log_step, metric, state, None, none)


def _tuned(at: Standing, window: Window, trace: Trace, target: float) -> Standing:
    """Where the next stage begins, after a window of warm-up."""
    assert at.averaging is not None
    log_step, metric = float(np.median(at.averaging.log_average)), at.metric
    if window.purpose == "pool":
        step = pooled_step(np.exp(at.log_step), trace.statistics[..., STATISTICS.index("acceptance")], target)
        log_step = float(np.log(step))
    if window.purpose == "fit":
        metric = fitted(trace.positions, trace.gradients)
        log_step -= float(np.median(np.log(metric.scale / at.metric.scale)))  # so that the steps stay as long
    return _first(at.state, log_step, metric)._replace(stage=at.stage + 1, taken=at.taken)


class _Chains:
    """All chains under one seed; ``run`` lets them take their next transitions."""

    def __init__(
        self,
        sampler: Any,
        longest: int,
        target: float,
        keys: tf.Tensor,
        bar: Bar,
        checkpoint: Checkpoint,
        strategy: tf.distribute.Strategy | None,
        device: str | None,
        profiles: bool,
    ):
        self.sampler, self.longest, self.target, self.keys, self.bar = sampler, longest, target, keys, bar
        self.checkpoint, self.device, self.profiles = checkpoint, device, profiles
        saving = math.inf if checkpoint.path is None else checkpoint.every / 2
        self.seconds = min(saving, math.inf if bar.disable else LONGEST_PIECE)  # of one call, about
        self.piece = longest if self.seconds == math.inf else FIRST_PIECE  # draws of one call
        # A scale for each chain, though all are alike: XLA compiles some models anew for each value of a shared one.
        axes = (0, 0, 0, None, None, None, None, None, 0)
        depth = sampler.max_tree_depth + 1
        self.function: Autobatched = run_chain.options(in_axes=axes, max_depth=depth, strategy=strategy)
        self.profile: Profile | None = None

    def draw(self, at: Standing, each: int, at_most: int) -> tuple[Standing, Trace]:
        """``each`` draws, and again as many until they are enough."""
        drawn = each * max(1, math.ceil(at.trace.positions.shape[1] / each))  # behind what a file has
        while True:
            length = max(min(drawn, at_most), at.trace.positions.shape[1])
            self.bar.total = at.taken - at.trace.positions.shape[1] + length
            at, trace = self.run(at, Window(length, "draw"))
            if length >= at_most or has_mixed(np.asarray(trace.positions)):
                return at, trace
            drawn = length + each

    def run(self, at: Standing, window: Window) -> tuple[Standing, Trace]:
        """The rest of a stage's transitions; returns its whole trace too."""
        self.bar.set_description("sampling" if window.purpose == "draw" else "warm-up")
        done, dtype, length = at.trace.positions.shape[1], at.state.q.dtype, window.length
        if not done and length <= self.piece:
            return self._advance(at, length, window)
        d = len(at.metric.scale)
        widths = d, len(STATISTICS), d if window.purpose == "fit" else 0
        whole = Trace(*(_aligned((len(self.keys), length, width), dtype) for width in widths))
        if done:
            _write(whole, 0, at.trace)
        try:
            while done < length:
                now, start = min(self.piece, length - done), seconds_of_work()
                then, new = self._advance(at, now, window)
                _write(whole, done, new)
                done += now
                at = then._replace(trace=Trace(*(part[:, :done] for part in whole)))
                if seconds_of_work() - start < self.seconds:
                    self.piece = min(2 * self.piece, self.longest)
                if self.checkpoint.is_due:
                    self.checkpoint.write(at)
        except KeyboardInterrupt:
            self.checkpoint.write(at)
            raise
        return at, whole._replace(positions=_tensor(whole.positions), statistics=_tensor(whole.statistics))

    def _advance(self, at: Standing, now: int, window: Window) -> tuple[Standing, Trace]:
        """``now`` transitions, in one call; returns their trace."""
        dtype = at.state.q.dtype
        averaging = at.averaging or averaging_from(tf.fill([len(self.keys)], tf.constant(at.log_step, dtype)))
        scale = tf.constant(np.tile(at.metric.scale, (len(self.keys), 1)))
        bend = tf.nest.map_structure(tf.constant, at.metric.bend)
        tuned = self.target, window.searches
        given = (self.sampler, self.longest, at.state, averaging, scale, bend, *tuned, at.taken, now, self.keys)
        if self.profiles and window.purpose == "draw" and self.profile is None:
            self.profile = count(self.function, *given)
            state, averaging, *written = self.profile.result
        else:
            state, averaging, *written = self._call(given)
        self.bar.update(now)
        if not self.bar.disable:
            self.bar.set_postfix_str(f"step size {float(np.exp(np.median(averaging.log_step))):.3g}")
        positions, statistics, gradients = (part[:, :now] for part in written)
        trace = Trace(positions, statistics, gradients if window.purpose == "fit" else gradients[..., :0])
        return at._replace(taken=at.taken + now, state=state, averaging=averaging, trace=trace), trace

    def _call(self, given: tuple[Any, ...]) -> Any:
        if self.device is None:
            return self.function(*given)
        *known, state, averaging, scale, bend, target, tuning, first, draws, keys = given
        numbers = np.asarray(target, scale.dtype.as_numpy_dtype), np.asarray(tuning), np.int32(first), np.int32(draws)
        arrays = state, averaging, scale, bend, *map(np.asarray, numbers), keys
        with jax_module().enable_x64(True):
            run = self.function.lower(*known, *arrays).to_jax()
            return tf.nest.map_structure(lambda leaf: tf.constant(np.asarray(leaf)), run(*arrays))


def _write(whole: Trace, start: int, new: Trace) -> None:
    for part, piece in zip(whole, new, strict=True):
        part[:, start : start + piece.shape[1]] = piece


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
        raise errors.SettingError("step_size is one number here; the metric scales the coordinates.")
    if not 0 < target_acceptance < 1:
        raise errors.SettingError(f"target_acceptance must be between 0 and 1, not {target_acceptance!r}.")
