"""A machine with a tape and its adjoint machine, compiled, for all parts of a batch."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from typing import Any, NamedTuple

import tensorflow as tf

from autobatch.context import around_tracing
from autobatch.ir.adjoint import AdjointProgram
from autobatch.ir.leaves import Leaf
from autobatch.machine.adjoint import AdjointMachine
from autobatch.machine.blocks import Machine, State
from autobatch.machine.dispatch import guarded, until_done
from autobatch.machine.engine import Outcome, cut, outcome_of, side_by_side
from autobatch.machine.reels import Reels
from autobatch.machine.schedule import SCHEDULES
from autobatch.machine.sizes import lane_bytes
from autobatch.machine.tape import Tape
from autobatch.machine.taped import Taped
from autobatch.machine.xla import as_traced, fitted, whole_loops
from autobatch.options import Options
from autobatch.progress import compiling
from autobatch.tracing.graphs import GraphFunction
from autobatch.tracing.vectorize import Stored

FEWEST, ENOUGH, MOST = 64, 512, 4096  # steps of a tape; enough: to start the next one takes little beside them
LARGEST = 32 * 2**20  # bytes of one


class Advanced(NamedTuple):
    """The parts of a batch where a tape was full, or no lane could move; what they recorded; and where lanes stand."""

    states: list[State]
    tapes: list[State]
    pc: tf.Tensor  # [count]; as in ``Outcome``


class Cotangents(NamedTuple):
    """Of the inputs' leaves that have any, [count, ...] each; of what all members share (``AdjointMachine.sums``)."""

    inputs: dict[Leaf, tf.Tensor]
    shared: list[tf.Tensor]


class Reversible:
    """For ``count`` members in ``parts``; ``machine`` is that of one part.

    ``steps``: of a tape, None for as many as are good.  What takes ``variables`` takes what those held that the code
    closes over, in the order of ``AdjointProgram.variables``.
    """

    def __init__(
        self,
        machine: Machine,
        adjoint: AdjointProgram,
        parts: int,
        count: int,
        options: Options,
        steps: int | None = None,
    ):
        machine, self.loop_limit = fitted(machine, options)
        self.adjoint, self.parts, self.count, self.options = adjoint, parts, count, options
        most = min(LARGEST, options.tape_memory // (2 * parts))
        for_all, steps = steps is not None, steps or _steps(machine, adjoint, self.loop_limit, most)
        self.tape = Tape(adjoint, machine.size, steps, for_all)
        self.machine, self.reels = Taped.of(machine, self.tape), Reels(self.tape)
        self._traced: dict[Callable, GraphFunction] = {}

    def begun(self, arguments: Sequence[Stored]) -> list[State]:
        """The parts before their first step."""
        return self._run(self._begun, list(arguments))

    def deeper(self, states: list[State], to: Reversible) -> list[State]:
        """The parts for stacks of another depth."""
        return [self.machine.handed_over(state, to.machine) for state in states]

    def advance(self, states: list[State], shared: list[tf.Tensor], reels: Sequence[State] = ()) -> Advanced:
        """``reels`` hold the tapes' rows, if there are any."""
        given = list(reels) or [{}] * self.parts
        done = self._run(self._advance, states, shared, given)
        return done._replace(tapes=[tape | reel for tape, reel in zip(done.tapes, given, strict=True)])

    def outcome(self, states: list[State], shared: list[tf.Tensor]) -> Outcome:
        """What the lanes hold."""
        return self._run(self._outcome, states, shared)

    def undo_last(
        self,
        states: list[State],
        results: Mapping[Leaf, tf.Tensor],
        tapes: list[State],
        shared: list[tf.Tensor],
        variables: list[tf.Tensor],
    ) -> list[State]:
        """The parts of the adjoint machine before the steps of the last tapes.

        From the parts as they ended, and the cotangents of the results' leaves.
        """
        return self._run(self._undo_last, states, results, tapes, shared, variables)

    def undo(
        self, states: list[State], tapes: list[State], shared: list[tf.Tensor], variables: list[tf.Tensor]
    ) -> list[State]:
        """The same for an earlier tape."""
        machine = self._adjoint_machine(variables)
        return self._run(self._undo, [machine.as_deep(state) for state in states], tapes, shared, variables)

    def collected(self, states: list[State]) -> Cotangents:
        """From the parts of the adjoint machine before the first step."""
        return self._run(self._collected, states)

    def _run(self, function: Callable, *arguments: Any) -> Any:
        with as_traced(), whole_loops(self.loop_limit):
            if function not in self._traced:
                with compiling(self.machine.name), around_tracing():
                    self._traced[function] = GraphFunction(function, *arguments)
            return self._traced[function](*arguments)

    def _adjoint_machine(self, variables: Sequence[tf.Tensor]) -> AdjointMachine:
        return AdjointMachine(self.machine, self.tape, dict(zip(self.adjoint.variables, variables, strict=True)))

    @cached_property
    def _begun(self) -> Callable:
        return functools.partial(cut, self.machine, self.parts, self.count)

    @cached_property
    def _advance(self) -> Callable:
        machine, choose = self.machine, SCHEDULES[self.options.schedule](self.machine)

        def advance(state: State, shared: list[tf.Tensor], reel: State) -> tuple[State, State]:
            empty = self.tape.empty(self.tape.read(reel))
            step = guarded(machine, machine.run_block, choose, shared)
            whole = until_done(machine, step, choose, state | empty)
            for key, handle in reel.items():
                tf.raw_ops.AssignVariableOp(resource=handle, value=whole[key])  # in place
            return {key: whole[key] for key in state}, {key: whole[key] for key in empty.keys() - reel.keys()}

        compiled, stopped = tf.function(advance, autograph=False, jit_compile=True), machine.stopped

        def of_all(states: list[State], shared: list[tf.Tensor], reels: list[State]) -> Advanced:
            runs = [compiled(state, shared, reel) for state, reel in zip(states, reels, strict=True)]
            pc = tf.concat([state["pc"] for state, _ in runs], 0)[: self.count]
            pc = tf.where(tf.equal(pc, machine.halt), stopped, pc)
            return Advanced([state for state, _ in runs], [tape for _, tape in runs], pc)

        return of_all

    @cached_property
    def _outcome(self) -> Callable:
        look = functools.partial(outcome_of, self.machine)
        compiled = tf.function(look, autograph=False, jit_compile=True) if self.machine.has_epilogue else look

        def of_all(states: list[State], shared: list[tf.Tensor]) -> Outcome:
            return side_by_side([compiled(state, shared) for state in states], self.count)

        return of_all

    @cached_property
    def _undo_last(self) -> Callable:
        size, missing = self.machine.size, self.parts * self.machine.size - self.count

        def begun(state: State, results: Mapping, shared: list[tf.Tensor], variables: list[tf.Tensor]) -> State:
            return self._adjoint_machine(variables).begun(state, results, shared)

        compiled = tf.function(begun, autograph=False, jit_compile=True)

        def of_all(states: list[State], results: Mapping, tapes: list[State], *others: list[tf.Tensor]) -> list[State]:
            whole = {leaf: tf.pad(t, [[0, missing]] + [[0, 0]] * (t.shape.rank - 1)) for leaf, t in results.items()}
            pieces = [{leaf: t[k * size : (k + 1) * size] for leaf, t in whole.items()} for k in range(self.parts)]
            begins = [compiled(state, piece, *others) for state, piece in zip(states, pieces, strict=True)]
            return [self._undone(begin, tape, *others) for begin, tape in zip(begins, tapes, strict=True)]

        return of_all

    @cached_property
    def _undo(self) -> Callable:
        def of_all(states: list[State], tapes: list[State], *others: list[tf.Tensor]) -> list[State]:
            return [self._undone(state, tape, *others) for state, tape in zip(states, tapes, strict=True)]

        return of_all

    @cached_property
    def _undone(self) -> Callable:
        """A part's steps on a tape, compiled once for the last tape and those before it."""

        def undone(state: State, tape: State, shared: list[tf.Tensor], variables: list[tf.Tensor]) -> State:
            machine = self._adjoint_machine(variables)
            step = guarded(machine, machine.run_block, tf.identity, shared)
            whole = until_done(machine, step, tf.identity, machine.loaded(state, self.tape.read(tape)))
            return {key: whole[key] for key in state}

        return tf.function(undone, autograph=False, jit_compile=True)

    @cached_property
    def _collected(self) -> Callable:
        machine = self._adjoint_machine([tf.zeros([])] * len(self.adjoint.variables))

        def of_all(states: list[State]) -> Cotangents:
            inputs = [machine.inputs(state) for state in states]
            whole = {leaf: tf.concat([each[leaf] for each in inputs], 0)[: self.count] for leaf in inputs[0]}
            return Cotangents(whole, [tf.add_n(sums) for sums in zip(*map(machine.sums_of, states), strict=True)])

        return of_all


def _steps(machine: Machine, adjoint: AdjointProgram, loop_limit: int, most: int) -> int:
    """Of a tape of at most so many bytes, with which XLA still makes one function of the loop, if it would at all."""
    step = max(1, Tape(adjoint, machine.size, FEWEST).bytes // FEWEST)
    room = loop_limit - 2 * machine.size * lane_bytes(machine)
    room = min(most, room if room >= FEWEST * step else ENOUGH * step)
    return min(max(FEWEST, room // step), MOST)
