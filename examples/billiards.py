"""A thousand shots at billiards learn to stop in the hole: gradients through collisions, each with its own.

python -m examples.billiards [--shots 1000] [--steps 40] [--out out]
"""

from pathlib import Path

import numpy as np
import tensorflow as tf
import typer
from matplotlib.figure import Figure
from matplotlib.patches import Circle

import autobatch as ab
from examples.against_a_loop import save, timed

SIZE, RADIUS = (2.0, 1.0), 0.12  # of the table, and of the posts on it
POSTS = np.array([[0.6, 0.3], [0.6, 0.75], [1.0, 0.5], [1.4, 0.25], [1.4, 0.7]])
TEE, HOLE = np.array([0.2, 0.5]), np.array([1.8, 0.5])
FOUND, KEPT, BRAKE = 0.02, 0.9, 0.5  # from the hole; share of the speed after a collision; deceleration


@ab.autobatch
def shot(velocity):
    """Where a ball stops that rolls along lines, slower and slower; and where these lines end."""
    place, path, speed = tf.constant(TEE), [tf.constant(TEE)], tf.norm(velocity)
    ahead = velocity / speed
    while True:
        free, normal, stops = speed**2 / (2 * BRAKE), tf.zeros_like(place), True  # if nothing is in its way
        for k in range(2):
            if ahead[k] != 0:
                to_wall = (SIZE[k] * tf.cast(ahead[k] > 0, tf.float64) - place[k]) / ahead[k]
                if to_wall < free:
                    free, normal, stops = to_wall, tf.one_hot(k, 2, dtype=tf.float64), False
        for post in POSTS:
            along = tf.reduce_sum((post - place) * ahead)
            across = tf.reduce_sum((post - place) ** 2) - along**2
            if along > 0 and across < RADIUS**2:
                to_post = along - tf.sqrt(RADIUS**2 - across)
                if to_post < free:
                    free, normal, stops = to_post, (place + to_post * ahead - post) / RADIUS, False
        place = place + free * ahead
        path.append(place)
        if stops:
            return place, path
        speed, ahead = KEPT * tf.sqrt(speed**2 - 2 * BRAKE * free), ahead - 2 * tf.reduce_sum(ahead * normal) * normal


def with_slopes(velocity):
    """Where shots end, from the hole, and the derivatives of that by their velocities."""
    velocity = tf.constant(velocity)
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(velocity)
        miss = tf.unstack(shot(velocity)[0] - HOLE, axis=1)
    return np.stack(miss, axis=1), np.stack([tape.gradient(part, velocity) for part in miss], axis=1)


def main(shots: int = 1000, steps: int = 40, out: Path = Path("out")) -> None:
    velocity, damping = np.random.default_rng(0).normal(0, 1.2, (shots, 2)), np.full(shots, 0.01)
    miss, slopes = with_slopes(velocity)
    sides = [(shot(velocity + h)[0] - shot(velocity - h)[0]) / 2e-7 for h in 1e-7 * np.eye(2)]
    wrong = np.max(np.abs(slopes - np.stack(sides, axis=2)), axis=(1, 2)) / np.max(np.abs(slopes), axis=(1, 2))
    print(f"relative error of the derivatives, by differences: {np.median(wrong):.1g} in the median")
    for _ in range(steps):  # of Levenberg and Marquardt's method, each shot by itself
        across = np.transpose(slopes, (0, 2, 1))
        normal = across @ slopes + (damping * np.sum(slopes**2, axis=(1, 2)))[:, None, None] * np.eye(2)
        new = velocity - np.linalg.solve(normal, across @ miss[..., None])[..., 0]
        new_miss, new_slopes = with_slopes(new)
        better = np.linalg.norm(new_miss, axis=1) < np.linalg.norm(miss, axis=1)
        damping = np.clip(np.where(better, damping / 3, damping * 4), 1e-9, 1e9)
        for old, value in ((velocity, new), (miss, new_miss), (slopes, new_slopes)):
            old[better] = value[better]
    path, good = shot(velocity)[1], np.linalg.norm(miss, axis=1) < FOUND
    hits = path.row_lengths().numpy() - 2
    print(f"{shots:,} shots and their derivatives in {1e3 * timed(lambda: with_slopes(velocity))[0]:.3g} ms")
    print(f"{np.mean(good):.1%} end in the hole, after up to {max(hits[good], default=0)} collisions")
    table, counts = (figure := Figure(figsize=(10, 4), layout="constrained")).subplots(1, 2, width_ratios=[2, 1])
    for k in [k for number in (2, 4, 6, 8, 10) for k in np.flatnonzero(good & (hits == number))[:1]]:
        table.plot(*path[k].numpy().T, lw=1, label=f"{hits[k]} collisions")
    for post in POSTS:
        table.add_patch(Circle(post, RADIUS, color="0.8"))
    table.plot(*TEE, "ko", ms=9)
    table.plot(*HOLE, "k*", ms=9, label="the hole")
    table.set(aspect="equal", xlim=(0, SIZE[0]), ylim=(0, SIZE[1]), title="shots that end in the hole")
    table.legend(ncols=3, fontsize="small", frameon=False, loc="upper center", bbox_to_anchor=(0.5, -0.1))
    counts.hist(hits[good], np.arange(max(hits[good], default=0) + 2) - 0.5)
    counts.set(xlabel="collisions", ylabel="shots in the hole", xticks=range(0, 16, 2))
    save(figure, out / "billiards.png")


if __name__ == "__main__":
    typer.run(main)
