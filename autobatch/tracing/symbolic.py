"""Symbolic members: placeholders on which user code is traced."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import tensorflow as tf
from tensorflow.python.eager.graph_only_ops import graph_placeholder

from autobatch import ir
from autobatch.ir import regions
from autobatch.ir.representation import value_from
from autobatch.ir.types import Tensor, Type, Weak, dynamic
from autobatch.tracing.execute import cross


def placeholders(
    region: regions.Region, inputs: Mapping[str, Type], shared: Sequence[Tensor | Weak], size: int | None = None
) -> tuple[dict[str, list[tf.Tensor]], list[tf.Tensor]]:
    """For the leaves of a region's inputs, and for what all members share; ``size``: of a batched primitive's batch."""
    batch = (size or lanes_of(region.ops[0]),) if region.kind == "batch" else ()
    parts = [graph_placeholder(leaf.dtype, leaf.shape) for leaf in shared]
    stored = {
        v: [graph_placeholder(leaf.dtype, (*batch, *leaf.shape)) for leaf in dynamic(type_)]
        for v, type_ in inputs.items()
    }
    return stored, parts


def symbolic(region: regions.Region, inputs: Mapping[str, Type], shared: Sequence[Tensor | Weak]) -> dict[str, Any]:
    """Placeholders of the current graph for a region's inputs, as the values that user code sees."""
    stored, parts = placeholders(region, inputs, shared)
    return cross({v: value_from(type_, stored[v], parts) for v, type_ in inputs.items()})


def lanes_of(op: ir.Assign) -> int:
    """The batch size at which a batched primitive is traced: its own, or one that stands for any."""
    return op.function.size if isinstance(op.function.size, int) else 7
