"""What law do 1,000 comets move by? Gradients through an adaptive integrator with steps of each comet's own.

python -m examples.comets [--comets 1000] [--steps 150] [--out out]
"""

from pathlib import Path

import numpy as np
import tensorflow as tf
import typer
from matplotlib.figure import Figure

import autobatch as ab
from examples.against_a_loop import save, timed

STAGES = (  # Dormand and Prince 1980: weights of the slopes so far, at each stage, and in the error
    (1 / 5,), (3 / 40, 9 / 40), (44 / 45, -56 / 15, 32 / 9), (19372 / 6561, -25360 / 2187, 64448 / 6561, -212 / 729),
    (9017 / 3168, -355 / 33, 46732 / 5247, 49 / 176, -5103 / 18656),
    (35 / 384, 0, 500 / 1113, 125 / 192, -2187 / 6784, 11 / 84),
)  # fmt: skip
ERROR = (71 / 57600, 0, -71 / 16695, 71 / 1920, -17253 / 339200, 22 / 525, -1 / 40)
NAMES, TRUTH, GUESS, NOISE = ("logarithm of the mass", "exponent", "drag x 10"), (0.0, 2.0, 0.5), (-0.3, 1.0, 0.0), 0.01


def slope(state, law):
    """Of place and velocity, under a pull of mass / distance^exponent and a drag."""
    place, velocity = state[:2], state[2:]
    pull = tf.exp(law[0]) * tf.reduce_sum(place**2) ** (-(law[1] + 1) / 2)
    return tf.concat([velocity, -pull * place - 0.1 * law[2] * velocity], axis=0)


@ab.autobatch(in_axes=(0, 0, None))
def moved(state, end, law):
    """Where a comet is at its end, and in how many steps: Dormand and Prince's method with an error of 1e-5 a step."""
    time, step, steps = tf.zeros_like(end), 0.01 * tf.ones_like(end), 0
    while time < end:
        step = tf.minimum(step, end - time)
        slopes = [slope(state, law)]
        for row in STAGES:
            new = state + step * sum(weight * k for weight, k in zip(row, slopes, strict=True))
            slopes.append(slope(new, law))
        error = 1e5 * tf.reduce_max(tf.abs(step * sum(weight * k for weight, k in zip(ERROR, slopes, strict=True))))
        if error < 1:
            time, state = time + step, new
        step, steps = step * tf.clip_by_value(0.9 * (error + 1e-9) ** -0.2, 0.2, 5.0), steps + 1
    return state, steps


def starts(count, rng):
    """At their farthest, on ellipses that are round or long; and for how long they are watched: up to two years."""
    eccentricity, axis, angle = rng.uniform(0, 0.95, count), rng.uniform(0.5, 1.5, count), rng.uniform(0, 6.283, count)
    far, speed = axis * (1 + eccentricity), np.sqrt((1 - eccentricity) / (1 + eccentricity) / axis)
    place, across = np.stack([np.cos(angle), np.sin(angle)]), np.stack([-np.sin(angle), np.cos(angle)])
    return np.concatenate([far * place, speed * across]).T, rng.uniform(0.3, 1.2, count) * 6.283 * axis**1.5


def main(comets: int = 1000, steps: int = 150, out: Path = Path("out")) -> None:
    laws, law, rng = [], tf.Variable(np.array(GUESS)), np.random.default_rng(0)
    state, end = starts(comets, rng)
    places, turns = moved(state, end, np.array(TRUTH))
    seen = places[:, :2] + rng.normal(0, NOISE, (comets, 2))

    def loss(law):
        return tf.reduce_mean(tf.math.log1p(tf.reduce_sum((moved(state, end, law)[0][:, :2] - seen) ** 2, 1) / NOISE))

    def gradient():
        with tf.GradientTape() as tape:
            value = loss(law)
        return tape.gradient(value, law)

    by_differences = [(loss(law + h) - loss(law - h)) / 2e-6 for h in 1e-6 * np.eye(3)]
    print(f"relative error of the gradient, by differences: {np.max(np.abs(gradient() / by_differences - 1)):.1g}")
    optimizer = tf.keras.optimizers.Adam(tf.keras.optimizers.schedules.CosineDecay(0.05, steps))
    for _ in range(steps):
        laws.append(law.numpy())
        optimizer.apply_gradients([(gradient(), law)])
    print(f"{comets:,} comets, {min(turns)} to {max(turns)} steps, with gradient: {1e3 * timed(gradient)[0]:.3g} ms")
    for found in zip(NAMES, laws[-1], TRUTH, strict=True):
        print("{}: {:.4f}, in truth {}".format(*found))
    figure = Figure(figsize=(12, 4), layout="constrained")
    orbits, learnt, counts = figure.subplots(1, 3)
    for k in np.argsort(turns)[:: max(comets // 7, 1)]:
        path = moved(np.tile(state[k], (400, 1)), np.linspace(0, end[k], 400), np.array(TRUTH))[0]
        orbits.plot(*path.numpy().T[:2], lw=1, label=f"{turns[k]} steps")
    orbits.legend(fontsize="small", frameon=False, loc="upper left", bbox_to_anchor=(1, 1))
    orbits.set(aspect="equal", title="some of the orbits")
    learnt.plot(laws, label=NAMES)
    learnt.hlines(TRUTH, 0, steps, color="0.5", ls="--", lw=1)
    learnt.set(xlabel="step of Adam", title="what is learnt (dashed: the truth)")
    learnt.legend(frameon=False, loc="center right")
    counts.hist(turns, 25)
    counts.set(xlabel="steps of the integrator", ylabel="comets", title="each takes its own")
    save(figure, out / "comets.png")


if __name__ == "__main__":
    typer.run(main)
