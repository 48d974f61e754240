"""Makes explicit where a value becomes one of a wider type in another form.

A variable that is an int32 tensor on one path and a Python int on another is an int32 tensor: the type that both join
into.  The int, computed in 64 bits, is then given a name of its own, and converted, so that a member fails whose int
does not fit.  Likewise a list of known length that is to be one of any length, or to have room for more.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import tensorflow as tf

from autobatch import errors, ir
from autobatch.ir import regions
from autobatch.ir.representation import value_as
from autobatch.ir.typed import Check, Variable
from autobatch.ir.types import Absent, Exact, Leaf, Shared, Static, Tensor, Type, Weak, leaves, structure
from autobatch.language.rounding import is_exact, rounding_failure
from autobatch.language.values import narrowing_failure

CONVERSION = "narrowed(«0»)"
Made = Mapping[tuple[str, int, int], Mapping[str, Type]]  # by function, block and part


def explicit(
    program: ir.Program, function: ir.Function, types: dict[Variable, Type], made: Made
) -> tuple[ir.Function, tuple[Check, ...]]:
    """The function with its conversions; the types of what they convert are added to ``types``.

    Args:
      program: with the functions that this one calls.
      function: one of its functions.
      types: of the variables.
      made: the types of the values that each region assigns, which may be narrower than the variables'.
    """
    converter = _Converter(program, function.name, types)
    blocks = []
    for i, block in enumerate(function.blocks):
        ops: list[ir.LocalOp] = []
        for k, part in enumerate(regions.regions(block.ops)):
            if isinstance(part, ir.Call):
                ops += converter.call(part)
            else:
                ops += converter.region(part, made.get((function.name, i, k), {}))  # type: ignore[arg-type]
        blocks.append(replace(block, ops=tuple(ops)))
    return replace(function, blocks=tuple(blocks)), tuple(converter.checks)


class _Converter:
    def __init__(self, program: ir.Program, function: str, types: dict[Variable, Type]):
        self.program, self.function, self.types = program, function, types
        self.checks: list[Check] = []

    def region(self, region: Any, made: Mapping[str, Type]) -> list[ir.LocalOp]:
        """The region, in which each value has the form in which it was made, and conversions behind it."""
        ops, after = list(region.ops), []
        for v, type_ in made.items():
            want = self.types[self.function, v]
            if not _changes_form(type_, want):
                continue
            k = max(k for k, op in enumerate(ops) if v in op.outputs)
            first = self.name(v, type_)
            ops[k] = replace(ops[k], outputs=_renamed(ops[k].outputs, v, first))
            ops[k + 1 :] = [replace(op, inputs=_renamed(op.inputs, v, first)) for op in ops[k + 1 :]]
            after.append(self.conversion(v, first, want, ops[k].location))
        return [*ops, *after]

    def call(self, call: ir.Call) -> list[ir.LocalOp]:
        callee = self.program[call.function]
        before, after, inputs, outputs = [], [], list(call.inputs), list(call.outputs)
        for k, (parameter, v) in enumerate(zip(callee.inputs, call.inputs, strict=True)):
            have, want = self.types.get((self.function, v)), self.types.get((callee.name, parameter))
            if _changes_form(have, want):
                inputs[k] = self.name(v, want, "narrow")
                before.append(self.conversion(inputs[k], v, want, call.location))
        for k, (result, v) in enumerate(zip(callee.outputs, call.outputs, strict=True)):
            have, want = self.types.get((callee.name, result)), self.types.get((self.function, v))
            if _changes_form(have, want):
                outputs[k] = self.name(v, have)
                after.append(self.conversion(v, outputs[k], want, call.location))
        return [*before, replace(call, inputs=tuple(inputs), outputs=tuple(outputs)), *after]

    def name(self, variable: str, type_: Type, how: str = "wide") -> str:
        """A new variable of this type (see ``original``)."""
        name, number = f"{variable}.{how}", 1
        while (self.function, name) in self.types:
            name, number = f"{variable}.{how}{number}", number + 1
        self.types[self.function, name] = type_
        return name

    def conversion(self, target: str, source: str, want: Type, location: ir.Location) -> ir.Primitive:
        for leaf in leaves(want):
            if isinstance(leaf, Tensor | Weak) and (leaf.dtype.is_integer or leaf.dtype.is_floating):
                failure = (narrowing_failure if leaf.dtype.is_integer else rounding_failure)(leaf.dtype)
                self.checks.append(Check(errors.NumberRangeError, failure, "", Exact(()), location))
        converted = ir.Expression(CONVERSION, lambda value: value_as(want, value))
        return ir.Primitive((target,), converted, (source,), location)


def _renamed(names: Sequence[str], old: str, new: str) -> tuple[str, ...]:
    return tuple(new if name == old else name for name in names)


def original(variable: str) -> str:
    """The variable as it is called where conversions are not explicit."""
    return re.sub(r"\.(wide|narrow)\d*$", "", variable)


def _changes_form(have: Type, want: Type) -> bool:
    if have is None or want is None:  # in code that never runs
        return False
    if isinstance(have, Absent):
        return not isinstance(want, Absent)
    if structure(have) != structure(want):
        return True
    return any(map(_is_narrower, leaves(have), leaves(want))) or any(map(_is_shorter, leaves(have), leaves(want)))


def _is_narrower(have: Leaf, want: Leaf) -> bool:
    leaf = have.leaf if isinstance(have, Shared) else have
    if isinstance(leaf, Static):
        return isinstance(want, Tensor | Weak) and not is_exact(leaf.value, want.dtype)
    is_int = isinstance(leaf, Weak) and leaf.kind is int
    narrows = is_int and isinstance(want, Tensor) and want.dtype.is_integer and want.dtype != tf.int64
    wide = is_int or (isinstance(leaf, Tensor) and leaf.shape == () and leaf.dtype in (tf.int64, tf.uint64))
    rounds = wide and not getattr(leaf, "near", False) and isinstance(want, Tensor | Weak) and want.dtype.is_floating
    becomes_python = isinstance(leaf, Tensor) and leaf.dtype.is_floating and isinstance(want, Weak)
    return narrows or rounds or becomes_python


def _is_shorter(have: Leaf, want: Leaf) -> bool:
    return isinstance(have, Tensor) and isinstance(want, Tensor) and have.shape != want.shape
