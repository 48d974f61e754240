"""Tidies a function's blocks: decided branches, empty blocks, chains."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

from autobatch import ir
from autobatch.ir.flow import predecessors, reachable


def decide_branches(function: ir.Function, decisions: Mapping[int, bool]) -> ir.Function:
    """Turns the branches of the given blocks into jumps."""
    blocks = list(function.blocks)
    for i, decision in decisions.items():
        branch = blocks[i].terminator
        assert isinstance(branch, ir.Branch)
        blocks[i] = replace(blocks[i], terminator=ir.Jump(branch.true if decision else branch.false))
    return replace(function, blocks=tuple(blocks))


def simplify(program: ir.Program) -> ir.Program:
    """Skips empty blocks, merges chains, drops unreachable blocks; keeps the order of the rest."""
    return replace(program, functions=tuple(map(simplified, program.functions)))


def simplified(function: ir.Function, stays: Callable[[ir.Block], bool] = lambda block: False) -> ir.Function:
    """The function in which blocks are merged, but for those that are to stay behind what jumps to them."""
    return _renumber(_merge_chains(_skip_empty(function), stays))


def _retarget(terminator: ir.Terminator, to: Mapping[int, int]) -> ir.Terminator:
    match terminator:
        case ir.Jump(target):
            return ir.Jump(to[target])
        case ir.Branch(_, true, false) as branch:
            return replace(branch, true=to[true], false=to[false]) if to[true] != to[false] else ir.Jump(to[true])
        case _:
            return terminator


def _skip_empty(function: ir.Function) -> ir.Function:
    blocks = function.blocks

    def final(i: int) -> int:
        seen = {i}
        while not blocks[i].ops and isinstance(blocks[i].terminator, ir.Jump):
            i = blocks[i].terminator.target
            if i in seen:
                break  # an empty endless loop
            seen.add(i)
        return i

    to = {i: final(i) for i in range(len(blocks))}
    result = []
    for block in blocks:
        terminator = _retarget(block.terminator, to)
        if isinstance(terminator, ir.Jump):
            target = blocks[terminator.target]
            if not target.ops and isinstance(target.terminator, ir.Return):
                terminator = ir.Return()
        result.append(replace(block, terminator=terminator))
    return replace(function, blocks=tuple(result))


def _merge_chains(function: ir.Function, stays: Callable[[ir.Block], bool]) -> ir.Function:
    """Appends a block to the one that jumps to it, if no other does."""
    blocks = list(function.blocks)
    live = reachable(blocks)
    merged = True
    while merged:
        merged = False
        parents = predecessors([b if i in live else ir.Block((), ir.Return()) for i, b in enumerate(blocks)])
        for i in sorted(live):
            end = blocks[i].terminator
            if isinstance(end, ir.Jump) and end.target not in (0, i) and len(parents[end.target]) == 1:
                after = blocks[end.target]
                if stays(after):
                    continue
                blocks[i] = ir.Block((*blocks[i].ops, *after.ops), after.terminator)
                live.discard(end.target)
                merged = True
                break
    return replace(function, blocks=tuple(blocks))


def _renumber(function: ir.Function) -> ir.Function:
    live = sorted(reachable(function.blocks))
    to = {old: new for new, old in enumerate(live)}
    blocks = (function.blocks[i] for i in live)
    return replace(function, blocks=tuple(replace(b, terminator=_retarget(b.terminator, to)) for b in blocks))
