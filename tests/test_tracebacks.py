"""Errors show their users' frames, and all frames where that is asked for."""

import traceback

import pytest
import tensorflow as tf

import autobatch as ab
from autobatch.errors import AutobatchError


@ab.autobatch
def reads_nothing(x):
    return x.nothing


@ab.autobatch
def runs_for_ever(x):
    while x > 0:
        x = x + 1.0
    return x


def of_a_log_density():
    ab.mcmc.sample(lambda q: q.nothing, tf.zeros([4, 2]), num_warmup=5, num_results=5, progress=False)


X = tf.constant([1.0, 2.0])
CALLS = [
    lambda: reads_nothing(X),
    lambda: reads_nothing.lower(X),
    lambda: reads_nothing.map(X),
    lambda: reads_nothing.start(X),
    lambda: ab.profile(reads_nothing, X),
    lambda: runs_for_ever.options(max_steps=10)(X),
    of_a_log_density,
]


def frames_of(call):
    """The files that an error's traceback names, below this test's own, and what is printed of it."""
    with pytest.raises(AutobatchError) as caught:
        call()
    error = caught.value
    files = [frame.filename for frame in traceback.extract_tb(error.__traceback__)]
    return files[files.index(__file__) :], "".join(traceback.format_exception(error))


@pytest.mark.parametrize("call", CALLS)
def test_one_frame_is_the_librarys(call):
    files, text = frames_of(call)
    assert len([file for file in files if file != __file__]) == 1
    assert "tensorflow/" not in text
    assert "direct cause" not in text


@pytest.mark.parametrize("call", CALLS[:2])
def test_all_frames(call, monkeypatch):
    monkeypatch.setenv("AUTOBATCH_TRACEBACK", "full")
    files, text = frames_of(call)
    assert len(files) > 5
    assert "direct cause" in text
