"""The program-counter backend: the machine in one ``tf.function``, with stacks that are deep enough."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import NamedTuple

import tensorflow as tf

from autobatch import errors, ir
from autobatch.options import Options
from autobatch.passes.storage import StoredProgram
from autobatch.runtime import failures, partial
from autobatch.runtime.dispatch import STRATEGIES
from autobatch.runtime.machine import Machine
from autobatch.runtime.schedule import SCHEDULES
from autobatch.runtime.shards import good_number, in_shards
from autobatch.runtime.vectorize import Stored

PolymorphicFunction = tf.types.experimental.PolymorphicFunction
ConcreteFunction = tf.types.experimental.ConcreteFunction

FIRST_DEPTH = 16
DEEPEST = 100_000  # where stacks stop growing if the user sets no limit: a recursion that never ends must


class Outcome(NamedTuple):
    """What a run of the machine leaves behind: the results, and what befell each member."""

    results: list[Stored]
    overflow: tf.Tensor  # [Z] bool: needed deeper stacks
    fault: tf.Tensor  # [Z] int32: 1 + the position of the check that it failed, or 0
    notes: list[Stored]  # what each check shows of the members that failed it
    pc: tf.Tensor  # [Z] int32: the block at which it stands; their number if it has finished


class ProgramCounter:
    """Runs a stack program for batches of one size."""

    def __init__(self, stored: StoredProgram, size: int, options: Options):
        self.stored, self.typed, self.size, self.options = stored, stored.typed, size, options
        self.limit = DEEPEST if options.max_depth is None else options.max_depth
        self.depth = min(FIRST_DEPTH, self.limit)
        self.functions: dict[tuple[int, int], PolymorphicFunction] = {}
        self.wholes: dict[int, ConcreteFunction] = {}

    def machine(self, depth: int, size: int) -> Machine:
        return Machine(self.stored, size, depth, safe=not self.options.jit_compile, max_steps=self.options.max_steps)

    def function(self, depth: int, size: int) -> PolymorphicFunction:
        """The machine for ``size`` members, with stacks of ``depth`` frames: (arguments, shared) -> Outcome."""
        if (depth, size) not in self.functions:
            machine, jit_compile = self.machine(depth, size), self.options.jit_compile
            strategy, choose = STRATEGIES[self.options.dispatch], SCHEDULES[self.options.schedule](machine)
            run_block = partial.STRATEGIES[self.options.partial](machine)

            def run(arguments: list[Stored], shared: list[tf.Tensor]) -> Outcome:
                state = strategy(machine, run_block, choose, machine.initial(arguments), shared)
                overflow = state.get("overflow", tf.zeros([size], tf.bool))
                fault = state.get("fault", tf.zeros([size], tf.int32))
                pc = tf.where(state["pc"] >= machine.halt, machine.stopped, state["pc"])
                return Outcome(machine.results(state, shared), overflow, fault, machine.notes(state), pc)

            self.functions[depth, size] = tf.function(run, autograph=False, jit_compile=jit_compile)
        return self.functions[depth, size]

    def shards(self, depth: int) -> int:
        """Into how many parts the batch is to be cut."""
        if self.options.shards != "auto":
            return min(self.options.shards, max(self.size, 1))
        if not self.options.jit_compile or self.options.max_steps is not None or self._knows_positions:
            return 1
        return good_number(self.machine(depth, self.size))

    @property
    def _knows_positions(self) -> bool:
        """Whether a primitive takes only batches of one size."""
        ops = (op for block in self.typed.program.blocks for op in block.ops)
        return any(isinstance(op, ir.Update | ir.Push) and op.function.size is not None for op in ops)

    def whole(self, depth: int, arguments: list[Stored], shared: list[tf.Tensor]) -> ConcreteFunction:
        """The machine for the whole batch, in parts if that is worth while."""
        count = self.shards(depth)
        function = self.function(depth, -(-self.size // count))
        if count > 1:
            function = tf.function(in_shards(function, self.size, count), autograph=False)
        return function.get_concrete_function(arguments, shared)

    @cached_property
    def has_calls(self) -> bool:
        return any(isinstance(b.terminator, ir.PushJump) for b in self.typed.program.blocks)

    def __call__(self, arguments: Sequence[Stored], shared: Sequence[tf.Tensor]) -> list[Stored]:
        """Runs all members to the end; if some need deeper stacks, again with stacks twice as deep.

        Raises:
          StackOverflowError: ``max_depth`` frames are not enough.
          StepLimitError: ``max_steps`` blocks are not enough.
          MemberError: a member failed a check.
        """
        if not tf.executing_eagerly():
            return self._in_graph(arguments, shared)
        while True:
            if self.depth not in self.wholes:
                self.wholes[self.depth] = self.whole(self.depth, list(arguments), list(shared))
            outcome: Outcome = self.wholes[self.depth](list(arguments), list(shared))
            if not self.has_calls or not outcome.overflow.numpy().any():
                self._raise_for(outcome, shared)
                return outcome.results
            if self.depth >= self.limit:
                blocks = self.typed.program.blocks
                calls = [b.terminator.location for b in blocks if isinstance(b.terminator, ir.PushJump)]
                help = "raise max_depth, or see whether the recursion ends."
                raise failures.overflow(outcome.overflow.numpy(), f"max_depth={self.limit}", help, calls)
            self.depth = min(self.depth * 2, self.limit)

    def _raise_for(self, outcome: Outcome, shared: Sequence[tf.Tensor]) -> None:
        if self.typed.checks:
            failures.raise_for_faults(outcome.fault.numpy(), self.typed.checks, outcome.notes, shared, outcome.results)
        blocks = self.typed.program.blocks
        if self.options.max_steps is not None and (outcome.pc.numpy() < len(blocks)).any():
            error = failures.out_of_steps(outcome.pc.numpy(), blocks, self.options.max_steps)
            error.results = outcome.results
            raise error

    def compiler_ir(self, arguments: Sequence[Stored], shared: Sequence[tf.Tensor], stage: str) -> str:
        """What XLA makes of the machine, in one of TensorFlow's ``experimental_get_compiler_ir`` stages."""
        function = self.function(self.depth if self.has_calls else 0, self.size)
        return function.experimental_get_compiler_ir(list(arguments), list(shared))(stage=stage)

    def _in_graph(self, arguments: Sequence[Stored], shared: Sequence[tf.Tensor]) -> list[Stored]:
        """Inside a user's tf.function, where the host cannot step in to deepen the stacks."""
        if self.has_calls and self.options.max_depth is None:
            raise errors.StackOverflowError(
                "Inside a tf.function the stacks cannot grow, so their depth must be given.",
                help="f.options(max_depth=...): the deepest nesting of calls that any member needs.",
            )
        outcome: Outcome = self.function(self.options.max_depth or 0, self.size)(list(arguments), list(shared))
        results, checks = outcome.results, []
        unfinished = outcome.pc < len(self.typed.program.blocks)
        failed = outcome.overflow | (outcome.fault > 0) | unfinished
        if self.has_calls:
            message = f"autobatch: calls nested deeper than max_depth={self.options.max_depth}"
            checks.append(tf.debugging.Assert(~tf.reduce_any(outcome.overflow), [message]))
        if self.options.max_steps is not None:
            message = f"autobatch: unfinished after max_steps={self.options.max_steps}"
            checks.append(tf.debugging.Assert(~tf.reduce_any(unfinished), [message]))
        for k, check in enumerate(self.typed.checks):
            message = f"autobatch: {check.failure} at {check.location.file}:{check.location.line}"
            checks.append(tf.debugging.Assert(~tf.reduce_any(tf.equal(outcome.fault, k + 1)), [message]))
        if not checks:
            return results
        with tf.control_dependencies([check for check in checks if check is not None]):
            return tf.nest.map_structure(lambda leaf: _poisoned(leaf, failed), results)


def _poisoned(leaf: tf.Tensor, failed: tf.Tensor) -> tf.Tensor:
    """NaN, or the lowest integer, in place of the failed members' numbers: XLA drops the assertion."""
    mask = tf.reshape(failed, [-1] + [1] * (leaf.shape.rank - 1))
    if leaf.dtype.is_floating:
        return tf.where(mask, tf.constant(float("nan"), leaf.dtype), leaf)
    return tf.where(mask, leaf.dtype.min, leaf) if leaf.dtype.is_integer else tf.identity(leaf)
