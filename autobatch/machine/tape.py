"""The tape: what a machine's steps overwrite and their pullbacks will need, in the order of the steps.

It has a row for each step that has to be run backwards: which block it was, and for which lanes.  What such a step
records, whole registers [Z, ...], goes to the rows of a pool for its dtype and shape.  Where the next step might find
no row in one of them, it has to wait until someone has taken the tape away.
"""

from __future__ import annotations

import itertools
import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import tensorflow as tf
from tensorflow.compiler.tf2xla.python import xla as tf2xla

from autobatch.ir.adjoint import AdjointProgram
from autobatch.ir.leaves import leaf_type
from autobatch.machine.blocks import State, apart

BLOCK, LANES, ROWS = "tape block", "tape lanes", "tape rows"


@dataclass(frozen=True)
class Pool:
    """Rows for what has one dtype and shape."""

    dtype: tf.DType
    shape: tuple[int, ...]

    @property
    def name(self) -> str:
        return f"tape {self.dtype.name}{list(self.shape)}"

    @property
    def rows(self) -> str:
        return f"{self.name} rows"

    @property
    def bytes(self) -> int:
        """Of one lane's row."""
        return self.dtype.size * math.prod(self.shape)


@dataclass(frozen=True)
class Tape:
    """The layout of a tape for ``steps`` steps of ``size`` lanes.

    for_all: whether there is room for any such steps; else for as many of each block that may run again and again, and
    the tape may be full earlier.
    """

    program: AdjointProgram
    size: int
    steps: int
    for_all: bool = False

    @cached_property
    def pools(self) -> dict[Pool, int]:
        """With the most rows that one step takes."""
        most: Counter[Pool] = Counter()
        for i in range(len(self.program.blocks)):
            most |= Counter(self.recorded(i))
        return dict(sorted(most.items(), key=lambda pair: pair[0].name))

    @cached_property
    def room(self) -> dict[Pool, int]:
        """The rows of each pool."""
        recording = [i for i, block in enumerate(self.program.blocks) if not block.is_idle]
        often = [i for i in recording if self.program.stored.typed.may_run_again(i)] or recording
        rows = Counter[Pool](itertools.chain.from_iterable(map(self.recorded, often)))
        shares = {pool: most if self.for_all else rows[pool] / len(often) for pool, most in self.pools.items()}
        return {pool: max(self.pools[pool], math.ceil(self.steps * share)) for pool, share in shares.items()}

    def recorded(self, i: int) -> list[Pool]:
        """For all that block ``i`` records, in order, the pool of its row: registers, what it restores, the depth."""
        block, types = self.program.blocks[i], self.program.stored.types
        leaves = [leaf_type(leaf, types) for leaf in (*block.records, *block.taped)]
        pools = [Pool(leaf.dtype, tuple(leaf.shape)) for leaf in leaves]
        return [*pools, Pool(tf.int32, ())] if block.records_depth else pools

    @property
    def bytes(self) -> int:
        pools = sum(pool.bytes * rows for pool, rows in self.room.items())
        return self.steps * (4 + self.size) + self.size * pools

    @property
    def rows(self) -> dict[str, tf.TensorSpec]:
        """What a tape has beside the numbers of its rows."""
        specs = {
            BLOCK: tf.TensorSpec([self.steps], tf.int32),
            LANES: tf.TensorSpec([self.steps, self.size], tf.bool),
        }
        pools = {pool.name: ([rows, self.size, *pool.shape], pool.dtype) for pool, rows in self.room.items()}
        return specs | {name: tf.TensorSpec(*spec) for name, spec in pools.items()}

    def blank(self) -> State:
        """Rows for a tape."""
        return {key: tf.zeros(spec.shape, spec.dtype) for key, spec in self.rows.items()}

    def empty(self, rows: State | None = None) -> State:
        """A tape with these rows, whatever is in them; or with new ones."""
        counts = (ROWS, *(pool.rows for pool in self.pools))
        return (rows or self.blank()) | {key: tf.zeros([], tf.int32) for key in counts}

    def read(self, tape: State) -> State:
        """With the rows that a reel holds."""
        return tape | {key: _held(leaf, self.rows[key]) for key, leaf in tape.items() if leaf.dtype == tf.resource}

    def changes(self, i: int) -> set[str]:
        """The parts of it that a step of block ``i`` adds to."""
        if self.program.blocks[i].is_idle:
            return set()
        return {BLOCK, LANES, ROWS, *(key for pool in self.recorded(i) for key in (pool.name, pool.rows))}

    def added(self, i: int, state: State, lanes: tf.Tensor, values: Sequence[tf.Tensor]) -> State:
        """What has changed with a step of block ``i`` for these ``lanes`` [Z] that recorded these values [Z, ...]."""
        row, new = state[ROWS], {}
        new[BLOCK] = _put(state[BLOCK], row, tf.constant(i))
        new[LANES] = _put(state[LANES], row, lanes)
        new[ROWS] = row + 1
        for pool, value in zip(self.recorded(i), values, strict=True):
            row = new.get(pool.rows, state[pool.rows])
            new[pool.name] = _put(new.get(pool.name, state[pool.name]), row, value)
            new[pool.rows] = row + 1
        return new

    def has_room(self, state: State) -> tf.Tensor | bool:
        """For another step of any block, as far as these parts of the state tell."""
        most = {ROWS: self.steps - 1}
        for pool, rows in self.room.items():
            if rows < self.steps * self.pools[pool]:
                most[pool.rows] = rows - self.pools[pool]
        found: tf.Tensor | bool = True
        for key in sorted(most.keys() & state.keys()):
            found &= state[key] <= most[key]
        return found

    def last(self, state: State, rows: tf.Tensor) -> tf.Tensor:
        """The block of the last of so many steps; the number of blocks if there is none."""
        last = _get(state[BLOCK], tf.maximum(rows - 1, 0))
        return tf.where(rows > 0, last, len(self.program.blocks))

    def taken(self, i: int, state: State) -> tuple[tf.Tensor, list[tf.Tensor], State]:
        """The lanes and the values of the last step, of block ``i``, and the rows without it."""
        rows, values = {ROWS: state[ROWS] - 1}, []
        for pool in reversed(self.recorded(i)):
            rows[pool.rows] = rows.get(pool.rows, state[pool.rows]) - 1
            values.append(_get(state[pool.name], rows[pool.rows]))
        return apart(_get(state[LANES], rows[ROWS])), values[::-1], rows

    def rows_taken(self, i: int) -> set[str]:
        return {ROWS, *(pool.rows for pool in self.recorded(i))}


def _held(handle: tf.Tensor, spec: tf.TensorSpec) -> tf.Tensor:
    return tf.ensure_shape(tf.raw_ops.ReadVariableOp(resource=handle, dtype=spec.dtype), spec.shape)


def _put(rows: tf.Tensor, row: tf.Tensor, value: tf.Tensor) -> tf.Tensor:
    start = tf.stack([row, *[0] * value.shape.rank])
    return tf2xla.dynamic_update_slice(rows, value[tf.newaxis], start)


def _get(rows: tf.Tensor, row: Any) -> tf.Tensor:
    shape: list[Any] = rows.shape.as_list()[1:]
    start = tf.stack([row, *[0] * len(shape)])
    found = tf2xla.dynamic_slice(rows, start, tf.constant([1, *shape], tf.int32))
    return tf.reshape(found, shape)
