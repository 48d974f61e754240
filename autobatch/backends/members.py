"""Any number of members over a fixed number of lanes: the host's side of ``machine/refill.py``.

A thread for each part of the lanes takes members from a source, lets its machine work on them, and puts what they
return into a window, from which the caller gets it in order.
"""

from __future__ import annotations

import atexit
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple, Protocol

import numpy as np
import tensorflow as tf

from autobatch.machine.blocks import State
from autobatch.machine.refill import UNFINISHED, Lanes, Pool, Refilled
from autobatch.machine.sizes import member_bytes
from autobatch.tracing.vectorize import Stored

OVERFLOWED = -2  # in place of the code of a check that failed
ROUND = 0.2  # seconds from one look of the host to the next, to which pools and turns grow
TURNS, MOST_TURNS = 4096, 2**30  # of the machine, in the first round, and in any
LARGEST = 2**19  # bytes of a pool and of what its members return; with more, XLA makes no function of the loop
PATIENCE = 10.0  # seconds that who ends an iterator waits for its last round, or for a source that waits
WAITING = 4  # pools of each part whose results may wait for those of an earlier member


class Source(Protocol):
    """Where members come from."""

    @property
    def size(self) -> int | None:
        """How many there are, if that is known."""
        ...

    def take(self, count: int) -> list[Stored]:
        """The arguments of the next members, of at most so many; of none if there are no more."""
        ...


class Batch:
    """Members that stand in a batch."""

    def __init__(self, arguments: list[Stored], size: int):
        self.arguments, self.size, self.first = arguments, size, 0

    def take(self, count: int) -> list[Stored]:
        start, self.first = self.first, self.first + count
        return [[leaf[start : self.first] for leaf in leaves] for leaves in self.arguments]


class Finished(NamedTuple):
    """What became of members from the ``first`` on; [members, ...] each."""

    first: int
    code: np.ndarray  # 0, or 1 + the position of the check that failed, or OVERFLOWED
    results: list[Any]
    notes: list[Any]


class Window:
    """What members return, by their number modulo ``size``, until it is their turn."""

    def __init__(self, size: int):
        self.size, self.first = size, 0
        self.code = np.full(size, UNFINISHED, np.int32)
        self.leaves: list[np.ndarray] = []
        self.nest: tuple[list[Stored], list[Stored]] = ([], [])

    def put(self, numbers: np.ndarray, code: np.ndarray, nest: tuple[list[Stored], list[Stored]]) -> None:
        """``nest``: the results and the notes of these members."""
        leaves, places = tf.nest.flatten(nest), numbers % self.size
        if not self.nest[0]:
            self.nest, self.leaves = nest, [np.zeros((self.size, *leaf.shape[1:]), leaf.dtype) for leaf in leaves]
        for all_, new in zip(self.leaves, leaves, strict=True):
            all_[places] = new
        self.code[places] = code

    def take(self) -> Finished:
        """The members whose turn it is; none if the first of them is not done."""
        places = (self.first + np.arange(self.size)) % self.size
        waiting = np.flatnonzero(self.code[places] == UNFINISHED)
        places = places[: waiting[0]] if len(waiting) else places
        code, leaves = self.code[places], [leaf[places] for leaf in self.leaves]
        self.code[places] = UNFINISHED
        results, notes = tf.nest.pack_sequence_as(self.nest, leaves) if len(places) else ([], [])
        self.first += len(places)
        return Finished(self.first - len(places), code, results, notes)


class Members:
    """The members of a source, at work on the lanes of some machines; what they return, when iterated over.

    Args:
      machine: that of one part, for stacks of a depth.
      depth, limit: of the stacks, at first and at most.
      parts: how many there are.
      notice: is told how many more members are done.
    """

    def __init__(
        self,
        machine: Callable[[int], Refilled],
        depth: int,
        limit: int,
        parts: int,
        source: Source,
        shared: Sequence[tf.Tensor],
        notice: Callable[[int], object],
    ):
        self.machine, self.depth, self.limit, self.parts = machine, depth, limit, parts
        self.source, self.shared, self.notice = source, list(shared), notice
        first = machine(depth).machine
        rows = max(4 * first.size, LARGEST // max(member_bytes(first), 1))
        self.rows = rows if source.size is None else min(rows, max(source.size, 1))  # of a pool
        self.window = Window(WAITING * parts * self.rows if source.size is None else max(source.size, 1))
        self.drawing = threading.Lock()  # guards the source, which may take its time
        self.changed = threading.Condition()  # guards the window, and what follows
        self.given = 0  # members that parts have taken
        self.is_over = source.size == 0  # whether the source has no more
        self.is_abandoned = False  # whether the threads are to end before their members have
        self.at_work = parts
        self.source_failure: Exception | None = None  # why there are no more: raised once those before are out
        self.failure: BaseException | None = None  # of a machine
        self.states: list[State] = []  # of the machines, at their end

    def __iter__(self) -> Iterator[Finished]:
        """What members return, in their order; all at once if their number is known."""
        # Daemons, as an iterator may be left unfinished until the process ends.
        threads = [threading.Thread(target=self._work, name="autobatch", daemon=True) for _ in range(self.parts)]

        def end() -> None:
            self._abandon()
            while threads:
                thread = threads.pop()
                if thread is not threading.current_thread():  # in which the garbage collector may find the iterator
                    thread.join(PATIENCE)

        atexit.register(end)  # as the interpreter kills daemons, even inside TensorFlow
        try:
            for thread in threads:
                thread.start()
            while len((finished := self._next()).code):
                yield finished
        finally:
            end()
            atexit.unregister(end)

    def _next(self) -> Finished:
        with self.changed:
            while True:
                if self.failure is not None:
                    raise self.failure
                if self.source.size is None or not self.at_work:
                    finished = self.window.take()
                    if len(finished.code) or not self.at_work:
                        self.changed.notify_all()
                        if self.source_failure is not None and not len(finished.code):
                            raise self.source_failure
                        return finished
                self.changed.wait()

    def _work(self) -> None:
        """What one thread does."""
        try:
            self.states.append(Part(self).run().state)
        except BaseException as failure:
            self.failure = failure
            self._abandon()
        with self.changed:
            self.at_work -= 1
            self.changed.notify_all()

    def _abandon(self) -> None:
        with self.changed:
            self.is_over = self.is_abandoned = True
            self.changed.notify_all()

    def take(self, most: int, waits: bool) -> tuple[int, list[Stored]] | None:
        """The number of the next member, and the arguments from it on; None if there are no more.

        waits: whether for room in the window; else None without it.
        """
        while True:
            with self.changed:
                while waits and not (self.is_over or self._room(most)):
                    self.changed.wait()
            with self.drawing:
                with self.changed:
                    room = 0 if self.is_over else self._room(most)
                if room:
                    return self._drawn(room)
            if self.is_over or not waits:
                return None

    def _drawn(self, count: int) -> tuple[int, list[Stored]] | None:
        try:
            arguments = self.source.take(count)
        except Exception as failure:
            arguments, self.source_failure = [], failure
        with self.changed:
            first, size = self.given, tf.nest.flatten(arguments)[0].shape[0] if arguments else 0
            self.given += size
            self.is_over = self.is_over or not size or self.given == self.source.size
            return (first, arguments) if size else None

    def _room(self, most: int) -> int:
        """For how many members more, at most."""
        room = min(most, self.window.first + self.window.size - self.given)
        if self.source.size is None:
            return room
        return min(room, max(-(-(self.source.size - self.given) // (2 * self.parts)), 1))  # all parts end together

    def put(self, numbers: np.ndarray, code: np.ndarray, nest: tuple[list[Stored], list[Stored]]) -> None:
        with self.changed:
            self.window.put(numbers, code, nest)
            self.notice(len(numbers))
            self.changed.notify_all()


class Part:
    """The lanes of one thread."""

    def __init__(self, members: Members):
        self.members, self.depth = members, members.depth
        self.refilled = members.machine(members.depth)
        self.lanes: Lanes = self.refilled.empty()
        self.owners = np.full(self.refilled.machine.size, UNFINISHED)  # the number of each lane's member
        self.turns = TURNS
        self.pool, self.first = self._pool([], more=False), 0  # and the number of its first member

    def run(self) -> Lanes:
        """The lanes, once there are no more members."""
        most = 4 * len(self.owners)
        while not self.members.is_abandoned:
            if self.pool.taken == self.pool.count:
                is_busy = (self.owners != UNFINISHED).any()
                taken = self.members.take(min(most, self.members.rows), waits=not is_busy)
                if taken is None and not is_busy:
                    break
                self.first, arguments = taken or (0, [])
                self.pool = self._pool(arguments, more=taken is not None and not self.members.is_over)
            start = time.perf_counter()
            self._advance()
            seconds = time.perf_counter() - start
            if seconds < ROUND:
                most *= 2
            self.turns = min(max(1, int(self.turns * min(2.0, max(0.5, ROUND / seconds)))), MOST_TURNS)
        return self.lanes

    def _advance(self) -> None:
        members = self.members
        self.lanes, harvest = self.refilled.advance(self.lanes, self.pool, members.shared, self.turns)
        self.pool = self.pool._replace(taken=harvest.taken)
        owners = np.concatenate([self.first + np.arange(members.rows), self.owners])  # of the harvest's rows
        code, row = harvest.code.numpy()[:-1], self.lanes.row.numpy()
        done = np.flatnonzero(code != UNFINISHED)
        nest = (harvest.results, harvest.notes)
        members.put(owners[done], code[done], tf.nest.map_structure(lambda leaf: leaf.numpy()[done], nest))
        self.owners = np.where(row == UNFINISHED, UNFINISHED, owners[row])
        stalled = self.refilled.is_stalled(self.lanes)
        if stalled.any():
            self._deepen(stalled, nest)

    def _deepen(self, stalled: np.ndarray, nest: tuple[list[Stored], list[Stored]]) -> None:
        """Doubles the stacks; gives the members up where they are as deep as they may be."""
        members, last = self.members, self.refilled
        if self.depth < members.limit:
            self.depth = min(2 * self.depth, members.limit)
            self.refilled = members.machine(self.depth)
            self.lanes = self.refilled.taken_over(self.lanes, last)
            return
        count = np.count_nonzero(stalled)
        nothing = tf.nest.map_structure(
            lambda leaf: np.zeros((count, *leaf.shape[1:]), leaf.dtype.as_numpy_dtype), nest
        )
        members.put(self.owners[stalled], np.full(count, OVERFLOWED), nothing)
        self.lanes, self.owners = last.freed(self.lanes, stalled), np.where(stalled, UNFINISHED, self.owners)

    def _pool(self, arguments: list[Stored], more: bool) -> Pool:
        """Of these members, or of none; filled up with zeros."""
        arguments = arguments or self.refilled.machine.no_arguments(0)
        count = tf.nest.flatten(arguments)[0].shape[0]
        missing = self.members.rows - count

        def padded(leaf: tf.Tensor) -> tf.Tensor:
            return tf.concat([leaf, tf.zeros([missing, *leaf.shape[1:]], leaf.dtype)], axis=0)

        filled = tf.nest.map_structure(padded, arguments) if missing else arguments
        return Pool(filled, tf.constant(0), tf.constant(count), tf.constant(more))
