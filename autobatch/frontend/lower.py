"""The frontend's entry: from an autobatched function to a program in the local language."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import astunparse
import gast

from autobatch import errors, ir
from autobatch.frontend.core import Callee, Core, Target
from autobatch.frontend.desugar import desugar
from autobatch.frontend.graph import build
from autobatch.frontend.source import read

MOST_SPECIALISATIONS = 200  # of one function in one program


@dataclass(frozen=True)
class Frontend:
    """A local-language program and the core Python that it was made from."""

    program: ir.Program
    cores: tuple[Core, ...]

    def source_text(self) -> str:
        """The desugared Python."""
        return "\n".join(
            astunparse.unparse(gast.gast_to_ast(core.tree)).replace("ab__.", "").strip() + "\n" for core in self.cores
        )


def lower(entry: Callee, static: Mapping[str, Any], callee_of: Callable[[Any], Callee | None]) -> Frontend:
    """Lowers ``entry`` and all that it calls, each once per choice of static arguments."""
    first = Target(entry, tuple(static.items()))
    keys: dict[tuple, str] = {}
    pending: list[Target] = []
    cores: dict[str, Core] = {}

    def name_of(target: Target) -> str:
        key = (id(target.callee.value), tuple((n, static_key(v)) for n, v in target.static))
        if key not in keys:
            base = target.callee.function.__name__
            number = sum(name.split("'")[0] == base for name in keys.values())
            if number >= MOST_SPECIALISATIONS:
                raise errors.UnsupportedSyntaxError(
                    f"`{base}` is called with more than {MOST_SPECIALISATIONS} different choices of static arguments.",
                    [(read(target.callee.function, {}).definition_location, "")],
                    "a recursion over a static argument must end on a condition of static values; else pass a tensor.",
                )
            keys[key] = base + "'" * number
            pending.append(target)
        return keys[key]

    name_of(first)
    while pending:
        target = pending.pop(0)
        name = name_of(target)
        cores[name] = desugar(read(target.callee.function, dict(target.static)), callee_of)
        for called in cores[name].calls.values():
            if called.callee.kind == "autobatched":
                name_of(called)
    functions = []
    for name, core in cores.items():
        aliases = {a: name_of(t) for a, t in core.calls.items() if t.callee.kind == "autobatched"}
        functions.append(build(core, aliases, name))
    return Frontend(ir.Program(tuple(functions)), tuple(cores.values()))


def static_key(value: Any) -> Any:
    """Equal for static values that mean the same."""
    try:
        hash(value)
    except TypeError:
        return id(value)
    return (type(value), repr(value)) if isinstance(value, float) else (type(value), value)
