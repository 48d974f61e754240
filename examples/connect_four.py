"""Connect Four by alpha-beta search with a network in the leaves, which has learnt from games at random.

python -m examples.connect_four [--games 200] [--lessons 20000] [--out out]
"""

from pathlib import Path

import numpy as np
import tensorflow as tf
import typer
from matplotlib.figure import Figure

import autobatch as ab
from examples.against_a_loop import report, save

# Seven columns of seven bits, from below; the highest bit of each stays empty, so that no line goes on in the next.
COLUMNS = tuple(0b111111 << 7 * k for k in (3, 2, 4, 1, 5, 0, 6))  # the middle first
BOTTOM, ALL, CELLS = sum(1 << 7 * k for k in range(7)), sum(COLUMNS), np.delete(np.arange(49), np.arange(6, 49, 7))
NETWORK = tf.keras.Sequential([tf.keras.Input([84]), *(tf.keras.layers.Dense(n, "tanh") for n in (64, 64, 1))])
MATCHES = ((1, 1), (1, 2), (2, 2), (2, 3), (2, 4))  # how many moves are searched with the network, and without


def cells(*sides):
    stones = [tf.bitwise.right_shift(tf.cast(side, tf.int64)[:, None], CELLS) & 1 for side in sides]
    return tf.cast(tf.concat(stones, axis=1), tf.float32)


@ab.primitive(batched=True)
def judged(mine, theirs):
    """[members], what the network thinks that positions are worth to who moves, from -1 to 1."""
    return NETWORK(cells(mine, theirs))[:, 0]


def has_four(stones):
    return any(stones & stones >> k & stones >> 2 * k & stones >> 3 * k != 0 for k in (1, 6, 7, 8))


def fallen(taken, column):
    return (taken + (column & BOTTOM)) & column & ~taken  # the stone that falls there, 0 if it is full


@ab.autobatch
def worth(mine, theirs, depth, with_network, alpha, beta):
    """What the position is worth to who moves, between these bounds."""
    if has_four(theirs):
        return -1.0 - 0.01 * depth  # the sooner, the worse
    if depth == 0:
        return judged(mine, theirs) if with_network else 0.0
    for column in COLUMNS:
        stone = fallen(mine | theirs, column)
        if stone != 0 and alpha < beta:
            alpha = max(alpha, -worth(theirs, mine | stone, depth - 1, with_network, -beta, -alpha))
    return alpha if mine | theirs != ALL else 0.0


@ab.autobatch
def game(depths, with_network, by_chance, looked_at, key):
    """Whether who began won (1), lost (-1) or neither; and the stones before one of the moves, first of who moves."""
    mine, theirs, seen = 0, 0, (0, 0)
    for turn in range(42):
        seen = (mine, theirs) if turn == looked_at else seen
        best, move = -9.0, 0
        for column in COLUMNS:
            key, own = ab.random.split(key)
            stone, value = fallen(mine | theirs, column), 0.001 * ab.random.uniform(own)
            if stone != 0 and turn >= by_chance:
                value -= worth(theirs, mine | stone, depths[turn % 2] - 1, with_network[turn % 2], -2.0, 2.0)
            if stone != 0 and value > best:
                best, move = value, stone
        mine, theirs = theirs, mine | move
        if has_four(theirs):
            return 1 - 2 * (turn % 2), seen
    return 0, seen


def main(games: int = 200, lessons: int = 20_000, matches: int = 5, out: Path = Path("out")) -> None:
    at, keys = np.random.default_rng(0).integers(4, 32, lessons), ab.random.split(ab.random.key(1), lessons)
    chance, played = np.zeros([lessons, 2], np.int32), MATCHES[:matches][::-1]
    won, seen = game(chance, chance > 0, np.full(lessons, 42), at, keys)
    has_come_there = (seen[0] | seen[1]) > 0
    NETWORK.compile("adam", "mse")
    NETWORK.fit(cells(*seen)[has_come_there], (won * (1 - 2 * (at % 2)))[has_come_there], 256, 8, verbose=0)
    sides = np.repeat([((a, 1), (b, 0)) for a, b in played], games, axis=0)
    sides[1::2] = sides[1::2, ::-1]  # who begins
    by_chance, keys = np.full(len(sides), 4), ab.random.split(ab.random.key(2), len(sides))
    won, _ = report(game, sides[..., 0], sides[..., 1] > 0, by_chance, -by_chance, keys)
    won = np.reshape(won * (-1) ** np.arange(len(sides)), [len(played), games])
    shares = np.stack([np.mean(won == result, axis=1) for result in (1, 0, -1)])
    axes = (figure := Figure(figsize=(8, 3), layout="constrained")).subplots()
    names = [f"{a} ahead, against {b} without" for a, b in played]
    for k, result in enumerate(("wins", "neither", "loses")):
        axes.barh(names, shares[k], left=shares[:k].sum(0), label=result, color=f"C{(0, 7, 1)[k]}")
        print(f"the network {result}:", *(f"{share:.0%}" for share in shares[k]))
    axes.set(xlabel=f"share of {games} games", xlim=(0, 1), title="Connect Four: a network in the leaves")
    axes.legend(ncols=3, loc="upper center", bbox_to_anchor=(0.5, -0.2))
    save(figure, out / "connect_four.png")


if __name__ == "__main__":
    typer.run(main)
