"""Where a program's time goes: each block by itself, its runs, and the bytes that it moves."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import tensorflow as tf

import autobatch as ab
from autobatch.ir.leaves import leaf_type
from autobatch.machine.blocks import Machine, State
from autobatch.machine.xla import fitted, whole_loops
from benchmarks.timing import in_turn

REPEATS = 300  # runs in one loop, so that starting it does not count
COPIED = 2**17  # float32 numbers: as many as a block moves
ALL, COPY = "all", "a copy"
WARM = 5  # calls of the whole before those that count, in which the machine compiles smaller ones


def run(function: ab.Autobatched, args: tuple, members: int, rounds: int) -> dict[str, dict[str, float]]:
    """Seconds of each block: a run of it, all lanes active; bytes: what a run reads and writes of the state.

    ALL: seconds of the whole, and into how many parts it was cut; COPY: seconds and bytes of a copy in a like loop.
    """
    lowered = function.lower(*args)
    counter, shared = lowered._machine(), lowered._taken.shared
    parts = counter.shards(counter.depth, members)
    machine, limit = fitted(counter.machine(counter.depth, -(-members // parts)), lowered._options)
    profile = ab.profile(function, *args)
    blocks = {block.name: block for block in profile.blocks if block.runs}
    systems = {name: _repeated(machine, int(name), shared) for name, block in blocks.items()} | {COPY: _copies()}
    with whole_loops(limit):
        times = in_turn({**systems, ALL: lambda: function(*args)}, rounds, {ALL: WARM})
    results = {name: {**row, "seconds": row["median"] / REPEATS} for name, row in times.items()}
    for name, block in blocks.items():
        moved = machine.size * _traffic(machine, int(name))
        line = block.lines[-1][1]
        results[name] |= {"runs": block.runs, "utilization": block.utilization, "bytes": moved, "line": line}
    results[COPY]["bytes"] = 2 * 4 * COPIED
    results[ALL] = {**times[ALL], "seconds": times[ALL]["median"], "parts": parts}
    return results


def _repeated(machine: Machine, i: int, shared: Sequence[tf.Tensor]) -> Callable[[], list[tf.Tensor]]:
    """Block ``i`` again and again, for all lanes."""
    changes = machine.changes(i)

    @tf.function(jit_compile=True, autograph=False)
    def loop(state: State) -> list[tf.Tensor]:
        def again(k: tf.Tensor, changed: State) -> tuple[tf.Tensor, State]:
            new = changed | machine.run_block(i, state | changed, shared)
            new["pc"] = tf.where(new["pc"] < 0, new["pc"], i)  # never below zero; but XLA does not know that
            if "depth" in new:
                new["depth"] = tf.minimum(new["depth"], 1)
            return k + 1, new

        last = tf.while_loop(lambda k, _: k < REPEATS, again, (0, {key: state[key] for key in changes}))[1]
        return [tf.reshape(leaf, [-1])[0] for leaf in last.values()]  # or XLA would drop what nothing reads

    entry = [[tf.zeros([machine.size, *t.shape], t.dtype) for t in _types(machine, v)] for v in machine.program.inputs]
    state = machine.initial(entry) | {"pc": tf.fill([machine.size], i)}
    return lambda: loop(state)


def _types(machine: Machine, variable: str) -> list:
    return [leaf_type(leaf, machine.typed.types) for leaf in machine._leaves(variable)]


def _traffic(machine: Machine, i: int) -> int:
    """Bytes of one lane's registers and stacks that the block reads and writes; temporaries are not counted."""
    block = machine.stored.blocks[i]
    stacked = [leaf for step in block.steps for leaf in (step.saves | step.restores) & machine.stored.stacked]
    types = [leaf_type(leaf, machine.typed.types) for leaf in (*block.reads, *block.writes, *stacked)]
    return sum(math.prod(type_.shape) * type_.dtype.size for type_ in types)


def _copies() -> Callable[[], tf.Tensor]:
    """An array is read and written, element by element."""

    @tf.function(jit_compile=True, autograph=False)
    def loop(x: tf.Tensor) -> tf.Tensor:
        return tf.while_loop(lambda k, _: k < REPEATS, lambda k, x: (k + 1, x + 1.0), (0, x))[1]

    x = tf.zeros([COPIED])
    return lambda: loop(x)
