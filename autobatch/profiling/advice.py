"""What to do about the line that wastes most."""

from __future__ import annotations

import numpy as np

from autobatch.profiling.measurement import LineProfile, Measurement

MUCH = 0.2  # of the time, spent on idle lanes at one line
FADES = 0.5  # the last half of a run that is this full, as against the first, waits for few members


def advice(profile: Measurement) -> str | None:
    """None if no line wastes much."""
    line = max(profile.lines, key=_waste, default=None)
    if line is None or _waste(line) < MUCH:
        return None
    said = f"line {line.place[1]} takes {line.share:.0%} of the time with {line.utilization:.0%} of the lanes active"
    if _fades(profile):
        return (
            f"{said}, and the batch empties towards its end: members differ in how long they take. With many members, "
            "f.map(..., lanes=n) gives the lanes of those that are done to others."
        )
    if profile.depth is not None:
        return (
            f"{said}: members stand at different calls. f.map(..., lanes=n), with fewer lanes than members, keeps "
            'lanes at work as others end; f.options(schedule="most_populated") may bring more of them together.'
        )
    return (
        f"{said}: members come to it at different times. Let them come together: one such line for all of them, at the "
        "end of the loop, rather than one in each branch; or undecorated, with tf.where, where it costs little."
    )


def _waste(line: LineProfile) -> float:
    return line.share * (1 - line.utilization)


def _fades(profile: Measurement) -> bool:
    if profile.history is None or len(profile.history) < 2:
        return False
    ends = profile.history.sum(axis=1)  # runs, active members and lanes until then
    middle = ends[np.searchsorted(ends[:, 2], ends[-1, 2] / 2)]
    rest = ends[-1] - middle
    return middle[2] > 0 and rest[2] > 0 and rest[1] / rest[2] < FADES * middle[1] / middle[2]
