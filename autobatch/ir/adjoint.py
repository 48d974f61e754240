"""Adjoint programs: what a stored program's blocks record as they run, and what they do to cotangents, backwards."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any

from autobatch.ir.leaves import Leaf, leaf_name
from autobatch.ir.stored import StoredProgram

Source = tuple[str, Any]  # ("leaf", which), ("shared", its number) or ("captured", the id of a tensor from outside)


def has_derivatives(dtype: Any) -> bool:
    """Whether numbers of this dtype have."""
    return dtype.is_floating or dtype.is_complex


@dataclass(frozen=True)
class PartAdjoint:
    """What one part of a block (see ``Step``) does to cotangents.

    outputs: the leaves that it sets and whose cotangents it takes; sources: what it gives cotangents to for them.
    moves: for a Push, which of its outputs is which source.
    stacks: the leaves with a cotangent that it moves between the stacks and the tops.
    computes: the leaves that have to be computed again, for the parts behind it; taped: those that the tape has,
    as they come from stacks.
    pullback: how, of a region (tracing/pullback.py).
    """

    outputs: tuple[Leaf, ...] = ()
    sources: tuple[Source, ...] = ()
    moves: Mapping[Leaf, Source] | None = None
    stacks: tuple[Leaf, ...] = ()
    computes: frozenset[Leaf] = frozenset()
    taped: tuple[Leaf, ...] = ()
    pullback: Any = None


@dataclass(frozen=True)
class BlockAdjoint:
    """What a block records as it runs, and what it does to cotangents.

    reads: the registers that its pullbacks need as they were when it began; written: those that it overwrites.
    records: the registers of which it puts what they held on the tape; records_depth: likewise the depth, where some
    lanes return and some do not; else pushes: how many frames each lane saves, if anyone has to know.
    cotangents: the registers whose cotangents it changes.
    """

    parts: tuple[PartAdjoint, ...]
    reads: frozenset[Leaf]
    written: frozenset[Leaf]
    cotangents: frozenset[Leaf]
    records: tuple[Leaf, ...] = ()
    records_depth: bool = False
    pushes: int = 0

    @property
    def taped(self) -> list[Leaf]:
        """What comes from stacks and is put on the tape."""
        return [leaf for part in self.parts for leaf in part.taped]

    @property
    def stacks(self) -> list[Leaf]:
        return [leaf for part in self.parts for leaf in part.stacks]

    @property
    def sources(self) -> set[Source]:
        return {source for part in self.parts for source in part.sources if source[0] != "leaf"}

    @property
    def is_idle(self) -> bool:
        """Whether there is nothing to do when it is run backwards."""
        knows = self.records or self.records_depth or self.pushes
        return not (knows or self.cotangents or self.stacks or self.sources)


@dataclass(frozen=True)
class AdjointProgram:
    """A stored program, and how it is run backwards.

    inputs, shared, captured: what gets gradients: leaves of the inputs, positions of shared arguments, and tensors
    from outside (by their ids).
    registers, stacks: of the stored program, those that have cotangents.
    """

    stored: StoredProgram
    inputs: frozenset[Leaf]
    shared: frozenset[int]
    captured: Mapping[int, Any]
    registers: frozenset[Leaf]
    stacks: frozenset[Leaf]
    blocks: tuple[BlockAdjoint, ...]

    @property
    def held(self) -> frozenset[Leaf]:
        """The registers that have to be known when it is run backwards."""
        return frozenset().union(*(block.reads for block in self.blocks))

    @property
    def reached(self) -> frozenset[Leaf]:
        """The inputs' leaves that get gradients and on which the results depend."""
        entered = self.inputs & self.stored.blocks[0].reads
        return frozenset(leaf for leaf in entered if self.stored.registers[leaf] in self.registers)

    @property
    def variables(self) -> list[int]:
        """The ids of the handles among what is captured."""
        return [at for at, tensor in self.captured.items() if tensor.dtype == "resource"]

    @property
    def holds_depth(self) -> bool:
        return bool(self.stacks)

    def __str__(self) -> str:
        lines = [
            f"gradients: {_names(self.inputs)}",
            *(f"  shared argument {k}" for k in sorted(self.shared)),
            *([f"  {len(self.captured)} tensors from outside"] if self.captured else []),
            f"cotangents: registers {_names(self.registers)}; stacks {_names(self.stacks)}",
        ]
        for i, block in enumerate(self.blocks):
            depth = ["depth"] if block.records_depth else []
            taped = [*map(leaf_name, block.records), *(f"restored {leaf_name(leaf)}" for leaf in block.taped), *depth]
            pushes = f"; depth {block.pushes:+d}" if block.pushes else ""
            does = "nothing" if block.is_idle else f"records {', '.join(taped) or 'nothing'}{pushes}"
            lines.append(f"block {i}: {does}")
            lines += [f"  {_line(part, k)}" for k, part in reversed([*enumerate(block.parts)]) if _does(part)]
        return "\n".join(lines)


def _does(part: PartAdjoint) -> bool:
    return bool(part.outputs or part.stacks or part.computes)


def _line(part: PartAdjoint, k: int) -> str:
    leaves = [leaf for kind, leaf in part.sources if kind == "leaf"]
    others = [f"{kind} {at}" if kind == "shared" else kind for kind, at in part.sources if kind != "leaf"]
    text = []
    if part.outputs:
        text.append(f"{', '.join(['d ' + leaf_name(leaf) for leaf in leaves] + others)} from {_names(part.outputs)}")
    if part.stacks:
        text.append(f"stacks {_names(part.stacks)}")
    if part.computes:
        text.append(f"again {_names(part.computes)}")
    return f"part {k}: {'; '.join(text)}"


def _names(leaves: Collection[Leaf]) -> str:
    return ", ".join(map(leaf_name, sorted(leaves))) or "none"
