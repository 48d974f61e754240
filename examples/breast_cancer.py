"""Bayesian logistic regression on the Wisconsin breast-cancer data, sampled by 256 chains that never wait.

python -m examples.breast_cancer [--chains 256] [--draws 400] [--out out]
"""

from __future__ import annotations

import time
from pathlib import Path
from typing import Annotated

import matplotlib
import numpy as np
import tensorflow as tf
import typer
from sklearn.datasets import load_breast_cancer

import autobatch as ab
from examples.forest import forest

matplotlib.use("Agg")


def load() -> tuple[tf.Tensor, tf.Tensor, list[str]]:
    """Standardised features with a column of ones [569, 31], the outcomes (1: benign) [569], and names."""
    data = load_breast_cancer()
    features = (data.data - data.data.mean(0)) / data.data.std(0)
    features = np.column_stack([np.ones(len(features)), features])
    names = ["intercept", *map(str, data.feature_names)]
    return tf.constant(features, tf.float32), tf.constant(data.target, tf.float32), names


def make_log_prob(features: tf.Tensor, outcomes: tf.Tensor):
    def log_prob(q):
        """Log posterior density [chains] of coefficients q [chains, 31]: N(0, 1) prior, logistic likelihood."""
        logits = tf.matmul(q, features, transpose_b=True)
        return tf.reduce_sum(outcomes * logits - tf.nn.softplus(logits), -1) - 0.5 * tf.reduce_sum(q**2, -1)

    return log_prob


def plot(result: ab.mcmc.Result, names: list[str], path: Path) -> None:
    """Posterior medians with 50% and 95% intervals, sorted."""
    draws = np.asarray(result.samples)
    order = np.argsort(np.median(draws, axis=(0, 1)))[::-1]
    axes = forest(draws[..., order], [names[k] for k in order], size=(7, 8))
    axes.axvline(0, color="0.8", linewidth=1, zorder=0)
    axes.set_title("Breast cancer: posterior of the logistic regression\n(median, 50% and 95%)")
    axes.set_xlabel("coefficient (positive: more likely benign)")
    path.parent.mkdir(parents=True, exist_ok=True)
    axes.figure.savefig(path, dpi=150, bbox_inches="tight")


def main(
    chains: Annotated[int, typer.Option(help="chains, all in one program")] = 256,
    warm_up: Annotated[int, typer.Option(help="transitions that tune the step size and the mass matrix")] = 200,
    draws: Annotated[int, typer.Option(help="draws a chain")] = 400,
    seed: int = 0,
    out: Annotated[Path, typer.Option(help="folder for the plot")] = Path("out"),
) -> None:
    features, outcomes, names = load()
    begin = time.perf_counter()
    log_prob, start = make_log_prob(features, outcomes), tf.zeros([1, len(names)])
    result = ab.mcmc.sample(log_prob, start, draws, warm_up, seed, chains=chains, progress=True)
    print(result)
    print(result.summary().set_axis(names))
    plot(result, names, out / "breast_cancer.png")
    print(f"{time.perf_counter() - begin:.0f} s in all, compiling included; plot saved to {out / 'breast_cancer.png'}")


if __name__ == "__main__":
    typer.run(main)
