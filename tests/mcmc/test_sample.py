"""Whole chains: right moments, the same draws in every batch, models, statistics, warnings and errors."""

import warnings

import numpy as np
import pytest
import tensorflow as tf
import tensorflow_probability as tfp

import autobatch as ab
from autobatch.backends import shards
from autobatch.calls.specialisation import Specialisation
from autobatch.errors import GradientError, LogDensityError, SettingError, StartError
from autobatch.mcmc import SamplingWarning
from autobatch.mcmc import model as models
from autobatch.mcmc.adaptation import windows
from autobatch.mcmc.density import log_density
from autobatch.mcmc.layout import Layout
from autobatch.mcmc.summary import Summary
from autobatch.mcmc.trouble import split_r_hat

tfd = tfp.distributions
SCALES = np.array([1.0, 10.0, 0.1], np.float32)


def gaussian(x):
    return -0.5 * tf.reduce_sum((x / SCALES) ** 2, -1)


@ab.autobatch
def settled_normal(x):
    """Of x = y + y³ for a y of the normal distribution; y by as many of Newton's steps as it takes."""
    y = 0.1 * x
    while tf.abs(y + y**3 - x) > 1e-5 * (1.0 + tf.abs(x)):
        y = y - (y + y**3 - x) / (1.0 + 3.0 * y**2)
    return -0.5 * y**2 - tf.math.log(1.0 + 3.0 * y**2)


@pytest.fixture(scope="module")
def result():
    return ab.mcmc.sample(gaussian, tf.zeros([8, 3]), num_results=500, num_warmup=300, seed=0)


def test_moments_and_warm_up(result):
    samples = np.asarray(result.samples)
    assert samples.shape == (8, 500, 3)
    np.testing.assert_allclose(samples.std((0, 1)), SCALES, rtol=0.1)
    np.testing.assert_allclose(samples.mean((0, 1)) / SCALES, np.zeros(3), atol=0.1)
    np.testing.assert_allclose(result.metric.scale, SCALES, rtol=0.3)
    assert 0.7 < np.mean(result.stats["acceptance"]) < 0.97


def test_statistics(result):
    stats = {name: np.asarray(values) for name, values in result.stats.items()}
    assert set(stats) >= {"step_size", "tree_depth", "n_leapfrog", "acceptance", "energy", "diverging"}
    assert all(values.shape == (8, 500) for values in stats.values())
    np.testing.assert_allclose(stats["step_size"], result.step_size, rtol=1e-6)  # XLA's exp is off by a bit
    assert (stats["n_leapfrog"] < 2 ** stats["tree_depth"]).all()
    assert (stats["n_leapfrog"] >= 1).all()
    assert stats["diverging"].dtype == bool
    assert not stats["diverging"].any()
    np.testing.assert_allclose(stats["log_prob"], gaussian(result.samples), rtol=1e-4, atol=1e-5)
    assert (stats["energy"] >= -stats["log_prob"]).all()


def test_summary_and_arviz(result):
    table = result.summary()
    assert list(table.columns) == ["mean", "sd", "5%", "50%", "95%", "ess_bulk", "ess_tail", "r_hat"]
    assert list(table.index) == ["x[0]", "x[1]", "x[2]"]
    np.testing.assert_allclose(table["95%"] / SCALES, 1.645, atol=0.2)
    data = result.to_arviz()
    assert data.posterior["x"].shape == (8, 500, 3)
    assert {"diverging", "energy", "acceptance_rate", "tree_depth", "n_steps", "step_size", "lp"} <= set(
        data.sample_stats
    )
    assert "8 chains x 500 draws of x [3]" in repr(result)


def test_a_summary_shows_no_more_digits_than_count(result):
    whole = result.summary()
    assert whole.loc["x[1]", "sd"] != round(whole.loc["x[1]", "sd"], 2)
    assert isinstance(whole.head(2), Summary)
    assert "<td>" in result._repr_html_()
    numbers = [[1.23456, 0.98765, 0.5], [-1234.5, 1010.0, 0.5], [6e-7, 1e-4, 0.5], [2e9, 3.2e8, 0.5], [1 / 3, 0.0, 0.5]]
    table = Summary([[*row, 1234.5, 1.00049] for row in numbers], columns=["mean", "sd", "5%", "ess_bulk", "r_hat"])
    assert repr(table).splitlines() == [
        "       mean        sd        5% ess_bulk  r_hat",
        "0     1.235     0.988     0.500     1234  1.000",
        "1     -1230      1010         0     1234  1.000",
        "2  0.000001  0.000100  0.500000     1234  1.000",
        "3  2.00e+09  3.20e+08  5.00e-01     1234  1.000",
        "4     0.333         0       0.5     1234  1.000",
    ]
    assert "sd" not in repr(table[["mean"]])


def quiet(*args, **kwargs):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SamplingWarning)
        return ab.mcmc.sample(*args, **kwargs)


def test_progress_does_not_change_the_draws(result, capsys):
    again = ab.mcmc.sample(gaussian, tf.zeros([8, 3]), 500, 300, seed=0, progress=True)
    np.testing.assert_array_equal(again.samples, result.samples)
    err = capsys.readouterr().err
    assert "warm-up" in err
    assert "sampling: 100%" in err
    assert "800/800" in err


def test_jax_draws_the_same_up_to_rounding():
    scales = tf.constant(SCALES, tf.float64)  # test_warm_up_by_jax is of float32
    here = {"init_state": tf.ones([4, 3], tf.float64), "num_results": 4, "seed": 3, "step_size": 0.2}
    own, of_jax = (
        quiet(lambda x: -0.5 * tf.reduce_sum((x / scales) ** 2, -1), **here, num_warmup=0, device=device)
        for device in (None, "jax")
    )
    assert of_jax.samples.dtype == tf.float64
    np.testing.assert_allclose(of_jax.samples, own.samples, rtol=1e-3, atol=1e-3)
    np.testing.assert_array_equal(of_jax.stats["n_leapfrog"], own.stats["n_leapfrog"])


def test_warm_up_by_jax(result):
    found = ab.mcmc.sample(gaussian, tf.zeros([8, 3]), num_results=500, num_warmup=300, seed=0, device="jax")
    for samples in (found.samples, result.samples):
        np.testing.assert_allclose(np.std(samples, (0, 1)), SCALES, rtol=0.1)


def test_trajectories_are_as_long_as_those_of_the_peers():
    """AR(1), rho 0.9, 100 dimensions, step 0.25: 35.9 gradients a trajectory in NumPyro and BlackJAX."""
    covariance = 0.9 ** np.abs(np.subtract.outer(np.arange(100), np.arange(100)))
    precision = tf.constant(np.linalg.inv(covariance), tf.float32)
    start = np.random.default_rng(0).multivariate_normal(np.zeros(100), covariance, 64)
    result = quiet(
        lambda x: -0.5 * tf.reduce_sum(x * tf.matmul(x, precision), -1),
        tf.constant(start, tf.float32),
        num_results=40,
        num_warmup=0,
        step_size=0.25,
        seed=0,
    )
    assert 34.9 < np.mean(result.stats["n_leapfrog"]) < 36.9
    np.testing.assert_allclose(np.var(result.samples), 1.0, rtol=0.1)


def test_nests_and_float64():
    def density(shape, rate):
        return tf.reduce_sum(-0.5 * shape**2, [-1, -2]) - 0.5 * (rate - 3.0) ** 2

    start = {"shape": tf.zeros([8, 2, 1], tf.float64), "rate": tf.zeros([8], tf.float64)}
    result = ab.mcmc.sample(density, start, 400, 200, seed=3, variant="slice", leapfrogs_per_leaf=2)
    assert result.samples["shape"].shape == [8, 400, 2, 1]
    assert result.samples["rate"].dtype == tf.float64
    np.testing.assert_allclose(np.mean(result.samples["rate"]), 3.0, atol=0.15)
    np.testing.assert_allclose(np.std(result.samples["shape"]), 1.0, rtol=0.1)
    assert (result.stats["n_leapfrog"].numpy() % 2 == 0).all()
    assert set(result.to_arviz().posterior) == {"shape", "rate"}


def test_starts_around_one_point():
    result = quiet(gaussian, tf.fill([1, 3], 5.0), 20, 0, seed=0, chains=8, step_size=1e-6)
    samples = np.asarray(result.samples)
    assert samples.shape == (8, 20, 3)
    assert np.abs(samples - 5.0).max() < 1.001
    assert np.std(samples[:, 0]) > 0.3


def test_random_starts_are_traced_once():
    settings = {"num_results": 4, "num_warmup": 0, "chains": 8, "step_size": 0.1}
    quiet(gaussian, tf.zeros([1, 3]), seed=0, **settings)
    before = models._uniform.experimental_get_tracing_count()
    assert before > 0
    quiet(gaussian, tf.zeros([1, 3]), seed=1, **settings)
    assert models._uniform.experimental_get_tracing_count() == before


def test_a_profile_counts_the_leapfrogs():
    result = quiet(gaussian, tf.zeros([8, 3]), 20, 0, seed=0, step_size=0.4, profile=True)
    (line,) = (line for line in result.profile.lines if "self.density(q)" in line.source)
    assert round(line.runs * line.active_each) == np.sum(result.stats["n_leapfrog"])
    assert quiet(gaussian, tf.zeros([8, 3]), 20, 0, seed=0, step_size=0.4).profile is None


SIGMA = tf.constant([15.0, 10.0, 16.0, 11.0, 9.0, 11.0, 10.0, 18.0])
EFFECT = tf.constant([28.0, 8.0, -3.0, 7.0, -1.0, 1.0, 18.0, 12.0])


@tfd.JointDistributionCoroutineAutoBatched
def eight_schools():
    mu = yield tfd.Normal(0.0, 5.0, name="mu")
    tau = yield tfd.HalfCauchy(0.0, 5.0, name="tau")
    theta = yield tfd.Sample(tfd.Normal(0.0, 1.0), 8, name="theta")
    yield tfd.Normal(mu + tau * theta, SIGMA, name="y")


@pytest.mark.filterwarnings("ignore::autobatch.mcmc.SamplingWarning")
def test_eight_schools():
    """The reference posterior: posteriordb, eight_schools_noncentered (mu 4.4, tau 3.6)."""
    result = ab.mcmc.sample(eight_schools, observed={"y": EFFECT}, chains=16, seed=0)
    table = result.summary()
    np.testing.assert_allclose(table["mean"]["mu"], 4.4, atol=0.2)
    np.testing.assert_allclose(table["mean"]["tau"], 3.6, atol=0.25)
    assert table["r_hat"].max() < 1.01
    assert (np.asarray(result.samples.tau) > 0).all()
    assert result.to_arviz().observed_data["y"].shape == (8,)
    again = ab.mcmc.sample(eight_schools, observed={"y": EFFECT}, chains=16, seed=1)  # compiled already
    assert (np.asarray(again.samples.mu) != np.asarray(result.samples.mu)).any()


@pytest.mark.filterwarnings("ignore::autobatch.mcmc.SamplingWarning")
def test_a_named_model_with_constrained_parts_of_several_kinds():
    """Conjugate: Dirichlet and multinomial; gamma and Poisson."""
    model = tfd.JointDistributionNamedAutoBatched(
        {
            "p": tfd.Dirichlet([1.0, 2.0, 3.0]),
            "rate": tfd.Gamma(2.0, 1.0),
            "counts": lambda p: tfd.Multinomial(10.0, probs=p),
            "events": lambda rate: tfd.Poisson(rate),
        }
    )
    observed = {"counts": tf.constant([5.0, 3.0, 2.0]), "events": 4.0}
    result = ab.mcmc.sample(model, observed=observed, chains=8, num_results=600, seed=0, init="prior")
    p, rate = np.asarray(result.samples["p"]), np.asarray(result.samples["rate"])
    np.testing.assert_allclose(p.sum(-1), 1.0, rtol=1e-5)
    np.testing.assert_allclose(p.mean((0, 1)), np.array([6, 5, 5]) / 16, atol=0.02)
    np.testing.assert_allclose(rate.mean(), 6 / 2, atol=0.15)


@pytest.mark.filterwarnings("ignore::autobatch.mcmc.SamplingWarning")
def test_a_sequential_model_and_starts_in_its_own_space():
    model = tfd.JointDistributionSequential([tfd.LogNormal(0.0, 1.0), lambda scale: tfd.Normal(0.0, scale)])
    result = ab.mcmc.sample(model.experimental_pin(None, 2.0), [tf.ones([6])], 300, 100, seed=0)
    grid = np.linspace(-6, 6, 4001)
    weight = np.exp(-0.5 * grid**2 - grid - 2.0 / np.exp(2 * grid))
    np.testing.assert_allclose(np.mean(np.log(result.samples[0])), np.average(grid, weights=weight), atol=0.1)


@tfd.JointDistributionCoroutineAutoBatched
def named_out_of_order():
    tau = yield tfd.LogNormal(0.0, 1.0, name="tau")
    chain = yield tfd.Normal(0.0, 1.0, name="chain")
    yield tfd.Normal(chain, tau, name="y")


def test_a_start_by_name():
    start = {"tau": np.full([4], 0.5), "chain": np.full([4], -7.0)}
    result = quiet(named_out_of_order, start, 2, 0, np.int64(0), observed={"y": np.float64(1.0)}, step_size=1e-7)
    np.testing.assert_allclose(result.samples.tau, 0.5, rtol=1e-3)
    np.testing.assert_allclose(result.samples.chain, -7.0, rtol=1e-3)
    assert list(result.summary().index) == ["tau", "chain"]
    prior = quiet(named_out_of_order, num_results=2, num_warmup=0, seed=tf.constant(0), chains=4)
    assert prior.samples.y.shape == [4, 2]


def test_a_short_warm_up_on_a_large_scale():
    result = quiet(lambda x: -0.5 * tf.reduce_sum((x / 1e3) ** 2, -1), tf.fill([8, 3], 500.0), 50, 50, seed=0)
    assert 0.5 < np.mean(result.stats["acceptance"]) < 0.999


CENTER = 0.0


def test_what_changed_since_the_last_call_is_seen():
    """(What counts as a change is tested in test_sources.)"""
    global CENTER

    @tfd.JointDistributionCoroutineAutoBatched
    def model():
        yield tfd.Normal(CENTER, 1.0, name="x")

    for CENTER in (0.0, 50.0):
        assert abs(np.mean(quiet(model, num_results=200, num_warmup=100, seed=0).samples.x) - CENTER) < 1


def test_divergences_are_said():
    with pytest.warns(SamplingWarning, match=r"\d+ of 200 transitions diverged"):
        quiet_but_divergences(
            lambda v, x: -0.5 * (v / 3) ** 2 - 0.5 * tf.reduce_sum(x**2, -1) * tf.exp(-v) - 2.5 * v,
            [tf.fill([2], -5.0), tf.zeros([2, 5])],
            step_size=0.5,
        )


def quiet_but_divergences(density, start, **settings):
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", ".*(R-hat|effective)", SamplingWarning)
        ab.mcmc.sample(density, start, num_results=100, num_warmup=0, seed=0, **settings)


def test_chains_that_disagree_and_trajectories_that_are_cut_are_said():
    start = tf.constant([[-50.0], [50.0]])
    with pytest.warns(SamplingWarning, match="R-hat is .* have not mixed"):
        ab.mcmc.sample(lambda x: -tf.abs(tf.abs(x[:, 0]) - 50.0), start, 100, 50, seed=0)
    with pytest.warns(SamplingWarning) as said:
        ab.mcmc.sample(gaussian, tf.zeros([2, 3]), 100, 0, seed=0, step_size=0.01, max_tree_depth=2)
    assert any("200 of 200 trajectories were cut at max_tree_depth=2" in str(w.message) for w in said)


WITHOUT_STATE = tfd.JointDistributionNamedAutoBatched({"x": tfd.Normal(0.0, 1.0)})
DISCRETE = tfd.JointDistributionNamedAutoBatched({"count": tfd.Categorical(probs=[0.5, 0.5])})
NOT_AUTO_BATCHED = tfd.JointDistributionSequential([tfd.Normal(0.0, 10.0), lambda mu: tfd.Normal(mu, 1.0)])


@pytest.mark.parametrize(
    ("change", "error", "words"),
    [
        ({"seed": None}, SettingError, "There is no seed"),
        ({"step_size": -1.0}, SettingError, "step size must be positive"),
        ({"num_results": 0}, SettingError, "num_results must be an int of at least 1"),
        ({"num_warmup": -1}, SettingError, "num_warmup must be an int of at least 0"),
        ({"target_acceptance": 1.0}, SettingError, "target_acceptance must be between 0 and 1"),
        ({"variant": "hmc"}, SettingError, "'multinomial' or 'slice'"),
        ({"init": "zero"}, SettingError, "'jitter' or 'prior'"),
        ({"init": "prior"}, SettingError, "for a JointDistribution"),
        ({"observed": {"y": 1.0}}, SettingError, "for a JointDistribution"),
        ({"init_state": None}, SettingError, "needs an init_state"),
        ({"init_state": tf.zeros([])}, SettingError, "no common leading axis"),
        ({"chains": 3}, SettingError, "init_state has 4 chains, and chains=3"),
        ({"target": 3}, SettingError, "must be a log density or a JointDistribution, not a int"),
        ({"target": lambda x: -tf.reduce_sum(x**2)}, LogDensityError, r"shape \[\] for a state of shape \[4, 3\]"),
        ({"target": lambda x: tf.stop_gradient(x[:, 0])}, LogDensityError, "no gradient with respect to part 0"),
        ({"target": lambda x: tf.cast(x[:, 0], tf.float64)}, LogDensityError, "float64.* for a state of float32"),
        (
            {"target": lambda x: tf.math.log(x[:, 0]), "init_state": tf.constant([[1.0], [-1.0]])},
            StartError,
            "1 of 2 chains start .*: chains 1",
        ),
        ({"target": lambda x: None}, LogDensityError, "returns a NoneType, not a tensor"),
        ({"step_size": None}, SettingError, "step size must be positive"),
        ({"device": "tpu"}, SettingError, 'device must be None or "jax"'),
        ({"device": "jax", "profile": True}, SettingError, "no strategy and no profile"),
        ({"init_state": tf.zeros([4, 3], tf.int32)}, SettingError, "all be float32 or all float64; these are int32"),
        ({"init_state": tf.zeros([0, 3])}, SettingError, "nothing to sample in a state of shape"),
        ({"target": eight_schools, "init_state": None, "observed": {"z": 1.0}}, SettingError, "does not take these"),
        (
            {"target": eight_schools, "init_state": None, "observed": {"y": np.zeros([16, 8])}},
            SettingError,
            "For 2 states the model has no 2 log densities",
        ),
        (
            {"target": eight_schools, "init_state": {"mu": [0.0]}, "observed": {"y": EFFECT}},
            SettingError,
            "init_state has the parts mu; the model's are mu, tau, theta",
        ),
        (
            {"target": eight_schools, "init_state": [tf.zeros([4])], "observed": {"y": EFFECT}},
            SettingError,
            "init_state has 1 tensors; the model's state has 3",
        ),
        ({"target": WITHOUT_STATE, "init_state": None, "observed": {"x": 1.0}}, SettingError, "nothing to sample"),
        ({"target": DISCRETE, "init_state": None}, SettingError, "`count` of the model is discrete"),
        (
            {"target": NOT_AUTO_BATCHED, "init_state": None, "observed": (None, np.zeros(8, np.float32)), "chains": 8},
            SettingError,
            "For 2 states the model has no 2 log densities",
        ),
    ],
)
def test_errors_before_anything_is_compiled(change, error, words):
    settings = {"target": gaussian, "init_state": tf.zeros([4, 3]), "seed": 0} | change
    with pytest.raises(error, match=words):
        ab.mcmc.sample(**settings)


@pytest.mark.filterwarnings("ignore::autobatch.mcmc.SamplingWarning")
def test_a_log_density_with_a_loop_for_each_chain():
    target = settled_normal.options(max_steps=100)
    x = np.asarray(ab.mcmc.sample(target, tf.zeros([64]), num_results=200, num_warmup=200, seed=0).samples)
    y = np.array([np.roots([1.0, 0.0, 1.0, -each]) for each in x[:, ::20].ravel()])
    y = y[np.abs(y.imag) < 1e-9].real
    assert y.shape == (640,)
    np.testing.assert_allclose([y.mean(), y.std()], [0.0, 1.0], atol=0.15)
    with pytest.raises(GradientError, match="the number of steps must be given"):
        ab.mcmc.sample(settled_normal, tf.zeros([64]), num_results=10, num_warmup=10, seed=0)


def test_inside_a_tf_function():
    with pytest.raises(SettingError, match=r"outside of tf\.function"):
        tf.function(lambda: ab.mcmc.sample(gaussian, tf.zeros([4, 3]), seed=0).samples, autograph=False)()


def test_windows():
    assert [w.length for w in windows(1000)] == [75, 25, 50, 100, 200, 450, 20, 30, 50]
    assert [w.purpose for w in windows(1000)] == ["search", *["fit"] * 5, "search", "pool", "pool"]
    for length in range(300):
        assert sum(w.length for w in windows(length)) == length
        assert all(w.length > 0 for w in windows(length))


def test_r_hat():
    draws = np.random.default_rng(0).normal(size=[6, 500, 2]).astype(np.float32) * [1.0, 3.0]
    np.testing.assert_allclose(split_r_hat(draws), 1.0, atol=0.01)
    apart = draws + 5.0 * np.arange(6)[:, None, None]
    assert (split_r_hat(apart) > 1.5).all()


def tempered(q):
    """Chains at inverse temperatures by their position; at the origin they are alike."""
    return -0.5 * tf.linspace(0.5, 2.0, q.shape[0]) * tf.reduce_sum(q**2, -1)


def with_data(q):
    """A chain, a row of data: wrong for any number of chains but eight."""
    return -0.5 * tf.reduce_sum((q - DATA) ** 2, -1)


DATA = tf.reshape(tf.range(16.0), [8, 2])


def test_a_log_density_that_sees_positions():
    q = tf.zeros([8, 2])
    layout = Layout.of(q, 1)
    assert log_density(tempered, layout).sees_position(q)
    assert log_density(with_data, layout).sees_position(q)
    assert not log_density(lambda q: -0.5 * tf.reduce_sum(q**2, -1), layout).sees_position(q)
    assert log_density(lambda q: tf.math.log(-tf.reduce_sum(q**2, -1)), layout).sees_position(q), "nothing to be seen"


@pytest.mark.parametrize("count", [8, None])
def test_positions_are_seen_where_nobody_knows_where_the_chains_are(count):
    plain, far = (lambda q: -0.5 * tf.reduce_sum(q**2, -1)), (lambda q: tf.reduce_sum(tf.math.log(q), -1))

    def traced(q):
        layout = Layout.of(q, 1)
        return [
            log_density(f, layout).sees_position(q) for f in (plain, far, tempered, with_data, lambda p: plain(p - q))
        ]

    found = []
    tf.function(lambda q: found.extend(traced(q)), [tf.TensorSpec([count, 2])], autograph=False).get_concrete_function()
    assert found == [False, False, True, True, True]


@pytest.fixture
def parts_of_sixteen(monkeypatch):
    """Small states would else run as a whole."""
    monkeypatch.setattr(shards, "good_number", lambda machine: max(1, machine.size // 16))


@pytest.mark.filterwarnings("ignore::autobatch.mcmc.SamplingWarning")
def test_a_log_density_that_sees_positions_gets_all_chains(parts_of_sixteen):
    result = ab.mcmc.sample(tempered, tf.zeros([64, 2]), 200, 100, seed=0)
    spread = np.std(np.asarray(result.samples), axis=(1, 2))
    assert spread[0] > 1.2 > 0.9 > spread[-1]  # 1.41 and 0.71
    assert spread[48] < 1.0  # 0.78; as the first of a part, 1.41


@pytest.mark.filterwarnings("ignore::autobatch.mcmc.SamplingWarning")
def test_a_chain_is_the_same_in_every_batch(parts_of_sixteen):
    """One of 64 runs in four parts, one of 8 as a whole."""
    start = tf.constant(np.random.default_rng(0).normal(size=[64, 3]) * SCALES, tf.float32)
    settings = {"num_results": 20, "num_warmup": 0, "step_size": 0.1}
    many, few = (ab.mcmc.sample(gaussian, start[:n], **settings, seed=(1, 2)).samples[:8] for n in (64, 8))
    np.testing.assert_allclose(many, few, rtol=1e-4, atol=1e-4)
    other = ab.mcmc.sample(gaussian, start[:8], **settings, seed=(1, 3)).samples
    assert (np.asarray(other) != np.asarray(few)).mean() > 0.9


def test_runs_of_other_lengths_compile_nothing(monkeypatch):
    quiet(gaussian, tf.zeros([4, 3]), 20, 10, seed=0)
    monkeypatch.setattr(Specialisation, "__init__", None)
    assert quiet(gaussian, tf.zeros([4, 3]), 50, 30, seed=0, progress=True).samples.shape == (4, 50, 3)


def slow(x):
    return -0.5 * tf.reduce_sum(x**2, -1)


def test_draws_until_they_are_enough(tmp_path):
    settings = {"num_warmup": 0, "seed": 3, "step_size": 0.15, "max_tree_depth": 2, "chains": 16, "progress": True}
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", ".*trajectories were cut", SamplingWarning)
        with pytest.warns(SamplingWarning, match=r"R-hat|effective .* at_most=\.\.\."):
            few = ab.mcmc.sample(slow, tf.zeros([1, 2]), 50, at_most=120, autosave=tmp_path / "run", **settings)
        assert few.samples.shape == [16, 120, 2]
        enough = ab.mcmc.sample(slow, tf.zeros([1, 2]), 50, at_most=5000, autosave=tmp_path / "run", **settings)
        drawn = enough.samples.shape[1]
        assert 120 < drawn < 5000 and drawn % 50 == 0
        assert enough.stats["energy"].shape == [16, drawn]
        at_once = ab.mcmc.sample(slow, tf.zeros([1, 2]), drawn, **settings)
    np.testing.assert_array_equal(enough.samples, at_once.samples)
    with pytest.raises(SettingError, match="at_most must be an int of at least 50, not 49"):
        ab.mcmc.sample(slow, tf.zeros([1, 2]), 50, at_most=49, **settings)
