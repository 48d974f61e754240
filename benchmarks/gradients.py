"""Gradients through recursion and loops: a call, a call with its gradient, and the same on the local-static backend."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import tensorflow as tf

import autobatch as ab
from benchmarks.timing import in_turn

SIZES = (1_000, 10_000)
CALL, GRADIENT, LOCAL = "call", "call and gradient", "the same, local static"


@ab.autobatch
def tree_value(x, depth):
    if depth < 2:
        return tf.sin(x)
    left = tree_value(0.9 * x, depth - 1)
    right = tree_value(x + 0.1, depth - 2)
    return left * right + x


@ab.autobatch
def newton(x, turns):
    y = x
    while turns > 0:
        y = 0.5 * (y + x / y)
        turns = turns - 1
    return y


PROGRAMS: dict[str, tuple[Any, int]] = {"tree_value": (tree_value, 1), "newton": (newton, 20)}


def gradient(function: Callable, x: tf.Tensor, n: tf.Tensor) -> Any:
    with tf.GradientTape() as tape:
        tape.watch(x)
        value = function(x, n)
    return tape.gradient(value, x)


def run(name: str, rounds: int = 9) -> Iterator[tuple[int, dict[str, dict[str, float]]]]:
    """For each number of members."""
    function, turns = PROGRAMS[name]
    local = function.options(backend="local_static")
    for count in SIZES:
        x = tf.random.stateless_uniform([count], [1, 2], 0.5, 3.0)
        n = turns * tf.random.stateless_uniform([count], [3, 4], 3, 12, tf.int32)
        systems: dict[str, Callable[[], object]] = {
            CALL: lambda x=x, n=n: function(x, n),
            GRADIENT: lambda x=x, n=n: gradient(function, x, n),
            LOCAL: lambda x=x, n=n: gradient(local, x, n),
        }
        yield count, in_turn(systems, rounds)
