"""How much is too much: members, depth, signatures."""

from __future__ import annotations

import resource
import time
import warnings
from collections.abc import Callable, Iterator

import numpy as np
import tensorflow as tf

import autobatch as ab
from benchmarks.compiling import program
from benchmarks.programs import collatz

MEMBERS = 10**6
SIGNATURES = (256, 1000)


@ab.autobatch
def sum_to(n):
    return 0 if n == 0 else n + sum_to(n - 1)


def run() -> Iterator[tuple[str, dict[str, float]]]:
    """What, seconds of the first call, which compiles, and of the second; and MiB by which the process has grown."""
    numbers = tf.range(1, MEMBERS + 1, dtype=tf.int64)
    yield f"{MEMBERS:,} members, a lane for each", _twice(lambda: collatz(numbers))
    yield f"{MEMBERS:,} members on 1,024 lanes", _twice(lambda: collatz.map(numbers))
    yield (
        f"{MEMBERS:,} members from an iterator",
        _twice(lambda: sum(int(steps) for steps in collatz.map(iter(np.arange(1, MEMBERS + 1))))),
    )
    for members in (1, 1000):
        deep = tf.fill([members], 10_000)
        yield f"10,000 calls deep, {members:,} members", _twice(lambda deep=deep: sum_to(deep))
    many = program(250)
    numbers = tf.range(1000)
    blocks = len(many.lower(numbers).stack_program.blocks)
    yield f"{blocks} blocks, 1,000 members", _twice(lambda: many(numbers))
    yield from _signatures()


def _twice(call: Callable[[], object]) -> dict[str, float]:
    before, times = _grown(), []
    for _ in range(2):
        start = time.perf_counter()
        tf.nest.map_structure(lambda leaf: getattr(leaf, "numpy", lambda: leaf)(), call())
        times.append(time.perf_counter() - start)
    return {"first": times[0], "second": times[1], "mebibytes": _grown() - before}


def _signatures() -> Iterator[tuple[str, dict[str, float]]]:
    """One function, traced for vectors of each length."""

    @ab.autobatch(jit_compile=False)
    def doubled(x):
        while tf.reduce_sum(x) < 8.0:
            x = 2.0 * x
        return x

    before, start, done = _grown(), time.perf_counter(), 0
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ab.errors.CacheWarning)
        for count in SIGNATURES:
            for size in range(done + 1, count + 1):
                doubled(tf.ones([4, size]))
            done = count
            taken = {"first": time.perf_counter() - start, "mebibytes": _grown() - before}
            yield f"{count:,} signatures, without XLA", taken


def _grown() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
