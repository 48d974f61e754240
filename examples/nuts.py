"""The No-U-Turn Sampler, as the textbook has it: recursive, for one chain.  autobatch runs it for many.

Multinomial sampling along the trajectory with the generalised U-turn criterion (Betancourt 2017, "A conceptual
introduction to Hamiltonian Monte Carlo", appendix A.4; the recursion is Hoffman and Gelman's, 2014).  Unit mass matrix.
"""

from __future__ import annotations

from collections import namedtuple

import tensorflow as tf

import autobatch as ab

MAX_ENERGY_ERROR = 1000.0

# A point of phase space, with the log-density and its gradient.  q, p, grad: [d].
Point = namedtuple("Point", "q p grad log_prob")
# The leaves of a subtree: the momentum at its start, its end, the sum of momenta, and a point drawn from it.
Tree = namedtuple("Tree", "start_p end total_p sample log_weight going accept leapfrogs")


def value_and_gradient(log_prob, q):
    with tf.GradientTape() as tape:
        tape.watch(q)
        value = log_prob(q)
    return value, tape.gradient(value, q)


def log_joint(point):
    return point.log_prob - 0.5 * tf.reduce_sum(point.p**2)


def leapfrog(log_prob, point, step):
    p = point.p + 0.5 * step * point.grad
    q = point.q + step * p
    value, grad = value_and_gradient(log_prob, q)
    return Point(q, p + 0.5 * step * grad, grad, value)


def no_u_turn(start_p, end_p, total_p):
    return (tf.reduce_sum(start_p * total_p) > 0) & (tf.reduce_sum(end_p * total_p) > 0)


@ab.autobatch(static_argnames="log_prob")
def build_tree(log_prob, point, step, depth, start, key):
    """2**depth leapfrog steps from ``point``; ``start`` is the log joint density where the trajectory began."""
    if depth == 0:
        new = leapfrog(log_prob, point, step)
        log_weight = log_joint(new) - start
        log_weight = tf.where(tf.math.is_finite(log_weight), log_weight, -float("inf"))
        accept = tf.exp(tf.minimum(log_weight, 0.0))
        return Tree(new.p, new, new.p, new, log_weight, log_weight > -MAX_ENERGY_ERROR, accept, 1)

    key_first, key_second, key_choice = ab.random.split(key, 3)
    first = build_tree(log_prob, point, step, depth - 1, start, key_first)
    if not first.going:
        return first
    second = build_tree(log_prob, first.end, step, depth - 1, start, key_second)
    log_weight = tf.reduce_logsumexp([first.log_weight, second.log_weight])
    take_second = tf.math.log(ab.random.uniform(key_choice)) < second.log_weight - log_weight
    sample = second.sample if take_second else first.sample
    total_p = first.total_p + second.total_p
    going = second.going & no_u_turn(first.start_p, second.end.p, total_p)
    accept, leapfrogs = first.accept + second.accept, first.leapfrogs + second.leapfrogs
    return Tree(first.start_p, second.end, total_p, sample, log_weight, going, accept, leapfrogs)


@ab.autobatch(static_argnames="log_prob")
def trajectory(log_prob, q, value, grad, step_size, max_depth, key):
    """One NUTS transition.  Returns the new point, the mean acceptance and the number of leapfrog steps."""
    key, key_momentum = ab.random.split(key)
    here = Point(q, ab.random.normal(key_momentum, q.shape), grad, value)
    start = log_joint(here)
    left, right, sample, total_p, log_weight = here, here, here, here.p, 0.0
    depth, accept, leapfrogs, going = 0, 0.0, 0, True
    while going and depth < max_depth:
        key, key_direction, key_tree, key_choice = ab.random.split(key, 4)
        forward = ab.random.bernoulli(key_direction)
        edge = right if forward else left
        step = step_size if forward else -step_size
        tree = build_tree(log_prob, edge, step, depth, start, key_tree)
        right = tree.end if forward else right
        left = left if forward else tree.end
        if tree.going and tf.math.log(ab.random.uniform(key_choice)) < tree.log_weight - log_weight:
            sample = tree.sample
        log_weight = tf.reduce_logsumexp([log_weight, tree.log_weight])
        total_p = total_p + tree.total_p
        going = tree.going & no_u_turn(left.p, right.p, total_p)
        accept, leapfrogs, depth = accept + tree.accept, leapfrogs + tree.leapfrogs, depth + 1
    return sample, accept / tf.cast(leapfrogs, accept.dtype), leapfrogs


@ab.autobatch(static_argnames=("log_prob", "draws"))
def sample_chain(log_prob, draws, q, step_size, max_depth, key):
    """``draws`` transitions.  Returns the last state, the trace [draws, d], acceptance, and leapfrog steps taken."""
    value, grad = value_and_gradient(log_prob, q)
    trace = tf.zeros([draws, *q.shape], q.dtype)
    acceptance, leapfrogs = 0.0, 0
    for t in range(draws):
        key, now = ab.random.split(key)
        point, accept, steps = trajectory(log_prob, q, value, grad, step_size, max_depth, now)
        q, value, grad = point.q, point.log_prob, point.grad
        trace[t] = q
        acceptance, leapfrogs = acceptance + accept / draws, leapfrogs + steps
    return q, trace, acceptance, leapfrogs


@ab.autobatch(static_argnames="log_prob")
def warm_up(log_prob, steps, q, step_size, target_accept, max_depth, key):
    """``steps`` transitions while dual averaging (Hoffman and Gelman 2014, section 3.2) finds the step size.

    Returns the last state, the step size, and leapfrog steps taken.
    """
    value, grad = value_and_gradient(log_prob, q)
    shrink_to = tf.math.log(10.0 * step_size)
    error, log_average, leapfrogs = 0.0, 0.0, 0
    for t in range(steps):
        key, now = ab.random.split(key)
        point, accept, taken = trajectory(log_prob, q, value, grad, step_size, max_depth, now)
        q, value, grad = point.q, point.log_prob, point.grad
        count = tf.cast(t, q.dtype) + 1.0
        error = error + (target_accept - accept - error) / (count + 10.0)
        log_step = shrink_to - tf.sqrt(count) / 0.05 * error
        weight = count**-0.75
        log_average = weight * log_step + (1.0 - weight) * log_average
        step_size = tf.exp(log_step)
        leapfrogs = leapfrogs + taken
    return q, tf.exp(log_average), leapfrogs
