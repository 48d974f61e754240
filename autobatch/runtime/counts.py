"""How often blocks have run, and for how many members."""

from __future__ import annotations

from typing import NamedTuple

from autobatch import ir

COUNTS = ("runs", "active", "lanes")  # how often a block has run; for how many members in all, and of how many


class Counted(NamedTuple):
    """A block, its ``COUNTS``, and about what it costs for each lane (see passes/costs.py)."""

    name: str
    block: ir.Block
    counts: list[int]
    cost: float
