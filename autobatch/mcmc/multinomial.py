"""The No-U-Turn Sampler with multinomial sampling along the trajectory: the one of Stan.

Betancourt 2017, "A conceptual introduction to Hamiltonian Monte Carlo", appendix A, in the recursion of Hoffman and
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
from autobatch.indexing import unroll
from autobatch.mcmc.hamiltonian import Candidate, Point, Report, State, candidate, log_joint, log_uniform


class Tree(NamedTuple):
    """A subtree of the trajectory, in the order of its building.

    start_p: the first momentum [d]; end: the last point; total_p: the sum of momenta [d]; drawn: a leaf, drawn by
    weight; log_weight: of all leaves; going: neither a U-turn nor a divergence; acceptance: summed over the leaves.
    """

    start_p: tf.Tensor
    end: Point
    total_p: tf.Tensor
    drawn: Candidate
    log_weight: Any
    acceptance: Any
    leaves: Any
    going: Any
    diverging: Any


class Stretch(NamedTuple):
    """A part of the trajectory: its first and last momentum and the sum of all, each [d]."""

    start_p: tf.Tensor
    end_p: tf.Tensor
    total_p: tf.Tensor


def moving_apart(one_p: tf.Tensor, other_p: tf.Tensor, travelled: tf.Tensor) -> tf.Tensor:
    return (tf.tensordot(one_p, travelled, 1) > 0) & (tf.tensordot(other_p, travelled, 1) > 0)


def no_u_turn(first: Stretch, second: Stretch) -> tf.Tensor:
    """The generalised criterion for neighbouring stretches: joined, and each with the near end of the other.

    Joined, the ends count half, as in the trapezoid rule (so do NumPyro and BlackJAX): without it, trajectories on a
    Gaussian are half as long again.
    """
    joined = first.total_p + second.total_p - 0.5 * (first.start_p + second.end_p)
    return (
        moving_apart(first.start_p, second.end_p, joined)
        & moving_apart(first.start_p, second.start_p, first.total_p + second.start_p)
        & moving_apart(first.end_p, second.end_p, first.end_p + second.total_p)
    )


@dataclass(frozen=True)
class Multinomial:
    """The sampler's settings.  density: q [d] -> (log density [], gradient [d])."""

    density: Callable
    max_tree_depth: int = 10
    max_energy_difference: float = 1000.0
    leapfrogs_per_leaf: int = 1

    @autobatch
    def transition(self, state, size, scale, key):
        """The next state of the chain, and a report.  Steps are size [] * scale [d]."""
        key, key_p = random.split(key)
        p = random.normal(key_p, state.q.shape, state.q.dtype)
        left = right = Point(state.q, p, state.log_prob, state.grad)
        drawn = candidate(left)
        start, total_p = drawn.log_joint, p
        log_weight, acceptance, leaves, depth = 0.0, 0.0, 0, 0
        going, moved, diverging = True, False, False
        while going and depth < self.max_tree_depth:
            key, key_direction, key_tree, key_draw = random.split(key, 4)
            forward = random.bernoulli(key_direction)
            near, far = (right, left) if forward else (left, right)
            tree = self.build_tree(near, size if forward else -size, scale, depth, start, key_tree)
            if tree.going and log_uniform(key_draw, p.dtype) < tree.log_weight - log_weight:
                drawn, moved = tree.drawn, True
            old, new = Stretch(far.p, near.p, total_p), Stretch(tree.start_p, tree.end.p, tree.total_p)
            going = tree.going & no_u_turn(old, new)
            left, right = (left, tree.end) if forward else (tree.end, right)
            total_p = total_p + tree.total_p
            log_weight = tf.reduce_logsumexp([log_weight, tree.log_weight])
            acceptance, leaves = acceptance + tree.acceptance, leaves + tree.leaves
            diverging, depth = tree.diverging, depth + 1
        acceptance = acceptance / tf.cast(leaves, p.dtype)
        leapfrogs = leaves * self.leapfrogs_per_leaf
        report = Report(acceptance, leapfrogs, depth, -drawn.log_joint, moved, diverging, going)
        return State(drawn.q, drawn.log_prob, drawn.grad), report

    @autobatch
    def build_tree(self, point, size, scale, depth, start, key):
        """2**depth leaves from ``point`` on; ``start`` is the log joint density where the trajectory began."""
        if depth == 0:
            q, p, log_prob, grad = point
            for _ in unroll(range(self.leapfrogs_per_leaf)):
                p = p + 0.5 * size * scale * grad
                q = q + size * scale * p
                log_prob, grad = self.density(q)
                p = p + 0.5 * size * scale * grad
            end = Point(q, p, log_prob, grad)
            log_weight = log_joint(end) - start
            log_weight = tf.where(tf.math.is_finite(log_weight), log_weight, -float("inf"))
            diverging = log_weight < -self.max_energy_difference
            acceptance = tf.exp(tf.minimum(log_weight, 0.0))
            return Tree(p, end, p, candidate(end), log_weight, acceptance, 1, not diverging, diverging)

        key_first, key_second, key_draw = random.split(key, 3)
        first = self.build_tree(point, size, scale, depth - 1, start, key_first)
        if not first.going:
            return first
        second = self.build_tree(first.end, size, scale, depth - 1, start, key_second)
        log_weight = tf.reduce_logsumexp([first.log_weight, second.log_weight])
        take_second = log_uniform(key_draw, log_weight.dtype) < second.log_weight - log_weight
        drawn = second.drawn if take_second else first.drawn
        one = Stretch(first.start_p, first.end.p, first.total_p)
        other = Stretch(second.start_p, second.end.p, second.total_p)
        going = second.going & no_u_turn(one, other)
        total_p, leaves = first.total_p + second.total_p, first.leaves + second.leaves
        acceptance = first.acceptance + second.acceptance
        return Tree(first.start_p, second.end, total_p, drawn, log_weight, acceptance, leaves, going, second.diverging)
