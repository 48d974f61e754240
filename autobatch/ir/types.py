"""The types that variables have, and how two of them join.

A type is a ``tf.nest`` structure whose leaves are

    Static(value)        the same Python value for every member, known when lowering
    Shared(index, leaf)  the same tensor for every member: part ``index`` of the shared arguments
    Weak(kind)           a Python number that differs between members; adopts the dtype that it meets
    Tensor(dtype, shape) one tensor per member
    Opaque(description)  any other Python object: fine within straight-line code, nowhere else
    Absent()             nothing, where a flag or an unset attribute says so; joins with whatever is there else

Only Weak and Tensor leaves are stored per member ("dynamic" leaves).  Of texts, bytes and members of an enum that are
not the same on all paths, the type is a ``OneOf``: a structure that has a number for each member.
"""

from __future__ import annotations

import dataclasses
import re
import types as python_types
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import tensorflow as tf

from autobatch import context
from autobatch.errors import TypeMismatchError
from autobatch.language.keys import key
from autobatch.language.lists import GROWTH, MemberList
from autobatch.language.objects import ABSENT, Absent, MemberObject, described
from autobatch.language.one_of import NumberHere, OneOf, captures_members, is_any, is_known, named, options_of
from autobatch.language.structs import map_nodes
from autobatch.language.values import (
    DEFAULT_DTYPES,
    WIDE_DTYPES,
    WeakScalar,
    adopts,
    fits,
    is_near,
    is_tensor,
    python_kind,
)


@dataclass(frozen=True)
class Tensor:
    dtype: tf.DType
    shape: tuple[int, ...]

    def __str__(self) -> str:
        return f"{self.dtype.name}{list(self.shape)}"


@dataclass(frozen=True)
class Weak:
    kind: type
    near: bool = False  # an int that is a counter (see WeakScalar)

    shape = ()

    @property
    def dtype(self) -> tf.DType:
        return WIDE_DTYPES[self.kind]  # as precise as Python

    def __str__(self) -> str:
        return f"Python {self.kind.__name__}"


@dataclass(frozen=True, eq=False)
class Static:
    value: Any

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Static) and (self.value is other.value or key(self.value) == key(other.value))

    def __hash__(self) -> int:
        return hash(type(self.value))

    def __str__(self) -> str:
        if isinstance(self.value, type | python_types.FunctionType | python_types.BuiltinFunctionType):
            return f"the function {self.value.__qualname__}"
        return named(self.value)


@dataclass(frozen=True)
class Shared:
    index: int
    leaf: Tensor | Weak

    def __str__(self) -> str:
        return f"shared {self.leaf}"


@dataclass(frozen=True)
class Opaque:
    description: str
    help: str = ""  # what would make it live across a branch

    def __str__(self) -> str:
        return self.description


Leaf = Tensor | Weak | Static | Shared | Opaque | Absent
Type = Any  # a tf.nest structure of leaves

_STATIC = (
    bool, int, float, complex, str, bytes, type(None), tf.DType, type,
    python_types.FunctionType, python_types.BuiltinFunctionType, python_types.ModuleType,
)  # fmt: skip


class JoinError(Exception):
    """Two types have no common type; the argument says why."""


class TooManyError(JoinError):
    """One of several would be one of too many."""


_FUNCTION_HERE = Opaque("function that uses per-member values")


def type_of(value: Any) -> Type:
    """The type of a value that user code computed while it was traced."""
    try:
        return tf.nest.map_structure(_leaf_type, value)
    except TypeError:  # tf.nest sorts keys
        return Opaque("dict of keys that have no order", "use numbers or texts as keys.")
    except ValueError:  # or makes no other of its class
        return Opaque(f"{type(value).__module__}.{type(value).__qualname__} object")


def _leaf_type(value: Any) -> Leaf:
    if value is ABSENT:
        return ABSENT
    if isinstance(value, NumberHere):
        return _FUNCTION_HERE
    if isinstance(value, WeakScalar):
        return Weak(value.kind, value.near)
    if isinstance(value, np.float64):  # also a Python float
        value = float(value)
    if isinstance(value, np.ndarray | np.generic):
        value = tf.convert_to_tensor(value)  # type: ignore[arg-type]
    if is_tensor(value):
        if not value.shape.is_fully_defined():
            return Opaque(f"tensor of unknown shape {value.shape}")
        return Tensor(value.dtype.base_dtype, static_shape(value.shape))
    if isinstance(value, python_types.FunctionType) and captures_members(value):
        return _FUNCTION_HERE
    if isinstance(getattr(value, "__self__", None), list | dict | set):
        return Opaque(f"method of a {type(value.__self__).__name__}")  # which would act on another copy of it
    if isinstance(value, _STATIC) or is_known(value) or getattr(type(value), "__autobatch_static__", False):
        return Static(value)
    help = "decorate its class with @ab.struct." if dataclasses.is_dataclass(value) else ""
    if isinstance(value, tf.TensorArray):
        help = "fill a tensor: x = tf.zeros([n]), then x[i] = v."
    return Opaque(f"{type(value).__module__}.{type(value).__qualname__} object", help)


def static_shape(shape: tf.TensorShape) -> tuple[int, ...]:
    return tuple(int(size) for size in shape)  # type: ignore[arg-type]


def leaves(type_: Type) -> list[Leaf]:
    return tf.nest.flatten(type_)


def dynamic(type_: Type) -> list[Tensor | Weak]:
    """The leaves that are stored per member, in ``tf.nest`` order."""
    return [leaf for leaf in leaves(type_) if isinstance(leaf, Tensor | Weak)]


def opaque(type_: Type) -> Opaque | None:
    return next((leaf for leaf in leaves(type_) if isinstance(leaf, Opaque)), None)


def leaf_names(variable: str, type_: Type) -> list[str]:
    """The dynamic leaves, in order, as one would write them: ``q``, ``state.q``, ``pair[0]``."""
    match type_:
        case Tensor() | Weak():
            return [variable]
        case Static() | Shared() | Opaque() | Absent():
            return []
        case dict():
            parts = {f"{variable}[{key!r}]": type_[key] for key in sorted(type_)}
        case tuple() if hasattr(type_, "_fields"):
            parts = {f"{variable}.{name}": getattr(type_, name) for name in type_._fields}
        case tuple() | list():
            parts = {f"{variable}[{k}]": part for k, part in enumerate(type_)}
        case MemberList():
            parts = {f"{variable}[...]": type_.columns, f"len({variable})": type_.length}
        case OneOf():
            return leaf_names(variable, type_.number)
        case MemberObject():
            parts = {f"{variable}.{name}": getattr(type_, name) for name in type_.__tf_flatten__()[0]}  # type: ignore[attr-defined]
        case _:
            parts = {f"{variable}.{field.name}": getattr(type_, field.name) for field in dataclasses.fields(type_)}
    return [leaf for name, part in parts.items() for leaf in leaf_names(name, part)]


def describe(type_: Type) -> str:
    type_ = map_nodes(MemberList, lambda t: Opaque(f"list_of({t.capacity}, {describe(_item_type(t))})"), type_)
    type_ = map_nodes(MemberObject, lambda t: Opaque(described(t, describe)), type_)
    type_ = map_nodes(OneOf, lambda t: Opaque(f"one_of({', '.join(map(named, t.options))})"), type_)
    texts = [*map(str, leaves(type_))]
    if len(texts) == 1 and not tf.nest.is_nested(type_):
        return texts[0]
    places = tf.nest.pack_sequence_as(type_, [f"@{k}@" for k in range(len(texts))])  # as structures quote texts
    return re.sub(r"@(\d+)@", lambda match: texts[int(match[1])], str(places).replace("'", ""))


def same(left: Type, right: Type) -> bool:
    return structure(left) == structure(right) and leaves(left) == leaves(right)


def structure(type_: Type) -> Any:
    """What a type is but for its leaves: which containers, with which names in which order."""
    match type_:
        case Tensor() | Weak() | Static() | Shared() | Opaque() | Absent():
            return None
        case Mapping():
            return (type(type_), *((key(name), structure(part)) for name, part in type_.items()))
        case _ if hasattr(type_, "__tf_flatten__"):
            metadata, parts = type_.__tf_flatten__()
            return (type(type_), key(metadata), *map(structure, parts))
        case Sequence():
            return (type(type_), *map(structure, type_))
        case _:
            return type(type_)


class Exact:
    """A type as a dictionary key."""

    def __init__(self, type_: Type):
        self.type = type_

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Exact) and same(self.type, other.type)

    def __hash__(self) -> int:
        return hash(tuple(leaves(self.type)))

    def __repr__(self) -> str:
        return describe(self.type)


def join(left: Type, right: Type, of_leaves: Callable[[Leaf, Leaf], Leaf] | None = None) -> Type:
    """The least type that covers both; of unlike lists, one of any length.  Raises JoinError if there is none."""
    if isinstance(left, Absent) or isinstance(right, Absent):
        return tf.nest.map_structure(_of_members, right if isinstance(left, Absent) else left)
    left, right = _with_lists(left, right)
    try:
        tf.nest.assert_same_structure(left, right)
    except (ValueError, TypeError) as error:
        raise JoinError(f"{describe(left)} here, {describe(right)} there") from error
    if structure(left) != structure(right):
        raise JoinError("a dict with its keys in another order, or another class of the same name")
    return tf.nest.map_structure(of_leaves or _join_leaves, left, right)


def _of_members(leaf: Leaf) -> Leaf:
    """What holds this for each member, some of whom may have something else."""
    return leaf.leaf if isinstance(leaf, Shared) else leaf


def _with_lists(left: Type, right: Type) -> tuple[Type, Type]:
    """Both, with lists of any length in place of those whose lengths are unlike."""
    if isinstance(left, Absent) or isinstance(right, Absent):  # an attribute before it is set
        return (tf.nest.map_structure(_of_members, right if isinstance(left, Absent) else left),) * 2
    values = [side.value if isinstance(side, Static) else side for side in (left, right)]
    if is_any(*values) and left != right:
        both = _one_of(*values)
        return both, both
    if isinstance(left, list | MemberList) and isinstance(right, list | MemberList):
        if isinstance(left, list) and isinstance(right, list) and len(left) == len(right):
            pairs = [_with_lists(a, b) for a, b in zip(left, right, strict=True)]
            return [a for a, _ in pairs], [b for _, b in pairs]
        return (list_of([left, right]),) * 2
    if type(left) is not type(right) or not tf.nest.is_nested(left):
        return left, right
    if isinstance(left, dict) and [*left] == [*right]:
        both = {name: _with_lists(left[name], right[name]) for name in left}
        return {name: a for name, (a, _) in both.items()}, {name: b for name, (_, b) in both.items()}
    if isinstance(left, tuple) and len(left) == len(right):
        pairs = [_with_lists(a, b) for a, b in zip(left, right, strict=True)]
        made = type(left)._make if hasattr(left, "_fields") else tuple  # type: ignore[attr-defined]
        return made([a for a, _ in pairs]), made([b for _, b in pairs])
    if hasattr(left, "__tf_flatten__"):
        (metadata, a), (other, b) = left.__tf_flatten__(), right.__tf_flatten__()
        if len(a) == len(b) and key(metadata) == key(other):
            x, y = _with_lists(a, b)
            return type(left).__tf_unflatten__(metadata, x), type(left).__tf_unflatten__(metadata, y)
    return left, right


def _one_of(left: Any, right: Any) -> OneOf:
    try:
        return OneOf(options_of(left, right), Weak(int, near=True))
    except TypeMismatchError as error:
        raise TooManyError(str(error)) from None


def parted(old: Type, new: Type) -> bool:
    """Whether the new type, joined from the old one, has one of several where that has a known value."""
    return any(isinstance(leaf, Static) and is_known(leaf.value) and leaf != other
               for leaf, other in zip(leaves(old), leaves(new), strict=False))  # fmt: skip


def unlike_numbers(old: Type, new: Type) -> bool:
    """Whether a number is of one kind of Python's here, and of another there."""
    kinds = [[_number(leaf) for leaf in leaves(each)] for each in (old, new)]
    return any(a is not b and None not in (a, b) for a, b in zip(*kinds, strict=False))


def _number(leaf: Leaf) -> type | None:
    """Of which kind of Python's a number is; None for what is no scalar."""
    if isinstance(leaf, Static):
        return python_kind(leaf.value)
    return _kind(leaf) if isinstance(leaf, Weak) or (isinstance(leaf, Tensor) and leaf.shape == ()) else None


def options_in(type_: Type) -> int:
    """Of how many values the parts are that are one of several."""
    count = 0

    def add(node: OneOf | MemberList) -> OneOf | MemberList:
        nonlocal count
        count += len(node.options) if isinstance(node, OneOf) else options_in(node.kinds)
        return node

    map_nodes(OneOf, add, type_)
    map_nodes(MemberList, add, type_)
    return count


def list_of(lists: Sequence[Any], capacity: int = 0) -> Type:
    """The type of a list of any length that can be any of these, with this capacity at least."""
    items: list[Type] = []
    if not capacity and any(isinstance(type_, list) for type_ in lists):
        capacity = context.list_capacity()
    for type_ in lists:
        if isinstance(type_, MemberList):
            capacity = max(capacity, type_.capacity)
            found = [_item_type(type_)] if type_.columns else []
        else:
            found = [_listed(item) for item in type_]
            while capacity < len(type_):
                capacity *= GROWTH
        for item in found:
            items[:] = [join(items[0], item, _join_in_list) if items else item]
    kinds = tf.nest.map_structure(lambda leaf: leaf.kind if isinstance(leaf, Weak) else None, items[0] if items else ())
    columns = (Tensor(leaf.dtype, (capacity, *leaf.shape)) for item in items for leaf in leaves(item))
    return MemberList(kinds, tuple(columns), Weak(int, near=True))


def _listed(item: Type) -> Type:
    """The type of a known list's item in one of any length."""
    if isinstance(item, list):
        return _listed(list_of([item]))
    if isinstance(item, dict):
        return {name: _listed(part) for name, part in item.items()}
    if isinstance(item, tuple):
        parts = [_listed(part) for part in item]
        return type(item)(*parts) if hasattr(item, "_fields") else tuple(parts)
    if isinstance(item, MemberObject):
        names, held = item.__tf_flatten__()  # type: ignore[attr-defined]
        return type(item).__tf_unflatten__(names, _listed(held))  # type: ignore[attr-defined]
    return tf.nest.map_structure(_in_list, item)


def _in_list(leaf: Leaf) -> Tensor | Weak | OneOf:
    if isinstance(leaf, Static) and is_known(leaf.value):
        return _one_of(leaf.value, leaf.value)
    stored = _stored(leaf)
    if not isinstance(stored, Tensor | Weak):
        raise JoinError(f"a list of any length cannot hold {leaf}")
    return Weak(stored.kind) if isinstance(stored, Weak) else stored


def _item_type(type_: MemberList) -> Type:
    pairs = zip(tf.nest.flatten(type_.kinds), type_.columns, strict=True)
    made = [Weak(kind) if kind else Tensor(column.dtype, column.shape[1:]) for kind, column in pairs]
    return tf.nest.pack_sequence_as(type_.kinds, made)


def _join_in_list(left: Any, right: Any) -> Leaf:
    """As values of one column meet: of tensors and Python's numbers, but for floats, numbers."""
    scalars = left.shape == right.shape == ()
    if left == right or not scalars:
        return _join_leaves(left, right)
    floats = [leaf for leaf in (left, right) if isinstance(leaf, Tensor) and leaf.dtype.is_floating]
    weak = [leaf for leaf in (left, right) if isinstance(leaf, Weak)]
    if len(floats) == 1 and len(weak) == 1 and weak[0].kind is not bool:
        return floats[0]
    return Weak(max((_kind(left), _kind(right)), key=(bool, int, float).index))


def _kind(leaf: Any) -> type:
    return bool if leaf.dtype.is_bool else float if leaf.dtype.is_floating else int


def _join_leaves(left: Leaf, right: Leaf) -> Leaf:
    if left == right:
        return left
    for leaf in (left, right):
        if isinstance(leaf, Opaque):
            return leaf
    a, b = _stored(left), _stored(right)
    if isinstance(a, Weak) and isinstance(b, Weak):
        if a.kind == b.kind:
            return Weak(a.kind, a.near and b.near)
        if bool not in (a.kind, b.kind):
            return Weak(float)
    elif isinstance(a, Tensor) and isinstance(b, Tensor):
        if a == b:
            return a
        if a.shape == b.shape == () and tf.float64 in (a.dtype, b.dtype) and (a.dtype.is_integer or b.dtype.is_integer):
            return Weak(float)  # both are numbers of Python's
    elif isinstance(a, Tensor | Weak) and isinstance(b, Tensor | Weak):
        weak, tensor = (a, b) if isinstance(a, Weak) else (b, a)
        assert isinstance(weak, Weak)
        if tensor.shape == () and adopts(weak.kind, tensor.dtype):
            for leaf in (left, right):
                if isinstance(leaf, Static) and not fits(leaf.value, tensor.dtype):
                    raise JoinError(f"{leaf.value}, which does not fit {tensor.dtype.name}, on one path")
            return tensor
        if tensor.shape == () and weak.kind is float and tensor.dtype.is_integer:
            return weak  # a member's integer is a number of Python's
    raise JoinError(f"{left} here, {right} there")


def _stored(leaf: Leaf) -> Leaf:
    """The dynamic leaf that can hold this one, if there is one."""
    if isinstance(leaf, Shared):
        return leaf.leaf
    if isinstance(leaf, Static) and type(leaf.value) in DEFAULT_DTYPES:
        if not fits(leaf.value, tf.int64):
            raise JoinError(f"{leaf.value}, an int beyond 64 bits, on one path")
        return Weak(type(leaf.value), is_near(leaf.value))
    return leaf
