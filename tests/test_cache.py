"""What was compiled is kept, but not all of it for ever."""

import warnings

import numpy as np
import pytest
import tensorflow as tf

import autobatch as ab
from autobatch.calls.recent import Recent
from autobatch.errors import CacheWarning


def doubling():
    @ab.autobatch(jit_compile=False)
    def doubled(x):
        while tf.reduce_sum(x) < 8:
            x = 2 * x
        return x

    return doubled


def test_the_program_used_longest_ago_is_dropped():
    f = doubling()
    f._programs = Recent(str, frames=5, most=2)
    for size in (1, 2, 1):
        f(tf.ones([3, size]))
    kept = f._program(f._take_apart((tf.ones([3, 1]),), {}))
    with pytest.warns(
        CacheWarning, match=r"More than 2 are kept .*: `doubled` for x: float32\[2\] was dropped"
    ) as caught:
        f(tf.ones([3, 3]))
    assert caught[0].filename == __file__
    assert f._program(f._take_apart((tf.ones([3, 1]),), {})) is kept
    with pytest.warns(CacheWarning, match=r"float32\[3\] was dropped"):
        np.testing.assert_array_equal(f(tf.ones([3, 2])), 4 * np.ones([3, 2]))


def test_so_is_a_batch_size():
    f = doubling()
    program = f._program(f._take_apart((tf.ones([1, 1]),), {}))
    program.executables = Recent(program._of_size, frames=5, most=1)
    f(tf.ones([2, 1]))
    with pytest.warns(CacheWarning, match=r"for x: float32\[1\], in a batch of 2 was dropped"):
        f(tf.ones([3, 1]))


def test_many_signatures():
    f = doubling()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", CacheWarning)
        for size in range(1, 300):
            f._program(f._take_apart((tf.ones([1, size]),), {}))
    assert len(f._programs) == 256 and len(caught) == 299 - 256
