"""Straight-line regions: the runs of primitives between two calls, which are traced and batched as one."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from autobatch import ir


@dataclass(frozen=True)
class Region:
    """Consecutive primitives of the kind "member", or a single one of another kind (see ``ir.Expression``).

    ``inputs`` are the variables read before the region sets them, ``assigned`` those that it sets.
    """

    ops: tuple[ir.Assign, ...]
    kind: str = "member"

    @property
    def inputs(self) -> tuple[str, ...]:
        seen: set[str] = set()
        found: dict[str, None] = {}
        for op in self.ops:
            found |= {v: None for v in op.inputs if v not in seen}
            seen |= set(op.outputs)
        return tuple(found)

    @property
    def assigned(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(v for op in self.ops for v in op.outputs))


def regions(ops: Iterable[ir.Op]) -> list[Region | ir.Op]:
    """The operations with each run of primitives gathered into a Region."""
    result: list[Region | ir.Op] = []
    run: list[ir.Assign] = []

    def flush() -> None:
        if run:
            result.append(Region(tuple(run)))
            run.clear()

    for op in ops:
        if isinstance(op, ir.Primitive | ir.Update) and op.function.kind == "member":
            run.append(op)
            continue
        flush()
        result.append(Region((op,), op.function.kind) if isinstance(op, ir.Primitive | ir.Update) else op)
    flush()
    return result
