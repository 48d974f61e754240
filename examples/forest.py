"""A row for each of several quantities: the median of its draws, and the intervals with 50% and 95% of them."""

from __future__ import annotations

from collections.abc import Sequence

import matplotlib.pyplot as plt
import numpy as np


def forest(draws: np.ndarray, labels: Sequence[str], size: tuple[float, float]) -> plt.Axes:
    """draws: [..., rows], the first of them at the top; size: of the figure, in inches."""
    _, axes = plt.subplots(figsize=size)
    low, lower, median, upper, high = np.quantile(
        draws.reshape(-1, len(labels)), [0.025, 0.25, 0.5, 0.75, 0.975], axis=0
    )
    rows = np.arange(len(labels))
    axes.hlines(rows, low, high, "C0", linewidth=1.5)
    axes.hlines(rows, lower, upper, "C0", linewidth=4)
    axes.plot(median, rows, "o", color="C0", markerfacecolor="white", markersize=4)
    axes.set_yticks(rows, labels)
    axes.tick_params(axis="y", length=0)
    axes.invert_yaxis()
    axes.spines[["left", "right", "top"]].set_visible(False)
    return axes
