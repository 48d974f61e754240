"""Every exception that autobatch raises on purpose, and how a message shows the user's source.

A message says what is wrong in one sentence, then where (file, line, the line itself with a caret),
then what to do, and ends with its short name, by which docs/errors.md has more of it.
"""

from __future__ import annotations

import functools
import itertools
import re
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from types import CodeType, MappingProxyType
from typing import Any, Protocol


class Place(Protocol):
    """What a message needs of a source location (see ``ir.Location``)."""

    @property
    def file(self) -> str: ...
    @property
    def line(self) -> int: ...
    @property
    def column(self) -> int: ...
    @property
    def source(self) -> str: ...
    @property
    def width(self) -> int: ...
    @property
    def also(self) -> Sequence[Place]: ...


class AutobatchError(Exception):
    """Base class of all errors of this library.

    Args:
      message: one sentence, what is wrong.
      places: the source locations concerned, each with a short remark (may be empty).
      help: what to write instead, or where to look.
      kind: the message's short name, with which it ends; docs/errors.md has a section on each.
    """

    helpers: frozenset[CodeType] = frozenset()  # the undecorated functions of the user's that it came through
    chosen: Mapping[tuple[str, int], tuple] = MappingProxyType({})  # by file and line, what functions members call
    optional: frozenset[str] = frozenset()  # the attributes that are None for some members, if that is what is wrong

    def __init__(
        self, message: str, places: Sequence[tuple[Place | None, str]] = (), help: str = "", *, kind: str = ""
    ):
        known = [(place, remark) for place, remark in places if place]
        either = [[(place, remark), *((other, "or here") for other in place.also)] for place, remark in known]
        self.message, self.places, self.help = message, tuple(dict.fromkeys(itertools.chain(*either))), help
        self.kind = kind or usual_kind(type(self))
        parts = [message, *(show(place, remark) for place, remark in self.places)]
        if help:
            parts.append(f"help: {help}")
        # An exception of a user's class, which this may be too, has arguments of its own.
        Exception.__init__(self, "\n\n".join([*parts, f"[{self.kind}]"]))

    def __reduce__(self) -> Any:
        kept = {name: vars(self)[name] for name in ("members", "results") if name in vars(self)}
        arguments = (self.message, self.places, self.help)
        kinds = tuple(getattr(kind, "raised", kind) for kind in getattr(self, "together", (type(self),)))
        return _rebuilt, (kinds, arguments, {"kind": self.kind, **kept})


def _rebuilt(kinds: tuple[type[Exception], ...], arguments: tuple, attributes: dict[str, Any]) -> AutobatchError:
    """A pickled error; ``kinds`` may be classes that members raised."""
    made = [kind if issubclass(kind, AutobatchError) else raised_by_members(kind) for kind in kinds]
    error = raised_together(*made)(*arguments, kind=attributes["kind"])
    vars(error).update(attributes)
    return error


def usual_kind(error: type[AutobatchError]) -> str:
    """The short name of a class's messages that have none of their own, such as "batch-shape" of BatchShapeError."""
    if hasattr(error, "raised"):
        base = next((known for known in _KNOWN.values() if issubclass(error, known)), None)
        return "member-raises" if base is None else usual_kind(base)
    return re.sub("(?<=[a-z])(?=[A-Z])", "-", error.__name__.removesuffix("Error")).lower()


def show(place: Place, remark: str = "") -> str:
    """The place as ``file:line`` and its source line with carets under what is meant."""
    gutter = f"{place.line} | "
    source = place.source.expandtabs(4)
    column, end = (len(place.source[:at].expandtabs(4)) for at in (place.column, place.column + place.width))
    caret = f"{'':{len(gutter) - 2}}| {'':{column}}{'^' * max(end - column, 1)} {remark}".rstrip()
    return f"{place.file}:{place.line}\n  {gutter}{source}\n  {caret}"


class UnsupportedSyntaxError(AutobatchError):
    """A piece of Python that cannot be batched, or whose source cannot be read."""


class UndefinedVariableError(AutobatchError):
    """A variable is read where some path leaves it unset."""


class TypeMismatchError(AutobatchError):
    """Two places give one variable different dtypes, shapes or structures, or TensorFlow refuses a line's types."""


class VectorizationError(AutobatchError):
    """A TensorFlow operation that cannot run for a whole batch at once."""


class GradientError(AutobatchError):
    """A gradient was asked for where there is none, or none that can be had."""


class BatchShapeError(AutobatchError):
    """An argument lacks the batch axis, or batch sizes disagree."""


class MemberError(AutobatchError):
    """Some members failed while the program ran.

    Attributes:
      members: indices of those members.
      results: what the call would have returned for the others; the rows of ``members`` mean nothing.
    """

    results: Any = None
    advice = "test for it with `if` first: a member runs only what it reaches."

    def __init__(
        self,
        message: str,
        places: Sequence[tuple[Place | None, str]] = (),
        help: str = "",
        members: tuple[int, ...] = (),
        *,
        kind: str = "",
    ):
        super().__init__(message, places, help, kind=kind)
        self.members = members


class MemberIndexError(MemberError, IndexError):
    """Some members used an index that is out of range."""


class MemberArithmeticError(MemberError, ArithmeticError):
    """Some members computed what has no result, such as a division by zero."""


class NumberRangeError(MemberArithmeticError):
    """Some members left the numbers that they can compute with, mostly ints of 64 bits, where Python would go on.

    No ``except`` of theirs catches it.
    """


class MemberAssertionError(MemberError, AssertionError):
    """Some members failed an ``assert``."""


_KNOWN = {
    IndexError: MemberIndexError,
    ArithmeticError: MemberArithmeticError,
    AssertionError: MemberAssertionError,
}


@functools.cache
def raised_by_members(kind: type[Exception]) -> type[MemberError]:
    """The error for members that raised an exception of this class: a MemberError, and one of that class too."""
    if kind in _KNOWN:
        return _KNOWN[kind]
    base = next((_KNOWN[each] for each in kind.__mro__ if each in _KNOWN), MemberError)
    own = {
        "__doc__": f"Some members raised {kind.__name__}.",
        "__module__": __name__,
        "__str__": Exception.__str__,
        "raised": kind,
        "advice": "the error's `results` has what the others return." if base is MemberError else base.advice,
    }
    made: Any = type(f"Member{kind.__name__}", (base, kind), own)
    return made


@functools.cache
def raised_together(*kinds: type[Any]) -> type[Any]:
    """The error of members that failed with these, the first of whom the message tells: it is of every class."""
    others = [kind for kind in kinds[1:] if not issubclass(kinds[0], kind)]
    bases = tuple(kind for kind in (kinds[0], *others) if not any(k is not kind and issubclass(k, kind) for k in kinds))
    if len(bases) < 2:
        return kinds[0]
    own = {"__doc__": kinds[0].__doc__, "__module__": __name__, "together": kinds, "advice": kinds[0].advice}
    try:
        return type(kinds[0].__name__, bases, own)
    except TypeError:  # Python cannot make one class of these
        return kinds[0]


def is_of(error: type[MemberError], kinds: tuple[type[BaseException], ...]) -> bool:
    """Whether ``except kinds`` catches what members fail with; Python would not raise what is a limit of ours."""
    return issubclass(error, kinds) and not issubclass(error, _LIMITS)


class ListFullError(MemberError):
    """Some members' lists outgrew ``max_length``."""

    advice = "raise max_length, or see whether the list ends to grow."


class StackOverflowError(MemberError):
    """Some members' calls nest deeper than ``max_depth``."""


class UntoldExceptionError(MemberError):
    """Some members read what an exception holds that an operation raised, such as an index out of range.

    No ``except`` of theirs catches it.
    """

    advice = "what `raise` gives to an exception is kept; test what may fail before it does."


class NoneValueError(MemberError):
    """Some members have None where the batch needs a value: what is computed with, or returned.

    No ``except`` of theirs catches it.
    """

    advice = "test it with `is None` before; return a number that stands for None, such as -1."


_LIMITS = (NumberRangeError, ListFullError, StackOverflowError, NoneValueError)


class UnfinishedError(MemberError):
    """Some members have not finished where a limit ended the call."""

    paused: Callable[[], Any] | None = None

    @cached_property
    def run(self) -> Any:
        """An ``ab.Run`` that goes on from there, without the limit; None if there is no machine that could."""
        return self.paused() if self.paused else None


class StepLimitError(UnfinishedError):
    """Some members have not finished after ``max_steps`` blocks."""

    position: Any = None  # where the machine stopped


class DeadlineError(UnfinishedError):
    """Some members have not finished within ``deadline`` seconds."""


class ReplicaError(MemberError):
    """Some replicas of a ``tf.distribute.Strategy`` failed, and so did all of their members."""


class ExecutionError(AutobatchError):
    """TensorFlow failed while running the user's operations."""


class InvalidProgramError(AutobatchError):
    """A program between two passes breaks the rules of its language, which is a bug of a pass; or text is none."""


class RunFileError(AutobatchError):
    """A saved run that cannot be read, or was made by another program, or a run that cannot be saved."""


class SettingError(AutobatchError, ValueError):
    """A setting that cannot be used: a sampler's step size or seed, or what ``f.map`` is told."""


class MissingPackageError(AutobatchError, ImportError):
    """What was asked for needs a package that is not installed."""


class LogDensityError(AutobatchError, ValueError):
    """A log density returns the wrong shape or dtype, or has no gradient."""


class StartError(MemberError, ValueError):
    """Some chains start where the log density or its gradient is not finite."""


class CacheWarning(UserWarning):
    """So many different calls were compiled that an old one was dropped."""
