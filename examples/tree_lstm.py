"""A tree-LSTM (Tai, Socher and Manning 2015) over parse trees of all shapes, each member walking its own.

python -m examples.tree_lstm [--trees 1000] [--width 32]
"""

import numpy as np
import tensorflow as tf
import typer

import autobatch as ab
from examples.against_a_loop import report

WORDS, LONGEST = 50, 24


def random_trees(count: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """For each node its children, or -1 and its word; nodes in the order of their making, the root's number last."""
    left, right, word = (np.full((count, 2 * LONGEST), -1, np.int32) for _ in range(3))
    leaves = rng.integers(1, LONGEST + 1, count)
    for tree, size in enumerate(leaves):
        word[tree, :size] = rng.integers(0, WORDS, size)
        roots = list(range(size))
        for node in range(size, 2 * size - 1):
            k = rng.integers(0, len(roots) - 1)
            left[tree, node], right[tree, node] = roots[k : k + 2]
            roots[k : k + 2] = [node]
    return left, right, word, (2 * leaves - 2).astype(np.int32)


class TreeLSTM:
    def __init__(self, width: int, seed: int = 0):
        rng = np.random.default_rng(seed)
        self.words = tf.constant(rng.normal(0, 1, (WORDS, width)), tf.float32)
        self.gates = tf.constant(rng.normal(0, (2 * width) ** -0.5, (2 * width, 5 * width)), tf.float32)

    @ab.autobatch
    def encode(self, left, right, word, node):
        """The hidden state and the memory of the subtree under a node."""
        if left[node] < 0:
            memory = tf.gather(self.words, word[node])
            return tf.tanh(memory), memory
        h_left, c_left = self.encode(left, right, word, left[node])
        h_right, c_right = self.encode(left, right, word, right[node])
        gates = tf.linalg.matvec(self.gates, tf.concat([h_left, h_right], axis=0), transpose_a=True)
        enter, forget_left, forget_right, leave, new = tf.split(gates, 5)
        memory = tf.sigmoid(enter) * tf.tanh(new)
        memory = memory + tf.sigmoid(forget_left) * c_left + tf.sigmoid(forget_right) * c_right
        return tf.sigmoid(leave) * tf.tanh(memory), memory


def main(trees: int = 1000, width: int = 32) -> None:
    left, right, word, root = random_trees(trees, np.random.default_rng(1))
    model = TreeLSTM(width)
    state, _ = report(model.encode, left, right, word, root)
    alone, _ = model.encode.unbatched(left[0], right[0], word[0], root[0])
    print(f"trees of {(root.min() + 2) // 2} to {(root.max() + 2) // 2} words, encoded as {tuple(state.shape)}")
    print(f"the first tree by itself: {np.max(np.abs(alone - state[0])):.1e} apart")


if __name__ == "__main__":
    typer.run(main)
