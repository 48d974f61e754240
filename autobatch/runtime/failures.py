"""Errors that name the members that failed while a program ran."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from autobatch import errors, ir
from autobatch.regions import Check


def raise_for_faults(codes: np.ndarray, checks: Sequence[Check]) -> None:
    """Raises MemberError if a member failed a check: its code is 1 + the check's position, else 0."""
    failed = tuple(codes.nonzero()[0].tolist())
    if failed:
        first = checks[int(codes[failed[0]]) - 1]
        same = tuple(m for m in failed if codes[m] == codes[failed[0]])
        raise first.error(
            f"In {_members(same)}, {first.message}.",
            [(first.location, "")],
            "test for it with `if` first: a member runs only what it reaches.",
            failed,
        )


def overflow(members: np.ndarray, limit: str, help: str, calls: Sequence[ir.Location]) -> errors.StackOverflowError:
    """The error for members (a mask) whose calls nest deeper than a limit; ``calls`` are the places that call."""
    chosen = tuple(members.nonzero()[0].tolist())
    places = [(location, "") for location in dict.fromkeys(calls)][:3]
    return errors.StackOverflowError(
        f"{_members(chosen)} nested calls deeper than {limit}.".capitalize(), places, help, chosen
    )


def _members(members: Sequence[int]) -> str:
    shown = ", ".join(map(str, members[:8])) + (", ..." if len(members) > 8 else "")
    return f"member {shown}" if len(members) == 1 else f"{len(members)} members ({shown})"
