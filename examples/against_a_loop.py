"""What batching gave: a batch's time against that of a Python loop over its members."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import numpy as np
import tensorflow as tf
from matplotlib.figure import Figure

import autobatch as ab


def report(function: ab.Autobatched, *args: Any, tried: int = 3, **kwargs: Any) -> Any:
    """Runs the batch and prints its time; the loop's is that of a few members, spread over the batch.

    Returns what the batch returns.
    """
    first, result = timed(lambda: function(*args, **kwargs))
    again = min(timed(lambda: function(*args, **kwargs))[0] for _ in range(3))
    members = len(tf.nest.flatten(args)[0])
    chosen = np.unique(np.linspace(0, members - 1, tried + 2)[1:-1].astype(int))
    function.unbatched(*_member(args, 0), **kwargs)
    each = np.mean([timed(lambda z=z: function.unbatched(*_member(args, z), **kwargs))[0] for z in chosen])
    print(
        f"{members:,} members in {_seconds(again)} (the first call, which compiles, takes {_seconds(first)}); "
        f"a Python loop over them, in TensorFlow's eager mode, in {_seconds(each * members)}, from {len(chosen)}: "
        f"{each * members / again:,.0f} times as long"
    )
    return result


def save(figure: Figure, path: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=150)
    print(f"picture saved to {path}")


def timed(call: Any) -> tuple[float, Any]:
    """Seconds, and what the call returns."""
    start = time.perf_counter()
    result = call()
    tf.nest.map_structure(np.asarray, result)
    return time.perf_counter() - start, result


def _member(args: Any, z: int) -> Any:
    return tf.nest.map_structure(lambda leaf: tf.convert_to_tensor(leaf)[z], args)


def _seconds(seconds: float) -> str:
    for limit, unit, size in ((1e-3, "µs", 1e-6), (1, "ms", 1e-3), (100, "s", 1), (6000, "min", 60)):
        if seconds < limit:
            return f"{seconds / size:.3g} {unit}"
    return f"{seconds / 3600:.3g} h"
