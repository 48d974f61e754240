"""ArviZ, whichever of its two generations is here: up to 0.23 with an ``InferenceData``, from 1 on with a DataTree."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

with warnings.catch_warnings():
    warnings.filterwarnings("ignore", "\nArviZ is undergoing", FutureWarning)  # said once a day
    import arviz

IS_FIRST_GENERATION = arviz.__version__.startswith("0.")


def inference_data(
    groups: Mapping[str, Mapping[str, np.ndarray]],
    coords: Mapping[str, Sequence[Any]] | None,
    dims: Mapping[str, Sequence[str]] | None,
) -> Any:
    """The groups' arrays, [chains, draws, ...] but for data."""
    if IS_FIRST_GENERATION:
        given: dict[str, Any] = dict(groups)
        return arviz.from_dict(**given, coords=coords, dims=dims)
    return arviz.from_dict(groups, coords=coords, dims=dims)  # pyright: ignore[reportArgumentType]


def arviz_name(name: str) -> str:
    """Of a part; "chain" and "draw" are ArviZ' own."""
    return {"chain": "chain_", "draw": "draw_"}.get(name, name)


def write_groups(data: Any, path: Path, engine: Any) -> None:
    """As a NetCDF file, not compressed, as random numbers do not get smaller."""
    options = {"compress": False} if IS_FIRST_GENERATION else {}
    data.to_netcdf(str(path), engine=engine, **options)


def effective_draws(draws: np.ndarray) -> float:
    """The bulk effective sample size of one coordinate [chains, draws]."""
    return float(np.asarray(arviz.ess(draws.astype(np.float64))))


def diagnostics(parts: Mapping[str, np.ndarray]) -> dict[str, dict[str, np.ndarray]]:
    """By name, ess_bulk, ess_tail and r_hat (Vehtari et al. 2021) of parts [chains, draws, ...]; nan of few draws."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # on few draws
        data = arviz.convert_to_dataset({arviz_name(name): part.astype(np.float64) for name, part in parts.items()})
        found: dict[str, Any] = {
            "ess_bulk": arviz.ess(data, method="bulk"),
            "ess_tail": arviz.ess(data, method="tail"),
            "r_hat": arviz.rhat(data),
        }
    return {name: {what: np.asarray(each[arviz_name(name)]) for what, each in found.items()} for name in parts}
