"""How an autobatched function takes its arguments and runs."""

from __future__ import annotations

import dataclasses
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Literal

import tensorflow as tf

from autobatch import passes

Backend = Literal["program_counter", "local_static", "unbatched"]
Axes = int | None | Sequence[int | None]


# All that may be left out: passes or parts of them, and that XLA makes one function of a loop that touches few bytes.
OPTIMIZATIONS = passes.OPTIMIZATIONS | {"whole_loops"}


@dataclass(frozen=True)
class Options:
    """The keywords of ``autobatch``."""

    in_axes: Axes = 0
    static_argnames: tuple[str, ...] = ()
    backend: Backend = "program_counter"
    jit_compile: bool = True
    dispatch: Literal["auto", "guarded", "switch_case", "sweep", "rounds"] = "auto"
    schedule: Literal["auto", "earliest", "most_populated", "weighed"] = "auto"
    partial: Literal["auto", "mask", "gather"] = "auto"
    shards: int | Literal["auto"] = "auto"
    compact: Literal["auto", "always", "never"] = "auto"
    max_depth: int | None = None
    max_length: int | None = None
    max_steps: int | None = None
    deadline: float | None = None
    strategy: tf.distribute.Strategy | None = None
    tape_memory: int = 2**30
    optimizations: Collection[str] = OPTIMIZATIONS

    def __post_init__(self) -> None:
        if isinstance(self.static_argnames, str):
            object.__setattr__(self, "static_argnames", (self.static_argnames,))
        object.__setattr__(self, "optimizations", frozenset(self.optimizations))
        if unknown := self.optimizations - OPTIMIZATIONS:
            known = ", ".join(sorted(OPTIMIZATIONS))
            raise ValueError(f"there is no optimization {', '.join(sorted(unknown))}; there are {known}")
        if isinstance(self.in_axes, list):
            object.__setattr__(self, "in_axes", tuple(self.in_axes))
        axes = self.in_axes if isinstance(self.in_axes, tuple) else (self.in_axes,)
        if not all(axis is None or isinstance(axis, int) for axis in axes):
            raise ValueError(f"in_axes must be an int, None, or a tuple of them, not {self.in_axes!r}")
        _check_choice("backend", self.backend, ("program_counter", "local_static", "unbatched"))
        _check_choice("dispatch", self.dispatch, ("auto", "guarded", "switch_case", "sweep", "rounds"))
        _check_choice("schedule", self.schedule, ("auto", "earliest", "most_populated", "weighed"))
        _check_choice("partial", self.partial, ("auto", "mask", "gather"))
        _check_choice("compact", self.compact, ("auto", "always", "never"))
        if self.shards != "auto" and (not isinstance(self.shards, int) or self.shards < 1):
            raise ValueError(f"shards must be 'auto' or an int of at least 1, not {self.shards!r}")
        for name in ("max_depth", "max_length", "max_steps"):
            limit = getattr(self, name)
            if limit is not None and (not isinstance(limit, int) or not (name == "max_length") <= limit < 2**31):
                least = int(name == "max_length")
                raise ValueError(f"{name} must be None or an int of at least {least} and below 2**31, not {limit!r}")
        if self.deadline is not None and (not isinstance(self.deadline, int | float) or not self.deadline >= 0):
            raise ValueError(f"deadline must be None or seconds, at least 0, not {self.deadline!r}")
        if not isinstance(self.tape_memory, int) or self.tape_memory < 0:
            raise ValueError(f"tape_memory must be an int, a number of bytes, not {self.tape_memory!r}")
        if self.strategy is not None and not isinstance(self.strategy, tf.distribute.Strategy):
            raise ValueError(f"strategy must be None or a tf.distribute.Strategy, not {self.strategy!r}")

    def without(self, name: str) -> Options:
        """The options where this one is None."""
        return dataclasses.replace(self, **{name: None})


def _check_choice(name: str, value: str, choices: Sequence[str]) -> None:
    if value not in choices:
        raise ValueError(f"{name} must be one of {', '.join(map(repr, choices))}, not {value!r}")


def as_names(names: str | Sequence[str]) -> tuple[str, ...]:
    return (names,) if isinstance(names, str) else tuple(names)
