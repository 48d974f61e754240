"""A profile as a picture: how full the machine was in the course of the run, and where its time went."""

from __future__ import annotations

import os

import numpy as np

from autobatch import errors
from autobatch.profiling.measurement import BlockProfile, Measurement
from autobatch.profiling.table import line_numbers

COLUMNS = 200  # moments of the run that are told apart
LONGEST = 40  # characters of a block's name
TALLEST = 30  # blocks that are drawn, those that take most time


def plot(profile: Measurement, path: str | os.PathLike) -> None:
    from matplotlib.figure import Figure  # takes a second to import

    if not profile.steps:
        raise errors.SettingError("There is nothing to draw: no block has run.")
    ranked = sorted(range(len(profile.blocks)), key=lambda i: -profile.blocks[i].share)
    shown = sorted(i for i in ranked[:TALLEST] if profile.blocks[i].runs)
    blocks = [profile.blocks[i] for i in shown]
    height = 0.26 * len(blocks) + 0.6
    figure = Figure(figsize=(10, height + 2.4), layout="constrained")
    ratios = {"width_ratios": (4, 1), "height_ratios": (1.5, height)}
    (above, corner), (map_, bars) = figure.subplots(2, 2, sharey="row", **ratios)
    corner.set_axis_off()
    if profile.history is not None:
        full, each = _in_slots(profile, profile.history, shown)
        extent = (0, profile.steps, len(blocks) - 0.5, -0.5)
        edges = np.linspace(0, profile.steps, len(full) + 1)
        above.stairs(full, edges, fill=True, color="tab:blue", alpha=0.7)
        above.axhline(profile.utilization, color="0.3", linewidth=0.8, linestyle=":")
        above.set_ylim(0, 1)
        above.set_xlim(0, profile.steps)
        above.yaxis.set_major_formatter(_percent)
        above.set_ylabel("lanes at work")
        drawn = map_.imshow(each, aspect="auto", extent=extent, vmin=0, vmax=1, interpolation="nearest")
        figure.colorbar(drawn, ax=bars, label="lanes at work", format=_percent)
        map_.set_xlabel("blocks run")
    map_.set_yticks(range(len(blocks)), [_name(block) for block in blocks], fontsize=8)
    map_.set_ylim(len(blocks) - 0.5, -0.5)
    places, shares = np.arange(len(blocks)), np.array([block.share for block in blocks])
    used = shares * [block.utilization for block in blocks]
    bars.barh(places, used, color="tab:blue", label="active lanes")
    bars.barh(places, shares - used, left=used, color="0.8", label="idle lanes")
    bars.xaxis.set_major_formatter(_percent)
    bars.set_xlabel("share of the time")
    corner.legend(*bars.get_legend_handles_labels(), loc="lower left", frameon=False)
    figure.suptitle(f"{profile.function}: {profile.members:,} members, {profile.utilization:.0%} utilization")
    figure.savefig(path, dpi=150)


def _in_slots(profile: Measurement, history: np.ndarray, shown: list[int]) -> tuple[np.ndarray, np.ndarray]:
    """The share of active lanes [slots], and of each shown block [blocks, slots], NaN where it did not run."""
    begun = np.concatenate([np.zeros_like(history[:1]), history])
    steps = begun[:, :, 0].sum(axis=1)
    edges = np.linspace(0, steps[-1], min(COLUMNS, len(history)) + 1)
    at = np.apply_along_axis(lambda counts: np.interp(edges, steps, counts), 0, begun)
    _, active, lanes = np.moveaxis(np.diff(at, axis=0), 2, 0)
    times = np.array([block.share / max(block.lanes, 1) for block in profile.blocks])  # of a lane of a block
    with np.errstate(invalid="ignore"):
        return (active @ times) / (lanes @ times), (active / np.where(lanes > 0, lanes, np.nan))[:, shown].T


def _name(block: BlockProfile) -> str:
    text = f"block {block.name}, {line_numbers(block)}".rstrip(", ")
    return text if len(text) <= LONGEST else text[: LONGEST - 2] + " …"


def _percent(x: float, _: int) -> str:
    return f"{x:.0%}"
