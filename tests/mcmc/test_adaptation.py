"""What warm-up learns: the metric from draws and gradients, the step size from all chains' acceptance."""

import numpy as np
import pytest
import tensorflow as tf

import autobatch as ab
from autobatch.mcmc.adaptation import first_step, pooled_step
from autobatch.mcmc.hamiltonian import State
from autobatch.mcmc.metric import MOST_DIRECTIONS, Bend, bent, fitted, straightened, unit


def matrix(metric):
    """A, as a whole."""
    directions, stretch, _ = metric.bend
    return np.diag(metric.scale) @ (np.eye(len(metric.scale)) + directions * stretch @ directions.T)


def gaussian_draws(covariance, chains, count):
    draws = np.random.default_rng(0).multivariate_normal(np.zeros(len(covariance)), covariance, [chains, count])
    return draws, -draws @ np.linalg.inv(covariance)


def test_of_a_gaussian_the_metric_is_the_covariance():
    """Also from few draws, because draws and gradients tell it together."""
    rotation = np.linalg.qr(np.random.default_rng(1).normal(size=[12, 12]))[0]
    covariance = rotation * np.geomspace(1e-2, 1e3, 12) @ rotation.T
    for chains, count in ((8, 500), (1, 30)):
        metric = fitted(*gaussian_draws(covariance, chains, count))
        root = matrix(metric)
        left = np.linalg.eigvalsh(np.linalg.solve(root, np.linalg.solve(root, covariance).T))
        assert left.max() / left.min() < (2.1 if chains > 1 else 10.0)


def test_of_independent_coordinates_it_is_a_scale():
    scale = np.geomspace(0.1, 10.0, 40)
    metric = fitted(*gaussian_draws(np.diag(scale**2), 4, 50))
    assert not metric.bend.is_any
    np.testing.assert_allclose(metric.scale, scale, rtol=0.25)


def test_gradients_that_are_not_finite_leave_a_scale():
    draws, gradients = gaussian_draws(np.array([[1.0, 0.99], [0.99, 1.0]]), 4, 50)
    assert fitted(draws, gradients).bend.is_any
    gradients[0, 0] = np.inf
    assert not fitted(draws, gradients).bend.is_any
    stuck = fitted(np.ones([4, 50, 3]), np.ones([4, 50, 3]))
    assert np.isfinite(matrix(stuck)).all()


def test_many_coordinates_have_room_for_some_directions():
    assert unit(500, np.float32).bend.directions.shape == (500, MOST_DIRECTIONS)
    assert unit(5000, np.float32).bend.directions.shape == (5000, 0)
    draws = np.random.default_rng(0).normal(size=[2, 20, 2000])
    assert not fitted(draws, -draws).bend.is_any


@pytest.mark.parametrize("is_any", [True, False])
def test_bent_and_straightened_are_inverses(is_any):
    random = np.random.default_rng(0)
    directions = np.linalg.qr(random.normal(size=[5, 3]))[0]
    bend = Bend(*map(tf.constant, (directions, [2.0, -0.5, 0.0], is_any)))
    bend = bend._replace(stretch=tf.cast(bend.stretch, tf.float64))
    v = tf.constant(random.normal(size=[4, 5]))

    @ab.autobatch(in_axes=(0, None))
    def there_and_back(v, bend):
        there = bent(v, bend)
        return there, straightened(there, bend)

    expected = v @ (np.eye(5) + directions * [2.0, -0.5, 0.0] @ directions.T) if is_any else v
    for backend in ("program_counter", "local_static"):
        there, back = there_and_back.options(backend=backend)(v, bend)
        np.testing.assert_allclose(there, expected, rtol=1e-12)
        np.testing.assert_allclose(back, v, rtol=1e-12)
    np.testing.assert_allclose(there_and_back.unbatched(v[0], bend)[0], expected[0], rtol=1e-12)


def test_the_step_that_suits_all_chains():
    assert pooled_step(0.3, np.full([4, 10], 0.8), 0.8) == pytest.approx(0.3)
    assert pooled_step(0.3, np.ones([4, 10]), 0.8) > 0.6
    stuck = np.full([4, 10], 0.95)
    stuck[2] = 0.0
    assert pooled_step(0.3, stuck, 0.8) < 0.2


@pytest.mark.parametrize("scale", [1e-4, 1.0, 1e4])
def test_the_first_step_fits_the_scale(scale):
    q = tf.constant(np.random.default_rng(0).normal(scale=scale, size=[16, 3]))

    def density(q):
        return -0.5 * tf.reduce_sum((q / scale) ** 2, -1), -q / scale**2

    step = first_step(density, State(q, *density(q)), 0.1, (1, 2))
    assert 0.3 * scale < step < 3.0 * scale


@pytest.mark.filterwarnings("ignore::autobatch.mcmc.SamplingWarning")
@pytest.mark.parametrize("variant", ["multinomial", "slice"])
def test_a_correlated_gaussian(variant):
    """Condition number 10,000, not along the axes: without directions, trajectories are some hundred steps long."""
    rotation = np.linalg.qr(np.random.default_rng(1).normal(size=[6, 6]))[0]
    covariance = rotation * np.geomspace(1e-2, 1e2, 6) @ rotation.T
    precision = tf.constant(np.linalg.inv(covariance), tf.float32)
    result = ab.mcmc.sample(
        lambda x: -0.5 * tf.reduce_sum(x * (x @ precision), -1),
        tf.zeros([1, 6]),
        500,
        300,
        0,
        chains=16,
        variant=variant,
    )
    assert np.mean(result.stats["n_leapfrog"]) < 12
    np.testing.assert_allclose(np.cov(np.reshape(result.samples, [-1, 6]).T), covariance, atol=0.05 * 100)
    np.testing.assert_allclose(np.var(result.samples, axis=(0, 1)), np.diag(covariance), rtol=0.15)
    assert 0.75 < np.mean(result.stats["acceptance"]) < 0.95
