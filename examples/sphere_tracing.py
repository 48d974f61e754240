"""A scene by sphere tracing: each ray takes steps as long as nothing is near, and mirrors call the tracer again.

python -m examples.sphere_tracing [--width 480] [--out out]
"""

from pathlib import Path

import numpy as np
import tensorflow as tf
import typer
from matplotlib.figure import Figure

import autobatch as ab
from examples.against_a_loop import report, save

SPHERES = tf.constant([[-1.6, 0.0, 4.5], [0.3, -0.3, 3.4], [1.9, 0.35, 5.2]])
RADII = tf.constant([1.0, 0.7, 1.35])
COLORS = tf.constant([[0.95, 0.35, 0.25], [0.2, 0.55, 0.95], [0.95, 0.8, 0.3]])
LIGHT = tf.math.l2_normalize(tf.constant([-0.6, 1.0, -0.5]))
FAR = 40.0


def distances(p):
    """To each sphere, and to the floor."""
    return tf.concat([tf.norm(p - SPHERES, axis=-1) - RADII, p[1:2] + 1.0], axis=0)


@ab.autobatch
def march(origin, direction):
    """How far a ray gets."""
    t = 0.02
    while t < FAR:
        near = tf.reduce_min(distances(origin + t * direction))
        if near < 1e-3:
            break
        t += near
    return t


@ab.autobatch
def color(origin, direction, bounces):
    t = march(origin, direction)
    if t >= FAR:
        return tf.constant([0.55, 0.7, 0.9]) * (0.4 + 0.6 * tf.abs(direction[1]))
    p = origin + t * direction
    what = tf.argmin(distances(p))
    if what == 3:
        normal = tf.constant([0.0, 1.0, 0.0])
        is_dark = (tf.floor(p[0]) + tf.floor(p[2])) % 2.0 == 0.0
        own, mirrors = tf.ones([3]) * (0.3 if is_dark else 0.85), 0.15
    else:
        normal = (p - tf.gather(SPHERES, what)) / tf.gather(RADII, what)
        own, mirrors = tf.gather(COLORS, what), 0.35
    p = p + 2e-3 * normal
    lit = max(tf.tensordot(normal, LIGHT, 1), 0.0)
    if lit > 0.0 and march(p, LIGHT) < FAR:  # in a shadow
        lit = 0.0
    shade = own * (0.2 + 0.8 * lit)
    if bounces > 0:
        mirrored = direction - 2.0 * tf.tensordot(direction, normal, 1) * normal
        shade = (1.0 - mirrors) * shade + mirrors * color(p, mirrored, bounces - 1)
    return shade


def main(width: int = 480, bounces: int = 3, out: Path = Path("out")) -> None:
    height = width * 5 // 8
    x, y = np.meshgrid(np.linspace(-0.8, 0.8, width), np.linspace(0.5, -0.5, height))
    rays = tf.math.l2_normalize(np.stack([x, y - 0.1, np.ones_like(x)], -1).reshape(-1, 3).astype(np.float32), -1)
    eyes = np.tile(np.float32([0.0, 0.6, -1.2]), (len(rays), 1))
    image = report(color, eyes, rays, np.full(len(rays), bounces, np.int32))
    figure = Figure(figsize=(8, 5))
    axes = figure.add_axes((0, 0, 1, 1))
    axes.imshow(np.clip(image.numpy().reshape(height, width, 3), 0, 1) ** 0.6)
    axes.set_axis_off()
    save(figure, out / "sphere_tracing.png")


if __name__ == "__main__":
    typer.run(main)
