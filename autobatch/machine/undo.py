"""One step of a machine backwards: from the cotangents of what a block sets to those of what it reads."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import tensorflow as tf

from autobatch import ir
from autobatch.ir import regions
from autobatch.ir.adjoint import AdjointProgram, PartAdjoint, Source
from autobatch.ir.leaves import Leaf, leaf_type, leaves_of
from autobatch.ir.representation import coerce
from autobatch.machine.blocks import State, apart, stack_key
from autobatch.machine.chosen import Chosen
from autobatch.tracing.converters import our_converters
from autobatch.tracing.cotangents import Cotangents
from autobatch.tracing.member import traced
from autobatch.tracing.pullback import Pullback, pullback
from autobatch.tracing.vectorize import Environment, quiet, run_region, vectorization_error, write_items


@dataclass(eq=False)
class Undo:
    """A step of block ``i``, for the ``lanes`` [Z] that took it.

    Attributes:
      held: the leaves that the block reads, as they were, if a pullback needs them; [Z, ...] each.
      taped: likewise those that it restores.
      depth: [Z], how many frames each lane had saved; None if no stack has cotangents.
      stacks: the cotangents of the stacks, by their keys in the state.
      place: as for ``run_region``.
      variables: by the ids of variables' handles, what the variables held.
      cotangents: of the leaves, at the place in the block to which it has been undone.
      others: of what all members share.
    """

    adjoint: AdjointProgram
    i: int
    lanes: tf.Tensor
    held: Mapping[Leaf, tf.Tensor]
    taped: Mapping[Leaf, tf.Tensor]
    depth: tf.Tensor | None
    stacks: State
    shared: Sequence[tf.Tensor]
    place: tf.Tensor
    variables: Mapping[int, tf.Tensor]
    cotangents: dict[Leaf, tf.Tensor]
    others: dict[Source, tf.Tensor] = field(default_factory=dict)

    def run(self) -> None:
        """Through the whole block; changes ``cotangents``, ``stacks`` and ``others``."""
        parts, envs = self.adjoint.blocks[self.i].parts, self._again()
        for k in reversed(range(len(parts))):
            part, made = self._parts[k], parts[k]
            known = {leaf: self.cotangents[leaf] for leaf in made.outputs if leaf in self.cotangents}
            given = self._given(part, made, envs[k], known) if known else {}
            if isinstance(part, ir.Pop):
                self._onto_stacks(made)
            for leaf in self._assigned(k):
                self.cotangents.pop(leaf, None)
            if isinstance(part, ir.Push):
                self.cotangents |= self._off_stacks(made)
            for (kind, at), cotangent in given.items():
                _add(*((self.cotangents, at) if kind == "leaf" else (self.others, (kind, at))), cotangent)

    @cached_property
    def _parts(self) -> list[regions.Region | ir.Op]:
        return regions.regions(self.adjoint.stored.program.blocks[self.i].ops)

    def _assigned(self, k: int) -> Sequence[Leaf]:
        return list(self.adjoint.stored.blocks[self.i].steps[k].sources)

    @property
    def _size(self) -> Any:
        return self.lanes.shape[0]

    # What the block knew ------------------------------------------------------------------------

    def _again(self) -> list[Environment]:
        """Before each of its parts, as far as pullbacks need it; zeros in lanes that did not take the step."""
        choose = Chosen(self.lanes)
        env = self._variables({leaf: choose(value) for leaf, value in self.held.items()})
        envs = []
        for part, made in zip(self._parts, self.adjoint.blocks[self.i].parts, strict=True):
            envs.append(env)
            if made.computes or made.taped:
                env = env | self._computed(part, made, env, choose)
        return envs

    def _computed(
        self, part: regions.Region | ir.Op, made: PartAdjoint, env: Environment, choose: Chosen
    ) -> Environment:
        stored, wanted = self.adjoint.stored, sorted({v for v, _ in made.computes})
        match part:
            case regions.Region():
                env = self._complete(env, part.inputs)
                return run_region(
                    part, env, stored.types, wanted, self.shared, self._size, stored.typed, self.place, self.variables
                )
            case ir.Push((target,), _, (source,)):
                leaves = self._complete(env, [source])[source]
                return {target: coerce(stored.types[source], stored.types[target], leaves, self.shared, self._size)}
            case _:
                return self._variables({leaf: choose(self.taped[leaf]) for leaf in made.taped})

    def _variables(self, known: Mapping[Leaf, tf.Tensor]) -> Environment:
        """The variables with these leaves; their others are zero."""
        names = {v for v, _ in known}
        return {v: [known.get(leaf, self._zeros(leaf)) for leaf in leaves_of(v, self._types)] for v in names}

    def _complete(self, env: Environment, read: Sequence[str]) -> Environment:
        """With zeros for what a part reads and no pullback needs."""
        return {v: [self._zeros(leaf) for leaf in leaves_of(v, self._types)] for v in read if v not in env} | env

    def _zeros(self, leaf: Leaf) -> tf.Tensor:
        type_ = leaf_type(leaf, self._types)
        return tf.zeros([self._size, *type_.shape], type_.dtype)

    @property
    def _types(self) -> Mapping:
        return self.adjoint.stored.types

    # Cotangents ---------------------------------------------------------------------------------

    def _given(
        self, part: regions.Region | ir.Op, made: PartAdjoint, env: Environment, known: dict[Leaf, tf.Tensor]
    ) -> dict[Source, tf.Tensor]:
        """The cotangents of what the part reads."""
        match part:
            case ir.Push():
                return self._moved(made, known)
            case regions.Region(kind="write"):
                return self._unwritten(part.ops[0], made, self._complete(env, part.inputs), known)
            case _:
                assert isinstance(part, regions.Region)
                env = self._complete(env, part.inputs)
                inputs = [leaf for v in part.inputs for leaf in env.get(v, [])]
                whole = {leaf: known.get(leaf, self._zeros(leaf)) for leaf in made.outputs}
                found = made.pullback
                if part.kind == "batch":
                    inputs, found = [self._harmless(leaf) for leaf in inputs], self._of_batch(part, made)
                    whole = {leaf: Chosen(self.lanes)(cotangent) for leaf, cotangent in whole.items()}
                cotangents = Cotangents(
                    found, inputs, self.shared, self._size, self.place, self.lanes, whole, self.variables
                )
                try:
                    with quiet(), our_converters():
                        return cotangents.of_all()
                except (ValueError, NotImplementedError, TypeError) as error:
                    raise vectorization_error(error, part, "the derivative of ") from error

    def _of_batch(self, region: regions.Region, made: PartAdjoint) -> Pullback:
        """The pullback of a primitive that takes the whole batch, for a batch of this size."""
        typed = self.adjoint.stored.typed
        trace = traced(region, self._types, typed.shared, typed.traces, self._size)
        tensors = {(v, k): trace.stored(v, self._types)[k] for v, k in made.outputs}
        return pullback(trace, tensors, made.sources, region.ops[0].location, is_whole=True)

    def _harmless(self, leaf: tf.Tensor) -> tf.Tensor:
        """With a copy of an active lane's data in idle lanes, whose own could bring forth what is no number."""
        active = tf.argmax(self.lanes, output_type=tf.int32)
        return tf.gather(leaf, tf.where(self.lanes, tf.range(self._size), active))

    def _moved(self, made: PartAdjoint, known: Mapping[Leaf, tf.Tensor]) -> dict[Source, tf.Tensor]:
        """Of a Push, which copies, perhaps to another dtype, or from what all members share."""
        given: dict[Source, tf.Tensor] = {}
        assert made.moves is not None
        for leaf, cotangent in known.items():
            (kind, at) = source = made.moves[leaf]
            if source not in made.sources:
                continue
            if kind == "leaf":
                _add(given, source, tf.cast(cotangent, leaf_type(at, self._types).dtype))
            else:
                whole = self.shared[at]
                axes = [0, *range(1, cotangent.shape.rank - whole.shape.rank)]
                _add(given, source, tf.cast(tf.reduce_sum(cotangent, axes), whole.dtype))
        return given

    def _unwritten(
        self, op: ir.Assign, made: PartAdjoint, env: Environment, known: Mapping[Leaf, tf.Tensor]
    ) -> dict[Source, tf.Tensor]:
        """Of a write to some items: those go to what was written, the others to what was there."""
        (array, where, what), given = op.inputs, {}
        for (_, k), cotangent in known.items():
            indices = env[where][0]
            written = tf.gather_nd(cotangent, indices, batch_dims=1)
            if ("leaf", (array, k)) in made.sources:
                nothing = env | {what: [*env[what][:k], tf.zeros_like(written), *env[what][k + 1 :]]}
                given["leaf", (array, k)] = write_items(op, nothing, k, cotangent, self.lanes, drops=True)
            if ("leaf", (what, k)) in made.sources:
                _add(given, ("leaf", (what, k)), written)
        return given

    def _onto_stacks(self, made: PartAdjoint) -> None:
        """Undoes a Pop: what it restored gets what its reader wants of it."""
        assert self.depth is not None or not made.stacks
        for leaf in made.stacks:
            if leaf in self.cotangents:
                key, place = stack_key(leaf), self._place_on_stack()
                self.stacks[key] = tf.tensor_scatter_nd_add(self.stacks[key], place, self.cotangents[leaf])

    def _off_stacks(self, made: PartAdjoint) -> dict[Leaf, tf.Tensor]:
        """Undoes a Push: what it saved gets what has been left there, once."""
        found, choose = {}, Chosen(self.lanes)
        for leaf in made.stacks:
            key, place = stack_key(leaf), self._place_on_stack()
            # by way of what was there, or XLA clears a copy of the stack
            left = apart(tf.gather_nd(self.stacks[key], place))
            found[leaf], nothing = choose(left), choose(tf.zeros_like(left), left)
            self.stacks[key] = tf.tensor_scatter_nd_update(self.stacks[key], place, nothing)
        return found

    def _place_on_stack(self) -> tf.Tensor:
        """[Z, 2]: that of each lane; the last row, which nobody reads, for those that did not take the step."""
        assert self.depth is not None
        rows: Any = next(iter(self.stacks.values())).shape[0]
        return tf.stack([tf.where(self.lanes, self.depth, rows - 1), tf.range(self._size)], axis=1)


def _add(sums: dict, key: object, value: tf.Tensor) -> None:
    sums[key] = sums[key] + value if key in sums else value
