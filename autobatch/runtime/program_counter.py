"""The program-counter backend: the machine in one ``tf.function``, with stacks that are deep enough."""

from __future__ import annotations

from collections.abc import Sequence

import tensorflow as tf

from autobatch import errors, ir
from autobatch.passes.stack_lowering import TypedStackProgram
from autobatch.runtime import failures
from autobatch.runtime.dispatch import STRATEGIES
from autobatch.runtime.failures import raise_for_faults
from autobatch.runtime.machine import Machine
from autobatch.runtime.vectorize import Stored

FIRST_DEPTH = 16


class ProgramCounter:
    """Runs a stack program for batches of one size."""

    def __init__(self, typed: TypedStackProgram, size: int, dispatch: str, jit_compile: bool, max_depth: int | None):
        self.typed, self.size, self.dispatch = typed, size, dispatch
        self.jit_compile, self.max_depth = jit_compile, max_depth
        self.depth = FIRST_DEPTH if max_depth is None else min(FIRST_DEPTH, max_depth)
        self.functions: dict[int, tf.types.experimental.PolymorphicFunction] = {}

    def function(self, depth: int) -> tf.types.experimental.PolymorphicFunction:
        """The machine with stacks of ``depth`` frames: (arguments, shared) -> (results, overflow, fault)."""
        if depth not in self.functions:
            machine = Machine(self.typed, self.size, depth, safe=not self.jit_compile)
            strategy = STRATEGIES[self.dispatch]

            def run(arguments: list[Stored], shared: list[tf.Tensor]) -> tuple[list[Stored], tf.Tensor, tf.Tensor]:
                state = strategy(machine, machine.initial(arguments), shared)
                overflow = state.get("overflow", tf.zeros([self.size], tf.bool))
                return machine.results(state), overflow, state.get("fault", tf.zeros([self.size], tf.int32))

            self.functions[depth] = tf.function(run, autograph=False, jit_compile=self.jit_compile)
        return self.functions[depth]

    @property
    def has_calls(self) -> bool:
        return any(isinstance(b.terminator, ir.PushJump) for b in self.typed.program.blocks)

    def __call__(self, arguments: Sequence[Stored], shared: Sequence[tf.Tensor]) -> list[Stored]:
        """Runs all members to the end; if some need deeper stacks, again with stacks twice as deep.

        Raises:
          StackOverflowError: ``max_depth`` frames are not enough.
          MemberError: a member failed a check.
        """
        if not tf.executing_eagerly():
            return self._in_graph(arguments, shared)
        while True:
            results, overflow, fault = self.function(self.depth)(list(arguments), list(shared))
            if self.typed.checks:
                raise_for_faults(fault.numpy(), self.typed.checks)
            if not self.has_calls or not overflow.numpy().any():
                return results
            if self.max_depth is not None and self.depth >= self.max_depth:
                blocks = self.typed.program.blocks
                calls = [b.terminator.location for b in blocks if isinstance(b.terminator, ir.PushJump)]
                help = "raise max_depth, or see whether the recursion ends."
                raise failures.overflow(overflow.numpy(), f"max_depth={self.max_depth}", help, calls)
            self.depth = self.depth * 2 if self.max_depth is None else min(self.depth * 2, self.max_depth)

    def compiler_ir(self, arguments: Sequence[Stored], shared: Sequence[tf.Tensor], stage: str) -> str:
        """What XLA makes of the machine, in one of TensorFlow's ``experimental_get_compiler_ir`` stages."""
        function = self.function(self.depth if self.has_calls else 0)
        return function.experimental_get_compiler_ir(list(arguments), list(shared))(stage=stage)

    def _in_graph(self, arguments: Sequence[Stored], shared: Sequence[tf.Tensor]) -> list[Stored]:
        """Inside a user's tf.function, where the host cannot step in to deepen the stacks."""
        if self.has_calls and self.max_depth is None:
            raise errors.StackOverflowError(
                "Inside a tf.function the stacks cannot grow, so their depth must be given.",
                help="f.options(max_depth=...): the deepest nesting of calls that any member needs.",
            )
        results, overflow, fault = self.function(self.max_depth or 0)(list(arguments), list(shared))
        failed, checks = overflow | (fault > 0), []
        if self.has_calls:
            message = f"autobatch: calls nested deeper than max_depth={self.max_depth}"
            checks.append(tf.debugging.Assert(~tf.reduce_any(overflow), [message]))
        for k, check in enumerate(self.typed.checks):
            message = f"autobatch: {check.message} at {check.location.file}:{check.location.line}"
            checks.append(tf.debugging.Assert(~tf.reduce_any(tf.equal(fault, k + 1)), [message]))
        if not checks:
            return results
        with tf.control_dependencies([check for check in checks if check is not None]):
            return tf.nest.map_structure(lambda leaf: _poisoned(leaf, failed), results)


def _poisoned(leaf: tf.Tensor, failed: tf.Tensor) -> tf.Tensor:
    """NaN in place of the failed members' floats: XLA drops the assertion, and no wrong number may pass."""
    if not leaf.dtype.is_floating:
        return tf.identity(leaf)
    mask = tf.reshape(failed, [-1] + [1] * (leaf.shape.rank - 1))
    return tf.where(mask, tf.constant(float("nan"), leaf.dtype), leaf)
