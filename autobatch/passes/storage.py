"""Where leaves live between blocks: liveness, stacks, and registers that copies share.

A copy of a leaf needs no move if the two share a register.  They may if neither is needed while the other holds
another value: the coalescing of Chaitin 1982 ("Register allocation and spilling via graph coloring"), for as many
registers as it takes.  A block is one step of the machine: it reads registers at its start and writes them at its
end, so only what is live between blocks counts.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from autobatch import ir
from autobatch.options import OPTIMIZATIONS
from autobatch.passes.flow import reachable
from autobatch.passes.leaf_flow import Leaf, Step, leaf_type, leaves_of, steps
from autobatch.passes.stack_lowering import TypedStackProgram
from autobatch.types import Type


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


def allocate(typed: TypedStackProgram, optimizations: Collection[str] = OPTIMIZATIONS) -> StoredProgram:
    """Finds what is live, and gives it registers."""
    flows = [steps(block, typed.types, typed.shared) for block in typed.program.blocks]
    blocks, stacked = _liveness(typed, flows, optimizations)
    outputs = {leaf for v in typed.program.outputs for leaf in leaves_of(v, typed.types)}
    live = outputs.union(*(block.reads | block.end for block in blocks))
    copies = [_copies(block) if "coalescing" in optimizations else {} for block in blocks]
    registers = _coalesced(live, _interference(typed, blocks), copies, typed)
    blocks = [replace(b, writes=_writes(b, c, registers)) for b, c in zip(blocks, copies, strict=True)]
    program = replace(
        typed.program,
        stacks=tuple(sorted({v for v, _ in stacked})),
        registers=tuple(sorted({v for v, _ in live})),
    )
    return StoredProgram(replace(typed, program=program), registers, frozenset(stacked), tuple(blocks))


def _liveness(
    typed: TypedStackProgram, flows: Sequence[tuple[Step, ...]], optimizations: Collection[str]
) -> tuple[list[BlockStorage], set[Leaf]]:
    """The blocks, yet without their writes, and the leaves that need stacks."""
    program, types = typed.program, typed.types
    none = frozenset[Leaf]()
    blocks = [BlockStorage(flow, none, (none,) * len(flow), none, none) for flow in flows]
    stacked: set[Leaf] = set()
    calls = [block.terminator for block in program.blocks if isinstance(block.terminator, ir.PushJump)]

    def end(i: int) -> frozenset[Leaf]:
        match program.blocks[i].terminator:
            case ir.Return():
                owner = typed.owners[i]
                read = [blocks[t.return_to].reads for t in calls if typed.owners[t.targets[0]] is owner]
                results = frozenset(leaf for v in owner.outputs for leaf in leaves_of(v, types))
                return results if owner is typed.owners[0] else results & frozenset().union(*read)
            case ir.PushJump(then, return_to) as call:
                results = {leaf for v in typed.owners[call.targets[0]].outputs for leaf in leaves_of(v, types)}
                return before(then) | (blocks[return_to].reads - results)
            case ir.Jump() | ir.Branch() as then:
                return before(then)

    def before(then: ir.Jump | ir.Branch) -> frozenset[Leaf]:
        return frozenset().union(*(blocks[i].reads for i in ir.successors(then)))

    changed = True
    while changed:
        changed = False
        for i in reversed(range(len(blocks))):
            handed_on, after, count = end(i), [], len(stacked)
            if "temporaries" not in optimizations:
                handed_on |= {leaf for step in blocks[i].steps for leaf in step.sources}
            terminator = program.blocks[i].terminator
            then = terminator.then if isinstance(terminator, ir.PushJump) else terminator
            condition = leaves_of(then.condition, types) if isinstance(then, ir.Branch) else ()
            live = handed_on.union(condition)
            for step in reversed(blocks[i].steps):
                after.append(live)
                stacked |= step.restores & live if "live_saves" in optimizations else step.restores
                read = [sources for leaf, sources in step.sources.items() if leaf in live]
                live = (live - set(step.sources)).union(step.needs, step.saves & stacked, *read)
            block = replace(blocks[i], reads=live, after=tuple(reversed(after)), end=handed_on)
            changed |= block != blocks[i] or count != len(stacked)
            blocks[i] = block
    return blocks, stacked


def _copies(block: BlockStorage) -> dict[Leaf, Leaf]:
    """The leaves that hold at the block's end what another (or the same) held at its start."""
    held = {leaf: leaf for leaf in block.reads}
    set_here: set[Leaf] = set()
    for step in block.steps:
        new = {leaf: held[old] for leaf, old in step.copies.items() if old in held}
        for leaf in step.sources:
            held.pop(leaf, None)
        held |= new
        set_here |= set(step.sources)
    return {leaf: old for leaf, old in held.items() if leaf in set_here and leaf in block.end}


def _writes(block: BlockStorage, copies: Mapping[Leaf, Leaf], registers: Mapping[Leaf, Leaf]) -> frozenset[Leaf]:
    set_here = {leaf for step in block.steps for leaf in step.sources}
    there_already = {leaf for leaf, old in copies.items() if registers[leaf] == registers[old]}
    return frozenset((set_here & block.end) - there_already)


class _Interference:
    """For each leaf those that may not share its register: bit sets, as programs can have thousands of leaves."""

    def __init__(self) -> None:
        self.bits: dict[Leaf, int] = {}
        self.found: dict[Leaf, int] = {}

    def mask(self, leaves: Iterable[Leaf]) -> int:
        return sum(self.bits.setdefault(leaf, 1 << len(self.bits)) for leaf in set(leaves))

    def between(self, ones: Iterable[Leaf], others: Iterable[Leaf]) -> None:
        ones, others = set(ones), set(others)
        for these, those in ((ones, self.mask(others)), (others, self.mask(ones))):
            for leaf in these:
                self.found[leaf] = self.found.get(leaf, 0) | those


def _interference(typed: TypedStackProgram, blocks: Sequence[BlockStorage]) -> _Interference:
    program, result = typed.program, _Interference()
    for leaves in {block.reads for block in blocks} | {block.end for block in blocks}:
        result.between(leaves, leaves)
    across: dict[int, set[Leaf]] = {}  # by where the callee begins: what is needed after a call, and not on a stack
    for block in program.blocks:
        if isinstance(block.terminator, ir.PushJump):
            for target in block.terminator.targets:
                results = {leaf for v in typed.owners[target].outputs for leaf in leaves_of(v, typed.types)}
                across.setdefault(target, set()).update(blocks[block.terminator.return_to].reads - results)
    for target, needed in across.items():
        result.between(needed, set().union(*(blocks[i].end for i in reachable(program.blocks, target))))
    return result


def _coalesced(
    live: Iterable[Leaf], interference: _Interference, copies: Iterable[Mapping[Leaf, Leaf]], typed: TypedStackProgram
) -> dict[Leaf, Leaf]:
    """A register for each live leaf; copies share it where they may, large ones first."""
    registers = {leaf: leaf for leaf in sorted(live)}
    members = {leaf: [leaf] for leaf in registers}
    apart = {leaf: interference.found.get(leaf, 0) for leaf in registers}
    pairs = {tuple(sorted(pair)) for block in copies for pair in block.items()}
    for one, other in sorted(pairs, key=lambda pair: (-math.prod(leaf_type(pair[0], typed.types).shape), pair)):
        a, b = registers[one], registers[other]
        if a != b and not apart[a] & interference.mask(members[b]):
            members[a] += members.pop(b)
            apart[a] |= apart[b]
            registers |= dict.fromkeys(members[a], a)
    return registers
