"""The types that variables have, and how two of them join.

A type is a ``tf.nest`` structure whose leaves are

    Static(value)        the same Python value for every member, known when lowering
    Shared(index, leaf)  the same tensor for every member: part ``index`` of the shared arguments
    Weak(kind)           a Python number that differs between members; adopts the dtype that it meets
    Tensor(dtype, shape) one tensor per member
    Opaque(description)  any other Python object: fine within straight-line code, nowhere else
    Absent()             nothing, where a flag or an unset attribute says so; joins with whatever is there else

Only Weak and Tensor leaves are stored per member ("dynamic" leaves).
"""

from __future__ import annotations

import dataclasses
import types as python_types
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import tensorflow as tf

from autobatch import context
from autobatch.language.keys import key
from autobatch.language.lists import GROWTH, MemberList, fitted, unpacked
from autobatch.language.objects import ABSENT, Absent, MemberObject, described
from autobatch.language.rounding import check_number
from autobatch.language.structs import map_nodes
from autobatch.language.values import DEFAULT_DTYPES, WIDE_DTYPES, WeakScalar, adopts, fits, is_near, is_tensor


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
        named = isinstance(self.value, type | python_types.FunctionType | python_types.BuiltinFunctionType)
        return f"the function {self.value.__qualname__}" if named else repr(self.value)


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


def type_of(value: Any) -> Type:
    """The type of a value that user code computed while it was traced."""
    try:
        return tf.nest.map_structure(_leaf_type, value)
    except TypeError:  # tf.nest sorts keys
        return Opaque("dict of keys of unlike types", "use keys of one type.")


def _leaf_type(value: Any) -> Leaf:
    if value is ABSENT:
        return ABSENT
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
    if isinstance(value, python_types.FunctionType) and _captures_members(value):
        return Opaque("function that uses per-member values")
    if isinstance(getattr(value, "__self__", None), list | dict | set):
        return Opaque(f"method of a {type(value.__self__).__name__}")  # which would act on another copy of it
    if isinstance(value, _STATIC) or getattr(type(value), "__autobatch_static__", False):
        return Static(value)
    help = "decorate its class with @ab.struct." if dataclasses.is_dataclass(value) else ""
    if isinstance(value, tf.TensorArray):
        help = "fill a tensor: x = tf.zeros([n]), then x[i] = v."
    return Opaque(f"{type(value).__module__}.{type(value).__qualname__} object", help)


def _captures_members(function: python_types.FunctionType) -> bool:
    cells = [cell.cell_contents for cell in function.__closure__ or () if cell != python_types.CellType()]
    return any(
        isinstance(leaf, WeakScalar) or (is_tensor(leaf) and not hasattr(leaf, "numpy"))
        for leaf in tf.nest.flatten(cells)
    )


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
        case MemberObject():
            parts = {f"{variable}.{name}": getattr(type_, name) for name in type_.__tf_flatten__()[0]}  # type: ignore[attr-defined]
        case _:
            parts = {f"{variable}.{field.name}": getattr(type_, field.name) for field in dataclasses.fields(type_)}
    return [leaf for name, part in parts.items() for leaf in leaf_names(name, part)]


def describe(type_: Type) -> str:
    type_ = map_nodes(MemberList, lambda t: Opaque(f"list_of({t.capacity}, {describe(_item_type(t))})"), type_)
    type_ = map_nodes(MemberObject, lambda t: Opaque(described(t, describe)), type_)
    if len(leaves(type_)) == 1 and not tf.nest.is_nested(type_):
        return str(type_)
    return str(tf.nest.map_structure(str, type_)).replace("'", "")


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


def _in_list(leaf: Leaf) -> Tensor | Weak:
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


# --- between a user's value and its stored leaves ------------------------------------------------


def value_from(type_: Type, stored: Sequence[tf.Tensor], shared: Sequence[tf.Tensor]) -> Any:
    """The value that user code sees, from one member's stored leaves."""
    remaining: Iterator[tf.Tensor] = iter(stored)

    def build(leaf: Leaf) -> Any:
        match leaf:
            case Static(value):
                return value
            case Absent():
                return ABSENT
            case Shared(index, Weak(kind)):
                return WeakScalar(shared[index], kind)
            case Shared(index, _):
                return shared[index]
            case Weak(kind, near):
                return WeakScalar(next(remaining), kind, near)
            case _:
                return next(remaining)

    return tf.nest.map_structure(build, type_)


def zero(type_: Type) -> Any:
    """A value of the type that stands where nobody looks at it."""
    return value_from(type_, [tf.zeros(leaf.shape, leaf.dtype) for leaf in dynamic(type_)], ())


def stored_from(type_: Type, value: Any) -> list[tf.Tensor]:
    """One member's stored leaves of ``type_``, from a value of that type or of one that joins into it."""
    tf.nest.assert_same_structure(type_, value, check_types=False)  # a range's type is that of a list
    pairs = zip(leaves(type_), tf.nest.flatten(value), strict=True)
    stored = ((leaf, part) for leaf, part in pairs if isinstance(leaf, Tensor | Weak))
    return [tf.zeros(t.shape, t.dtype) if part is ABSENT else to_dtype(part, t.dtype) for t, part in stored]


def value_as(type_: Type, value: Any) -> Any:
    """A value of a type that joins into ``type_``, as a value of ``type_``; a member fails whose int does not fit."""
    value = fitted(type_, _without_absent(type_, value))

    def build(leaf: Leaf, part: Any) -> Any:
        number = part.tensor if isinstance(part, WeakScalar) else part
        if isinstance(leaf, Tensor | Weak) and not getattr(part, "near", False):
            check_number(number, leaf.dtype)
        if isinstance(leaf, Tensor):
            return part.astype(leaf.dtype) if isinstance(part, WeakScalar) else to_dtype(part, leaf.dtype)
        return part

    return tf.nest.map_structure(build, type_, value, check_types=False)


def _without_absent(type_: Type, value: Any) -> Any:
    """The value with zeros for what it lacks."""
    if value is ABSENT:
        return zero(type_)
    if isinstance(value, MemberObject):
        (names, parts), (_, types) = value.__tf_flatten__(), type_.__tf_flatten__()  # type: ignore[attr-defined]
        filled = tuple(_without_absent(t, part) for t, part in zip(types, parts, strict=True))
        return type(value).__tf_unflatten__(names, filled)  # type: ignore[attr-defined]
    return value


def plain(value: Any) -> Any:
    """A concrete value without TensorFlow: Python numbers for per-member Python numbers, NumPy's for tensors."""

    def leaf(part: Any) -> Any:
        if isinstance(part, WeakScalar):
            return part.tensor.numpy().item()  # type: ignore[attr-defined]
        return part.numpy() if is_tensor(part) else part

    return unpacked(tf.nest.map_structure(leaf, value))


def to_dtype(value: Any, dtype: tf.DType) -> tf.Tensor:
    if isinstance(value, WeakScalar):
        value = value.tensor
    if is_tensor(value):
        return tf.cast(tf.convert_to_tensor(value), dtype)  # of a variable, what it holds
    return tf.convert_to_tensor(value, dtype)


def coerce(
    source: Type, target: Type, stored: Sequence[tf.Tensor], shared: Sequence[tf.Tensor], size: Any
) -> list[tf.Tensor]:
    """A whole batch's stored leaves of type ``source``, as leaves of type ``target``."""
    remaining = iter(stored)
    result = []
    for have, want in zip(leaves(source), leaves(target), strict=True):
        part = next(remaining) if isinstance(have, Tensor | Weak) else None
        if isinstance(want, Tensor | Weak):
            if isinstance(have, Absent):
                part = tf.zeros((size, *want.shape), want.dtype)
            elif part is None:
                member = shared[have.index] if isinstance(have, Shared) else have.value  # type: ignore[union-attr]
                part = tf.broadcast_to(to_dtype(member, want.dtype), (size, *want.shape))
            result.append(tf.cast(part, want.dtype))
    return result


def given(
    source: Type, target: Type, stored: Sequence[tf.Tensor], shared: Sequence[tf.Tensor], size: Any
) -> list[tf.Tensor]:
    """As ``coerce``, also where a list of known length is to be one of any length."""
    if structure(source) == structure(target):
        return coerce(source, target, stored, shared, size)

    def member(leaves: Sequence[tf.Tensor]) -> list[tf.Tensor]:
        return stored_from(target, value_as(target, value_from(source, leaves, shared)))

    if not stored:
        return [tf.broadcast_to(leaf, (size, *leaf.shape)) for leaf in member([])]
    return list(tf.vectorized_map(member, list(stored), fallback_to_while_loop=False))


def truth_values(type_: Type, stored: Sequence[tf.Tensor], shared: Sequence[tf.Tensor], size: Any) -> tf.Tensor:
    """A condition as one bool for each member, [size]."""
    if isinstance(type_, MemberList):
        return stored[-1] > 0
    (test,) = coerce(type_, Tensor(tf.bool, ()), stored, shared, size)
    return test
