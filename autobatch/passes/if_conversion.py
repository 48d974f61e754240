"""Cheap arms become choices: what an ``if`` does in few steps that cannot fail, all members do, and each takes its own.

    branch c 1 2                  y.then = x * 2.0
    block 1: y = x * 2.0          y.else = x + 1.0
             jump 3         ->    y = choose(c, y.then, y.else)
    block 2: y = x + 1.0          jump 3
             jump 3

Each arm would be a block, which costs its time to compile, and a step of the machine however few members take it; so a
chain of ``elif`` becomes straight-line code.  Arms of which the derivative may not be finite where the member does not
take them (a division, a logarithm) stay: a choice would pass that on.  After Allen, Kennedy, Porterfield and Warren,
"Conversion of control dependence to data dependence" (1983).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import groupby
from typing import Any

import tensorflow as tf

from autobatch import errors, ir
from autobatch.ir import regions
from autobatch.ir.flow import liveness, predecessors
from autobatch.ir.representation import to_dtype
from autobatch.ir.typed import TypedProgram, Variable
from autobatch.ir.types import Leaf, Shared, Static, Tensor, Type, Weak, dynamic
from autobatch.language.choices import truth
from autobatch.language.looping import UnlikeItemsError
from autobatch.language.rounding import hides
from autobatch.language.values import WeakScalar, is_tensor
from autobatch.passes.changed_arguments import is_change
from autobatch.passes.simplify import simplified
from autobatch.tracing.execute import execute
from autobatch.tracing.symbolic import symbolic

CHEAP = 32  # elements that the operations of one arm may make
CHOICE = ir.Expression("choose(«0», «1», «2»)", ir.no_code)

_TOTAL = frozenset(
    {
        "Const", "Placeholder", "Identity", "Cast", "AddV2", "Add", "Sub", "Mul", "Neg", "Abs", "Square", "Maximum",
        "Minimum", "Less", "LessEqual", "Greater", "GreaterEqual", "Equal", "NotEqual", "LogicalAnd", "LogicalOr",
        "LogicalNot", "SelectV2", "BitwiseAnd", "BitwiseOr", "BitwiseXor", "Invert", "Pack", "Unpack", "Reshape",
        "ExpandDims", "Squeeze", "StridedSlice",
    }
)  # fmt: skip
_OF_INTEGERS = frozenset({"FloorDiv", "FloorMod"})  # by what is known, as else there would be a check


def convert_ifs(typed: TypedProgram) -> TypedProgram:
    """The program in which members choose between what cheap arms make."""
    types = dict(typed.types)
    functions = tuple(_Converter(f, typed, types).converted() for f in typed.program.functions)
    return replace(typed, program=replace(typed.program, functions=functions), types=types)


@dataclass(frozen=True)
class _If:
    """A block's branch of which each arm is one block, or none, and leads to the same ``end``."""

    block: int
    branch: ir.Branch
    then: int | None
    otherwise: int | None
    end: ir.Terminator

    @property
    def arms(self) -> list[int]:
        return [arm for arm in (self.then, self.otherwise) if arm is not None]


class _Converter:
    def __init__(self, function: ir.Function, typed: TypedProgram, types: dict[Variable, Type]):
        self.function, self.typed, self.types = function, typed, types
        self.costs: dict[ir.LocalOp, float] = {}

    def converted(self) -> ir.Function:
        while (found := self.next()) is not None:
            self.convert(found)
        return self.function

    def next(self) -> _If | None:
        """An ``if`` whose arms are cheap: the last, so that inner ones come before those around them."""
        parents = predecessors(self.function.blocks)
        for i in reversed(range(len(self.function.blocks))):
            found = _if_at(self.function.blocks, i, parents)
            if found is not None and all(map(self.is_cheap, found.arms)) and self.can_choose(found):
                return found
        return None

    def is_cheap(self, arm: int) -> bool:
        ops = self.function.blocks[arm].ops
        for known, run in [(known, [*run]) for known, run in groupby(ops, self.costs.__contains__)]:
            if not known:  # a block, or blocks, as they were
                self.costs |= self.traced(run if self.has_types(run) else ops)
        inside = len({op.inputs[0] for op in ops if isinstance(op, ir.Primitive) and op.function == CHOICE})
        return sum(self.costs[op] for op in ops) <= CHEAP * (1 + 3 * inside)

    def has_types(self, ops: Sequence[ir.LocalOp]) -> bool:
        """Whether they read nothing that is this block's own, made by an operation that another block has too."""
        made = {v for op in ops for v in ir.writes(op)}
        return all((self.function.name, v) in self.types for op in ops for v in ir.reads(op) if v not in made)

    def traced(self, ops: Sequence[ir.LocalOp]) -> dict[ir.LocalOp, float]:
        """How many elements each operation makes; infinite if it may fail, or does more than that."""
        stays = dict.fromkeys(ops, math.inf)
        if any(not isinstance(op, ir.Primitive) or op.function.kind != "member" for op in ops):
            return stays
        region, found = regions.Region(tuple(ops)), {}  # type: ignore[arg-type]
        given = {v: self.type(v) for v in region.inputs}
        if not all(map(_is_plain, given.values())):
            return stays
        with tf.__internal__.FuncGraph("autobatch_arms").as_default() as graph:
            env = symbolic(region, given, self.typed.shared)
            for op in region.ops:
                before = len(graph.get_operations())
                try:
                    checks = execute((op,), env)
                except (errors.AutobatchError, UnlikeItemsError):
                    return stays
                fails = checks or is_change(op) or op.function.augments
                found[op] = math.inf if fails else sum(map(_cost, graph.get_operations()[before:]))
        return found

    def can_choose(self, found: _If) -> bool:
        types = [self.type(v) for v in self.chosen(found)]
        return all(map(_is_plain, types)) and sum(_size(leaf) for t in types for leaf in dynamic(t)) <= CHEAP

    def chosen(self, found: _If) -> list[str]:
        """The variables that an arm sets and that are read behind the ``if``; its condition last."""
        _, live_end = liveness(self.function)
        live = live_end[found.arms[0]]
        made = {v for arm in found.arms for op in self.function.blocks[arm].ops for v in op.outputs if v in live}
        return sorted(made, key=lambda v: (v == found.branch.condition, v))

    def type(self, variable: str) -> Type:
        return self.types[self.function.name, variable]

    def convert(self, found: _If) -> None:
        blocks, chosen = list(self.function.blocks), self.chosen(found)
        location = found.branch.location or self.function.location
        ops, sides = list(blocks[found.block].ops), []
        for arm, side in ((found.then, "then"), (found.otherwise, "else")):
            renamed, new = self.renamed(blocks[arm].ops if arm is not None else (), side)
            ops += renamed
            sides.append(new)
        for v in chosen:
            inputs = (found.branch.condition, *(new.get(v, v) for new in sides))
            choice = ir.Primitive((v,), replace(CHOICE, call=_choice_of(self.type(v))), inputs, location)
            self.costs[choice] = sum(map(_size, dynamic(self.type(v))))
            ops.append(choice)
        blocks[found.block] = replace(blocks[found.block], ops=tuple(ops), terminator=found.end)
        self.function = simplified(replace(self.function, blocks=tuple(blocks)), _changes_lists)

    def renamed(self, ops: Sequence[ir.LocalOp], side: str) -> tuple[list[ir.LocalOp], dict[str, str]]:
        """An arm that sets variables of its own, and their names."""
        new: dict[str, str] = {}
        result = []
        for op in ops:
            inputs = tuple(new.get(v, v) for v in op.inputs)
            for v in op.outputs:
                if v not in new:
                    new[v] = self.name(v, side)
            made = replace(op, inputs=inputs, outputs=tuple(new[v] for v in op.outputs))
            self.costs[made] = self.costs[op]
            result.append(made)
        return result, new

    def name(self, variable: str, side: str) -> str:
        """A new variable of the same type."""
        name, number = f"{variable}.{side}", 1
        while name in self.names:
            name, number = f"{variable}.{side}{number}", number + 1
        self.names.add(name)
        if (self.function.name, variable) in self.types:
            self.types[self.function.name, name] = self.type(variable)
        return name

    @cached_property
    def names(self) -> set[str]:
        return {v for block in self.function.blocks for op in block.ops for v in (*ir.reads(op), *ir.writes(op))}


def _if_at(blocks: Sequence[ir.Block], i: int, parents: Sequence[Sequence[int]]) -> _If | None:
    branch = blocks[i].terminator
    if not isinstance(branch, ir.Branch) or branch.true == branch.false:
        return None

    def end(arm: int) -> ir.Terminator | None:
        """Where an arm leads that is one block."""
        alone = [*parents[arm]] == [i] and arm not in (0, i)
        return blocks[arm].terminator if alone and isinstance(blocks[arm].terminator, ir.Jump | ir.Return) else None

    then, otherwise = end(branch.true), end(branch.false)
    if then is not None and then == ir.Jump(branch.false):
        return _If(i, branch, branch.true, None, then)
    if otherwise is not None and otherwise == ir.Jump(branch.true):
        return _If(i, branch, None, branch.false, otherwise)
    if then is not None and then == otherwise and then != ir.Jump(i):
        return _If(i, branch, branch.true, branch.false, then)
    return None


def _changes_lists(block: ir.Block) -> bool:
    """Whether this is a block of its own, as what its code finds has been told apart from what it makes of it."""
    return any(is_change(op) for op in block.ops)


def _is_plain(type_: Type) -> bool:
    """Whether this is numbers and arrays, and tuples of them, which no one can change in place unseen."""
    if isinstance(type_, tuple):
        return all(map(_is_plain, type_))
    return isinstance(type_, Tensor | Weak | Static | Shared)


def _size(leaf: Tensor | Weak) -> int:
    return math.prod(leaf.shape)


def _cost(operation: tf.Operation) -> float:
    if operation.type in ("Const", "Placeholder", "Identity") or hides(operation):
        return 0
    of_integers = operation.type in _OF_INTEGERS and operation.outputs[0].dtype.is_integer
    if operation.type not in _TOTAL and not of_integers:
        return math.inf
    return sum(output.shape.num_elements() or 0 for output in operation.outputs)


def _choice_of(type_: Type) -> Callable:
    def choose(condition: Any, then: Any, otherwise: Any) -> Any:
        known = truth(condition)
        if not is_tensor(known):
            return then if known else otherwise

        def of_leaf(leaf: Leaf, a: Any, b: Any) -> Any:
            if not isinstance(leaf, Tensor | Weak):
                return a
            made = tf.where(known, to_dtype(a, leaf.dtype), to_dtype(b, leaf.dtype))
            return WeakScalar(made, leaf.kind, leaf.near) if isinstance(leaf, Weak) else made

        return tf.nest.map_structure(of_leaf, type_, then, otherwise)

    return choose
