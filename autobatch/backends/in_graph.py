"""The program-counter machine inside a user's ``tf.function``, where no host can step in."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cached_property

import tensorflow as tf

from autobatch import errors
from autobatch.backends import shards
from autobatch.ir.stored import StoredProgram
from autobatch.machine.blocks import Machine
from autobatch.machine.engine import Outcome, in_one_go, in_parts
from autobatch.machine.xla import is_part_of_program
from autobatch.options import Options
from autobatch.progress import compiling
from autobatch.tracing.vectorize import Stored


class InGraph:
    """Runs a stack program for batches of one size, or of any (None): its stacks and lists cannot grow."""

    def __init__(self, stored: StoredProgram, size: int | None, options: Options):
        self.stored, self.typed, self.size, self.options = stored, stored.typed, size, options
        if stored.has_calls and options.max_depth is None:
            raise errors.StackOverflowError(
                "Inside a tf.function the stacks cannot grow, so their depth must be given.",
                help="f.options(max_depth=...): the deepest nesting of calls that any member needs.",
            )
        if options.max_length is None and stored.fills_lists:
            raise errors.SettingError(
                "Inside a tf.function lists cannot grow, so their greatest length must be given.",
                help="f.options(max_length=...): the most items that any member's list has.",
            )

    def __call__(self, arguments: Sequence[Stored], shared: Sequence[tf.Tensor]) -> list[Stored]:
        """What members return; of those that fail, poison, and outside of XLA an assertion fails."""
        outcome = self.outcome(arguments, shared)
        with tf.control_dependencies([] if is_part_of_program() else self._assertions(outcome)):
            return self.poisoned(outcome)

    def outcome(self, arguments: Sequence[Stored], shared: Sequence[tf.Tensor]) -> Outcome:
        """What becomes of all members."""
        with compiling(self.machine.name):
            run = self._whole if self._parts == 1 or is_part_of_program() else self._cut
            return run(list(arguments), list(shared))

    def poisoned(self, outcome: Outcome) -> list[Stored]:
        """What members return; of those that fail, NaN or the lowest integer."""
        if not self.typed.checks and not self.stored.has_calls and self.options.max_steps is None:
            return outcome.results
        failed = (outcome.fault > 0) | tf.not_equal(outcome.pc, self.machine.stopped)
        return tf.nest.map_structure(lambda leaf: _poisoned(leaf, failed), outcome.results)

    def _assertions(self, outcome: Outcome) -> list[tf.Operation]:
        """Which XLA would drop, and warn of each."""
        stopped = self.machine.stopped
        messages = [f"{check.failure} at {check.location.file}:{check.location.line}" for check in self.typed.checks]
        bad = [(tf.equal(outcome.fault, k + 1), message) for k, message in enumerate(messages)]
        if self.stored.has_calls:
            bad.append((outcome.pc > stopped, f"calls nested deeper than max_depth={self.options.max_depth}"))
        if self.options.max_steps is not None:
            bad.append((outcome.pc < stopped, f"unfinished after max_steps={self.options.max_steps}"))
        made = [tf.debugging.Assert(~tf.reduce_any(where), [f"autobatch: {message}"]) for where, message in bad]
        return [assertion for assertion in made if assertion is not None]

    @cached_property
    def machine(self) -> Machine:
        options = self.options
        return Machine(self.stored, self.size, options.max_depth or 0, not options.jit_compile, options.max_steps)

    @cached_property
    def _whole(self) -> Callable:
        run = in_one_go(self.machine, self.options)
        return tf.function(run, autograph=False, jit_compile=self.options.jit_compile)

    @cached_property
    def _parts(self) -> int:
        return 1 if self.size is None else shards.parts(self.machine, self.options)

    @cached_property
    def _cut(self) -> Callable:
        assert self.size is not None
        part = replace(self.machine, size=-(-self.size // self._parts))
        return in_parts(part, self._parts, self.size, self.options)


def _poisoned(leaf: tf.Tensor, failed: tf.Tensor) -> tf.Tensor:
    """NaN, or the lowest integer, in place of the failed members' numbers: XLA drops the assertion."""
    mask = tf.reshape(failed, [-1] + [1] * (leaf.shape.rank - 1))
    if leaf.dtype.is_floating or leaf.dtype.is_complex:
        return tf.where(mask, tf.cast(float("nan"), leaf.dtype), leaf)
    return tf.where(mask, tf.constant(leaf.dtype.min, leaf.dtype), leaf) if leaf.dtype.is_integer else tf.identity(leaf)
