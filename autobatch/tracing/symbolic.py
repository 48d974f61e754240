"""Symbolic members: placeholders on which user code is traced."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import tensorflow as tf

from autobatch import ir
from autobatch.ir import regions
from autobatch.ir.types import Tensor, Type, Weak, dynamic, value_from
from autobatch.tracing.execute import cross


def symbolic(region: regions.Region, inputs: Mapping[str, Type], shared: Sequence[Tensor | Weak]) -> dict[str, Any]:
    """Placeholders of the current graph for a region's inputs."""
    batch = (lanes_of(region.ops[0]),) if region.kind == "batch" else ()
    parts = [tf.compat.v1.placeholder(leaf.dtype, leaf.shape) for leaf in shared]
    env: dict[str, Any] = {}
    for v, type_ in inputs.items():
        stored = [tf.compat.v1.placeholder(leaf.dtype, (*batch, *leaf.shape)) for leaf in dynamic(type_)]
        env[v] = value_from(type_, stored, parts)
    return cross(env)


def lanes_of(op: ir.Assign) -> int:
    """The batch size at which a batched primitive is traced: its own, or one that stands for any."""
    return op.function.size or 7
