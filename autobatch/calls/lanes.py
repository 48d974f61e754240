"""How many lanes are best for the members of a batch: found by trying, with members that count."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence

import numpy as np
import tensorflow as tf

from autobatch.backends.members import Batch, Finished
from autobatch.backends.program_counter import ProgramCounter
from autobatch.tracing.vectorize import Stored

NUMBERS = (256, 1024, 4096, 16384)  # of lanes that are tried
USUAL = 1024  # that is tried first, and taken where there are too few members for trials
FILLS = 4  # times that a trial fills its lanes, at least
SHARE = 4  # of the members one in so many is for trials
TRIAL = SHARE * len(NUMBERS)  # and one in so many for each, so that all do as much


class Trials:
    """Runs the members of a batch: some in trials, the others on the number of lanes that did best.

    machine: what runs members on so many lanes.
    """

    def __init__(
        self,
        machine: Callable[[int], ProgramCounter],
        arguments: list[Stored],
        size: int,
        shared: Sequence[tf.Tensor],
        notice: Callable[[int], object],
    ):
        self.machine, self.size, self.shared, self.notice = machine, size, shared, notice
        trials = SHARE * np.random.default_rng(0).permutation(size // SHARE)  # of all parts of the batch, in no order
        self.order = np.concatenate([trials, np.setdiff1d(np.arange(size), trials, assume_unique=True)])
        self.arguments = tf.nest.map_structure(lambda leaf: tf.gather(leaf, self.order), arguments)
        self.done: list[Finished] = []
        self.first = 0
        self.rates: dict[int, float] = {}  # by the number of lanes

    def run(self, numbers: Sequence[int]) -> tuple[Finished, int]:
        """What all members return, in their order; and the best of these numbers of lanes."""
        best = climbed(numbers, USUAL, self._rate)
        self._go(best, self.size - self.first)
        leaves = [tf.nest.flatten((done.results, done.notes)) for done in self.done]
        place = np.argsort(self.order)
        results, notes = tf.nest.pack_sequence_as(
            (self.done[0].results, self.done[0].notes),
            [np.concatenate(pieces)[place] for pieces in zip(*leaves, strict=True)],
        )
        return Finished(0, np.concatenate([done.code for done in self.done])[place], results, notes), best

    def _rate(self, lanes: int) -> float:
        if lanes not in self.rates:
            self._go(lanes, 1)  # compiles
            self.rates[lanes] = 1 / self._go(lanes, self.size // TRIAL - 1)
        return self.rates[lanes]

    def _go(self, lanes: int, count: int) -> float:
        """Runs the next members; returns the seconds that it took."""
        start, stop = time.perf_counter(), self.first + count
        source = _Stretch(self.arguments, self.size, self.first, stop)
        (finished,) = self.machine(lanes).members(source, self.shared, self.notice)
        self.done.append(finished)
        self.first = stop
        return time.perf_counter() - start


class _Stretch(Batch):
    """Some members of a batch, in pools as large as if they were all."""

    def __init__(self, arguments: list[Stored], size: int, first: int, stop: int):
        super().__init__(arguments, size)
        self.first, self.stop = first, stop

    def take(self, count: int) -> list[Stored]:
        return super().take(min(count, self.stop - self.first))


def worth_trying(size: int) -> list[int]:
    """The numbers of lanes for which a batch of this size has members to spare."""
    return [lanes for lanes in NUMBERS if TRIAL * FILLS * lanes <= size]


def climbed(numbers: Sequence[int], start: int, rate: Callable[[int], float]) -> int:
    """The number with the best rate: from ``start`` on upwards as long as it gets better, or else downwards."""
    at = place = numbers.index(start) if start in numbers else len(numbers) - 1
    for step in (1, -1):
        while 0 <= place + step < len(numbers) and rate(numbers[place + step]) > rate(numbers[place]):
            place += step
        if place != at:
            break
    return numbers[place]
