"""Stacks that grow as deep as members need, and say so when that has no end."""

import numpy as np
import pytest
import tensorflow as tf

import autobatch as ab
from autobatch.errors import StackOverflowError
from tests.programs import PROGRAMS


@ab.autobatch(in_axes=(0, None, None))
def height(node, left, right):
    if node < 0:
        return 0
    return 1 + max(height(left[node], left, right), height(right[node], left, right))


@ab.autobatch
def runaway(n):
    if n == 2:
        return runaway(n) + 1
    return n


def test_a_tree_of_depth_5000():
    nodes = 5000
    left = tf.constant([*range(1, nodes), -1])  # a chain down the left,
    right = tf.constant([nodes if node == 7 else -1 for node in range(nodes)])  # with one leaf beside it
    left, right = tf.concat([left, [-1]], 0), tf.concat([right, [-1]], 0)
    starts = tf.constant([0, 4990, nodes, -1, 2500])
    np.testing.assert_array_equal(height(starts, left, right), [5000, 10, 1, 0, 2500])


def test_ackermann():
    function, _ = PROGRAMS["ackermann"]
    m, n = tf.constant([3, 2, 1, 0]), tf.constant([6, 300, 2000, 5])
    np.testing.assert_array_equal(function(m, n), [509, 603, 2002, 6])


def test_a_runaway_recursion_ends():
    with pytest.raises(StackOverflowError, match="max_depth=100000") as caught:
        runaway(tf.constant([1, 2, 5]))
    assert caught.value.members == (1,)
    np.testing.assert_array_equal(caught.value.results.numpy()[[0, 2]], [1, 5])
