"""``x += y`` of an array changes it in place where it is NumPy's, but not where it is TensorFlow's.

Where the array is known by another name that is read later, or is held by what is, it is not known which was meant.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Protocol

from autobatch import errors, ir
from autobatch.passes.changed_arguments import is_change
from autobatch.passes.holding import Augmented, Place
from autobatch.passes.sharing import State, argument

Parameters = Mapping[str, frozenset[str]]  # of each function, those that it augments


class Analysis(Protocol):
    """What ``aliasing.py`` knows of a function."""

    function: ir.Function
    augmented: dict[Place, Augmented]

    def steps(self, i: int) -> Iterator[tuple[int, ir.LocalOp | None, State, State]]: ...
    def live_after(self, i: int, k: int) -> frozenset[str]: ...
    def callee(self, call: ir.Call) -> ir.Function: ...


def check_augmented(analysed: Mapping[str, Analysis]) -> None:
    """Refuses ``x += y``, ``xs[i] += y`` and ``p.a += y`` of an array or a list that something else holds too."""
    by: Parameters = {}
    while True:
        found = {name: _parameters(each, by) for name, each in analysed.items()}
        if found == by:
            break
        by = found
    for each in analysed.values():
        for at, op, state in _steps(each):
            others = _others(each, at, op, state, by) & each.live_after(*at)
            if others:
                held_by = _held_by(each, at, op, by)
                name = op.inputs[0] if is_change(op) or op.inputs[0] in held_by else min(held_by)
                raise _refusal(each, at, op, name, min(others))


def _steps(analysis: Analysis) -> Iterator[tuple[Place, ir.LocalOp, State]]:
    """Each operation with its place, and what is known before it."""
    for i in range(len(analysis.function.blocks)):
        yield from (((i, k), op, state) for k, op, state, _ in analysis.steps(i) if op is not None)


def _held_by(analysis: Analysis, at: Place, op: ir.LocalOp, by: Parameters) -> frozenset[str]:
    """The variables that surely are, or hold, what an operation augments, otherwise than by what it changes anyway."""
    if isinstance(op, ir.Call):
        pairs = zip(op.inputs, analysis.callee(op).inputs, strict=True)
        return frozenset(v for v, p in pairs if p in by.get(op.function, ()))
    return analysis.augmented[at].held_by if at in analysis.augmented else frozenset()


def _others(analysis: Analysis, at: Place, op: ir.LocalOp, state: State, by: Parameters) -> frozenset[str]:
    """The variables that may be, or hold, what an operation augments, and will not be told."""
    held_by = _held_by(analysis, at, op, by)
    found = held_by.union(*map(state.partners, held_by))
    told = frozenset(op.outputs)
    if at in analysis.augmented:
        if is_change(op):
            found |= state.partners(op.inputs[0])
            told |= state.like(op.inputs[0])
        found -= analysis.augmented[at].apart
    return found - told


def _parameters(analysis: Analysis, by: Parameters) -> frozenset[str]:
    found = frozenset[str]().union(
        *(state.partners(v) for at, op, state in _steps(analysis) for v in _held_by(analysis, at, op, by))
    )
    return frozenset(p for p in analysis.function.inputs if argument(p) in found)


def _refusal(analysis: Analysis, at: Place, op: ir.LocalOp, name: str, other: str) -> errors.UnsupportedSyntaxError:
    shown, also = name.split(".")[0], other.split(".")[0]
    where = f"`{op.function}` changes" if isinstance(op, ir.Call) else "This changes"
    what = f"what is in `{shown}`" if not isinstance(op, ir.Call) and is_change(op) else f"`{shown}`"
    seen = f"`{also}` may be the same, or hold it" if also != shown else "it is read later"
    if at in analysis.augmented and analysis.augmented[at].is_list:
        return errors.UnsupportedSyntaxError(
            f"This changes {what} in place, and {seen}.",
            [(op.location, "")],
            "xs[i].extend(ys) to change it, xs[i] = xs[i] + ys for another.",
            kind="list-augmented",
        )
    return errors.UnsupportedSyntaxError(
        f"{where} {what} in place if it is an array of NumPy's, but not if it is TensorFlow's, and {seen}.",
        [(op.location, "")],
        "x = x + y for a new array, x[:] = x + y to change this one.",
        kind="augmented-array",
    )
