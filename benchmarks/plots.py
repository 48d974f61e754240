"""The plots of the pages in docs/, from the JSON that the benchmarks left."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import matplotlib as mpl
from matplotlib import pyplot as plt
from matplotlib import ticker

from benchmarks.nuts import LIMIT
from benchmarks.paper_utilization import LOCAL
from benchmarks.plain import NUMBA, VMAP
from benchmarks.problems import PROBLEMS
from benchmarks.programs import AUTO, FIXED, LOOP
from benchmarks.report import DOCS, ON_DEVICE, on_device
from benchmarks.timing import RESULTS, load

mpl.use("Agg")


def plot_nuts() -> Path:
    """Gradients a second against the number of chains, both logarithmic, for each problem that was run."""
    found = [name for name in PROBLEMS if (RESULTS / f"nuts_{name}.json").exists()]
    problems = [name for name in found if len(load(f"nuts_{name}")["results"]) > 1]
    figure, axes = plt.subplots(1, len(problems), figsize=(4.5 * len(problems), 4), layout="constrained", squeeze=False)
    for axis, problem in zip(axes[0], problems, strict=True):
        by_chains = load(f"nuts_{problem}")["results"]
        for name in dict.fromkeys(name for rows in by_chains.values() for name in rows):
            points = [
                (int(c), rows[name]["gradients_per_second"] / 1000) for c, rows in by_chains.items() if name in rows
            ]
            style = {"autobatch": {"linewidth": 3}, LIMIT: {"color": "0.4", "linestyle": "--"}}.get(name, {})
            axis.loglog(*zip(*points, strict=True), marker="o", markersize=4, label=name, **style)
        axis.set(title=problem, xlabel="chains", ylabel="thousand gradients a second")
        axis.set_xticks([int(c) for c in by_chains], by_chains)
        axis.yaxis.set_major_locator(ticker.LogLocator(subs=(1, 2, 5)))
        axis.yaxis.set_major_formatter(ticker.ScalarFormatter())
        axis.minorticks_off()
        axis.grid(alpha=0.3)
    axes[0, 0].legend(fontsize=8)
    return _saved(figure, f"nuts_{problems[0]}", "nuts.png")


def plot_programs() -> Path:
    """Each program's time, logarithmic: as the machine chooses, under each fixed choice, and in what else runs it."""
    results = load("programs")["results"]
    figure, axis = plt.subplots(figsize=(8, 4), layout="constrained")
    for place, rows in enumerate(results.values()):
        times = {system: 1000 * row["median"] for system, row in rows.items()}
        fixed = [times[choice] for choice in FIXED]
        axis.plot([place] * len(fixed), fixed, "_", color="0.6", markersize=16, zorder=1)
        axis.plot(place, times[AUTO], "o", color="C0", zorder=3)
        for system, time in times.items():
            if system not in (AUTO, LOOP, *FIXED):
                axis.plot(place, time, "x", color="C3", zorder=2)
                axis.annotate(system, (place, time), (0, 5), textcoords="offset points", ha="center", fontsize=7)
    axis.set(yscale="log", ylabel="milliseconds", xlim=(-0.5, len(results) - 0.3))
    axis.set_xticks(range(len(results)), results)
    axis.yaxis.set_major_formatter(ticker.ScalarFormatter())
    axis.grid(alpha=0.3, axis="y")
    marks = [("o", "C0", "autobatch"), ("_", "0.6", "under a fixed choice"), ("x", "C3", "others")]
    handles = [plt.Line2D([], [], marker=m, color=c, linestyle="", label=label) for m, c, label in marks]
    axis.legend(handles=handles, fontsize=8)
    return _saved(figure, "programs", "programs.png")


def plot_plain() -> Path:
    """Each program's nanoseconds a member against their number, both logarithmic."""
    programs = load("plain")["results"]
    figure, axes = plt.subplots(3, 4, figsize=(11, 7.5), sharex=True, layout="constrained")
    styles = {
        AUTO: {"color": "C0", "linewidth": 2.5},
        VMAP: {"color": "C3"},
        NUMBA: {"color": "0.4", "linestyle": "--"},
    }
    for axis, (name, by_count) in zip(axes.flat, programs.items(), strict=False):
        for system, style in styles.items():
            times = {int(n): 1e9 * rows[system]["median"] / int(n) for n, rows in by_count.items() if system in rows}
            axis.loglog([*times], [*times.values()], "o-", markersize=4, label=system, **style)
        axis.set_title(name, fontsize=10)
        axis.yaxis.set_major_locator(ticker.LogLocator(subs=(1, 2, 5)))
        axis.yaxis.set_major_formatter(ticker.StrMethodFormatter("{x:,.0f}"))
        axis.minorticks_off()
        axis.grid(alpha=0.3)
    for axis in axes.flat[len(programs) :]:
        axis.axis("off")
    axes.flat[-1].legend(*axes.flat[1].get_legend_handles_labels(), loc="center", title="nanoseconds a member")
    for axis in (*axes[-1][:-1], axes[-2][-1]):
        axis.set_xlabel("members")
        axis.xaxis.set_major_formatter(ticker.EngFormatter(sep=""))
        axis.tick_params(labelbottom=True)
    return _saved(figure, "plain", "plain.png")


def plot_throughput() -> Path:
    """The paper's figure 6: gradients a second against the number of chains, both logarithmic; all runs in a band."""
    figure, axis = plt.subplots(figsize=(8, 5), layout="constrained")
    for name, rows in load("paper_throughput")["results"].items():
        chains, rates = [int(c) for c in rows], [row["gradients_per_second"] for row in rows.values()]
        if len(rows) == 1:
            color = axis._get_lines.get_next_color()
            axis.axhline(rates[0], linestyle=":", color=color, label=f"{name} (of any number)")
            continue
        style = {"color": "0.4", "linestyle": "--"} if name == LIMIT else {}
        width = 3 if "program counter" in name else 1.5
        (line,) = axis.loglog(chains, rates, marker="o", markersize=4, label=name, linewidth=width, **style)
        slowest, fastest = ([row[end] for row in rows.values()] for end in ("slowest", "fastest"))
        axis.fill_between(chains, slowest, fastest, color=line.get_color(), alpha=0.15, linewidth=0)
    axis.set(xlabel="chains", ylabel="gradients a second")
    axis.xaxis.set_major_formatter(ticker.StrMethodFormatter("{x:,.0f}"))
    axis.yaxis.set_major_formatter(ticker.StrMethodFormatter("{x:,.0f}"))
    axis.grid(alpha=0.3)
    axis.legend(fontsize=8)
    return _saved(figure, "paper_throughput", "paper_throughput.png")


def plot_utilization() -> Path:
    """The paper's figure 7: the share of active chains against their number."""
    figure, axis = plt.subplots(figsize=(8, 5), layout="constrained")
    for name, rows in load("paper_utilization")["results"].items():
        style = {"linewidth": 3, "color": "0.2"} if name == LOCAL else {}
        axis.semilogx([int(c) for c in rows], [row["utilization"] for row in rows.values()], "o-", label=name, **style)
    axis.set(xlabel="chains", ylabel="share of active chains when gradients are computed", ylim=(0, 1.03))
    axis.xaxis.set_major_formatter(ticker.StrMethodFormatter("{x:,.0f}"))
    axis.yaxis.set_major_formatter(ticker.PercentFormatter(1.0))
    axis.grid(alpha=0.3)
    axis.legend(fontsize=8)
    return _saved(figure, "paper_utilization", "paper_utilization.png")


def plot_on_device() -> Path:
    """NUTS on a GPU: gradients a second against the number of chains, both logarithmic."""
    kinds = {int(name.split()[1]): rows for name, rows in on_device("h100").items() if name.startswith("nuts")}
    figure, axis = plt.subplots(figsize=(9, 4.5), layout="constrained")
    styles = {"rounds": {"linewidth": 3}, "switch_case": {"color": "0.6"}, "sweep": {"color": "0.6", "linestyle": ":"}}
    for name, told in ON_DEVICE.items():
        rates = [rows[name]["gradients"] / rows[name]["median"] for rows in kinds.values()]
        label, style = told.replace("`", ""), styles.get(name, {})
        axis.loglog([*kinds], rates, marker="o", markersize=4, label=label, **style)
    axis.set(xlabel="chains", ylabel="gradients a second")
    axis.set_xticks([*kinds], [f"{chains:,}" for chains in kinds])
    axis.yaxis.set_major_formatter(ticker.EngFormatter(sep=" "))
    axis.minorticks_off()
    axis.grid(alpha=0.3)
    figure.legend(fontsize=8, loc="outside right upper")
    about = load("h100")
    figure.supxlabel(f"{about['device']}, JAX {about['jax']}; Gaussian in 100 dimensions, 10 trajectories", fontsize=8)
    figure.savefig(DOCS / "accelerators.png", dpi=150)
    return DOCS / "accelerators.png"


def _saved(figure: Any, results: str, name: str) -> Path:
    """The figure beside the page, with the machine under it."""
    about = load(results)["machine"]
    figure.supxlabel(f"{about['processor']}, {about['cores']} cores, TensorFlow {about['tensorflow']}", fontsize=8)
    figure.savefig(DOCS / name, dpi=150)
    return DOCS / name


PLOTS = {  # by the results that they show
    "nuts_gaussian": plot_nuts,
    "programs": plot_programs,
    "plain": plot_plain,
    "paper_throughput": plot_throughput,
    "paper_utilization": plot_utilization,
    "h100": plot_on_device,
}
