"""Fair timing: the systems take turns within one run, and medians are compared."""

from __future__ import annotations

import json
import os
import platform
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np
import tensorflow as tf
from rich.progress import track

RESULTS = Path(__file__).parent / "results"
TURN = 0.05  # seconds: a turn is one call, or as many as this holds


def seconds(run: Callable[[], object]) -> float:
    start = time.perf_counter()
    result = run()
    for leaf in tf.nest.flatten(result):
        np.asarray(leaf)  # wait for it
    return time.perf_counter() - start


def in_turn(
    systems: dict[str, Callable[[], object]], rounds: int, warm: dict[str, int] | None = None
) -> dict[str, dict[str, float]]:
    """Times each system in ``rounds`` turns; the first call of each is reported apart, as it compiles.

    A turn of a short system is many calls, or they would be timed with caches and threads as another has left them.

    warm: how many calls of a system come before those that count, if it compiles in later ones too.
    """
    first = {name: seconds(run) for name, run in systems.items()}
    for name, calls in (warm or {}).items():
        for _ in range(calls):
            systems[name]()
    rng = np.random.default_rng(0)
    times: dict[str, list[float]] = {name: [] for name in systems}
    for _ in track(range(rounds), description=f"{rounds} rounds of {len(systems)} systems"):
        for name in rng.permutation(list(systems)):  # what ran before leaves the caches as it likes
            end = time.perf_counter() + TURN
            times[name].append(seconds(systems[name]))
            while time.perf_counter() < end:
                times[name].append(seconds(systems[name]))
    return {name: {"first": first[name], "median": median(taken), "best": min(taken)} for name, taken in times.items()}


def machine() -> dict[str, object]:
    info = Path("/proc/cpuinfo")
    lines = info.read_text().splitlines() if info.exists() else []
    names = [line.split(":")[1].strip() for line in lines if line.startswith("model name")]
    return {
        "processor": names[0] if names else platform.processor(),
        "cores": os.cpu_count(),
        "python": platform.python_version(),
        "tensorflow": tf.__version__,
    }


def load(name: str) -> dict[str, Any]:
    return json.loads((RESULTS / f"{name}.json").read_text())


def save(name: str, results: dict) -> Path:
    RESULTS.mkdir(exist_ok=True)
    path = RESULTS / f"{name}.json"
    path.write_text(json.dumps({"machine": machine(), "results": results}, indent=2) + "\n")
    return path
