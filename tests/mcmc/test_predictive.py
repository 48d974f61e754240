"""What results of models say of data: the likelihood of each, and data that the model makes."""

import pickle

import arviz
import numpy as np
import pytest
import tensorflow as tf
import tensorflow_probability as tfp
from scipy import stats

from autobatch.errors import SettingError
from autobatch.mcmc.joint_distribution import ModelDensity
from autobatch.mcmc.metric import unit
from autobatch.mcmc.result import ARVIZ_NAMES, Result

tfd = tfp.distributions
COUNTS, LENGTHS, PAIR = np.array([1.0, 2, 3, 2, 1]), np.array([0.5, 2.0, 3.0]), np.array([1.0, 0.0])


def model_of(kind, auto):
    """A rate, and data of a Sample, an Independent and a multivariate normal, in TFP's three ways to write a model.

    auto: by its vectorized classes, where a model is of one draw.
    """
    column = (lambda rate: rate) if auto else (lambda rate: rate[..., tf.newaxis])
    rate, counts = tfd.Gamma(20.0, 10.0), lambda rate: tfd.Sample(tfd.Poisson(rate), 5)
    lengths = lambda rate: tfd.Independent(tfd.Normal(column(rate) * tf.ones(3), [1.0, 2.0, 3.0]), 1)
    pair = lambda rate: tfd.MultivariateNormalDiag(column(rate) * tf.ones(2), [1.0, 2.0])
    way = getattr(tfd, f"JointDistribution{kind}{'AutoBatched' if auto else ''}")
    if kind == "Named":
        return way({"rate": rate, "counts": counts, "lengths": lengths, "pair": pair})
    if kind == "Sequential":
        return way([rate, counts, lambda counts, rate: lengths(rate), lambda lengths, counts, rate: pair(rate)])

    def model():
        at = yield tfd.JointDistributionCoroutine.Root(tfd.Gamma(20.0, 10.0, name="rate"))
        yield counts(at).copy(name="counts")
        yield lengths(at).copy(name="lengths")
        yield pair(at).copy(name="pair")

    return way(model)


def result_of(model, observed, chains=3, draws=200):
    """As if they were the draws of a sampler."""
    density = ModelDensity(model, observed)
    rate = np.random.default_rng(0).gamma(20.0, 0.1, [chains, draws]).astype(np.float32)
    samples = density.packed([tf.constant(rate)])
    statistics = {name: tf.zeros([chains, draws]) for name in ARVIZ_NAMES}
    return Result(samples, statistics, 0.1, unit(1, np.float32), density.pins, None, density)


@pytest.fixture(params=[(k, a) for k in ("Named", "Sequential", "Coroutine") for a in (False, True)], ids=str)
def result(request):
    kind, auto = request.param
    data = [tf.constant(leaf, tf.float32) for leaf in (COUNTS, LENGTHS, PAIR)]
    named = dict(zip(("counts", "lengths", "pair"), data, strict=True))
    return result_of(model_of(kind, auto), (None, *data) if kind == "Sequential" else named)


def test_each_datum_has_a_likelihood_and_data_are_made_from_each_draw(result):
    rate = np.asarray(tf.nest.flatten(result.samples)[0])
    counts, lengths, pair = result.log_likelihood().values()
    np.testing.assert_allclose(counts, stats.poisson.logpmf(COUNTS, rate[..., None]), rtol=1e-4)
    np.testing.assert_allclose(lengths, stats.norm.logpdf(LENGTHS, rate[..., None], [1, 2, 3]), rtol=1e-4)
    np.testing.assert_allclose(pair, stats.norm.logpdf(PAIR, rate[..., None], [1, 2]).sum(-1), rtol=1e-4)

    made, again, others = result.predictive(seed=3), result.predictive(seed=3), result.predictive(seed=4)
    for name, (size, variances) in zip(made, [(5, rate.mean()), (3, [1, 4, 9]), (2, [1, 4])], strict=True):
        assert made[name].shape == (3, 200, size)
        np.testing.assert_array_equal(made[name], again[name])
        assert (made[name] != others[name]).numpy().any()
        left = np.asarray(made[name]) - rate[..., None]
        np.testing.assert_allclose(left.mean((0, 1)), 0.0, atol=5 * np.sqrt(np.max(variances) / rate.size))
        np.testing.assert_allclose(left.var((0, 1)), variances, rtol=0.4)
        assert np.abs(np.corrcoef(left.reshape(-1, size).T) - np.eye(size)).max() < 5 / np.sqrt(rate.size)


def test_what_arviz_gets():
    named = {"counts": tf.constant(COUNTS, tf.float32), "lengths": LENGTHS, "pair": PAIR}
    result = result_of(model_of("Named", True), named)
    assert {"posterior_predictive", "log_likelihood"}.isdisjoint(result.to_arviz().groups())
    data = result.to_arviz(
        log_likelihood=True,
        predictive=True,
        prior=True,
        dims={"counts": ["day"]},
        coords={"day": ["Mo", "Tu", "We", "Th", "Fr"]},
    )
    assert data.prior["rate"].shape == (1, 200)
    assert (data.prior["rate"].values != np.asarray(result.prior(200, seed=1)["rate"])).any()
    assert data.prior_predictive["counts"].dims == ("chain", "draw", "day")
    for group in (data.log_likelihood, data.posterior_predictive):
        assert group["counts"].dims == ("chain", "draw", "day")
    assert data.observed_data["counts"].sel(day="We") == 3.0
    found = arviz.loo(data, var_name="counts", pointwise=True)
    assert found.loo_i.dims == ("day",)


def test_the_prior_makes_parts_and_data(result):
    made = result.prior(500, seed=1)
    pair = {*made} - {"rate", "counts", "lengths"}  # "x" in a Sequential, as nothing refers to it
    assert [tuple(made[name].shape) for name in ("rate", "counts", "lengths", *pair)] == [
        (500,),
        (500, 5),
        (500, 3),
        (500, 2),
    ]
    rate = np.asarray(made["rate"])
    np.testing.assert_allclose((rate.mean(), rate.var()), (2.0, 0.2), rtol=0.25)
    np.testing.assert_allclose(np.corrcoef(rate, np.mean(made["counts"], axis=1))[0, 1], 0.58, atol=0.15)


def test_without_data():
    with pytest.raises(SettingError, match="The model was given no data"):
        result_of(tfd.JointDistributionSequential([tfd.Normal(0.0, 1.0)]), None).log_likelihood()
    result = result_of(model_of("Named", False), {"counts": COUNTS, "lengths": LENGTHS, "pair": PAIR})
    with pytest.raises(SettingError, match="A log density has no data"):
        pickle.loads(pickle.dumps(result)).predictive()
    with pytest.raises(SettingError, match="A log density has no prior"):
        pickle.loads(pickle.dumps(result)).prior()
