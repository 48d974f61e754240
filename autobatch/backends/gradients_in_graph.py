"""Gradients of a batch inside a user's ``tf.function``, where no host can step in.

Whether a gradient will be asked for is not known when a call is traced.  So the call is as it would be, and when one is
asked for, the machine runs once more, with a tape.  Where TensorFlow runs the graph, a loop of its own takes the tapes
away; as a part of one XLA program there is one tape, for as many steps as the user allows.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import tensorflow as tf

from autobatch import errors
from autobatch.backends import shards
from autobatch.ir.adjoint import AdjointProgram
from autobatch.ir.leaves import Leaf
from autobatch.machine.blocks import Machine, State
from autobatch.machine.reversible import Cotangents, Reversible
from autobatch.machine.xla import is_part_of_program
from autobatch.options import Options
from autobatch.tracing.vectorize import Stored


class GradientsInGraph:
    """Runs the batches of one size of an adjoint program forwards and backwards; ``machine``: that of the call."""

    def __init__(self, adjoint: AdjointProgram, machine: Machine, options: Options):
        self.adjoint, self.options = adjoint, options
        if not isinstance(machine.size, int):
            raise errors.GradientError(
                "A gradient was asked for inside a tf.function that does not know the size of the batch.",
                help="give the tf.function's arguments a size, or call it outside of it.",
                kind="gradient-of-unknown-size",
            )
        if is_part_of_program():
            self.reversible = Reversible(machine, adjoint, 1, machine.size, options, self._limit())
        else:
            parts = shards.parts(machine, options)
            part = replace(machine, size=-(-machine.size // parts))
            self.reversible = Reversible(part, adjoint, parts, machine.size, options)

    def _limit(self) -> int:
        if self.options.max_steps is None:
            raise errors.GradientError(
                "A gradient was asked for inside of an XLA program, where the tape cannot grow, so the number of steps "
                "must be given.",
                help="f.options(max_steps=...): how many blocks the machine runs at most; outside of samplers and "
                "jit_compile=True it is not needed.",
                kind="gradient-needs-steps",
            )
        return self.options.max_steps

    def __call__(
        self,
        arguments: Sequence[Stored],
        shared: list[tf.Tensor],
        results: dict[Leaf, tf.Tensor],
        variables: list[tf.Tensor],
    ) -> Cotangents:
        """The cotangents of what gets gradients, from those of the results' leaves, of which those of failed members
        do not count."""
        run, others = self.reversible, (shared, variables)
        if is_part_of_program():
            ended, tapes, pc = run.advance(run.begun(arguments), shared)
            return run.collected(run.undo_last(ended, self._counting(results, ended, pc, shared), tapes, *others))

        def stretch(k: tf.Tensor, states: list[State], pc: tf.Tensor, arrays: list[_Arrays]) -> tuple:
            del pc
            states, tapes, pc = run.advance(states, shared)
            pairs = zip(arrays, tapes, strict=True)
            arrays = [{key: array.write(k, tape[key]) for key, array in each.items()} for each, tape in pairs]
            return k + 1, states, pc, arrays

        def undo(k: tf.Tensor, states: list[State]) -> tuple[tf.Tensor, list[State]]:
            return k - 1, run.undo(states, _at(arrays, k), *others)

        arrays = [{key: _array(leaf) for key, leaf in run.tape.empty().items()} for _ in range(run.parts)]
        start = (tf.constant(0), run.begun(arguments), tf.zeros([run.count], tf.int32), arrays)
        count, ended, pc, arrays = tf.while_loop(
            lambda k, states, pc, arrays: tf.reduce_any(pc < run.machine.stopped), stretch, start, parallel_iterations=1
        )
        states = run.undo_last(ended, self._counting(results, ended, pc, shared), _at(arrays, count - 1), *others)
        _, states = tf.while_loop(lambda k, _: k >= 0, undo, (count - 2, states), parallel_iterations=1)
        return run.collected(states)

    def _counting(
        self, results: dict[Leaf, tf.Tensor], states: list[State], pc: tf.Tensor, shared: list[tf.Tensor]
    ) -> dict[Leaf, tf.Tensor]:
        """Without those of members that failed, or did not finish."""
        failed = (self.reversible.outcome(states, shared).fault > 0) | tf.not_equal(pc, self.reversible.machine.stopped)
        return {leaf: _zeroed(cotangent, failed) for leaf, cotangent in results.items()}


_Arrays = dict[str, tf.TensorArray]


def _array(leaf: tf.Tensor) -> tf.TensorArray:
    return tf.TensorArray(leaf.dtype, 0, dynamic_size=True, clear_after_read=False, element_shape=leaf.shape)


def _at(arrays: list[_Arrays], k: tf.Tensor) -> list[State]:
    return [{key: array.read(k) for key, array in each.items()} for each in arrays]


def _zeroed(leaf: tf.Tensor, lanes: tf.Tensor) -> tf.Tensor:
    return tf.where(tf.reshape(lanes, [-1] + [1] * (leaf.shape.rank - 1)), tf.zeros([], leaf.dtype), leaf)
