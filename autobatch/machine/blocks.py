"""The program-counter machine (paper, algorithm 2): its state, and what running one block does to it.

The state is a dictionary of tensors, for Z lanes and stacks of D saved frames:

    pc              [Z] int32           the block that the lane waits to run; or ``halt``, ``stopped``, or, for a lane
                                        that needs deeper stacks to run a block, that much behind ``stopped``
    register v k    [Z, ...]            leaf k of variable v, or a copy that shares its register (passes/storage.py);
                                        the cached top of the stack if it has one
    stack v k       [D + 1, Z, ...]     the saved values; row D takes the writes of idle lanes
    pc stack        [D + 1, Z] int32    where each frame returns to
    depth           [Z] int32           how many frames the lane has saved
    fault           [Z] int32           1 + the position of the check that stopped the lane, or 0
    note k j        [Z, ...]            leaf j of what check k shows of a lane that it stopped
    steps           [] int32            how many blocks have run, if their number is limited
    counts i        [COUNTS] int64      of block i, if runs are counted: see machine/counts.py
    deepest         [Z] int32           the most frames that the lane has saved, if runs are counted

A program without calls and checks has only ``pc`` and registers.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Any

import numpy as np
import tensorflow as tf
from tensorflow.compiler.tf2xla.python import xla as tf2xla

from autobatch import ir
from autobatch.ir import regions
from autobatch.ir.leaves import Leaf, leaf_type, leaves_of
from autobatch.ir.representation import coerce, truth_values
from autobatch.ir.stored import StoredProgram
from autobatch.ir.typed import TypedStackProgram, makes_checks
from autobatch.ir.types import dynamic
from autobatch.machine.chosen import Chosen
from autobatch.machine.counts import BUCKETS, COUNTS, Counted, bucket
from autobatch.machine.loop import while_loop
from autobatch.passes.costs import line_costs
from autobatch.tracing.vectorize import FAULT, Environment, Stored, note, run_region, write_items

State = dict[str, tf.Tensor]

FEW_FRAMES = 64  # of a stack of numbers: to look at them all is faster than to write those of single lanes


def stack_key(leaf: Leaf) -> str:
    return f"stack {leaf[0]} {leaf[1]}"


def _note(check: int, leaf: int) -> str:
    return f"note {check} {leaf}"


def _counts(block: int) -> str:
    return f"counts {block}"


@dataclass(frozen=True)
class Machine:
    """A program for ``size`` lanes and at most ``depth`` saved frames.

    ``size``: None if it is not known; a scalar tensor within the graph that will know it (``sized``).
    ``safe``: idle lanes compute on a copy of an active lane's data, because outside XLA other data could raise (an
    integer division by zero).
    ``saves_singly``: lanes save one after the other, which is faster where XLA makes one function of it; of a scatter
    it does not.
    ``guards``: whether each block stands behind a guard, from which XLA must not move its work; else, among others, it
    must not restore from a stack again in each kernel that wants the value, and copy the stack for the later ones.
    ``counts``: whether it counts its blocks' runs.
    """

    stored: StoredProgram
    size: Any
    depth: int
    safe: bool
    max_steps: int | None = None
    saves_singly: bool = False
    guards: bool = True
    counts: bool = False

    def sized(self, arguments: Sequence[Stored]) -> Machine:
        """The machine within a graph that has these arguments."""
        return self if self.size is not None else replace(self, size=tf.shape(tf.nest.flatten(arguments)[0])[0])

    @property
    def typed(self) -> TypedStackProgram:
        return self.stored.typed

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

    @property
    def order(self) -> list[int]:
        """The blocks in the order in which the machine asks whether they are chosen."""
        return [i for i in self.stored.order or range(self.halt) if i < self.halt]

    @cached_property
    def knows_positions(self) -> bool:
        """Whether a primitive takes only batches of one size."""
        ops = (op for block in self.program.blocks for op in block.ops)
        return any(isinstance(op, ir.Update | ir.Push) and op.function.size is not None for op in ops)

    @cached_property
    def registers(self) -> list[Leaf]:
        """The registers that blocks hand to each other; the epilogue's own results need none."""
        blocks = self.stored.blocks
        live = set().union(*(block.reads for block in blocks), *(block.writes for block in blocks[: self.halt]))
        if not self.has_epilogue:
            live.update(leaf for v in self.program.outputs for leaf in leaves_of(v, self.typed.types))
        return sorted({self.stored.registers[leaf] for leaf in live})

    @property
    def name(self) -> str:
        return self.stored.typed.owners[0].name

    @cached_property
    def has_calls(self) -> bool:
        return self.stored.has_calls

    def initial(self, arguments: Sequence[Stored], members: int | None = None) -> State:
        """The state before the first block; ``arguments`` are the stored leaves of each input.

        Only the first ``members`` lanes will run; None for all.
        """
        types, z = self.typed.types, self.size
        pc = tf.zeros([z], tf.int32)
        if members is not None:
            pc = tf.constant([0] * members + [self.stopped] * (z - members), tf.int32)
        state: State = {"pc": pc}
        for leaf in self.registers:
            state[self.register(leaf)] = self._zeros(leaf)
        for leaf in sorted(self.stored.stacked):
            type_ = leaf_type(leaf, types)
            state[stack_key(leaf)] = tf.zeros([self.depth + 1, z, *type_.shape], type_.dtype)
        if self.has_calls:
            state["pc stack"] = tf.zeros([self.depth + 1, z], tf.int32)
            state["depth"] = tf.zeros([z], tf.int32)
        if self.typed.checks:
            state["fault"] = tf.zeros([z], tf.int32)
        if self.max_steps is not None:
            state["steps"] = tf.zeros([], tf.int32)
        if self.counts:
            state |= {_counts(i): tf.zeros([COUNTS], tf.int64) for i in range(self.halt)}
            if self.has_calls:
                state["deepest"] = tf.zeros([z], tf.int32)
        for k, check in enumerate(self.typed.checks):
            for j, leaf in enumerate(dynamic(check.values.type)):
                state[_note(k, j)] = tf.zeros([z, *leaf.shape], leaf.dtype)
        return state | self._registers_of(arguments)

    def empty(self) -> State:
        """The state of a machine without members."""
        return self.initial(self.no_arguments(self.size), members=0)

    def no_arguments(self, members: int) -> list[Stored]:
        """Zeros in place of what members are given."""
        return [[self._zeros(leaf, members) for leaf in self._leaves(v)] for v in self.program.inputs]

    @cached_property
    def entered(self) -> frozenset[str]:
        """The parts of the state that change where a lane begins with new arguments."""
        inputs = {leaf for v in self.program.inputs for leaf in self._leaves(v)} & self.stored.blocks[0].reads
        zeroed = {"pc": True, "depth": self.has_calls, "fault": bool(self.typed.checks)}
        return frozenset({*map(self.register, inputs), *(key for key, has in zeroed.items() if has)})

    def begun(self, state: State, beginning: tf.Tensor, arguments: Sequence[Stored]) -> State:
        """What has ``entered`` where lanes (a mask) begin with new arguments."""
        inputs = self._registers_of(arguments)
        choose = Chosen(beginning)
        new = {key: choose(leaf, state[key]) for key, leaf in inputs.items()}
        return new | {key: tf.where(beginning, 0, state[key]) for key in self.entered - inputs.keys()}

    def _registers_of(self, arguments: Sequence[Stored]) -> State:
        """The registers with the inputs; those that the first block does not read have none."""
        entered: State = {}
        for v, leaves in zip(self.program.inputs, arguments, strict=True):
            enters = [(v, k) in self.stored.blocks[0].reads for k in range(len(leaves))]
            entered |= {self.register((v, k)): leaf for k, leaf in enumerate(leaves) if enters[k]}
        return entered

    def register(self, leaf: Leaf) -> str:
        v, k = self.stored.registers[leaf]
        return f"register {v} {k}"

    def _zeros(self, leaf: Leaf, members: int | None = None) -> tf.Tensor:
        type_ = leaf_type(leaf, self.typed.types)
        return tf.zeros([self.size if members is None else members, *type_.shape], type_.dtype)

    def results(self, state: State, shared: Sequence[tf.Tensor], done: tf.Tensor | None = None) -> list[Stored]:
        """The stored leaves of each output; ``done``: of which lanes [Z], if not all are, and the loop goes on.

        What the epilogue computes depends on it then, and so is not moved out of a guard (see ``_inputs``).
        """
        types = self.typed.types
        if not self.has_epilogue:
            outputs = self.program.outputs
            env = self._tops(frozenset(leaf for v in outputs for leaf in self._leaves(v)), state)
            return [env.get(v, []) for v in outputs]
        block, storage = self.program.blocks[-1], self.stored.blocks[-1]
        env = self._tops(storage.reads, state)
        if done is not None:
            choose = Chosen(done)
            env = {v: [choose(leaf) for leaf in leaves] for v, leaves in env.items()}
        for region, live in zip(regions.regions(block.ops), storage.after, strict=True):
            assert isinstance(region, regions.Region)
            wanted = _variables(live, region.assigned)
            env = self._completed(env, region)
            env |= run_region(region, env, types, wanted, shared, self.size, self.typed, self._place(state))
        return [env.get(v, []) for v in self.program.outputs]

    def may_go_on(self, state: State) -> tf.Tensor | bool:
        """Whether the limit of steps, if there is one, allows one more."""
        return state["steps"] < self.max_steps if self.max_steps is not None else True

    def notes(self, state: State) -> list[Stored]:
        """What each check shows of the lanes that it stopped."""
        counts = (len(dynamic(check.values.type)) for check in self.typed.checks)
        return [[state[_note(k, j)] for j in range(count)] for k, count in enumerate(counts)]

    def _tops(self, leaves: Collection[Leaf], state: State) -> Environment:
        """The variables with these leaves; their others, which nothing reads, are zero."""
        return {
            v: [state[self.register(leaf)] if leaf in leaves else self._zeros(leaf) for leaf in self._leaves(v)]
            for v in {v for v, _ in leaves}
        }

    def _completed(self, env: Environment, part: regions.Region | ir.Op) -> Environment:
        """With zeros for what the part hands on and nothing ever looks at."""
        read = () if isinstance(part, ir.Pop) else part.inputs
        if isinstance(part, ir.Push):
            read += part.outputs  # a Push also saves the old top
        return {v: [self._zeros(leaf) for leaf in self._leaves(v)] for v in read if v not in env} | env

    def _leaves(self, variable: str) -> list[Leaf]:
        return leaves_of(variable, self.typed.types)

    def changes(self, i: int) -> tuple[str, ...]:
        """The parts of the state that block ``i`` may change."""
        block, storage, keys = self.program.blocks[i], self.stored.blocks[i], ["pc"]
        if self.max_steps is not None:
            keys += ["steps"]
        if self.counts:
            keys += [_counts(i)]
        keys += [self.register(leaf) for leaf in storage.writes]
        keys += {stack_key(leaf) for step in storage.steps for leaf in step.saves & self.stored.stacked}
        if isinstance(block.terminator, ir.PushJump):
            keys += ["pc stack", "depth", *(["deepest"] if self.counts else [])]
        if ir.may_return(block.terminator) and self.has_calls:
            keys += ["depth"]
        if makes_checks(block.ops, self.typed.checks):
            keys += ["fault", *self._notes(block)]
        return tuple(sorted(keys))

    def keys_read(self, i: int) -> list[str]:
        """The parts of the state that block ``i``, if it neither calls nor saves anything, reads besides ``pc``."""
        block = self.program.blocks[i]
        keys = {self.register(leaf) for leaf in self.stored.blocks[i].reads}
        if ir.may_return(block.terminator) and self.has_calls:
            keys |= {"depth", "pc stack"}
        if makes_checks(block.ops, self.typed.checks):
            keys |= {"fault", *self._notes(block)}
        return sorted(keys)

    @staticmethod
    def axis(key: str) -> int | None:
        """The axis of the lanes; None for what is the machine's as a whole, and is added up over several."""
        if key == "steps" or key.startswith("counts "):
            return None
        return 1 if key == "pc stack" or key.startswith("stack ") else 0

    def counted(self, states: Sequence[State]) -> list[Counted]:
        """What each block has done, over all parts."""
        blocks, costs, lines = self.program.blocks, self.stored.costs, line_costs(self.stored)
        calls = [block.terminator for block in blocks if isinstance(block.terminator, ir.PushJump)]
        begun = {call.return_to: (call.location.file, call.location.line) for call in calls}
        counts = enumerate(self.counts_of(states))
        return [Counted(str(i), blocks[i], n, costs[i], lines[i], begun.get(i)) for i, n in counts]

    @staticmethod
    def deepest(states: Sequence[State]) -> int:
        """The most frames that any lane has saved."""
        return max((int(state["deepest"].numpy().max(initial=0)) for state in states if "deepest" in state), default=0)

    def counts_of(self, states: Sequence[State]) -> np.ndarray:
        """[blocks, COUNTS] over all parts."""
        counts = [sum(state[_counts(i)].numpy() for state in states) for i in range(self.halt)]
        return np.array(counts, np.int64).reshape(self.halt, COUNTS)

    def _notes(self, block: ir.Block) -> list[str]:
        checks = ((k, c) for k, c in enumerate(self.typed.checks) if makes_checks(block.ops, [c]))
        return [_note(k, j) for k, check in checks for j in range(len(dynamic(check.values.type)))]

    def run_block(self, i: int, state: State, shared: Sequence[tf.Tensor]) -> State:
        """Runs block ``i`` for the lanes that wait there; returns the changed parts of the state."""
        block, storage, types, z = self.program.blocks[i], self.stored.blocks[i], self.typed.types, self.size
        waiting = active = tf.equal(state["pc"], i)
        if isinstance(block.terminator, ir.PushJump):
            active = waiting & (state["depth"] < self.depth)
        env = self._inputs(i, state, waiting)
        new: State = {}
        fault, in_place = None, {leaf for leaf in storage.writes if _is_only_written(block, leaf[0])}
        for part, live in zip(regions.regions(block.ops), storage.after, strict=True):
            env = self._completed(env, part)
            match part:
                case regions.Region(kind="write"):
                    (target,), written = part.ops[0].outputs, []
                    for k, old in enumerate(env[target]):
                        write = partial(write_items, part.ops[0], env, k, active=active, drops=not self.safe)
                        if (target, k) in in_place:
                            key = self.register((target, k))
                            new[key] = write(new.get(key, state[key]))
                            written.append(self._harmless(new[key], active))
                        else:
                            written.append(write(old))
                    env[target] = written
                case regions.Region():
                    wanted = _variables(live, part.assigned)
                    env |= run_region(part, env, types, wanted, shared, z, self.typed, self._place(state))
                    if FAULT in env:
                        (found,) = env.pop(FAULT)
                        found = found if fault is None else tf.where(fault == 0, found, fault)
                        for k in range(len(self.typed.checks)):
                            if shown := env.pop(note(k), []):
                                first = Chosen(active & (found == k + 1) & (True if fault is None else fault == 0))
                                for j, leaf in enumerate(shown):
                                    new[_note(k, j)] = first(leaf, new.get(_note(k, j), state[_note(k, j)]))
                        fault = found
                case ir.Push(outputs, _, inputs):
                    (target,), (source,) = outputs, inputs
                    for leaf in self._leaves(target):
                        if leaf in self.stored.stacked:
                            key, top = stack_key(leaf), env[target][leaf[1]]
                            new[key] = self._save(new.get(key, state[key]), top, active, state["depth"])
                    env[target] = coerce(types[source], types[target], env.get(source, []), shared, z)
                case ir.Pop(variables):
                    # An idle lane's depth is not used: it would let XLA hoist the load, as above.
                    depth = tf.where(active, state["depth"], 0) if self.guards else state["depth"]
                    for leaf in (leaf for v in variables for leaf in self._leaves(v)):
                        top, key = self._zeros(leaf), stack_key(leaf)
                        if leaf in live & self.stored.stacked:
                            top = self._harmless(self._restored(new.get(key, state[key]), depth), active)
                        env[leaf[0]] = [*env.get(leaf[0], []), top] if leaf[1] else [top]
        choose = Chosen(active)
        for v, k in sorted(storage.writes - in_place):
            key = self.register((v, k))
            new[key] = choose(env[v][k], state[key])
        new |= self._jump(block.terminator, active, env, state, shared)
        if active is not waiting:
            new["pc"] = tf.where(waiting & ~active, self.stopped + 1 + i, new["pc"])
        if self.max_steps is not None:
            new["steps"] = state["steps"] + 1
        if self.counts:
            count = tf.reduce_sum(tf.cast(active, tf.int64))
            now = [tf.stack([1, count, self.size]), tf.one_hot(bucket(count, self.size), BUCKETS, dtype=tf.int64)]
            new[_counts(i)] = state[_counts(i)] + tf.concat(now, axis=0)
            if isinstance(block.terminator, ir.PushJump):
                new["deepest"] = tf.maximum(state["deepest"], new["depth"])
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
        reads, kept = self.stored.blocks[i].reads, self.changes(i)
        read = {self.register(leaf): state[self.register(leaf)] for leaf in reads}
        choose = Chosen(active)
        for key, register in read.items():
            if self.safe:
                read[key] = self._harmless(register, active)
            elif key not in kept and self.guards:
                read[key] = choose(register)
        return self._tops(reads, read)

    def _place(self, state: State) -> tf.Tensor | None:
        return None if self.safe else state["pc"]

    def _harmless(self, leaf: tf.Tensor, active: tf.Tensor) -> tf.Tensor:
        """The leaf, with a copy of an active lane's data in idle lanes if those could do harm."""
        if not self.safe:
            return leaf
        return tf.gather(leaf, tf.where(active, tf.range(self.size), tf.argmax(active, output_type=tf.int32)))

    def _save(self, stack: tf.Tensor, top: tf.Tensor, active: tf.Tensor, depth: tf.Tensor) -> tf.Tensor:
        row = tf.where(active, depth, self.depth)
        if self.saves_singly and top.shape.rank == 1 and self.depth < FEW_FRAMES:
            return tf.where(tf.equal(tf.range(self.depth + 1)[:, tf.newaxis], row), top, stack)
        if self.saves_singly:
            return self._saved_singly(stack, top, row)
        place = row * self.size + tf.range(self.size)  # XLA scatters numbers twice as fast by one index as by two
        flat = tf.reshape(stack, [-1, *top.shape[1:]])
        shape = [self.depth + 1, self.size, *top.shape[1:]]
        return tf.reshape(tf.tensor_scatter_nd_update(flat, place[:, tf.newaxis], top), shape)

    def _saved_singly(self, stack: tf.Tensor, top: tf.Tensor, row: tf.Tensor) -> tf.Tensor:
        def save(lane: tf.Tensor, stack: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor]:
            place = tf.stack([row[lane], lane])
            return lane + 1, tf.tensor_scatter_nd_update(stack, place[tf.newaxis], top[lane][tf.newaxis])

        return while_loop(self, lambda lane, _: lane < self.size, save, (0, stack))[1]

    def _restored(self, stack: tf.Tensor, depth: tf.Tensor) -> tf.Tensor:
        restored = tf.gather_nd(stack, tf.stack([depth, tf.range(self.size)], axis=1))
        return restored if self.guards or self.safe else apart(restored)

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
                target = tf.where(test, true, false)
                there = {"pc": tf.where(active, target, pc)}
                if not ir.may_return(terminator):
                    return there
                return there | self._return(active & tf.equal(target, ir.RETURN), state | there)
            case ir.Raise():
                return {"pc": pc}  # the check that they failed has stopped them
            case ir.PushJump(then, return_to):
                depth = state["depth"]
                frame = tf.fill([self.size], return_to)
                return {
                    **self._jump(then, active, env, state, shared),
                    "pc stack": self._save(state["pc stack"], frame, active, depth),
                    "depth": depth + tf.cast(active, tf.int32),
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


def apart(leaf: tf.Tensor) -> tf.Tensor:
    """The same: computed once, not again in each of XLA's kernels that use it."""
    kept: Any = tf2xla.optimization_barrier(leaf)
    return kept[0]


def deeper(key: str, leaf: tf.Tensor, by: int) -> tf.Tensor:
    """A part of the state of a machine whose stacks have ``by`` frames more."""
    if not by or Machine.axis(key) != 1:
        return leaf
    return tf.pad(leaf[:-1], [[0, by + 1]] + [[0, 0]] * (leaf.shape.rank - 1))


def _variables(live: Collection[Leaf], variables: Iterable[str]) -> list[str]:
    """Those with a live leaf."""
    with_leaf = {v for v, _ in live}
    return [v for v in variables if v in with_leaf]


def _is_only_written(block: ir.Block, variable: str) -> bool:
    """Whether all that the block does to the variable is to write some of its items."""
    setting = [op for op in block.ops if variable in ir.writes(op)]
    return all(isinstance(op, ir.Update) and op.function.kind == "write" for op in setting)
