"""What the machine did for a batch: how often each block ran, and how full it was."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from autobatch import ir
from autobatch.api import Autobatched


@dataclass(frozen=True)
class BlockProfile:
    """One block of a program.

    name: its number in ``f.lower(...).as_text("stack")``, or its function and its number in ``as_text("ir")``;
    runs: how often it ran, in all parts of the batch; active: for how many members in all; lanes: of how many places
    for them, which cost time whether active or not; cost: its estimated time for one lane, in 0.1 ns.
    """

    name: str
    lines: tuple[tuple[str, int], ...]  # (file, line) of the source, in order
    runs: int
    active: int
    lanes: int
    cost: float

    @property
    def utilization(self) -> float:
        """The share of the lanes that were active; 1 if it never ran."""
        return self.active / self.lanes if self.lanes else 1.0

    def __str__(self) -> str:
        lines = ", ".join(str(line) for _, line in self.lines)
        return f"{self.name:15} {self.runs:10,} {self.active:14,} {self.utilization:11.1%} {self.cost:12,.0f}  {lines}"


@dataclass(frozen=True)
class Profile:
    """The blocks of a program; on the machine, a last block that runs once for all members is left out."""

    blocks: tuple[BlockProfile, ...]

    @property
    def costliest(self) -> BlockProfile:
        """The block on which most work was spent, idle lanes' included."""
        return max(self.blocks, key=lambda block: block.cost * block.lanes)

    def __str__(self) -> str:
        return "\n".join(
            ["block                 runs        members utilization  cost a lane  lines", *map(str, self.blocks)]
        )


def profile(function: Autobatched, *args: Any, lanes: int | None = None, **kwargs: Any) -> Profile:
    """Runs the batch, on the program-counter machine compiled anew with counters, and says what each block did.

    Args: as for calling ``function``, whose options hold too: the blocks of ``backend="local_static"`` are those of
    ``as_text("ir")``, and of what they call nothing is counted as theirs.  With ``lanes``, as for ``function.map``.
    Printing the result makes a table.

    Raises: what calling the function raises.
    """
    counted = function.lower(*args, **kwargs).count(lanes)
    return Profile(tuple(BlockProfile(c.name, _lines(c.block), *c.counts, cost=c.cost) for c in counted))


def _lines(block: ir.Block) -> tuple[tuple[str, int], ...]:
    places = [op.location for op in block.ops]
    return tuple(sorted({(place.file, place.line) for place in places}))
