"""A batch at work: by one engine after the other, as its stacks deepen and its lanes become few.

Where it stands is a value, so nothing is lost when what comes next is interrupted.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple, Protocol

import numpy as np
import tensorflow as tf

from autobatch.backends.compaction import Account
from autobatch.machine.blocks import Machine, State
from autobatch.machine.dispatch import FOREVER
from autobatch.machine.engine import Outcome, Stop
from autobatch.tracing.vectorize import Stored


class Engines(Protocol):
    """Where engines come from (``ProgramCounter``): one for each depth of the stacks and number of members."""

    depth: int  # of the stacks of a batch that begins
    limit: int  # of the depth
    size: int  # of the batch
    stopped: int  # the program counter of members that are done

    def account(self, depth: int, count: int) -> Account: ...


@dataclass(frozen=True)
class Position:
    """Where a batch stands.

    account: of the engine that is at work; states: of its parts; members: whose its first slots are.
    seen: what those hold; before: what all members held when this engine took over, None if it is the first.
    looks: how often the machine has been looked at.
    """

    account: Account
    states: list[State]
    members: np.ndarray
    seen: Outcome
    before: Outcome | None
    looks: int

    @cached_property
    def pc(self) -> np.ndarray:
        """Of the engine's members."""
        return self.seen.pc.numpy()[: len(self.members)]

    @cached_property
    def outcome(self) -> Outcome:
        """Of all members."""
        if self.before is None:
            return self.seen
        index, count = self.members[:, np.newaxis], len(self.members)

        def updated(all_: tf.Tensor, some: tf.Tensor) -> tf.Tensor:
            return tf.tensor_scatter_nd_update(all_, index, some[:count])

        return tf.nest.map_structure(updated, self.before, self.seen)


def begin(engines: Engines, arguments: list[Stored], shared: list[tf.Tensor], looks: int = FOREVER) -> Position:
    """From arguments, for so many looks or until the host has to step in."""
    account = engines.account(engines.depth, engines.size)
    stop = account.run(lambda limit: account.engine.begin(arguments, shared, limit), looks)
    return _position(account, stop, np.arange(engines.size), None, 0)


def go_on(engines: Engines, last: Position, shared: list[tf.Tensor], looks: int = FOREVER) -> Position:
    """From there, in deeper stacks if all who are left need them, or on fewer lanes if that is worth it."""
    slots = np.flatnonzero(last.pc != engines.stopped)
    account, engine = last.account, last.account.engine
    states, members, before = last.states, last.members, last.before
    if _all_wait(engines, last):
        depth = min(engine.machine.depth * 2, engines.limit)
        engines.depth = max(depth, engines.depth)
        account = engines.account(depth, engine.count)
    elif last.account.is_due(len(slots)):
        account = last.account.smaller = engines.account(engine.machine.depth, last.account.floor)
    if account is not last.account:
        states, members, before = last.account.hand_over(states, slots, account), members[slots], last.outcome
    stop = account.run(lambda limit: account.engine.resume(states, shared, limit), looks)
    return _position(account, stop, members, before, last.looks)


def is_over(engines: Engines, position: Position) -> bool:
    """Whether nobody can go on."""
    return _all_wait(engines, position) and (
        position.account.engine.machine.depth >= engines.limit or not (position.pc > engines.stopped).any()
    )


def _all_wait(engines: Engines, position: Position) -> bool:
    return not (position.pc < engines.stopped).any()


def _position(account: Account, stop: Stop, members: np.ndarray, before: Outcome | None, looks: int) -> Position:
    return Position(account, stop.states, members, stop.outcome, before, looks + int(stop.looks.all))


class Portable(NamedTuple):
    """A position without its machine: the lanes of all parts side by side."""

    depth: int
    count: int
    state: dict[str, Any]  # of NumPy's arrays, as the next
    members: np.ndarray
    before: Outcome | None
    looks: int


def portable(position: Position) -> Portable:
    """Without what is the machine's as a whole: counts."""
    engine, arrays = position.account.engine, {}
    for key in position.states[0]:
        axis = Machine.axis(key)
        if axis is not None:
            arrays[key] = np.concatenate([state[key].numpy() for state in position.states], axis)
    before = position.before and tf.nest.map_structure(lambda leaf: leaf.numpy(), position.before)
    return Portable(engine.machine.depth, engine.count, arrays, position.members, before, position.looks)


def loaded(engines: Engines, saved: Portable, shared: list[tf.Tensor]) -> Position:
    """The position in this process, whose batches may be cut into other parts."""
    account = engines.account(saved.depth, saved.count)
    states = account.engine.spread(saved.state)
    stop = account.run(lambda limit: account.engine.resume(states, shared, limit), looks=0)
    before = saved.before and tf.nest.map_structure(tf.constant, saved.before)
    return _position(account, stop, saved.members, before, saved.looks)
