"""The program-counter backend: the machine in one ``tf.function``, with stacks that are deep enough."""

from __future__ import annotations

from collections.abc import Sequence

import tensorflow as tf

from autobatch import errors, ir
from autobatch.passes.stack_lowering import TypedStackProgram
from autobatch.runtime.dispatch import STRATEGIES
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
        """The machine with stacks of ``depth`` frames: (arguments, shared) -> (results, overflow mask)."""
        if depth not in self.functions:
            machine = Machine(self.typed, self.size, depth, safe=not self.jit_compile)
            strategy = STRATEGIES[self.dispatch]

            def run(arguments: list[Stored], shared: list[tf.Tensor]) -> tuple[list[Stored], tf.Tensor]:
                state = strategy(machine, machine.initial(arguments), shared)
                return machine.results(state), state.get("overflow", tf.zeros([self.size], tf.bool))

            self.functions[depth] = tf.function(run, autograph=False, jit_compile=self.jit_compile)
        return self.functions[depth]

    @property
    def has_calls(self) -> bool:
        return any(isinstance(b.terminator, ir.PushJump) for b in self.typed.program.blocks)

    def __call__(self, arguments: Sequence[Stored], shared: Sequence[tf.Tensor]) -> list[Stored]:
        """Runs all members to the end; if some need deeper stacks, again with stacks twice as deep.

        Raises: StackOverflowError, if ``max_depth`` frames are not enough.
        """
        if not tf.executing_eagerly():
            return self._in_graph(arguments, shared)
        while True:
            results, overflow = self.function(self.depth)(list(arguments), list(shared))
            if not self.has_calls or not overflow.numpy().any():
                return results
            if self.max_depth is not None and self.depth >= self.max_depth:
                raise _overflow_error(self.typed, overflow.numpy().nonzero()[0].tolist(), self.max_depth)
            self.depth = self.depth * 2 if self.max_depth is None else min(self.depth * 2, self.max_depth)

    def compiler_ir(self, arguments: Sequence[Stored], shared: Sequence[tf.Tensor], stage: str) -> str:
        """What XLA makes of the machine, in one of TensorFlow's ``experimental_get_compiler_ir`` stages."""
        function = self.function(self.depth if self.has_calls else 0)
        return function.experimental_get_compiler_ir(list(arguments), list(shared))(stage=stage)

    def _in_graph(self, arguments: Sequence[Stored], shared: Sequence[tf.Tensor]) -> list[Stored]:
        """Inside a user's tf.function, where the host cannot step in to deepen the stacks."""
        if not self.has_calls:
            return self.function(0)(list(arguments), list(shared))[0]
        if self.max_depth is None:
            raise errors.StackOverflowError(
                "Inside a tf.function the stacks cannot grow, so their depth must be given.",
                help="f.options(max_depth=...): the deepest nesting of calls that any member needs.",
            )
        results, overflow = self.function(self.max_depth)(list(arguments), list(shared))
        check = tf.debugging.Assert(
            ~tf.reduce_any(overflow), [f"autobatch: calls nested deeper than max_depth={self.max_depth}"]
        )
        with tf.control_dependencies([check] if check is not None else []):
            return tf.nest.map_structure(lambda leaf: _poisoned(leaf, overflow), results)


def _poisoned(leaf: tf.Tensor, overflow: tf.Tensor) -> tf.Tensor:
    """NaN in place of the unfinished members' floats: XLA drops the assertion, and no wrong number may pass."""
    if not leaf.dtype.is_floating:
        return tf.identity(leaf)
    mask = tf.reshape(overflow, [-1] + [1] * (leaf.shape.rank - 1))
    return tf.where(mask, tf.constant(float("nan"), leaf.dtype), leaf)


def _overflow_error(typed: TypedStackProgram, members: list[int], max_depth: int) -> errors.StackOverflowError:
    calls = [b.terminator.location for b in typed.program.blocks if isinstance(b.terminator, ir.PushJump)]
    shown = ", ".join(map(str, members[:8])) + (", ..." if len(members) > 8 else "")
    return errors.StackOverflowError(
        f"{len(members)} member(s) nested calls deeper than max_depth={max_depth}: {shown}.",
        [(location, "") for location in calls[:3]],
        "raise max_depth, or see whether the recursion ends.",
        tuple(members),
    )
