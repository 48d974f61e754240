"""What a run is seen to do: how often its blocks run, for how many members, and when."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from autobatch import ir

BUCKETS = 10  # runs are told apart by the share of lanes that were active: up to a tenth, two tenths, ...
COUNTS = 3 + BUCKETS  # runs; for how many members in all, and of how many lanes; and runs by the share of active lanes
MOMENTS = 50  # at most twice as many are kept of a run


class Counted(NamedTuple):
    """A block and its ``COUNTS``.

    cost: about what it costs for each lane (see passes/costs.py); line_costs: what of that each line, (file, line),
    computes; goes_on: the line, if any, that was begun in another block, before the call from which this one goes on.
    """

    name: str
    block: ir.Block
    counts: np.ndarray
    cost: float
    line_costs: Mapping[tuple[str, int], float]
    goes_on: tuple[str, int] | None = None


class Measured(NamedTuple):
    """A run that was counted.

    history: [moments, blocks, 3], runs, active members and lanes until then, or None if only the end was looked at;
    depth: of the deepest stack, None without recursion.
    """

    result: Any
    blocks: list[Counted]
    history: np.ndarray | None
    depth: int | None


@dataclass
class Timeline:
    """Counts at moments of a run that are ``stride`` looks apart; when there are many, every second is forgotten."""

    stride: int = 1
    moments: list[np.ndarray] = field(default_factory=list)

    def add(self, counts: np.ndarray) -> None:
        self.moments.append(counts)
        if len(self.moments) == 2 * MOMENTS:
            self.moments, self.stride = self.moments[1::2], 2 * self.stride


def one_run(active: int, lanes: int) -> np.ndarray:
    """The ``COUNTS`` of one run."""
    counts = np.zeros(COUNTS, np.int64)
    counts[:3] = 1, active, lanes
    counts[3 + bucket(active, lanes)] = 1
    return counts


def bucket(active: Any, lanes: int) -> Any:
    """Which share of the lanes is active; works on tensors too."""
    return ((active * BUCKETS + lanes - 1) // max(lanes, 1) - 1) % BUCKETS
