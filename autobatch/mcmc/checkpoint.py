"""Where a run of ``sample`` stands between two calls, and the file in which it outlives its process."""

from __future__ import annotations

import os
import time
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
import tensorflow as tf

from autobatch import errors
from autobatch.calls import run_file
from autobatch.mcmc.adaptation import Averaging
from autobatch.mcmc.hamiltonian import State
from autobatch.mcmc.metric import Metric


class Trace(NamedTuple):
    """What a stage's transitions have left, [chains, done, ...]: positions [d], STATISTICS, and, where the metric
    is to be made of them, the log density's gradients [d] (else [0])."""

    positions: Any
    statistics: Any
    gradients: Any


class Standing(NamedTuple):
    """All chains, between two calls.

    stage: which window of warm-up, or, behind these, sampling; taken: transitions of a chain so far, in all stages.
    log_step, metric: from which the stage began; state, averaging: [chains, ...] each.
    trace: of the stage.
    """

    stage: int
    taken: int
    log_step: float
    metric: Metric
    state: State
    averaging: Averaging | None  # None at the start of a stage
    trace: Trace


class Kept(NamedTuple):
    """What the file holds: settings and start tell whether it is the run that is asked for."""

    settings: Mapping[str, Any]
    target: str
    start: State
    standing: Standing


class Checkpoint:
    """The file of one run; if there is no path, nothing is kept.

    settings: by name, all on which the draws depend; target: the log density's fingerprint; start: where the chains
    start, and what the target is there.

    Raises SettingError if there is no folder for the file.
    """

    def __init__(
        self, path: str | os.PathLike | None, every: float, settings: Mapping[str, Any], target: str, start: State
    ):
        self.path, self.every, self.settings, self.target, self.start = path, every, settings, target, start
        if path is not None and not os.path.isdir(os.path.dirname(os.path.abspath(path))):
            raise errors.SettingError(f"autosave: there is no folder {os.path.dirname(os.path.abspath(path))}.")
        self.written_at = time.monotonic()

    @property
    def is_due(self) -> bool:
        return self.path is not None and time.monotonic() - self.written_at >= self.every

    def read(self) -> Standing | None:
        """Where the run stood; None if there is no file.

        Raises: RunFileError if it cannot be read, or is another run's.
        """
        if self.path is None or not os.path.exists(self.path):
            return None
        kept = run_file.read(self.path)
        if not isinstance(kept, Kept):
            raise errors.RunFileError(f"{self.path} holds a run of another kind, not of `sample`.")
        other = {name: value for name, value in kept.settings.items() if self.settings.get(name) != value}
        if other:
            then = ", ".join(f"{name}={value!r}" for name, value in other.items())
            raise errors.RunFileError(f"{self.path} holds a run with {then}.", help=_HELP)
        if kept.target != self.target:
            raise errors.RunFileError(f"{self.path} holds a run of another log density.", help=_HELP)
        if not all(map(_are_close, tf.nest.flatten(kept.start), tf.nest.flatten(_arrays(self.start)))):
            raise errors.RunFileError(
                f"{self.path} holds a run that starts elsewhere, or of another log density.", help=_HELP
            )
        at = kept.standing
        averaging = at.averaging and tf.nest.map_structure(tf.constant, at.averaging)
        return at._replace(state=tf.nest.map_structure(tf.constant, at.state), averaging=averaging)

    def write(self, standing: Standing) -> None:
        if self.path is not None:
            run_file.write(self.path, Kept(self.settings, self.target, _arrays(self.start), _arrays(standing)))
            self.written_at = time.monotonic()


_HELP = "go on with what it was begun with, or name another file."


def _arrays(nest: Any) -> Any:
    return tf.nest.map_structure(lambda leaf: leaf.numpy() if tf.is_tensor(leaf) else leaf, nest)


def _are_close(one: np.ndarray, other: np.ndarray) -> bool:
    """Up to what another machine may round otherwise."""
    return one.shape == other.shape and np.allclose(one, other, rtol=1e-3, atol=1e-3 * np.abs(other).max(initial=0.0))
