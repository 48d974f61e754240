"""A tree-LSTM (Tai, Socher and Manning 2015) learns to evaluate formulas: gradients through a recursion of any shape.

python -m examples.formulas [--steps 300] [--width 16] [--out out]
"""

from pathlib import Path

import numpy as np
import tensorflow as tf
import typer
from matplotlib.figure import Figure

import autobatch as ab
from examples.against_a_loop import save, timed

OPERATIONS = (np.logical_and, np.logical_or, np.logical_xor)
LONGEST, TRAINED = 32, 12  # leaves of a formula, and of those that are learnt from


def formulas(count: int, longest: int, rng: np.random.Generator) -> tuple[list[np.ndarray], np.ndarray]:
    """Each node's children, or -1, and its symbol (false, true, and, or, xor); the root's number; what it is."""
    left, right, symbol = (np.full((count, 2 * LONGEST), -1, np.int32) for _ in range(3))
    leaves, truth = rng.integers(1, longest + 1, count), np.zeros(count, np.float32)
    for n, size in enumerate(leaves):
        values = list(rng.integers(0, 2, size))
        symbol[n, :size], roots = values, list(range(size))
        for node in range(size, 2 * size - 1):
            k, operation = rng.integers(0, len(roots) - 1), rng.integers(0, 3)
            left[n, node], right[n, node], symbol[n, node] = *roots[k : k + 2], 2 + operation
            values.append(OPERATIONS[operation](*(values[child] for child in roots[k : k + 2])))
            roots[k : k + 2] = [node]
        truth[n] = values[-1]
    return [left, right, symbol, (2 * leaves - 2).astype(np.int32)], truth


class Model:
    def __init__(self, width: int, seed: int = 0):
        rng = np.random.default_rng(seed)
        self.symbols = tf.Variable(rng.normal(0, 1, (5, width)), dtype=tf.float32)
        self.gates = tf.Variable(rng.normal(0, (3 * width) ** -0.5, (3 * width, 5 * width)), dtype=tf.float32)
        self.answer = tf.Variable(rng.normal(0, width**-0.5, width), dtype=tf.float32)
        self.weights = [self.symbols, self.gates, self.answer]

    @ab.autobatch
    def encode(self, left, right, symbol, node):
        """The hidden state and the memory of the formula under a node."""
        word = tf.gather(self.symbols, symbol[node])
        if left[node] < 0:
            return tf.tanh(word), word
        h_left, c_left = self.encode(left, right, symbol, left[node])
        h_right, c_right = self.encode(left, right, symbol, right[node])
        gates = tf.linalg.matvec(self.gates, tf.concat([h_left, h_right, word], axis=0), transpose_a=True)
        enter, forget_left, forget_right, leave, new = tf.split(gates, 5)
        memory = tf.sigmoid(enter) * tf.tanh(new)
        memory = memory + tf.sigmoid(forget_left) * c_left + tf.sigmoid(forget_right) * c_right
        return tf.sigmoid(leave) * tf.tanh(memory), memory

    def logits(self, trees, encode=None):
        return tf.linalg.matvec((encode or self.encode)(*trees)[0], self.answer)

    def gradients(self, trees, truth, encode=None):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(tf.nn.sigmoid_cross_entropy_with_logits(truth, self.logits(trees, encode)))
        return loss, tape.gradient(loss, self.weights)


def main(steps: int = 300, width: int = 16, batch: int = 256, tests: int = 2000, out: Path = Path("out")) -> None:
    rng, model, losses, taken = np.random.default_rng(1), Model(width), [], []
    optimizer = tf.keras.optimizers.Adam(0.01)
    for _ in range(steps):
        trees, truth = formulas(batch, TRAINED, rng)
        seconds, (loss, gradients) = timed(lambda trees=trees, truth=truth: model.gradients(trees, truth))
        optimizer.apply_gradients(zip(gradients, model.weights, strict=True))
        losses, taken = [*losses, float(loss)], [*taken, seconds]
    few = [part[:4] for part in trees], truth[:4], model.encode.options(backend="unbatched")
    each = timed(lambda: model.gradients(*few))[0] / 4
    trees, truth = formulas(tests, LONGEST, rng)
    right, sizes = np.equal(model.logits(trees) > 0, truth > 0.5), trees[3] // 2 + 1
    print(f"{batch} formulas and their gradients in {1e3 * np.median(taken):.3g} ms (the first time {taken[0]:.2g} s); "
          f"one at a time, in TensorFlow's eager mode, in {each * batch:.2g} s")  # fmt: skip
    for name, those in ((f"up to {TRAINED}", sizes <= TRAINED), (f"{TRAINED + 1} to {LONGEST}", sizes > TRAINED)):
        print(f"new formulas of {name} leaves: {np.mean(right[those]):.1%} right")
    figure = Figure(figsize=(10, 4), layout="constrained")
    axes, pair = figure.subplots(1, 2), (sizes - 1) // 2
    axes[0].plot(losses, lw=0.8)
    axes[0].set(xlabel="step", ylabel="cross-entropy", ylim=(0, None), title=f"learning from up to {TRAINED} leaves")
    share = np.bincount(pair, right, LONGEST // 2) / np.maximum(np.bincount(pair, minlength=LONGEST // 2), 1)
    axes[1].bar(2 * np.arange(LONGEST // 2) + 1.5, share, 1.8)
    axes[1].axvline(TRAINED + 0.5, color="black", ls="--", lw=1)
    axes[1].set(xlabel="leaves of a new formula", ylabel="share that is right", ylim=(0, 1.02), title="accuracy")
    save(figure, out / "formulas.png")


if __name__ == "__main__":
    typer.run(main)
