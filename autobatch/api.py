"""The public face: ``autobatch``, and what it makes of a function."""

from __future__ import annotations

import copy
import dataclasses
import functools
import inspect
import os
import warnings
from collections.abc import Callable, Sequence
from typing import Any, Generic, Literal, ParamSpec, TypeVar, overload

import tensorflow as tf

from autobatch import context, errors
from autobatch.backends import unbatched
from autobatch.batched import BatchedPrimitive
from autobatch.calls import arguments, distribution, mapping, pickled, runs, streams
from autobatch.calls.argument_of_graph import ArgumentOfGraph
from autobatch.calls.arguments import Arguments
from autobatch.calls.recent import Recent
from autobatch.calls.runs import Run
from autobatch.calls.specialisation import Specialisation
from autobatch.frontend import sent
from autobatch.frontend.core import Callee
from autobatch.frontend.source import check_function, signature
from autobatch.ir.types import Exact
from autobatch.language import keys
from autobatch.language.lists import GROWTH, LONGEST
from autobatch.options import Axes, Backend, Options, as_names
from autobatch.passes.ragged_lists import any_of_numbers
from autobatch.stages import Lowered
from autobatch.tracebacks import shortened

P = ParamSpec("P")  # of the function for one example
R = TypeVar("R")


@overload
def autobatch(fn: Callable[P, R], **options: Any) -> Autobatched[P, R]: ...
@overload
def autobatch(
    fn: None = None,
    *,
    in_axes: Axes = 0,
    static_argnames: str | Sequence[str] = (),
    backend: Backend = "program_counter",
    jit_compile: bool = True,
    dispatch: Literal["auto", "guarded", "switch_case", "sweep", "rounds"] = "auto",
    schedule: Literal["auto", "earliest", "most_populated", "weighed"] = "auto",
    partial: Literal["auto", "mask", "gather"] = "auto",
    shards: int | Literal["auto"] = "auto",
    compact: Literal["auto", "always", "never"] = "auto",
    max_depth: int | None = None,
    max_length: int | None = None,
    max_steps: int | None = None,
    deadline: float | None = None,
    strategy: tf.distribute.Strategy | None = None,
    tape_memory: int = 2**30,
) -> Callable[[Callable[P, R]], Autobatched[P, R]]: ...
def autobatch(  # pyright: ignore[reportInconsistentOverload] # whose options the first does not name again
    fn: Callable | None = None,
    *,
    in_axes: Axes = 0,
    static_argnames: str | Sequence[str] = (),
    backend: Backend = "program_counter",
    jit_compile: bool = True,
    dispatch: Literal["auto", "guarded", "switch_case", "sweep", "rounds"] = "auto",
    schedule: Literal["auto", "earliest", "most_populated", "weighed"] = "auto",
    partial: Literal["auto", "mask", "gather"] = "auto",
    shards: int | Literal["auto"] = "auto",
    compact: Literal["auto", "always", "never"] = "auto",
    max_depth: int | None = None,
    max_length: int | None = None,
    max_steps: int | None = None,
    deadline: float | None = None,
    strategy: tf.distribute.Strategy | None = None,
    tape_memory: int = 2**30,
) -> Any:
    """Makes a function of one example run on a whole batch, each member with its own control flow.

    The function is written for one example, in ordinary Python: ``if``, ``while``, ``for`` over ``range``,
    ``break``, ``continue``, early ``return``, recursion.  The result is called with batches: the leading axis of
    every argument (and of every tensor in a nested argument) is the batch, and so it is in the results.

    Args:
      fn: the function; without it, returns a decorator.
      in_axes: as in ``jax.vmap``: the batch axis of the arguments, None for an argument that all members share;
        one for all, or a tuple with one for each argument that is not static.
      static_argnames: arguments that are Python values, known when the program is lowered.
      backend: "program_counter" (one compiled machine; batches across recursion depth), "local_static" (Python
        runs the control flow), or "unbatched" (a Python loop over members: slow, and right by construction).
      jit_compile: whether XLA compiles the machine, or the local-static backend's straight-line regions.
      dispatch: how the machine runs the chosen block: "guarded" (each block in a while loop, in place),
        "switch_case" (the paper's figure 5), "sweep" (nothing is chosen: each block in turn for the members that wait
        there), "rounds" (each block in turn for all members, several times, without asking: for GPUs; ``max_steps`` is
        looked at between, and ``partial`` not at all), or "auto" (on a CPU guarded, or a sweep with ``max_steps``; on a
        GPU what ``Lowered.cost`` expects to be fastest).
      schedule: which block runs next, of those at which members wait: "earliest" in program order (the paper's choice),
        "most_populated", "weighed" (that which serves most members for what it costs), or "auto"
        (weighed, unless there are loops of blocks that do little).  Results do not depend on it.
      partial: how a block runs at which some lanes only wait: "mask" (for all lanes, keeping what concerns those),
        "gather" (in chunks of waiting lanes, where XLA compiles and the block touches no stack), or "auto" (gathers for
        blocks that do very much).  Results do not depend on it.
      shards: into how many parts, run by threads beside each other, the batch is cut; as a part of another XLA program
        always one.  "auto" takes one for each core, or more of a large state, if they are large enough; one without
        XLA, with ``max_steps``, or if a primitive has a ``size``.
      compact: whether the last quarter of the members goes on in a smaller machine, and of that the last quarter in one
        yet smaller, down to 16; each takes compiling once.  "auto" does it once the time lost otherwise, in this call
        and those before, is that of compiling; never inside a ``tf.function`` or with ``max_steps``.
      max_depth: how deep calls may nest; None lets the stacks grow, up to 100,000.
        Inside a ``tf.function`` stacks cannot grow, and a recursive function needs it.
      max_length: how many items lists may have whose length differs between members; None lets them grow, up to a
        million, which compiles anew for 256, 2048 and so on.  Inside a ``tf.function``, for ``f.start`` and
        for members that come one by one lists cannot grow, and such a function needs it.
      max_steps: how many blocks may run in all (of each part, if there are several); None for no limit.  Says which
        members are in a loop without end.
      deadline: how many seconds a call may work, compiling aside, to about a round of half a second; None for no limit.
      strategy: a ``tf.distribute.Strategy`` over whose replicas the members are split, each with a machine of its own;
        of several processes each makes the same call, and gets the results of all.
      tape_memory: bytes that a call under a ``tf.GradientTape`` may keep for its gradients, about; of what is beyond
        that, parts of the run are run again.  It keeps one tape and one state of the members at least.

    Returns: an ``Autobatched``.

    Raises (when called): a subclass of ``errors.AutobatchError`` that shows the line of the source concerned.
    """
    names = as_names(static_argnames)
    options = Options(
        in_axes, names, backend, jit_compile, dispatch, schedule, partial, shards, compact, max_depth, max_length,
        max_steps, deadline, strategy, tape_memory,
    )  # fmt: skip
    if fn is None:
        return lambda function: Autobatched(function, options)
    return Autobatched(fn, options)


autobatch.__autobatch_decorator__ = True  # type: ignore[attr-defined] # the frontend knows it by this


def _no_programs() -> Recent[Any, Specialisation]:
    return Recent(str, frames=5)


MOST_REPLACED = 10  # calls in a row that compile anew, before a warning


class Autobatched(ArgumentOfGraph, Generic[P, R]):
    """A function of one example that is called with batches; see ``autobatch``.

    To a type checker a call has the function's own types where the arguments have those of its parameters, as those
    annotated ``tf.Tensor`` have in a batch, too; with other arguments its type is not known.
    """

    __autobatch_static__ = True  # may be a static value of a program
    autograph_info__ = True  # a tf.function around it is not to convert it

    def __init__(self, fn: Callable, options: Options):
        self._receiver: tuple[Any, ...] = ()  # what the first parameter is bound to, if this is a method
        self._is_method, self._is_static_method = inspect.ismethod(fn), isinstance(fn, staticmethod)
        if inspect.ismethod(fn):
            self._receiver, fn = (fn.__self__,), fn.__func__
        elif isinstance(fn, staticmethod):
            fn = fn.__func__
        elif isinstance(fn, functools._lru_cache_wrapper):  # of which a batch has no use
            fn = fn.__wrapped__
        if isinstance(fn, Autobatched):
            raise errors.UnsupportedSyntaxError(
                f"`{fn.__name__}` is autobatched already.", help="f.options(...) makes a copy with other options."
            )
        check_function(fn)
        unknown = set(options.static_argnames) - set(signature(fn).parameters)
        if unknown:
            raise ValueError(f"static_argnames names no parameter of {fn.__name__}: {', '.join(sorted(unknown))}")
        self._fn, self._options, self._original = fn, options, self
        self._programs: Recent[Any, Specialisation] | None = _no_programs()  # None: of all that have the same content
        self._places: sent.Places = {}  # of source that came with a pickle
        self._pythons: list[Callable] = []
        functools.update_wrapper(self, fn)

    @overload
    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R: ...
    @overload
    def __call__(self, *args: Any, **kwargs: Any) -> Any: ...
    @shortened
    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        match context.mode():
            case context.Mode.MEMBER:
                return self._python(*self._receiver, *args, **kwargs)
            case context.Mode.TRACING:
                raise errors.UnsupportedSyntaxError(
                    f"`{self.__name__}` is autobatched, and this call was not seen when the program was lowered.",
                    help="call it by a name that is known then: its own, an attribute, an item of a known list; and "
                    "decorate the functions in between.",
                    kind="unseen-call",
                )
        if not tf.executing_eagerly() and not tf.inside_function():
            raise errors.SettingError(
                "autobatched functions run eagerly or inside a tf.function, not in a graph of TensorFlow 1.",
                help="in such a graph == compares objects; call it under tf.init_scope(), or outside of the graph.",
            )
        options = self._options
        attended = options.backend != "program_counter" or options.strategy is not None or options.deadline is not None
        taken = self._take_apart(args, kwargs, sized=attended)
        if options.backend == "unbatched":
            return self._loop(args, kwargs, taken)
        return self._with_room(self._program(taken), taken, lambda program: self._run(program, taken))

    def _with_room(self, program: Specialisation, taken: Arguments, execute: Callable[[Specialisation], Any]) -> Any:
        """What ``execute`` returns of the program, or of one whose lists are long enough."""
        while True:
            try:
                return execute(program)
            except errors.ListFullError:
                capacity = program.list_capacity * GROWTH
                if self._options.max_length is not None or capacity > LONGEST:
                    raise
                program = self._program(taken, capacity)

    def _run(self, program: Specialisation, taken: Arguments) -> Any:
        if self._options.strategy is not None:
            return distribution.run(program, taken, self._options)
        if self._options.deadline is not None:
            return runs.within(program, taken, self._options)
        try:
            return program.run(taken, self._options)
        except errors.StepLimitError as error:
            error.paused = functools.partial(runs.after, error, program, taken, self._options)
            raise

    def __set_name__(self, owner: type, name: str) -> None:
        # A function from elsewhere, given a name in the class, stays what it is.
        own = self._fn.__qualname__.rpartition(".")[0] == owner.__qualname__
        self._is_method = self._is_method or (own and not self._is_static_method)

    def __get__(self, instance: Any, owner: type | None = None) -> Autobatched[..., R]:
        """As a method: the first parameter is the instance, a static value."""
        if instance is None or self._is_static_method:
            return self
        bound = copy.copy(self)
        bound._receiver, bound._is_method = (instance,), True
        return bound

    @property
    def _static_names(self) -> tuple[str, ...]:
        receiver = tuple(signature(self._fn).parameters)[:1] if self._is_method else ()
        return (*receiver, *self._options.static_argnames)

    @shortened
    def map(self, *args: Any, lanes: int | Literal["auto"] = 1024, progress: bool = False, **kwargs: Any) -> Any:
        """Calls the function for any number of members, with ``lanes`` of them at work at a time.

        A lane whose member is done takes the next one while the machine runs, so no member waits for another that takes
        long, and the machine's memory depends on ``lanes`` alone.

            steps = collatz.map(tf.range(1, 1_000_001))
            for result in f.map(dataset, lanes=256): ...

        Args:
          *args: as for a call; or, so that they need not fit into memory, members that come one by one: a
            ``tf.data.Dataset``, a generator or another iterator in place of each argument with a batch axis, or one of
            tuples for all.
          lanes: how many members are at work at a time; "auto": some members of a large batch run on 1,024, and on more
            or fewer as long as that is faster, the others on the best number, which later calls begin with.
          progress: whether to show a bar.
          **kwargs: likewise.

        Returns: what a call returns; or, of members that come one by one, an iterator over what each returns, in their
        order, as NumPy's arrays and numbers.  It takes members as it is used, about a megabyte of them ahead.

        Raises: what a call raises; the iterator when it is the failed member's turn.  SettingError inside a
        ``tf.function``, for another backend than "program_counter", with ``max_steps``, or if a primitive has a
        ``size``.
        """
        comes_singly = any(map(streams.is_stream, (*args, *kwargs.values())))
        mapping.check(self._options, lanes, may_try=not comes_singly)
        if comes_singly:
            if any(axis not in (0, None) for axis in tf.nest.flatten(self._options.in_axes)):
                raise errors.SettingError("Members that come one by one have no batch axis: in_axes must be 0 or None.")
            calls = streams.Calls(*streams.for_each(self._fn, args, kwargs))
            return mapping.stream(calls, self._take_apart, self._program, self._options, lanes, progress)
        taken = self._take_apart(args, kwargs)
        if not taken.size:
            return self(*args, **kwargs)
        program = self._program(taken)
        run = functools.partial(mapping.batch, taken=taken, options=self._options, lanes=lanes, progress=progress)
        return self._with_room(program, taken, run)

    @shortened
    def start(
        self,
        *args: Any,
        progress: bool = False,
        autosave: str | os.PathLike | None = None,
        every: float = 60.0,
        **kwargs: Any,
    ) -> Run:
        """A call that can be paused, saved and taken up again: compiled and ready, but not begun.

            run = f.start(x, progress=True, autosave="f.run")
            result = run.result()  # Ctrl-C stops it; run.result() goes on, or after a crash
            result = ab.load_run(f, "f.run").result()

        Args:
          *args: as for a call.
          progress: whether to show a bar of finished members while the run works.
          autosave: a file into which the run saves itself, also when it is interrupted or over.
          every: seconds from one time to the next, at least.
          **kwargs: as for a call.

        Raises: SettingError inside a ``tf.function``, for another backend than "program_counter", or with
        ``max_steps``.
        """
        runs.check(self._options)
        taken = self._take_apart(args, kwargs)
        return Run(self._program(taken), taken, self._options, progress=progress, autosave=autosave, every=every)

    @shortened
    def unbatched(self, *args: P.args, **kwargs: P.kwargs) -> R:
        """The function in plain Python, on one example (no batch axis); NumPy's arrays become tensors."""
        bound = signature(self._fn).bind(*self._receiver, *args, **kwargs)
        for name, value in bound.arguments.items():
            if name not in self._static_names:
                bound.arguments[name] = tf.nest.map_structure(unbatched.as_value, value)
        return unbatched.call(self._python, *bound.args, **bound.kwargs)

    def options(self, **changes: Any) -> Autobatched[P, R]:
        """A copy with other options: the keywords of ``autobatch``, and

        optimizations: which of ``options.OPTIMIZATIONS`` are done, all if nothing is said: to see what each is worth.
        """
        unknown = set(changes) - {field.name for field in dataclasses.fields(Options)}
        if unknown:
            known = ", ".join(field.name for field in dataclasses.fields(Options))
            raise TypeError(f"there is no option {', '.join(sorted(unknown))}; the options are {known}")
        if "static_argnames" in changes:
            changes["static_argnames"] = as_names(changes["static_argnames"])
        other = copy.copy(self)
        other._options = dataclasses.replace(self._options, **changes)
        if other._options.static_argnames != self._options.static_argnames:
            other._programs = _no_programs()
        return other

    @shortened
    def lower(self, *args: Any, **kwargs: Any) -> Lowered:
        """The program for arguments like these, before it is compiled."""
        return Lowered(self, args, kwargs)

    def __repr__(self) -> str:
        return f"<autobatched {self.__qualname__}>"

    def __copy__(self) -> Autobatched:
        other = object.__new__(Autobatched)
        other.__dict__ |= self.__dict__
        return other

    def __reduce_ex__(self, protocol: Any) -> Any:
        return pickled.name_of(self) or super().__reduce_ex__(protocol)

    def __getstate__(self) -> tuple[Any, ...]:
        made_of = self._original if pickled.name_of(self._original) else self._fn
        places = {} if pickled.name_of(made_of) else sent.places_of(self._fn) | self._places
        return made_of, places, self._options, self._receiver, self._is_method, self._is_static_method

    def __setstate__(self, state: tuple[Any, ...]) -> None:
        made_of, places, options, receiver, is_method, is_static_method = state
        self.__init__(made_of._fn if isinstance(made_of, Autobatched) else made_of, options)
        self._receiver, self._is_method, self._is_static_method = receiver, is_method, is_static_method
        self._programs, self._places = None, places

    def __autobatch_parts__(self) -> list[Any]:
        """What a program that calls it depends on."""
        return [self._fn, self._static_names, self._receiver]

    @property
    def _callee(self) -> Callee:
        return Callee("autobatched", self._fn, self._static_names, self._receiver)

    @property
    def _python(self) -> Callable:
        if not self._pythons:  # copies and bound methods share it
            self._pythons.append(unbatched.python_function(self._fn))
        return self._pythons[0]

    def _take_apart(self, args: Sequence[Any], kwargs: dict[str, Any], sized: bool = True) -> Arguments:
        """``sized``: whether the batch size must be known."""
        args = (*self._receiver, *args)
        taken = arguments.take_apart(self._fn, self._static_names, self._options.in_axes, args, kwargs)
        if sized and taken.known_size is None:
            raise errors.BatchShapeError(
                "The batch size is not known while this tf.function is traced.",
                help='only a plain call on the "program_counter" backend can do without: no strategy, no deadline.',
            )
        return taken

    def _program(self, taken: Arguments, list_capacity: int | None = None) -> Specialisation:
        """The program for such arguments; ``list_capacity``: its lists have room for so many items at least."""
        key = (
            self._options.max_length,
            tuple((name, keys.key(value)) for name, value in taken.static.items()),
            tuple(Exact(type_) for type_ in taken.types),
        )
        with context.tracing_lock:
            programs = self._programs
            if programs is None:
                sent.restore(self._fn, self._places)
                programs = pickled.by_content(self.__autobatch_parts__(), _no_programs)
            if programs is None:
                programs = self._programs = _no_programs()
            program = programs.get(key)
            changed = None if program is None else program.changed()
            if program is not None and list_capacity is not None and list_capacity > program.list_capacity:
                program = None
            if program is not None and changed is None:
                program.replaced = 0
                return program
            list_capacity = list_capacity or self._options.max_length or context.FIRST_CAPACITY
            new = programs.put(key, Specialisation(self._callee, callee_of, taken, list_capacity, self._options))
            if program is not None:
                new.replaced = program.replaced + 1
                if new.replaced == MOST_REPLACED:
                    warnings.warn(
                        f"`{self.__name__}` is compiled anew at each call, as `{changed}`, which it reads, has changed "
                        "each time.",
                        errors.CacheWarning,
                        stacklevel=4,
                    )
            return new

    def _loop(self, args: Sequence[Any], kwargs: dict[str, Any], taken: Arguments) -> Any:
        """The batch as a Python loop over its members."""
        if self._options.deadline is not None or self._options.strategy is not None:
            raise errors.SettingError("The unbatched backend has no deadline and no strategy.")
        if not taken.size:
            raise errors.BatchShapeError(
                "The unbatched backend cannot tell what an empty batch returns.", help="use another backend."
            )
        try:
            results = self._each_member(args, kwargs, taken, arguments.member)
        except Exception as failed:
            if not any_of_numbers(taken.types):
                raise
            try:  # as where the program is typed: lists stand for ragged rows that do not work
                results = self._each_member(args, kwargs, taken, arguments.member_of_lists)
            except Exception:
                raise failed from failed.__cause__
        return unbatched.stack(results, taken.wide)

    def _each_member(self, args: Sequence[Any], kwargs: dict[str, Any], taken: Arguments, member: Callable) -> list:
        """What Python returns for each member, of which ``member`` makes the arguments."""
        results = []
        for z in range(taken.size):
            bound = signature(self._fn).bind(*self._receiver, *args, **kwargs)
            given = [name for name in bound.arguments if name not in taken.static]
            parameters = [p for p in signature(self._fn).parameters if p not in taken.static]
            for name, type_, stored in zip(parameters, taken.types, taken.stored, strict=True):
                if name in given:
                    bound.arguments[name] = member(type_, [leaf[z] for leaf in stored], taken.shared)
            results.append(unbatched.call(self._python, *bound.args, **bound.kwargs))
        return results


@shortened
def load_run(
    f: Autobatched,
    path: str | os.PathLike,
    *,
    progress: bool = False,
    autosave: str | os.PathLike | None = None,
    every: float = 60.0,
) -> Run:
    """A run of ``f`` that was saved, where it was; ``progress``, ``autosave`` and ``every`` as for ``f.start``.

    The file is a pickle, which can run any code when it is read: load only what you trust.

    Raises: RunFileError if it is no run, truncated or damaged, or if ``f``, or what it reads from outside, has changed
    since; OSError if it cannot be read.
    """
    runs.check(f._options)
    return runs.load(path, f._program, f._options, progress=progress, autosave=autosave, every=every)


def callee_of(value: Any) -> Callee | None:
    if isinstance(value, Autobatched):
        return value._callee
    if isinstance(value, BatchedPrimitive):
        return Callee("batched", value.fn, size=value.size)
    return None
