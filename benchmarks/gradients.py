"""Gradients through recursion and loops: a call, a call with its gradient, the same on the local-static backend.

And the loops in JAX, where it is installed.
"""

from __future__ import annotations

import importlib.util
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
import tensorflow as tf

import autobatch as ab
from benchmarks import jax_gradients
from benchmarks.timing import in_turn
from examples import comets, formulas

CALL, GRADIENT, LOCAL = "call", "call and gradient", "the same, local static"
AND_GRADIENT = ", and gradient"  # behind a peer's name


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


def _numbers(count: int, turns: int) -> tuple[tf.Tensor, ...]:
    x = tf.random.stateless_uniform([count], [1, 2], 0.5, 3.0)
    return x, turns * tf.random.stateless_uniform([count], [3, 4], 3, 12, tf.int32)


def _formulas(count: int) -> list[np.ndarray]:
    return formulas.formulas(count, formulas.TRAINED, np.random.default_rng(1))[0]


def _comets(count: int) -> tuple[tf.Tensor, ...]:
    return *map(tf.constant, comets.starts(count, np.random.default_rng(0))), tf.constant(comets.TRUTH, tf.float64)


class Problem(NamedTuple):
    """of: which argument gets the gradient of the sum of all that is returned first, or which variables get it.

    peers: from JAX, by the module they need.
    """

    function: Any
    arguments: Callable[[int], Sequence[Any]]
    of: int | list[tf.Variable] = 0
    sizes: tuple[int, ...] = (1_000, 10_000)
    peers: dict[str, tuple[str, Callable[..., jax_gradients.Pair]]] = {}


model = formulas.Model(width=16)
PROBLEMS = {
    "tree_value": Problem(tree_value, lambda count: _numbers(count, 1)),
    "formulas": Problem(model.encode, _formulas, model.weights[:2], (256, 2_000)),
    "newton": Problem(
        newton, lambda count: _numbers(count, 20), peers={"jax.vmap of a scan": ("jax", jax_gradients.newton)}
    ),
    "comets": Problem(
        comets.moved, _comets, 2, (1_000,),
        {
            "jax.vmap of a scan": ("jax", jax_gradients.comets_scan),
            "Equinox, checkpointed": ("equinox", jax_gradients.comets_equinox),
            "Diffrax": ("diffrax", jax_gradients.comets_diffrax),
        },
    ),
}  # fmt: skip


def gradient(function: Callable, args: Sequence[Any], of: int | list[tf.Variable]) -> Any:
    sources = args[of] if isinstance(of, int) else of
    with tf.GradientTape() as tape:
        tape.watch(sources)
        value = tf.nest.flatten(function(*args))[0]
    return tape.gradient(value, sources)


def run(name: str, rounds: int = 9) -> Iterator[tuple[int, dict[str, dict[str, float]]]]:
    """For each number of members."""
    function, arguments, of, sizes, peers = PROBLEMS[name]
    local = function.options(backend="local_static")
    for count in sizes:
        args = arguments(count)
        systems: dict[str, Callable[[], object]] = {
            CALL: lambda args=args: function(*args),
            GRADIENT: lambda args=args: gradient(function, args, of),
            LOCAL: lambda args=args: gradient(local, args, of),
        }
        for peer, (module, make) in peers.items():
            if importlib.util.find_spec(module):
                systems[peer], systems[peer + AND_GRADIENT] = make(*args)
        yield count, in_turn(systems, rounds)
