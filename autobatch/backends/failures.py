"""Errors that name the members that failed while a program ran."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import tensorflow as tf

from autobatch import errors, ir
from autobatch.ir.typed import Check
from autobatch.tracing.vectorize import Stored


def raise_for_faults(
    codes: np.ndarray,
    checks: Sequence[Check],
    notes: Sequence[Stored],
    shared: Sequence[tf.Tensor],
    results: list[Stored],
    start: int = 0,
) -> None:
    """Raises MemberError if a member failed a check.

    Args:
      codes: for each member 1 + the position of the check that it failed, or 0.
      checks: the program's checks.
      notes: what each check shows of the members that failed it.
      shared: the shared arguments' leaves.
      results: what the others return, to go with the error.
      start: the number of the first of these members.
    """
    error = fault(codes, checks, notes, shared, start)
    if error is not None:
        error.results = results
        raise error


def fault(
    codes: np.ndarray,
    checks: Sequence[Check],
    notes: Sequence[Stored],
    shared: Sequence[tf.Tensor],
    start: int = 0,
) -> errors.MemberError | None:
    """The error of ``raise_for_faults``, without the results."""
    failed = codes.nonzero()[0].tolist()
    if failed:
        full = [m for m in failed if checks[int(codes[m]) - 1].error is errors.ListFullError]
        k = int(codes[(full or failed)[0]]) - 1  # with longer lists, nobody may fail
        first, same = checks[k], [m for m in failed if codes[m] == k + 1]
        said = {m: first.said([leaf[m] for leaf in notes[k]], shared) for m in same[:SHOWN]}
        if len(set(said.values())) == 1:
            text = f": {said[same[0]]}" if said[same[0]] else "."
        else:
            text = ":" + "".join(f"\n  member {start + m}: {words}" for m, words in said.items())
        assert first.error is not None
        others = dict.fromkeys(checks[int(codes[m]) - 1].error for m in failed)
        return errors.raised_together(first.error, *(kind for kind in others if kind is not first.error))(
            f"In {_members([start + m for m in same])}, {first.failure}{text}",
            [(first.location, "")],
            first.error.advice,
            tuple(start + m for m in failed),
        )
    return None


def with_others(error: errors.MemberError, members: Sequence[int]) -> errors.MemberError:
    """The error, if it is not of all of these members, with those that failed in other ways."""
    others = sorted(set(members) - set(error.members))
    if not others:
        return error
    message = f"{error.message} ({_members(others)} failed in other ways.)"
    everyone = tuple(sorted({*error.members, *others}))
    return type(error)(message, error.places, error.help, everyone, kind=error.kind)


SHOWN = 3  # members of whom a message shows the values


def overflow(
    members: np.ndarray, limit: str, help: str, calls: Sequence[ir.Location], start: int = 0
) -> errors.StackOverflowError:
    """The error for members (a mask, from ``start`` on) whose calls nest deeper than a limit.

    calls: the places that call.
    """
    chosen = tuple((start + members.nonzero()[0]).tolist())
    places = [(location, "") for location in dict.fromkeys(calls)][:3]
    return errors.StackOverflowError(
        f"{_members(chosen)} nested calls deeper than {limit}.".capitalize(), places, help, chosen
    )


def out_of_steps(pc: np.ndarray, blocks: Sequence[ir.Block], limit: int) -> errors.StepLimitError:
    """The error for members that have not finished after a number of steps; ``pc`` are the blocks where they stand."""
    return errors.StepLimitError(*_unfinished(pc, blocks, f"max_steps={limit}"))


def out_of_time(pc: np.ndarray, blocks: Sequence[ir.Block], limit: float) -> errors.DeadlineError:
    """The same for a number of seconds."""
    return errors.DeadlineError(*_unfinished(pc, blocks, f"deadline={limit:g} seconds"))


def _unfinished(pc: np.ndarray, blocks: Sequence[ir.Block], limit: str) -> tuple:
    places = []
    for i in np.unique(pc[pc < len(blocks)])[:SHOWN].tolist():
        places.append((_location(blocks[i]), f"{_members((pc == i).nonzero()[0].tolist())} here"))
    chosen = tuple((pc < len(blocks)).nonzero()[0].tolist())
    message = f"{_members(chosen)} did not finish within {limit}.".capitalize()
    return message, places, f"raise {limit.partition('=')[0]}, or see whether every loop ends.", chosen


def _location(block: ir.Block) -> ir.Location | None:
    located = (*block.ops, block.terminator)
    return next((part.location for part in located if getattr(part, "location", None)), None)


def _members(members: Sequence[int]) -> str:
    shown = ", ".join(map(str, members[:8])) + (", ..." if len(members) > 8 else "")
    return f"member {shown}" if len(members) == 1 else f"{len(members)} members ({shown})"
