"""What the machine did for a batch: how often each block and each line ran, and how full they were."""

from __future__ import annotations

import io
import os
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from rich.console import Console, RenderableType

from autobatch import errors
from autobatch.api import Autobatched
from autobatch.machine.counts import Counted
from autobatch.passes.costs import FIXED
from autobatch.profiling import advice, page, picture, table
from autobatch.profiling.measurement import BlockProfile, LineProfile, Measurement
from autobatch.stages import Lowered
from autobatch.tracebacks import shortened

WIDTH = 120  # columns of the table as text


@dataclass(frozen=True, repr=False)
class Profile(Measurement):
    """What a run did.

    function: its name; members: of the batch; result: what a call returns.
    blocks: of the program; on the machine, a last block that runs once for all members is left out.
    lines: of the source.
    history: [moments, blocks, 3] int64, runs, active members and lanes until then, at up to 512 moments of the run;
      None with ``lanes=``.
    depth: of the deepest stack; None without recursion.
    """

    _lowered: Lowered = field(compare=False)

    @cached_property
    def advice(self) -> str | None:
        """What wastes most, and what may help; None if no line wastes much."""
        return advice.advice(self)

    def table(self) -> RenderableType:
        """Lines and blocks as rich's tables; what ``print(profile)`` prints, and a notebook shows."""
        return table.table(self)

    def plot(self, path: str | os.PathLike) -> None:
        """Draws how full the machine was in the course of the run, and each block's part in it (a PNG, PDF or SVG)."""
        picture.plot(self, path)

    def to_html(self, path: str | os.PathLike, lanes: int = 32, steps: int = 2000) -> None:
        """Writes a page on which the run can be watched step by step: one file, to be opened in any browser.

        Args:
          path: the file.
          lanes: how many members, the first ones, are run again for it, on one machine, one block at a time.
          steps: how many blocks of that run are shown.

        Raises SettingError unless both are at least 1.
        """
        if min(lanes, steps) < 1:
            raise errors.SettingError(f"lanes and steps must be at least 1, not {lanes!r} and {steps!r}.")
        page.write(self._lowered.record(lanes, steps), self, path)

    def __rich__(self) -> RenderableType:
        return self.table()

    def __str__(self) -> str:
        console = Console(file=io.StringIO(), width=WIDTH, color_system=None)
        console.print(self.table())
        assert isinstance(console.file, io.StringIO)
        return "\n".join(line.rstrip() for line in console.file.getvalue().splitlines())

    __repr__ = __str__

    def _repr_html_(self) -> str:
        console = Console(file=io.StringIO(), width=WIDTH, record=True, force_jupyter=False, highlight=False)
        console.print(self.table())
        return console.export_html(inline_styles=True, code_format="<pre>{code}</pre>")


@shortened
def profile(function: Autobatched, *args: Any, lanes: int | None = None, **kwargs: Any) -> Profile:
    """Runs the batch, on the program-counter machine compiled anew with counters, and says what each block did.

        profile = ab.profile(f, x)
        print(profile)
        profile.plot("f.png")
        profile.to_html("f.html")

    The run takes longer than a call does, as the machine is stopped and looked at again and again; what it counts is
    what a first call does, before smaller machines for the last members are worth compiling.

    Args: as for calling ``function``, whose options hold too: the blocks of ``backend="local_static"`` are those of
    ``as_text("ir")``, and of what they call nothing is counted as theirs.  With ``lanes``, as for ``function.map``.

    Raises: what calling the function raises.
    """
    if not isinstance(function, Autobatched):
        raise errors.SettingError(f"ab.profile is for autobatched functions, not {function!r}.", help="@ab.autobatch")
    lowered = function.lower(*args, **kwargs)
    measured = lowered.count(lanes)
    total = sum(map(_time, measured.blocks)) or 1.0
    blocks = tuple(
        BlockProfile(c.name, tuple(sorted(c.line_costs)), *_numbers([c]), cost=c.cost, share=_time(c) / total)
        for c in measured.blocks
    )
    lines = tuple(_line(place, measured.blocks, total) for place in sorted(set().union(*(b.lines for b in blocks))))
    name = function.__qualname__
    return Profile(name, lowered.size, measured.result, blocks, lines, measured.history, measured.depth, lowered)


def _line(place: tuple[str, int], blocks: Iterable[Counted], total: float) -> LineProfile:
    mine = [block for block in blocks if place in block.line_costs]
    share = sum(_part(place, block) * _time(block) for block in mine) / total
    cost = max(block.line_costs[place] for block in mine)
    begun = [block for block in mine if block.goes_on != place] or mine
    return LineProfile(f"line {place[1]}", (place,), *_numbers(begun), cost=cost, share=share)


def _numbers(blocks: list[Counted]) -> tuple[int, int, int, tuple[int, ...]]:
    runs, active, lanes, *spread = np.sum([block.counts for block in blocks], axis=0).tolist()
    return runs, active, lanes, tuple(spread)


def _time(block: Counted) -> float:
    runs, _, lanes, *_ = block.counts.tolist()
    return runs * FIXED + lanes * block.cost


def _part(place: tuple[str, int], block: Counted) -> float:
    """Of the block's time, that which goes to the line."""
    lanes = int(block.counts[2])
    rest = (_time(block) - lanes * sum(block.line_costs.values())) / len(block.line_costs)
    return (lanes * block.line_costs[place] + rest) / _time(block) if block.counts[0] else 0.0
