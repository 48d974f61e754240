"""What members raise within ``try`` becomes a number that is tested; behind this pass nothing is caught.

    try:                          number, raised = raised(a // b)        the first clause that catches it, or 0
        x = a // b                branch raised (handler) (next)
    except ZeroDivisionError:     x = a // b
        x = 0

What an operation raises is found before it runs, so that nothing of it has happened then.  A function that is called
where some exceptions are caught has a copy that returns the number as a further result.  It counts the clauses from
where the exception is raised outwards, through the functions: each handler takes off those that it has.  Exceptions
that no clause catches are not looked for: by them the member fails, where it is.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import tensorflow as tf

from autobatch import context, errors, ir
from autobatch.ir.types import ABSENT, Static
from autobatch.language.choices import ifexp
from autobatch.language.each_of import called
from autobatch.language.looping import UnlikeItemsError

Clauses = tuple[ir.Classes, ...]  # from the innermost outwards


def lower_exceptions(program: ir.Program) -> ir.Program:
    """The program without handlers."""
    if not any(block.handlers for function in program.functions for block in function.blocks):
        return program
    variants = _Variants(program, _held(program))
    variants.name(program.entry.name, ())
    return replace(program, functions=tuple(variants.made()))


@dataclass
class _Variants:
    """The functions, each once for every list of clauses around its calls."""

    program: ir.Program
    held: Mapping[str, tuple[str, ...]]  # by function, the variables of exceptions that it or a callee may set
    names: dict[tuple[str, Clauses], str] = field(default_factory=dict)

    def name(self, function: str, outer: Clauses) -> str:
        """The variant of a function of which callers catch what these clauses do, none of them in vain."""
        if (function, outer) not in self.names:
            count = sum(name == function and bool(clauses) for name, clauses in self.names)
            number = str(count + 1) if count else ""
            self.names[function, outer] = f"{function}.caught{number}" if outer else function
        return self.names[function, outer]

    def made(self) -> list[ir.Function]:
        made: list[ir.Function] = []
        while len(made) < len(self.names):
            function, outer = [*self.names][len(made)]
            made.append(_Lowering(self, self.program[function], outer).run())
        return made


class _Lowering:
    """One variant."""

    def __init__(self, variants: _Variants, function: ir.Function, outer: Clauses):
        self.variants, self.function, self.outer = variants, function, outer
        self.blocks: list[ir.Block] = list(function.blocks)
        self.held = variants.held[function.name]
        self.read = {v for block in function.blocks for op in block.ops for v in op.inputs}.union(function.outputs)
        self.read |= {b.terminator.condition for b in function.blocks if isinstance(b.terminator, ir.Branch)}

    def run(self) -> ir.Function:
        function = self.function
        self.away = len(self.blocks)  # to the caller, with the number
        if self.outer:
            self.blocks.append(ir.Block((), ir.Return()))
        for i, block in enumerate(function.blocks):
            self.lower(i, block)
        name = self.variants.name(function.name, self.outer)
        outputs = (*function.outputs, _NUMBER, *self.held) if self.outer else function.outputs
        first = self.blocks[0]
        unset = tuple(ir.Primitive((v,), _ABSENT, (), function.location) for v in self.held)
        self.blocks[0] = replace(first, ops=(*unset, *first.ops))
        return replace(function, name=name, blocks=tuple(self.blocks), outputs=outputs)

    def lower(self, at: int, block: ir.Block) -> None:
        """Puts the block, cut behind each test, in its place and at the end."""
        clauses = (*(c for handler in block.handlers for c in handler.clauses), *self.outer)
        inner = block.handlers[0] if block.handlers else None
        number, target = (inner.variable, inner.block) if inner else (_NUMBER, self.away)
        ops: list[Any] = []

        def test(location: ir.Location) -> None:
            nonlocal at, ops
            after = len(self.blocks)
            self.blocks[at] = ir.Block(tuple(ops), ir.Branch(_RAISED, target, after, location))
            self.blocks.append(ir.Block((), ir.Return()))  # a place, filled later
            at, ops = after, []

        for op in block.ops:
            if isinstance(op, ir.Call):
                kept = _in_use(clauses)
                held = self.variants.held[op.function]
                op = replace(op, function=self.variants.name(op.function, tuple(clauses[k] for k in kept)))
                if not clauses:
                    ops.append(op)
                    continue
                results = tuple(v + _RESULT for v in op.outputs)
                ops.append(replace(op, outputs=(*results, number, *held)))
                ops.append(ir.Primitive((number, _RAISED), _numbered(kept), (number,), op.location))
                test(op.location)
                used = [v for v in op.outputs if v in self.read]
                ops += [ir.Primitive((v,), ir.COPY, (v + _RESULT,), op.location) for v in used]
                continue
            if clauses and _may_raise(op):
                ops.append(ir.Primitive((number, _RAISED), raised(op, clauses), op.inputs, op.location))
                test(op.location)
            ops.append(op)
        self.blocks[at] = self.ended(ops, block.terminator)

    def is_impossible(self, target: int) -> bool:
        """Whether what no clause here catches gets there, though no caller catches it either."""
        end = self.function.blocks[target].terminator
        return not self.outer and isinstance(end, ir.Raise) and end.number is not None

    def ended(self, ops: list[Any], end: ir.Terminator) -> ir.Block:
        if isinstance(end, ir.Branch) and self.is_impossible(end.false):
            return ir.Block(tuple(ops), ir.Jump(end.true))
        if isinstance(end, ir.Raise) and end.number is not None:
            if not self.outer:
                return ir.Block(tuple(ops), ir.Raise())
            ops.append(ir.Primitive((_NUMBER,), ir.COPY, (end.number,), self.function.location))
            return ir.Block(tuple(ops), ir.Jump(self.away))
        if isinstance(end, ir.Return) and self.outer:
            ops.append(ir.Primitive((_NUMBER,), _NONE, (), self.function.location))
        return ir.Block(tuple(ops), end)


def _held(program: ir.Program) -> dict[str, tuple[str, ...]]:
    """The variables of exceptions that are read somewhere, for each function that sets them or calls one that does."""
    ops = {f.name: [op for block in f.blocks for op in block.ops] for f in program.functions}
    read = {v for each in ops.values() for op in each for v in op.inputs if v.startswith(ir.HELD)}
    found = {name: read & {v for op in each for v in op.outputs} for name, each in ops.items()}
    calls = {name: {op.function for op in each if isinstance(op, ir.Call)} for name, each in ops.items()}
    while True:
        more = {name: found[name].union(*(found[callee] for callee in calls[name])) for name in found}
        if more == found:
            return {name: tuple(sorted(each)) for name, each in found.items()}
        found = more


_ABSENT = ir.Expression("absent", lambda: ABSENT)
_NUMBER, _RAISED, _RESULT = "exception.number", "exception.raised", ".returned"  # no variables of the user's
_NONE = ir.Expression("0", lambda: 0)


def _in_use(clauses: Clauses) -> list[int]:
    """The clauses that may be the first to catch something."""
    kept: list[int] = []
    seen: tuple[type[BaseException], ...] = ()
    for k, kinds in enumerate(clauses):
        if not all(issubclass(kind, seen) for kind in kinds):
            kept.append(k)
            seen += kinds
    return kept


def _numbered(kept: list[int]) -> ir.Expression:
    """What makes of a number among the clauses that were kept that among all, and whether it is one."""

    def call(number: Any) -> tuple[Any, Any]:
        found = number
        for here, k in enumerate(kept):
            if here != k:
                found = ifexp(number == here + 1, lambda k=k: k + 1, lambda found=found: found)
        return found, number != 0

    text = "«0»" if kept == [*range(len(kept))] else f"{(0, *(k + 1 for k in kept))}[«0»]"
    return ir.Expression(f"{text}, «0» != 0", call)


def _may_raise(op: ir.Primitive) -> bool:
    text = op.function.template
    if op.function.kind != "member" or text == ir.COPY.template:
        return False
    try:
        ast.literal_eval(text)
    except (ValueError, SyntaxError):
        return True
    return False


def raised(op: ir.Primitive, clauses: Clauses) -> ir.Expression:
    """Of what it gets: the number of the clause that catches what the operation raises, or 0, and whether it is one."""
    function = op.function
    divides = _caught_by(errors.raised_by_members(ZeroDivisionError), clauses) > 0

    def call(*inputs: Any) -> tuple[Any, Any]:
        with (
            context.collected_remarks() as remarks,
            context.collected_choices(),
            context.checked_divisions(divides),
        ):
            try:
                called(lambda *values: function.call(*map(_copied, values)), inputs)
            except UnlikeItemsError as loop:
                raise UnlikeItemsError(loop.count, variable=loop.variable or op.outputs[0]) from None
        number: Any = 0
        for remark in reversed(remarks):
            if remark.error is not None:
                here, later = _caught_by(remark.error, clauses), number
                number = ifexp(remark.passed, lambda later=later: later, lambda here=here: here)
        return number, number != 0

    def instead(error: Exception) -> ir.Expression:
        number = _caught_by(errors.raised_by_members(type(error)), clauses)
        return ir.Expression(f"{number}, {number > 0}", lambda *_: (number, number > 0))

    return ir.Expression(f"raised({function.template})", call, instead=instead)


def without_idle_tests(function: ir.Function, types: Mapping[tuple[str, str], Any]) -> ir.Function:
    """The function without the tests of what turned out to raise nothing that is caught."""

    def is_idle(op: ir.LocalOp) -> bool:
        if isinstance(op, ir.Call) or op.function.instead is None:
            return False
        found = types.get((function.name, op.outputs[1]))
        return isinstance(found, Static) and not found.value

    blocks = (replace(b, ops=tuple(op for op in b.ops if not is_idle(op))) for b in function.blocks)
    return replace(function, blocks=tuple(blocks))


def _caught_by(error: type[errors.MemberError], clauses: Clauses) -> int:
    return next((k + 1 for k, kinds in enumerate(clauses) if errors.is_of(error, kinds)), 0)


def _copied(value: Any) -> Any:
    """Lists and dicts, which the function may change, anew."""
    return tf.nest.map_structure(lambda leaf: leaf, value) if tf.nest.is_nested(value) else value
