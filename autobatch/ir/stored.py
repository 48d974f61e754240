"""Stored programs: a typed stack program, and where the leaves of its variables live."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from autobatch import errors, ir
from autobatch.ir.leaves import Leaf, Step, leaf_name
from autobatch.ir.typed import TypedStackProgram
from autobatch.ir.types import Type


@dataclass(frozen=True)
class BlockStorage:
    """What a block does to registers, and what its parts (``steps``) do to leaves.

    reads: the leaves live at its start; after: those live after each of its parts; end: those that later blocks may
    read; writes: those that it puts into their registers.
    """

    steps: tuple[Step, ...]
    reads: frozenset[Leaf]
    after: tuple[frozenset[Leaf], ...]
    end: frozenset[Leaf]
    writes: frozenset[Leaf]


@dataclass(frozen=True)
class StoredProgram:
    """A stack-language program, and where each leaf lives.

    registers: for each leaf that lives from one block to another, the leaf that its register is named for;
    stacked: the leaves that some Pop restores for a reader; blocks: one for each block of the program.
    """

    typed: TypedStackProgram
    registers: Mapping[Leaf, Leaf]
    stacked: frozenset[Leaf]
    blocks: tuple[BlockStorage, ...]
    costs: tuple[float, ...] = ()  # about what each block costs for each lane; see costs.py
    products: tuple[int, ...] = ()  # of matrices, in each block
    smallest_product: tuple[float, float] = (math.inf, math.inf)  # of one lane alone, and beside others
    order: tuple[int, ...] = ()  # in which the machine asks the blocks whether they are chosen; see visit_order.py

    def __str__(self) -> str:
        shared = [f"  {leaf_name(leaf)} in {leaf_name(r)}" for leaf, r in sorted(self.registers.items()) if leaf != r]
        lines = [str(self.typed), "shared registers:", *shared, "storage:"]
        for i, block in enumerate(self.blocks):
            reads, writes = (
                ", ".join(map(leaf_name, sorted(leaves))) or "nothing" for leaves in (block.reads, block.writes)
            )
            cost = f", costs {self.costs[i]:g}" if self.costs else ""
            lines.append(f"  block {i}: reads {reads}; writes {writes}{cost}")
        return "\n".join([*lines, *([f"visited: {' '.join(map(str, self.order))}"] if self.order else [])])

    @property
    def program(self) -> ir.StackProgram:
        return self.typed.program

    @property
    def types(self) -> Mapping[str, Type]:
        return self.typed.types

    @property
    def has_calls(self) -> bool:
        """Whether its stacks may be too small."""
        return any(isinstance(block.terminator, ir.PushJump) for block in self.program.blocks)

    @property
    def fills_lists(self) -> bool:
        """Whether its lists may be too short."""
        return any(check.error is errors.ListFullError for check in self.typed.checks)

    def put(self, i: int) -> dict[Leaf, Leaf]:
        """For each register that block ``i`` writes the leaf that it gets."""
        return {self.registers[leaf]: leaf for leaf in sorted(self.blocks[i].writes)}

    def with_blocks(self, order: Sequence[int]) -> StoredProgram:
        """The program with these of its blocks, in this order."""
        return replace(
            self,
            typed=self.typed.with_blocks(order),
            blocks=tuple(self.blocks[i] for i in order),
            costs=tuple(self.costs[i] for i in order) if self.costs else (),
            products=tuple(self.products[i] for i in order) if self.products else (),
        )
