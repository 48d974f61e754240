"""The Mandelbrot set: every pixel iterates until it escapes, some at once, some never.

python -m examples.mandelbrot [--width 600] [--limit 500] [--out out]
"""

from pathlib import Path

import numpy as np
import typer
from matplotlib.figure import Figure

import autobatch as ab
from examples.against_a_loop import report, save

CENTER, SPAN = (-0.7436, 0.1319), 0.006  # in the valley of the seahorses


@ab.autobatch(static_argnames="limit")
def escape(x0, y0, limit):
    """After how many steps |z|² exceeds 1,000, and its value then."""
    x, y, steps = 0.0, 0.0, 0
    while x * x + y * y < 1000.0 and steps < limit:
        x, y = x * x - y * y + x0, 2.0 * x * y + y0
        steps += 1
    return steps, x * x + y * y


def main(width: int = 600, limit: int = 500, out: Path = Path("out")) -> None:
    height = width * 2 // 3
    x = np.linspace(CENTER[0] - SPAN / 2, CENTER[0] + SPAN / 2, width, dtype=np.float32)
    y = np.linspace(CENTER[1] - SPAN / 3, CENTER[1] + SPAN / 3, height, dtype=np.float32)
    steps, size = report(escape, *(axis.ravel() for axis in np.meshgrid(x, y)), limit=limit)
    smooth = steps.numpy() + 1 - np.log2(np.log(np.maximum(size.numpy(), 2.0)) / 2)
    shown = np.where(steps.numpy() == limit, np.nan, np.log(np.maximum(smooth, 1))).reshape(height, width)
    figure = Figure(figsize=(9, 6))
    axes = figure.add_axes((0, 0, 1, 1))
    axes.imshow(np.ma.masked_invalid(shown), cmap="twilight_shifted", origin="lower", interpolation="bilinear")
    axes.set_facecolor("black")
    axes.set_axis_off()
    save(figure, out / "mandelbrot.png")


if __name__ == "__main__":
    typer.run(main)
