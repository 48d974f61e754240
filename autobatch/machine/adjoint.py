"""The adjoint machine: the steps of another machine backwards, each as the pullback of its block.

Its state is a dictionary of tensors, for Z lanes:

    pc                 [] int32           the block whose step is the next to be undone; ``halt`` if there is none
    register v k       [Z, ...]           what a register of the other machine held then, if a pullback needs it
    depth              [Z] int32          how many frames each lane had saved, if a stack has cotangents
    cotangent v k      [Z, ...]           of that register, behind the step
    stack v k          [D + 1, Z, ...]    of saved frames; zero where no frame with a cotangent is
    sum n              [...]              the cotangent of the n-th source that all members share
    tape ...                              the tape (machine/tape.py), of which only the numbers of rows change

What all members share has no axis of lanes: all lanes that took a step add to its cotangent at once.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import tensorflow as tf

from autobatch import ir
from autobatch.ir.adjoint import AdjointProgram, Source
from autobatch.ir.leaves import Leaf, leaf_type
from autobatch.machine.blocks import Machine, State, stack_key
from autobatch.machine.chosen import Chosen
from autobatch.machine.tape import ROWS, Tape
from autobatch.machine.undo import Undo


def _cotangent(register: Leaf) -> str:
    return f"cotangent {register[0]} {register[1]}"


def _taped(leaf: Leaf) -> str:
    return f"taped {leaf[0]} {leaf[1]}"


@dataclass(frozen=True, eq=False)
class AdjointMachine:
    """For what ``machine`` has recorded on a tape of this layout; it can be dispatched as any other.

    variables: by the ids of variables' handles, what the variables held.
    """

    machine: Machine
    tape: Tape
    variables: Mapping[int, tf.Tensor]

    @property
    def adjoint(self) -> AdjointProgram:
        return self.tape.program

    @property
    def program(self) -> ir.StackProgram:
        return self.machine.program

    @property
    def halt(self) -> int:
        return len(self.program.blocks)

    @property
    def safe(self) -> bool:
        return self.machine.safe

    @property
    def order(self) -> list[int]:
        """Backwards, as the steps are."""
        return [i for i in reversed(self.machine.order) if not self.adjoint.blocks[i].is_idle]

    @cached_property
    def sums(self) -> list[Source]:
        """What all members share and has a gradient."""
        adjoint = self.adjoint
        return [*(("shared", k) for k in sorted(adjoint.shared)), *(("captured", k) for k in adjoint.captured)]

    def may_go_on(self, state: State) -> bool:
        del state
        return True

    def changes(self, i: int) -> tuple[str, ...]:
        """The parts of the state that undoing block ``i`` may change."""
        block = self.adjoint.blocks[i]
        keys = {"pc", *self.tape.rows_taken(i), *map(_cotangent, block.cotangents), *map(stack_key, block.stacks)}
        keys |= {self.machine.register(register) for register in block.records if register in self.adjoint.held}
        keys |= {self._sum(source) for source in block.sources}
        return tuple(sorted(keys | ({"depth"} if block.records_depth or block.pushes else set())))

    def _sum(self, source: Source) -> str:
        return f"sum {self.sums.index(source)}"

    def begun(self, state: State, results: Mapping[Leaf, tf.Tensor], shared: Sequence[tf.Tensor]) -> State:
        """From the state in which the other machine ended, and the cotangents of its results."""
        adjoint, z = self.adjoint, self.machine.size
        new: State = {
            self.machine.register(register): state[self.machine.register(register)] for register in adjoint.held
        }
        ended = tf.equal(state["pc"], self.machine.halt)
        if adjoint.holds_depth:
            has_returned = ended & (not self.machine.has_epilogue)  # from no frame: it had saved none
            new["depth"] = tf.where(has_returned, -1, state["depth"])
        for register in adjoint.registers:
            type_ = leaf_type(register, adjoint.stored.types)
            new[_cotangent(register)] = tf.zeros([z, *type_.shape], type_.dtype)
        for leaf in adjoint.stacks:
            type_ = leaf_type(leaf, adjoint.stored.types)
            new[stack_key(leaf)] = tf.zeros([self.machine.depth + 1, z, *type_.shape], type_.dtype)
        for source in self.sums:
            new[self._sum(source)] = self._nothing(source, shared)
        if self.machine.has_epilogue:
            place = {"pc": tf.constant(0)}  # runs once, outside of all loops
            return new | self._pulled(self.machine.halt, new | place, results, ended, shared)
        for leaf, cotangent in results.items():
            register = adjoint.stored.registers[leaf]
            if register in adjoint.registers:
                new[_cotangent(register)] += cotangent
        return new

    def _nothing(self, source: Source, shared: Sequence[tf.Tensor]) -> tf.Tensor:
        kind, at = source
        tensor = shared[at] if kind == "shared" else self.variables.get(at, self.adjoint.captured[at])
        return tf.zeros(tensor.shape, tensor.dtype)

    def loaded(self, state: State, tape: State) -> State:
        """With a tape, from the last of its steps."""
        return state | tape | {"pc": self.tape.last(tape, tape[ROWS])}

    def as_deep(self, state: State) -> State:
        """With stacks as deep as the machine's were, which may have been deeper later on."""
        rows: Any = self.machine.depth + 1
        deeper = [key for key in map(stack_key, self.adjoint.stacks) if state[key].shape[0] != rows]
        return state | {key: state[key][:rows] for key in deeper}

    def inputs(self, state: State) -> dict[Leaf, tf.Tensor]:
        """The cotangents of the inputs that have any, where all steps are undone."""
        registers = self.adjoint.stored.registers
        return {leaf: state[_cotangent(registers[leaf])] for leaf in self.adjoint.reached}

    def sums_of(self, state: State) -> list[tf.Tensor]:
        return [state[self._sum(source)] for source in self.sums]

    def run_block(self, i: int, state: State, shared: Sequence[tf.Tensor]) -> State:
        """Undoes the last step, which is one of block ``i``; returns the changed parts of the state."""
        block = self.adjoint.blocks[i]
        lanes, values, new = self.tape.taken(i, state)
        recorded = [
            *map(self.machine.register, block.records),
            *map(_taped, block.taped),
            *(["depth"] * block.records_depth),
        ]
        before = dict(zip(recorded, values, strict=True))
        if "depth" in state:
            before["depth"] = tf.where(lanes, before.get("depth", state["depth"] - block.pushes), state["depth"])
        new |= {key: before[key] for key in self.changes(i) if key in before}
        put = {r: leaf for r, leaf in self.adjoint.stored.put(i).items() if r in self.adjoint.registers}
        outputs = {leaf: state[_cotangent(register)] for register, leaf in put.items()}
        new |= self._pulled(i, state | before, outputs, lanes, shared)
        return new | {"pc": self.tape.last(state, new[ROWS])}

    def _pulled(
        self, i: int, state: State, outputs: Mapping[Leaf, tf.Tensor], lanes: tf.Tensor, shared: Sequence[tf.Tensor]
    ) -> State:
        """What changes with a step of block ``i`` undone, from the cotangents of the leaves that it sets for good."""
        block, stored, choose = self.adjoint.blocks[i], self.adjoint.stored, Chosen(lanes)
        registers = {leaf: stored.registers[leaf] for leaf in stored.blocks[i].reads}
        undo = Undo(
            self.adjoint,
            i,
            lanes,
            held={leaf: state[self.machine.register(r)] for leaf, r in registers.items() if r in block.reads},
            taped={leaf: state[_taped(leaf)] for leaf in block.taped},
            depth=state.get("depth"),
            stacks={stack_key(leaf): state[stack_key(leaf)] for leaf in block.stacks},
            shared=shared,
            place=state["pc"],
            variables=self.variables,
            cotangents={leaf: choose(cotangent) for leaf, cotangent in outputs.items()},
        )
        undo.run()
        new = dict(undo.stacks)
        for register in block.cotangents:
            key = _cotangent(register)
            parts = [
                undo.cotangents[leaf]
                for leaf, r in sorted(registers.items())
                if r == register and leaf in undo.cotangents
            ]
            behind = [] if register in block.written else [state[key]]
            total = tf.add_n([*parts, *behind]) if parts or behind else tf.zeros_like(state[key])
            new[key] = choose(total, state[key])
        for source, cotangent in undo.others.items():
            new[self._sum(source)] = state[self._sum(source)] + cotangent
        return new
