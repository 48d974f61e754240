"""Numbers the blocks so that costly ones come last.

A machine that runs the earliest block at which a lane waits (paper, section 2) takes the numbering for a priority.
With the costly blocks last, they run only once every live lane waits at one of them, and so with most lanes active.
"""

from __future__ import annotations

from collections.abc import Collection

from autobatch.ir.stored import StoredProgram

COSTLY = 2000  # from where on waiting for more lanes pays


def epilogue_last(stored: StoredProgram) -> StoredProgram:
    """Moves the epilogue behind all other blocks."""
    return stored if stored.typed.epilogue is None else _behind(stored, [stored.typed.epilogue])


def costly_last(stored: StoredProgram) -> StoredProgram:
    """Moves the costly blocks behind the others, but not behind the epilogue; the first block stays first."""
    costs, epilogue = stored.costs, stored.typed.epilogue
    usual = sorted(costs)[len(costs) // 2]
    late = [i for i, cost in enumerate(costs) if i and cost >= max(COSTLY, 4 * usual) and i != epilogue]
    return _behind(stored, [*late, *([] if epilogue is None else [epilogue])])


def _behind(stored: StoredProgram, last: Collection[int]) -> StoredProgram:
    return stored.with_blocks([*(i for i in range(len(stored.blocks)) if i not in last), *last])
