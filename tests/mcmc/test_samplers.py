"""Elliptical slice sampling and delayed-rejection HMC, on every backend."""

import numpy as np
import pytest
import tensorflow as tf

import autobatch as ab
from autobatch.errors import MemberAssertionError
from tests.backends import BACKENDS

Y = tf.constant([1.0, -2.0, 0.5])
SCALES = tf.constant([1.0, 0.05])


def prior_draw(key):
    return ab.random.normal(key, [3])


ELLIPTICAL = ab.mcmc.EllipticalSlice(lambda q: -2.0 * tf.reduce_sum((q - Y) ** 2), prior_draw)
DELAYED = ab.mcmc.DelayedRejectionHMC(lambda q: -0.5 * tf.reduce_sum((q / SCALES) ** 2), 0.3, 5)


def keys(chains):
    return ab.random.split(ab.random.key(1), chains)


def test_elliptical_slice_sampling():
    """A standard normal prior, and observations Y with deviation 0.5: the posterior is N(0.8 Y, 0.2)."""
    draws, evaluations = ab.mcmc.draws(ELLIPTICAL, 300, tf.zeros([64, 3]), keys(64))
    np.testing.assert_allclose(np.mean(draws[:, 50:], (0, 1)), 0.8 * Y, atol=0.03)
    np.testing.assert_allclose(np.var(draws[:, 50:], (0, 1)), 0.2, rtol=0.08)
    assert evaluations.numpy().min() >= 1
    assert evaluations.numpy().max() > 5


def test_delayed_rejection():
    """Two scales: the first attempt's steps are six times what the narrow one bears."""
    draws, attempts = ab.mcmc.draws(DELAYED, 400, tf.zeros([64, 2]), keys(64))
    np.testing.assert_allclose(np.std(draws[:, 50:], (0, 1)), SCALES, rtol=0.05)
    np.testing.assert_allclose(np.mean(draws[:, 50:], (0, 1)) / SCALES, 0.0, atol=0.05)
    assert set(np.unique(attempts)) <= {0, 1, 2, 3}


def test_delayed_rejection_where_all_attempts_matter():
    """A funnel of which every attempt takes its part; its neck is v ~ N(0, 1)."""

    def funnel(q):
        return -0.5 * q[0] ** 2 - 0.5 * tf.reduce_sum(q[1:] ** 2) * tf.exp(-2.0 * q[0]) - 2.0 * q[0]

    sampler = ab.mcmc.DelayedRejectionHMC(funnel, 0.6, 4)
    draws, attempts = ab.mcmc.draws(sampler, 1500, tf.zeros([128, 3]), keys(128))
    assert np.bincount(attempts.numpy().ravel(), minlength=4).min() > 1000
    np.testing.assert_allclose(np.mean(draws[:, 100:, 0]), 0.0, atol=0.06)
    np.testing.assert_allclose(np.std(draws[:, 100:, 0]), 1.0, atol=0.05)


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize(("sampler", "size"), [(ELLIPTICAL, 3), (DELAYED, 2)])
def test_every_backend(sampler, size, backend):
    expected = ab.mcmc.draws(sampler, 4, tf.ones([3, size]) / 20, keys(3))
    got = ab.mcmc.draws.options(**BACKENDS[backend])(sampler, 4, tf.ones([3, size]) / 20, keys(3))
    np.testing.assert_array_equal(got[1], expected[1])
    np.testing.assert_allclose(got[0], expected[0], rtol=1e-3, atol=1e-4)


def test_a_likelihood_that_rounding_drowns():
    """The state's own value, 1e6 with a spacing of 0.06, may be all that there is above the slice."""
    sampler = ab.mcmc.EllipticalSlice(lambda q: -0.5 * tf.reduce_sum(q**2) - 1e6, prior_draw)
    draws, _ = ab.mcmc.draws(sampler, 100, tf.zeros([64, 3]), keys(64))
    assert np.isfinite(draws).all()


SCALE = 1.0


def test_a_changed_global_is_seen():
    global SCALE
    sampler = ab.mcmc.EllipticalSlice(lambda q: -0.5 * tf.reduce_sum((q / SCALE) ** 2), prior_draw)
    for SCALE, variance in ((1.0, 0.5), (1e3, 1.0)):  # noqa: B007
        draws, _ = ab.mcmc.draws(sampler, 200, tf.zeros([64, 3]), keys(64))
        np.testing.assert_allclose(np.var(draws[:, 20:]), variance, rtol=0.1)


@pytest.mark.parametrize("make", [
    lambda log_prob: ab.mcmc.EllipticalSlice(log_prob, prior_draw),
    lambda log_prob: ab.mcmc.DelayedRejectionHMC(log_prob, 0.1, 3),
])  # fmt: skip
def test_a_start_outside_of_the_support_is_named(make):
    sampler = make(lambda q: tf.math.log(q[0]))
    with pytest.raises(MemberAssertionError, match="of the state is not finite") as caught:
        ab.mcmc.draws(sampler, 2, tf.constant([[1.0, 0, 0], [-1.0, 0, 0]]), keys(2))
    assert caught.value.members == (1,)
