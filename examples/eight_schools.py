"""The eight schools (Rubin 1981), a hierarchical model as a TFP JointDistribution.

python -m examples.eight_schools [--chains 16] [--draws 1000] [--out out]
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import matplotlib
import numpy as np
import tensorflow_probability as tfp
import typer

import autobatch as ab
from examples.forest import forest

matplotlib.use("Agg")
tfd = tfp.distributions

EFFECTS = [28.0, 8.0, -3.0, 7.0, -1.0, 1.0, 18.0, 12.0]
ERRORS = [15.0, 10.0, 16.0, 11.0, 9.0, 11.0, 10.0, 18.0]


@tfd.JointDistributionCoroutineAutoBatched
def schools():
    mu = yield tfd.Normal(0.0, 5.0, name="mu")
    tau = yield tfd.HalfCauchy(0.0, 5.0, name="tau")
    z = yield tfd.Sample(tfd.Normal(0.0, 1.0), 8, name="z")
    yield tfd.Normal(mu + tau * z, ERRORS, name="effects")


def main(
    chains: int = 16,
    draws: Annotated[int, typer.Option(help="draws a chain")] = 1000,
    seed: int = 0,
    out: Annotated[Path, typer.Option(help="folder for the plot")] = Path("out"),
) -> None:
    result = ab.mcmc.sample(
        schools,
        observed={"effects": EFFECTS},
        chains=chains,
        num_results=draws,
        target_acceptance=0.9,
        seed=seed,
        progress=True,
    )
    print(result.summary())
    plot(result, out / "eight_schools.png")
    print(f"plot saved to {out / 'eight_schools.png'}")


def plot(result: ab.mcmc.Result, path: Path) -> None:
    """The posterior of every school's effect, beside what was observed."""
    mu, tau, z = (np.asarray(part) for part in result.samples)
    effects = mu[..., np.newaxis] + tau[..., np.newaxis] * z
    axes = forest(effects, [f"school {name}" for name in "ABCDEFGH"], size=(7, 4.5))
    axes.plot(EFFECTS, range(8), "x", color="C1", label="observed")
    axes.set_title("Eight schools: effect of coaching\n(median, 50% and 95%)")
    axes.set_xlabel("points in the test")
    axes.legend(loc="lower right")
    path.parent.mkdir(parents=True, exist_ok=True)
    axes.figure.savefig(path, dpi=150, bbox_inches="tight")


if __name__ == "__main__":
    typer.run(main)
