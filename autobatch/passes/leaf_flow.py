"""What each block does to the leaves of variables: found by running its primitives on symbolic members."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

import tensorflow as tf

from autobatch import ir
from autobatch.ir import regions
from autobatch.ir.leaves import Leaf, Step, leaf_type, leaves_of
from autobatch.ir.typed import TypedStackProgram
from autobatch.ir.types import Tensor, Type, Weak, leaves, opaque
from autobatch.tracing.member import all_checks, traced
from autobatch.tracing.symbolic import lanes_of


def trace_leaves(typed: TypedStackProgram) -> TypedStackProgram:
    """The program with what the parts of each block do to leaves."""
    flows = (tuple(_step(part, typed) for part in regions.regions(block.ops)) for block in typed.program.blocks)
    typed = replace(typed, flows=tuple(flows))
    return replace(typed, checks=all_checks(typed.checks, typed.traces))


def _step(part: regions.Region | ir.Op, typed: TypedStackProgram) -> Step:
    types = typed.types
    match part:
        case regions.Region() if any(op.function.call is ir.no_code for op in part.ops):
            return _assumed(part, types)
        case regions.Region():
            return _computed(part, typed)
        case ir.Push((target,), _, (source,)):
            saved = frozenset(leaves_of(target, types))
            pairs = dict(_moved(source, target, types))
            sources = {leaf: frozenset({pairs[leaf]} if leaf in pairs else ()) for leaf in saved}
            copies = {new: old for new, old in pairs.items() if leaf_type(new, types) == leaf_type(old, types)}
            return Step(sources, copies, saves=saved)
        case ir.Pop(variables):
            restored = [leaf for v in variables for leaf in leaves_of(v, types)]
            return Step({leaf: frozenset() for leaf in restored}, {}, restores=frozenset(restored))
        case _:
            raise AssertionError(part)


def _moved(source: str, target: str, types: Mapping[str, Type]) -> Iterator[tuple[Leaf, Leaf]]:
    """Each stored leaf of the target with that of the source; static parts have none."""
    olds, news = iter(leaves_of(source, types)), iter(leaves_of(target, types))
    for have, want in zip(leaves(types[source]), leaves(types[target]), strict=True):
        old = next(olds) if isinstance(have, Tensor | Weak) else None
        new = next(news) if isinstance(want, Tensor | Weak) else None
        if old and new:
            yield new, old


def _assumed(region: regions.Region, types: Mapping[str, Type]) -> Step:
    """For code that was read as text: each leaf that an operation sets is computed from all that it reads."""
    whole = Step({}, {})
    for op in region.ops:
        inputs = frozenset(leaf for v in op.inputs if v in types for leaf in leaves_of(v, types))
        outputs = [leaf for v in op.outputs if v in types for leaf in leaves_of(v, types)]
        pairs = {}
        if op.function in (ir.COPY, ir.copies(len(op.inputs))):
            pairs = dict(p for new, old in zip(op.outputs, op.inputs, strict=True) for p in _moved(old, new, types))
        sources = {leaf: frozenset({pairs[leaf]}) if leaf in pairs else inputs for leaf in outputs}
        copies = {new: old for new, old in pairs.items() if leaf_type(new, types) == leaf_type(old, types)}
        whole = whole.followed_by(Step(sources, copies, work=((),)))
    return whole


def _computed(region: regions.Region, typed: TypedStackProgram) -> Step:
    found = traced(region, typed.types, typed.shared, typed.traces)
    # Not what the region itself has changed since, under another name: nobody reads it.
    known = [v for v in region.assigned if v in typed.types and not opaque(typed.types[v])]
    kept = [v for v in known if found.still_is(v, typed.types)]
    outputs = {(v, k): leaf for v in kept for k, leaf in enumerate(found.stored(v, typed.types))}
    checked = [t for outcome in found.outcomes for t in (outcome.passed, *outcome.leaves) if tf.is_tensor(t)]
    origins = _origins(found.graph.get_operations(), found.inputs)

    def origin(tensor: tf.Tensor) -> frozenset[Leaf]:
        return frozenset() if hasattr(tensor, "numpy") else origins[tensor.op.name]  # a constant is eager

    by_tensor = {tensor.ref(): leaf for leaf, tensor in found.inputs.items()}
    sources = {leaf: by_tensor.get(tensor.ref()) for leaf, tensor in outputs.items()}
    return Step(
        sources={leaf: origin(tensor) for leaf, tensor in outputs.items()},
        copies={
            leaf: old
            for leaf, old in sources.items()
            if old is not None and leaf_type(leaf, typed.types) == leaf_type(old, typed.types)
        },
        needs=frozenset().union(*map(origin, checked)),
        work=found.work,
        lanes=lanes_of(region.ops[0]) if region.kind == "batch" else 1,
    )


def _origins(operations: Sequence[tf.Operation], inputs: Mapping[Leaf, tf.Tensor]) -> dict[str, frozenset[Leaf]]:
    """For each operation, by name, the leaves that it is computed from; a graph lists operations after their inputs."""
    origins = {tensor.op.name: frozenset({leaf}) for leaf, tensor in inputs.items()}
    for operation in operations:
        if operation.name not in origins:
            origins[operation.name] = frozenset().union(*(origins[t.op.name] for t in operation.inputs))
    return origins
