"""BFGS with a backtracking line search from thousands of starts, against TFP's batched BFGS.

python -m examples.line_search [--side 150] [--out out]
"""

from pathlib import Path

import numpy as np
import tensorflow as tf
import tensorflow_probability as tfp
import typer
from matplotlib.figure import Figure

import autobatch as ab
from examples.against_a_loop import report, save, timed

MINIMA = np.array([[3.0, 2.0], [-2.805118, 3.131312], [-3.779310, -3.283186], [3.584428, -1.848126]])


def himmelblau(p):
    x, y = p[..., 0], p[..., 1]
    return (x * x + y - 11.0) ** 2 + (x + y * y - 7.0) ** 2


def gradient(p):
    x, y = p[..., 0], p[..., 1]
    a, b = x * x + y - 11.0, x + y * y - 7.0
    return tf.stack([4.0 * x * a + 2.0 * b, 2.0 * a + 4.0 * y * b], axis=-1)


@ab.autobatch
def minimum(p):
    """Where BFGS (Nocedal and Wright 2006, algorithm 6.1) ends with Armijo's condition, and how many values it took."""
    inverse, f, g, values = tf.eye(2), himmelblau(p), gradient(p), 1
    for _ in range(100):
        if tf.reduce_max(tf.abs(g)) < 1e-3:
            break
        direction = -tf.linalg.matvec(inverse, g)
        downhill = tf.tensordot(g, direction, 1)
        if downhill >= 0.0:
            inverse, direction, downhill = tf.eye(2), -g, -tf.tensordot(g, g, 1)
        step = 1.0
        while himmelblau(p + step * direction) > f + 1e-4 * step * downhill and step > 1e-6:
            step, values = 0.5 * step, values + 1
        moved = step * direction
        p = p + moved
        new = gradient(p)
        change = new - g
        f, g, values = himmelblau(p), new, values + 1
        curved = tf.tensordot(change, moved, 1)
        if curved > 1e-9:
            left = tf.eye(2) - tf.tensordot(moved, change, 0) / curved
            inverse = left @ inverse @ tf.transpose(left) + tf.tensordot(moved, moved, 0) / curved
    return p, values


@tf.function(jit_compile=True)
def with_tfp(starts):
    """All lanes go on until the last has converged."""
    return tfp.optimizer.bfgs_minimize(lambda p: (himmelblau(p), gradient(p)), starts, tolerance=1e-3).position


def to_minima(p):
    return np.linalg.norm(np.asarray(p)[:, None] - MINIMA, axis=-1)


def main(side: int = 150, out: Path = Path("out")) -> None:
    axis = np.linspace(-6, 6, side, dtype=np.float32)
    starts = np.stack(np.meshgrid(axis, axis), axis=-1).reshape(-1, 2)
    ends, values = report(minimum, starts)
    distance = to_minima(ends)
    print(f"{np.mean(distance.min(axis=1) < 1e-2):.1%} end in a minimum, after {np.mean(values):.0f} values on average")
    with_tfp(starts)
    seconds, others = timed(lambda: with_tfp(starts))
    share = np.mean(to_minima(others).min(axis=1) < 1e-2)
    print(f"tfp.optimizer.bfgs_minimize: {seconds * 1e3:,.0f} ms; {share:.1%} end in a minimum")
    figure = Figure(figsize=(9, 4), layout="constrained")
    left, right = figure.subplots(1, 2)
    left.imshow(distance.argmin(axis=1).reshape(side, side), extent=(-6, 6, -6, 6), origin="lower", cmap="Set2")
    left.plot(*MINIMA.T, "k*")
    left.set_title("in which minimum a start ends")
    drawn = right.imshow(values.numpy().reshape(side, side), extent=(-6, 6, -6, 6), origin="lower", cmap="magma")
    right.set_title("values that it takes")
    figure.colorbar(drawn, ax=right)
    save(figure, out / "line_search.png")


if __name__ == "__main__":
    typer.run(main)
