"""The machine, one block at a time, with all that it holds written down: to be looked at, not to be fast."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Literal

import numpy as np
import tensorflow as tf

from autobatch import ir
from autobatch.ir.leaves import Leaf, leaf_type
from autobatch.ir.stored import StoredProgram
from autobatch.ir.types import leaf_names
from autobatch.machine.blocks import Machine, State, deeper, stack_key
from autobatch.machine.schedule import SCHEDULES
from autobatch.options import Options
from autobatch.tracing.vectorize import Stored

DEPTH = 32  # of the first stacks; deeper ones take compiling
FAILED = -1


@dataclass(frozen=True)
class Step:
    """What one run of a block did to the lanes [n] for which it ran.  Variables go by the names of their leaves.

    pc: where they went, ``FAILED`` if a check stopped them; depth: how many frames they have saved then; written: what
    their registers hold then; popped: those whose frame at that depth was restored; pushed: what went into the frame
    that a call began.
    """

    block: int
    lanes: np.ndarray
    pc: np.ndarray
    depth: np.ndarray
    written: Mapping[str, np.ndarray]
    popped: tuple[str, ...]
    pushed: Mapping[str, np.ndarray]


@dataclass(frozen=True)
class Recording:
    """The first steps of a batch on one machine.

    halt: the least program counter of lanes that are done; types: of the variables, in order; stacked: those that have
    a stack; start: what registers hold at first, [lanes, ...] each; results: what lanes that are done return; ended:
    why it ends: all lanes are "done", the "steps" are used up, or stacks are "full".
    """

    program: ir.StackProgram
    halt: int
    lanes: int
    types: Mapping[str, str]
    stacked: tuple[str, ...]
    start: Mapping[str, np.ndarray]
    steps: tuple[Step, ...]
    results: Mapping[str, np.ndarray]
    ended: Literal["done", "steps", "full"]


def record(
    stored: StoredProgram,
    size: int,
    arguments: Sequence[Stored],
    shared: Sequence[tf.Tensor],
    options: Options,
    steps: int,
) -> Recording:
    """Runs the batch for at most so many steps, all lanes in one machine, by the options' schedule."""
    limit = options.max_depth
    machine = Machine(stored, size, min(DEPTH, limit or DEPTH), safe=not options.jit_compile)
    recorder = _Recorder(machine, shared, options)
    state, taken = machine.initial(arguments), []
    start = recorder.registers(state)
    while len(taken) < steps:
        chosen = int(recorder.choose(state["pc"]))
        if chosen < machine.halt:
            state, step = recorder.step(chosen, state)
            if len(step.lanes):  # or all of them wait for deeper stacks, and make the step then
                taken.append(step)
            continue
        depth = recorder.machine.depth
        if not (state["pc"].numpy() > machine.stopped).any() or depth == limit:
            break
        recorder = _Recorder(replace(machine, depth=min(2 * depth, limit or 2 * depth)), shared, options)
        state = recorder.deepened(state, recorder.machine.depth - depth)
    pc = state["pc"].numpy()
    if ((pc >= machine.halt) & (pc <= machine.stopped)).all():
        ended = "done"
    else:
        ended = "steps" if len(taken) == steps else "full"
    names = {name: str(leaf_type(leaf, stored.types)) for leaf, name in recorder.names.items()}
    stacked = tuple(recorder.names[leaf] for leaf in sorted(recorder.stacked))
    return Recording(
        stored.program, machine.halt, size, names, stacked, start, tuple(taken), recorder.results(state), ended
    )


class _Recorder:
    def __init__(self, machine: Machine, shared: Sequence[tf.Tensor], options: Options):
        self.machine, self.shared, self.options = machine, list(shared), options
        self.choose = SCHEDULES[options.schedule](machine)
        self._blocks: dict[int, Callable] = {}

    @cached_property
    def names(self) -> dict[Leaf, str]:
        """Of the registers, and of the leaves with a stack, whose top may live within blocks only."""
        types = self.machine.typed.types
        return {(v, k): leaf_names(v, types[v])[k] for v, k in sorted({*self.machine.registers, *self.stacked})}

    @property
    def stacked(self) -> frozenset[Leaf]:
        return self.machine.stored.stacked

    def registers(self, state: State) -> dict[str, np.ndarray]:
        return {self.names[leaf]: state[self.machine.register(leaf)].numpy() for leaf in self.machine.registers}

    def results(self, state: State) -> dict[str, np.ndarray]:
        outputs, types = self.machine.program.outputs, self.machine.typed.types
        names = [name for v in outputs for name in leaf_names(v, types[v])]
        leaves = tf.nest.flatten(tf.function(self.machine.results, autograph=False)(state, self.shared))
        return {name: leaf.numpy() for name, leaf in zip(names, leaves, strict=True)}

    def step(self, i: int, state: State) -> tuple[State, Step]:
        new = state | self._block(i)(state, self.shared)
        block, storage = self.machine.program.blocks[i], self.machine.stored.blocks[i]
        registers = self.machine.stored.registers
        lanes = np.flatnonzero((state["pc"].numpy() == i) & (new["pc"].numpy() <= self.machine.stopped))
        none = np.zeros(self.machine.size, np.int32)
        before, depth = (s["depth"].numpy() if "depth" in s else none for s in (state, new))
        written = {registers[leaf] for leaf in storage.writes} & set(self.machine.registers)
        saved = {leaf for step in storage.steps for leaf in step.saves & self.stacked}
        popped = {v for op in block.ops if isinstance(op, ir.Pop) for v in op.variables}
        pc = np.where(new["fault"].numpy() > 0, FAILED, new["pc"].numpy()) if "fault" in new else new["pc"].numpy()
        return new, Step(
            i,
            lanes,
            pc[lanes],
            depth[lanes],
            {self.names[leaf]: new[self.machine.register(leaf)].numpy()[lanes] for leaf in sorted(written)},
            tuple(self.names[leaf] for leaf in sorted(self.stacked) if leaf[0] in popped),
            {self.names[leaf]: new[stack_key(leaf)].numpy()[before[lanes], lanes] for leaf in sorted(saved)},
        )

    def _block(self, i: int) -> Callable[[State, list[tf.Tensor]], State]:
        if i not in self._blocks:
            run = functools.partial(self.machine.run_block, i)
            self._blocks[i] = tf.function(run, autograph=False, jit_compile=self.options.jit_compile)
        return self._blocks[i]

    def deepened(self, state: State, by: int) -> State:
        """The state of a machine with shallower stacks; lanes that were stalled try again."""
        deep = {key: deeper(key, leaf, by) for key, leaf in state.items()}
        pc, stopped = deep["pc"], self.machine.stopped
        return deep | {"pc": tf.where(pc > stopped, pc - stopped - 1, pc)}
