"""Dataflow over a function's blocks: reachability, liveness, reaching definitions."""

from __future__ import annotations

from collections.abc import Sequence

from autobatch import ir


def reachable(blocks: Sequence[ir.Block], start: int = 0) -> set[int]:
    """The blocks that control can reach, calls included, before a call that begins at ``start`` returns."""
    seen: set[int] = set()
    pending = [start]
    while pending:
        i = pending.pop()
        if i not in seen:
            seen.add(i)
            end = blocks[i].terminator
            pending += [*ir.successors(end), *(end.targets if isinstance(end, ir.PushJump) else ())]
    return seen


def predecessors(blocks: Sequence[ir.Block]) -> list[list[int]]:
    result: list[list[int]] = [[] for _ in blocks]
    for i, block in enumerate(blocks):
        for j in ir.successors(block.terminator):
            result[j].append(i)
    return result


def live_before(ops: Sequence[ir.Op], live_after: frozenset[str]) -> frozenset[str]:
    live = set(live_after)
    for op in reversed(ops):
        live -= set(ir.writes(op))
        live |= set(ir.reads(op))
    return frozenset(live)


def _terminator_reads(terminator: ir.Terminator, outputs: Sequence[str]) -> set[str]:
    match terminator:
        case ir.Branch(condition):
            return {condition}
        case ir.Return():
            return set(outputs)
        case _:
            return set()


def liveness(function: ir.Function) -> tuple[list[frozenset[str]], list[frozenset[str]]]:
    """The variables live at the start of each block, and before its terminator."""
    blocks = function.blocks
    live_in = [frozenset[str]()] * len(blocks)
    live_end = [frozenset[str]()] * len(blocks)
    changed = True
    while changed:
        changed = False
        for i in reversed(range(len(blocks))):
            after = _terminator_reads(blocks[i].terminator, function.outputs)
            live_end[i] = frozenset(after).union(*(live_in[j] for j in ir.successors(blocks[i].terminator)))
            before = live_before(blocks[i].ops, live_end[i])
            changed |= before != live_in[i]
            live_in[i] = before
    return live_in, live_end


Definition = tuple[int, int]  # block and operation; operation -1 of block 0 for inputs and for "unset"


def reaching(function: ir.Function) -> list[dict[str, frozenset[Definition]]]:
    """For each block, the definitions of each variable that may reach its start.

    The definition (0, -1) stands for the input of that name, or for "not set yet".
    """
    blocks = function.blocks
    variables = {v for block in blocks for op in block.ops for v in (*ir.reads(op), *ir.writes(op))}
    variables |= {*function.inputs, *function.outputs}
    variables |= {block.terminator.condition for block in blocks if isinstance(block.terminator, ir.Branch)}
    unset = {v: frozenset({(0, -1)}) for v in variables}
    written = [
        {v: frozenset({(i, k)}) for k, op in enumerate(block.ops) for v in ir.writes(op)}
        for i, block in enumerate(blocks)
    ]
    parents = predecessors(blocks)
    before: list[dict[str, frozenset[Definition]]] = [{} for _ in blocks]
    after: list[dict[str, frozenset[Definition]]] = [{} for _ in blocks]
    live = sorted(reachable(blocks))
    changed = True
    while changed:
        changed = False
        for i in live:
            incoming = [after[p] for p in parents[i]]
            before[i] = _merged([unset, *incoming] if i == 0 else incoming)
            out = before[i] | written[i]
            changed |= out != after[i]
            after[i] = out
    return before


def _merged(parts: Sequence[dict[str, frozenset[Definition]]]) -> dict[str, frozenset[Definition]]:
    """The union at each variable; most of them are the same in all parts."""
    result = dict(parts[0]) if parts else {}
    for part in parts[1:]:
        for v, definitions in part.items():
            known = result.get(v)
            if known is not definitions:
                result[v] = definitions if known is None or known <= definitions else known | definitions
    return result
