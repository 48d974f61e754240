"""The No-U-Turn Sampler with multinomial sampling along the trajectory: the one of Stan.

Betancourt 2017, "A conceptual introduction to Hamiltonian Monte Carlo", appendix A, over the subtrees of Hoffman and
Gelman 2014; with the checks across subtrees that Stan added in 2020 (stan-dev/stan pull request 2800).  One chain;
autobatch runs it for many.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import tensorflow as tf

from autobatch import random
from autobatch.api import autobatch
from autobatch.language.looping import unroll
from autobatch.mcmc.hamiltonian import Candidate, Point, Report, State, candidate, log_joint, log_uniform
from autobatch.mcmc.metric import bent


class Walk(NamedTuple):
    """What grows leaf by leaf while a subtree is built, and so needs no stack: each leaf hands it to the next.

    end: the last point; drawn: one of the subtree's leaves, by weight; log_weight: of all of them; acceptance, leaves:
    summed over the whole trajectory; diverging: whether the last leaf is.
    """

    end: Point
    drawn: Candidate
    log_weight: Any
    acceptance: Any
    leaves: Any
    diverging: Any


class Stretch(NamedTuple):
    """A part of the trajectory: its first momentum and the sum of all, each [d].  The last is where the walk ends."""

    start_p: tf.Tensor
    total_p: tf.Tensor


def moving_apart(one_p: tf.Tensor, other_p: tf.Tensor, travelled: tf.Tensor) -> tf.Tensor:
    return (tf.tensordot(one_p, travelled, 1) > 0) & (tf.tensordot(other_p, travelled, 1) > 0)


def no_u_turn(first: Stretch, first_end_p: tf.Tensor, second: Stretch, second_end_p: tf.Tensor) -> tf.Tensor:
    """The generalised criterion for neighbouring stretches: joined, and each with the near end of the other.

    Joined, the ends count half, as in the trapezoid rule (so do NumPyro and BlackJAX): without it, trajectories on a
    Gaussian are half as long again.
    """
    joined = first.total_p + second.total_p - 0.5 * (first.start_p + second_end_p)
    return (
        moving_apart(first.start_p, second_end_p, joined)
        & moving_apart(first.start_p, second.start_p, first.total_p + second.start_p)
        & moving_apart(first_end_p, second_end_p, first_end_p + second.total_p)
    )


@dataclass(frozen=True)
class Multinomial:
    """The sampler's settings.  density: q [d] -> (log density [], gradient [d])."""

    density: Callable
    max_tree_depth: int = 10
    max_energy_difference: float = 1000.0
    leapfrogs_per_leaf: int = 1

    @autobatch
    def transition(self, state, size, scale, bend, key):
        """The next state of the chain, and a report.  A step moves q by size [] * A p (see ``Metric``)."""
        key_p, key_directions, key_draws, key_leaves = random.split(key, 4)
        p = random.normal(key_p, state.q.shape, state.q.dtype)
        left = right = Point(state.q, p, state.log_prob, state.grad)
        drawn = candidate(left)
        start, total_p = drawn.log_joint, p
        log_weight, acceptance, leaves, depth = 0.0, 0.0, 0, 0
        going, moved, diverging = True, False, False
        while going and depth < self.max_tree_depth:
            forward = random.bernoulli(random.fold_in(key_directions, depth))
            near, far = (right, left) if forward else (left, right)
            walk = Walk(near, drawn, -float("inf"), acceptance, leaves, diverging)
            step = size if forward else -size
            walk, new, going = self.build_tree(walk, step, scale, bend, depth, start, key_leaves)
            unit = log_uniform(random.fold_in(key_draws, depth), p.dtype)
            take = going and unit < walk.log_weight - log_weight
            drawn, moved = (walk.drawn if take else drawn), moved or take
            going = going & no_u_turn(Stretch(far.p, total_p), near.p, new, walk.end.p)
            left, right = (left, walk.end) if forward else (walk.end, right)
            total_p = total_p + new.total_p
            log_weight = tf.reduce_logsumexp([log_weight, walk.log_weight])
            acceptance, leaves, diverging, depth = walk.acceptance, walk.leaves, walk.diverging, depth + 1
        acceptance = acceptance / tf.cast(leaves, p.dtype)
        leapfrogs = leaves * self.leapfrogs_per_leaf
        report = Report(acceptance, leapfrogs, depth, -drawn.log_joint, moved, diverging, going)
        return State(drawn.q, drawn.log_prob, drawn.grad), report

    @autobatch
    def build_tree(self, walk, size, scale, bend, depth, start, key):
        """Walks on by 2**depth leaves; ``start`` is the log joint density where the trajectory began.

        Two leaves, then for each level above them the neighbour of what there is, as large.  A recursion that halves
        walks the same leaves and makes the same checks, with four times as many calls.

        Returns: the walk, its new stretch, and whether neither a U-turn nor a divergence ended it.
        """
        whole, going = Stretch(walk.end.p, walk.end.p), True
        while True:
            # The walk has 1 + 2 + 4 + ... leaves: of two that belong together, the second has an even number before it.
            first_p, is_second = walk.end.p, depth > 0 and walk.leaves % 2 == 0
            q, p, log_prob, grad = walk.end
            for _ in unroll(range(self.leapfrogs_per_leaf)):
                p = p + 0.5 * size * bent(scale * grad, bend)
                q = q + size * scale * bent(p, bend)
                log_prob, grad = self.density(q)
                p = p + 0.5 * size * bent(scale * grad, bend)
            walk = self.arrived(walk, Point(q, p, log_prob, grad), start, key)
            both_p = first_p + walk.end.p
            apart = moving_apart(first_p, walk.end.p, both_p)  # of two leaves, the three checks of no_u_turn are one
            going = not walk.diverging and (apart or not is_second)
            whole = Stretch(first_p if is_second else walk.end.p, both_p if is_second else walk.end.p)
            if is_second or depth == 0 or walk.diverging:
                break
        level = 1
        while going and level < depth:
            first, first_end_p = whole, walk.end.p
            walk, second, going = self.build_tree(walk, size, scale, bend, level, start, key)
            going = going & no_u_turn(first, first_end_p, second, walk.end.p)
            whole = Stretch(first.start_p, first.total_p + second.total_p)
            level = level + 1
        return walk, whole, going

    def arrived(self, walk, end, start, key):
        """The walk with one leaf more, which may replace the one drawn so far."""
        gain = log_joint(end) - start
        gain = tf.where(tf.math.is_finite(gain), gain, -float("inf"))
        diverging = gain < -self.max_energy_difference
        log_weight = tf.reduce_logsumexp([walk.log_weight, gain])
        # The n-th leaf replaces the draw with its share of the weight so far: in the end each has its own share.
        take = log_uniform(random.fold_in(key, walk.leaves), start.dtype) <= gain - log_weight
        here = candidate(end)
        drawn = tf.nest.map_structure(lambda new, old: tf.where(take, new, old), here, walk.drawn)
        acceptance = walk.acceptance + tf.exp(tf.minimum(gain, 0.0))
        return Walk(end, drawn, log_weight, acceptance, walk.leaves + 1, diverging)
