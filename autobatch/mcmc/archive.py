"""Results as NetCDF files, which ArviZ reads.

The groups are ArviZ' own.  The file's root has what these do not tell: the metric, and, as attributes, the step size
and how the parts nest.
"""

from __future__ import annotations

import collections
import json
import os
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import tensorflow as tf
import xarray

from autobatch import errors
from autobatch.mcmc.metric import Bend, Metric
from autobatch.mcmc.names import named_parts
from autobatch.mcmc.with_arviz import arviz_name, write_groups

FORMAT = "autobatch_result"  # the attribute that has the version
VERSION = 1
ENGINE: Any = "h5netcdf"


class Saved(NamedTuple):
    """What is read: statistics under ArviZ' names."""

    samples: Any
    statistics: dict[str, tf.Tensor]
    observed: Any
    step_size: float
    metric: Metric


def write(path: str | os.PathLike, data: Any, samples: Any, observed: Any, step_size: float, metric: Metric) -> None:
    """data: what ArviZ gets of samples and observed, whose nests are kept beside it.  Whole, or not at all.

    Raises SettingError: there is no such folder, or parts share a name.
    """
    target = Path(path).absolute()
    if not target.parent.is_dir():
        raise errors.SettingError(f"There is no folder {target.parent} to save to.")
    scale, (directions, stretch, is_any) = metric
    whole = xarray.Dataset(
        {
            "metric_scale": ("coordinate", scale),
            "metric_directions": (("coordinate", "direction"), directions),
            "metric_stretch": ("direction", stretch),
            "metric_has_directions": ((), is_any),
        },
        attrs={
            FORMAT: VERSION,
            "step_size": step_size,
            "samples": json.dumps(_described(samples)),
            "observed": json.dumps(_described(observed)),
        },
    )
    with tempfile.TemporaryDirectory(prefix=f".{target.name}.", dir=target.parent) as folder:
        new = Path(folder) / "new"
        write_groups(data, new, ENGINE)
        whole.to_netcdf(new, mode="a", engine=ENGINE)
        os.replace(new, target)


def read(path: str | os.PathLike) -> Saved:
    """Raises RunFileError for a file that ``write`` has not made; OSError."""
    with open(path, "rb"):  # for an OSError that says what is wrong
        pass
    try:
        whole = xarray.load_dataset(path, engine=ENGINE)
        if (version := whole.attrs.get(FORMAT)) is None:
            raise ValueError("it has ArviZ' groups alone.")
        if version != VERSION:
            raise errors.RunFileError(
                f"{path} is of version {version}; this is version {VERSION}.",
                help="load it with the version of autobatch that saved it.",
            )
        nests = {what: json.loads(whole.attrs[what]) for what in ("samples", "observed")}
        samples = _nested(nests["samples"], _group(path, "posterior"))
        statistics = _group(path, "sample_stats")
        observed = _nested(nests["observed"], _group(path, "observed_data") if _names(nests["observed"]) else {})
    except (OSError, ValueError, KeyError) as error:
        raise errors.RunFileError(f"{path} holds no result that .save() has written: {error}") from error
    bend = Bend(*(whole[f"metric_{name}"].to_numpy() for name in ("directions", "stretch", "has_directions")))
    return Saved(
        samples, statistics, observed, float(whole.attrs["step_size"]), Metric(whole["metric_scale"].to_numpy(), bend)
    )


def _group(path: str | os.PathLike, name: str) -> dict[str, tf.Tensor]:
    found = xarray.load_dataset(path, group=name, engine=ENGINE)
    return {str(variable): tf.constant(values.to_numpy()) for variable, values in found.items()}


def _described(nest: Any) -> Any:
    """A nest as JSON: [kind, keys, children], and the names of its tensors for leaves."""
    names = [arviz_name(name) for name in named_parts(nest)]
    if len(names) != len(tf.nest.flatten(nest)) or len(names) != len({*names}):
        raise errors.SettingError(f"Parts share a name, so they cannot be saved: {', '.join(sorted(names))}.")
    return _with_names(nest, iter(names))


def _with_names(nest: Any, names: Iterator[str]) -> Any:
    if not tf.nest.is_nested(nest):
        return next(names)
    if isinstance(nest, Mapping):
        return ["dict", [*nest], [_with_names(child, names) for child in nest.values()]]
    kind = type(nest).__name__ if hasattr(nest, "_fields") else "list" if isinstance(nest, list) else "tuple"
    return [kind, [*getattr(nest, "_fields", ())], [_with_names(child, names) for child in nest]]


def _names(described: Any) -> list[str]:
    if isinstance(described, str):
        return [described]
    return [name for child in described[2] for name in _names(child)]


def _nested(described: Any, found: Mapping[str, tf.Tensor]) -> Any:
    if isinstance(described, str):
        return found[described]
    kind, keys, children = described
    parts = [_nested(child, found) for child in children]
    if kind == "dict":
        return dict(zip(keys, parts, strict=True))
    if keys:
        return collections.namedtuple(kind, keys)(*parts)
    return parts if kind == "list" else tuple(parts)
