"""A recorded run as a page to be watched: one HTML file, without a network."""

from __future__ import annotations

import html
import json
import linecache
import os
from collections.abc import Mapping
from importlib import resources
from pathlib import Path
from typing import Any

import numpy as np

from autobatch import ir
from autobatch.machine.recorder import Recording
from autobatch.profiling.measurement import Measurement
from autobatch.profiling.table import nearest

AROUND = 2  # lines of the source before the first that runs, and after the last
GAP = 12  # lines that never run, in a row, from which a file is shown in two pieces
DIGITS = 4
ITEMS = 2  # of an array that are shown at each of its ends


def write(recording: Recording, profile: Measurement, path: str | os.PathLike) -> None:
    viewer = resources.files("autobatch.profiling") / "viewer"
    data = json.dumps(as_data(recording, profile), separators=(",", ":")).replace("</", "<\\/")
    page = (viewer / "page.html").read_text()
    for name, text in {
        "title": html.escape(profile.function),
        "style": (viewer / "viewer.css").read_text(),
        "data": data,
        "script": (viewer / "viewer.bundle.js").read_text(),
    }.items():
        page = page.replace(f"<!-- {name} -->", text, 1)
    Path(path).write_text(page)


def as_data(recording: Recording, profile: Measurement) -> dict[str, Any]:
    """What the viewer takes; ``viewer/machine.js`` says what each part means."""
    places = [sorted({(op.location.file, op.location.line) for op in block.ops}) for block in recording.program.blocks]
    blocks = recording.program.blocks[: recording.halt]
    names = list(recording.types)
    labels = dict(recording.program.labels)
    return {
        "title": profile.function,
        "members": profile.members,
        "lanes": recording.lanes,
        "halt": recording.halt,
        "ended": recording.ended,
        "sources": _sources({place for lines in places for place in lines}),
        "blocks": [
            {
                "text": str(block),
                "label": labels.get(i, ""),
                "returns": block.terminator.return_to if isinstance(block.terminator, ir.PushJump) else None,
                "lines": [[nearest(file), line] for file, line in places[i]],
            }
            for i, block in enumerate(blocks)
        ],
        "variables": [
            {"name": name, "type": recording.types[name], "stacked": name in recording.stacked} for name in names
        ],
        "start": {name: _texts(values) for name, values in recording.start.items()},
        "results": {name: _texts(values) for name, values in recording.results.items()},
        "steps": [
            [
                step.block,
                step.lanes.tolist(),
                step.pc.tolist(),
                step.depth.tolist(),
                _nested(step.written),
                list(step.popped),
                _nested(step.pushed),
            ]
            for step in recording.steps
        ],
    }


def _nested(values: Mapping[str, np.ndarray]) -> dict[str, list[str]]:
    return {name: _texts(array) for name, array in values.items()}


def _texts(values: np.ndarray) -> list[str]:
    """Each row as a short text."""
    if values.ndim == 1:
        return [_text(value) for value in values.tolist()]
    rows = values.reshape(len(values), -1)
    shown, dots = (rows, "") if rows.shape[1] <= 2 * ITEMS else (np.delete(rows, slice(ITEMS, -ITEMS), axis=1), "… ")
    texts = []
    for row in shown.tolist():
        items = [_text(item) for item in row]
        texts.append(f"[{' '.join(items[:ITEMS])} {dots}{' '.join(items[ITEMS:])}]" if dots else f"[{' '.join(items)}]")
    return texts


def _text(value: Any) -> str:
    return f"{value:.{DIGITS}g}" if isinstance(value, float) else str(value)


def _sources(places: set[tuple[str, int]]) -> list[dict[str, Any]]:
    """The pieces of the source that run."""
    pieces: list[tuple[str, int, int]] = []
    for file, line in sorted(places):
        if pieces and pieces[-1][0] == file and line - pieces[-1][2] <= GAP:
            pieces[-1] = (file, pieces[-1][1], line)
        else:
            pieces.append((file, line, line))
    return [_piece(*piece) for piece in pieces]


def _piece(file: str, first: int, last: int) -> dict[str, Any]:
    text = linecache.getlines(file)
    first, last = max(first - AROUND, 1), min(last + AROUND, len(text))
    return {"file": nearest(file), "first": first, "lines": [line.rstrip() for line in text[first - 1 : last]]}
