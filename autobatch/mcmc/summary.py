"""A table of what draws say of each scalar."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd

from autobatch.mcmc.with_arviz import diagnostics

QUANTILES = (0.05, 0.5, 0.95)
DIGITS = 3  # of a scalar's sd, that are shown


class Summary(pd.DataFrame):
    """Columns mean, sd, some quantiles, ess_bulk, ess_tail and r_hat; a row for each scalar.

    The numbers are there in full.  Shown are three digits of each row's sd, and as many places of what is beside it.
    """

    @property
    def _constructor(self) -> type[Summary]:
        return Summary

    def __repr__(self) -> str:
        return self._shown().to_string(max_rows=pd.get_option("display.max_rows"))

    def _repr_html_(self) -> str:
        return self._shown().to_html(max_rows=pd.get_option("display.max_rows"))

    def _shown(self) -> pd.DataFrame:
        rows = [[_text(str(name), value, row.get("sd")) for name, value in row.items()] for _, row in self.iterrows()]
        return pd.DataFrame(rows, self.index, self.columns)


def summary_of(parts: Mapping[str, np.ndarray]) -> Summary:
    """Of parts [chains, draws, ...], by name."""
    rows = {}
    for name, found in diagnostics(parts).items():
        chains, draws, *shape = parts[name].shape
        flat = parts[name].reshape(chains * draws, *shape).astype(np.float64)
        quantiles = dict(zip((f"{q:.0%}" for q in QUANTILES), np.quantile(flat, QUANTILES, axis=0), strict=True))
        columns = {"mean": flat.mean(axis=0), "sd": flat.std(axis=0, ddof=1), **quantiles, **found}
        for at in np.ndindex(*shape):
            label = f"{name}[{', '.join(map(str, at))}]" if at else name
            rows[label] = {column: values[at] for column, values in columns.items()}
    return Summary([*rows.values()], [*rows])


def _text(column: str, value: Any, sd: Any) -> str:
    if column.startswith("ess"):
        return f"{value:.0f}"
    if column == "r_hat":
        return f"{value:.3f}"
    if sd is None or not 0 < sd < math.inf:
        return f"{value:.{DIGITS}g}"
    decimals = DIGITS - 1 - math.floor(math.log10(sd))
    if not -DIGITS < decimals <= 2 * DIGITS:  # for numbers that would be long
        return f"{value:.{DIGITS - 1}e}"
    return f"{round(value, decimals):.{max(decimals, 0)}f}"
