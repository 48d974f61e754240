"""Bayesian logistic regression on the Wisconsin breast-cancer data, sampled by 256 chains of recursive NUTS.

    python -m examples.breast_cancer [--chains 256] [--draws 400] [--out out]

The sampler is examples/nuts.py, written for one chain.  Prints a table of the posterior, and saves a plot of it.
"""

from __future__ import annotations

import time
from pathlib import Path
from typing import Annotated

import arviz
import matplotlib
import numpy as np
import tensorflow as tf
import typer
from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table
from sklearn.datasets import load_breast_cancer

import autobatch as ab
from examples import nuts

matplotlib.use("Agg")
import matplotlib.pyplot as plt

CHUNK = 50  # draws a call, between two looks at the progress bar
console = Console()


def load() -> tuple[tf.Tensor, tf.Tensor, list[str]]:
    """Standardised features with a column of ones [569, 31], the outcomes (1: benign) [569], and names."""
    data = load_breast_cancer()
    features = (data.data - data.data.mean(0)) / data.data.std(0)
    features = np.column_stack([np.ones(len(features)), features])
    return (
        tf.constant(features, tf.float32),
        tf.constant(data.target, tf.float32),
        ["intercept", *map(str, data.feature_names)],
    )


def make_log_prob(features: tf.Tensor, outcomes: tf.Tensor):
    def log_prob(q):
        """Log posterior density of the coefficients q [31], up to a constant: N(0, 1) prior, logistic likelihood."""
        logits = tf.linalg.matvec(features, q)
        return tf.reduce_sum(outcomes * logits - tf.nn.softplus(logits)) - 0.5 * tf.reduce_sum(q**2)

    return log_prob


def sample(log_prob, size: int, chains: int, warm_up: int, draws: int, seed: int):
    """Returns the draws [chains, draws, size], and a dictionary of what it took."""
    key_start, key_warm, *chunk_keys = tf.unstack(ab.random.split(ab.random.key(seed), 2 + -(-draws // CHUNK)))
    q = 2.0 * ab.random.normal(key_start, [chains, size])
    adapt = nuts.warm_up.options(in_axes=(None, 0, None, None, None, 0))
    extend = nuts.sample_chain.options(in_axes=(0, None, None, 0))
    columns = (TextColumn("{task.description:<30}"), BarColumn(), TextColumn("{task.completed}/{task.total}"))
    with Progress(*columns, TimeElapsedColumn(), console=console) as progress:
        task = progress.add_task(f"warm-up, {chains} chains", total=None)  # one call: no count within it
        start = time.perf_counter()
        q, step_sizes, leapfrogs = adapt(log_prob, warm_up, q, 0.1, 0.8, 8, ab.random.split(key_warm, chains))
        step_size = float(np.median(step_sizes))
        warm_seconds = time.perf_counter() - start
        progress.update(task, total=warm_up, completed=warm_up)

        traces, gradients, seconds = [], 0, 0.0
        task = progress.add_task(f"sampling, step size {step_size:.3f}", total=draws)
        for key in chunk_keys:
            count = min(CHUNK, draws - CHUNK * len(traces))
            compiled = count in (len(t[0]) for t in traces)
            start = time.perf_counter()
            q, trace, _, leapfrogs = extend(log_prob, count, q, step_size, 8, ab.random.split(key, chains))
            traces.append(trace.numpy())
            if compiled:  # the first call of a length compiles
                gradients, seconds = gradients + int(np.sum(leapfrogs)), seconds + time.perf_counter() - start
            progress.update(task, completed=CHUNK * (len(traces) - 1) + count)
    rate = gradients / seconds if seconds else float("nan")
    stats = {"step_size": step_size, "warm_up_seconds": warm_seconds, "gradients_per_second": rate}
    return np.concatenate(traces, axis=1), stats


def show_table(draws: np.ndarray, names: list[str]) -> float:
    """Prints mean, sd, ESS and R-hat of each coefficient; returns the largest R-hat."""
    data = arviz.convert_to_dataset({"coefficient": draws})
    ess, rhat = (np.asarray(f(data)["coefficient"]) for f in (arviz.ess, arviz.rhat))
    table = Table(title="posterior")
    for column in ("coefficient", "mean", "sd", "ESS", "R-hat"):
        table.add_column(column, justify="left" if column == "coefficient" else "right")
    for k, name in enumerate(names):
        mean, sd = draws[..., k].mean(), draws[..., k].std()
        table.add_row(name, f"{mean:.3f}", f"{sd:.3f}", f"{ess[k]:,.0f}", f"{rhat[k]:.4f}")
    console.print(table)
    return float(rhat.max())


def plot(draws: np.ndarray, names: list[str], path: Path) -> None:
    """Posterior means with 50% and 95% intervals, sorted."""
    flat = draws.reshape(-1, draws.shape[-1])
    low, lower, middle, upper, high = np.percentile(flat, [2.5, 25, 50, 75, 97.5], axis=0)
    order = np.argsort(middle)
    rows = np.arange(len(names))
    figure, axes = plt.subplots(figsize=(7, 8), layout="constrained")
    axes.axvline(0, color="0.8", linewidth=1, zorder=0)
    axes.hlines(rows, low[order], high[order], color="C0", linewidth=1.5, label="95%")
    axes.hlines(rows, lower[order], upper[order], color="C0", linewidth=5, label="50%")
    axes.plot(middle[order], rows, "o", color="white", markeredgecolor="C0", markersize=5, label="median")
    axes.set_yticks(rows, [names[k] for k in order])
    axes.set_xlabel("coefficient (positive: more likely benign)")
    axes.set_title("Breast cancer: posterior of the logistic regression")
    axes.legend(loc="lower right", frameon=False)
    axes.spines[["top", "right"]].set_visible(False)
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=150)


def main(
    chains: Annotated[int, typer.Option(help="chains, all in one batch")] = 256,
    warm_up: Annotated[int, typer.Option(help="transitions that tune the step size")] = 200,
    draws: Annotated[int, typer.Option(help="draws a chain")] = 400,
    seed: int = 0,
    out: Annotated[Path, typer.Option(help="folder for the plot")] = Path("out"),
) -> None:
    features, outcomes, names = load()
    begin = time.perf_counter()
    draws_taken, stats = sample(make_log_prob(features, outcomes), len(names), chains, warm_up, draws, seed)
    worst = show_table(draws_taken, names)
    plot(draws_taken, names, out / "breast_cancer.png")
    console.print(
        f"{chains} chains x {draws} draws; step size {stats['step_size']:.3f}; largest R-hat {worst:.4f}; "
        f"{stats['gradients_per_second']:,.0f} gradients a second while sampling\n"
        f"{time.perf_counter() - begin:.0f} s in all, compiling included; plot saved to {out / 'breast_cancer.png'}"
    )


if __name__ == "__main__":
    typer.run(main)
