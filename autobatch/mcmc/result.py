"""What ``ab.mcmc.sample`` returns, and what it says aloud of it."""

from __future__ import annotations

import html
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
import tensorflow as tf

from autobatch import errors
from autobatch.mcmc.metric import Metric
from autobatch.mcmc.names import named_parts
from autobatch.mcmc.settings import key_of_seed
from autobatch.mcmc.summary import Summary
from autobatch.profiling import Profile

if TYPE_CHECKING:
    from autobatch.mcmc.joint_distribution import ModelDensity

with warnings.catch_warnings():
    warnings.filterwarnings("ignore", "\nArviZ is undergoing", FutureWarning)  # said once a day
    import arviz

FEWEST = 4  # draws of a chain of which R-hat is told
LARGEST_R_HAT = 1.01  # Vehtari et al. 2021, "Rank-normalization, folding, and localization"
SMALLEST_ESS = 400  # as above
SHOWN_QUANTILES = (0.05, 0.5, 0.95)

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


class SamplingWarning(UserWarning):
    """The draws may not represent the distribution."""


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

    def to_arviz(
        self,
        *,
        log_likelihood: bool = False,
        predictive: bool = False,
        coords: Mapping[str, Sequence[Any]] | None = None,
        dims: Mapping[str, Sequence[str]] | None = None,
    ) -> arviz.InferenceData:
        """The draws, their statistics and the data as ArviZ' ``InferenceData``, for its plots and tables.

        log_likelihood: with that of each datum, for ``arviz.loo``; predictive: with data that the model makes, for
        ``arviz.plot_ppc``; both for models with data.
        dims, coords: what the axes of parts and data are called, and what stands at them, as ArviZ takes them:
        ``dims={"theta": ["school"]}, coords={"school": ["Choate", ...]}``.

        Parts named "chain" and "draw" become "chain_" and "draw_".
        """
        groups = {
            "posterior": named_parts(self.samples),
            "posterior_predictive": self.predictive() if predictive else {},
            "log_likelihood": self.log_likelihood() if log_likelihood else {},
            "sample_stats": {ARVIZ_NAMES[name]: values for name, values in self.stats.items()},
            "observed_data": named_parts(self.observed),
        }
        renamed = {"chain": "chain_", "draw": "draw_"}  # ArviZ' own names
        given: dict[str, Any] = {
            group: {renamed.get(name, name): np.asarray(part) for name, part in parts.items()}
            for group, parts in groups.items()
            if parts
        }
        return arviz.from_dict(**given, coords=coords, dims=dims)

    def summary(self) -> Summary:
        """Mean, sd, quantiles, bulk and tail effective sample size, and R-hat of every scalar of the state.

        A data frame of pandas' that shows no more digits than count.
        """
        quantiles = {f"{q:.0%}": lambda x, q=q: np.quantile(x, q) for q in SHOWN_QUANTILES}
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # ArviZ' on few draws; R-hat is then nan, and we say so ourselves
            table: Any = arviz.summary(self.to_arviz(), group="posterior", stat_funcs=quantiles, round_to="none")
        return Summary(table[["mean", "sd", *quantiles, "ess_bulk", "ess_tail", "r_hat"]])

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


def warn_of_trouble(result: Result, unconstrained: np.ndarray, max_tree_depth: int) -> None:
    """Divergences, trajectories that were cut, chains that disagree, few effective draws: a SamplingWarning each.

    unconstrained: [chains, draws, d].
    """
    chains, draws, _ = unconstrained.shape
    diverging = np.count_nonzero(result.stats["diverging"])
    if diverging:
        _warn(
            f"{diverging:,} of {chains * draws:,} transitions diverged: where the density bends sharply, draws may be "
            "missing. Raise target_acceptance (0.95, 0.99), or write the model with less curvature (non-centred)."
        )
    cut = np.count_nonzero(result.stats["cut"])
    if cut > 0.01 * chains * draws:
        _warn(
            f"{cut:,} of {chains * draws:,} trajectories were cut at max_tree_depth={max_tree_depth}, so chains move "
            "slowly. Raise it, or write the model with parameters of like scale."
        )
    if draws >= FEWEST and (trouble := _mixing(unconstrained)):
        _warn(trouble)


def has_mixed(unconstrained: np.ndarray) -> bool:
    """Whether so many draws [chains, draws, d] are enough, as far as R-hat and the effective sample size tell."""
    return unconstrained.shape[1] >= FEWEST and not _mixing(unconstrained)


def _mixing(unconstrained: np.ndarray) -> str:
    """What is wrong with it, if anything."""
    chains, draws, _ = unconstrained.shape
    r_hat = split_r_hat(unconstrained)
    if not r_hat.max() <= LARGEST_R_HAT:
        return (
            f"The largest R-hat is {r_hat.max():.3f} (above {LARGEST_R_HAT}): the chains have not mixed. Run them "
            "longer (at_most=...), and see whether they disagree (result.summary())."
        )
    # R-hat of m chains is about sqrt(1 + m / ESS) (Vats and Knudson 2021), so of many chains it has told this too.
    if min(2 * chains / (LARGEST_R_HAT**2 - 1), chains * draws) > 2 * SMALLEST_ESS:
        return ""
    worst = np.argsort(-r_hat)[:MOST_EXAMINED]
    ess = min(_effective_draws(unconstrained[:, :, k]) for k in worst)
    if ess >= SMALLEST_ESS:
        return ""
    return (
        f"The smallest effective sample size is about {ess:.0f} (below {SMALLEST_ESS}): take more draws (at_most=...) "
        "or chains."
    )


PIECE = 2**20  # bytes of draws that are looked at together, so that they stay in the cache
MOST_EXAMINED = 4  # coordinates, those of largest R-hat, whose effective sample size is looked at


def _warn(message: str) -> None:
    warnings.warn(message, SamplingWarning, stacklevel=4)


def _effective_draws(draws: np.ndarray) -> float:
    """Of one coordinate [chains, draws]; many chains are judged by a part of them."""
    some = draws[:32]
    ess = float(np.asarray(arviz.ess(some.astype(np.float64))))
    return ess * len(draws) / len(some)


def split_r_hat(draws: np.ndarray) -> np.ndarray:
    """R-hat of halved chains, [d] from [chains, draws, d] (Gelman et al., Bayesian Data Analysis, section 11.4)."""
    half, pieces = draws.shape[1] // 2, -(-draws.nbytes // PIECE)
    moments = [
        _moments(part.astype(np.float64))
        for chains in np.array_split(draws, min(pieces, len(draws)))
        for part in (chains[:, :half], chains[:, -half:])
    ]
    means, variances = (np.concatenate(m) for m in zip(*moments, strict=True))
    within, between = variances.mean(axis=0), means.var(axis=0, ddof=1)
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.sqrt((half - 1) / half + between / within)


def _moments(part: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The mean and variance of each chain, [chains, d] each from [chains, draws, d], which is overwritten."""
    mean = part.mean(axis=1)
    part -= mean[:, np.newaxis]
    return mean, np.einsum("cnd,cnd->cd", part, part) / (part.shape[1] - 1)
