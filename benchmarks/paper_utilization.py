"""The paper's figure 7: the share of chains that are active when gradients are computed, against how many there are."""

from __future__ import annotations

from collections.abc import Iterator

import autobatch as ab
from autobatch.profiling import BlockProfile, Profile
from benchmarks.dispatch import nuts

PROBLEM = "ill_conditioned"
LOCAL = "local static: trajectories in step"
WAITING = 8  # chains for each lane, where lanes are refilled
SERIES = {  # (options, trajectories, chains for each lane)
    LOCAL: ({"backend": "local_static"}, 10, 1),
    "program counter, 10 trajectories": ({}, 10, 1),
    "program counter, 100 trajectories": ({}, 100, 1),
    "earliest block (the paper's), 10": ({"schedule": "earliest"}, 10, 1),
    "earliest block, 100": ({"schedule": "earliest"}, 100, 1),
    "most populated block, 100": ({"schedule": "most_populated"}, 100, 1),
    f"lanes refilled, {WAITING} chains for each, 10": ({}, 10, WAITING),
}


def busiest(profile: Profile) -> BlockProfile:
    """The block that did most for members; what idle lanes cost is not counted, so it is the same for all choices."""
    return max(profile.blocks, key=lambda block: block.cost * block.active)


def run(chains: list[int]) -> Iterator[tuple[str, int, dict[str, float]]]:
    """Series, chains, and the share of active lanes in the block with the gradient; all lanes in one machine.

    Where lanes are refilled, the number is that of the lanes.
    """
    for series, (options, trajectories, each) in SERIES.items():
        for count in chains:
            function, args = nuts(each * count, trajectories, PROBLEM)
            chosen = function.options(shards=1, compact="never", **options)
            profile = ab.profile(chosen, *args, lanes=count if each > 1 else None)
            block = busiest(profile)
            yield series, count, {"utilization": block.utilization, "gradients": block.active, "runs": block.runs}
