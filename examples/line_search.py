"""BFGS with a backtracking line search from thousands of starts, against TFP's batched BFGS.

python -m examples.line_search [--side 150] [--out out]
"""

import time
from pathlib import Path

import numpy as np
import tensorflow as tf
import tensorflow_probability as tfp
import typer
from matplotlib.figure import Figure

import autobatch as ab
from examples.against_a_loop import report, save

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


def main(side: int = 150, out: Path = Path("out")) -> None:
    axis = np.linspace(-6, 6, side, dtype=np.float32)
    starts = np.stack(np.meshgrid(axis, axis), axis=-1).reshape(-1, 2)
    ends, values = report(minimum, starts)
    distance = np.linalg.norm(ends.numpy()[:, None] - MINIMA, axis=-1)
    print(f"{np.mean(distance.min(axis=1) < 1e-2):.1%} end in a minimum, after {np.mean(values):.0f} values on average")
    tfp_seconds, share = with_tfp(starts)
    print(f"tfp.optimizer.bfgs_minimize: {tfp_seconds * 1e3:,.0f} ms; {share:.1%} end in a minimum")
    figure = Figure(figsize=(9, 4), layout="constrained")
    left, right = figure.subplots(1, 2)
    left.imshow(distance.argmin(axis=1).reshape(side, side), extent=(-6, 6, -6, 6), origin="lower", cmap="Set2")
    left.plot(*MINIMA.T, "k*")
    left.set_title("in which minimum a start ends")
    drawn = right.imshow(values.numpy().reshape(side, side), extent=(-6, 6, -6, 6), origin="lower", cmap="magma")
    right.set_title("values that it takes")
    figure.colorbar(drawn, ax=right)
    save(figure, out / "line_search.png")


def with_tfp(starts: np.ndarray) -> tuple[float, float]:
    """Seconds, and the share of starts that end in a minimum; all lanes go on until the last has converged."""
    search = tf.function(
        lambda p: tfp.optimizer.bfgs_minimize(lambda q: (himmelblau(q), gradient(q)), p, tolerance=1e-3).position,
        jit_compile=True,
    )
    ends = search(starts).numpy()
    start = time.perf_counter()
    search(starts).numpy()
    seconds = time.perf_counter() - start
    return seconds, float(np.mean(np.linalg.norm(ends[:, None] - MINIMA, axis=-1).min(axis=1) < 1e-2))


if __name__ == "__main__":
    typer.run(main)
