"""Objects that a batch returns, of which an attribute is None: for all members, or for some, who fail."""

import numpy as np
import pytest
import tensorflow as tf

import autobatch as ab
from autobatch.errors import NoneValueError


class Best:
    def __init__(self):
        self.score, self.rest = None, None


def kept(x):
    best = Best()
    if x > 1:
        best.score = x
    return best


X = tf.constant([2.0, 0.5, 3.0])


def test_none_for_some():
    with pytest.raises(
        NoneValueError, match=r"In member 1, `kept` returns an object whose `\.score` is None"
    ) as caught:
        ab.autobatch(kept, jit_compile=False)(X)
    assert caught.value.members == (1,)
    assert np.asarray(caught.value.results.score)[[0, 2]].tolist() == [2.0, 3.0]


def test_none_for_all():
    best = ab.autobatch(kept, jit_compile=False)(X[::2])
    assert type(best) is Best and best.rest is None and sorted(vars(best)) == ["rest", "score"]
    assert best.score.numpy().tolist() == [2.0, 3.0]
