"""The two free choices of the paper's section 2: how idle lanes are left out, and which block runs next."""

from __future__ import annotations

from functools import partial

import autobatch as ab
from benchmarks.dispatch import nuts
from benchmarks.paper_utilization import busiest
from benchmarks.programs import programs
from benchmarks.timing import in_turn

CHOICES = {
    f"{name}, {schedule}": {"partial": name, "schedule": schedule, "shards": 1, "compact": "never"}
    for name in ("mask", "gather")
    for schedule in ("earliest", "most_populated", "weighed")
}


def run(rounds: int) -> dict[str, dict[str, dict[str, float]]]:
    """For each program, for each pair of choices: times, runs of blocks in all, and how full the busiest was."""
    suite = programs()
    cases: dict[str, tuple[ab.Autobatched, tuple]] = {
        name: (suite[name].function, suite[name].args) for name in ("quadrature", "trees")
    }
    cases["NUTS, logistic"] = nuts(256, 3, "logistic_unequal")
    results = {}
    for name, (function, args) in cases.items():
        chosen = {choice: function.options(**options) for choice, options in CHOICES.items()}
        results[name] = in_turn({choice: partial(f, *args) for choice, f in chosen.items()}, rounds)
        for choice, f in chosen.items():
            profile = ab.profile(f, *args)
            results[name][choice] |= {
                "runs": sum(block.runs for block in profile.blocks),
                "utilization": busiest(profile).utilization,
            }
    return results
