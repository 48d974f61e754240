"""Programs of plain numbers at many sizes of batch, beside what else a CPU has for them.

``jax.vmap`` where there is no recursion, and Numba's parallel loop over the members everywhere.
"""

from __future__ import annotations

import importlib.util
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import tensorflow as tf

import autobatch as ab
from benchmarks import with_jax
from benchmarks.programs import collatz, evaluate, oscillator, quadrature, queens, random_trees
from benchmarks.rarely import rarely
from benchmarks.timing import in_turn
from examples.fibonacci import fibonacci

SIZES = (1_000, 10_000, 100_000, 1_000_000)  # members
AUTO, VMAP, NUMBA = "autobatch", "jax.vmap", "Numba, parallel"
MOST = 15  # seconds that a call may take; ten times as many members are taken to need ten times as long
ROUNDS = 5
WARM = 5  # calls of ours before those that count, in which the machine compiles smaller ones
AGREE = 0.99  # of the members: floats that differ in the last bit can end a loop at another turn


@ab.autobatch
def epidemic(key, infection):
    """Gillespie's algorithm for 1,000 people, of whom 10 are ill: who never fell ill, and when it was over."""
    susceptible, infected, time, event = 990, 10, 0.0, 0
    while infected > 0:
        wait, which = ab.random.uniform(ab.random.fold_in(key, event), [2])
        rate_in = infection * susceptible * infected / 1000
        rate = rate_in + infected
        time -= tf.math.log(1.0 - wait) / rate
        if which * rate < rate_in:
            susceptible, infected = susceptible - 1, infected + 1
        else:
            infected -= 1
        event += 1
    return susceptible, time


@ab.autobatch
def tak(x, y, z):
    """Takeuchi's function."""
    if y >= x:
        return z
    return tak(tak(x - 1, y, z), tak(y - 1, z, x), tak(z - 1, x, y))


@ab.autobatch
def escape(re, im):
    """After how many turns a point leaves Mandelbrot's set; 500 if it does not."""
    x, y, steps = 0.0, 0.0, 0
    while x * x + y * y <= 4.0 and steps < 500:
        x, y = x * x - y * y + re, 2.0 * x * y + im
        steps += 1
    return steps


@ab.autobatch
def euclid(a, b):
    """The greatest common divisor."""
    while b != 0:
        a, b = b, a % b
    return a


@dataclass(frozen=True)
class Plain:
    """``function`` of the ``arguments`` for a number of members, and the same in JAX if it has no recursion."""

    function: ab.Autobatched
    arguments: Callable[[np.random.Generator, int], tuple[Any, ...]]
    vmap: Callable[..., Callable[[], Any]] | None = None


def _ints(low: int, high: int, arity: int, dtype: type = np.int32) -> Callable[..., tuple[Any, ...]]:
    return lambda rng, n: tuple(rng.integers(low, high, n).astype(dtype) for _ in range(arity))


def _floats(*makers: Callable[[np.random.Generator, int], np.ndarray]) -> Callable[..., tuple[Any, ...]]:
    return lambda rng, n: tuple(make(rng, n).astype(np.float32) for make in makers)


def _uniform(low: float, high: float) -> Callable[[np.random.Generator, int], np.ndarray]:
    return lambda rng, n: rng.uniform(low, high, n)


def _powers(low: float, high: float) -> Callable[[np.random.Generator, int], np.ndarray]:
    return lambda rng, n: 10.0 ** rng.uniform(low, high, n)


def _boards(rng: np.random.Generator, n: int) -> tuple[Any, ...]:
    return rng.integers(4, 8, n).astype(np.int32), *(np.zeros(n, np.int32) for _ in range(4))


def _trees(rng: np.random.Generator, n: int) -> tuple[Any, ...]:
    places = rng.integers(0, 1000, n)
    return tuple(np.asarray(arg)[places] for arg in random_trees(1000, 63))


def _outbreaks(rng: np.random.Generator, n: int) -> tuple[Any, ...]:
    return rng.integers(0, 2**32, (n, 2), np.uint32), rng.uniform(0.5, 3.0, n).astype(np.float32)


PROGRAMS = {
    "fibonacci": Plain(fibonacci, _ints(3, 13, 1)),
    "collatz": Plain(collatz, _ints(1, 10**6, 1, np.int64), with_jax.collatz),
    "quadrature": Plain(quadrature, _floats(_uniform(-3, 0), _uniform(0, 3), _powers(-7, -3))),
    "trees": Plain(evaluate, _trees),
    "queens": Plain(queens, _boards),
    "oscillator": Plain(oscillator, _floats(_uniform(0, 10), _powers(-5, -3)), with_jax.oscillator),
    "rarely": Plain(rarely, _ints(0, 65537, 1), with_jax.rarely),
    "epidemic": Plain(epidemic, _outbreaks, with_jax.epidemic),
    "tak": Plain(tak, _ints(0, 8, 3)),
    "escape": Plain(escape, _floats(_uniform(-2, 1), _uniform(-1.2, 1.2)), with_jax.escape),
    "euclid": Plain(euclid, _ints(1, 2**40, 2, np.int64), with_jax.euclid),
}


def called(name: str, members: int) -> tuple[ab.Autobatched, tuple[tf.Tensor, ...]]:
    """The program and its arguments."""
    program = PROGRAMS[name]
    return program.function, tuple(map(tf.constant, program.arguments(np.random.default_rng(0), members)))


def run(name: str, sizes: tuple[int, ...] = SIZES) -> Iterator[tuple[int, dict[str, dict[str, float]]]]:
    """For each number of members the times of each system, in turn; none of one whose calls have become too long."""
    program, slow = PROGRAMS[name], set()
    for members in sizes:
        makers = {system: make for system, make in _systems(name, program).items() if system not in slow}
        if not makers:
            return
        _, args = called(name, members)
        rows = _timed({system: make(*args) for system, make in makers.items()})
        yield members, rows
        slow |= {system for system, row in rows.items() if row["median"] * 10 > MOST}


def _systems(name: str, program: Plain) -> dict[str, Callable[..., Callable[[], Any]]]:
    systems = {AUTO: lambda *args: partial(program.function, *args)}
    if program.vmap and importlib.util.find_spec("jax"):
        systems[VMAP] = program.vmap
    if importlib.util.find_spec("numba"):
        from benchmarks.with_numba import PEERS

        systems[NUMBA] = PEERS[name]
    return systems


def _timed(systems: dict[str, Callable[[], Any]]) -> dict[str, dict[str, float]]:
    results: dict[str, Any] = {}

    def kept(name: str) -> Any:
        results[name] = systems[name]()
        return results[name]

    times = in_turn({name: partial(kept, name) for name in systems}, ROUNDS, {AUTO: WARM} if AUTO in systems else {})
    _check_agreement(results)
    return times


def _check_agreement(results: dict[str, Any]) -> None:
    expected = [np.asarray(leaf) for leaf in tf.nest.flatten(next(iter(results.values())))]
    for system, result in results.items():
        for ours, theirs in zip(expected, tf.nest.flatten(result), strict=True):
            same = np.isclose(ours, np.asarray(theirs), rtol=1e-3, atol=1e-3)
            assert same.mean() >= AGREE, f"{system}: {same.mean():.1%} of the members agree"
