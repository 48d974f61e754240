"""How a block runs of which some lanes only wait for it: masked, or on chunks of the lanes that do.

A masked run costs what all lanes cost.  A gathered one takes the registers of a chunk of the waiting lanes out, runs
the block on these, and puts back what it sets: its cost is that of the waiting lanes, and of the rows that it moves.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import tensorflow as tf

from autobatch import ir
from autobatch.machine import sizes
from autobatch.machine.blocks import Machine, State
from autobatch.machine.loop import while_loop

SMALLEST, LARGEST = 16, 32  # lanes of a chunk; in smaller ones products are slower than one of 16 lanes
ROW = 1000  # what it costs to move a lane's row of one register, in the unit of passes/costs.py

RunBlock = Callable[[int, State, Sequence[tf.Tensor]], State]  # (block, state, shared) -> the changed parts


def mask(machine: Machine) -> RunBlock:
    """Every block for all lanes."""
    return machine.run_block


def gather(machine: Machine) -> RunBlock:
    """Chunks of lanes for every block that allows it."""
    return _gathering(machine, [can_gather(machine, i) for i in range(machine.halt)])


def auto(machine: Machine) -> RunBlock:
    """Chunks of lanes for the blocks that do so much that to move rows is nothing beside it."""
    worth = [machine.stored.costs[i] >= 10 * ROW * _rows(machine, i) for i in range(machine.halt)]
    return _gathering(machine, [worth[i] and can_gather(machine, i) for i in range(machine.halt)])


PARTIALS = {"auto": auto, "mask": mask, "gather": gather}


def can_gather(machine: Machine, i: int) -> bool:
    """Whether the block touches only registers, and takes any number of lanes; outside XLA no block can."""
    block, storage = machine.program.blocks[i], machine.stored.blocks[i]
    if machine.safe or machine.max_steps is not None or sizes.lanes(machine) <= _chunk(machine):
        return False
    saves = any((step.saves | step.restores) & machine.stored.stacked for step in storage.steps)
    whole = any(isinstance(op, ir.Assign) and (op.function.size or op.function.kind == "write") for op in block.ops)
    return not (saves or whole or isinstance(block.terminator, ir.PushJump))


def _chunk(machine: Machine) -> int:
    """A quarter of the lanes: a larger one is seldom full, and of smaller ones there are more to run."""
    return min(max(sizes.lanes(machine) // 4, SMALLEST), LARGEST)


def _rows(machine: Machine, i: int) -> int:
    storage = machine.stored.blocks[i]
    return len(storage.reads) + len(storage.writes)


def _gathering(machine: Machine, chosen: Sequence[bool]) -> RunBlock:
    def run(i: int, state: State, shared: Sequence[tf.Tensor]) -> State:
        return _in_chunks(machine, i, state, shared) if chosen[i] else machine.run_block(i, state, shared)

    return run


def _in_chunks(machine: Machine, i: int, state: State, shared: Sequence[tf.Tensor]) -> State:
    """Full chunks only, if there is one: the rest waits for more."""
    length, size = _chunk(machine), machine.size
    small = replace(machine, size=length)
    waiting = tf.equal(state["pc"], i)
    place = tf.where(waiting, tf.cumsum(tf.cast(waiting, tf.int32)) - 1, size + length)
    none = tf.fill([size + length], size)
    lanes = tf.tensor_scatter_nd_update(none, place[:, tf.newaxis], tf.range(size))  # XLA drops what is out of range
    chunks = tf.maximum(tf.reduce_sum(tf.cast(waiting, tf.int32)) // length, 1)
    read = machine.keys_read(i)

    def chunk(k: tf.Tensor, changed: State) -> tuple[tf.Tensor, State]:
        now = tf.slice(lanes, [k * length], [length])
        row, there = tf.minimum(now, size - 1), now < size
        taken = {key: _before_chunk(key, leaf, length) for key, leaf in changed.items()}
        taken |= {key: tf.gather(changed.get(key, state[key]), row, axis=machine.axis(key)) for key in read}
        taken["pc"] = tf.where(there, i, -1)
        new = small.run_block(i, taken, shared)
        index = now[:, tf.newaxis]
        return k + 1, {key: _put_back(key, leaf, index, new[key]) for key, leaf in changed.items()}

    changed = {key: state[key] for key in machine.changes(i)}
    return while_loop(machine, lambda k, _: k < chunks, chunk, (0, changed))[1]


def _before_chunk(key: str, leaf: tf.Tensor, length: int) -> tf.Tensor:
    return leaf if Machine.axis(key) is None else tf.zeros([length, *leaf.shape[1:]], leaf.dtype)


def _put_back(key: str, leaf: tf.Tensor, index: tf.Tensor, new: tf.Tensor) -> tf.Tensor:
    return new if Machine.axis(key) is None else tf.tensor_scatter_nd_update(leaf, index, new)
