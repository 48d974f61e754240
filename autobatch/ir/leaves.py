"""The leaves of variables, and what the parts of a block do to them.

A variable may be a structure of tensors, and a program that hands structures around reads some of their leaves and
copies most.  Liveness and the allocation of registers therefore look at leaves.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import tensorflow as tf

from autobatch.ir.types import Tensor, Type, Weak, dynamic

Leaf = tuple[str, int]  # a variable, and the position of one of its stored leaves


def leaves_of(variable: str, types: Mapping[str, Type]) -> list[Leaf]:
    return [(variable, k) for k in range(len(dynamic(types[variable])))]


def leaf_type(leaf: Leaf, types: Mapping[str, Type]) -> Tensor | Weak:
    return dynamic(types[leaf[0]])[leaf[1]]


def leaf_name(leaf: Leaf) -> str:
    """The variable; with the number of the leaf, if it is not the first."""
    return f"{leaf[0]}/{leaf[1]}" if leaf[1] else leaf[0]


@dataclass(frozen=True)
class Step:
    """One part of a block: a region, a Push or a Pop.

    sources: what each leaf that it sets is computed from; copies: those of them that are another leaf as it is;
    needs: the leaves that it reads in any case; saves, restores: what it moves to and from stacks, where anything
    reads what is restored; work: the TensorFlow operations that each of its primitives takes, for ``lanes`` lanes.
    """

    sources: Mapping[Leaf, frozenset[Leaf]]
    copies: Mapping[Leaf, Leaf]
    needs: frozenset[Leaf] = frozenset()
    saves: frozenset[Leaf] = frozenset()
    restores: frozenset[Leaf] = frozenset()
    work: tuple[tuple[tf.Operation, ...], ...] = ()
    lanes: int = 1

    @property
    def operations(self) -> tuple[tf.Operation, ...]:
        return sum(self.work, ())

    def followed_by(self, other: Step) -> Step:
        """Both as one, of two regions of single members."""

        def before(leaves: frozenset[Leaf]) -> frozenset[Leaf]:
            return frozenset().union(*(self.sources.get(leaf, {leaf}) for leaf in leaves))

        def copied(leaf: Leaf) -> Leaf | None:
            return self.copies.get(leaf) if leaf in self.sources else leaf

        overwritten = other.sources.keys()
        kept = {leaf: old for leaf, old in self.copies.items() if leaf not in overwritten}
        new = {leaf: found for leaf, old in other.copies.items() if (found := copied(old)) is not None}
        return Step(
            sources={**self.sources, **{leaf: before(read) for leaf, read in other.sources.items()}},
            copies={**kept, **new},
            needs=self.needs | before(other.needs),
            work=(*self.work, *other.work),
        )
