"""The program-counter machine (paper, algorithm 2): its state, and what running one block does to it.

The state is a dictionary of tensors, for Z lanes and stacks of D saved frames:

    pc              [Z] int32           the block that the lane waits to run; the number of blocks when it is done
    register v k    [Z, ...]            leaf k of variable v, the cached top of its stack if it has one
    stack v k       [D + 1, Z, ...]     the saved values; row D takes the writes of idle lanes
    pc stack        [D + 1, Z] int32    where each frame returns to
    depth           [Z] int32           how many frames the lane has saved
    overflow        [Z] bool            lanes that stopped because they needed a frame more
    fault           [Z] int32           1 + the position of the check that stopped the lane, or 0
    note k j        [Z, ...]            leaf j of what check k shows of a lane that it stopped
    steps           [] int32            how many blocks have run, if their number is limited

A program without calls and checks has only ``pc`` and registers.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import tensorflow as tf

from autobatch import ir, regions
from autobatch.passes.flow import live_before
from autobatch.passes.stack_lowering import TypedStackProgram, stack_reads
from autobatch.runtime.vectorize import FAULT, Environment, Stored, note, run_region, write_items
from autobatch.types import coerce, dynamic, truth_values

State = dict[str, tf.Tensor]


def _register(variable: str, leaf: int) -> str:
    return f"register {variable} {leaf}"


def _stack(variable: str, leaf: int) -> str:
    return f"stack {variable} {leaf}"


def _note(check: int, leaf: int) -> str:
    return f"note {check} {leaf}"


@dataclass(frozen=True)
class Machine:
    """A typed stack program for ``size`` lanes and at most ``depth`` saved frames.

    ``safe``: idle lanes compute on a copy of an active lane's data, because outside XLA other data could raise (an
    integer division by zero).
    """

    typed: TypedStackProgram
    size: int
    depth: int
    safe: bool
    max_steps: int | None = None

    @property
    def program(self) -> ir.StackProgram:
        return self.typed.program

    @property
    def has_epilogue(self) -> bool:
        """Whether the last block runs once, after the loop; not where a failed member's data could do harm."""
        return self.typed.epilogue is not None and not self.safe

    @property
    def halt(self) -> int:
        """Where finished lanes wait; lanes that were stopped stand behind all blocks."""
        return self.stopped - self.has_epilogue

    @property
    def stopped(self) -> int:
        return len(self.program.blocks)

    @cached_property
    def registers(self) -> list[str]:
        """The registers that blocks hand to each other; the epilogue's own results need none."""
        if not self.has_epilogue:
            return list(self.program.registers)
        blocks = zip(self.program.blocks, self.typed.live_end, strict=True)
        live = frozenset[str]().union(*(live_before(block.ops, end, stack_reads) for block, end in blocks))
        return [v for v in self.program.registers if v in live]

    @cached_property
    def has_calls(self) -> bool:
        return any(isinstance(b.terminator, ir.PushJump) for b in self.program.blocks)

    @property
    def lane_bytes(self) -> int:
        """How much of the state is one lane's, but for what it touches by single items."""
        ops = (op for block in self.program.blocks for op in block.ops if isinstance(op, ir.Update))
        by_item = {op.outputs[0] for op in ops if op.function.kind == "write"}
        registers = [v for v in self.registers if v not in by_item]
        stacks = [v for v in self.program.stacks for _ in range(self.depth + 1)]
        leaves = (leaf for v in registers + stacks for leaf in dynamic(self.typed.types[v]))
        return sum(math.prod(leaf.shape) * leaf.dtype.size for leaf in leaves)

    def initial(self, arguments: Sequence[Stored]) -> State:
        """The state before the first block; ``arguments`` are the stored leaves of each input."""
        types, z = self.typed.types, self.size
        state: State = {"pc": tf.zeros([z], tf.int32)}
        for v in self.registers:
            for k, leaf in enumerate(dynamic(types[v])):
                state[_register(v, k)] = tf.zeros([z, *leaf.shape], leaf.dtype)
        for v in self.program.stacks:
            for k, leaf in enumerate(dynamic(types[v])):
                state[_stack(v, k)] = tf.zeros([self.depth + 1, z, *leaf.shape], leaf.dtype)
        if self.has_calls:
            state["pc stack"] = tf.zeros([self.depth + 1, z], tf.int32)
            state["depth"] = tf.zeros([z], tf.int32)
            state["overflow"] = tf.zeros([z], tf.bool)
        if self.typed.checks:
            state["fault"] = tf.zeros([z], tf.int32)
        if self.max_steps is not None:
            state["steps"] = tf.zeros([], tf.int32)
        for k, check in enumerate(self.typed.checks):
            for j, leaf in enumerate(dynamic(check.values.type)):
                state[_note(k, j)] = tf.zeros([z, *leaf.shape], leaf.dtype)
        for v, leaves in zip(self.program.inputs, arguments, strict=True):
            if v in self.registers:
                state |= {_register(v, k): leaf for k, leaf in enumerate(leaves)}
        return state

    def results(self, state: State, shared: Sequence[tf.Tensor]) -> list[Stored]:
        """The stored leaves of each output."""
        if not self.has_epilogue:
            return [self._top(v, state) for v in self.program.outputs]
        block, outputs = self.program.blocks[-1], list(self.program.outputs)
        env = {v: self._top(v, state) for v in live_before(block.ops, frozenset(outputs), stack_reads)}
        rest = list(block.ops)
        for region in regions.regions(block.ops):
            assert isinstance(region, regions.Region)
            rest = rest[len(region.ops) :]
            wanted = [v for v in region.assigned if v in live_before(rest, frozenset(outputs), stack_reads)]
            env |= run_region(region, env, self.typed.types, wanted, shared, self.size, self.typed.checks)
        return [env.get(v, []) for v in outputs]

    def may_go_on(self, state: State) -> tf.Tensor | bool:
        """Whether the limit of steps, if there is one, allows one more."""
        return state["steps"] < self.max_steps if self.max_steps is not None else True

    def notes(self, state: State) -> list[Stored]:
        """What each check shows of the lanes that it stopped."""
        counts = (len(dynamic(check.values.type)) for check in self.typed.checks)
        return [[state[_note(k, j)] for j in range(count)] for k, count in enumerate(counts)]

    def _top(self, variable: str, state: State) -> Stored:
        return [state[_register(variable, k)] for k in range(len(dynamic(self.typed.types[variable])))]

    def changes(self, i: int) -> tuple[str, ...]:
        """The parts of the state that block ``i`` may change."""
        block, types, keys = self.program.blocks[i], self.typed.types, ["pc"]
        if self.max_steps is not None:
            keys += ["steps"]
        for v in self._kept(i):
            keys += [_register(v, k) for k in range(len(dynamic(types[v])))]
        for v in {v for op in block.ops if isinstance(op, ir.Push) for v in op.outputs}:
            keys += [_stack(v, k) for k in range(len(dynamic(types[v])))]
        if isinstance(block.terminator, ir.PushJump):
            keys += ["pc stack", "depth", "overflow"]
        if isinstance(block.terminator, ir.Return) and self.has_calls:
            keys += ["depth"]
        if regions.makes_checks(block.ops, self.typed.checks):
            keys += ["fault", *self._notes(block)]
        return tuple(sorted(keys))

    def _notes(self, block: ir.Block) -> list[str]:
        checks = ((k, c) for k, c in enumerate(self.typed.checks) if regions.makes_checks(block.ops, [c]))
        return [_note(k, j) for k, check in checks for j in range(len(dynamic(check.values.type)))]

    def _kept(self, i: int) -> list[str]:
        """The registers that block ``i`` sets and that something reads after it."""
        live, block = self.typed.live_end[i], self.program.blocks[i]
        written = {v for op in block.ops for v in ir.writes(op)}
        return [v for v in self.registers if v in written and v in live]

    def run_block(self, i: int, state: State, shared: Sequence[tf.Tensor]) -> State:
        """Runs block ``i`` for the lanes that wait there; returns the changed parts of the state."""
        block, types, z = self.program.blocks[i], self.typed.types, self.size
        active = tf.equal(state["pc"], i)
        env = self._inputs(i, state, active)
        new: State = {}
        fault, in_place = None, {v for v in self._kept(i) if _is_only_written(block, v)}
        parts = regions.regions(block.ops)
        rest = list(block.ops)
        for part in parts:
            done = len(part.ops) if isinstance(part, regions.Region) else 1
            rest = rest[done:]
            match part:
                case regions.Region(kind="write"):
                    (target,) = part.ops[0].outputs
                    if target in in_place:
                        key = _register(target, 0)
                        new[key] = write_items(part.ops[0], env, new.get(key, state[key]), active, drops=not self.safe)
                        env[target] = [self._harmless(new[key], active)]
                    else:
                        env[target] = [write_items(part.ops[0], env, env[target][0], active, drops=not self.safe)]
                case regions.Region():
                    live = live_before(rest, self.typed.live_end[i], stack_reads)
                    wanted = [v for v in part.assigned if v in live]
                    env |= run_region(part, env, types, wanted, shared, z, self.typed.checks)
                    if FAULT in env:
                        (found,) = env.pop(FAULT)
                        found = found if fault is None else tf.where(fault == 0, found, fault)
                        for k in range(len(self.typed.checks)):
                            first = active & (found == k + 1) & (True if fault is None else fault == 0)
                            for j, leaf in enumerate(env.pop(note(k), [])):
                                new[_note(k, j)] = _masked(first, leaf, new.get(_note(k, j), state[_note(k, j)]))
                        fault = found
                case ir.Push(outputs, _, inputs):
                    (target,), (source,) = outputs, inputs
                    for k, top in enumerate(env[target]):
                        key = _stack(target, k)
                        new[key] = self._save(new.get(key, state[key]), top, active, state["depth"])
                    env[target] = coerce(types[source], types[target], env.get(source, []), shared, z)
                case ir.Pop(variables):
                    for v in variables:
                        keys = [_stack(v, k) for k in range(len(dynamic(types[v])))]
                        # An idle lane's depth is not used: it would let XLA hoist the load, as above.
                        depth = tf.where(active, state["depth"], 0)
                        restored = (self._restored(new.get(key, state[key]), depth) for key in keys)
                        env[v] = [self._harmless(leaf, active) for leaf in restored]
        for v in set(self._kept(i)) - in_place:
            for k, leaf in enumerate(env[v]):
                key = _register(v, k)
                new[key] = _masked(active, leaf, state[key])
        new |= self._jump(block.terminator, active, env, state, shared)
        if self.max_steps is not None:
            new["steps"] = state["steps"] + 1
        if fault is not None:
            fault = tf.where(active, fault, 0)
            new["fault"] = tf.where(active, fault, state["fault"])
            new["pc"] = tf.where(fault > 0, self.stopped, new["pc"])
        return new

    def _inputs(self, i: int, state: State, active: tf.Tensor) -> Environment:
        """The tops that block ``i`` reads, with harmless data in idle lanes.

        Under XLA that is zero, and for a reason of its own: it makes all that the block computes depend on the
        program counter.  XLA would else see that the guard's loop does not change these inputs, and move the
        block's work out of the guard, where it runs whether or not the block is chosen.
        """
        block, kept = self.program.blocks[i], self.changes(i)
        end = block.terminator
        after = frozenset({end.condition} if isinstance(end, ir.Branch) else ())
        read = [v for v in self.registers if v in live_before(block.ops, after, stack_reads)]
        env = {v: self._top(v, state) for v in read}
        if self.safe:
            return {v: [self._harmless(leaf, active) for leaf in leaves] for v, leaves in env.items()}
        for v, leaves in env.items():
            if leaves and _register(v, 0) not in kept:
                env[v] = [_masked(active, leaf, tf.zeros([], leaf.dtype)) for leaf in leaves]
        return env

    def _harmless(self, leaf: tf.Tensor, active: tf.Tensor) -> tf.Tensor:
        """The leaf, with a copy of an active lane's data in idle lanes if those could do harm."""
        if not self.safe:
            return leaf
        return tf.gather(leaf, tf.where(active, tf.range(self.size), tf.argmax(active, output_type=tf.int32)))

    def _save(self, stack: tf.Tensor, top: tf.Tensor, active: tf.Tensor, depth: tf.Tensor) -> tf.Tensor:
        row = tf.where(active, depth, self.depth)
        return tf.tensor_scatter_nd_update(stack, tf.stack([row, tf.range(self.size)], axis=1), top)

    def _restored(self, stack: tf.Tensor, depth: tf.Tensor) -> tf.Tensor:
        return tf.gather_nd(stack, tf.stack([depth, tf.range(self.size)], axis=1))

    def _jump(
        self,
        terminator: ir.Terminator,
        active: tf.Tensor,
        env: Environment,
        state: State,
        shared: Sequence[tf.Tensor],
    ) -> State:
        """Moves the active lanes on."""
        pc = state["pc"]
        match terminator:
            case ir.Jump(target):
                return {"pc": tf.where(active, target, pc)}
            case ir.Branch(condition, true, false):
                test = truth_values(self.typed.types[condition], env.get(condition, []), shared, self.size)
                return {"pc": tf.where(active, tf.where(test, true, false), pc)}
            case ir.PushJump(target, return_to):
                depth = state["depth"]
                full = active & (depth >= self.depth)
                frame = tf.fill([self.size], return_to)
                return {
                    "pc": tf.where(full, self.stopped, tf.where(active, target, pc)),
                    "pc stack": self._save(state["pc stack"], frame, active, depth),
                    "depth": depth + tf.cast(active & ~full, tf.int32),
                    "overflow": state["overflow"] | full,
                }
            case _:
                return self._return(active, state)

    def _return(self, active: tf.Tensor, state: State) -> State:
        pc = state["pc"]
        if not self.has_calls:
            return {"pc": tf.where(active, self.halt, pc)}
        depth = state["depth"]
        caller = tf.maximum(depth - 1, 0)
        target = tf.where(depth > 0, self._restored(state["pc stack"], caller), self.halt)
        return {"pc": tf.where(active, target, pc), "depth": tf.where(active, caller, depth)}


def _is_only_written(block: ir.Block, variable: str) -> bool:
    """Whether all that the block does to the variable is to write some of its items."""
    setting = [op for op in block.ops if variable in ir.writes(op)]
    return all(isinstance(op, ir.Update) and op.function.kind == "write" for op in setting)


def _masked(active: tf.Tensor, new: tf.Tensor, old: tf.Tensor) -> tf.Tensor:
    if new.shape.rank > 1:
        active = tf.reshape(active, [-1] + [1] * (new.shape.rank - 1))
    return tf.where(active, new, old)
