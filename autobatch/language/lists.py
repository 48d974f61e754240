"""Python lists whose length differs between members.

A ``MemberList`` has a column for each number or tensor of its items, of a fixed capacity; a member whose list would
outgrow it fails with ``ListFullError``, upon which the host runs all again with a larger capacity.  A list inside an
item is such a list itself.
"""

from __future__ import annotations

import copy
import dataclasses
from collections.abc import Callable, Sequence
from typing import Any, NoReturn

import numpy as np
import tensorflow as tf

from autobatch import context, errors
from autobatch.language.containers import MemberObject, contents
from autobatch.language.one_of import OneOf, among, is_known, options_of, renumbered
from autobatch.language.rounding import check_known, exact_up_to, rounding_failure
from autobatch.language.structs import map_nodes
from autobatch.language.values import WIDE_DTYPES, WeakScalar, fits, is_tensor


@dataclasses.dataclass(frozen=True, eq=False, repr=False)
class MemberList:
    """One member's list.

    Attributes:
      kinds: a structure as an item's: for each leaf the kind of Python number that it is, or None for a tensor.
      columns: of each leaf of the items, [capacity, ...]; what comes after the member's own items means nothing.
      length: a Python int that differs between members.
    """

    kinds: Any
    columns: tuple[Any, ...]
    length: Any

    def __tf_flatten__(self) -> tuple[tuple, tuple]:
        return (self.kinds,), (self.columns, self.length)

    @classmethod
    def __tf_unflatten__(cls, metadata: tuple, components: tuple) -> MemberList:
        return cls(*metadata, *components)

    @property
    def capacity(self) -> int:
        return int(self.columns[0].shape[0]) if self.columns else context.list_capacity()

    @property
    def own(self) -> tf.Tensor:
        """[capacity], whether a position has an item."""
        return tf.range(self.capacity, dtype=tf.int64) < self.length.tensor

    def __repr__(self) -> str:
        return f"<list of any length, of {_items_text(self)}>"

    def _refuse(self, *_: Any, **__: Any) -> NoReturn:
        raise errors.TypeMismatchError(
            "A list whose length differs between members is used where Python needs to know it.",
            help="loop over it, index it, or take its len(), in the decorated function itself.",
            kind="member-list-as-python",
        )

    __iter__ = __bool__ = __contains__ = __hash__ = __len__ = __array__ = _refuse  # type: ignore[assignment]

    def __getattr__(self, name: str) -> NoReturn:
        if name in ("start", "stop", "step"):
            raise errors.TypeMismatchError(
                f"`{name}` of a range is read whose length differs between members.",
                help="give its bounds names of their own: range(first, last).",
                kind="range-of-members",
            )
        raise AttributeError(name)

    def _refuse_change(self, *_: Any, **__: Any) -> NoReturn:
        raise errors.TypeMismatchError(
            "A list whose length differs between members is changed where that would not be seen: by a helper, in a "
            "lambda, a comprehension or a choice.",
            help="call the method in a statement of the decorated function, or decorate the helper.",
            kind="member-list-changed-elsewhere",
        )

    append = extend = insert = remove = clear = reverse = sort = pop = _refuse_change


def _flat(kinds: Any) -> list[Any]:
    return tf.nest.flatten(kinds)


# --- items ----------------------------------------------------------------------------------------


def is_list(value: Any) -> bool:
    return isinstance(value, list | MemberList)


def capacity_for(count: int) -> int:
    """Of a list that has so many items now."""
    capacity = context.list_capacity()
    while capacity < count:
        capacity *= GROWTH
    return capacity


GROWTH = 8  # by which lists get larger that are full
LONGEST = 2**20  # items, where they stop growing if the user sets no limit


def number(tensor: Any) -> WeakScalar:
    """A length or a position, which is a counter."""
    return WeakScalar(tf.cast(tensor, tf.int64), int, near=True)


def derived(value: MemberList, *sources: Any) -> MemberList:
    """Notes that the list has the items of others, if those can be changed in place."""
    if _changeable(value.kinds) or any(column.shape.rank > 1 for column in value.columns):
        for source in sources:
            context.view(value, source)
    return value


def _changeable(item: Any) -> bool:
    """Whether an item is, or holds, a container that can be changed in place, as a tuple of numbers cannot."""
    if isinstance(item, tuple):
        return any(map(_changeable, item))
    return tf.nest.is_nested(item) and not isinstance(item, OneOf)


def copied_into(values: Any) -> None:
    """Notes that Python's own list lives on in a copy, so that who changes it in place changes only one of the two."""
    if isinstance(values, list):
        context.choice(values, contents(values))


def from_outside(function: Callable[[], Any]) -> Any:
    """What a statement without variables makes; notes lists and arrays that it has not made but found."""
    value = function()
    if isinstance(value, list | np.ndarray) and function() is value:
        copied_into(value)
        context.view(value, OUTSIDE)
    return value


OUTSIDE: list = []  # stands for what is not the program's own


def canonical(item: Any) -> Any:
    """An item in which each list is a ``MemberList``, and each text one of several."""
    if isinstance(item, list):
        copied_into(item)
        return of_items(item)
    if isinstance(item, tuple):
        parts = [canonical(part) for part in item]
        return type(item)(*parts) if hasattr(item, "_fields") else tuple(parts)
    if isinstance(item, dict):
        return {name: canonical(part) for name, part in item.items()}
    if isinstance(item, MemberObject):
        names, parts = item.__tf_flatten__()  # type: ignore[attr-defined]
        return type(item).__tf_unflatten__(names, tuple(map(canonical, parts)))  # type: ignore[attr-defined]
    return among((item,), item) if is_known(item) else item


def of_items(items: Sequence[Any]) -> MemberList:
    """A known list as one of a member's own length.  Raises TypeMismatchError for items that are unlike."""
    if not items:
        return MemberList((), (), number(0))
    if all(type(item) in WIDE_DTYPES and fits(item, tf.int64) for item in items):
        kind = max(map(type, items), key=_KINDS.index)
        for item in items:
            check_known(item, WIDE_DTYPES[kind])
        whole = MemberList(kind, (tf.constant([kind(item) for item in items], WIDE_DTYPES[kind]),), number(len(items)))
    else:
        each = [single(item) for item in items]
        first = each[0]
        for other in each[1:]:
            first, _ = alike(first, other)
        each = [alike(one, first)[0] for one in each]
        columns = (tf.concat([one.columns[k] for one in each], 0) for k in range(len(first.columns)))
        whole = MemberList(first.kinds, tuple(columns), number(len(items)))
    return derived(padded(whole, capacity_for(len(items))), *items)


_KINDS = (bool, int, float)  # of each, those that come after it hold its values


def single(item: Any) -> MemberList:
    """A list of the one item, of capacity one."""
    item = canonical(item)
    leaves = [_leaf(leaf) for leaf in tf.nest.flatten(item)]
    kinds = tf.nest.pack_sequence_as(item, [kind for kind, _ in leaves])
    return MemberList(kinds, tuple(tf.expand_dims(column, 0) for _, column in leaves), number(1))


def _leaf(leaf: Any) -> tuple[type | None, tf.Tensor]:
    if isinstance(leaf, WeakScalar):
        return leaf.kind, leaf.tensor
    if type(leaf) in WIDE_DTYPES and fits(leaf, tf.int64):
        return type(leaf), tf.constant(leaf, WIDE_DTYPES[type(leaf)])
    if not is_tensor(leaf) and not isinstance(leaf, np.ndarray | np.generic):
        raise errors.TypeMismatchError(
            f"A list whose length differs between members has {leaf!r} among its items, which no tensor holds.",
            help="keep numbers in it; tell cases apart by a number.",
            kind="list-item-kind",
        )
    return None, tf.convert_to_tensor(leaf)  # type: ignore[arg-type]


def padded(value: MemberList, capacity: int) -> MemberList:
    if capacity <= value.capacity:
        return value
    columns = tuple(_padded(column, (capacity, *column.shape[1:])) for column in value.columns)
    return derived(dataclasses.replace(value, columns=columns), value)


def _padded(column: tf.Tensor, shape: Sequence[int]) -> tf.Tensor:
    more = [(0, want - have) for have, want in zip(column.shape, shape, strict=True)]
    return tf.pad(column, more) if any(after for _, after in more) else column


@dataclasses.dataclass(frozen=True)
class _Column:
    kind: type | None
    tensor: Any


def alike(one: MemberList, other: MemberList) -> tuple[MemberList, MemberList]:
    """Both with items of one type.  Raises TypeMismatchError if there is none."""
    try:
        a, b = _alike(_of_columns(one), _of_columns(other), -1)
    except _Unlike:
        raise errors.TypeMismatchError(
            f"A list has unlike items: {_items_text(one)}, and {_items_text(other)}.",
            help="a list whose length differs between members holds items of one type.",
            kind="unlike-items",
        ) from None
    pairs = (one, _of_tensors(a)), (other, _of_tensors(b))
    for have, found in pairs:
        _check_exact(have, found)
    return derived(pairs[0][1], one), derived(pairs[1][1], other)


def _check_exact(have: MemberList, found: MemberList) -> None:
    """Fails members of whose ints one becomes a float that is another number."""
    for x, y in zip(have.columns, found.columns, strict=False):
        if is_tensor(x) and x.shape.rank == 1 and x.dtype == tf.int64 and y.dtype.is_floating:
            exact = (tf.abs(x) <= exact_up_to(y.dtype)) | ~have.own
            context.check(tf.reduce_all(exact), errors.NumberRangeError, rounding_failure(y.dtype))


class _Unlike(Exception):  # noqa: N818 (says what is to be told)
    pass


def _of_columns(value: MemberList) -> MemberList:
    columns = tuple(_Column(None, tensor) for tensor in value.columns)
    return MemberList(value.kinds, columns, _Column(int, value.length.tensor))


def _of_tensors(value: MemberList) -> MemberList:
    return MemberList(value.kinds, tuple(column.tensor for column in value.columns), number(value.length.tensor))


def _alike(a: Any, b: Any, depth: int) -> tuple[Any, Any]:
    """Two items' columns; ``depth``: inside how many of the item's lists they are."""
    if isinstance(a, _Column) and isinstance(b, _Column):
        return _alike_columns(a, b, depth)
    if type(a) is not type(b):
        raise _Unlike
    if isinstance(a, MemberList):
        return _alike_lists(a, b, depth)
    if isinstance(a, OneOf):
        options = options_of(a, b)
        pair = (_Column(int, renumbered(options, each, each.number.tensor)) for each in (a, b))
        return tuple(OneOf(options, column) for column in _alike_columns(*pair, depth))  # type: ignore[return-value]
    if isinstance(a, dict):
        if {*a} != {*b}:
            raise _Unlike
        pairs = {name: _alike(a[name], b[name], depth) for name in a}
        return {name: x for name, (x, _) in pairs.items()}, {name: y for name, (_, y) in pairs.items()}
    nodes = hasattr(a, "__tf_flatten__")
    parts: Any = a.__tf_flatten__()[1] if nodes else a
    others: Any = b.__tf_flatten__()[1] if nodes else b
    if len(parts) != len(others):
        raise _Unlike
    both = [_alike(x, y, depth) for x, y in zip(parts, others, strict=True)]
    return tuple(_with_parts(whole, [pair[k] for pair in both]) for k, whole in enumerate((a, b)))  # type: ignore[return-value]


def _with_parts(whole: Any, parts: Sequence[Any]) -> Any:
    if hasattr(whole, "__tf_flatten__"):
        return type(whole).__tf_unflatten__(whole.__tf_flatten__()[0], tuple(parts))
    return type(whole)(*parts) if hasattr(whole, "_fields") else type(whole)(parts)


def _alike_lists(a: MemberList, b: MemberList, depth: int) -> tuple[MemberList, MemberList]:
    if not a.columns and b.columns:
        a = _emptied(b, a.length)
    elif not b.columns and a.columns:
        b = _emptied(a, b.length)
    inner = [
        tf.nest.pack_sequence_as(
            each.kinds, [_Column(k, c.tensor) for k, c in zip(_flat(each.kinds), each.columns, strict=True)]
        )
        for each in (a, b)
    ]
    result = []
    pairs: Any = zip(_alike(inner[0], inner[1], depth + 1), (a.length, b.length), strict=True)
    for items, length in pairs:
        columns = _flat(items)
        kinds = tf.nest.pack_sequence_as(items, [column.kind for column in columns])
        result.append(MemberList(kinds, tuple(_Column(None, column.tensor) for column in columns), length))
    return result[0], result[1]


def _emptied(like: MemberList, length: _Column) -> MemberList:
    """A list of no known items as one of the other's type."""
    batch = length.tensor.shape
    columns = (_Column(None, tf.zeros([*batch, *c.tensor.shape[batch.rank :]], c.tensor.dtype)) for c in like.columns)
    return MemberList(like.kinds, tuple(columns), length)


def _alike_columns(a: _Column, b: _Column, depth: int) -> tuple[_Column, _Column]:
    """Columns of one dtype; the numbers of tensors and Python's together are Python's, unless they are floats."""
    x, y = a.tensor, b.tensor
    axes = 1 + depth  # of the list, and of lists inside it
    if x.shape.rank != y.shape.rank or x.shape[axes:] != y.shape[axes:]:
        raise _Unlike
    kind, dtype = a.kind, x.dtype
    if a.kind is not b.kind or x.dtype != y.dtype:
        if x.shape.rank > axes:
            raise _Unlike
        floats = [v.dtype for column, v in ((a, x), (b, y)) if column.kind is None and v.dtype.is_floating]
        if len(floats) == 1 and (a.kind or b.kind) in (int, float):
            kind, dtype = None, floats[0]
        else:
            kind = max((_kind_of(x.dtype), _kind_of(y.dtype)), key=_KINDS.index)
            dtype = WIDE_DTYPES[kind]
    inner = tuple(map(max, x.shape[1:axes], y.shape[1:axes])) + tuple(x.shape[axes:]) if axes else ()
    x, y = (_padded(tf.cast(v, dtype), (*v.shape[:1], *inner)) for v in (x, y))
    return _Column(kind, x), _Column(kind, y)


def _kind_of(dtype: tf.DType) -> type:
    return bool if dtype.is_bool else float if dtype.is_floating else int


def _items_text(value: MemberList) -> str:
    texts = []
    for kind, column in zip(_flat(value.kinds), value.columns, strict=True):
        # tf.nest shows structures with dots in place of what they hold.
        column_text = f"{column.dtype.name}{list(column.shape[1:])}" if is_tensor(column) else str(column)
        texts.append(f"Python {kind.__name__}" if kind else column_text)
    text = ", ".join(texts)
    return f"{type(value.kinds).__name__}({text})" if isinstance(value.kinds, MemberObject) else text


def item_at(value: MemberList, position: Any) -> Any:
    """The item at a position that is known to be one of the list's."""
    if not value.columns:
        raise IndexError("list index out of range")
    at = tf.clip_by_value(tf.cast(position, tf.int32), 0, value.capacity - 1)
    parts = []
    for kind, column in zip(_flat(value.kinds), value.columns, strict=True):
        part = tf.gather(column, at)
        parts.append(WeakScalar(part, kind) if kind else part)
    item = tf.nest.pack_sequence_as(value.kinds, parts)
    _note_views(item, value)
    return item


def _note_views(item: Any, whole: MemberList) -> None:
    """Notes that an item, or what is in it, is a part of a list."""
    if isinstance(item, MemberList) or (is_tensor(item) and item.shape.rank):
        context.view(item, whole)
    elif tf.nest.is_nested(item):
        if isinstance(item, MemberObject):
            context.view(item, whole)
            context.choice(item, contents(item))
        map_nodes(MemberList, lambda inner: context.view(inner, whole), item)
        for leaf in tf.nest.flatten(map_nodes(MemberList, lambda inner: 0, item)):
            _note_views(leaf, whole)


def not_compared() -> errors.TypeMismatchError:
    return errors.TypeMismatchError(
        "Items that are arrays or lists are compared.", help="compare numbers.", kind="list-items-compared"
    )


def fitted(type_: Any, value: Any) -> Any:
    """The value with its lists, and ones of several, as the type has them: of which capacity, among which."""
    if isinstance(type_, MemberList):
        with context.lists_of(type_.capacity):
            have = value if isinstance(value, MemberList) else of_items(value)
        nothing = tuple(tf.zeros([0, *column.shape[1:]], column.dtype) for column in type_.columns)
        have, _ = alike(have, MemberList(type_.kinds, nothing, number(0)))
        pairs = zip(have.columns, type_.columns, strict=True)
        columns = (_padded(tf.cast(column, want.dtype), want.shape) for column, want in pairs)
        return MemberList(type_.kinds, tuple(columns), have.length)
    if isinstance(type_, OneOf):
        return among(type_.options, value)
    if isinstance(type_, dict):
        made = copy.copy(value)
        dict.update(made, {name: fitted(type_[name], part) for name, part in value.items()})  # not as a Counter does
        return made
    if isinstance(type_, list | tuple):
        value = [*value] if isinstance(value, range) else value
        return _with_parts(value, [fitted(t, part) for t, part in zip(type_, value, strict=True)])
    if hasattr(type_, "__tf_flatten__"):
        parts = zip(type_.__tf_flatten__()[1], value.__tf_flatten__()[1], strict=True)
        return _with_parts(value, [fitted(t, part) for t, part in parts])
    return value


def unpacked(value: Any) -> Any:
    """A structure of what NumPy holds in which each list is Python's."""
    if isinstance(value, MemberList):
        length = int(value.length)
        flat = _flat(value.kinds)
        rows = ([column[k] for column in value.columns] for k in range(length))
        items = [[part.item() if kind else part for kind, part in zip(flat, row, strict=True)] for row in rows]
        return [unpacked(tf.nest.pack_sequence_as(value.kinds, parts)) for parts in items]
    if isinstance(value, OneOf):
        return value.options[int(value.number)]
    if isinstance(value, dict):
        return {name: unpacked(part) for name, part in value.items()}
    if isinstance(value, list | tuple):
        return _with_parts(value, [unpacked(part) for part in value])
    return value
