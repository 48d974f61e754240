"""What is said aloud of draws that may not represent their distribution."""

from __future__ import annotations

import warnings
from collections.abc import Mapping

import numpy as np
import tensorflow as tf

FEWEST = 4  # draws of a chain of which R-hat is told
LARGEST_R_HAT = 1.01  # Vehtari et al. 2021, "Rank-normalization, folding, and localization"
SMALLEST_ESS = 400  # as above
PIECE = 2**20  # bytes of draws that are looked at together, so that they stay in the cache
MOST_EXAMINED = 4  # coordinates, those of largest R-hat, whose effective sample size is looked at


class SamplingWarning(UserWarning):
    """The draws may not represent the distribution."""


def warn_of_trouble(stats: Mapping[str, tf.Tensor], unconstrained: np.ndarray, max_tree_depth: int) -> None:
    """Divergences, trajectories that were cut, chains that disagree, few effective draws: a SamplingWarning each.

    stats: as ``Result`` has them; unconstrained: [chains, draws, d].
    """
    chains, draws, _ = unconstrained.shape
    diverging = np.count_nonzero(stats["diverging"])
    if diverging:
        _warn(
            f"{diverging:,} of {chains * draws:,} transitions diverged: where the density bends sharply, draws may be "
            "missing. Raise target_acceptance (0.95, 0.99), or write the model with less curvature (non-centred)."
        )
    cut = np.count_nonzero(stats["cut"])
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


def _warn(message: str) -> None:
    warnings.warn(message, SamplingWarning, stacklevel=5)


def _effective_draws(draws: np.ndarray) -> float:
    """Of one coordinate [chains, draws]; many chains are judged by a part of them."""
    from autobatch.mcmc.with_arviz import effective_draws

    some = draws[:32]
    return effective_draws(some) * len(draws) / len(some)


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
