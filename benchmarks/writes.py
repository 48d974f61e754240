"""Item writes: 1,000 writes into a vector of each member's own, against one, for vectors of several sizes; and as many,
or ten times as many, items appended to a list, with room for more or less."""

from __future__ import annotations

from functools import partial

import tensorflow as tf

import autobatch as ab
from benchmarks.timing import in_turn

MEMBERS = 64


@ab.autobatch(static_argnames=("size", "writes"))
def fill(x, size, writes):
    values = tf.zeros([size])
    for i in range(writes):
        values[(7 * i) % size] = x
        x = 0.99 * x + 0.01 * values[(3 * i) % size]
    return values[0] + values[-1] + x


@ab.autobatch(static_argnames="appends")
def grow(x, appends):
    values = [x]
    for i in range(appends):
        values.append(x)
        x = 0.99 * x + 0.01 * values[i // 2]
    return values[-1] + x


def run(rounds: int) -> dict[str, dict[str, float]]:
    x = tf.random.stateless_normal([MEMBERS], seed=[0, 0])
    cases = [(10_000, 1), (10, 1_000), (1_000, 1_000), (10_000, 1_000), (100_000, 1_000)]
    functions = {f"{writes:,} writes into [{size:,}]": partial(fill, x, size, writes) for size, writes in cases}
    for appends, room in [(1_000, 2_000), (1_000, 20_000), (1_000, 100_000), (10_000, 20_000)]:
        functions[f"{appends:,} appends, room for {room:,}"] = partial(grow.options(max_length=room), x, appends)
    return in_turn(functions, rounds)
