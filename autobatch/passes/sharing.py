"""What is known, at a place, of which names are one array or list."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from autobatch.passes.holding import Held


@dataclass(frozen=True)
class State:
    """What is known at a place; ``argument(p)`` stands for the array that the caller passed.

    Attributes:
      pairs: of names that may be one object, or parts of one.
      same: sets of names that are surely one object.
    """

    pairs: frozenset[frozenset[str]]
    same: frozenset[frozenset[str]]

    def like(self, name: str) -> frozenset[str]:
        return next((group for group in self.same if name in group), frozenset({name}))

    def partners(self, name: str) -> frozenset[str]:
        return frozenset(v for pair in self.pairs if name in pair for v in pair) | {name}

    def assigned(self, made: Mapping[str, Held]) -> State:
        """After names get values at once, each of which holds what names held before, or nothing of it."""
        like = {v: next((u for u, same in held.items() if same), None) for v, held in made.items()}
        groups = [group - {*made} | {v for v, u in like.items() if u in group} for group in self.same]
        groups += [frozenset({v}) for v, u in like.items() if u is None]
        holds = {v: frozenset[str]().union(*map(self.partners, held)) for v, held in made.items()}
        pairs = {pair for pair in self.pairs if not pair & {*made}}
        pairs |= {frozenset({v, u}) for v, held in holds.items() for u in held - {*made}}
        pairs |= {frozenset({v, u}) for v in made for u in made if v < u and holds[v] & holds[u]}
        return State(frozenset(pairs), frozenset(filter(None, groups)))

    def changed(self, old: str, new: str, items: Iterable[str], keep: set[str]) -> State:
        """After the array that ``old`` held has changed in place: ``new`` holds it, and those to ``keep`` are told."""
        group = {new, *(v for v in self.like(old) if v in keep or v.startswith(argument("")))}
        groups = {other - group - {old} for other in self.same if old not in other} | {frozenset(group)}
        inside = frozenset[str]().union(*map(self.partners, items))
        kept = {pair for pair in self.pairs if new == old or new not in pair}
        kept |= {frozenset({new, v}) for v in self.partners(old) - {new}}
        kept |= {frozenset({name, v}) for name in group for v in inside - {name}}
        return State(frozenset(kept), frozenset(filter(None, groups)))


def joined(left: State | None, right: State) -> State:
    if left is None:
        return right
    return State(left.pairs | right.pairs, frozenset(a & b for a in left.same for b in right.same if a & b))


def argument(parameter: str) -> str:
    return f"argument {parameter}"
