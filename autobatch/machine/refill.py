"""Lanes that take the next member as soon as they are done: a machine of fixed size for any number of members.

The host gives it a pool of members at a time.  What they return goes into a harvest, which has a row for each row of
the pool, then one for each lane, for a member that it has kept from an earlier pool, and one that nobody reads.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import nullcontext
from typing import NamedTuple

import numpy as np
import tensorflow as tf

from autobatch import context
from autobatch.machine import partial
from autobatch.machine.blocks import Machine, State, deeper
from autobatch.machine.dispatch import DISPATCHES
from autobatch.machine.engine import outcome_of
from autobatch.machine.loop import while_loop
from autobatch.machine.pieces import Shelf, compiled, piece
from autobatch.machine.schedule import SCHEDULES
from autobatch.machine.xla import as_traced, fitted, whole_loops
from autobatch.options import Options
from autobatch.progress import compiling
from autobatch.tracing.vectorize import Stored

UNFINISHED = -1
IDLE = 1 / 16  # the share of the lanes that wait for new members before they get them, all at once
REPEATS = 4  # runs of a loop's block between two looks at how many wait


class Pool(NamedTuple):
    """Members for the lanes to take."""

    arguments: list[Stored]  # [rows, ...]
    taken: tf.Tensor  # [] int32: how many of the rows lanes have taken already
    count: tf.Tensor  # [] int32: how many of the rows are members
    more: tf.Tensor  # [] bool: whether another pool comes after it

    @property
    def rows(self) -> int:
        return tf.nest.flatten(self.arguments)[0].shape[0]


class Lanes(NamedTuple):
    """A machine's state, and the row [Z] int32 that each lane's member has in the harvest; UNFINISHED: no member."""

    state: State
    row: tf.Tensor


class Harvest(NamedTuple):
    """What members returned; [rows + Z + 1, ...] each but ``taken``, as in the pool."""

    taken: tf.Tensor
    code: tf.Tensor  # int32: UNFINISHED, or 0, or 1 + the position of the check that the member failed
    results: list[Stored]
    notes: list[Stored]  # what each check shows of the members that failed it


class _Flow(NamedTuple):
    state: State
    row: tf.Tensor
    harvest: Harvest


class Refilled:
    """A machine whose lanes are refilled."""

    def __init__(self, machine: Machine, options: Options, shelf: Shelf | None = None):
        self.machine, self.loop_limit = fitted(machine, options)
        self.options, self.shelf = options, shelf
        self._compiled: dict[int, Callable] = {}  # by the rows of a pool

    def empty(self) -> Lanes:
        return Lanes(self.machine.empty(), tf.fill([self.machine.size], UNFINISHED))

    def advance(self, lanes: Lanes, pool: Pool, shared: Sequence[tf.Tensor], turns: int) -> tuple[Lanes, Harvest]:
        """Runs until no lane can move, or many wait: for the next pool, or for deeper stacks; or for so many turns."""
        with as_traced() if self.options.jit_compile else nullcontext():
            with context.tracing_lock:
                if pool.rows not in self._compiled:
                    with compiling(self.machine.name):
                        self._compiled[pool.rows] = self._compile(pool, list(shared))
            return self._compiled[pool.rows](lanes, pool, list(shared), tf.constant(turns))

    def _compile(self, pool: Pool, shared: list[tf.Tensor]) -> Callable:
        options, arguments = self.options, (self.empty(), pool._replace(count=pool.taken), shared, tf.constant(0))
        if self.shelf is not None and options.jit_compile:
            purpose = ("refilled", options.schedule, options.dispatch, options.partial, pool.rows)
            return piece(self.shelf, purpose, self.machine, self._advance, arguments, self.loop_limit)
        function = tf.function(self._advance(self.machine), autograph=False, jit_compile=options.jit_compile)
        with whole_loops(self.loop_limit):
            return compiled(function.get_concrete_function(*arguments), arguments)

    def is_stalled(self, lanes: Lanes) -> np.ndarray:
        """Which lanes [Z] wait for deeper stacks."""
        return lanes.state["pc"].numpy() > self.machine.stopped

    def taken_over(self, lanes: Lanes, source: Refilled) -> Lanes:
        """The lanes of a machine whose stacks are less deep; those that were stalled try again."""
        stopped, more = self.machine.stopped, self.machine.depth - source.machine.depth
        state = {key: deeper(key, leaf, more) for key, leaf in lanes.state.items()}
        pc = state["pc"]
        return Lanes(state | {"pc": tf.where(pc > stopped, pc - stopped - 1, pc)}, lanes.row)

    def freed(self, lanes: Lanes, given_up: np.ndarray) -> Lanes:
        """Without the members of these lanes [Z]."""
        pc = tf.where(given_up, self.machine.stopped, lanes.state["pc"])
        return Lanes(lanes.state | {"pc": pc}, tf.where(given_up, UNFINISHED, lanes.row))

    def _advance(self, machine: Machine) -> Callable[[Lanes, Pool, list[tf.Tensor], tf.Tensor], tuple[Lanes, Harvest]]:
        choose = SCHEDULES[self.options.schedule](machine)
        run_block = partial.PARTIALS[self.options.partial](machine)
        many = max(1, round(IDLE * machine.size))

        def advance(lanes: Lanes, pool: Pool, shared: list[tf.Tensor], turns: tf.Tensor) -> tuple[Lanes, Harvest]:
            step = DISPATCHES[self.options.dispatch](machine, run_block, choose, shared, REPEATS)

            def goes_on(turn: tf.Tensor, chosen: tf.Tensor, flow: _Flow) -> tf.Tensor:
                is_fed, pc = flow.harvest.taken < pool.count, flow.state["pc"]
                idle, stalled = _count(_is_done(machine, pc)), _count(pc > machine.stopped)
                moves = (chosen < machine.halt) | (is_fed & (idle > 0))
                return (turn < turns) & moves & (stalled < many) & (is_fed | ~pool.more | (idle + stalled < many))

            def passes(turn: tf.Tensor, chosen: tf.Tensor, flow: _Flow) -> tuple[tf.Tensor, tf.Tensor, _Flow]:
                chosen, state = step(chosen, flow.state)
                idle = _count(_is_done(machine, state["pc"]))
                is_due = (flow.harvest.taken < pool.count) & (idle > 0) & ((idle >= many) | (chosen >= machine.halt))
                return turn + 1, *serve_if(is_due, chosen, flow._replace(state=state))

            def serve_if(is_due: tf.Tensor, chosen: tf.Tensor, flow: _Flow) -> tuple[tf.Tensor, _Flow]:
                """In a while loop, as a block in its guard: it carries what changes, and XLA updates that in place."""

                def serve(_due: tf.Tensor, _chosen: tf.Tensor, now: _Flow) -> tuple[tf.Tensor, tf.Tensor, _Flow]:
                    new = _served(machine, now._replace(state=flow.state | now.state), pool, shared)
                    return tf.constant(False), choose(new.state["pc"]), changing(new)

                def changing(now: _Flow) -> _Flow:
                    return now._replace(state={key: now.state[key] for key in sorted(machine.entered)})

                start = (is_due, chosen, changing(flow))
                _, chosen, now = while_loop(machine, lambda due, *_: due, serve, start)
                return chosen, now._replace(state=flow.state | now.state)

            kept = tf.where(lanes.row >= 0, pool.rows + tf.range(machine.size), UNFINISHED)
            flow = _Flow(lanes.state, kept, _nothing(machine, lanes.state, pool, shared))
            start = (tf.constant(0), choose(lanes.state["pc"]), flow)
            _, _, flow = while_loop(machine, goes_on, passes, start)
            flow = _served(machine, flow, pool, shared)
            return Lanes(flow.state, flow.row), flow.harvest

        return advance


def _count(mask: tf.Tensor) -> tf.Tensor:
    return tf.reduce_sum(tf.cast(mask, tf.int32))


def _is_done(machine: Machine, pc: tf.Tensor) -> tf.Tensor:
    return (pc >= machine.halt) & (pc <= machine.stopped)


def _nothing(machine: Machine, state: State, pool: Pool, shared: list[tf.Tensor]) -> Harvest:
    """A harvest of zeros; what is computed here XLA drops, as only the shapes are used."""
    outcome, rows = outcome_of(machine, state, shared), pool.rows + machine.size + 1
    like = (outcome.results, outcome.notes)
    results, notes = tf.nest.map_structure(lambda leaf: tf.zeros([rows, *leaf.shape[1:]], leaf.dtype), like)
    return Harvest(pool.taken, tf.fill([rows], UNFINISHED), results, notes)


def _served(machine: Machine, flow: _Flow, pool: Pool, shared: list[tf.Tensor]) -> _Flow:
    """Brings in what the lanes that are done return, and gives them the next members of the pool."""
    state, done = flow.state, _is_done(machine, flow.state["pc"])
    outcome = outcome_of(machine, state, shared, done)
    nowhere = pool.rows + machine.size
    place = tf.where(done & (flow.row >= 0), flow.row, nowhere)
    rows, new = flow.harvest[1:], (outcome.fault, outcome.results, outcome.notes)
    brought = tf.nest.map_structure(lambda all_, some: _put(machine, all_, place, some), rows, new)
    following = flow.harvest.taken + tf.cumsum(tf.cast(done, tf.int32), exclusive=True)
    begins = done & (following < pool.count)
    index = tf.where(begins, following, 0)
    begun = machine.begun(state, begins, tf.nest.map_structure(lambda leaf: tf.gather(leaf, index), pool.arguments))
    begun["pc"] = tf.where(done & ~begins, machine.stopped, begun["pc"])
    row = tf.where(begins, following, tf.where(done, UNFINISHED, flow.row))
    return _Flow(state | begun, row, Harvest(flow.harvest.taken + _count(begins), *brought))


def _put(machine: Machine, rows: tf.Tensor, place: tf.Tensor, new: tf.Tensor) -> tf.Tensor:
    """The lanes' new values in their places."""
    if not machine.saves_singly:
        return tf.tensor_scatter_nd_update(rows, place[:, tf.newaxis], new)

    def put(lane: tf.Tensor, rows: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor]:
        return lane + 1, tf.tensor_scatter_nd_update(rows, place[lane][tf.newaxis, tf.newaxis], new[lane][tf.newaxis])

    return while_loop(machine, lambda lane, _: lane < machine.size, put, (0, rows))[1]
