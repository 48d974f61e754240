"""A profile as tables, for terminals and notebooks."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from pathlib import Path

from rich.console import Group, RenderableType
from rich.markup import escape
from rich.table import Table

from autobatch.profiling.advice import advice
from autobatch.profiling.measurement import BlockProfile, Measurement

SHADES = " ▁▂▃▄▅▆▇█"
MOST = 40  # lines and blocks that are shown
RED = "#e5484d"  # on light and on dark
LEAST = 0.0005  # of the time, for a line to be shown where there are more than ``MOST``
COLUMNS = ("share", "runs", "lanes at work", "utilization", "0 … 100%")


def table(profile: Measurement) -> RenderableType:
    parts: list[RenderableType] = [_headline(profile), "", _lines(profile), "", _blocks(profile)]
    if said := advice(profile):
        parts += ["", f"[bold]advice[/]: {escape(said)}"]
    return Group(*parts)


def _headline(profile: Measurement) -> str:
    words = [f"{profile.members:,} member{'s' * (profile.members != 1)}", f"{profile.steps:,} block runs"]
    words += [f"{profile.utilization:.1%} utilization"] if profile.steps else []
    words += [f"stacks {profile.depth:,} deep"] if profile.depth is not None else []
    return f"[bold]{escape(profile.function)}[/]: {', '.join(words)}"


def _lines(profile: Measurement) -> Table:
    shown = _shown(profile.lines)
    made = _table("line", ratio=1)
    files = list(dict.fromkeys(line.place[0] for line in shown))
    for file in files:
        made.add_row(f"[bold]{escape(nearest(file))}[/]")
        for line in (line for line in shown if line.place[0] == file):
            made.add_row(f"{line.place[1]:5}  {escape(line.source)}", *_cells(line))
    return made


def _blocks(profile: Measurement) -> Table:
    made = _table("block", ratio=1)
    for block in _shown(profile.blocks):
        made.add_row(f"{block.name:>5}  {line_numbers(block)}", *_cells(block))
    return made


def _table(first: str, ratio: int) -> Table:
    made = Table(box=None, pad_edge=False, expand=True)
    made.add_column(first, no_wrap=True, overflow="ellipsis", ratio=ratio)
    for column in COLUMNS:
        made.add_column(column, justify="right", no_wrap=True)
    return made


def _cells(block: BlockProfile) -> list[str]:
    if not block.runs:
        return ["", "0", "", "", ""]
    color = RED if block.utilization < 0.3 and block.share > 0.1 else ""
    shown = f"[{color}]{block.utilization:.1%}[/]" if color else f"{block.utilization:.1%}"
    return [f"{block.share:.1%}", f"{block.runs:,}", f"{block.active_each:,.1f}", shown, spark(block.spread)]


def spark(counts: Sequence[int]) -> str:
    """A bar for each number, as high as it is beside the largest."""
    most = max(*counts, 1)
    return "".join(SHADES[-(-count * (len(SHADES) - 1) // most)] for count in counts)


def _shown(blocks: Iterable[BlockProfile]) -> list:
    """All of them, or those that take most, in their order."""
    blocks = list(blocks)
    if len(blocks) <= MOST:
        return blocks
    least = max(LEAST, sorted((block.share for block in blocks), reverse=True)[MOST])
    return [block for block in blocks if block.share > least]


def line_numbers(block: BlockProfile) -> str:
    """Such as "line 3", or "lines 3-5, 9"."""
    spans: list[list[int]] = []
    for number in sorted({number for _, number in block.lines}):
        if spans and number == spans[-1][-1] + 1:
            spans[-1].append(number)
        else:
            spans.append([number])
    if not spans:
        return ""
    several = len(spans) > 1 or len(spans[0]) > 1
    return ("lines " if several else "line ") + ", ".join("-".join(map(str, sorted({s[0], s[-1]}))) for s in spans)


def nearest(file: str) -> str:
    """A file's name from where the program was started, if that is shorter."""
    try:
        relative = os.path.relpath(file)
    except ValueError:  # on another drive
        return file
    return relative if not relative.startswith("..") else Path(file).name
