"""What was measured of a run: its blocks, its lines, and their course."""

from __future__ import annotations

import linecache
from dataclasses import dataclass
from typing import Any

import numpy as np


@dataclass(frozen=True)
class BlockProfile:
    """One block of a program.

    name: its number in ``f.lower(...).as_text("stack")``, or its function and its number in ``as_text("ir")``;
    lines: (file, line) of the source, in order; runs: how often it ran, in all parts of the batch; active: for how many
    members in all; lanes: of how many places for them, which cost time whether active or not; spread: of the runs, how
    many had up to a tenth of their lanes active, up to two tenths, ...; cost: its estimated time for one lane, in 0.1
    ns; share: of the whole run's estimated time.
    """

    name: str
    lines: tuple[tuple[str, int], ...]
    runs: int
    active: int
    lanes: int
    spread: tuple[int, ...]
    cost: float
    share: float

    @property
    def utilization(self) -> float:
        """The share of the lanes that were active; 1 if it never ran."""
        return self.active / self.lanes if self.lanes else 1.0

    @property
    def active_each(self) -> float:
        """The mean number of active members."""
        return self.active / self.runs if self.runs else 0.0


@dataclass(frozen=True)
class LineProfile(BlockProfile):
    """One line of the source, which may be part of several blocks: the sums over those in which it begins.

    (What comes after a call in the line is in another block.)  The share is that of what the line computes, in all
    blocks, and an equal part of what they take besides.
    """

    @property
    def place(self) -> tuple[str, int]:
        return self.lines[0]

    @property
    def source(self) -> str:
        """The line's text, without its indentation."""
        return linecache.getline(*self.place).strip()


@dataclass(frozen=True, repr=False)
class Measurement:
    """The figures of a run, as ``Profile`` documents them."""

    function: str
    members: int
    result: Any
    blocks: tuple[BlockProfile, ...]
    lines: tuple[LineProfile, ...]
    history: np.ndarray | None
    depth: int | None

    @property
    def costliest(self) -> BlockProfile:
        """The block on which most work was spent, idle lanes' included."""
        return max(self.blocks, key=lambda block: block.cost * block.lanes)

    @property
    def steps(self) -> int:
        """How many blocks have run, in all parts of the batch."""
        return sum(block.runs for block in self.blocks)

    @property
    def utilization(self) -> float:
        """The share of the estimated time that was spent on active lanes."""
        return sum(block.share * block.utilization for block in self.blocks)
