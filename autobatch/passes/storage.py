"""Where leaves live between blocks: liveness, stacks, and registers that copies share.

A copy of a leaf needs no move if the two share a register.  They may if neither is needed while the other holds
another value: the coalescing of Chaitin 1982 ("Register allocation and spilling via graph coloring"), for as many
registers as it takes.  A block is one step of the machine: it reads registers at its start and writes them at its
end, so only what is live between blocks counts.  ``stack_lowering.py`` says what may need a stack; what its restores
find live here gets one, and the rest a register.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from autobatch import ir
from autobatch.ir.flow import reachable
from autobatch.ir.leaves import Leaf, leaf_type, leaves_of
from autobatch.ir.stored import BlockStorage, StoredProgram
from autobatch.ir.typed import TypedStackProgram


def allocate(
    typed: TypedStackProgram, live_saves: bool = True, temporaries: bool = True, coalescing: bool = True
) -> StoredProgram:
    """Finds what is live, and gives it registers.

    Args:
      live_saves: only what a reader needs is saved; without, all that is pushed.
      temporaries: what one block alone uses does not outlive it; without, it has a register.
      coalescing: copies share a register.
    """
    blocks, stacked = _liveness(typed, live_saves, temporaries)
    outputs = {leaf for v in typed.program.outputs for leaf in leaves_of(v, typed.types)}
    live = outputs.union(*(block.reads | block.end for block in blocks))
    copies = [_copies(block) if coalescing else {} for block in blocks]
    registers = _coalesced(live, _interference(typed, blocks), copies, typed)
    blocks = [replace(b, writes=_writes(b, c, registers)) for b, c in zip(blocks, copies, strict=True)]
    program = replace(
        typed.program,
        stacks=tuple(sorted({v for v, _ in stacked})),
        registers=tuple(sorted({v for v, _ in live})),
    )
    return StoredProgram(replace(typed, program=program), registers, frozenset(stacked), tuple(blocks))


def _liveness(typed: TypedStackProgram, live_saves: bool, temporaries: bool) -> tuple[list[BlockStorage], set[Leaf]]:
    """The blocks, yet without their writes, and the leaves that need stacks."""
    program, types = typed.program, typed.types
    none = frozenset[Leaf]()
    blocks = [BlockStorage(flow, none, (none,) * len(flow), none, none) for flow in typed.flows]
    stacked: set[Leaf] = set()
    calls = [block.terminator for block in program.blocks if isinstance(block.terminator, ir.PushJump)]

    def end(i: int) -> frozenset[Leaf]:
        match program.blocks[i].terminator:
            case ir.Raise():
                return none
            case ir.Return():
                owner = typed.owners[i]
                read = [blocks[t.return_to].reads for t in calls if typed.owners[t.targets[0]] == owner]
                results = frozenset(leaf for v in owner.outputs for leaf in leaves_of(v, types))
                return results if owner == typed.owners[0] else results & frozenset().union(*read)
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
            if not temporaries:
                handed_on |= {leaf for step in blocks[i].steps for leaf in step.sources}
            terminator = program.blocks[i].terminator
            then = terminator.then if isinstance(terminator, ir.PushJump) else terminator
            condition = leaves_of(then.condition, types) if isinstance(then, ir.Branch) else ()
            live = handed_on.union(condition)
            for step in reversed(blocks[i].steps):
                after.append(live)
                stacked |= step.restores & live if live_saves else step.restores
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
