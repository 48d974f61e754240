"""What has to be kept of a run so that it can be undone, within a budget of memory.

A run is a string of stretches, each until a tape is full.  Tapes are kept of the last stretches, as many as half of the
budget holds; of the others the states in which they began, and they run again when their turn comes to be undone: in
all at most twice as many steps.  Where states alone take more than the other half, every second of them is given up,
and what is between two of them runs again together.  (After Griewank, "Achieving logarithmic growth of temporal and
spatial complexity in reverse automatic differentiation", 1992; the snapshots lie evenly, as nobody knows how long the
run will be.)
"""

from __future__ import annotations

import weakref
from collections.abc import Iterator, Sequence

import tensorflow as tf

from autobatch.machine.blocks import State
from autobatch.machine.reels import Lent
from autobatch.machine.reversible import Advanced, Reversible


class History:
    """A run as it was; ``budget``: bytes."""

    def __init__(self, shared: list[tf.Tensor], budget: int):
        self.shared, self.budget = shared, budget
        self.ended: list[State] = []  # where the last stretch ended
        self._by: list[Reversible] = []  # what ran each stretch
        self._begun: dict[int, list[State]] = {}  # where stretches began, of some of them
        self._tapes: dict[int, list[State]] = {}  # what they recorded, of some of them
        self._lent: dict[int, Lent] = {}  # what holds it
        weakref.finalize(self, _give_back, self._lent)
        self._every = 1  # of so many stretches one has its beginning kept

    def advance(self, by: Reversible, states: list[State]) -> Advanced:
        """Runs another stretch."""
        self._by.append(by)
        done = self._run(len(self._by) - 1, states)
        self.ended = done.states
        return done

    def backwards(self) -> Iterator[tuple[Reversible, list[State]]]:
        """The stretches with their tapes, from the last."""
        for k in reversed(range(len(self._by))):
            if k not in self._tapes:
                self._run_again(k)
            yield self._by[k], self._tapes[k]

    def _run(self, k: int, states: list[State]) -> Advanced:
        by = self._by[k]
        self._lent[k] = by.reels.lend(by.parts)
        done = by.advance(states, self.shared, self._lent[k].reels)
        self._tapes[k] = done.tapes
        if k % self._every == 0:
            self._begun[k] = states
        while len(self._tapes) > 1 and len(self._tapes) * by.parts * by.tape.bytes > self.budget // 2:
            least = self._least_needed(k)
            del self._tapes[least]
            self._lent.pop(least).give_back()
        while len(self._begun) > 1 and len(self._begun) * _bytes(states) > self.budget // 2:
            self._every *= 2
            self._begun = {n: begun for n, begun in self._begun.items() if n % self._every == 0}
        return done

    def _least_needed(self, k: int) -> int:
        """The tape that is undone last, of those up to the ``k``-th; those behind it are undone already."""
        return max((n for n in self._tapes if n > k), default=min(self._tapes))

    def _run_again(self, k: int) -> None:
        """From the last beginning that is kept before it."""
        first = max(n for n in self._begun if n <= k)
        states = self._begun[first]
        for n in range(first, k + 1):
            if n > first and self._by[n] is not self._by[n - 1]:
                states = self._by[n - 1].deeper(states, self._by[n])
            states = self._run(n, states).states


def _give_back(lent: dict[int, Lent]) -> None:
    for each in lent.values():
        each.give_back()


def _bytes(states: Sequence[State]) -> int:
    return sum(leaf.dtype.size * leaf.shape.num_elements() for state in states for leaf in state.values())
