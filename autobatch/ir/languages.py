"""The two control-flow-graph languages of the paper (Radul et al. 2020, figures 2 and 4).

    Local  Program = [Function]    Function = inputs, [Block], outputs
           Block = [Op], Terminator, [Handler]              (no handlers behind the pass ``exceptions``)
           Op = Primitive ys = f(xs) | Call ys = F(xs)
           Terminator = Jump i | Branch x i j | Return | Raise
    Stack  StackProgram = inputs, [Block], outputs          (all functions merged)
           Op = Push ys = f(xs) | Update ys = f(xs) | Pop xs
           Terminator = Jump i | Branch x i j | PushJump i j | Return | Raise   (a branch may also return)

Everything is frozen: a pass is a function from program to program.  ``str()`` of any node is the
text form that ``Lowered.as_text`` shows and that the golden tests compare.
"""

from __future__ import annotations

import linecache
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal


@dataclass(frozen=True)
class Location:
    """A place in the user's source; lines count from 1, columns from 0."""

    file: str
    line: int
    column: int
    source: str  # the text of that line
    width: int = 1  # how many columns are meant
    also: tuple[Location, ...] = ()  # where else it may be: a function of the standard library's has several calls


def location(file: str, line: int, column: int, end: int | None = None) -> Location:
    """A place in a file that can be read; columns count UTF-8 bytes, as Python's compiler does."""
    text = linecache.getline(file, line).rstrip("\r\n")
    first = len(text.encode()[:column].decode(errors="ignore"))
    last = first + 1 if end is None else len(text.encode()[:end].decode(errors="ignore"))
    return Location(file, line, first, text, max(last - first, 1))


BatchSize = int | Literal["all"] | None  # that a batched primitive takes: the whole batch, None for any part of it


@dataclass(frozen=True)
class Expression:
    """The ``f`` of a primitive: straight-line user code as a function of its input variables.

    ``call(*inputs)`` returns one value per output (a bare value if there is one output, else a
    tuple).  In ``template`` the k-th input stands as ``«k»``.  ``kind`` tells what it handles: one
    "member", the whole "batch", or it is a "write" to some items of its first input, which backends do
    in place.  What ``changes`` its first input (1), or an item of it (2), gives that anew as its first
    output.  An item assignment has ``place``, from the same inputs to where and what it writes; of what
    handles the batch, ``size`` is the only size of batch that it takes, "all" for the whole one, or
    None.  Where ``call`` may raise, rather than fail members, ``instead`` gives what takes the
    expression's place.
    """

    template: str
    call: Callable = field(compare=False, repr=False)
    kind: str = "member"
    changes: int = field(default=0, compare=False)
    place: Callable | None = field(default=None, compare=False, repr=False)
    size: BatchSize = field(default=None, compare=False, repr=False)
    augments: bool = field(default=False, compare=False)  # ``x += y``
    instead: Callable[[Exception], Expression] | None = field(default=None, compare=False, repr=False)

    def text(self, inputs: Iterable[str]) -> str:
        text = self.template
        for k, name in enumerate(inputs):
            text = text.replace(f"«{k}»", name)
        return text


def no_code(*inputs: Any) -> Any:
    """The ``call`` of an expression that was read from text."""
    raise AssertionError("a program that was read from text cannot run")


COPY = Expression("«0»", lambda x: x)


def copies(count: int) -> Expression:
    """``a, b, ... = x, y, ...`` at once."""
    return Expression(", ".join(f"«{k}»" for k in range(count)), lambda *xs: xs) if count > 1 else COPY


# --- operations ---------------------------------------------------------------------------------


@dataclass(frozen=True)
class Assign:
    """Common form of the operations that compute ``outputs = function(inputs)``."""

    outputs: tuple[str, ...]
    function: Expression
    inputs: tuple[str, ...]
    location: Location = field(compare=False, repr=False)

    keyword = ""

    def __str__(self) -> str:
        text = self.function.text(self.inputs)
        if self.outputs:
            text = f"{', '.join(self.outputs)} = {text}"
        return f"{self.keyword} {text}".lstrip()


@dataclass(frozen=True)
class Primitive(Assign):
    """Local language: run straight-line user code."""


@dataclass(frozen=True)
class Call:
    """Local language: call another autobatched function (or this one)."""

    outputs: tuple[str, ...]
    function: str
    inputs: tuple[str, ...]
    location: Location = field(compare=False, repr=False)

    def __str__(self) -> str:
        return f"{', '.join(self.outputs)} = call {self.function}({', '.join(self.inputs)})"


@dataclass(frozen=True)
class Update(Assign):
    """Stack language: overwrite the tops of the outputs' stacks."""

    keyword = "update"


@dataclass(frozen=True)
class Push(Assign):
    """Stack language: save the outputs' tops, then overwrite them."""

    keyword = "push"


@dataclass(frozen=True)
class Pop:
    """Stack language: restore what the matching Push saved."""

    variables: tuple[str, ...]
    location: Location = field(compare=False, repr=False)

    def __str__(self) -> str:
        return f"pop {', '.join(self.variables)}"


# --- terminators --------------------------------------------------------------------------------


@dataclass(frozen=True)
class Jump:
    target: int

    def __str__(self) -> str:
        return f"jump {self.target}"


RETURN = -1  # a branch's target, in the stack language: the caller


@dataclass(frozen=True)
class Branch:
    condition: str
    true: int
    false: int
    location: Location | None = field(default=None, compare=False, repr=False)

    def __str__(self) -> str:
        true, false = ("return" if target == RETURN else target for target in (self.true, self.false))
        return f"branch {self.condition} {true} {false}"


@dataclass(frozen=True)
class PushJump:
    """Jump, or branch, after setting up a return to ``return_to``."""

    then: Jump | Branch
    return_to: int
    location: Location = field(compare=False, repr=False)

    @property
    def targets(self) -> tuple[int, ...]:
        """Where the callee may begin."""
        return successors(self.then)

    def __str__(self) -> str:
        return f"push{self.then} {self.return_to}"


@dataclass(frozen=True)
class Return:
    def __str__(self) -> str:
        return "return"


@dataclass(frozen=True)
class Raise:
    """The end of members that have failed a check in the block, which are all that get here.

    With the variable ``number`` it is what they go on to from a handler, of a function whose callers may catch what
    they raised (see ``Handler``).
    """

    number: str | None = None

    def __str__(self) -> str:
        return "raise" if self.number is None else f"raise {self.number}"


# --- blocks, functions, programs ----------------------------------------------------------------

LocalOp = Primitive | Call
StackOp = Push | Update | Pop
Op = LocalOp | StackOp
Terminator = Jump | Branch | PushJump | Return | Raise


Classes = tuple[type[BaseException], ...]


HELD = "ab__held_"  # how variables begin that hold exceptions (``frontend/held.py``)


@dataclass(frozen=True)
class Handler:
    """Local language: where members go that raise in a block what some clause of a ``try`` around it catches.

    ``variable`` gets the number of the first such clause, counted from 1 through this handler's clauses, then those
    of the handlers further out, then those around the calls of the function.
    """

    variable: str
    block: int
    clauses: tuple[Classes, ...]

    def __str__(self) -> str:
        clauses = " | ".join(", ".join(kind.__name__ for kind in kinds) for kinds in self.clauses)
        return f"handler {self.variable} {self.block}: {clauses}".rstrip()


@dataclass(frozen=True)
class Block:
    ops: tuple[Any, ...]  # each an Op
    terminator: Terminator
    handlers: tuple[Handler, ...] = ()  # from the innermost outwards; the pass ``exceptions`` takes them away

    def __str__(self) -> str:
        return "\n".join(f"  {line}" for line in (*map(str, self.handlers), *map(str, self.ops), str(self.terminator)))


def successors(terminator: Terminator) -> tuple[int, ...]:
    """The blocks of the same function that may run next (past a call, the block it returns to)."""
    match terminator:
        case Jump(target):
            return (target,)
        case Branch(_, true, false):
            return tuple(target for target in (true, false) if target != RETURN)
        case PushJump(_, return_to):
            return (return_to,)
        case _:
            return ()


def may_return(terminator: Terminator) -> bool:
    return isinstance(terminator, Return) or (
        isinstance(terminator, Branch) and RETURN in (terminator.true, terminator.false)
    )


def retargeted(terminator: Terminator, to: Mapping[int, int]) -> Terminator:
    """For blocks that have new numbers."""
    match terminator:
        case Jump(target):
            return Jump(to[target])
        case Branch(_, true, false):
            return replace(terminator, true={**to, RETURN: RETURN}[true], false={**to, RETURN: RETURN}[false])
        case PushJump(then, return_to):
            return replace(terminator, then=retargeted(then, to), return_to=to[return_to])
        case _:
            return terminator


def reads(op: Op) -> tuple[str, ...]:
    """Variables whose tops the operation uses."""
    return () if isinstance(op, Pop) else op.inputs


def writes(op: Op) -> tuple[str, ...]:
    """Variables whose tops the operation sets."""
    return op.variables if isinstance(op, Pop) else op.outputs


def _numbered(blocks: tuple[Block, ...], labels: dict[int, str]) -> str:
    lines = []
    for i, block in enumerate(blocks):
        label = f" {labels[i]}" if i in labels else ""
        lines.append(f"block {i}:{label}\n{block}")
    return "\n".join(lines)


@dataclass(frozen=True)
class Signature:
    """What a function is called, takes and returns."""

    name: str
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]

    def __str__(self) -> str:
        return f"function {self.name}({', '.join(self.inputs)}) -> {', '.join(self.outputs)}"


@dataclass(frozen=True)
class Function:
    """A local-language function; it starts at block 0."""

    name: str
    inputs: tuple[str, ...]
    blocks: tuple[Block, ...]
    outputs: tuple[str, ...]
    location: Location = field(compare=False, repr=False)

    @property
    def signature(self) -> Signature:
        return Signature(self.name, self.inputs, self.outputs)

    def __str__(self) -> str:
        return f"{self.signature}\n{_numbered(self.blocks, {})}"


@dataclass(frozen=True)
class Program:
    """Local language; the first function is the entry point.

    ``arguments`` are the types of its inputs, ``shared`` those of the leaves that all members share (see types.py);
    a program that nobody has asked to type has neither.
    """

    functions: tuple[Function, ...]
    arguments: tuple[Any, ...] = ()
    shared: tuple[Any, ...] = ()

    @property
    def entry(self) -> Function:
        return self.functions[0]

    def __getitem__(self, name: str) -> Function:
        return next(f for f in self.functions if f.name == name)

    def __str__(self) -> str:
        return "\n\n".join(map(str, self.functions))


@dataclass(frozen=True)
class StackProgram:
    """Stack language: every function's blocks in one list; it starts at block 0."""

    inputs: tuple[str, ...]
    blocks: tuple[Block, ...]
    outputs: tuple[str, ...]
    labels: tuple[tuple[int, str], ...]  # the functions' first blocks
    stacks: tuple[str, ...] = ()  # variables that a Pop restores for a reader
    registers: tuple[str, ...] = ()  # variables that live from one block to another; the rest are temporaries

    def __str__(self) -> str:
        labels = {i: f"({name})" for i, name in self.labels}
        return "\n".join(
            [
                f"program({', '.join(self.inputs)}) -> {', '.join(self.outputs)}",
                f"stacks: {', '.join(('pc', *self.stacks))}",
                f"registers: {', '.join(self.registers) or 'none'}",
                _numbered(self.blocks, labels),
            ]
        )
