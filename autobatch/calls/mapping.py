"""``f.map``: any number of members over a fixed number of lanes."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import tensorflow as tf
from tensorflow.python.eager import record as tapes

from autobatch import errors
from autobatch.backends.members import Batch, Finished
from autobatch.backends.program_counter import ProgramCounter
from autobatch.calls import streams
from autobatch.calls.arguments import Arguments
from autobatch.calls.lanes import USUAL, Trials, worth_trying
from autobatch.calls.specialisation import Specialisation, check_attended
from autobatch.options import Options
from autobatch.progress import Bar
from autobatch.tracing.vectorize import Stored


def check(options: Options, lanes: Any, may_try: bool = False) -> None:
    """Raises SettingError for what ``map`` cannot use; ``may_try``: whether ``lanes`` may be "auto"."""
    check_attended("f.map", "lanes that could take another member", options)
    if options.strategy is not None:
        raise errors.SettingError("The lanes of f.map are of one machine: it has no strategy.")
    if options.max_steps is not None or options.deadline is not None:
        raise errors.SettingError("max_steps and deadline are limits of a call; f.map has none.")
    is_auto = isinstance(lanes, str) and lanes == "auto"
    if is_auto and may_try:
        return
    if isinstance(lanes, bool) or not isinstance(lanes, int | np.integer) or lanes < 1:
        help = 'lanes="auto" tries with members of a batch, in f.map.' if is_auto else ""
        raise errors.SettingError(f"lanes must be an int of at least 1, not {lanes!r}.", help=help)


def batch(program: Specialisation, taken: Arguments, options: Options, lanes: int | str, progress: bool) -> Any:
    """What a call returns."""
    if program.is_followed(taken, options):
        return _taped(program, taken, options, USUAL if lanes == "auto" else int(lanes))
    machine = functools.partial(_machine, program, options)
    arguments, numbers, known = program.arguments(taken), [USUAL], program.best_lanes
    if lanes == "auto":
        numbers = worth_trying(taken.size) or numbers
        lanes = known.get((options, *numbers), "auto") if len(numbers) > 1 else USUAL
    with Bar(total=taken.size, unit="member", disable=not progress) as bar:
        if lanes == "auto":
            finished, best = Trials(machine, arguments, taken.size, taken.shared, bar.update).run(numbers)
            known[(options, *numbers)] = best
        else:
            best = min(int(lanes), taken.size)
            (finished,) = machine(best).members(Batch(arguments, taken.size), taken.shared, bar.update)
        bar.set_postfix_str(f"on {best:,} lanes")
    return _results(program, machine(best), taken, finished)


def _taped(program: Specialisation, taken: Arguments, options: Options, lanes: int) -> Any:
    """The same under a tape, which needs each member in a lane of its own: one batch after the other."""

    def execute() -> list[Stored]:
        given, size, parts = program.arguments(taken), min(lanes, taken.size), []
        for first in range(0, taken.size, size):
            start = min(first, taken.size - size)  # the last one begins among members that are done
            some = [[leaf[start : start + size] for leaf in leaves] for leaves in given]
            try:
                found = program.executed(some, taken.shared, size, options)
            except errors.MemberError as error:  # which knows of a part of the batch only
                error.results = None
                raise
            parts.append([[leaf[first - start :] for leaf in leaves] for leaves in found])
        return [[tf.concat(leaf, 0) for leaf in zip(*leaves, strict=True)] for leaves in zip(*parts, strict=True)]

    try:
        return program.put_together(taken, execute)
    except errors.MemberError:
        with tapes.stop_recording():
            return batch(program, taken, options, lanes, progress=False)  # which raises what there is to be said


def stream(
    calls: streams.Calls,
    take_apart: Callable[[Any, Any], Arguments],
    program_for: Callable[[Arguments], Specialisation],
    options: Options,
    lanes: int | str,
    progress: bool,
) -> Iterator[Any]:
    """What each member returns, one after the other."""
    first = calls.peek()
    if first is None:
        return
    try:
        taken = take_apart(*first)
    except errors.BatchShapeError as error:
        if not calls.has_arrays:
            raise
        help = (
            "if members come one by one in one argument, they must in all that have a batch axis: iter(x) for an array."
        )
        raise errors.BatchShapeError(error.message, help=f"{error.help} {help}".lstrip()) from None
    program = program_for(taken)
    machine = _machine(program, options, int(lanes))
    source = _Stream(calls, take_apart, lambda later: program_for(later) is program, program, taken)
    with Bar(unit="member", disable=not progress) as bar:
        for finished in machine.members(source, taken.shared, bar.update):
            failed = np.flatnonzero(finished.code)
            good = failed[0] if len(failed) else len(finished.code)
            try:
                results = _results(program, machine, taken, _cut(finished, 0, good)) if good else None
            except errors.MemberError as error:  # an int that does not fit, which the machine does not know
                before = error.members[0] - finished.first
                yield from streams.members(error.results, before)
                raise
            yield from streams.members(results, good)
            if len(failed):
                _results(program, machine, taken, _cut(finished, good, good + 1))


class _Stream:
    """Members that come one by one, as a ``Source``."""

    size = None

    def __init__(
        self,
        calls: streams.Calls,
        take_apart: Callable[[Any, Any], Arguments],
        is_same: Callable[[Arguments], bool],
        program: Specialisation,
        first: Arguments,
    ):
        self.calls, self.take_apart, self.is_same, self.program, self.first = calls, take_apart, is_same, program, first

    def take(self, count: int) -> list[Stored]:
        call = self.calls.take(count)
        if call is None:
            return [[leaf[:0] for leaf in leaves] for leaves in self.program.arguments(self.first)]
        taken = self.take_apart(*call)
        if not self.is_same(taken):
            raise errors.BatchShapeError(
                f"Member {self.calls.count - taken.size} has another structure, shape or dtype than those before it."
            )
        return self.program.arguments(taken)


def _machine(program: Specialisation, options: Options, lanes: int) -> ProgramCounter:
    machine = program.executable(lanes, options)
    assert isinstance(machine, ProgramCounter)
    if machine.machine(0, 1).knows_positions:
        raise errors.SettingError("A primitive with a size knows members by their lane, which f.map gives to others.")
    return machine


def _results(program: Specialisation, machine: ProgramCounter, taken: Arguments, finished: Finished) -> Any:
    """What a call returns for these members alone, or raises."""
    nest = (finished.results, finished.notes)
    results, notes = tf.nest.map_structure(tf.constant, nest)
    finished = finished._replace(results=results, notes=notes)

    def execute() -> list[Stored]:
        machine.raise_for(finished, taken.shared)
        return finished.results

    return program.put_together(dataclasses.replace(taken, size=len(finished.code), first=finished.first), execute)


def _cut(finished: Finished, start: int, stop: int) -> Finished:
    cut = tf.nest.map_structure(lambda leaf: leaf[start:stop], (finished.results, finished.notes))
    return Finished(finished.first + start, finished.code[start:stop], *cut)
