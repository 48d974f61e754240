"""The No-U-Turn Sampler as a ``tfp.mcmc.TransitionKernel``."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Literal, NamedTuple

import tensorflow as tf
import tensorflow_probability as tfp
from tensorflow_probability.python.experimental.mcmc import preconditioning_utils

from autobatch import errors, random
from autobatch.api import autobatch
from autobatch.mcmc.density import call, check_start, log_density, wrong_shape
from autobatch.mcmc.hamiltonian import State
from autobatch.mcmc.layout import Layout, check_parts
from autobatch.mcmc.settings import (
    VARIANTS,
    chain_keys,
    check_count,
    check_step_size,
    check_trees,
    key_of_seed,
)


class NoUTurnSamplerResults(NamedTuple):
    """What one step leaves behind; shapes are the batch shape of the chains unless said.

    The names are those of ``tfp.mcmc``.  With several trajectories in a step, numbers of leapfrogs are summed,
    acceptance is averaged, the greatest depth is kept and flags say whether any trajectory raised them.

    target_log_prob: of the new state.
    grads_target_log_prob: its gradient, a list with a tensor for each part of the state.
    step_size: as given, or as an adaptation has set it; the next step uses it.
    log_accept_ratio: the logarithm of the mean acceptance probability along the trajectories.
    leapfrogs_taken, tree_depth: int32.
    is_accepted, reach_max_depth, has_divergence: bool.
    energy: the log joint density of the new state and its momentum (minus the Hamiltonian, as in TFP).
    momentum_distribution: its variance is the diagonal mass matrix.
    seed: the one that the step was given, [2] int32.
    """

    target_log_prob: Any
    grads_target_log_prob: Any
    step_size: Any
    log_accept_ratio: Any
    leapfrogs_taken: Any
    is_accepted: Any
    reach_max_depth: Any
    has_divergence: Any
    energy: Any
    momentum_distribution: Any
    seed: Any
    tree_depth: Any


@autobatch(static_argnames=("sampler", "trajectories"))
def several_transitions(sampler, trajectories, state, size, scale, key):
    """``trajectories`` transitions of one chain."""
    leapfrogs, depth, acceptance, energy = 0, 0, 0.0, 0.0
    moved, cut, diverging = False, False, False
    for t in range(trajectories):
        state, report = sampler.transition(state, size, scale, (), random.fold_in(key, t))
        leapfrogs, depth = leapfrogs + report.leapfrogs, max(depth, report.depth)
        acceptance, energy = acceptance + report.acceptance / trajectories, report.energy
        moved, cut, diverging = moved | report.moved, cut | report.cut, diverging | report.diverging
    return state, (leapfrogs, depth, acceptance, energy, moved, cut, diverging)


class NoUTurnSampler(tfp.mcmc.TransitionKernel):
    """The No-U-Turn Sampler (Hoffman and Gelman 2014), for use with ``tfp.mcmc.sample_chain`` and its wrappers.

    The trees are built by a recursive function of one chain (``autobatch/mcmc/multinomial.py``) that autobatch runs
    for all chains: within a step no chain waits for another's doubling, only for the longest trajectory.
    ``ab.mcmc.sample`` runs whole chains, which do not wait even for that.

        kernel = ab.mcmc.NoUTurnSampler(log_prob, step_size=0.1)
        kernel = tfp.mcmc.DualAveragingStepSizeAdaptation(kernel, num_adaptation_steps=400)
        states = tfp.mcmc.sample_chain(1000, start, kernel=kernel, num_burnin_steps=500, seed=(1, 2), trace_fn=None)

    Random numbers come from the seed of each step alone: chain k draws the same in every batch, inside and outside
    of ``tf.function`` and XLA.

    Args:
      target_log_prob_fn: takes the parts of the state, each of shape batch shape + event shape, and returns the log
        density up to a constant, of the batch shape (any number of axes, also none; one may be of unknown length).
      step_size: positive; a number or tensor, or a list with one for each part, each broadcastable with its part:
        shape [] for all, [chains, 1] for one a chain where the part is [chains, d].
      max_tree_depth: a trajectory ends after this many doublings.
      max_energy_difference: a trajectory whose log joint density falls by more than this has diverged.
      leapfrogs_per_leaf: leapfrog steps between two points of the trajectory.
      trajectories_per_step: transitions in one step; chains wait for each other after the last only.
      variant: "multinomial" (Betancourt 2017, as in Stan), or "slice" (Hoffman and Gelman 2014).
      name: for TensorFlow's scopes.

    Raises:
      SettingError: a setting is out of range, the state has no common dtype, or a step is given no seed.
      LogDensityError: the log density has the wrong shape, or no gradient.
      StartError: chains start where the log density is not finite (seen outside ``tf.function`` only; inside, such a
        chain stays where it is, and ``has_divergence`` is true).
    """

    def __init__(
        self,
        target_log_prob_fn: Callable[..., tf.Tensor],
        step_size: Any,
        max_tree_depth: int = 10,
        max_energy_difference: float = 1000.0,
        leapfrogs_per_leaf: int = 1,
        trajectories_per_step: int = 1,
        variant: Literal["multinomial", "slice"] = "multinomial",
        name: str | None = None,
    ):
        check_step_size(step_size)
        check_count("trajectories_per_step", trajectories_per_step)
        check_trees(variant, max_tree_depth, max_energy_difference, leapfrogs_per_leaf)
        self._parameters = {
            "target_log_prob_fn": target_log_prob_fn,
            "step_size": step_size,
            "max_tree_depth": max_tree_depth,
            "max_energy_difference": max_energy_difference,
            "leapfrogs_per_leaf": leapfrogs_per_leaf,
            "trajectories_per_step": trajectories_per_step,
            "variant": variant,
            "name": name,
        }

    @property
    def parameters(self) -> dict[str, Any]:
        """The keywords that it was made with."""
        return self._parameters

    @property
    def target_log_prob_fn(self) -> Callable[..., tf.Tensor]:
        return self._parameters["target_log_prob_fn"]

    @property
    def step_size(self) -> Any:
        return self._parameters["step_size"]

    @property
    def name(self) -> str:
        return self._parameters["name"] or "NoUTurnSampler"

    @property
    def is_calibrated(self) -> bool:
        return True

    def bootstrap_results(self, init_state: Any) -> NoUTurnSamplerResults:
        """The results before the first step: of a state that is a tensor, or a list or tuple of them."""
        with tf.name_scope(self.name + ".bootstrap_results"):
            state = _parts(init_state)
            check_parts(state)  # what it refuses is refused before the user's function sees it
            value = call(self.target_log_prob_fn, state)
            if not all(value.shape.is_compatible_with(p.shape[: value.shape.rank]) for p in tf.nest.flatten(state)):
                shapes = [part.shape for part in tf.nest.flatten(state)]
                raise wrong_shape(value.shape, shapes, "the leading axes of every part")
            layout = Layout.of(state, value.shape.rank)
            value, gradient = log_density(self.target_log_prob_fn, layout).value_and_gradient(state)
            if tf.executing_eagerly():
                check_start(value, gradient)
            parts = tf.nest.flatten(state)
            step_size = tf.nest.map_structure(lambda s: tf.cast(s, layout.dtype), self.step_size)
            _check_step_shapes(step_size, parts)
            number, flag = tf.zeros_like(value, tf.int32), tf.zeros_like(value, tf.bool)
            batch_shape = value.shape if value.shape.is_fully_defined() else tf.shape(value)
            return NoUTurnSamplerResults(
                target_log_prob=value,
                grads_target_log_prob=tf.nest.flatten(gradient),
                step_size=step_size,
                log_accept_ratio=tf.zeros_like(value),
                leapfrogs_taken=number,
                is_accepted=flag,
                reach_max_depth=flag,
                has_divergence=flag,
                energy=value,
                # TFP's mass-matrix adaptation takes a distribution of this construction only.
                momentum_distribution=preconditioning_utils.make_momentum_distribution(parts, batch_shape),
                seed=tf.zeros([2], tf.int32),
                tree_depth=number,
            )

    def one_step(
        self, current_state: Any, previous_kernel_results: NoUTurnSamplerResults, seed: Any = None
    ) -> tuple[Any, NoUTurnSamplerResults]:
        """The next state and its results.  seed: a pair of ints or an int32 tensor [2], or an int; required."""
        with tf.name_scope(self.name + ".one_step"):
            previous, state = previous_kernel_results, _parts(current_state)
            key = key_of_seed(seed, "tfp.mcmc.sample_chain(..., seed=(1, 2)), or one_step(..., seed=(1, 2))")
            layout = Layout.of(state, previous.target_log_prob.shape.rank)
            density = log_density(self.target_log_prob_fn, layout)
            p = self.parameters
            vectors = State(
                layout.to_vectors(state),
                tf.reshape(previous.target_log_prob, [-1 if layout.chains is None else layout.chains]),
                layout.to_vectors(previous.grads_target_log_prob),
            )
            on_vectors = density.on_all if density.sees_position(vectors.q) else density.on_any
            sampler = VARIANTS[p["variant"]](
                on_vectors, p["max_tree_depth"], p["max_energy_difference"], p["leapfrogs_per_leaf"]
            )
            size, scale = _steps(previous.step_size, previous.momentum_distribution, layout)
            run: Any = several_transitions.options(in_axes=(0, None, 0, 0), max_depth=p["max_tree_depth"] + 1)
            keys = chain_keys(key, layout.batch_of(tf.shape(vectors.q)[0]))
            new, report = run(sampler, p["trajectories_per_step"], vectors, size, scale, keys)
            leapfrogs, depth, acceptance, energy, moved, cut, diverging = map(layout.to_batch, report)
            results = previous._replace(
                target_log_prob=layout.to_batch(new.log_prob),
                grads_target_log_prob=tf.nest.flatten(layout.to_parts(new.grad)),
                log_accept_ratio=tf.math.log(acceptance),
                leapfrogs_taken=tf.cast(leapfrogs, tf.int32),
                is_accepted=moved,
                reach_max_depth=cut,
                has_divergence=diverging,
                energy=-energy,
                seed=tf.bitcast(key, tf.int32),
                tree_depth=tf.cast(depth, tf.int32),
            )
            return layout.to_parts(new.q), results


def _parts(state: Any) -> Any:
    """The state with tensors for leaves."""
    listed = isinstance(state, list | tuple) and not any(map(tf.nest.is_nested, state))
    if tf.nest.is_nested(state) and not listed:
        raise errors.SettingError(
            f"The state must be a tensor or a list of tensors, as in tfp.mcmc, not a {type(state).__name__}.",
            help="ab.mcmc.sample takes any nest.",
        )
    return tf.nest.map_structure(tf.convert_to_tensor, state)


def _check_step_shapes(step_size: Any, parts: Sequence[tf.Tensor]) -> list[tf.Tensor]:
    """A step size for each part."""
    steps = tf.nest.flatten(step_size)
    if len(steps) not in (1, len(parts)):
        raise errors.SettingError(f"There are {len(steps)} step sizes for {len(parts)} parts of the state.")
    steps = steps * len(parts) if len(steps) == 1 else steps
    for k, (step, part) in enumerate(zip(steps, parts, strict=True)):
        try:
            fits = tf.broadcast_static_shape(step.shape, part.shape) == part.shape
        except ValueError:
            fits = False
        if not fits:
            raise errors.SettingError(
                f"The step size of shape {list(step.shape)} does not broadcast with part {k} of the state, "
                f"{list(part.shape)}.",
                help="for one a chain, give it the part's rank: [chains, 1] for a part of shape [chains, d].",
            )
    return steps


def _variance(momentum: Any) -> Any:
    if tf.executing_eagerly() and isinstance(momentum, tf.__internal__.CompositeTensor):
        return _traced_variance(momentum)  # operation by operation TFP takes ten milliseconds for it
    return momentum.variance()


_traced_variance = tf.function(lambda momentum: momentum.variance(), autograph=False)


def _steps(step_size: Any, momentum: Any, layout: Layout) -> tuple[Any, tf.Tensor]:
    """The step as size [] * scale [chains, d], which has the mass matrix and steps that are not one number."""
    deviations = [tf.sqrt(variance) for variance in tf.nest.flatten(_variance(momentum))]
    scale = 1 / layout.to_vectors(deviations)
    steps = tf.nest.flatten(step_size)
    if len(steps) == 1 and steps[0].shape.rank == 0:
        return steps[0], scale
    parts = tf.nest.flatten(layout.to_parts(scale))
    steps = _check_step_shapes(step_size, parts)
    steps = [tf.broadcast_to(step, tf.shape(part)) for step, part in zip(steps, parts, strict=True)]
    return tf.ones([], layout.dtype), scale * layout.to_vectors(steps)
