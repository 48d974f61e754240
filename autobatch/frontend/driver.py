"""From a function and all that it calls to a program in the local language: the frontend's steps, in order."""

from __future__ import annotations

import sys
from collections.abc import Callable, Collection, Hashable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any

import astunparse
import gast

from autobatch import errors, ir
from autobatch.frontend.chosen import Chosen
from autobatch.frontend.core import Callee, Core, Target
from autobatch.frontend.desugar import desugar
from autobatch.frontend.dicts import OF_DICTS
from autobatch.frontend.graph import build
from autobatch.frontend.library import at_calls
from autobatch.frontend.source import Source, read
from autobatch.language.keys import key
from autobatch.language.looping import UnlikeItemsError

# How a program is lowered that has been refused with a message of this kind; each way is added to those before.
MODES = dict.fromkeys(OF_DICTS, ("dicts_as_lists", "dicts_as_objects")) | {
    "choice-of-objects": ("nothing_early",),
    "exception-value": ("exceptions_hold",),
    "item-assignment": ("dicts_as_lists", "dicts_as_objects"),
    "member-list-as-python": ("comprehensions_apart", "dicts_as_lists"),
    "none-value": ("nothing_early",),
    "object-across-branch": ("dicts_as_lists",),
    "one-of-several-as-python": ("dicts_as_lists",),
    "ragged-as-tensor": ("comprehensions_apart", "dicts_as_lists"),
}

MOST_SPECIALISATIONS = 200  # of one function in one program


@dataclass(frozen=True)
class Frontend:
    """A local-language program and the core Python that it was made from."""

    program: ir.Program
    cores: Mapping[str, Core]  # by the program's names of the functions

    def source_text(self) -> str:
        """The desugared Python."""
        return "\n".join(
            astunparse.unparse(gast.gast_to_ast(core.tree)).replace("ab__.", "").strip() + "\n"
            for core in self.cores.values()
        )

    def place(self, loop: UnlikeItemsError) -> tuple:
        """The loop that must be unrolled, as ``lower`` is told of it."""
        function, variable = (name.split(".")[0] for name in (loop.function, loop.variable))  # without passes' marks
        return function, self.cores[function].loops[variable]


def lower(
    entry: Callee,
    static: Mapping[str, Any],
    callee_of: Callable[[Any], Callee | None],
    unrolled: Mapping[tuple, int],
    modes: Collection[str],
    chosen: Chosen = MappingProxyType({}),
) -> Frontend:
    """Lowers ``entry`` and all that it calls, each once per choice of static arguments.

    Args:
      entry: the function.
      static: its static arguments.
      callee_of: tells an autobatched function from other objects.
      unrolled: how many items the loops have that must be unrolled, by function and place.
      modes: of ``MODES``: "dicts_as_lists" has lists stand for dicts (dicts.py), "dicts_as_objects" objects too
        (dictionary.py), "exceptions_hold" has exceptions hold what they are given (held.py), "nothing_early" has no
        member evaluate operands and arms that it does not need, "comprehensions_apart" has nested functions and lambdas
        with comprehensions be functions of the program.
      chosen: the functions that members choose between in calls on these lines.
    """
    first = Target(entry, tuple(static.items()))
    keys: dict[tuple, str] = {}
    pending: list[Target] = []
    cores: dict[str, Core] = {}

    def name_of(target: Target) -> str:
        this = (id(target.callee.function), tuple((n, _key(v)) for n, v in target.static))
        if this not in keys:
            base = target.callee.function.__name__
            number = sum(name.split("'")[0] == base for name in keys.values())
            if number >= MOST_SPECIALISATIONS:
                raise errors.UnsupportedSyntaxError(
                    f"`{base}` is called with more than {MOST_SPECIALISATIONS} different choices of static arguments.",
                    [(source_of(target).definition_location, "")],
                    "a recursion over a static argument must end on a condition of static values; else pass a tensor.",
                    kind="too-many-specialisations",
                )
            keys[this] = base + "'" * number
            pending.append(target)
        return keys[this]

    name_of(first)
    functions = []
    while pending:
        target = pending.pop(0)
        name = name_of(target)
        loops = {place: count for (function, place), count in unrolled.items() if function == name}
        cores[name] = desugar(source_of(target), callee_of, loops, modes, chosen)
        for called in cores[name].calls.values():
            if called.callee.kind == "autobatched":
                name_of(called)
    for name, core in cores.items():
        aliases = {a: name_of(t) for a, t in core.calls.items() if t.callee.kind == "autobatched"}
        functions.append(build(core, aliases, name))
    return Frontend(ir.Program(tuple(at_calls(functions))), cores)


@contextmanager
def deep_recursion() -> Iterator[None]:
    """Around all that goes through syntax trees, which a sum of a thousand terms makes a thousand deep."""
    limit = sys.getrecursionlimit()
    sys.setrecursionlimit(max(limit, 20_000))
    try:
        yield
    finally:
        sys.setrecursionlimit(limit)


def source_of(target: Target) -> Source:
    found, static = target.callee.source, dict(target.static)
    source = read(target.callee.function, {}) if found is None else found
    captured = tuple(v for value in static.values() if isinstance(value, Callee) for v in value.captured)
    return replace(source, static={**source.static, **static}, captured=captured)


def _key(value: Any) -> Hashable:
    """Of a static argument: nested functions are made anew for each call that gets one."""
    return (id(value.function), value.captured) if isinstance(value, Callee) else key(value)
