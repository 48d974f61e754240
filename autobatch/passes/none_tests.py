"""``if acc is None: acc = []`` is decided where nobody gives the argument: then ``acc`` is a list and nothing else.

    function f(n, acc)                   function f(n, acc)
    block 0: cond = acc is None     ->   block 0: cond = acc is None
             branch cond 1 2                      jump 1

What reaches a test says how it ends, if all of it is None, or none.  A function that is called now with the argument
and now without becomes two functions.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from functools import cached_property
from typing import TypeGuard

from autobatch import ir
from autobatch.ir.flow import Definition, predecessors, reaching
from autobatch.passes.changed_arguments import is_change
from autobatch.passes.nones import IS_NONE, IS_NOT_NONE, NONE, is_absent, is_none
from autobatch.passes.simplify import decide_branches, simplified

Given = Mapping[str, bool]  # of parameters that are tested: whether they are surely None, or surely not


def decide_none_tests(program: ir.Program) -> ir.Program:
    """Decides tests for None of what callers surely give, or surely leave out; the same program if there are none."""
    variants = _Variants(program)
    functions = variants.all()
    return replace(program, functions=functions) if variants.decided else program


class _Variants:
    """Functions, each once for what it is called with, if that decides a test of it."""

    def __init__(self, program: ir.Program):
        self.program, self.made, self.decided = program, dict[str, ir.Function](), False
        entry = program.entry
        given = zip(entry.inputs, program.arguments, strict=False)  # a program in text form has no arguments
        self.entered_with = self.deciding(entry, {v: is_absent(type_) for v, type_ in given})
        self.pending = [(entry, self.entered_with)]

    def all(self) -> tuple[ir.Function, ...]:
        while self.pending:
            function, given = self.pending.pop()
            name = self.name(function, given)
            if name not in self.made:
                self.made[name] = replace(self.variant(function, given), name=name)
        return tuple(self.made.values())

    def deciding(self, function: ir.Function, given: Given) -> Given:
        """What decides a test, if anything does."""
        called = _Called(function, given)
        if not called.decisions():
            return {}
        self.decided = True
        return {v: none for v, none in given.items() if v in called.tested}

    def name(self, function: ir.Function, given: Given) -> str:
        if given == (self.entered_with if function is self.program.entry else {}):
            return function.name
        kinds = [f"{v}.none" if none else f"{v}.given" for v, none in sorted(given.items())]
        return ".".join((function.name, *(kinds or ["again"])))

    def variant(self, function: ir.Function, given: Given) -> ir.Function:
        """The function with its tests decided, which calls others for what it calls them with."""
        called, blocks = _Called(_without(function, given), given), []
        while decisions := called.decisions():
            called = _Called(simplified(decide_branches(called.function, decisions)), given)
        for i, block in enumerate(called.function.blocks):
            ops = [self.call(op, called, (i, k)) if isinstance(op, ir.Call) else op for k, op in enumerate(block.ops)]
            blocks.append(replace(block, ops=tuple(ops)))
        return replace(called.function, blocks=tuple(blocks))

    def call(self, call: ir.Call, called: _Called, at: Definition) -> ir.Call:
        callee = self.program[call.function]
        kinds = {p: called.is_none(v, at) for p, v in zip(callee.inputs, call.inputs, strict=True)}
        given = self.deciding(callee, {p: none for p, none in kinds.items() if none is not None})
        self.pending.append((callee, given))
        return replace(call, function=self.name(callee, given))


def _without(function: ir.Function, given: Given) -> ir.Function:
    """The function in which variables that begin as None are none of its arguments, which stay as they are."""
    if predecessors(function.blocks)[0]:
        return function
    first, *others = function.blocks
    absent = sorted(v for v, none in given.items() if none)
    nones = [ir.Primitive((v,), NONE, (), function.location) for v in absent]
    inputs = tuple(f"{v}.passed" if v in absent else v for v in function.inputs)
    return replace(function, inputs=inputs, blocks=(replace(first, ops=(*nones, *first.ops)), *others))


class _Called:
    """A function, and what is known of its arguments."""

    def __init__(self, function: ir.Function, given: Given):
        self.function, self.given = function, given

    @cached_property
    def before(self) -> list[dict[str, frozenset[Definition]]]:
        return reaching(self.function)

    @cached_property
    def tested(self) -> set[str]:
        return {op.inputs[0] for block in self.function.blocks for op in block.ops if _is_test(op)}

    def is_none(self, variable: str, at: Definition) -> bool | None:
        """Whether a variable is None at an operation; None if that is not known."""
        kinds: set[bool | None] = set()
        sources = {(variable, each) for each in self.definitions(variable, at)}
        pending = [*sources]
        while pending:
            v, definition = pending.pop()
            i, k = definition
            op = self.function.blocks[i].ops[k] if k >= 0 else None
            if op is None:
                kinds.add(self.given.get(v))
            elif isinstance(op, ir.Primitive) and op.function == ir.COPY:
                more = {(op.inputs[0], each) for each in self.definitions(op.inputs[0], definition)} - sources
                pending += more
                sources |= more
            else:
                kinds.add(True if is_none(op) else False if is_change(op) or _makes(op) else None)
        return kinds.pop() if len(kinds) == 1 else None

    def definitions(self, variable: str, at: Definition) -> frozenset[Definition]:
        """Those that reach an operation."""
        i, k = at
        for j, op in reversed([*enumerate(self.function.blocks[i].ops[:k])]):
            if variable in ir.writes(op):
                return frozenset({(i, j)})
        return self.before[i].get(variable, frozenset())

    def decisions(self) -> dict[int, bool]:
        """For each block that ends by a test which always ends in one way, that way."""
        found = {}
        for i, block in enumerate(self.function.blocks):
            if isinstance(block.terminator, ir.Branch):
                setting = [k for k, op in enumerate(block.ops) if block.terminator.condition in ir.writes(op)]
                test = block.ops[setting[-1]] if setting else None
                if _is_test(test):
                    none = self.is_none(test.inputs[0], (i, setting[-1]))
                    if none is not None:
                        found[i] = none == (test.function.template == IS_NONE)
        return found


# a list, a dict, or an object
_MADE = re.compile(r"\[[^\[\]]*\]|\{[^{}]*\}|dict\(\)|member_class\([^()]*\)\([^()]*\)|blank\([^()]*\([^()]*\)\)")


def _makes(op: ir.LocalOp) -> bool:
    return isinstance(op, ir.Primitive) and _MADE.fullmatch(op.function.template) is not None


def _is_test(op: ir.LocalOp | None) -> TypeGuard[ir.Primitive]:
    return isinstance(op, ir.Primitive) and op.function.template in (IS_NONE, IS_NOT_NONE)
