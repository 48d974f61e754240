"""The No-U-Turn Sampler as its paper has it (Hoffman and Gelman 2014, algorithm 3), written for one chain.

python -m examples.nuts_by_hand [--chains 256] [--draws 500] [--out out]
"""

from pathlib import Path

import numpy as np
import tensorflow as tf
import typer
from matplotlib.figure import Figure

import autobatch as ab
from examples.against_a_loop import report, save


def log_density(q):
    """A banana."""
    return -0.5 * (q[0] ** 2 + (q[1] - q[0] ** 2) ** 2 / 0.25)


def leapfrog(q, p, step):
    p = p + 0.5 * step * slope(q)
    q = q + step * p
    return q, p + 0.5 * step * slope(q)


def slope(q):
    bend = (q[1] - q[0] ** 2) / 0.25
    return tf.stack([-q[0] + 2.0 * q[0] * bend, -bend])


def turns(q_minus, p_minus, q_plus, p_plus):
    span = q_plus - q_minus
    return (tf.tensordot(span, p_minus, 1) < 0.0) | (tf.tensordot(span, p_plus, 1) < 0.0)


@ab.autobatch
def build_tree(q, p, log_u, step, depth, key):
    """Both ends of 2**depth leapfrogs, a draw among them, how many are in the slice, and whether to go on."""
    if depth == 0:
        q, p = leapfrog(q, p, step)
        joint = log_density(q) - 0.5 * tf.reduce_sum(p**2)
        return q, p, q, p, q, tf.cast(log_u <= joint, tf.int32), joint > log_u - 1000.0
    key, first, second = tf.unstack(ab.random.split(key, 3))
    q_minus, p_minus, q_plus, p_plus, drawn, count, going = build_tree(q, p, log_u, step, depth - 1, first)
    if going:
        if step > 0.0:
            _, _, q_plus, p_plus, other, more, going = build_tree(q_plus, p_plus, log_u, step, depth - 1, second)
        else:
            q_minus, p_minus, _, _, other, more, going = build_tree(q_minus, p_minus, log_u, step, depth - 1, second)
        if ab.random.uniform(key) * tf.cast(max(count + more, 1), tf.float32) < tf.cast(more, tf.float32):
            drawn = other
        count += more
        going = going and not turns(q_minus, p_minus, q_plus, p_plus)
    return q_minus, p_minus, q_plus, p_plus, drawn, count, going


@ab.autobatch(static_argnames="draws")
def chain(q, key, step, draws):
    trace = tf.zeros([draws, 2])
    for t in range(draws):
        k_p, k_u, k_walk = tf.unstack(ab.random.split(ab.random.fold_in(key, t), 3))
        p = ab.random.normal(k_p, [2])
        log_u = log_density(q) - 0.5 * tf.reduce_sum(p**2) - ab.random.exponential(k_u)
        q_minus, p_minus, q_plus, p_plus, depth, count, going = q, p, q, p, 0, 1, True
        while going and depth < 8:
            k_way, k_tree, k_take, k_walk = tf.unstack(ab.random.split(k_walk, 4))
            if ab.random.bernoulli(k_way):
                _, _, q_plus, p_plus, other, more, going = build_tree(q_plus, p_plus, log_u, step, depth, k_tree)
            else:
                q_minus, p_minus, _, _, other, more, going = build_tree(q_minus, p_minus, log_u, -step, depth, k_tree)
            if going and ab.random.uniform(k_take) * tf.cast(count, tf.float32) < tf.cast(more, tf.float32):
                q = other
            count, depth = count + more, depth + 1
            going = going and not turns(q_minus, p_minus, q_plus, p_plus)
        trace[t] = q
    return trace


def main(chains: int = 256, draws: int = 500, out: Path = Path("out")) -> None:
    keys, step = ab.random.split(ab.random.key(0), chains), np.full(chains, 0.15, np.float32)
    trace = report(chain, np.zeros((chains, 2), np.float32), keys, step, draws=draws, tried=1)
    x, y = trace.numpy()[:, draws // 4 :].reshape(-1, 2).T
    print(f"x: mean {x.mean():+.3f} (exactly 0), variance {x.var():.3f} (1)")
    print(f"y: mean {y.mean():+.3f} (exactly 1), variance {y.var():.3f} (2.25)")
    figure = Figure(figsize=(6, 4.5), layout="constrained")
    axes = figure.subplots()
    grid = np.mgrid[-3.5:3.5:150j, -3:10:150j].astype(np.float32)
    axes.plot(x[:: max(1, len(x) // 4000)], y[:: max(1, len(x) // 4000)], ".", markersize=2, alpha=0.4)
    levels = np.exp(log_density(grid))
    axes.contour(*grid, levels, colors="black", linewidths=0.7, levels=[0.01, 0.1, 0.4, 0.8])
    axes.set(title=f"{len(x):,} draws of {chains} chains", xlabel="x", ylabel="y")
    save(figure, out / "nuts_by_hand.png")


if __name__ == "__main__":
    typer.run(main)
