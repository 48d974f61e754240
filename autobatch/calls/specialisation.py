"""From a function and the types of its arguments to what runs: all stages, each done once."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from types import CodeType
from typing import Any

import tensorflow as tf

from autobatch import context, errors, ir, passes, reads
from autobatch.backends.gradients import Gradients
from autobatch.backends.in_graph import InGraph
from autobatch.backends.local_static import LocalStatic
from autobatch.backends.members import Batch
from autobatch.backends.program_counter import ProgramCounter
from autobatch.calls import arguments, keeping, taping
from autobatch.calls.arguments import Arguments
from autobatch.calls.fingerprint import fingerprint
from autobatch.calls.recent import Recent
from autobatch.calls.taping import Followed
from autobatch.context import is_users
from autobatch.frontend.changing import Outside
from autobatch.frontend.chosen import Chosen, codes, with_choices
from autobatch.frontend.core import Callee, Target
from autobatch.frontend.dicts import OF_DICTS, explained
from autobatch.frontend.driver import MODES, Frontend, deep_recursion, lower, source_of
from autobatch.frontend.source import Source
from autobatch.frontend.undecorated import cached, with_helpers
from autobatch.frontend.watch import Watched, watch
from autobatch.ir.adjoint import AdjointProgram, has_derivatives
from autobatch.ir.leaves import leaf_type, leaves_of
from autobatch.ir.representation import given
from autobatch.ir.stored import StoredProgram
from autobatch.ir.typed import TypedProgram
from autobatch.ir.types import Type, describe
from autobatch.machine.counts import Measured
from autobatch.machine.pieces import Shelf
from autobatch.machine.recorder import Recording, record
from autobatch.options import OPTIMIZATIONS, Options
from autobatch.passes.adjoint import captures
from autobatch.passes.inference import UnrollingNeeded
from autobatch.passes.optional_results import check_results
from autobatch.passes.ragged_lists import any_of_numbers, take_lists
from autobatch.progress import compiling
from autobatch.tracing import pullback
from autobatch.tracing.explain import operation_failure
from autobatch.tracing.vectorize import Stored


def check_attended(call: str, needed: str, options: Options) -> None:
    """Raises SettingError where no host looks at a machine while it works."""
    if not tf.executing_eagerly():
        raise errors.SettingError(f"{call} runs outside of tf.function only: there the host looks at the machine.")
    if options.backend != "program_counter":
        raise errors.SettingError(
            f"The {options.backend} backend has no {needed}.", help=f'{call} is for backend="program_counter".'
        )


def check_untaped(call: str, program: Specialisation, taken: Arguments, options: Options) -> None:
    """Raises SettingError where a tape would lose its track, and have None for a gradient."""
    if program.is_followed(taken, options):
        raise errors.SettingError(
            f"A tf.GradientTape watches what goes into the program, and {call} has no gradients.",
            help="a plain call and f.map have them.",
        )


_REQUESTS = ("none-value",)  # what is asked for by messages of these kinds is done, and the next message is the user's

_TELLING = ("dict-handed-on", "exception-text", "shared-array")  # these say more than what was to be said at first

Typed = tuple[Frontend, ir.Program, TypedProgram, Outside]


def _typed(callee: Callee, callee_of: Callable[[Any], Callee | None], taken: Arguments, list_capacity: int) -> Typed:
    """The program, before and after it has types, and what it refers to.

    Lists stand for ragged arguments if it does not work with these.
    """
    try:
        return _tried(callee, callee_of, taken, list_capacity, rows_as_lists=False)
    except errors.AutobatchError as refused:
        if not any_of_numbers(taken.types):
            raise
        try:
            return _tried(callee, callee_of, taken, list_capacity, rows_as_lists=True)
        except Exception:
            raise refused from refused.__cause__


@context.remembering()
def _tried(
    callee: Callee,
    callee_of: Callable[[Any], Callee | None],
    taken: Arguments,
    list_capacity: int,
    rows_as_lists: bool,
) -> Typed:
    unrolled: dict[tuple, int] = {}
    helpers: frozenset[CodeType] = frozenset()  # undecorated functions that cannot run as they are
    raised: Exception | None = None  # what the user's own code raised, perhaps where only some members get
    modes: dict[str, Exception] = {}  # how it is lowered now, and what was to be said without that
    classes: dict[type, None] = {}  # of the objects that it makes
    chosen: Chosen = {}  # functions that members choose, which cannot run as they are
    optional: frozenset[str] = frozenset()  # the attributes of theirs that are None for some members
    outside = Outside()
    while True:
        known = len(classes)
        frontend = None
        try:
            with context.meeting(classes), context.lists_of(list_capacity), context.optional(optional):
                with deep_recursion():
                    outside.meet([source_of(Target(callee, tuple(taken.static.items())))])
                    frontend = lower(
                        callee, taken.static, with_helpers(callee_of, helpers, modes), unrolled, modes, chosen
                    )
                    outside.meet(core.source for core in frontend.cores.values())
                program = dataclasses.replace(
                    frontend.program, arguments=tuple(taken.types), shared=tuple(taken.shared_types)
                )
                program = check_results(program) if optional else program
                program = take_lists(program) if rows_as_lists else program
                typed = passes.run(passes.until("types"), program)
            if len(classes) == known:  # of a class that is met for the first time the methods are known now
                outside.check()
                return frontend, program, typed, outside
        except UnrollingNeeded as needed:
            assert frontend is not None
            unrolled |= {frontend.place(loop): loop.count for loop in needed.loops}
        except Exception as error:
            if raised is None and not isinstance(error, errors.AutobatchError):
                raised = error
            if not getattr(error, "optional", optional) <= optional:
                optional |= error.optional
                continue
            met = cached(frontend.cores.values()) if frontend else ()
            found = frozenset(code for code in (*getattr(error, "helpers", ()), *met) if is_users(code))
            more = with_choices(chosen, getattr(error, "chosen", {}))
            if frontend is not None and more != chosen:
                chosen, helpers = more, helpers | found | codes(more)
                continue
            if frontend is None and raised is not None:
                raise raised from raised.__cause__
            if frontend is None or (found <= helpers and len(classes) == known):
                if not isinstance(error, errors.UnsupportedSyntaxError | errors.TypeMismatchError):
                    outside.check()
                others = [mode for mode in MODES.get(getattr(error, "kind", None) or "", ()) if mode not in modes]
                if others:
                    modes[others[0]] = error
                    continue
                told = [each for each in modes.values() if getattr(each, "kind", None) not in _REQUESTS]
                shown = told[0] if told and getattr(error, "kind", None) not in _TELLING else error
                if frontend is not None and getattr(shown, "kind", None) in OF_DICTS:
                    called = [target for core in frontend.cores.values() for target in core.calls.values()]
                    entry = Target(callee, tuple(taken.static.items()))
                    targets = [entry, *(each for each in called if each.callee.kind == "autobatched")]
                    shown = explained(shown, map(source_of, targets))  # type: ignore[arg-type]
                if shown is error:
                    raise
                raise shown from None
            helpers |= found


class Specialisation:
    """One specialisation of an autobatched function: static values and argument types are fixed.

    What an earlier process has kept of it is taken from there; then it is lowered only where its code is needed.

    callee_of: how the frontend knows what it is that a program calls.
    list_capacity: how many items lists have room for, at least, whose length differs between members.
    options: of the call that it is made for.
    """

    def __init__(
        self,
        callee: Callee,
        callee_of: Callable[[Any], Callee | None],
        taken: Arguments,
        list_capacity: int,
        options: Options,
    ):
        self.list_capacity = list_capacity
        self._callee, self._callee_of = callee, callee_of
        self._like = dataclasses.replace(taken, stored=[], shared=[])  # the types of the arguments
        self._lowered: Typed | None = None
        self._watched: tuple[Watched, ...] = ()
        self._stacks: dict[frozenset[str], StoredProgram] = {}
        self.executables = Recent[tuple, ProgramCounter | LocalStatic](self._of_size, frames=6)
        self.graphs = Recent[tuple, InGraph](self._of_size, frames=6)
        self.adjoints = Recent[tuple, Gradients](self._of_size, frames=6)
        self.pausables = Recent[tuple, ProgramCounter](self._of_size, frames=6)
        self.under_jax = Recent[tuple, Any](str, frames=6)  # what JAX has compiled of it, by options and size
        self.best_lanes: dict[tuple, int] = {}  # that `f.map` has found, by options and size
        self.replaced = 0  # how many for the same arguments came before, each used once
        self._book = keeping.book(callee, taken, list_capacity) if keeping.keeps(options) else None
        kept = None if self._book is None else self._book.read(options.optimizations)
        if self._book is None or kept is None:
            self._lower()
        else:
            self.interface, self._watched = kept.interface, self._book.watched

    def _lower(self) -> Typed:
        with context.tracing_lock:
            if self._lowered is None:
                changed = self.changed()
                if changed is not None:  # since it was taken from an earlier process
                    raise errors.AutobatchError(
                        f"`{changed}`, which the program reads, has changed since the call began.", help="begin again."
                    )
                with compiling(self._callee.function.__name__), reads.noticed() as noticed:
                    self._lowered = _typed(self._callee, self._callee_of, self._like, self.list_capacity)
                self.interface = self._lowered[2]
                self._watch()
                if self._book is not None and (noticed or not self._book.covers(self._sources)):
                    self._book = None
            return self._lowered

    @property
    def _sources(self) -> list[Source]:
        return [core.source for core in self.frontend.cores.values()]

    def _watch(self) -> None:
        with deep_recursion():
            self._watched = watch(self._sources)

    @property
    def frontend(self) -> Frontend:
        return self._lower()[0]

    @property
    def untyped(self) -> ir.Program:
        return self._lower()[1]

    @property
    def typed(self) -> TypedProgram:
        return self._lower()[2]

    def changed(self) -> str | None:
        """What the program read from outside (a global, a closure, an object) that is not as it was, if anything."""
        return next((str(watched.name) for watched in self._watched if not watched.is_unchanged()), None)

    @contextmanager
    def _settled(self) -> Iterator[None]:
        """Takes what the user's own code changes while it is traced for part of it."""
        changed = self.changed()
        yield
        if changed is None and self.changed() is not None:
            self._book = None
            self._lower()[3].check()
            self._watch()

    def stack(self, optimizations: Collection[str] = OPTIMIZATIONS) -> StoredProgram:
        """The program in the stack language, and where its variables live."""
        key = frozenset(optimizations)
        if key not in self._stacks:
            with compiling(self._callee.function.__name__), self._settled(), reads.noticed() as noticed:
                self._stacks[key] = passes.run(passes.after("types"), self.typed, key)
            if noticed:
                self._book = None
        return self._stacks[key]

    def _laid_out(self, options: Options) -> tuple[StoredProgram, Shelf | None]:
        """The same, perhaps without its code, and where what is compiled is kept."""
        if self._book is None or not keeping.keeps(options):
            return self.stack(options.optimizations), None
        kept = self._book.read(options.optimizations)
        if kept is None:
            stored = self.stack(options.optimizations)
            if self._book is None:
                return stored, None
            kept = self._book.write(options.optimizations, self.typed, stored, self._watched)
        if kept is None:
            return self.stack(options.optimizations), None
        return kept.stored, self._book.shelf(options.optimizations, self.stack, lambda: self._book is not None)

    def fingerprint(self, options: Options) -> str:
        """By which ``load_run`` knows the program, wherever it was lowered."""
        kept = None if self._book is None else self._book.read(options.optimizations)
        return kept.fingerprint if kept else fingerprint(self.stack(options.optimizations), self._watched)

    def after(self, name: str, optimizations: Collection[str]) -> Any:
        """The program after the pass of this name."""
        return passes.run(passes.until(name), self.untyped, optimizations)

    def __str__(self) -> str:
        entry = self.interface.program.entry
        given = (f"{v}: {describe(self.interface.types[entry.name, v])}" for v in entry.inputs)
        return f"`{entry.name}` for {', '.join(given)}"

    def _of_size(self, machine: ProgramCounter | LocalStatic | InGraph | Gradients) -> str:
        return f"{self}, in a batch of {'any size' if machine.size is None else machine.size}"

    @property
    def result_type(self) -> Any:
        entry = self.interface.program.entry
        return self.interface.types[entry.name, entry.outputs[0]]

    def count(self, taken: Arguments, options: Options, lanes: int | None) -> Measured:
        """What a call returns, and what each block did for it; all members at a time, or by so many ``lanes``."""
        measured: list[Measured] = []

        def execute() -> list[Stored]:
            measured.append(self._counted(taken, options, lanes))
            return measured[-1].result

        result = self.put_together(taken, execute)
        return measured[-1]._replace(result=result)

    def _counted(self, taken: Arguments, options: Options, lanes: int | None) -> Measured:
        if options.backend == "local_static":
            counting = LocalStatic(self.typed, taken.size, options)
            return counting.count(self.arguments(taken), taken.shared)
        if options.compact == "auto":  # which goes by the time that a machine takes, and looking at it takes longer
            options = dataclasses.replace(options, compact="never")
        stored = self.stack(options.optimizations)
        counting = ProgramCounter(stored, lanes or taken.size, options, counts=True, can_pause=lanes is None)
        if lanes is None:
            return counting.count(self.arguments(taken), taken.shared)
        return counting.count_members(Batch(self.arguments(taken), taken.size), taken.shared)

    def record(self, taken: Arguments, options: Options, steps: int) -> Recording:
        """The first steps of these arguments' run on the machine."""
        stored = self.stack(options.optimizations)
        return record(stored, taken.size, self.arguments(taken), taken.shared, options, steps)

    def executable(self, size: int, options: Options, device: str = "") -> ProgramCounter | LocalStatic:
        """What runs a batch of this size; each ``device`` has its own."""
        self._check_prints(options)
        with context.tracing_lock:
            found = self.executables.get((size, options, device))
            if found is not None:
                return found
            if options.backend == "local_static":
                made = LocalStatic(self.typed, size, options)
            else:
                stored, shelf = self._laid_out(options)
                made = ProgramCounter(stored, size, options, shelf=shelf)
            return self.executables.put((size, options, device), made)

    def in_graph(self, size: int | None, options: Options) -> InGraph:
        """What runs a batch of this size, or of any, inside a ``tf.function``."""
        self._check_prints(options)
        with context.tracing_lock:
            found = self.graphs.get((size, options))
            if found is not None:
                return found
            return self.graphs.put((size, options), InGraph(self.stack(options.optimizations), size, options))

    def pausable(self, size: int, options: Options) -> ProgramCounter:
        """What a ``Run`` runs on."""
        self._check_prints(options)
        with context.tracing_lock:
            found = self.pausables.get((size, options))
            if found is not None:
                return found
            stored, shelf = self._laid_out(options)
            made = ProgramCounter(stored, size, options, can_pause=True, shelf=shelf)
            return self.pausables.put((size, options), made)

    def _check_prints(self, options: Options) -> None:
        prints = [check for check in self.interface.checks if check.error is None]
        if prints and (options.backend == "program_counter" or options.jit_compile):
            raise errors.UnsupportedSyntaxError(
                "A compiled program cannot print.",
                [(prints[0].location, "")],
                'f.options(backend="local_static", jit_compile=False) prints for each member; f.unbatched for one.',
                kind="print-compiled",
            )

    def arguments(self, taken: Arguments) -> list[list[tf.Tensor]]:
        """The arguments' stored leaves, as the program's variables hold them."""
        entry = self.interface.program.entry
        return [
            given(have, self.interface.types[entry.name, v], stored, taken.shared, taken.size)
            for v, have, stored in zip(entry.inputs, taken.types, taken.stored, strict=True)
        ]

    def run(self, taken: Arguments, options: Options) -> Any:
        """What a call returns."""
        if options.backend == "program_counter" and not tf.executing_eagerly():
            return self.put_together(taken, lambda: self._executed_in_graph(taken, options))
        return self.put_together(taken, lambda: self.executed(self.arguments(taken), taken.shared, taken.size, options))

    def executed(self, given: list[Stored], shared: list[tf.Tensor], size: int, options: Options) -> list[Stored]:
        """What the machine does for a plain call: if a tape watches something of it, in a way that it can follow."""
        followed = self._followed(given, shared, options)
        if followed:
            return taping.recorded(self._gradients(size, options, followed), followed, given, shared)
        return self.executable(size, options)(given, shared)

    def _executed_in_graph(self, taken: Arguments, options: Options) -> list[Stored]:
        machine, given = self.in_graph(taken.known_size, options), self.arguments(taken)
        followed = self._followed(given, taken.shared, options)
        if not followed:
            return machine(given, taken.shared)
        adjoint = functools.cache(lambda: self._adjoint(options, followed))
        return taping.in_graph(machine, adjoint, followed, given, taken.shared)

    def is_followed(self, taken: Arguments, options: Options) -> bool:
        """Whether a tape watches an argument, or what the code closes over."""
        return taping.may_be_taped() and bool(self._all_followed(self.arguments(taken), taken.shared, options))

    def _followed(self, given: list[Stored], shared: list[tf.Tensor], options: Options) -> Followed | None:
        """What a tape may follow; None where TensorFlow's own gradients go through the call."""
        is_ours = options.backend == "program_counter" and options.jit_compile
        return self._all_followed(given, shared, options) if is_ours and taping.may_be_taped() else None

    def _all_followed(self, given: list[Stored], shared: list[tf.Tensor], options: Options) -> Followed:
        stored = self.stack(options.optimizations)
        variables = pullback.variables(stored.typed.traces.values())
        return taping.followed(stored.program.inputs, given, shared, captures(stored), variables)

    def adjoint(self, options: Options) -> AdjointProgram:
        """For gradients with respect to all that can have one."""
        stored = self.stack(options.optimizations)
        given = {leaf for v in stored.program.inputs for leaf in leaves_of(v, stored.types)}
        floats = {leaf for leaf in given if has_derivatives(leaf_type(leaf, stored.types).dtype)}
        shared = {k for k, leaf in enumerate(stored.typed.shared) if has_derivatives(leaf.dtype)}
        return passes.differentiated(stored, floats, shared, captures(stored, only_variables=True))

    def _adjoint(self, options: Options, followed: Followed) -> AdjointProgram:
        stored = self.stack(options.optimizations)
        return passes.differentiated(stored, followed.inputs, followed.shared, followed.captured)

    def _gradients(self, size: int, options: Options, followed: Followed) -> Gradients:
        """What runs a batch of this size, also backwards."""
        key = size, options, followed.inputs, followed.shared, tuple(followed.captured)
        with context.tracing_lock:
            found = self.adjoints.get(key)
            if found is not None:
                return found
            return self.adjoints.put(key, Gradients(self._adjoint(options, followed), size, options))

    def put_together(self, taken: Arguments, execute: Callable[[], list[Stored]], type_: Type | None = None) -> Any:
        """What a call for these arguments returns, from what the machine does; and its errors as the user's.

        type_: of the result, if not as the program has it.
        """
        type_ = self.result_type if type_ is None else type_
        try:
            with context.settling(self._settled):
                stored, *_ = execute()  # a function that calls itself may also hand back what it changed
        except errors.MemberError as error:
            if error.results is not None:
                result, *_ = error.results
                error.results, lost = arguments.with_misfits(type_, result, taken)
                error.members = tuple(sorted({*error.members, *(taken.first + z for z in lost)}))
            raise
        except tf.errors.OpError as error:
            text = operation_failure(error.message)
            help = ""
            if "fixed tensor list size" in error.message:
                help = 'gradients through loops need jit_compile=False or backend="local_static".'
            raise errors.ExecutionError(
                f"TensorFlow failed while running `{self.interface.program.entry.name}`: {text}", help=help
            ) from error
        return arguments.put_together(type_, stored, taken)
