"""When few lanes are left, they go on in a smaller machine: when that is worth compiling.

By the ski-rental rule: a smaller machine is compiled once what was lost for want of it, in this call and those before,
is what compiling it takes.  As far as its estimates hold, that loses at most twice what perfect foresight would.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from statistics import mean

import numpy as np

from autobatch.machine.blocks import Machine, State
from autobatch.machine.dispatch import FOREVER, Limit
from autobatch.machine.engine import Engine, Stop
from autobatch.machine.pieces import Shelf
from autobatch.options import Options
from autobatch.passes.costs import FIXED

RATIO = 4  # of lanes between a machine and the next smaller one
SMALLEST = 16  # lanes
FIRST_MOVING = 0.01  # seconds to hand members over, while it is not known
FIRST_PATIENCE = 64  # looks, while it is not known how long it is from one to the next


class Account:
    """What one engine has lost for want of the next smaller one.

    can_pause: whether the engine heeds limits even if there is no smaller one.
    """

    def __init__(
        self,
        machine: Machine,
        parts: int,
        count: int,
        options: Options,
        can_pause: bool = False,
        shelf: Shelf | None = None,
    ):
        wanted = options.compact != "never" and options.max_steps is None and not machine.knows_positions
        self.floor = count // RATIO if wanted and count >= RATIO * SMALLEST else 0
        self.engine = Engine(machine, parts, count, options, can_pause or self.floor > 0, shelf)
        self.always = options.compact == "always"
        self.price: float | None = None  # seconds to compile it, taken to be that of this engine
        self.pace: float | None = None  # seconds from look to look
        self.lost = 0.0  # seconds
        lanes = machine.size * mean(machine.stored.costs or [0])
        self.gain = (1 - 1 / RATIO) * lanes / (FIXED + lanes)  # the share of its time that a smaller one saves
        self.smaller: Account | None = None
        self.moving: float | None = None  # seconds to hand the members over to it

    def is_due(self, left: int) -> bool:
        """Whether a smaller one is to take over the members that are left."""
        return left <= self.floor and self._pays

    @property
    def _pays(self) -> bool:
        return self.smaller is not None or self.always or (self.price is not None and self.lost >= self.price)

    def run(self, go: Callable[[Limit], Stop], looks: int = FOREVER) -> Stop:
        """Runs the engine for so many looks, or to the point where a smaller one is due, and keeps the account."""
        if not self.floor:
            return go(Limit(looks=looks))
        if self.price is None:
            start = time.perf_counter()
            go(Limit(looks=0))  # compiles, and stops at once
            self.price = time.perf_counter() - start
        start = time.perf_counter()
        stop = go(Limit(self.floor, self._patience(), looks))
        taken, late = int(stop.looks.all), int(stop.looks.late)
        if taken:
            self.pace = (time.perf_counter() - start) / taken
            self.lost += max(0.0, late * self.pace * self.gain - (self.moving or FIRST_MOVING))
        return stop

    def hand_over(self, states: list[State], slots: np.ndarray, to: Account) -> list[State]:
        """The members in these slots, in the first of another engine."""
        start = time.perf_counter()
        moved = to.engine.take_over(states, slots, self.engine)
        seconds = time.perf_counter() - start
        self.moving = seconds if self.moving is None else min(self.moving, seconds)  # the first time it is traced
        return moved

    def _patience(self) -> int:
        if self.always:
            return 0
        if self.pace is None:
            return FIRST_PATIENCE
        assert self.price is not None
        seconds = (self.moving or FIRST_MOVING) + (0 if self._pays else self.price - self.lost)
        return min(FOREVER, 1 + int(seconds / max(self.pace * self.gain, 1e-12)))
