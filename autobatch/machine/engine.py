"""A machine, compiled: it begins with arguments, or goes on with a state, and stops where the host is to step in.

The batch is cut into parts, which the threads of TensorFlow's executor run beside each other: XLA's CPU code for
element-wise operations inside a loop uses one thread, and members do not depend on each other.  Slots count the lanes
of all parts; those behind the last member are empty.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from typing import Any, NamedTuple

import numpy as np
import tensorflow as tf

from autobatch.context import around_tracing
from autobatch.machine import partial
from autobatch.machine.blocks import Machine, State, deeper
from autobatch.machine.dispatch import DISPATCHES, REPEATS, Limit, Looks, until_done, until_few
from autobatch.machine.pieces import Shelf, compiled, piece
from autobatch.machine.schedule import SCHEDULES
from autobatch.machine.xla import as_traced, fitted, whole_loops
from autobatch.options import Options
from autobatch.progress import compiling
from autobatch.tracing.graphs import GraphFunction
from autobatch.tracing.vectorize import Stored


class Outcome(NamedTuple):
    """What the lanes hold when the machine stops; meaningful for those that have finished, or failed a check."""

    results: list[Stored]
    fault: tf.Tensor  # [slots] int32: 1 + the position of the check that it failed, or 0
    notes: list[Stored]  # what each check shows of the lanes that failed it
    pc: tf.Tensor  # [slots] int32: the block where it stands; ``Machine.stopped`` if it is done, more if it is stalled


class Stop(NamedTuple):
    """A machine that has stopped: what its lanes hold, the state of each part, and how often they were looked at."""

    outcome: Outcome
    states: list[State]
    looks: Looks  # at the part that took longest


Advance = Callable[[State, list[tf.Tensor], Limit], tuple[State, Looks]]
Look = Callable[[State, list[tf.Tensor]], Outcome]


def outcome_of(machine: Machine, state: State, shared: Sequence[tf.Tensor], done: tf.Tensor | None = None) -> Outcome:
    fault = state.get("fault", tf.zeros([machine.size], tf.int32))
    pc = tf.where(tf.equal(state["pc"], machine.halt), machine.stopped, state["pc"])
    return Outcome(machine.results(state, shared, done), fault, machine.notes(state), pc)


def in_one_go(machine: Machine, options: Options) -> Callable[[list[Stored], list[tf.Tensor]], Outcome]:
    """From arguments to the end, for a graph that no host looks at."""

    def run(arguments: list[Stored], shared: list[tf.Tensor]) -> Outcome:
        sized = machine.sized(arguments)
        choose = SCHEDULES[options.schedule](sized)
        run_block = partial.PARTIALS[options.partial](sized)
        step = DISPATCHES[options.dispatch](sized, run_block, choose, shared)
        return outcome_of(sized, until_done(sized, step, choose, sized.initial(arguments)), shared)

    return run


def in_parts(machine: Machine, parts: int, count: int, options: Options) -> Callable:
    """The same for ``count`` members in parts of the machine's size, each an XLA program of its own if it may be."""
    choose = SCHEDULES[options.schedule](machine)
    run_block = partial.PARTIALS[options.partial](machine)

    @tf.function(autograph=False, jit_compile=options.jit_compile)
    def to_the_end(state: State, shared: list[tf.Tensor]) -> Outcome:
        step = DISPATCHES[options.dispatch](machine, run_block, choose, shared)
        return outcome_of(machine, until_done(machine, step, choose, state), shared)

    def run(arguments: list[Stored], shared: list[tf.Tensor]) -> Outcome:
        states = cut(machine, parts, count, arguments)
        return side_by_side([to_the_end(state, shared) for state in states], count)

    return run


def cut(machine: Machine, parts: int, count: int, arguments: list[Stored]) -> list[State]:
    """Where each part begins; lanes behind the last member are empty."""
    size, missing = machine.size, parts * machine.size - count
    arguments = tf.nest.map_structure(lambda leaf: _padded(leaf, missing), arguments)
    states = []
    for k in (part * size for part in range(parts)):
        piece = tf.nest.map_structure(lambda leaf, k=k: leaf[k : k + size], arguments)
        states.append(machine.initial(piece, min(size, max(count - k, 0))))
    return states


def side_by_side(outcomes: list[Outcome], count: int) -> Outcome:
    return tf.nest.map_structure(lambda *leaves: tf.concat(leaves, axis=0)[:count], *outcomes)


class Engine:
    """A machine for ``count`` members in ``parts``; ``machine`` is that of one part.

    ``stops_early``: whether it heeds limits, which costs a tenth of the time of a machine with few lanes.
    """

    def __init__(
        self, machine: Machine, parts: int, count: int, options: Options, stops_early: bool, shelf: Shelf | None = None
    ):
        self.machine, self.loop_limit = fitted(machine, options)
        self.parts, self.count, self.options = parts, count, options
        self.stops_early, self.shelf = stops_early, shelf
        self._pieces: tuple[Advance, Look] | None = None
        self._traced: dict[Callable, Callable] = {}
        self._takers: dict[Engine, Callable] = {}

    def begin(self, arguments: list[Stored], shared: list[tf.Tensor], limit: Limit) -> Stop:
        return self._run(self._from_arguments, arguments, shared, limit)

    def resume(self, states: list[State], shared: list[tf.Tensor], limit: Limit) -> Stop:
        return self._run(self._from_states, states, shared, limit)

    def take_over(self, states: list[State], slots: np.ndarray, source: Engine) -> list[State]:
        """The members in these slots of another engine, in the first of this one, whose stacks may be deeper."""
        if source not in self._takers:
            take = functools.partial(_moved, more=self.machine.depth - source.machine.depth, target=self)
            self._takers[source] = tf.function(take, autograph=False)
        return self._takers[source](states, self._filled(slots), tf.constant(len(slots)))

    def spread(self, state: State) -> list[State]:
        """The states of the parts, from that of the lanes of all parts side by side."""
        return _moved([state], self._filled(np.arange(self.count)), tf.constant(self.count), more=0, target=self)

    def _filled(self, slots: np.ndarray) -> tf.Tensor:
        """A slot for each lane."""
        return tf.constant(np.concatenate([slots, np.zeros(self.parts * self.machine.size - len(slots), slots.dtype)]))

    def _run(self, function: Callable, start: Any, shared: list[tf.Tensor], limit: Limit) -> Stop:
        tensors = _tensors(limit)
        with as_traced() if self.options.jit_compile else nullcontext():
            if function not in self._traced:
                with whole_loops(self.loop_limit):
                    if function not in self._traced:
                        with compiling(self.machine.name), around_tracing():
                            self._pieces = self._pieces or self._made(shared, tensors)
                            self._traced[function] = GraphFunction(function, start, shared, tensors)
            return self._traced[function](start, shared, tensors)

    def _from_arguments(self, arguments: list[Stored], shared: list[tf.Tensor], limit: Limit) -> Stop:
        return self._from_states(cut(self.machine, self.parts, self.count, arguments), shared, limit)

    def _from_states(self, states: list[State], shared: list[tf.Tensor], limit: Limit) -> Stop:
        assert self._pieces is not None
        advance, look = self._pieces
        each = limit._replace(floor=limit.floor // self.parts)
        runs = [advance(state, shared, each) for state in states]
        held = [look(state, shared) for state, _ in runs]
        outcome = side_by_side(held, self.count)
        looks = tf.nest.map_structure(lambda *counts: tf.reduce_max(tf.stack(counts)), *(p for _, p in runs))
        return Stop(outcome, [state for state, _ in runs] if self.can_go_on else [], looks)

    @property
    def can_go_on(self) -> bool:
        """Whether the host may have to step in, or is to read the state."""
        return self.stops_early or self.machine.has_calls or self.machine.counts or self.machine.max_steps is not None

    def _made(self, shared: list[tf.Tensor], limit: Limit) -> tuple[Advance, Look]:
        """What runs one part, and what takes the outcome from it, each compiled by itself."""
        options, machine = self.options, self.machine
        idle = (machine.empty(), shared)
        look = self._look(machine)  # without an epilogue there is nothing to compute
        if self.shelf is not None and options.jit_compile:
            purpose = ("advance", options.schedule, options.dispatch, options.partial, self.stops_early)
            advance = piece(self.shelf, purpose, machine, self._advance, (*idle, limit), self.loop_limit)
            if machine.has_epilogue:
                look = piece(self.shelf, ["look"], machine, self._look, idle, self.loop_limit)
            return advance, look
        advance = tf.function(self._advance(machine), autograph=False, jit_compile=options.jit_compile)
        advance = compiled(advance.get_concrete_function(*idle, limit), (*idle, limit))
        if machine.has_epilogue:  # outside XLA nothing is copied
            look = tf.function(look, autograph=False, jit_compile=True).get_concrete_function(*idle)
        return advance, look

    def _advance(self, machine: Machine) -> Advance:
        options = self.options
        choose = SCHEDULES[options.schedule](machine)
        run_block = partial.PARTIALS[options.partial](machine)
        repeats = (1 if machine.counts else REPEATS) if self.stops_early else None

        def advance(state: State, shared: list[tf.Tensor], limit: Limit) -> tuple[State, Looks]:
            step = DISPATCHES[options.dispatch](machine, run_block, choose, shared, repeats)
            if not self.stops_early:
                return until_done(machine, step, choose, state), Looks(tf.constant(0), tf.constant(0))
            return until_few(machine, step, choose, state, limit)

        return advance

    def _look(self, machine: Machine) -> Look:
        def look(state: State, shared: list[tf.Tensor]) -> Outcome:
            return outcome_of(machine, state, shared)

        return look


@functools.lru_cache(8)
def _tensors(limit: Limit) -> Limit:
    return Limit(*map(tf.constant, limit))


def _padded(leaf: tf.Tensor, missing: int) -> tf.Tensor:
    return tf.concat([leaf, tf.zeros([missing, *leaf.shape[1:]], leaf.dtype)], axis=0) if missing else leaf


def _moved(states: Sequence[State], slots: tf.Tensor, count: tf.Tensor, more: int, target: Engine) -> list[State]:
    """The members in these slots; more: how many frames deeper the target's stacks are."""
    size, stopped = target.machine.size, target.machine.stopped
    whole = {}
    for key, leaf in states[0].items():
        axis = Machine.axis(key)
        if axis is None:
            leaf = tf.add_n([state[key] for state in states])
        else:
            leaf = tf.gather(tf.concat([state[key] for state in states], axis), slots, axis=axis)
        whole[key] = deeper(key, leaf, more)
    pc = tf.where(whole["pc"] > stopped, whole["pc"] - stopped - 1, whole["pc"])  # who was stalled tries again
    whole["pc"] = tf.where(tf.range(target.parts * size) < count, pc, stopped)
    starts = [part * size for part in range(target.parts)]
    return [{key: _piece(leaf, Machine.axis(key), k, size) for key, leaf in whole.items()} for k in starts]


def _piece(leaf: tf.Tensor, axis: int | None, start: int, size: int) -> tf.Tensor:
    if axis is None:
        return leaf if start == 0 else tf.zeros_like(leaf)
    return leaf[:, start : start + size] if axis else leaf[start : start + size]
