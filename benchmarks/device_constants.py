"""python benchmarks/device_constants.py OUT.json: what JAX's first device takes for the elements of a machine.

question       seconds to ask for what only the device knows: a loop that turns out not to run
entered        the same of one that runs once
turn           seconds to begin a turn of a loop whose number of turns is known
byte, flop     seconds, of a large copy with a sum, and of products of 16,384 vectors with a matrix of 100 x 100
int32, int64   seconds of a step of Collatz's sequence for 2**24 numbers
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median
from typing import Any

import jax
import jax.numpy as jnp

RUNS = 7
VECTOR = 1024


def timed(function: Callable, *args: Any) -> float:
    run, times = jax.jit(function), []
    for _ in range(RUNS + 1):
        start = time.perf_counter()
        jax.block_until_ready(run(*args))
        times.append(time.perf_counter() - start)
    return median(times[1:])


def per_loop(entered: bool, turns: int = 400) -> float:
    """Seconds for each further loop within a loop, that runs once or not at all."""

    def loops(count: int) -> Callable:
        def body(state: Any) -> Any:
            i, x = state
            x = jnp.sin(x) + x
            for k in range(count):
                start = jnp.int32(x[0] > 1e9 + k) + (not entered)  # which the compiler does not know
                _, x = jax.lax.while_loop(lambda s: s[0] < 1, lambda s: (s[0] + 1, jnp.sin(s[1]) + s[1]), (start, x))
            return i + 1, x

        return lambda n, x: jax.lax.while_loop(lambda s: s[0] < n, body, (0, x))[1]

    few, many = (timed(loops(count), turns, jnp.ones(VECTOR)) / turns for count in (1, 8))
    return (many - few) / 7


def turn(outer: int = 50, inner: int = 16) -> float:
    def some(x: Any) -> Any:
        return jax.lax.fori_loop(0, inner, lambda _, x: x + 1e-9 * jnp.sum(x), x)

    run = lambda n, x: jax.lax.while_loop(lambda s: s[0] < n, lambda s: (s[0] + 1, some(s[1])), (0, x))[1]
    return timed(run, outer, jnp.ones(VECTOR)) / outer / inner


def collatz(dtype: str, turns: int = 50) -> float:
    step = lambda _, n: jnp.where(n % 2 == 0, n // 2, 3 * n + 1)
    return timed(lambda n: jax.lax.fori_loop(0, turns, step, n), jnp.ones(2**24, dtype)) / turns


def flop(turns: int = 100, lanes: int = 16384, size: int = 100) -> float:
    matrix = jnp.eye(size)
    seconds = timed(lambda v: jax.lax.fori_loop(0, turns, lambda _, v: v @ matrix, v), jnp.ones((lanes, size)))
    return seconds / turns / (2 * lanes * size**2)


def main() -> None:
    big = jnp.ones(2**28)
    found = {
        "question": per_loop(entered=False),
        "entered": per_loop(entered=True),
        "turn": turn(),
        "byte": timed(lambda x: 1.5 * x + 1, big) / (2 * big.nbytes),
        "flop": flop(),
    }
    with jax.enable_x64(True):
        found |= {dtype: collatz(dtype) for dtype in ("int32", "int64")}
    told = {"device": jax.devices()[0].device_kind, "jax": jax.__version__, **found}
    Path(sys.argv[1]).write_text(json.dumps(told, indent=1) + "\n")
    print(told)


if __name__ == "__main__":
    main()
