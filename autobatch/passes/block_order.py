"""Numbers the blocks so that costly ones come last.

A machine that runs the earliest block at which a lane waits (paper, section 2) takes the numbering for a priority.
With the costly blocks last, they run only once every live lane waits at one of them, and so with most lanes active.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace

from autobatch import ir
from autobatch.options import OPTIMIZATIONS
from autobatch.passes.costs import block_costs
from autobatch.passes.storage import StoredProgram

COSTLY = 2000  # from where on waiting for more lanes pays


def costly_last(stored: StoredProgram, optimizations: Collection[str] = OPTIMIZATIONS) -> StoredProgram:
    """Moves the costly blocks behind the others, and the epilogue behind all; the first block stays first."""
    typed, blocks, costs = stored.typed, stored.program.blocks, block_costs(stored)
    usual = sorted(costs)[len(costs) // 2]
    late = [i for i, cost in enumerate(costs) if i and cost >= max(COSTLY, 4 * usual) and i != typed.epilogue]
    late = late if "costly_last" in optimizations else []
    last = [] if typed.epilogue is None else [typed.epilogue]
    order = [i for i in range(len(blocks)) if i not in (*late, *last)] + late + last
    to = {old: new for new, old in enumerate(order)}
    program = replace(
        typed.program,
        blocks=tuple(replace(blocks[i], terminator=ir.retargeted(blocks[i].terminator, to)) for i in order),
        labels=tuple((to[i], name) for i, name in typed.program.labels),
    )
    owners, epilogue = tuple(typed.owners[i] for i in order), typed.epilogue and to[typed.epilogue]
    return replace(
        stored,
        typed=replace(typed, program=program, owners=owners, epilogue=epilogue),
        blocks=tuple(stored.blocks[i] for i in order),
        costs=tuple(costs[i] for i in order),
    )
