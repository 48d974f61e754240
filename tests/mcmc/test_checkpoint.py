"""Sampling that is interrupted, and goes on from its file to the same draws."""

import numpy as np
import pytest
import tensorflow as tf

import autobatch as ab
from autobatch.calls import run_file
from autobatch.errors import RunFileError
from autobatch.mcmc import sampling
from tests.programs import collatz

pytestmark = pytest.mark.filterwarnings("ignore::autobatch.mcmc.SamplingWarning")
SCALES = tf.constant([1.0, 3.0])
HOW = {"num_results": 60, "num_warmup": 60, "seed": 0}


def gaussian(x):
    return -0.5 * tf.reduce_sum((x / SCALES) ** 2, -1)


def sampled(path=None, target=gaussian, start=0.0, **how):
    return ab.mcmc.sample(target, tf.fill([4, 2], start), **{**HOW, **how}, autosave=path, every=0.0)


@pytest.fixture(scope="module")
def expected():
    return sampled()


def assert_same(result, expected):
    np.testing.assert_array_equal(result.samples, expected.samples)
    for name, values in expected.stats.items():
        np.testing.assert_array_equal(result.stats[name], values)
    assert result.step_size == expected.step_size


@pytest.fixture
def path(tmp_path):
    return tmp_path / "chains"


def interrupt_after(monkeypatch, pieces):
    """Ctrl-C in a piece of the run."""
    advance, seen = sampling._Chains._advance, []

    def stopping(*args):
        if len(seen) == pieces:
            raise KeyboardInterrupt
        seen.append(args)
        return advance(*args)

    monkeypatch.setattr(sampling._Chains, "_advance", stopping)


@pytest.mark.parametrize("pieces", [1, 2, 5, 9])
def test_interrupted(path, expected, monkeypatch, pieces):
    with monkeypatch.context() as patch:
        interrupt_after(patch, pieces)
        with pytest.raises(KeyboardInterrupt):
            sampled(path)
    assert 5 * pieces < run_file.read(path).standing.taken <= 10 * pieces
    assert_same(sampled(path), expected)


def test_again_and_again(path, expected, monkeypatch):
    for _ in range(12):
        with monkeypatch.context() as patch:
            interrupt_after(patch, 1)
            try:
                sampled(path)
            except KeyboardInterrupt:
                continue
            break
    assert_same(sampled(path), expected)


def test_a_run_that_is_over_is_not_run_again(path, expected, monkeypatch):
    assert_same(sampled(path), expected)
    interrupt_after(monkeypatch, 0)
    assert_same(sampled(path), expected)


def test_other_settings(path):
    sampled(path)
    with pytest.raises(RunFileError, match=r"holds a run with num_results=60\."):
        sampled(path, num_results=100)
    with pytest.raises(RunFileError, match="holds a run with seed="):
        sampled(path, seed=1)


def test_another_target(path):
    sampled(path)
    with pytest.raises(RunFileError, match="another log density"):
        sampled(path, target=lambda x: 1.1 * gaussian(x) - 1.0)
    with pytest.raises(RunFileError, match="another log density"):  # of the same value and gradient at the start
        sampled(path, target=lambda x: gaussian(x) - 0.0 * tf.reduce_sum(x**4, -1))
    with pytest.raises(RunFileError, match="starts elsewhere"):
        sampled(path, start=1.0)


def test_a_file_of_another_kind(path):
    collatz.start(tf.range(1, 5)).save(path)
    with pytest.raises(RunFileError, match="of another kind"):
        sampled(path)
    path.unlink()
    sampled(path)
    with pytest.raises(RunFileError, match="of another kind"):
        ab.load_run(collatz, path)
