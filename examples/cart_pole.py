"""Poles on carts: policies learn to balance them, each in episodes that end when its pole falls, and begin anew.

python -m examples.cart_pole [--policies 2000] [--generations 15] [--out out]
"""

from pathlib import Path

import numpy as np
import tensorflow as tf
import typer
from matplotlib.figure import Figure

import autobatch as ab
from examples.against_a_loop import report, save, timed

EPISODES, LONGEST, HIDDEN = 5, 500, 4
SIZES = (4 * HIDDEN, HIDDEN)  # of a policy's weights: from the state, and to the force


def moved(state, force):
    """0.02 s later: a cart of 1 kg, with a pole of 1 m and 0.1 kg (Barto, Sutton and Anderson 1983)."""
    _, speed, angle, turning = tf.unstack(state, axis=-1)
    push = (force + 0.05 * turning**2 * tf.sin(angle)) / 1.1
    bent = 9.8 * tf.sin(angle) - tf.cos(angle) * push
    bent = bent / (0.5 * (4 / 3 - 0.1 * tf.cos(angle) ** 2 / 1.1))
    pushed = push - 0.05 * bent * tf.cos(angle) / 1.1
    return state + 0.02 * tf.stack([speed, pushed, turning, bent], axis=-1)


def start(key, episode):
    return 0.1 * ab.random.uniform(ab.random.fold_in(key, episode), [4]) - 0.05


@ab.autobatch
def balanced(policy, key):
    """[EPISODES], for how many steps the policy keeps the pole from falling, and the cart within its track."""
    lasted = tf.zeros([EPISODES], tf.int32)
    inner, outer = tf.reshape(policy[: SIZES[0]], [HIDDEN, 4]), policy[SIZES[0] :]
    for episode in range(EPISODES):
        state, steps = start(key, episode), 0
        while steps < LONGEST and abs(state[0]) < 2.4 and abs(state[2]) < 0.21:
            force = tf.reduce_sum(outer * tf.tanh(tf.linalg.matvec(inner, state)))
            state = moved(state, 10.0 if force > 0 else -10.0)
            steps += 1
        lasted = tf.tensor_scatter_nd_update(lasted, [[episode]], [steps])
    return lasted


@tf.function(jit_compile=True)
def by_hand(policies, keys):
    """The same by masks, for all at a time: whose episode is over is put where the next begins."""
    starts = tf.stack([tf.vectorized_map(lambda key, k=k: start(key, k), keys) for k in range(EPISODES)], axis=1)
    inner, outer = tf.reshape(policies[:, : SIZES[0]], [-1, HIDDEN, 4]), policies[:, SIZES[0] :]
    state, steps = starts[:, 0], tf.zeros(len(policies), tf.int32)
    episode, lasted = tf.zeros_like(steps), tf.zeros([len(policies), EPISODES], tf.int32)
    while tf.reduce_any(episode < EPISODES):
        force = tf.reduce_sum(outer * tf.tanh(tf.linalg.matvec(inner, state)), axis=1)
        state, steps = moved(state, tf.where(force > 0, 10.0, -10.0)), steps + 1
        upright = (steps < LONGEST) & (tf.abs(state[:, 0]) < 2.4) & (tf.abs(state[:, 2]) < 0.21)
        lasted += tf.where(upright, 0, steps)[:, None] * tf.one_hot(episode, EPISODES, dtype=tf.int32)
        episode, steps = tf.where(upright, episode, episode + 1), tf.where(upright, steps, 0)
        begun = tf.gather(starts, tf.minimum(episode, EPISODES - 1), batch_dims=1)
        state = tf.where(upright[:, None], state, begun)
    return lasted


def main(policies: int = 2000, generations: int = 15, out: Path = Path("out")) -> None:
    rng, mean, spread, lasted = np.random.default_rng(0), np.zeros(sum(SIZES)), np.ones(sum(SIZES)), []
    for generation in range(generations):  # the cross-entropy method: Rubinstein 1999
        tried = (mean + spread * rng.normal(size=(policies, len(mean)))).astype(np.float32)
        keys = ab.random.split(ab.random.key(generation), policies)
        lasted.append(balanced(tried, keys).numpy())
        best = tried[np.argsort(-lasted[-1].mean(1), kind="stable")[: max(policies // 10, 2)]]
        mean, spread = best.mean(0), best.std(0) + 0.1 * 0.8**generation
        if generation == min(2, generations - 1):
            report(balanced, tried, keys)
            agree = np.mean(by_hand(tried, keys) == lasted[-1])
            seconds = min(timed(lambda: by_hand(tried, keys))[0] for _ in range(3))  # noqa: B023
            print(f"with masks, written by hand, {1e3 * seconds:.3g} ms; {agree:.1%} of the episodes are as long")
            print(f"its {lasted[-1].size:,} episodes take {lasted[-1].min()} to {lasted[-1].max()} steps")
    print(f"in the last generation, {np.mean(lasted[-1] == LONGEST):.0%} of the episodes end with the pole upright")
    figure = Figure(figsize=(8, 3.4), layout="constrained")
    axes = figure.subplots()
    levels = np.quantile(np.reshape(lasted, (generations, -1)), (0.05, 0.25, 0.5, 0.75, 0.95), axis=1) * 0.02
    for k, name, alpha in ((0, "90% of the episodes", 0.2), (1, "half of them", 0.35)):
        axes.fill_between(range(generations), levels[k], levels[4 - k], color="C0", alpha=alpha, lw=0, label=name)
    axes.plot(levels[2], "o-", color="C0", ms=4, label="median")
    axes.set(
        xlabel="generation", ylabel="seconds until the pole falls", title=f"{policies:,} policies learn to balance"
    )
    axes.legend(frameon=False, loc="upper left", bbox_to_anchor=(1, 1))
    save(figure, out / "cart_pole.png")


if __name__ == "__main__":
    typer.run(main)
