"""The program-counter backend: machines that are deep enough, and not much larger than what is left to do."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import tensorflow as tf

from autobatch import context, errors, ir
from autobatch.backends import execution, failures, shards
from autobatch.backends.compaction import Account
from autobatch.backends.execution import Position
from autobatch.backends.members import OVERFLOWED, Finished, Members, Source
from autobatch.flags import DEFAULT
from autobatch.ir.stored import StoredProgram
from autobatch.machine.blocks import Machine
from autobatch.machine.counts import Measured, Timeline
from autobatch.machine.engine import Outcome, in_one_go
from autobatch.machine.pieces import Shelf
from autobatch.machine.refill import Refilled
from autobatch.machine.xla import fitted, whole_loops
from autobatch.options import Options
from autobatch.tracing.vectorize import Stored

FIRST_DEPTH = 16
DEEPEST = 100_000  # where stacks stop growing if the user sets no limit: a recursion that never ends must


class ProgramCounter:
    """Runs a stack program for batches of one size.

    counts: whether to count what each block does; can_pause: whether all engines heed limits.
    shelf: where what is compiled is kept, if it is.
    """

    def __init__(
        self,
        stored: StoredProgram,
        size: int,
        options: Options,
        counts: bool = False,
        can_pause: bool = False,
        shelf: Shelf | None = None,
    ):
        self.counts, self.can_pause, self.shelf = counts, can_pause, shelf
        self.stored, self.typed, self.size, self.options = stored, stored.typed, size, options
        self.stopped = len(self.typed.program.blocks)
        self.limit = DEEPEST if options.max_depth is None else options.max_depth
        self.depth = min(FIRST_DEPTH, self.limit) if stored.has_calls else 0
        self.accounts: dict[tuple[int, int], Account] = {}
        self.refilled: dict[int, Refilled] = {}  # by depth

    def machine(self, depth: int, size: int) -> Machine:
        safe, max_steps = not self.options.jit_compile, self.options.max_steps
        return Machine(self.stored, size, depth, safe, max_steps, counts=self.counts)

    def whole(self) -> Machine:
        """That of the whole batch, with its first depth."""
        return self.machine(self.depth, self.size)

    def _traceable(self, depth: int, size: int) -> Machine:
        """With the program's code, which one whose pieces are kept may lack."""
        machine = self.machine(depth, size)
        return machine if self.shelf is None else replace(machine, stored=self.shelf.code())

    def shards(self, depth: int, size: int) -> int:
        """Into how many parts a batch is to be cut."""
        return shards.parts(self.machine(depth, size), self.options)

    def account(self, depth: int, count: int) -> Account:
        """That of the engine for this many members, with stacks of ``depth`` frames."""
        with context.tracing_lock:
            if (depth, count) not in self.accounts:
                parts = self.shards(depth, count)
                machine = self.machine(depth, -(-count // parts))
                self.accounts[depth, count] = Account(machine, parts, count, self.options, self.can_pause, self.shelf)
            return self.accounts[depth, count]

    def __call__(self, arguments: Sequence[Stored], shared: Sequence[tf.Tensor]) -> list[Stored]:
        """Runs all members to the end; where stacks are full, goes on with stacks twice as deep.

        Raises:
          StackOverflowError: ``max_depth`` frames are not enough.
          StepLimitError: ``max_steps`` blocks are not enough.
          MemberError: a member failed a check.
        """
        arguments, shared = list(arguments), list(shared)
        position = self._run(arguments, shared)
        try:
            return self.results(position.outcome, shared)
        except errors.StepLimitError as error:
            error.position = execution.portable(position)
            raise

    def outcome(self, arguments: Sequence[Stored], shared: Sequence[tf.Tensor]) -> Outcome:
        """What has become of all members; raises nothing of theirs."""
        return self._run(list(arguments), list(shared)).outcome

    def results(self, outcome: Outcome, shared: Sequence[tf.Tensor], deadline: float | None = None) -> list[Stored]:
        """What all members return; raises for those that failed, or did not finish within a limit."""
        error = self.error(outcome, shared, deadline)
        if error is not None:
            raise error
        return outcome.results

    def count(self, arguments: Sequence[Stored], shared: Sequence[tf.Tensor]) -> Measured:
        """Runs all members, and says what each block has done; one that runs once, after the loop, is left out."""
        timeline, shared = Timeline(), list(shared)
        position = execution.begin(self, list(arguments), shared, timeline.stride)
        depths = []
        while True:
            machine = position.account.engine.machine
            timeline.add(machine.counts_of(position.states)[:, :3])
            depths.append(machine.deepest(position.states))
            if self.is_over(position):
                break
            position = execution.go_on(self, position, shared, timeline.stride)
        results = self.results(position.outcome, shared)
        depth = max(depths) if self.stored.has_calls else None
        return Measured(results, machine.counted(position.states), np.stack(timeline.moments), depth)

    def _run(self, arguments: list[Stored], shared: list[tf.Tensor]) -> Position:
        position = execution.begin(self, arguments, shared)
        while not self.is_over(position):
            position = execution.go_on(self, position, shared)
        return position

    def is_over(self, position: Position) -> bool:
        """Whether nobody can go on, or ``max_steps`` blocks have run."""
        is_out_of_steps = self.options.max_steps is not None and bool((position.pc < self.stopped).any())
        return is_out_of_steps or execution.is_over(self, position)

    def count_members(self, source: Source, shared: Sequence[tf.Tensor]) -> Measured:
        """As ``count``, with ``size`` lanes for all members."""
        members = self.members(source, shared)
        (finished,) = members
        self.raise_for(finished, shared)
        machine = self.machine(0, self.size)
        results = tf.nest.map_structure(tf.constant, finished.results)
        depth = machine.deepest(members.states) if self.stored.has_calls else None
        return Measured(results, machine.counted(members.states), None, depth)

    def members(
        self, source: Source, shared: Sequence[tf.Tensor], notice: Callable[[int], object] = lambda done: None
    ) -> Members:
        """Any number of members, at work on ``size`` lanes."""
        parts = self.shards(self.depth, self.size)

        def machine(depth: int) -> Refilled:
            if depth not in self.refilled:
                self.refilled[depth] = Refilled(self.machine(depth, -(-self.size // parts)), self.options, self.shelf)
            self.depth = max(depth, self.depth)
            return self.refilled[depth]

        return Members(machine, self.depth, self.limit, parts, source, shared, notice)

    def raise_for(self, finished: Finished, shared: Sequence[tf.Tensor]) -> None:
        """Raises what calling the program would for these members."""
        overflowed = finished.code == OVERFLOWED
        if overflowed.any():
            bad = (finished.first + finished.code.nonzero()[0]).tolist()
            error = failures.with_others(self._overflow(overflowed, finished.first), bad)
            error.results = finished.results
            raise error
        notes, results = finished.notes, finished.results
        failures.raise_for_faults(finished.code, self.typed.checks, notes, shared, results, finished.first)

    def _overflow(self, members: np.ndarray, start: int = 0) -> errors.StackOverflowError:
        blocks = self.typed.program.blocks
        calls = [b.terminator.location for b in blocks if isinstance(b.terminator, ir.PushJump)]
        help = "see whether the recursion ends, or raise max_depth."
        return failures.overflow(members, f"max_depth={self.limit}", help, calls, start)

    def error(
        self, outcome: Outcome, shared: Sequence[tf.Tensor], deadline: float | None = None
    ) -> errors.MemberError | None:
        """That of members that failed, or did not finish within a limit."""
        pc, faults, blocks = outcome.pc.numpy(), outcome.fault.numpy(), self.typed.program.blocks
        bad = np.flatnonzero((pc != self.stopped) | (faults > 0)).tolist()
        if not bad:
            return None
        error: errors.MemberError | None
        if (pc < self.stopped).any():  # first, as its run is what can go on
            if deadline is not None:
                error = failures.out_of_time(pc, blocks, deadline)
            else:
                assert self.options.max_steps is not None
                error = failures.out_of_steps(pc, blocks, self.options.max_steps)
        elif (pc > self.stopped).any():
            error = self._overflow(pc > self.stopped)
        else:
            error = failures.fault(faults, self.typed.checks, outcome.notes, shared)
        assert error is not None
        error = failures.with_others(error, bad)
        error.results = outcome.results
        return error

    def compiler_ir(self, arguments: Sequence[Stored], shared: Sequence[tf.Tensor], stage: str) -> Any:
        """What XLA makes of the machine, in one of TensorFlow's ``experimental_get_compiler_ir`` stages.

        The optimized ones are of the machine as it is for this machine's CPU, the others as it is for any device.
        """
        machine, limit = self._traceable(self.depth, self.size), DEFAULT
        if stage.startswith("optimized"):
            machine, limit = fitted(machine, self.options)
        function = tf.function(in_one_go(machine, self.options), autograph=False, jit_compile=True)
        with whole_loops(limit):
            return function.experimental_get_compiler_ir(list(arguments), list(shared))(stage=stage)

    def to_hlo(self, arguments: Sequence[Stored], shared: Sequence[tf.Tensor]) -> tuple[bytes, list[tf.Tensor]]:
        """What XLA gets, serialized, and the tensors that it takes: also those that the user's code closes over."""
        function = tf.function(in_one_go(self._traceable(self.depth, self.size), self.options), autograph=False)
        captured = function.get_concrete_function(list(arguments), list(shared)).captured_inputs
        inputs = [*tf.nest.flatten(list(arguments)), *shared, *captured]
        return self.compiler_ir(arguments, shared, "hlo_serialized"), inputs
