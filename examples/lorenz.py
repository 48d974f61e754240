"""The Lorenz equations for many Rayleigh numbers: each member with a step of its own, against one step for all.

python -m examples.lorenz [--members 2000] [--out out]
"""

from pathlib import Path

import numpy as np
import tensorflow as tf
import typer
from matplotlib.figure import Figure

import autobatch as ab
from examples.against_a_loop import report, save, timed

END = 2.0


def slope(y, rho):
    return tf.stack([10.0 * (y[1] - y[0]), y[0] * (rho - y[2]) - y[1], y[0] * y[1] - 8.0 / 3.0 * y[2]])


@ab.autobatch
def adaptive(rho, tolerance):
    """Bogacki and Shampine's method (1989), of order 3 with an estimate of order 2, to t = END; and its steps."""
    y, t, h, steps = tf.constant([1.0, 1.0, 1.0]), 0.0, 1e-3, 0
    k1 = slope(y, rho)
    while t < END:
        k2 = slope(y + 0.5 * h * k1, rho)
        k3 = slope(y + 0.75 * h * k2, rho)
        new = y + h * (2.0 * k1 + 3.0 * k2 + 4.0 * k3) / 9.0
        k4 = slope(new, rho)
        error = tf.norm(h * (-5.0 * k1 + 6.0 * k2 + 8.0 * k3 - 9.0 * k4) / 72.0) / (1.0 + tf.norm(new))
        if error < tolerance:
            y, k1, t = new, k4, t + h
        h = min(h * tf.clip_by_value(0.9 * (tolerance / (error + 1e-12)) ** (1.0 / 3.0), 0.2, 3.0), END - t + 1e-7)
        steps += 1
    return y, steps


@ab.autobatch
def fixed(rho, count):
    y, h = tf.constant([1.0, 1.0, 1.0]), END / tf.cast(count, tf.float32)
    for _ in range(count):
        k1 = slope(y, rho)
        k2 = slope(y + 0.5 * h * k1, rho)
        k3 = slope(y + 0.75 * h * k2, rho)
        y = y + h * (2.0 * k1 + 3.0 * k2 + 4.0 * k3) / 9.0
    return y


def main(members: int = 2000, out: Path = Path("out")) -> None:
    rho = np.geomspace(0.5, 2000.0, members).astype(np.float32)
    end, steps = report(adaptive, rho, np.full(members, 1e-5, np.float32))
    most = 2 * int(steps[-1])  # the stiffest member's steps, of which the shortest is about half their mean
    counts = np.full(members, most, np.int32)
    fixed(rho, counts)
    seconds, other = timed(lambda: fixed(rho, counts))
    apart = np.median(np.abs(other - end) / (1 + np.abs(other)))
    print(f"steps of their own: {steps.numpy().min()} to {steps.numpy().max()}, {np.mean(steps):.0f} on average")
    print(f"a step for all: {most} ({most / np.mean(steps):.1f} times the slopes), {seconds * 1e3:.3g} ms,", end=" ")
    print(f"a relative {apart:.0e} apart (median)")
    figure = Figure(figsize=(9, 4), layout="constrained")
    left, right = figure.subplots(1, 2)
    left.loglog(rho, steps.numpy(), color="tab:blue")
    left.axhline(most, color="tab:red", linestyle=":", label="one step for all")
    left.set(xlabel="Rayleigh number", ylabel="steps to t = 2")
    left.legend(frameon=False)
    drawn = right.scatter(end.numpy()[:, 0], end.numpy()[:, 2], c=np.log10(rho), s=4)
    right.set(xlabel="x at t = 2", ylabel="z at t = 2", xscale="symlog", yscale="symlog")
    figure.colorbar(drawn, label="log10 of the Rayleigh number")
    save(figure, out / "lorenz.png")


if __name__ == "__main__":
    typer.run(main)
