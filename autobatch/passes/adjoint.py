"""How a stored program is run backwards: which registers have cotangents, and what of their past has to be known.

A block is a step of the machine's state, from registers and the rows of stacks that it reads to those that it writes;
backwards it takes the cotangents of the latter to those of the former.  Three questions are asked, each until nothing
changes: which parts of the state vary with what gets a gradient; on which the results depend; and which registers hold
what a block further back will need, so that whoever overwrites them records it first ("to be recorded", Hascoët,
Naumann and Pascual, "To be recorded analysis in reverse-mode automatic differentiation", 2005).
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import tensorflow as tf

from autobatch import ir
from autobatch.ir import regions
from autobatch.ir.adjoint import AdjointProgram, BlockAdjoint, PartAdjoint, Source, has_derivatives
from autobatch.ir.leaves import Leaf, Step, leaf_type, leaves_of
from autobatch.ir.stored import StoredProgram
from autobatch.ir.types import Shared, Tensor, Weak, leaves, opaque
from autobatch.tracing import pullback
from autobatch.tracing.member import Traced, traced


def adjoint(
    stored: StoredProgram, inputs: Collection[Leaf], shared: Collection[int], captured: Mapping[int, Any]
) -> AdjointProgram:
    """For gradients of the results with respect to these: see ``AdjointProgram``.

    Raises GradientError where an operation between them has no derivative.
    """
    wanted = {*(("shared", k) for k in shared), *(("captured", k) for k in captured)}
    return _Analysis(stored, frozenset(inputs), wanted).program(frozenset(shared), captured)


def captures(stored: StoredProgram, only_variables: bool = False) -> dict[int, tf.Tensor]:
    """What the program's code reads from outside: tensors and the handles of variables, by their ids."""
    found: dict[int, tf.Tensor] = {}
    for trace in stored.typed.traces.values():
        found |= pullback.captured(trace)
    variables = pullback.variables(stored.typed.traces.values())
    return {at: tensor for at, tensor in found.items() if at in variables or not only_variables}


@dataclass(frozen=True, eq=False)
class _Part:
    """A part of a block, and what of it is alive behind it."""

    part: regions.Region | ir.Op
    step: Step
    live: frozenset[Leaf]
    stored: StoredProgram

    @property
    def assigned(self) -> set[Leaf]:
        return set(self.step.sources)

    @cached_property
    def trace(self) -> Traced | None:
        typed = self.stored.typed
        if not isinstance(self.part, regions.Region) or self.part.kind == "write":
            return None
        return traced(self.part, typed.types, typed.shared, typed.traces)

    @cached_property
    def tensors(self) -> dict[Leaf, tf.Tensor]:
        """Of one member, what a region assigns."""
        assert isinstance(self.part, regions.Region)
        assert self.trace is not None
        types, trace = self.stored.types, self.trace
        known = {v for v, _ in self.assigned & self.live if not opaque(types[v]) and trace.still_is(v, types)}
        found = {(v, k): leaf for v in sorted(known) for k, leaf in enumerate(trace.stored(v, types))}
        return {leaf: tensor for leaf, tensor in found.items() if leaf in self.live}

    @cached_property
    def origins(self) -> Mapping[Leaf, frozenset[Source]]:
        """For each leaf that it sets to something that is alive, what a derivative of it could be taken by."""
        match self.part:
            case regions.Region(kind="write"):
                array, _, what = self.part.ops[0].inputs
                leaves = sorted(leaf for leaf in self.assigned & self.live if self.is_float(leaf))
                return {(v, k): frozenset({("leaf", (array, k)), ("leaf", (what, k))}) for v, k in leaves}
            case regions.Region():
                assert self.trace is not None
                return pullback.float_origins(self.trace, self.tensors)
            case ir.Push():
                return {leaf: frozenset({source}) for leaf, source in self.moves.items()}
            case _:
                return {}

    @cached_property
    def moves(self) -> dict[Leaf, Source]:
        """Of a Push, which float becomes which."""
        assert isinstance(self.part, ir.Push)
        (target,), (source,), types = self.part.outputs, self.part.inputs, self.stored.types
        olds, news, found = iter(leaves_of(source, types)), iter(leaves_of(target, types)), {}
        for have, want in zip(leaves(types[source]), leaves(types[target]), strict=True):
            old: Source | None = None
            if isinstance(have, Tensor | Weak):
                old = "leaf", next(olds)
            elif isinstance(have, Shared):
                old = "shared", have.index
            new = next(news) if isinstance(want, Tensor | Weak) else None
            if old and new and self.is_float(new):
                found[new] = old
        return found

    @property
    def saved(self) -> set[Leaf]:
        return set(self.step.saves & self.stored.stacked)

    @property
    def restored(self) -> set[Leaf]:
        return set(self.step.restores & self.stored.stacked & self.live)

    def is_float(self, leaf: Leaf) -> bool:
        return has_derivatives(leaf_type(leaf, self.stored.types).dtype)

    def varied(self, before: set[Leaf], stacks: set[Leaf], wanted: Collection[Source]) -> set[Leaf]:
        """The leaves that vary behind it, of those before it and the stacks, which it adds to."""
        stacks |= self.saved & before
        made = {leaf for leaf, sources in self.origins.items() if _any_in(sources, before, wanted)}
        return (before - self.assigned) | made | (self.restored & stacks)

    def useful(self, behind: set[Leaf], stacks: set[Leaf]) -> set[Leaf]:
        """The leaves that matter before it, of those behind it and the stacks, which it adds to."""
        stacks |= self.restored & behind
        read = {leaf for new in self.assigned & behind for kind, leaf in self.origins.get(new, ()) if kind == "leaf"}
        return (behind - self.assigned) | read | (self.saved & stacks)  # type: ignore[return-value]


def _any_in(sources: Collection[Source], leaves: set[Leaf], others: Collection[Source]) -> bool:
    return any(at in leaves if kind == "leaf" else (kind, at) in others for kind, at in sources)


class _Analysis:
    def __init__(self, stored: StoredProgram, inputs: frozenset[Leaf], wanted: set[Source]):
        self.stored, self.inputs, self.wanted = stored, inputs, wanted
        program = stored.program
        self.parts = [
            [
                _Part(part, step, live, stored)
                for part, step, live in zip(regions.regions(block.ops), storage.steps, storage.after, strict=True)
            ]
            for block, storage in zip(program.blocks, stored.blocks, strict=True)
        ]
        self.varied, self.varied_stacks = self._varied()
        self.useful, self.useful_stacks = self._useful()

    def register(self, leaf: Leaf) -> Leaf:
        return self.stored.registers[leaf]

    def results(self) -> set[Leaf]:
        return {leaf for v in self.stored.program.outputs for leaf in leaves_of(v, self.stored.types)}

    def _varied(self) -> tuple[set[Leaf], set[Leaf]]:
        """The registers and stacks that depend on what gets a gradient."""
        entered = self.inputs & self.stored.blocks[0].reads
        registers, stacks = {self.register(leaf) for leaf in entered}, set[Leaf]()
        while True:
            before = len(registers), len(stacks)
            for i, storage in enumerate(self.stored.blocks):
                (*_, at) = self.varied_in(i, registers, stacks)
                registers |= {self.register(leaf) for leaf in storage.writes & at}
            if (len(registers), len(stacks)) == before:
                return registers, stacks

    def varied_in(self, i: int, registers: set[Leaf], stacks: set[Leaf]) -> Iterator[set[Leaf]]:
        """The leaves that vary before each part of block ``i``, and behind the last."""
        at = {leaf for leaf in self.stored.blocks[i].reads if self.register(leaf) in registers}
        yield at
        for part in self.parts[i]:
            at = part.varied(at, stacks, self.wanted)
            yield at

    def _useful(self) -> tuple[set[Leaf], set[Leaf]]:
        """The registers and stacks that the results depend on."""
        stacks: set[Leaf] = set()
        registers: set[Leaf] = set()
        if self.stored.typed.epilogue is None:
            registers = {self.register(leaf) for leaf in self.results() if self._is_float(leaf)}
        while True:
            before = len(registers), len(stacks)
            for i in range(len(self.stored.blocks)):
                (*_, at) = self.useful_in(i, registers, stacks)
                registers |= {self.register(leaf) for leaf in at}
            if (len(registers), len(stacks)) == before:
                return registers, stacks

    def useful_in(self, i: int, registers: set[Leaf], stacks: set[Leaf]) -> Iterator[set[Leaf]]:
        """The leaves that matter behind each part of block ``i``, from the last, and before the first."""
        at = {leaf for register, leaf in self.stored.put(i).items() if register in registers}
        if i == self.stored.typed.epilogue:
            at |= {leaf for leaf in self.results() if self._is_float(leaf)}
        yield at
        for part in reversed(self.parts[i]):
            at = part.useful(at, stacks)
            yield at

    def _is_float(self, leaf: Leaf) -> bool:
        return has_derivatives(leaf_type(leaf, self.stored.types).dtype)

    def program(self, shared: frozenset[int], captured: Mapping[int, Any]) -> AdjointProgram:
        registers = frozenset(self.varied & self.useful)
        stacks = frozenset(self.varied_stacks & self.useful_stacks)
        blocks = [self.block(i, registers, stacks) for i in range(len(self.parts))]
        return AdjointProgram(
            self.stored,
            self.inputs,
            shared,
            captured,
            registers,
            stacks,
            tuple(self._recording(blocks, depth=bool(stacks))),
        )

    def block(self, i: int, registers: frozenset[Leaf], stacks: frozenset[Leaf]) -> BlockAdjoint:
        """Without what it records."""
        storage = self.stored.blocks[i]
        varied = list(self.varied_in(i, set(registers), set(stacks)))
        useful = [*self.useful_in(i, set(registers), set(stacks))][::-1]
        parts: list[PartAdjoint] = []
        needed: set[Leaf] = set()  # behind the part, of pullbacks further on
        for k in reversed(range(len(self.parts[i]))):
            part = self.parts[i][k]
            made = self.part(part, varied[k], varied[k + 1] & useful[k + 1], stacks, needed)
            needed = (needed - part.assigned).union(
                *(part.step.sources[leaf] for leaf in made.computes),
                made.pullback.needs if made.pullback else (),
                self._where(part) if made.outputs else (),
            )
            parts.append(made)
        written = frozenset(self.stored.put(i))
        given = {leaf for part in parts for kind, leaf in part.sources if kind == "leaf"}
        given |= {leaf for part in self.parts[i] for leaf in part.saved & stacks}
        given = {self.register(leaf) for leaf in given & storage.reads}
        return BlockAdjoint(
            tuple(reversed(parts)),
            frozenset(map(self.register, needed)),
            written,
            (written | given) & registers,
        )  # fmt: skip

    def part(
        self, part: _Part, varied: set[Leaf], active: set[Leaf], stacks: frozenset[Leaf], needed: set[Leaf]
    ) -> PartAdjoint:
        moved = tuple(sorted((part.saved | part.restored) & stacks))
        again = part.assigned & needed
        if isinstance(part.part, ir.Pop):
            return PartAdjoint(stacks=moved, taped=tuple(sorted(again & part.restored)))
        outputs = tuple(sorted(leaf for leaf in part.assigned & active if part.origins.get(leaf)))
        sources = {source for leaf in outputs for source in part.origins[leaf]}
        sources = {
            (kind, at) for kind, at in sources if (at in varied if kind == "leaf" else (kind, at) in self.wanted)
        }
        made = PartAdjoint(outputs, tuple(sorted(sources)), None, moved, frozenset(again))
        if isinstance(part.part, ir.Push):
            return replace(made, moves={leaf: part.moves[leaf] for leaf in outputs})
        if part.trace is None or not outputs:
            return made
        assert isinstance(part.part, regions.Region)
        tensors = {leaf: part.tensors[leaf] for leaf in outputs}
        return replace(made, pullback=pullback.pullback(part.trace, tensors, made.sources, part.part.ops[0].location))

    def _where(self, part: _Part) -> list[Leaf]:
        """Of a write, the leaves of its place."""
        if isinstance(part.part, regions.Region) and part.part.kind == "write":
            return leaves_of(part.part.ops[0].inputs[1], self.stored.types)
        return []

    def _recording(self, blocks: Sequence[BlockAdjoint], depth: bool) -> Iterator[BlockAdjoint]:
        """The blocks with what they record: what they overwrite of what a pullback, theirs or an earlier one, needs."""
        after = [self.stored.typed.next_blocks(i) for i in range(len(blocks))]
        before: list[set[Leaf]] = [set() for _ in blocks]
        changed = True
        while changed:
            changed = False
            for i, block in enumerate(blocks):
                kept = (before[i] | block.reads) - block.written
                for j in after[i]:
                    changed |= not kept <= before[j]
                    before[j] |= kept
        for i, block in enumerate(blocks):
            records = tuple(sorted((before[i] | block.reads) & block.written))
            terminator = self.stored.program.blocks[i].terminator
            pushes = _pushes(terminator) if depth else 0
            yield replace(block, records=records, records_depth=pushes is None, pushes=pushes or 0)


def _pushes(terminator: ir.Terminator) -> int | None:
    """How many frames a lane saves there; None if that depends on where it goes."""
    if isinstance(terminator, ir.PushJump):
        return 1
    if isinstance(terminator, ir.Return):
        return -1
    return None if ir.may_return(terminator) else 0
