"""The local-static backend (paper, algorithm 1): Python runs the control flow, TensorFlow the regions.

Masks and program counters live in NumPy on the host; recursion is Python's own.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any

import numpy as np
import tensorflow as tf

from autobatch import context, ir
from autobatch.backends.failures import out_of_steps, overflow, raise_for_faults
from autobatch.ir import regions
from autobatch.ir.flow import live_before, liveness
from autobatch.ir.representation import coerce, truth_values
from autobatch.ir.typed import Check, TypedProgram
from autobatch.ir.types import Type, dynamic
from autobatch.machine.counts import COUNTS, Counted, Measured, Timeline, one_run
from autobatch.options import Options
from autobatch.passes.costs import computed
from autobatch.tracing.graphs import GraphFunction
from autobatch.tracing.member import all_checks, traced
from autobatch.tracing.vectorize import FAULT, Environment, Stored, note, run_region


class LocalStatic:
    """Runs a local-language program for batches of one size; ``jit_compile``: XLA compiles its regions (the hybrid)."""

    def __init__(self, typed: TypedProgram, size: int, options: Options):
        with context.tracing_lock:
            for function in typed.program.functions:
                _trace_regions(function, typed)
        typed = replace(typed, checks=all_checks(typed.checks, typed.traces))
        self.typed, self.size, self.options = typed, size, options
        self.functions = {f.name: _Function(f, typed, size, options.jit_compile) for f in typed.program.functions}

    def __call__(self, arguments: Sequence[Stored], shared: Sequence[tf.Tensor]) -> list[Stored]:
        return _Execution(self)(arguments, shared)

    @property
    def has_calls(self) -> bool:
        blocks = (block for function in self.typed.program.functions for block in function.blocks)
        return any(isinstance(op, ir.Call) for block in blocks for op in block.ops)

    def count(self, arguments: Sequence[Stored], shared: Sequence[tf.Tensor]) -> Measured:
        """Runs all members, and says what each block that ran has done."""
        timeline = Timeline()
        execution, found = _Execution(self, timeline), []
        results = execution(arguments, shared)
        execution.look()
        places = {place: k for k, place in enumerate(execution.counts) if execution.counts[place][0]}
        for name, i in places:
            function = self.functions[name]
            costs = function.line_costs(i)
            block = function.function.blocks[i]
            found.append(Counted(f"{name} {i}", block, execution.counts[name, i], sum(costs.values()), costs))
        history = np.stack(timeline.moments)[:, list(places.values())]
        return Measured(results, found, history, execution.deepest if self.has_calls else None)


def _trace_regions(function: ir.Function, typed: TypedProgram) -> None:
    types = typed.of(function.name)
    for part in (part for block in function.blocks for part in regions.regions(block.ops)):
        if isinstance(part, regions.Region) and part.kind == "member":
            traced(part, types, typed.shared, typed.traces)


class _Execution:
    """One call, and what has become of its members."""

    def __init__(self, of: LocalStatic, timeline: Timeline | None = None):
        self.typed, self.size, self.options, self.functions = of.typed, of.size, of.options, of.functions
        self.faults, self.steps = np.zeros(self.size, np.int32), 0
        places = [(f.name, i) for f in self.typed.program.functions for i in range(len(f.blocks))]
        self.counts = {place: np.zeros(COUNTS, np.int64) for place in places}
        self.timeline, self.deepest = timeline, 0
        self.notes = {k: self._no_note(check) for k, check in enumerate(self.typed.checks)}

    def __call__(self, arguments: Sequence[Stored], shared: Sequence[tf.Tensor]) -> list[Stored]:
        everyone = np.ones(self.size, bool)
        results = self.run(self.typed.program.entry.name, arguments, everyone, list(shared), 0, None)
        raise_for_faults(self.faults, self.typed.checks, list(self.notes.values()), shared, results)
        return results

    def look(self) -> None:
        assert self.timeline is not None
        self.timeline.add(np.stack(list(self.counts.values()))[:, :3])

    def _no_note(self, check: Check) -> Stored:
        return [tf.zeros([self.size, *leaf.shape], leaf.dtype) for leaf in dynamic(check.values.type)]

    def _tell(self, env: Environment, active: np.ndarray, shared: Sequence[tf.Tensor]) -> None:
        """Takes what a region said of its checks out of its results, and prints."""
        for key in sorted(key for key in env if key.startswith("(print")):
            (shows, *leaves), check = env.pop(key), self.typed.checks[int(key.rstrip(")").split()[-1])]
            for member in (active & shows.numpy()).nonzero()[0].tolist():
                print(f"member {member}: {check.said([leaf[member] for leaf in leaves], shared)}")
        codes = env.pop(FAULT)[0].numpy()
        for k, old in self.notes.items():
            first = active & (codes == k + 1)
            self.notes[k] = [_Mask(first)(new, o) for new, o in zip(env.pop(note(k), old), old, strict=True)]
        self.faults = np.where(active, codes, self.faults)

    def run(
        self,
        name: str,
        arguments: Sequence[Stored],
        members: np.ndarray,
        shared: list[tf.Tensor],
        depth: int,
        call: ir.Call | None,
    ) -> list[Stored]:
        """Runs a function for the ``members`` of the mask; the others' results mean nothing."""
        limit = self.options.max_depth
        if limit is not None and depth > limit:
            raise overflow(
                members,
                f"max_depth={limit}",
                "raise max_depth, or see whether the recursion ends.",
                [call.location] if call else [],
            )
        function = self.functions[name]
        blocks = function.function.blocks
        env = dict(function.zeros)
        env |= zip(function.function.inputs, arguments, strict=True)
        pc, i = np.where(members, 0, len(blocks)), -1
        while (pc < len(blocks)).any():
            # In turn where a number of steps is to tell who never ends; else the earliest.
            first = i + 1 if self.options.max_steps is not None and (pc[pc > i] < len(blocks)).any() else 0
            i = int(pc[pc >= first].min())
            active = pc == i
            self.steps += 1
            if self.timeline is not None:
                self.counts[name, i] = self.counts[name, i] + one_run(int(np.count_nonzero(active)), self.size)
                self.deepest = max(self.deepest, depth)
                if self.steps % self.timeline.stride == 0:
                    self.look()
            if self.options.max_steps is not None and self.steps > self.options.max_steps:
                raise out_of_steps(pc, blocks, self.options.max_steps)
            for step in function.steps[i]:
                if isinstance(step, _RegionStep):
                    env |= step(env, active, shared)
                    if FAULT in env:
                        self._tell(env, active, shared)
                        active = active & (self.faults == 0)
                    continue
                callee = self.functions[step.function]
                passed = [
                    coerce(function.types[a], callee.types[p], env.get(a, []), shared, self.size)
                    for p, a in zip(callee.function.inputs, step.inputs, strict=True)
                ]
                try:
                    results = self.run(step.function, passed, active, shared, depth + 1, step)
                except RecursionError:
                    help = "use the program-counter backend, whose stacks grow, or see whether the recursion ends."
                    raise overflow(active, f"Python's own stack allows ({depth})", help, [step.location]) from None
                for output, result, leaves in zip(step.outputs, callee.function.outputs, results, strict=True):
                    new = coerce(callee.types[result], function.types[output], leaves, shared, self.size)
                    env[output] = [_Mask(active)(n, o) for n, o in zip(new, env[output], strict=True)]
                active = active & (self.faults == 0)
            pc = np.where(self.faults > 0, len(blocks), pc)
            pc = np.where(active, self._next(function, blocks[i].terminator, env, shared), pc)
        return [env[v] for v in function.function.outputs]

    def _next(self, function: _Function, end: ir.Terminator, env: Environment, shared: Sequence[tf.Tensor]) -> Any:
        """Where the members go after a block."""
        match end:
            case ir.Jump(target):
                return target
            case ir.Branch(condition, true, false):
                test = truth_values(function.types[condition], env.get(condition, []), shared, self.size)
                return np.where(test, true, false)
            case _:
                return len(function.function.blocks)


class _Function:
    """A function made ready to run: its blocks as region steps and calls."""

    def __init__(self, function: ir.Function, typed: TypedProgram, size: int, jit_compile: bool):
        self.function, self.types, self.size = function, typed.of(function.name), size
        _, live_end = liveness(function)
        self.steps: list[list[_RegionStep | ir.Call]] = []
        for block, live in zip(function.blocks, live_end, strict=True):
            rest, steps = list(block.ops), []
            for part in regions.regions(block.ops):
                rest = rest[len(part.ops) if isinstance(part, regions.Region) else 1 :]
                if isinstance(part, regions.Region):
                    wanted = live_before(rest, live) & set(part.assigned)
                    steps.append(_RegionStep(part, sorted(wanted), self.types, typed, size, jit_compile))
                else:
                    steps.append(part)
            self.steps.append(steps)

    def line_costs(self, i: int) -> dict[tuple[str, int], float]:
        """Of a block that has run, for each member, by (file, line); what it calls is not counted.

        A region is one graph here: its lines share what it takes.
        """
        found: dict[tuple[str, int], float] = {}
        for step in self.steps[i]:
            if isinstance(step, _RegionStep) and step.traced:
                each = computed(step.traced.graph.get_operations(), self.size) / len(step.places)
                found |= {place: found.get(place, 0) + each for place in step.places}
        return found

    @cached_property
    def zeros(self) -> Environment:
        """What variables hold before they are set."""
        return {
            v: [tf.zeros([self.size, *leaf.shape], leaf.dtype) for leaf in dynamic(type_)]
            for v, type_ in self.types.items()
        }


class _RegionStep:
    """A region as one compiled TensorFlow function of the whole batch."""

    def __init__(
        self,
        region: regions.Region,
        wanted: list[str],
        types: Mapping[str, Type],
        typed: TypedProgram,
        size: int,
        jit_compile: bool,
    ):
        self.inputs, self.wanted = region.inputs, wanted
        self.places = {(op.location.file, op.location.line) for op in region.ops}

        def run(inputs: Environment, old: Environment, active: tf.Tensor, shared: list[tf.Tensor]) -> Environment:
            # Idle members compute on a copy of an active member's data: their own may be stale and raise.
            mask, donor = _Mask(active), tf.argmax(active)
            inputs = {v: [mask(leaf, _row_of(leaf, donor)) for leaf in leaves] for v, leaves in inputs.items()}
            new = run_region(region, inputs, types, wanted, shared, size, typed, donor if jit_compile else None)
            kept = {v: [mask(n, o) for n, o in zip(new[v], old[v], strict=True)] for v in wanted}
            return kept | {key: leaves for key, leaves in new.items() if key not in wanted}

        self._trace = _compiled(run) if jit_compile else functools.partial(GraphFunction, run)
        self.traced: Any = None

    def __call__(self, env: Environment, active: np.ndarray, shared: list[tf.Tensor]) -> Any:
        inputs = {v: env[v] for v in self.inputs if v in env}
        arguments = (inputs, {v: env[v] for v in self.wanted}, tf.constant(active), shared)
        if self.traced is None:
            with context.tracing_lock:
                self.traced = self.traced or self._trace(*arguments)
        return self.traced(*arguments)


def _compiled(function: Callable[..., Any]) -> Callable[..., Any]:
    """What makes of it, for arguments, what XLA compiles."""
    return tf.function(function, autograph=False, jit_compile=True).get_concrete_function


def _row_of(leaf: tf.Tensor, member: tf.Tensor) -> tf.Tensor:
    return tf.raw_ops.GatherV2(params=leaf, indices=member, axis=0)


class _Mask:
    """Chooses by member between leaves of any rank.

    By raw operations, as each variable of each region takes some, and ``tf.where`` looks at arguments besides.
    """

    def __init__(self, active: Any):
        self.of_rank = {1: active}

    def __call__(self, new: tf.Tensor, old: tf.Tensor) -> tf.Tensor:
        rank = new.shape.rank
        if rank not in self.of_rank:
            self.of_rank[rank] = tf.reshape(self.of_rank[1], [-1] + [1] * (rank - 1))
        return tf.raw_ops.SelectV2(condition=self.of_rank[rank], t=new, e=old)
