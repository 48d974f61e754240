"""The paper's figure 7: the share of chains that are active when gradients are computed, against how many there are."""

from __future__ import annotations

from collections.abc import Iterator

import autobatch as ab
from benchmarks.dispatch import nuts

PROBLEM = "ill_conditioned"
LOCAL = "local static: trajectories in step"
SERIES = {  # (options, trajectories)
    LOCAL: ({"backend": "local_static"}, 10),
    "program counter, 10 trajectories": ({}, 10),
    "program counter, 100 trajectories": ({}, 100),
    "earliest block (the paper's), 10": ({"schedule": "earliest"}, 10),
    "earliest block, 100": ({"schedule": "earliest"}, 100),
    "most populated block, 100": ({"schedule": "most_populated"}, 100),
}


def run(chains: list[int]) -> Iterator[tuple[str, int, dict[str, float]]]:
    """Series, chains, and the share of active lanes in the block with the gradient; all chains in one machine."""
    for series, (options, trajectories) in SERIES.items():
        for count in chains:
            function, args = nuts(count, trajectories, PROBLEM)
            chosen = function.options(shards=1, compact="never", **options)
            block = ab.profile(chosen, *args).costliest
            yield series, count, {"utilization": block.utilization, "gradients": block.active, "runs": block.runs}
