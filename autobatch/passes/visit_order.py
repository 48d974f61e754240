"""In which order the machine asks the blocks whether they are chosen.

It asks all of them in turn, over and over.  A lane that goes on to a block which was asked before has to wait for the
next round; with few lanes the rounds cost as much as the blocks.  So blocks should stand before those that follow them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from autobatch import ir
from autobatch.ir.stored import StoredProgram
from autobatch.ir.typed import TypedStackProgram

SWEEPS = 20  # over all blocks, to better the order; two or three are enough but for odd programs


def in_visit_order(stored: StoredProgram) -> StoredProgram:
    """With an order in which few transitions go back.

    Transitions are guessed: a branch goes either way as often, a return to any call of its function.  Finding the best
    order is NP-hard (the minimum feedback arc set); a block at a time is put where it is best, until none moves.
    """
    flow, count = _flow(stored.typed), len(stored.blocks)
    order = list(range(count))
    for _ in range(SWEEPS):
        before = list(order)
        for block in range(count):
            order.remove(block)
            back = np.concatenate([[0.0], np.cumsum(flow[block, order] - flow[order, block])])
            order.insert(int(np.argmin(np.round(back, 9))), block)
        if order == before:
            break
    return replace(stored, order=tuple(order))


def _flow(typed: TypedStackProgram) -> np.ndarray:
    """How often a lane goes from one block to another, [blocks, blocks], if it begins anew when it is done."""
    blocks = typed.program.blocks
    share = np.zeros([len(blocks), len(blocks)])
    for i in range(len(blocks)):
        following = _following(i, blocks, typed) or [0]
        for j in following:
            share[i, j] += 1 / len(following)
    visits = np.full(len(blocks), 1 / len(blocks))
    for _ in range(100):
        visits = 0.5 * visits + 0.5 * visits @ share  # half a step at a time, so that it settles
    return visits[:, np.newaxis] * share


def _following(i: int, blocks: Sequence[ir.Block], typed: TypedStackProgram) -> list[int]:
    match blocks[i].terminator:
        case ir.PushJump(then):
            return list(ir.successors(then))
        case terminator:
            calls = (b.terminator for b in blocks if isinstance(b.terminator, ir.PushJump))
            back = [c.return_to for c in calls if typed.owners[c.targets[0]] == typed.owners[i]]
            return [*ir.successors(terminator), *(back if ir.may_return(terminator) else [])]
