"""The No-U-Turn Sampler as first published: a slice through the trajectory.

Hoffman and Gelman 2014, "The No-U-Turn Sampler", algorithm 6 without its adaptation; the sampler of the paper that
autobatch implements.  One chain; autobatch runs it for many.
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
from autobatch.mcmc.metric import bent, straightened


class Tree(NamedTuple):
    """A subtree of the trajectory, in the order of its building.

    start_q, start_p: its first point [d]; end: the last; drawn: one of the leaves in the slice, all alike likely;
    count: of those leaves; going: neither a U-turn nor a divergence; acceptance: summed over the leaves.
    """

    start_q: tf.Tensor
    start_p: tf.Tensor
    end: Point
    drawn: Candidate
    count: Any
    acceptance: Any
    leaves: Any
    going: Any
    diverging: Any


def no_u_turn(travelled: tf.Tensor, start_p: tf.Tensor, end_p: tf.Tensor) -> tf.Tensor:
    """Whether both ends still move apart; ``travelled`` [d] leads from the start to the end."""
    return (tf.reduce_sum(travelled * start_p) >= 0) & (tf.reduce_sum(travelled * end_p) >= 0)


@dataclass(frozen=True)
class Slice:
    """The sampler's settings.  density: q [d] -> (log density [], gradient [d])."""

    density: Callable
    max_tree_depth: int = 10
    max_energy_difference: float = 1000.0
    leapfrogs_per_leaf: int = 1

    @autobatch
    def transition(self, state, size, scale, bend, key):
        """The next state of the chain, and a report.  A step moves q by size [] * A p (see ``Metric``)."""
        key, key_p, key_slice = random.split(key, 3)
        p = random.normal(key_p, state.q.shape, state.q.dtype)
        left = right = Point(state.q, p, state.log_prob, state.grad)
        drawn = candidate(left)
        start = drawn.log_joint
        log_slice = start + log_uniform(key_slice, p.dtype)
        count, acceptance, leaves, depth = 1, 0.0, 0, 0
        going, moved, diverging = True, False, False
        while going and depth < self.max_tree_depth:
            key, key_direction, key_tree, key_draw = random.split(key, 4)
            forward = random.bernoulli(key_direction)
            edge, step = (right, size) if forward else (left, -size)
            tree = self.build_tree(edge, step, scale, bend, depth, start, log_slice, key_tree)
            if tree.going and random.uniform(key_draw, (), p.dtype) * tf.cast(count, p.dtype) < tree.count:
                drawn, moved = tree.drawn, True
            left, right = (left, tree.end) if forward else (tree.end, right)
            going = tree.going & no_u_turn(straightened((right.q - left.q) / scale, bend), left.p, right.p)
            count, leaves, acceptance = count + tree.count, leaves + tree.leaves, acceptance + tree.acceptance
            diverging, depth = tree.diverging, depth + 1
        acceptance = acceptance / tf.cast(leaves, p.dtype)
        leapfrogs = leaves * self.leapfrogs_per_leaf
        report = Report(acceptance, leapfrogs, depth, -drawn.log_joint, moved, diverging, going)
        return State(drawn.q, drawn.log_prob, drawn.grad), report

    @autobatch
    def build_tree(self, point, size, scale, bend, depth, start, log_slice, key):
        """2**depth leaves from ``point`` on; ``start`` is the log joint density where the trajectory began."""
        if depth == 0:
            q, p, log_prob, grad = point
            for _ in unroll(range(self.leapfrogs_per_leaf)):
                p = p + 0.5 * size * bent(scale * grad, bend)
                q = q + size * scale * bent(p, bend)
                log_prob, grad = self.density(q)
                p = p + 0.5 * size * bent(scale * grad, bend)
            end = Point(q, p, log_prob, grad)
            energy_gain = log_joint(end) - start
            energy_gain = tf.where(tf.math.is_finite(energy_gain), energy_gain, -float("inf"))
            diverging = start + energy_gain <= log_slice - self.max_energy_difference
            count = 1 if start + energy_gain >= log_slice else 0
            acceptance = tf.exp(tf.minimum(energy_gain, 0.0))
            return Tree(q, p, end, candidate(end), count, acceptance, 1, not diverging, diverging)

        key_first, key_second, key_draw = random.split(key, 3)
        first = self.build_tree(point, size, scale, bend, depth - 1, start, log_slice, key_first)
        if not first.going:
            return first
        second = self.build_tree(first.end, size, scale, bend, depth - 1, start, log_slice, key_second)
        count = first.count + second.count
        unit = random.uniform(key_draw, (), start.dtype)
        drawn = second.drawn if unit * tf.cast(count, start.dtype) < second.count else first.drawn
        travelled = straightened((second.end.q - first.start_q) / (size * scale), bend)
        going = second.going & no_u_turn(travelled, first.start_p, second.end.p)
        acceptance, leaves = first.acceptance + second.acceptance, first.leaves + second.leaves
        return Tree(first.start_q, first.start_p, second.end, drawn, count, acceptance, leaves, going, second.diverging)
