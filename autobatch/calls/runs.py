"""``f.start``: a batch that can be paused, saved, and taken up again."""

from __future__ import annotations

import dataclasses
import html
import os
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import tensorflow as tf

from autobatch import errors
from autobatch.backends import execution
from autobatch.backends.execution import Position
from autobatch.calls import run_file
from autobatch.calls.arguments import Arguments
from autobatch.calls.specialisation import Specialisation, check_attended, check_untaped
from autobatch.options import Options
from autobatch.progress import Bar
from autobatch.tracebacks import shortened
from autobatch.tracing.vectorize import Stored

ROUND = 0.5  # seconds from one look of the host to the next, about


class Progress(NamedTuple):
    """How far a run has come.

    finished: members that are done, or failed; members: all; steps: turns that the machine has taken for the run.
    """

    finished: int
    members: int
    steps: int


class Saved(NamedTuple):
    """What a run's file holds."""

    program: str  # its fingerprint
    name: str
    taken: Arguments  # without what has gone into the machine
    position: execution.Portable


class Run:
    """A batch on its way through the machine, made by ``f.start`` or ``ab.load_run``.

    However it is cut, saved and loaded, it returns, bit for bit, what a call returns.  Between two rounds of about half
    a second the host looks at it: Ctrl-C stops it there, and loses at most a round.
    """

    def __init__(
        self,
        program: Specialisation,
        taken: Arguments,
        options: Options,
        position: execution.Portable | None = None,
        progress: bool = False,
        autosave: str | os.PathLike | None = None,
        every: float = 60.0,
    ):
        check_untaped("a run", program, taken, options)
        if autosave is not None and (Path(autosave).is_dir() or not Path(autosave).absolute().parent.is_dir()):
            raise errors.SettingError(
                f"autosave must be a file in a folder that there is, not {os.fspath(autosave)!r}."
            )
        self._program, self._taken, self._options = program, taken, options
        self._machine = program.pausable(taken.size, options)
        self._shows_progress, self._autosave, self._every = progress, autosave, every
        self._looks = 16  # in a round
        self._position: Position = (
            execution.begin(self._machine, program.arguments(taken), taken.shared, looks=0)
            if position is None
            else execution.loaded(self._machine, position, taken.shared)
        )
        self._saved, self._saved_at = self._position, time.monotonic()

    def __repr__(self) -> str:
        finished, members, steps = self.progress
        return f"<Run of {self._name}: {finished:,} of {members:,} members finished after {steps:,} steps>"

    def _repr_html_(self) -> str:
        """What a notebook shows."""
        bar = f'<progress value="{self.progress.finished}" max="{self.progress.members}"></progress>'
        return f"<p>{html.escape(repr(self)[1:-1])}<br>{bar}</p>"

    @shortened
    def advance(self, steps: int | None = None, seconds: float | None = None) -> Run:
        """Lets the machine work: to the end, or for so many steps or seconds; returns the run.

        A step is a turn of the machine's loop: each block is asked, a few times, whether members wait there.  Of the
        parts into which the batch is cut each takes so many.  A limit in seconds is kept to about a round, half a
        second, and what compiling takes.

        Raises: KeyboardInterrupt; the run goes on from where it was.
        """
        first = self._position.looks
        last = None if steps is None else first + steps
        end = None if seconds is None else time.monotonic() + seconds
        try:
            with self._bar() as bar:
                while not self.is_over and (end is None or time.monotonic() < end):
                    looks = self._looks if last is None else min(self._looks, last - self._position.looks)
                    if looks <= 0:
                        break
                    self._round(looks)
                    self._report(bar, first)
        except KeyboardInterrupt:
            self._save_itself()
            raise KeyboardInterrupt(f"{self!r} is paused; .advance() and .result() go on.") from None
        if self.is_over:
            try:
                self._save_itself()
            except (OSError, errors.RunFileError) as error:  # which must not keep anyone from the result
                warnings.warn(f"The run is over, and could not save itself: {error}", RuntimeWarning, stacklevel=3)
        return self

    @property
    def is_over(self) -> bool:
        """Whether no member can go on: all are finished, have failed, or need deeper stacks than ``max_depth``."""
        return self._machine.is_over(self._position)

    @property
    def finished(self) -> np.ndarray:
        """Whether each member is done, or has failed: bool [members]."""
        finished = np.ones(self._taken.size, bool)
        finished[self._position.members] = self._position.pc == self._machine.stopped
        return finished

    @property
    def progress(self) -> Progress:
        return Progress(int(self.finished.sum()), self._taken.size, self._position.looks)

    def result(self) -> Any:
        """What a call returns, once all members have finished, to which it lets the machine work.

        Raises: what a call raises.
        """
        return self.advance()._result()

    def partial_result(self) -> tuple[np.ndarray, Any]:
        """The numbers of the members that are done [n], and what a call returns for these alone, [n, ...]."""
        outcome = self._position.outcome
        members = np.flatnonzero(self.finished & (outcome.fault.numpy() == 0))

        def those() -> list[Stored]:
            return tf.nest.map_structure(lambda leaf: tf.gather(leaf, members), outcome.results)

        return members, self._program.put_together(dataclasses.replace(self._taken, size=len(members)), those)

    @shortened
    def save(self, path: str | os.PathLike) -> None:
        """Writes the run into one file, whole or not at all; ``ab.load_run(f, path)`` takes it up again.

        The file is a pickle: load only what you trust.

        Raises: RunFileError if a static argument cannot be pickled; OSError.
        """
        taken = dataclasses.replace(self._taken, stored=[[leaf[:0] for leaf in part] for part in self._taken.stored])
        position = execution.portable(self._position)
        run_file.write(path, Saved(self._program.fingerprint(self._options), self._name, taken, position))

    def _result(self, deadline: float | None = None) -> Any:
        outcome, shared = self._position.outcome, self._taken.shared
        return self._program.put_together(self._taken, lambda: self._machine.results(outcome, shared, deadline))

    @property
    def _name(self) -> str:
        return self._program.interface.program.entry.name

    def _save_itself(self) -> None:
        if self._autosave is not None and self._saved is not self._position:
            self.save(self._autosave)
            self._saved, self._saved_at = self._position, time.monotonic()

    def _round(self, looks: int) -> None:
        start = time.perf_counter()
        self._position = execution.go_on(self._machine, self._position, self._taken.shared, looks)
        seconds = time.perf_counter() - start
        if looks == self._looks:
            self._looks = max(1, int(looks * min(2.0, max(0.5, ROUND / seconds))))
        if time.monotonic() - self._saved_at >= self._every:
            self._save_itself()

    def _bar(self) -> Bar:
        finished, members, _ = self.progress
        return Bar(total=members, initial=finished, unit="member", disable=not self._shows_progress)

    def _report(self, bar: Bar, first: int) -> None:
        if not bar.disable:
            rate = (self._position.looks - first) / max(bar.format_dict["elapsed"], 1e-9)
            at_work = np.mean(self._position.pc != self._machine.stopped)
            bar.set_postfix_str(f"{rate:,.0f} steps/s, {at_work:.0%} of the lanes at work", refresh=False)
            bar.update(self.progress.finished - bar.n)


def check(options: Options) -> None:
    """Raises SettingError for what a run cannot use."""
    check_attended("f.start", "state that could be paused", options)
    if options.strategy is not None:
        raise errors.SettingError("A run is of one machine: it has no strategy.")
    if options.max_steps is not None or options.deadline is not None:
        raise errors.SettingError(
            "max_steps and deadline are limits of a call.",
            help="run.advance(steps, seconds) lets a run work for so long.",
        )


def within(program: Specialisation, taken: Arguments, options: Options) -> Any:
    """What a call with a ``deadline`` returns.

    Raises: DeadlineError with the run.
    """
    check_attended("A call with a deadline", "state that could be paused", options)
    assert options.deadline is not None
    if options.max_steps is not None:
        raise errors.SettingError("Give max_steps or deadline, not both.")
    run = Run(program, taken, options.without("deadline"))
    try:
        return run.advance(seconds=options.deadline)._result(options.deadline)
    except errors.DeadlineError as error:
        error.paused = lambda: run
        raise


def after(error: errors.StepLimitError, program: Specialisation, taken: Arguments, options: Options) -> Run | None:
    """What goes on where a call ran into ``max_steps``."""
    if error.position is None:
        return None
    return Run(program, taken, options.without("max_steps"), error.position)


def load(
    path: str | os.PathLike, program_for: Callable[[Arguments], Specialisation], options: Options, **how: Any
) -> Run:
    """Raises RunFileError if the file cannot be read, or the program is not the one that was saved."""
    saved = run_file.read(path)
    if not isinstance(saved, Saved):
        raise errors.RunFileError(f"{path} holds a run of another kind, not of a function.")
    program = program_for(saved.taken)
    if program.fingerprint(options) != saved.program:
        raise errors.RunFileError(
            f"{path} holds a run of `{saved.name}` as it was then; it has changed, or what it reads from outside has.",
            help="go on with the code that it was saved with, or start anew.",
        )
    return Run(program, saved.taken, options, saved.position, **how)
