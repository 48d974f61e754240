"""A region run once on a symbolic member, or on some lanes if its primitive is batched: the graph that it makes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from typing import Any

import tensorflow as tf

from autobatch.ir import regions
from autobatch.ir.leaves import Leaf
from autobatch.ir.representation import stored_from, value_from
from autobatch.ir.typed import Check
from autobatch.ir.types import Exact, Tensor, Type, Weak
from autobatch.tracing.execute import Outcome, cross, execute
from autobatch.tracing.symbolic import placeholders

Stored = list[tf.Tensor]  # the dynamic leaves of one variable


@dataclass(frozen=True, eq=False)
class Traced:
    """What a region does.

    Attributes:
      graph: its operations.
      inputs: a placeholder for each leaf that goes in.
      shared: likewise for what all members share.
      values: what the variables hold that it reads or assigns.
      outcomes: the checks that it makes.
      work: the operations of each primitive.
    """

    graph: Any
    inputs: Mapping[Leaf, tf.Tensor]
    shared: Sequence[tf.Tensor]
    values: Mapping[str, Any]
    outcomes: Sequence[Outcome]
    work: tuple[tuple[tf.Operation, ...], ...]

    def stored(self, variable: str, types: Mapping[str, Type]) -> Stored:
        """The stored leaves of what it assigns to a variable."""
        with self.graph.as_default():
            return stored_from(types[variable], self.values[variable])

    def still_is(self, variable: str, types: Mapping[str, Type]) -> bool:
        """Whether what it assigned to a variable has the variable's structure when the region is done."""
        try:
            tf.nest.assert_same_structure(types[variable], self.values[variable])
        except (TypeError, ValueError):
            return False
        return True


def traced(
    region: regions.Region,
    types: Mapping[str, Type],
    shared: Sequence[Tensor | Weak],
    made: dict[Any, Traced],
    size: int | None = None,
) -> Traced:
    """The region's trace, which is looked up in those that were made, and put there.

    size: of the batch that a batched primitive takes; None for one that stands for any.
    """
    code = tuple(id(op.function.call) for op in region.ops)  # as variants of a function differ in that alone
    key = (region.ops, code, tuple((v, Exact(types[v])) for v in region.inputs), size)
    if key not in made:
        made[key] = _trace(region, types, shared, size)
    return made[key]


def _trace(
    region: regions.Region, types: Mapping[str, Type], shared: Sequence[Tensor | Weak], size: int | None
) -> Traced:
    outcomes: list[Outcome] = []
    work: list[tuple[tf.Operation, ...]] = []
    with tf.__internal__.FuncGraph("member").as_default() as graph:
        stored, parts = placeholders(region, {v: types[v] for v in region.inputs}, shared, size)
        env = cross({v: value_from(types[v], stored[v], parts) for v in region.inputs})
        begun = len(graph.get_operations())
        for k, op in enumerate(region.ops):
            if region.kind == "batch":
                env[op.outputs[0]] = op.function.call(*(env[v] for v in op.inputs))
            else:
                with tf.name_scope(f"primitive_{k}") if len(region.ops) > 1 else nullcontext():
                    outcomes += execute((op,), env)
            work.append(tuple(graph.get_operations()[begun:]))
            begun += len(work[-1])
    inputs = {(v, k): leaf for v, leaves in stored.items() for k, leaf in enumerate(leaves)}
    return Traced(graph, inputs, parts, env, outcomes, tuple(work))


def all_checks(known: Sequence[Check], made: Mapping[Any, Traced]) -> tuple[Check, ...]:
    """The program's checks and those of its traces: where branches were decided and blocks merged, more is known of
    values than when the program was typed, and an int that is a Python number there may have a check of its own."""
    return tuple(dict.fromkeys([*known, *(o.check for traced in made.values() for o in traced.outcomes)]))
