"""Typed programs: the local and the stack language with a type for each variable, and what members must meet."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import tensorflow as tf

from autobatch import errors, ir
from autobatch.ir.leaves import Step
from autobatch.ir.representation import plain, value_from
from autobatch.ir.types import Exact, Tensor, Type, Weak, describe

Variable = tuple[str, str]  # function name, variable name


@dataclass(frozen=True)
class Check:
    """What a place in the user's code says of members: an error with which those fail that do not pass, or a print.

    Attributes:
      error: the error, or None: the text is printed.
      failure: what happened to a member that did not pass.
      text: more of it, for ``str.format``, with a field for each value.
      values: the type of the tuple of values.
      location: the place.
    """

    error: type[errors.MemberError] | None
    failure: str
    text: str
    values: Exact
    location: ir.Location

    def said(self, leaves: Sequence[tf.Tensor], shared: Sequence[tf.Tensor]) -> str:
        """The text for one member, from the stored leaves of its values."""
        values = [plain(value) for value in value_from(self.values.type, leaves, shared)]
        return self.text.format(*(value.item() if isinstance(value, np.generic) else value for value in values))


def makes_checks(ops: Sequence[Any], checks: Sequence[Check]) -> bool:
    """Whether one of the operations is where a check is made."""
    places = {check.location for check in checks}
    return any(isinstance(op, ir.Assign) and op.location in places for op in ops)


@dataclass(frozen=True)
class TypedProgram:
    """A local-language program with a type for each variable of each function."""

    program: ir.Program
    types: Mapping[Variable, Type]
    shared: tuple[Tensor | Weak, ...]  # the types of the shared arguments' leaves
    checks: tuple[Check, ...]  # what members must meet; a failed member holds 1 + the check's position
    augments: bool = field(default=False, compare=False)  # whether ``x += y`` changes an array or a list
    undecided: ir.Program | None = field(default=None, compare=False, repr=False)  # with all branches
    traces: dict[Any, Any] = field(default_factory=dict, compare=False, repr=False)  # what tracing/member.py has made

    def __str__(self) -> str:
        return f"{self.program}\n\ntypes:\n{self.types_text()}"

    def types_text(self) -> str:
        """Each function's variables with their types."""
        parts = []
        for function in self.program.functions:
            lines = [f"  {v}: {describe(t)}" for v, t in self.of(function.name).items()]
            parts.append("\n".join([f"function {function.name}", *lines]))
        return "\n\n".join(parts)

    def of(self, function: str) -> dict[str, Type]:
        return {v: t for (f, v), t in self.types.items() if f == function}


@dataclass(frozen=True)
class TypedStackProgram:
    """A stack-language program with a type for each of its variables."""

    program: ir.StackProgram
    types: Mapping[str, Type]
    shared: tuple[Tensor | Weak, ...]
    checks: tuple[Check, ...]
    owners: tuple[ir.Signature, ...]  # for each block, the function that it comes from
    epilogue: int | None = None  # the block that need only run once, when all members wait at it
    flows: tuple[tuple[Step, ...], ...] = ()  # for each block, what its parts do to leaves, once that is known
    traces: dict[Any, Any] = field(default_factory=dict, compare=False, repr=False)  # what tracing/member.py has made

    def __str__(self) -> str:
        owned = {owner: [i for i, other in enumerate(self.owners) if other == owner] for owner in self.owners}
        functions = [f"{owner}: blocks {' '.join(map(str, blocks))}" for owner, blocks in owned.items()]
        epilogue = [] if self.epilogue is None else [f"epilogue: {self.epilogue}"]
        types = [f"  {v}: {describe(t)}" for v, t in self.types.items()]
        return "\n".join([str(self.program), *functions, *epilogue, "types:", *types])

    def next_blocks(self, i: int) -> set[int]:
        """Those that may run right behind block ``i``: callees too, and where a return may lead."""
        blocks = self.program.blocks
        end = blocks[i].terminator
        found = set(end.targets if isinstance(end, ir.PushJump) else ir.successors(end))
        if ir.may_return(end):
            calls = [block.terminator for block in blocks if isinstance(block.terminator, ir.PushJump)]
            found |= {call.return_to for call in calls if self.owners[call.targets[0]] == self.owners[i]}
        if self.epilogue is not None and i != self.epilogue:
            found.add(self.epilogue)
        return found - {ir.RETURN}

    def may_run_again(self, i: int) -> bool:
        """Whether a path leads from block ``i`` back to it."""
        seen, pending = set[int](), self.next_blocks(i)
        while pending - seen:
            seen |= pending
            pending = set[int]().union(*map(self.next_blocks, pending))
        return i in seen

    def with_blocks(self, order: Sequence[int]) -> TypedStackProgram:
        """The program with these of its blocks, in this order; no other is jumped to."""
        to = {old: new for new, old in enumerate(order)}
        blocks = [self.program.blocks[i] for i in order]
        program = replace(
            self.program,
            blocks=tuple(replace(b, terminator=ir.retargeted(b.terminator, to)) for b in blocks),
            labels=tuple((to[i], name) for i, name in self.program.labels if i in to),
        )
        return replace(
            self,
            program=program,
            owners=tuple(self.owners[i] for i in order),
            epilogue=None if self.epilogue is None else to[self.epilogue],
            flows=tuple(self.flows[i] for i in order) if self.flows else (),
        )
