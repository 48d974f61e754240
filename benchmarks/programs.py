"""Programs of every kind of control flow: what else can run them, and what the machine's choices do to each."""

from __future__ import annotations

import functools
import importlib.util
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import tensorflow as tf
from tensorflow_probability.python.experimental import auto_batching

import autobatch as ab
from benchmarks import with_jax
from benchmarks.footprint import added_bytes
from benchmarks.rarely import rarely, with_vectorized_map
from benchmarks.timing import in_turn
from examples.fibonacci import fibonacci

FIXED = {  # the machine's choices, one by one
    "earliest": {"schedule": "earliest"},
    "most_populated": {"schedule": "most_populated"},
    "weighed": {"schedule": "weighed"},
    "one part": {"shards": 1},
    "two parts": {"shards": 2},
    "sweep": {"dispatch": "sweep"},
}
AUTO = "autobatch"
LOOP = "a Python loop"
WARM = 8  # calls before the first that counts, in which the machine compiles smaller ones if it wants them
LOOPED = 3  # members of whom the time of a loop over all is told


@dataclass(frozen=True)
class Program:
    """``function`` for ``args``; peers: by name a maker of the same for the same arguments."""

    function: ab.Autobatched
    args: tuple[tf.Tensor, ...]
    peers: dict[str, Callable[..., Callable[[], Any]]] = field(default_factory=dict)


@ab.autobatch
def collatz(n):
    steps = 0
    while n != 1:
        n = n // 2 if n % 2 == 0 else 3 * n + 1
        steps += 1
    return steps


def _collatz_vectorized_map(n: tf.Tensor) -> Callable[[], Any]:
    def one(n: tf.Tensor) -> tf.Tensor:
        def body(n: tf.Tensor, steps: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor]:
            return tf.where(tf.equal(n % 2, 0), n // 2, 3 * n + 1), steps + 1

        return tf.while_loop(lambda n, steps: tf.not_equal(n, 1), body, (n, 0))[1]

    graph = tf.function(lambda n: tf.vectorized_map(one, n), autograph=False)  # XLA does not compile it
    return lambda: graph(n)


def bump(x):
    return tf.exp(-(x**2)) * tf.sin(5.0 * x)


def simpson(a, b):
    return (b - a) / 6 * (bump(a) + 4 * bump((a + b) / 2) + bump(b))


@ab.autobatch
def quadrature(a, b, tolerance):
    """Adaptive: Simpson's rule on halves, until they agree with the whole."""
    middle = (a + b) / 2
    left, right = simpson(a, middle), simpson(middle, b)
    if abs(left + right - simpson(a, b)) < 15 * tolerance:
        return left + right
    return quadrature(a, middle, tolerance / 2) + quadrature(middle, b, tolerance / 2)


_context = auto_batching.Context()


@_context.batch(type_inference=lambda args: args[0])
def _quadrature(a, b, tolerance):
    middle = (a + b) / 2
    both = simpson(a, middle) + simpson(middle, b)
    if tf.abs(both - simpson(a, b)) < 15 * tolerance:
        return both
    else:
        left = _quadrature(a, middle, tolerance / 2)
        right = _quadrature(middle, b, tolerance / 2)
        return left + right


def _quadrature_tfp(*args: tf.Tensor) -> Callable[[], Any]:
    backend = auto_batching.TensorFlowBackend()

    @tf.function(jit_compile=True, autograph=False)
    def compiled(*args: tf.Tensor) -> tf.Tensor:
        return _quadrature(*args, max_stack_depth=25, backend=backend)

    return lambda: compiled(*args)


@ab.autobatch(in_axes=(0, 0, 0, 0, 0))
def evaluate(kind, value, left, right, node):
    """An expression tree: kind 0 is a number, 1 a sum, 2 a product, 3 a sine; a node's children are two indices."""
    if kind[node] == 0:
        return value[node]
    first = evaluate(kind, value, left, right, left[node])
    if kind[node] == 3:
        return tf.sin(first)
    second = evaluate(kind, value, left, right, right[node])
    return first + second if kind[node] == 1 else first * second


@ab.autobatch
def queens(n, row, columns, rising, falling):
    """In how many ways the rows from this one on can be filled; the rest are bit masks of what is attacked."""
    if row == n:
        return 1
    count = 0
    for column in range(n):
        bit = tf.bitwise.left_shift(1, column)
        up, down = tf.bitwise.left_shift(1, row + column), tf.bitwise.left_shift(1, row - column + n)
        if (columns & bit) == 0 and (rising & up) == 0 and (falling & down) == 0:
            count += queens(n, row + 1, columns | bit, rising | up, falling | down)
    return count


@ab.autobatch
def oscillator(stiffness, tolerance):
    """Van der Pol's oscillator to t = 10, by Heun's method with a step that follows the error; returns y and steps."""
    y, v, t, h, steps = 2.0, 0.0, 0.0, 0.01, 0
    while t < 10.0:
        k = stiffness * (1.0 - y**2) * v - y
        y_next, v_next = y + h * v, v + h * k
        k_next = stiffness * (1.0 - y_next**2) * v_next - y_next
        error = 0.5 * h * max(abs(v_next - v), abs(k_next - k))
        if error < tolerance:
            y, v, t = y + 0.5 * h * (v + v_next), v + 0.5 * h * (k + k_next), t + h
        h = min(h * min(2.0, max(0.2, 0.9 * tf.sqrt(tolerance / (error + 1e-12)))), 10.0 - t + 1e-6)
        steps += 1
    return y, steps


def random_trees(count: int, size: int) -> tuple[tf.Tensor, ...]:
    """Random trees, each with up to ``size`` nodes; its root is node 0."""
    rng = np.random.default_rng(0)
    kind, left, right = (np.zeros([count, size], np.int32) for _ in range(3))
    for tree in range(count):
        used, leaves = 1, [0]
        for _ in range(rng.integers(1, size // 2)):
            node = leaves.pop(rng.integers(len(leaves)))
            kind[tree, node] = rng.integers(1, 4)
            left[tree, node], right[tree, node] = used, used + 1
            leaves += [used, used + 1]
            used += 2
    value = rng.normal(size=[count, size]).astype(np.float32)
    return tuple(map(tf.constant, (kind, value, left, right))) + (tf.zeros([count], tf.int32),)


def programs() -> dict[str, Program]:
    rng = np.random.default_rng(0)

    def uniform(low: float, high: float) -> tf.Tensor:
        return tf.constant(rng.uniform(low, high, 1000), tf.float32)

    boards = tf.constant(rng.integers(4, 8, 256), tf.int32)
    zeros = tf.zeros_like(boards)
    return {
        "fibonacci": Program(fibonacci, (tf.constant(rng.integers(3, 13, 1000), tf.int32),)),
        "collatz": Program(
            collatz,
            (tf.range(1, 10**6 + 1, dtype=tf.int64),),
            {"jax.vmap of while_loop": with_jax.collatz, "tf.vectorized_map of while_loop": _collatz_vectorized_map},
        ),
        "quadrature": Program(
            quadrature,
            (uniform(-3, 0), uniform(0, 3), tf.constant(10.0 ** rng.uniform(-7, -3, 1000), tf.float32)),
            {"TFP auto_batching": _quadrature_tfp},
        ),
        "trees": Program(evaluate, random_trees(1000, 63)),
        "queens": Program(queens, (boards, zeros, zeros, zeros, zeros)),
        "oscillator": Program(
            oscillator,
            (uniform(0, 10), tf.constant(10.0 ** rng.uniform(-5, -3, 1000), tf.float32)),
            {"jax.vmap of while_loop": with_jax.oscillator},
        ),
        "rarely": Program(
            rarely,
            (tf.constant(rng.integers(0, 65537, 1000), tf.int32),),
            {"jax.vmap of cond": with_jax.rarely, "tf.vectorized_map of cond": with_vectorized_map},
        ),
    }


def _made(name: str) -> Callable[[], Any]:
    program = programs()[name]
    return functools.partial(program.function, *program.args)


def run(name: str, rounds: int) -> dict[str, dict[str, float]]:
    """The machine as it chooses for itself, under each fixed choice, and the peers, in turn; and a Python loop."""
    program = programs()[name]
    systems: dict[str, Callable[[], Any]] = {AUTO: lambda: program.function(*program.args)}
    for choice, options in FIXED.items():
        systems[choice] = functools.partial(program.function.options(**options), *program.args)
    for peer, make in program.peers.items():
        if not peer.startswith("jax") or importlib.util.find_spec("jax"):
            systems[peer] = make(*program.args)
    results = in_turn(systems, rounds, dict.fromkeys((AUTO, *FIXED), WARM))
    expected = tf.nest.flatten(systems[AUTO]())
    for system, go in systems.items():
        for ours, theirs in zip(expected, tf.nest.flatten(go()), strict=True):
            assert np.allclose(ours, theirs, rtol=1e-3, atol=1e-3), f"{system} gives another result for {name}"
    results[AUTO] |= {
        "utilization": ab.profile(program.function, *program.args).costliest.utilization,
        "added_bytes": added_bytes(_made, (name,)),
    }
    members = np.random.default_rng(0).choice(len(program.args[0]), LOOPED, replace=False)
    start = time.perf_counter()
    for z in members:
        program.function.unbatched(*(arg[z] for arg in program.args))
    looped = (time.perf_counter() - start) / LOOPED * len(program.args[0])
    return results | {LOOP: {"first": looped, "median": looped, "best": looped}}
