"""A* on grids with walls, each member on a map of its own: some find the way at once, some search everything.

python -m examples.a_star [--maps 500] [--side 16] [--out out]
"""

from pathlib import Path

import numpy as np
import tensorflow as tf
import typer
from matplotlib.figure import Figure

import autobatch as ab
from examples.against_a_loop import report, save

FAR = 10_000


@ab.autobatch(static_argnames="side")
def path(walls, side):
    """The length of the shortest path from corner to corner, -1 if there is none; and the steps to each seen cell."""
    cells = tf.range(side * side)
    rows, columns = cells // side, cells % side
    ahead = (side - 1 - rows) + (side - 1 - columns)  # at least so far from the goal
    steps = tf.where(cells == 0, 0, FAR)
    is_open = cells == 0
    while tf.reduce_any(is_open):
        cell = tf.argmin(tf.where(is_open, steps + ahead, FAR * 2), output_type=tf.int32)
        if cell == side * side - 1:
            return steps[cell], steps
        beside = tf.abs(rows - rows[cell]) + tf.abs(columns - columns[cell]) == 1
        better = beside & ~walls & (steps[cell] + 1 < steps)
        steps = tf.where(better, steps[cell] + 1, steps)
        is_open = (is_open & (cells != cell)) | better
    return -1, steps


def main(maps: int = 500, side: int = 16, out: Path = Path("out")) -> None:
    rng = np.random.default_rng(0)
    walls = rng.random((maps, side * side)) < rng.uniform(0.1, 0.4, (maps, 1))
    walls[:, [0, -1]] = False
    length, steps = report(path, walls, side=side)
    length, steps = length.numpy(), steps.numpy().reshape(maps, side, side)
    seen = np.mean(steps < FAR, axis=(1, 2))
    print(f"{np.mean(length >= 0):.0%} have a path, of {length[length >= 0].min()} to {length.max()} steps;")
    print(f"searched were {seen.min():.0%} to {seen.max():.0%} of a map")
    figure = Figure(figsize=(9, 3.4), layout="constrained")
    for axes, k in zip(figure.subplots(1, 3), np.argsort(length)[-3:], strict=True):
        axes.imshow(np.where(steps[k] < FAR, steps[k], np.nan), cmap="Blues", vmin=-10)
        axes.imshow(np.where(walls[k].reshape(side, side), 1.0, np.nan), cmap="gray", vmin=1, vmax=4)
        axes.plot(*np.array(way(steps[k])).T[::-1], color="tab:red")
        axes.set_title(f"{length[k]} steps, {seen[k]:.0%} searched", fontsize=10)
        axes.set_axis_off()
    save(figure, out / "a_star.png")


def way(steps: np.ndarray) -> list[tuple[int, int]]:
    """The cells from the goal back to the start."""
    cells = [(len(steps) - 1, len(steps) - 1)]
    while steps[cells[-1]] > 0 and steps[cells[-1]] < FAR:
        row, column = cells[-1]
        around = [(row + a, column + b) for a, b in ((0, 1), (1, 0), (0, -1), (-1, 0))]
        inside = [cell for cell in around if min(cell) >= 0 and max(cell) < len(steps)]
        cells.append(min(inside, key=lambda cell: steps[cell]))
    return cells


if __name__ == "__main__":
    typer.run(main)
