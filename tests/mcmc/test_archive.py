"""Results outlive their process as NetCDF files, which ArviZ reads too."""

import collections
import stat

import arviz
import numpy as np
import pytest
import tensorflow as tf
import tensorflow_probability as tfp
import xarray

import autobatch as ab
from autobatch.errors import RunFileError, SettingError
from autobatch.mcmc.metric import Bend, Metric
from autobatch.mcmc.result import ARVIZ_NAMES, Result
from tests.mcmc.test_predictive import COUNTS, LENGTHS, PAIR, model_of, result_of

tfd = tfp.distributions
State = collections.namedtuple("State", ["q", "chain"])
DTYPES = {"tree_depth": tf.int32, "n_leapfrog": tf.int32, "diverging": tf.bool, "cut": tf.bool}


def result_with(samples, observed=None):
    random = np.random.default_rng(0)
    chains, draws = tf.nest.flatten(samples)[0].shape[:2]
    stats = {
        name: tf.cast(random.normal(size=[chains, draws]) * 9, DTYPES.get(name, tf.float32)) for name in ARVIZ_NAMES
    }
    bend = Bend(random.normal(size=[4, 2]).astype(np.float32), random.normal(size=2).astype(np.float32), np.True_)
    return Result(samples, stats, 0.1 + 0.2, Metric(random.random(4).astype(np.float32), bend), observed or {})


def assert_same(one, other):
    """The same bits, dtypes and nests, of what is kept."""
    tf.nest.assert_same_structure(one.samples, other.samples)
    for part, again in zip(tf.nest.flatten(one.samples), tf.nest.flatten(other.samples), strict=True):
        assert part.dtype == again.dtype
    for name, values in one.stats.items():
        assert other.stats[name].dtype == values.dtype
    kept, again = ((each.samples, each.stats, each.metric, dict(each.observed)) for each in (one, other))
    for part, its in zip(tf.nest.flatten(kept), tf.nest.flatten(again), strict=True):
        np.testing.assert_array_equal(part, its)
    assert one.step_size == other.step_size


X, Y = tf.random.stateless_normal([3, 5, 2], [0, 1]), tf.random.stateless_normal([3, 5], [0, 2])


@pytest.mark.parametrize(
    "samples",
    [X, [X, Y], (Y,), {"b": X, "a": {"chain": Y, "draw": [X, Y]}}, {3: X}, State(X, Y), tf.cast(X, tf.float64)],
    ids=lambda samples: type(samples).__name__,
)
def test_what_is_loaded_is_what_was_saved(samples, tmp_path):
    result = result_with(samples, {"y": tf.constant([1, 2, 3]), "z": np.array([0.5])})
    result.save(tmp_path / "draws.nc")
    again = ab.mcmc.load(tmp_path / "draws.nc")
    assert_same(result, again)
    assert type(again.samples).__name__ in (type(samples).__name__, "EagerTensor")
    assert list(tmp_path.iterdir()) == [tmp_path / "draws.nc"]
    assert repr(result.summary()) == repr(again.summary())


@pytest.mark.parametrize("kind", ["Named", "Sequential", "Coroutine"])
def test_a_model_is_given_again(kind, tmp_path):
    data = [tf.constant(leaf, tf.float32) for leaf in (COUNTS, LENGTHS, PAIR)]
    model = model_of(kind, True)
    named = dict(zip(("counts", "lengths", "pair"), data, strict=True))
    result = result_of(model, (None, *data) if kind == "Sequential" else named)
    result.save(str(tmp_path / "draws.nc"), predictive=True, dims={"counts": ["day"]}, coords={"day": list("abcde")})
    again = ab.mcmc.load(tmp_path / "draws.nc", model)
    assert_same(result, again)
    for what in ("log_likelihood", "predictive", "prior"):
        tf.nest.map_structure(np.testing.assert_array_equal, getattr(result, what)(), getattr(again, what)())
    read = arviz.from_netcdf(tmp_path / "draws.nc").posterior_predictive["counts"].sel(day="c")
    np.testing.assert_array_equal(read, result.predictive()["counts"][..., 2])


def test_another_model_is_refused(tmp_path):
    rate = tfd.Gamma(20.0, 10.0)
    result_of(tfd.JointDistributionNamed({"rate": rate, "y": lambda rate: tfd.Poisson(rate)}), {"y": 1.0}).save(
        tmp_path / "draws.nc"
    )
    others = {"rate": tfd.Sample(rate, 2), "y": lambda rate: tfd.Poisson(rate[..., 0])}, {"rate": rate}
    for parts, message in zip(others, ("other parts than what was sampled: rate", "not take these obs"), strict=True):
        with pytest.raises(SettingError, match=message):
            ab.mcmc.load(tmp_path / "draws.nc", tfd.JointDistributionNamed(parts))


def test_a_file_that_is_replaced_keeps_what_it_was_until_the_new_one_is_whole(tmp_path, monkeypatch):
    path = tmp_path / "draws.nc"
    result_with(X).save(path)
    (tmp_path / "other").touch()
    assert stat.S_IMODE(path.stat().st_mode) == stat.S_IMODE((tmp_path / "other").stat().st_mode)

    def fails(*arguments, **settings):
        raise OSError("no space left")

    with monkeypatch.context() as patched:
        patched.setattr(xarray.Dataset, "to_netcdf", fails)
        with pytest.raises(OSError, match="no space left"):
            result_with(Y).save(path)
    assert_same(result_with(X), ab.mcmc.load(path))
    assert len([*tmp_path.iterdir()]) == 2
    result_with(Y).save(path)
    assert_same(result_with(Y), ab.mcmc.load(path))


def test_what_cannot_be_saved_or_loaded(tmp_path):
    with pytest.raises(SettingError, match="no folder"):
        result_with(X).save(tmp_path / "missing" / "draws.nc")
    with pytest.raises(SettingError, match="share a name"):
        result_with({"a": {"b": X}, "a.b": X}).save(tmp_path / "draws.nc")
    with pytest.raises(FileNotFoundError):
        ab.mcmc.load(tmp_path / "draws.nc")
    (tmp_path / "text.nc").write_text("no NetCDF")
    result_with(X).to_arviz().to_netcdf(str(tmp_path / "arviz.nc"))
    result_with(X).save(tmp_path / "cut.nc")
    (tmp_path / "cut.nc").write_bytes((tmp_path / "cut.nc").read_bytes()[:5000])
    for name in ("text.nc", "arviz.nc", "cut.nc"):
        with pytest.raises(RunFileError, match="no result that .save"):
            ab.mcmc.load(tmp_path / name)
    result_with(X).save(tmp_path / "newer.nc")
    xarray.Dataset(attrs={"autobatch_result": 2}).to_netcdf(tmp_path / "newer.nc", mode="a", engine="h5netcdf")
    with pytest.raises(RunFileError, match="of version 2; this is version 1"):
        ab.mcmc.load(tmp_path / "newer.nc")
