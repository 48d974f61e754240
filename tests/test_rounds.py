"""``dispatch="rounds"``: a block that is dear runs once after all rounds, as long as few members wait for it."""

import numpy as np
import pytest
import tensorflow as tf

import autobatch as ab
from autobatch.errors import StepLimitError
from autobatch.machine import devices
from examples.fibonacci import fibonacci

MATRIX = np.random.default_rng(0).normal(size=(32, 32)) / 8


def products(v):
    for _ in range(8):
        v = tf.tanh(tf.linalg.matvec(tf.constant(MATRIX), v))
    return v


@ab.autobatch
def settling(rarity, turns):
    """Its product of matrices is dear; a member needs it in one turn of ``rarity``, and in each of the last."""
    v = tf.ones([32], tf.float64)
    for k in range(turns):
        v = products(v) if k % rarity == 0 or k > 40 else v + 0.01
    return v


def settled(rarity, turns):
    v = np.ones(32)
    for k in range(turns):
        if k % rarity == 0 or k > 40:
            for _ in range(8):
                v = np.tanh(MATRIX @ v)
        else:
            v = v + 0.01
    return v


@ab.autobatch
def walk(n, m):
    """Three loops, one behind the other and one in the other, and a call in the innermost."""
    total = 0
    while n > 0:
        n -= 1
        k = n % m
        while k > 0:
            k -= 2
            total += triangle(k)
    return total


@ab.autobatch
def triangle(n):
    return n + triangle(n - 1) if n > 0 else 0


def walked(n, m):
    total = 0
    while n > 0:
        n -= 1
        k = n % m
        while k > 0:
            k -= 2
            total += sum(range(1, k + 1))
    return total


def runs(lowered):
    """Of each block."""
    return np.array([block.counts[0] for block in lowered.count().blocks])


def dear_block(lowered):
    return int(np.argmax([block.cost for block in lowered.count().blocks]))


def test_a_block_that_few_wait_for_runs_once_after_all_rounds():
    rarity, turns = np.arange(11, 75), np.tile([40, 41, 30, 25], 16)
    lowered = settling.options(dispatch="rounds", shards=1).lower(rarity, turns)
    dear = dear_block(lowered)
    assert runs(lowered)[dear] <= runs(lowered).max() / 3
    for found, *member in zip(settling.options(dispatch="rounds")(rarity, turns), rarity, turns, strict=True):
        np.testing.assert_allclose(found, settled(*member), rtol=1e-9, atol=1e-12)


def test_a_block_that_many_wait_for_runs_in_each_round():
    rarity, turns = np.array([1, 1, 1, 2]), np.array([300, 301, 302, 300])
    lowered = settling.options(dispatch="rounds", shards=1).lower(rarity, turns)
    dear = dear_block(lowered)
    assert runs(lowered)[dear] >= 0.8 * runs(lowered).max()


@pytest.mark.parametrize("limit", [None, 100_000])
def test_members_who_come_to_need_it_more_often(limit):
    rarity, turns = np.repeat([1, 7, 16, 64], 8), np.tile([0, 1, 30, 39, 42, 90, 200, 201], 4)
    for found, *member in zip(
        settling.options(dispatch="rounds", max_steps=limit)(rarity, turns), rarity, turns, strict=True
    ):
        np.testing.assert_allclose(found, settled(*member), rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("k", range(6))
def test_whichever_block_is_dear(monkeypatch, k):
    monkeypatch.setattr(devices, "dear", lambda _, blocks: blocks[k % len(blocks)])
    n, m = np.array([0, 1, 9, 25, 40, 8]), np.array([1, 2, 3, 7, 5, 100])
    rounds = {"dispatch": "rounds", "schedule": "most_populated" if k % 2 else "auto"}
    assert walk.options(**rounds)(n, m).numpy().tolist() == list(map(walked, n, m))
    assert fibonacci.options(**rounds)(np.array([3, 12, 0, 7, 11])).numpy().tolist() == [3, 233, 1, 21, 144]


def test_who_never_ends_is_told_beside_a_dear_block():
    with pytest.raises(StepLimitError):
        settling.options(dispatch="rounds", max_steps=50)(np.array([1, 16]), np.array([10_000, 3]))
