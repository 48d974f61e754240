"""Core Python: the small part of Python that maps one to one onto the local language.

ys = <expression>           no autobatched call, no per-member control flow: a primitive
y = F(x, ...)               a call to an autobatched function; the arguments are names
if c: ... else: ...         c is a name, or ``not`` a name
while True: ...
break, continue, return y
try: ... except E as n: ... else: ...      n: the number of the clause that catches it (see ``ir.Handler``)
raise n                     on to the handler further out; without n, what cannot be reached
try: pass finally: ...      what runs outside of the ``try`` that ``leaves`` names, though it stands in it
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import gast

from autobatch import ir
from autobatch.frontend.source import Source


@dataclass(frozen=True)
class Callee:
    """What the frontend must know of a function that user code calls by name.

    Attributes:
      kind: "autobatched" (has control flow of its own, lowered for each set of static arguments) or "batched" (a
        primitive that takes the whole batch).
      function: the function itself.
      static: the names of its static parameters.
      receiver: what its first parameters are bound to, if it is a method or partial.
      source: where its source was taken from already, if it is a nested function.
      captured: the variables of the caller that a nested function takes as its last parameters.
      size: the batch size that a batched primitive takes.
      of: the class of the member's object that it is called for, if it is a method.
      undecorated: whether it is autobatched for this program alone; arguments that are no numbers are static then.
    """

    kind: str
    function: Callable
    static: tuple[str, ...] = ()
    receiver: tuple[Any, ...] = ()
    source: Source | None = None
    captured: tuple[str, ...] = ()
    size: ir.BatchSize = None
    undecorated: bool = False
    of: type | None = None


@dataclass(frozen=True)
class Target:
    """A callee with its static arguments."""

    callee: Callee
    static: tuple[tuple[str, Any], ...]


@dataclass(frozen=True)
class Helper:
    """A nested function that is straight-line code: its definition, and the variables of the outer function it uses."""

    definition: gast.AST
    captured: tuple[str, ...]
    changes: bool  # whether what it uses has one value after the other


@dataclass(frozen=True)
class Core:
    """A function in core Python."""

    source: Source
    tree: gast.FunctionDef
    result: str  # the variable that every return statement returns
    calls: dict[str, Target]  # which function a name in a core call stands for
    helpers: dict[str, Helper]  # what goes into each primitive that uses the name
    loops: dict[str, tuple]  # the variables that hold a loop's items, and the places of the loops
    clauses: dict[str, tuple[ir.Classes, ...]]  # what the handlers catch, by the name of their number
