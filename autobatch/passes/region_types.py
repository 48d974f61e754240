"""The types of what a region assigns: its code, run on symbolic tensors of the types of what goes in."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import tensorflow as tf

from autobatch import context, errors, ir
from autobatch.ir import regions
from autobatch.ir.typed import Check
from autobatch.ir.types import Exact, Tensor, Type, Weak, type_of
from autobatch.language import raising
from autobatch.tracing.as_it_is import asking_refused
from autobatch.tracing.code import code_key
from autobatch.tracing.execute import Outcome, execute
from autobatch.tracing.explain import NoneOperandError, is_of_none, raise_at
from autobatch.tracing.repeated import Repeats
from autobatch.tracing.symbolic import lanes_of, symbolic

# What Python raises for values, where another value would do.
OF_VALUES = (*raising.OF_VALUES, NoneOperandError)


@dataclass(frozen=True)
class Traced:
    """What is known of a region, for the types of what goes in.

    Attributes:
      types: of what it assigns.
      checks: those that it makes.
      caught: what it raises for all members, to be caught.
      augments: whether ``x += y`` of arrays or lists was met.
    """

    types: dict[str, Type]
    checks: tuple[Check, ...] = ()
    caught: tuple[tuple[ir.Assign, Exception], ...] = ()
    augments: bool = False


class Traces:
    """The traces of regions, remembered when the program is changed and typed again, or lowered again.

    Attributes:
      shared: the types of the shared arguments' leaves.
      raised_in: the operations that raised these errors.
    """

    def __init__(self, shared: Sequence[Tensor | Weak]):
        self.shared = shared
        self.raised_in: dict[Exception, ir.Assign] = {}

    def of(self, region: regions.Region, inputs: Mapping[str, Type], wanted: Sequence[str]) -> Traced:
        """The trace of a region that gets values of these types, and of whose variables these are read elsewhere."""
        code = code_key(tuple(op.function.call for op in region.ops))  # variants of a function differ in that alone
        types = tuple((v, Exact(t)) for v, t in inputs.items())
        key = (region.ops, code, tuple(wanted), types, tuple(self.shared), context.optional_attributes())
        return context.remembered(key, lambda: self._trace(region, inputs, wanted))

    def _trace(self, region: regions.Region, inputs: Mapping[str, Type], wanted: Sequence[str]) -> Traced:
        with tf.__internal__.FuncGraph("autobatch_types").as_default() as graph:
            env = symbolic(region, inputs, self.shared)
            if region.kind == "batch":
                return Traced({v: t for v, t in _batched_types(region.ops[0], env).items() if v in wanted})
            outcomes: list[Outcome] = []
            caught: list[tuple[ir.Assign, Exception]] = []
            augmented: list[Any] = []
            repeats = Repeats()
            for op in region.ops:
                try:
                    given = repeats.given(op, env)
                    with context.on_augmented(augmented.append), asking_refused(op, env):
                        outcomes += execute((op,), env, graph)
                    repeats.made(op, given, env)
                except Exception as error:
                    self.raised_in[error] = op
                    if op.function.instead is None or not _may_be_caught(error):
                        raise
                    caught.append((op, error))
                    outcomes += execute((replace(op, function=op.function.instead(error)),), env, graph)
            repeats.check()
            checks = tuple(outcome.check for outcome in outcomes)
            types = {v: _type_of_variable(env[v], v, region) for v in wanted}
            return Traced(types, checks, tuple(caught), bool(augmented))


def _may_be_caught(error: Exception) -> bool:
    """Whether it is of values, or of a class of the user's."""
    return isinstance(error, OF_VALUES) or is_of_none(error) or raising.is_of_users_class(error)


def _type_of_variable(value: Any, variable: str, region: regions.Region) -> Type:
    location = next(op.location for op in reversed(region.ops) if variable in op.outputs)
    try:
        return type_of(value)
    except errors.AutobatchError as error:
        raise_at(location, error)


def _batched_types(op: ir.Assign, env: dict[str, Any]) -> dict[str, Type]:
    """Types of a batched primitive's outputs, its leading axis removed."""
    try:
        value = op.function.call(*(env[v] for v in op.inputs))
    except Exception as error:
        raise_at(op.location, error)

    def member(leaf: Any) -> Any:
        if isinstance(leaf, Tensor) and leaf.shape[:1] == (lanes_of(op),):
            return Tensor(leaf.dtype, leaf.shape[1:])
        raise errors.TypeMismatchError(
            f"A batched primitive must return tensors with the leading batch axis; this returned {leaf}.",
            [(op.location, f"for a batch of {lanes_of(op)}")],
            kind="batched-primitive-result",
        )

    return {op.outputs[0]: tf.nest.map_structure(member, type_of(value))}
