"""What ``ab.mcmc.sample`` returns."""

from __future__ import annotations

import html
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import tensorflow as tf

from autobatch import errors
from autobatch.mcmc.metric import Metric
from autobatch.mcmc.names import named_parts
from autobatch.mcmc.settings import check_count, key_of_seed
from autobatch.profiling import Profile

if TYPE_CHECKING:
    from autobatch.mcmc.joint_distribution import ModelDensity
    from autobatch.mcmc.summary import Summary

# InferenceData's names of the statistics.
ARVIZ_NAMES = {
    "step_size": "step_size",
    "tree_depth": "tree_depth",
    "n_leapfrog": "n_steps",
    "acceptance": "acceptance_rate",
    "energy": "energy",
    "diverging": "diverging",
    "cut": "reached_max_treedepth",
    "log_prob": "lp",
}


@dataclass(frozen=True, repr=False)
class Result:
    """Draws from a distribution.

    samples: a nest like the state, each tensor of shape [chains, draws, ...].
    stats: tensors of shape [chains, draws]: "step_size", "tree_depth", "n_leapfrog", "acceptance" (mean along the
      trajectory), "energy" (the Hamiltonian), "diverging", "cut" (ended by max_tree_depth), "log_prob" (of the
      unconstrained state).
    step_size, metric: what warm-up found: a number, and the map from momenta to steps (see
      ``autobatch.mcmc.metric``), with the standard deviations [d] of the unconstrained coordinates as its scale.
    observed: the data that the model was given, by name.
    profile: what the machine did, if that was asked for (see ``ab.profile``).
    model: the model that was sampled, if it was a JointDistribution; not pickled.
    """

    samples: Any
    stats: dict[str, tf.Tensor]
    step_size: float
    metric: Metric
    observed: Mapping[str, Any] = field(default_factory=dict)
    profile: Profile | None = None
    model: ModelDensity | None = None

    def log_likelihood(self) -> dict[str, tf.Tensor]:
        """Of each datum under each draw: [chains, draws, ...], by the names of the data.

        The data of a ``tfd.Sample`` or ``tfd.Independent`` are told apart, those that are one event, as of a
        multivariate normal, are not.  Raises SettingError for draws of no model, or of one without data.
        """
        from autobatch.mcmc import predictive

        return predictive.log_likelihoods(self._model_with_data(), self.samples)

    def predictive(self, seed: Any = 0) -> dict[str, tf.Tensor]:
        """Data that the model makes from each draw: [chains, draws, ...], by the names of the data.

        Raises SettingError as ``log_likelihood`` does.
        """
        from autobatch.mcmc import predictive

        key = key_of_seed(seed, "result.predictive(seed=0)")
        return predictive.predictions(self._model_with_data(), self.samples, key)

    def _model_with_data(self) -> ModelDensity:
        if self.model is None or not self.model.pins:
            which = "A log density has" if self.model is None else "The model was given"
            raise errors.SettingError(
                f"{which} no data, whose likelihood could be told, or of which others could be made.",
                help='ab.mcmc.sample(model, observed={"y": y}) has them, for a JointDistribution.',
            )
        return self.model

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "model": None}  # whose functions may be of no module

    def prior(self, draws: int = 1000, seed: Any = 0) -> dict[str, tf.Tensor]:
        """What the model makes before it has seen data: its parts and its data, [draws, ...], by name.

        Raises SettingError for draws of no model.
        """
        from autobatch.mcmc import predictive

        if self.model is None:
            raise errors.SettingError("A log density has no prior to draw from; a JointDistribution has.")
        check_count("draws", draws)
        return predictive.prior(self.model, draws, key_of_seed(seed, "result.prior(seed=0)"))

    def to_arviz(
        self,
        *,
        log_likelihood: bool = False,
        predictive: bool = False,
        prior: bool = False,
        coords: Mapping[str, Sequence[Any]] | None = None,
        dims: Mapping[str, Sequence[str]] | None = None,
    ) -> Any:
        """The draws, their statistics and the data for ArviZ' plots and tables.

        Returns: an ``InferenceData``; from ArviZ 1 on, one of xarray's DataTrees.

        log_likelihood: with that of each datum, for ``arviz.loo``; predictive: with data that the model makes, for
        ``arviz.plot_ppc``; both for models with data.  prior: with as many draws of the model's prior as a chain has,
        and the data that they make.
        dims, coords: what the axes of parts and data are called, and what stands at them, as ArviZ takes them:
        ``dims={"theta": ["school"]}, coords={"school": ["Choate", ...]}``.

        Parts named "chain" and "draw" become "chain_" and "draw_".
        """
        from autobatch.mcmc.with_arviz import arviz_name, inference_data

        draws = len(self.stats["energy"][0])
        before = {name: made[tf.newaxis] for name, made in self.prior(draws).items()} if prior else {}
        data = named_parts(self.observed)
        groups = {
            "posterior": named_parts(self.samples),
            "posterior_predictive": self.predictive() if predictive else {},
            "prior": {name: made for name, made in before.items() if name not in data},
            "prior_predictive": {name: made for name, made in before.items() if name in data},
            "log_likelihood": self.log_likelihood() if log_likelihood else {},
            "sample_stats": {ARVIZ_NAMES[name]: values for name, values in self.stats.items()},
            "observed_data": data,
        }
        arrays = {
            group: {arviz_name(name): np.asarray(part) for name, part in parts.items()}
            for group, parts in groups.items()
            if parts
        }
        return inference_data(arrays, coords, dims)

    def save(self, path: str | os.PathLike, **settings: Any) -> None:
        """Writes a NetCDF file, which ``ab.mcmc.load`` reads, and ``arviz.from_netcdf``.

        settings: as for ``to_arviz``, which makes what is written; neither model nor profile is.  The file is there
        when it is whole.  Raises SettingError if there is no folder for it, or parts share a name; OSError.
        """
        from autobatch.mcmc import archive

        data = self.to_arviz(**settings)
        archive.write(path, data, self.samples, self.observed, self.step_size, self.metric)

    def summary(self) -> Summary:
        """Mean, sd, quantiles, bulk and tail effective sample size, and R-hat of every scalar of the state.

        A data frame of pandas' that shows no more digits than count.
        """
        from autobatch.mcmc.summary import summary_of

        return summary_of({name: np.asarray(part) for name, part in named_parts(self.samples).items()})

    def __repr__(self) -> str:
        chains, draws = self.stats["energy"].shape
        shapes = ", ".join(f"{name} {list(part.shape[2:])}" for name, part in named_parts(self.samples).items())
        diverging = int(tf.reduce_sum(tf.cast(self.stats["diverging"], tf.int32)))
        return (
            f"<{chains} chains x {draws} draws of {shapes}; step size {self.step_size:.3g}, "
            f"mean acceptance {float(tf.reduce_mean(self.stats['acceptance'])):.2f}, {diverging} divergences>"
        )

    def _repr_html_(self) -> str:
        return f"<p>{html.escape(repr(self)[1:-1])}</p>{self.summary()._repr_html_()}"


def load(path: str | os.PathLike, model: Any = None) -> Result:
    """The result that ``result.save(path)`` has written.

    model: the JointDistribution that was sampled, for ``log_likelihood`` and its like.

    Raises:
      RunFileError: the file holds no result, or one of another version.
      SettingError: the model has other parts than the result.
      OSError: there is no such file, or it cannot be read.
    """
    from autobatch.mcmc import archive

    saved = archive.read(path)
    stats = {name: saved.statistics[shown] for name, shown in ARVIZ_NAMES.items()}
    result = Result(saved.samples, stats, saved.step_size, saved.metric, saved.observed)
    if model is None:
        return result
    from autobatch.mcmc.joint_distribution import ModelDensity

    density = ModelDensity(model, saved.observed)
    return replace(result, samples=density.like_its_parts(saved.samples), model=density)
