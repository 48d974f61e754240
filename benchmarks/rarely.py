"""A costly branch that each member takes now and then: under ``jax.vmap`` a ``lax.cond`` runs both sides for all."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import tensorflow as tf

import autobatch as ab

SIZE, TURNS, ROUNDS, RARITY = 64, 200, 20, 16
MATRIX = (np.random.default_rng(0).normal(size=(SIZE, SIZE)) / np.sqrt(SIZE)).astype(np.float32)
matrix = tf.constant(MATRIX)


def settled(v):
    for _ in range(ROUNDS):
        v = tf.tanh(tf.linalg.matvec(matrix, v))
    return v


@ab.autobatch
def rarely(word):
    """Costly in one turn of sixteen, by a random number of the member's own."""
    v = tf.ones([SIZE])
    for _ in range(TURNS):
        word = (word * 75 + 74) % 65537
        v = settled(v) if word % RARITY == 0 else v + 0.01
    return tf.reduce_sum(v)


def with_vectorized_map(word: tf.Tensor) -> Callable[[], Any]:
    def one(word: tf.Tensor) -> tf.Tensor:
        def turn(k: tf.Tensor, word: tf.Tensor, v: tf.Tensor) -> tuple[tf.Tensor, ...]:
            word = (word * 75 + 74) % 65537
            return k + 1, word, tf.cond(tf.equal(word % RARITY, 0), lambda: settled(v), lambda: v + 0.01)

        return tf.reduce_sum(tf.while_loop(lambda k, *_: k < TURNS, turn, (0, word, tf.ones([SIZE])))[2])

    graph = tf.function(lambda word: tf.vectorized_map(one, word), autograph=False)  # XLA does not compile it
    return lambda: graph(word)
