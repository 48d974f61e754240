"""Neal's funnel (2003), as it is and with the scale taken out: the same sampler, two parametrizations.

python -m examples.funnel [--chains 64] [--draws 500] [--out out]
"""

import time
from pathlib import Path

import numpy as np
import tensorflow as tf
import typer
from matplotlib.figure import Figure

import autobatch as ab
from examples.against_a_loop import save

DIMENSIONS = 10  # the first is the logarithm of the others' variance


def centered(q):
    v, x = q[..., 0], q[..., 1:]
    return -(v**2) / 18.0 - 0.5 * tf.reduce_sum(x**2, -1) * tf.exp(-v) - 0.5 * (DIMENSIONS - 1) * v


def scaled(q):
    """Of v and x / exp(v / 2), which are independent."""
    return -(q[..., 0] ** 2) / 18.0 - 0.5 * tf.reduce_sum(q[..., 1:] ** 2, -1)


def main(chains: int = 64, draws: int = 500, out: Path = Path("out")) -> None:
    figure = Figure(figsize=(9, 4), layout="constrained")
    print(f"{'':>10} {'seconds':>8} {'leapfrogs a draw':>17} {'divergences':>12} {'sd of v (3)':>12} {'ESS of v':>9}")
    for axes, density in zip(figure.subplots(1, 2), (centered, scaled), strict=True):
        name = density.__name__
        start = time.perf_counter()
        result = ab.mcmc.sample(density, tf.zeros([chains, DIMENSIONS]), draws, 300, seed=0, target_acceptance=0.9)
        seconds = time.perf_counter() - start
        q = result.samples.numpy()
        v, x = q[..., 0], q[..., 1] * (np.exp(q[..., 0] / 2) if density is scaled else 1.0)
        leapfrogs, diverging = (result.stats[key].numpy() for key in ("n_leapfrog", "diverging"))
        ess = result.summary()["ess_bulk"].iloc[0]
        row = f"{name:>10} {seconds:>8.1f} {leapfrogs.mean():>8.1f}, to {leapfrogs.max():>4}"
        print(f"{row} {diverging.sum():>12,} {v.std():>12.2f} {ess:>9,.0f}")
        few = slice(None, None, max(1, v.size // 5000))
        axes.plot(x.ravel()[few], v.ravel()[few], ".", markersize=2, alpha=0.4)
        axes.plot(x[diverging], v[diverging], ".", markersize=3, color="tab:red", label="divergences")
        axes.set(title=f"{name}: {leapfrogs.mean():.0f} leapfrogs a draw", xlabel="x", ylabel="v")
        axes.set(xlim=(-20, 20), ylim=(-11, 11))
    axes.legend(loc="lower right", frameon=False)
    save(figure, out / "funnel.png")


if __name__ == "__main__":
    typer.run(main)
