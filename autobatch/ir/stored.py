"""Stored programs: a typed stack program, and where the leaves of its variables live."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from autobatch import ir
from autobatch.ir.leaves import Leaf, Step
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
    order: tuple[int, ...] = ()  # in which the machine asks the blocks whether they are chosen; see visit_order.py

    @property
    def program(self) -> ir.StackProgram:
        return self.typed.program

    @property
    def types(self) -> Mapping[str, Type]:
        return self.typed.types

    def with_blocks(self, order: Sequence[int]) -> StoredProgram:
        """The program with these of its blocks, in this order."""
        return replace(
            self,
            typed=self.typed.with_blocks(order),
            blocks=tuple(self.blocks[i] for i in order),
            costs=tuple(self.costs[i] for i in order) if self.costs else (),
        )
