"""Gradients of a batch: the machine runs with a tape, and the adjoint machine runs it backwards.

A tape has room for so many steps.  When it is full the host takes it away, and the machine goes on with an empty one;
likewise where stacks have to be deeper.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import tensorflow as tf

from autobatch import context
from autobatch.backends.history import History
from autobatch.backends.program_counter import ProgramCounter
from autobatch.ir.adjoint import AdjointProgram, has_derivatives
from autobatch.machine.blocks import State
from autobatch.machine.reversible import Cotangents, Reversible
from autobatch.options import Options
from autobatch.tracing.vectorize import Stored


class Gradients:
    """Runs the batches of one size of an adjoint program, forwards and backwards."""

    def __init__(self, adjoint: AdjointProgram, size: int, options: Options):
        self.adjoint, self.size = adjoint, size
        self.options = replace(options, compact="never")
        self.forwards = ProgramCounter(adjoint.stored, size, self.options)
        self._of_depth: dict[int, Reversible] = {}

    def of_depth(self, depth: int) -> Reversible:
        with context.tracing_lock:
            if depth not in self._of_depth:
                parts = self.forwards.shards(depth, self.size)
                machine = self.forwards.machine(depth, -(-self.size // parts))
                self._of_depth[depth] = Reversible(machine, self.adjoint, parts, self.size, self.options)
            return self._of_depth[depth]

    def __call__(self, arguments: Sequence[Stored], shared: Sequence[tf.Tensor]) -> tuple[list[Stored], History]:
        """Runs all members to the end; what they return, and how they came there.

        Raises what ``ProgramCounter`` does.
        """
        history, forwards = History(list(shared), self.options.tape_memory), self.forwards
        machine = self.of_depth(forwards.depth)
        states = machine.begun(arguments)
        while True:
            states, _, at = history.advance(machine, states)
            pc = at.numpy()
            if (pc < forwards.stopped).any() and not self._out_of_steps(states):
                continue
            if (
                (pc <= forwards.stopped).all()
                or (pc < forwards.stopped).any()
                or machine.machine.depth >= forwards.limit
            ):
                return forwards.results(machine.outcome(states, history.shared), shared), history
            forwards.depth = min(2 * machine.machine.depth, forwards.limit)
            deeper = self.of_depth(forwards.depth)
            states, machine = machine.deeper(states, deeper), deeper

    def _out_of_steps(self, states: list[State]) -> bool:
        limit = self.options.max_steps
        return limit is not None and all(int(state["steps"]) >= limit for state in states)

    def undone(self, history: History, cotangents: Sequence[Stored], variables: Sequence[tf.Tensor]) -> Cotangents:
        """The cotangents of what gets gradients, from those of the results.

        variables: what those that the code closes over held, in the order of ``AdjointProgram.variables``.
        """
        others = history.shared, list(variables)
        outputs = zip(self.adjoint.stored.program.outputs, cotangents, strict=True)
        results = {(v, k): t for v, leaves in outputs for k, t in enumerate(leaves) if has_derivatives(t.dtype)}
        states: list[State] = []
        for machine, tapes in history.backwards():
            if states:
                states = machine.undo(states, tapes, *others)
            else:
                states = machine.undo_last(history.ended, results, tapes, *others)
        return machine.collected(states)
