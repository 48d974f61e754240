"""What the values of a function's variables hold of each other, found by running its straight-line code once."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import tensorflow as tf

from autobatch import context, ir
from autobatch.ir import regions
from autobatch.ir.typed import TypedProgram
from autobatch.ir.types import Opaque, Type, opaque, same, type_of
from autobatch.language.containers import MemberObject, parts_of
from autobatch.language.lists import OUTSIDE, MemberList
from autobatch.passes.changed_arguments import is_change
from autobatch.passes.conversions import CONVERSION
from autobatch.tracing.execute import execute
from autobatch.tracing.symbolic import symbolic

Held = Mapping[str, bool]  # inputs of which an output holds the object, or a part; whether it is surely the very same
Place = tuple[int, int]  # block and operation
Views = Mapping[int, list[Any]]
FROM_OUTSIDE = "what is from outside"  # in place of a name


@dataclass(frozen=True)
class Traced:
    """What is known of a function's operations.

    Attributes:
      types: of all variables.
      held: what each primitive's outputs hold of its inputs.
      settled: the changes that Python has made in place.
      twice: what holds one list or array more than once.
      augmented: where ``x += y`` changes an array or a list.
      known: what holds arrays whose contents are known.
    """

    types: dict[str, Type]
    held: dict[Place, dict[str, Held]]
    settled: set[Place]
    twice: set[str]
    augmented: dict[Place, Augmented]
    known: set[str]


@dataclass(frozen=True)
class Augmented:
    """What is known of the array or the list at a place where ``x += y`` changes it.

    Attributes:
      held_by: the variables that are it or hold it, otherwise than by what is changed there.
      apart: those of which it is known that they do not.
      is_list: whether it is no array.
    """

    held_by: frozenset[str]
    apart: frozenset[str]
    is_list: bool


def traced(function: ir.Function, typed: TypedProgram) -> Traced:
    traced = Traced(dict(typed.of(function.name)), {}, set(), set(), {}, set())
    for i, block in enumerate(function.blocks):
        k = 0
        for part in regions.regions(block.ops):
            ops = part.ops if isinstance(part, regions.Region) else (part,)
            if isinstance(part, regions.Region) and part.kind == "member":
                _trace(part, (i, k), function.name, typed, traced)
            k += len(ops)
    return traced


def _trace(region: regions.Region, at: Place, function: str, typed: TypedProgram, found: Traced) -> None:
    """Adds what is known of a region that begins at this place."""
    inputs = {v: typed.types[function, v] for v in region.inputs}
    with tf.__internal__.FuncGraph("autobatch_aliases").as_default(), context.collected_views() as views:
        env = symbolic(region, inputs, typed.shared)
        start = {v: _reach(env[v], views) for v in region.inputs}
        for k, op in enumerate(region.ops):
            given = {v: env[v] for v in op.inputs}
            before = [*map(id, _objects(given[op.inputs[0]]))] if is_change(op) else []
            owners, inside = _owners(given), {v: {*map(id, _objects(value))} for v, value in given.items()}
            place = at[0], at[1] + k
            note = partial(_note_augmented, op=op, place=place, env=env, start=start, views=views, found=found)
            with context.on_augmented(note), context.collected_puts() as puts:
                execute((op,), env)
            if is_change(op):  # the other names of what it changes will get the new value too
                old, new = given[op.inputs[0]], env[op.outputs[0]]
                env.update({v: new for v, value in env.items() if value is old and _is_object(old)})
            if is_change(op) and any(not inside[op.inputs[0]].isdisjoint(_reach(item, views)) for item in puts):
                found.twice.add(op.outputs[0])
            if op.function.template == CONVERSION:  # another form of the same object
                found.held[place] = {op.outputs[0]: {op.inputs[0]: True}}
            else:
                found.held[place] = {v: _held_of(env[v], given, owners, views) for v in op.outputs}
            if is_change(op):  # only what it puts there
                put = [part for part in _objects(env[op.outputs[0]]) if id(part) not in inside[op.inputs[0]]]
                found.held[place] = found.held[place] | {op.outputs[0]: _held_of(put, given, owners, views)}
            for v, value in given.items():  # what a method has put into a container: d.update(k=xs)
                if v not in op.outputs and not is_change(op) and not inside[v].issuperset(map(id, _objects(value))):
                    found.held[place] = found.held[place] | {v: {**_held_of(value, given, owners, views), v: True}}
                    found.types[v] = type_of(value)
            found.types.update({v: type_of(env[v]) for v in op.outputs if v not in found.types})
            found.known.update(v for v in op.outputs if any(map(_is_known, _objects(env[v]))))
            found.twice.update(v for v in op.outputs if _holds_twice(env[v]) or _by_two_ways(env[v], given, views))
            if is_change(op) and env[op.outputs[0]] is given[op.inputs[0]]:
                deep = op.function.changes > 1 and before != [*map(id, _objects(env[op.outputs[0]]))]
                others = env.keys() & typed.of(function).keys() - {*op.outputs, *op.inputs}
                foreseen = all(same(type_of(env[v]), typed.types[function, v]) for v in others)
                found.settled.update([place] if foreseen and not deep else [])


def _note_augmented(
    old: Any,
    op: ir.Assign,
    place: Place,
    env: Mapping[str, Any],
    start: Mapping[str, set[int]],
    views: Views,
    found: Traced,
) -> None:
    """Adds what is known of an array or a list that this operation is about to change."""
    here, changed = _reach(old, views), set[int]()
    if is_change(op):  # who holds what it changes is looked at anyway
        whole = env[op.inputs[0]]
        changed = {id(each) for each in _objects(whole) if any(part is old for part in _parts(each))}
        wholes = views.get(id(old), [])
        lists = [each for each in wholes if not isinstance(each, tf.Tensor | np.ndarray)]
        wholes = lists or wholes  # of an item of an array, the array
        changed |= {id(each) for each in wholes} & _reach(whole, views)
    values = {v: value for v, value in env.items() if not v.startswith("(")}
    held_by = {v for v, value in values.items() if not here.isdisjoint(_reach(value, views, changed))}
    sources = {v for v in start if not here.isdisjoint(start[v])}
    # What comes from the same inputs, or was made here, is told apart by its identity.
    others = set[int]().union(*(start[v] for v in start if v not in sources))
    apart = {v for v, value in values.items() if v not in held_by and others.isdisjoint(_reach(value, views))}
    before = found.augmented.get(place, Augmented(frozenset(), frozenset(values), is_list=False))
    is_list = isinstance(old, dict | list | set | MemberList)
    found.augmented[place] = Augmented(before.held_by | held_by, before.apart & apart, is_list)


def _is_known(part: Any) -> bool:
    return isinstance(part, np.ndarray) or (isinstance(part, tf.Tensor) and hasattr(part, "numpy"))


def _reach(value: Any, views: Views, without: Collection[int] = ()) -> set[int]:
    """The identities of what a value holds, and of what that is a part of; not by way of some containers."""
    found: set[int] = set()

    def reach(part: Any) -> None:
        if id(part) in without or id(part) in found:
            return
        if _is_object(part):
            found.update((id(part), id(_root(part))))
        for whole in views.get(id(part), ()):
            found.add(id(whole))
            reach(whole)
        for inner in _parts(part):
            reach(inner)

    reach(value)
    return found


def _parts(value: Any) -> Iterable[Any]:
    if isinstance(value, dict | list | tuple | MemberObject):
        return parts_of(value)
    return tf.nest.flatten(value) if tf.nest.is_nested(value) else ()


def _is_object(value: Any) -> bool:
    """Whether this is an array or a container, and not a number."""
    if isinstance(value, tf.Tensor):
        return value.shape.rank != 0
    return isinstance(value, np.ndarray | list | dict | MemberList | MemberObject)


def _objects(value: Any) -> Iterator[Any]:
    """The arrays and containers that a value holds, itself among them."""
    if _is_object(value):
        yield value
    if isinstance(value, dict | list | tuple | MemberObject):
        for part in parts_of(value):
            yield from _objects(part)
    elif tf.nest.is_nested(value):
        for leaf in tf.nest.flatten(value):
            yield from _objects(leaf)


def _holds_twice(value: Any) -> bool:
    inside = [*map(id, _objects(value))]
    return len({*inside}) < len(inside)


def _by_two_ways(value: Any, inputs: Mapping[str, Any], views: Mapping[int, list[Any]]) -> bool:
    """Whether a list that was made here has its items from one and the same input by more than one way."""
    own = {id(given) for given in inputs.values() if isinstance(given, list | MemberList)}
    twice = False

    def reached(part: Any) -> set[int]:
        nonlocal twice
        if id(part) in own:
            return {id(part)}
        ways = [reached(whole) for whole in views.get(id(part), [])]
        ways.append(set[int]().union(*(reached(inner) for inner in _objects(part) if inner is not part)))
        found = set[int]()
        for way in ways:
            twice |= not found.isdisjoint(way)
            found |= way
        return found

    reached(value)
    return twice and isinstance(value, MemberList)


def _owners(inputs: Mapping[str, Any]) -> dict[int, set[str]]:
    """By identity, of which inputs an object is a part; to be asked before an operation takes some out."""
    owners: dict[int, set[str]] = {}
    for v, given in inputs.items():
        for part in _objects(given):
            owners.setdefault(id(_root(part)), set()).add(v)
    return owners


def _held_of(
    value: Any, inputs: Mapping[str, Any], owners: Mapping[int, set[str]], views: Mapping[int, list[Any]]
) -> Held:
    # An object or a function may keep whatever it got, and return it.
    keepers = [v for v, given in inputs.items() if opaque(type_of(given))] if [*_objects(value)] else []
    held = dict.fromkeys(inputs if opaque(type_of(value)) else keepers, False)
    for whole in _objects(value):
        pending, seen = [whole], set()
        while pending:
            part = pending.pop()
            if not _is_object(part):
                pending += _objects(part)
                continue
            if id(part) in seen:
                continue
            seen.add(id(part))
            if part is OUTSIDE:
                held[FROM_OUTSIDE] = False
            for v in owners.get(id(_root(part)), ()):
                held[v] = held.get(v, False) or (part is value and inputs[v] is value)
            pending += views.get(id(part), [])
            pending += [inner for inner in _objects(part) if inner is not part]
    return held


def _root(part: Any) -> Any:
    """The array that has the items of a view of NumPy's."""
    while isinstance(part, np.ndarray) and part.base is not None:
        part = part.base
    return part


def holds_objects(type_: Type) -> bool:
    """Whether this is a container of what can be changed in place."""
    if isinstance(type_, MemberList):
        return tf.nest.is_nested(type_.kinds) or any(len(column.shape) > 1 for column in type_.columns)
    parts = parts_of(type_) if isinstance(type_, dict | list | tuple | MemberObject) else ()
    return any(tf.nest.is_nested(part) or getattr(part, "shape", ()) or isinstance(part, Opaque) for part in parts)


def lists_deep(type_: Type) -> float:
    """How many lists are in one another, at most."""
    if isinstance(type_, MemberList):
        return 1 + lists_deep(type_.kinds) if type_.columns else math.inf
    if isinstance(type_, Opaque) or type_ == []:
        return math.inf
    if not tf.nest.is_nested(type_):
        return 0
    parts = type_.values() if isinstance(type_, dict) else type_
    if hasattr(type_, "__tf_flatten__"):
        parts = type_.__tf_flatten__()[1]
    return isinstance(type_, list) + max(map(lists_deep, parts), default=0)


def containers(type_: Type) -> Iterator[Any]:
    yield type_
    if isinstance(type_, dict | list | tuple | MemberObject):
        for part in parts_of(type_):
            yield from containers(part)
