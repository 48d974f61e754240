"""A machine that records on a tape what is needed to run its steps backwards."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import tensorflow as tf

from autobatch import ir
from autobatch.ir.leaves import Leaf
from autobatch.machine.blocks import Machine, State, deeper, stack_key
from autobatch.machine.tape import Tape


@dataclass(frozen=True)
class Taped(Machine):
    """Its state is that of the machine and the tape's; it waits when the tape is full."""

    tape: Tape = None  # type: ignore[assignment]

    @classmethod
    def of(cls, machine: Machine, tape: Tape) -> Taped:
        fields = {name: getattr(machine, name) for name in machine.__dataclass_fields__}
        return cls(**{**fields, "tape": tape})

    def handed_over(self, state: State, to: Taped) -> State:
        """A state for a machine of deeper stacks; lanes that waited for them try again."""
        state = {key: deeper(key, leaf, to.depth - self.depth) for key, leaf in state.items()}
        pc = state["pc"]
        return state | {"pc": tf.where(pc > self.stopped, pc - self.stopped - 1, pc)}

    def may_go_on(self, state: State) -> tf.Tensor | bool:
        return super().may_go_on(state) & self.tape.has_room(state)

    def changes(self, i: int) -> tuple[str, ...]:
        return tuple(sorted({*super().changes(i), *self.tape.changes(i)}))

    def run_block(self, i: int, state: State, shared: Sequence[tf.Tensor]) -> State:
        new, block = super().run_block(i, state, shared), self.tape.program.blocks[i]
        if block.is_idle:
            return new
        lanes = tf.equal(state["pc"], i)
        if isinstance(self.program.blocks[i].terminator, ir.PushJump):
            lanes &= tf.not_equal(new["pc"], self.stopped + 1 + i)  # which wait for deeper stacks
        values = [state[self.register(leaf)] for leaf in block.records]
        values += [self._restored_again(leaf, state, lanes) for leaf in block.taped]
        values += [state["depth"]] if block.records_depth else []
        return new | self.tape.added(i, state, lanes, values)

    def _restored_again(self, leaf: Leaf, state: State, lanes: tf.Tensor) -> tf.Tensor:
        return self._restored(state[stack_key(leaf)], tf.where(lanes, state["depth"], 0))
