"""Which leaves live where: what nothing reads has no storage, and copies share a register."""

from typing import NamedTuple

import numpy as np
import pytest
import tensorflow as tf

import autobatch as ab
from tests.modes import MODES, pairs


class Pair(NamedTuple):
    read: tf.Tensor
    unread: tf.Tensor


@ab.autobatch
def tree_sum(pair, depth):
    """Of a pair that is live across a call, one half is needed after it."""
    if depth == 0:
        return pair.read + pair.unread
    left = tree_sum(Pair(pair.read * 2, pair.unread), depth - 1)
    return left + tree_sum(Pair(pair.read * 3, left), depth - 1)


@ab.autobatch
def handed_on(walk, depth):
    """A structure goes from call to call; each returns what the next one gets."""
    if depth == 0:
        position, steps = walk
        return position * 0.5 + 1.0, steps + 1
    walk = handed_on(walk, depth - 1)
    return handed_on(walk, depth - 1)


@ab.autobatch
def swapping(a, b, n):
    """Copies that cross each other: sharing a register would lose one."""
    old, pair = a, (a, b)
    while n > 0:
        pair = (pair[1], pair[0])
        old, a = pair[0], old
        n = n - 1
    return old, a, pair


@ab.autobatch
def kept_across_a_call(x, depth):
    """`x` and its copy are both live across a call that changes neither."""
    if depth == 0:
        return x
    copy = x
    inner = kept_across_a_call(x + 1.0, depth - 1)
    x = x * 2.0
    return copy + 10.0 * x + inner


@ab.autobatch
def writes_and_copies(x, n):
    """An item write changes one of two copies."""
    before = x
    for i in range(n):
        x[i] = before[i] * 2.0 + x[0]
        if i % 2 == 1:
            before = x
    return before, x


DEPTHS = tf.constant([0, 1, 2, 3])
VECTORS = tf.reshape(tf.range(12.0), [4, 3])
CASES = {
    "tree_sum": (tree_sum, (Pair(VECTORS, VECTORS + 0.5), DEPTHS)),
    "handed_on": (handed_on, ((VECTORS, DEPTHS * 0), DEPTHS)),
    "swapping": (swapping, (VECTORS, -VECTORS, DEPTHS)),
    "kept_across_a_call": (kept_across_a_call, (VECTORS, DEPTHS)),
    "writes_and_copies": (writes_and_copies, (VECTORS, DEPTHS)),
}


@pytest.mark.parametrize(("case", "mode"), pairs(CASES))
def test_every_mode(case, mode):
    function, args = CASES[case]
    expected = function.options(backend="unbatched")(*args)
    found = MODES[mode](function, *args)
    tf.nest.map_structure(lambda a, b: np.testing.assert_allclose(a, b, rtol=1e-6), found, expected)


def stored(case):
    function, args = CASES[case]
    return function.lower(*args)._program.stack()


def test_a_half_that_nothing_reads_again_has_no_stack():
    assert stored("tree_sum").stacked == {("depth", 0), ("left", 0), ("pair", 0)}


def test_copies_share_registers():
    """What is handed from call to call never moves."""
    program = stored("handed_on")
    texts = map(str, program.program.blocks)
    (between,) = (block for block, text in zip(program.blocks, texts, strict=True) if "walk.1 = result" in text)
    assert program.registers["walk", 0] == program.registers["result", 0]
    assert between.writes == {("depth", 0)}


def test_what_lives_at_once_shares_nothing():
    program = stored("swapping")
    assert program.registers["pair", 0] != program.registers["pair", 1]
