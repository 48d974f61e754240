"""Items: read, put and chosen at positions that differ between members."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import nullcontext
from types import FunctionType
from typing import Any

import numpy as np
import tensorflow as tf

from autobatch import context, errors
from autobatch.language import dicts, letters, list_methods
from autobatch.language.advanced_indexing import is_advanced, picked, replaced
from autobatch.language.containers import contents
from autobatch.language.each_of import each, each_key
from autobatch.language.lists import MemberList, is_list, item_at
from autobatch.language.objects import MemberObject, users_class
from autobatch.language.one_of import OneOf, Whole, among, is_any, options_of, whole
from autobatch.language.rounding import check_exact, check_known
from autobatch.language.structs import Rows, map_nodes
from autobatch.language.values import (
    WIDE_DTYPES,
    WeakScalar,
    check_fits,
    is_tensor,
    narrowed,
    per_member,
    python_kind,
    weak,
)

slice_ = slice


def parts_of(value: tf.Tensor) -> list[tf.Tensor]:
    """A tensor's rows."""
    found = tf.unstack(value)
    for row in found:
        context.view(row, value)
    return found


def _has_member_index(index: Any) -> bool:
    parts = index if isinstance(index, tuple) else (index,)
    return any(per_member(part) for part in parts)


def _position(index: Any, size: int | None) -> tf.Tensor:
    """A scalar index as a tensor in 0..size-1, negative ones counted from the end."""
    if size is None:
        raise errors.TypeMismatchError("An axis that is indexed per member must have a static size.", kind="axis-size")
    index = index.tensor if isinstance(index, WeakScalar) else tf.convert_to_tensor(index)
    if index.shape.rank != 0 or not index.dtype.is_integer:
        raise errors.TypeMismatchError(
            f"A per-member index must be an integer scalar; this is {index.dtype.name}{list(index.shape)}.",
            help="use tf.gather for several rows at once.",
            kind="index-type",
        )
    index = narrowed(index, tf.int64) if index.dtype.is_unsigned or index.dtype.size < 4 else index
    message = f"an index is out of range for an axis of size {size}"
    context.check((index >= -size) & (index < size), errors.MemberIndexError, message)
    # In range whatever comes: outside XLA a gather that fails would stop every member.
    return tf.clip_by_value(tf.where(index < 0, index + size, index), 0, size - 1)


def getitem(value: Any, index: Any) -> Any:
    """``value[index]``; a tensor's index may contain scalar integer tensors, one position per member."""
    if isinstance(value, Rows):
        return _row(value, index)
    if isinstance(value, MemberObject):
        return users_class(value).__getitem__(value, index)  # type: ignore[attr-defined]
    if isinstance(index, OneOf) or (isinstance(value, dict) and isinstance(index, tuple)):
        return each_key(lambda key: _item_of(value, key), index)
    if isinstance(value, OneOf):
        return each(lambda option: getitem(option, index), value)
    return _item_of(value, index)


def _item_of(value: Any, index: Any) -> Any:
    result = _got(value, index)
    if is_tensor(value) and not is_advanced(index):
        context.view(result, value)
    return result


def _got(value: Any, index: Any) -> Any:
    if is_list(value) and isinstance(index, slice) and (_is_member_slice(index) or isinstance(value, MemberList)):
        return list_methods.sliced(value, index)
    if isinstance(value, MemberList):
        return item_at(value, list_methods.position(value, index))
    if not is_tensor(value):
        method = getattr(type(value), "__getitem__", None)
        if isinstance(method, FunctionType) and context.is_users(method.__code__):
            return value[index]
        if isinstance(value, str | bytes) and isinstance(index, slice) and _is_member_slice(index):
            return letters.part(value, index)
        _check_slices(index)
        if isinstance(value, list | tuple) and per_member(index):
            return chosen(value, +index if python_kind(index) is bool else index)
        if not _has_member_index(index):
            return value[index]
        if isinstance(value, str):
            return letters.letter(value, lambda: _position(index, len(value)))
        if isinstance(value, dict):
            found = chosen([*value.values()], dicts.position_of(value, index))
            context.view(found, value)
            return found
        value = tf.convert_to_tensor(value)
    _check_slices(index)
    if is_advanced(index):
        return picked(value, index)
    if value.shape.rank == 0:
        raise errors.TypeMismatchError(
            "A scalar is indexed.",
            help="for one member this is a scalar: the batch axis is not there.",
            kind="scalar-indexed",
        )
    if not _has_member_index(index):
        return value[index]
    axis = 0
    for part in _all_parts(index, value.shape.rank):
        if per_member(part):
            value = tf.gather(value, _position(part, value.shape[axis]), axis=axis)
        else:
            value = value[(slice(None),) * axis + (part,)]
            axis += not isinstance(part, int)
    return value


def _row(rows: Rows, index: Any) -> Any:
    """``rows[index]``, where the first part of the index is a position among the member's own rows."""
    first, *rest = index if isinstance(index, tuple) else (index,)
    if not per_member(first) and not isinstance(first, int):
        raise errors.TypeMismatchError(
            "Only a row of a ragged argument can be taken (x[i]), not a slice.",
            help="loop over range(start, stop).",
            kind="ragged-slice",
        )
    length = rows.length if isinstance(rows.length, WeakScalar) else weak(rows.length)
    position = (first if isinstance(first, WeakScalar) else weak(first)) if not is_tensor(first) else first
    at = tf.cast(position.tensor if isinstance(position, WeakScalar) else position, tf.int64)
    inside = (at >= -length.tensor) & (at < length.tensor)
    failure = "an index is out of range for a member's own number of rows"
    context.check(inside, errors.MemberIndexError, failure)
    at = tf.where(inside, tf.where(at < 0, at + length.tensor, at), 0)
    with context.collected_remarks():  # it is in range
        row = getitem(rows.padded, WeakScalar(at, int))
    return getitem(row, tuple(rest)) if rest else row


MemberList.__getitem__ = lambda values, index: _got(values, index)  # type: ignore[attr-defined] # likewise
Rows.__getitem__ = _row  # type: ignore[attr-defined] # a constant index is left to Python


def _is_member_slice(index: slice) -> bool:
    return any(map(per_member, (index.start, index.stop, index.step)))


def _check_slices(index: Any) -> None:
    slices = [part for part in (index if isinstance(index, tuple) else (index,)) if isinstance(part, slice)]
    if any(per_member(bound) for part in slices for bound in (part.start, part.stop, part.step)):
        raise errors.TypeMismatchError(
            "The bounds of this slice are known only when the program runs, but the shape of an array must be before.",
            help="list(x)[a:b] is a list of any length; in `for i in ab.unroll(range(n))` i is known; tf.gather(x, "
            "start + tf.range(n)) takes n items from each member's own start.",
            kind="slice-bounds",
        )


def _all_parts(index: Any, rank: int) -> list[Any]:
    """The parts of an index, with ``...`` written out."""
    parts = list(index) if isinstance(index, tuple) else [index]
    at = next((k for k, part in enumerate(parts) if part is Ellipsis), None)
    if at is not None:
        named = sum(part is not None for part in parts) - 1
        parts[at : at + 1] = [slice(None)] * (rank - named)
    return parts


def chosen(value: Any, position: Any) -> Any:
    """The item of a Python list or tuple at each member's own position; the items must be alike."""
    if (found := _of_numbers(value)) is not None:
        list_methods.copied_into(value)
        table, kind = found
        return WeakScalar(getitem(table, position), kind)
    for part in [value, *value]:
        list_methods.copied_into(part)
    if any(isinstance(part, MemberList) for part in value) or len({len(p) for p in value if isinstance(p, list)}) > 1:
        values = list_methods.as_member_list(value)
        return item_at(values, list_methods.position(values, position))
    try:
        wholes = [map_nodes(OneOf, Whole, part) for part in value]
        if not tf.nest.flatten(wholes):
            _position(position, len(value))
        chosen = tf.nest.map_structure(lambda *parts: _chosen_leaf([*map(whole, parts)], position), *wholes)
        context.choice(chosen, contents(chosen))
        context.view(chosen, value)
        return chosen
    except (TypeError, ValueError) as error:
        raise errors.TypeMismatchError(
            f"A {type(value).__name__} of unlike items cannot be indexed by a value that differs between members.",
            help="make it a tensor, or index it with a Python number.",
            kind="unlike-items",
        ) from error


_KINDS = (bool, int, float)  # of each, those that come after it hold its values
LARGE = 4096  # numbers from which on a table is no constant of the graph, of which every trace has a copy


def _of_numbers(value: Sequence[Any]) -> tuple[tf.Tensor, type] | None:
    """A table of known numbers, and of what kind they are; None if they are something else, or too large."""
    kinds = set(map(type, value))
    if not kinds or not kinds <= {*_KINDS}:
        return None
    kind = max(kinds, key=_KINDS.index)
    for number in value:
        check_known(number, WIDE_DTYPES[kind])
    try:
        numbers = np.array(value, WIDE_DTYPES[kind].as_numpy_dtype)
    except OverflowError:
        return None
    with tf.init_scope() if len(numbers) >= LARGE else nullcontext():
        return tf.constant(numbers), kind


def _chosen_leaf(parts: Sequence[Any], position: Any) -> Any:
    if is_any(*parts):
        options = options_of(*parts)
        numbers = tf.stack([among(options, part).number.tensor for part in parts])
        number = getitem(numbers, position)  # which fails for those out of range, of one option too
        return OneOf(options, WeakScalar(number, int, near=True)) if len(options) > 1 else parts[0]
    if all(isinstance(part, WeakScalar | bool | int | float) for part in parts):
        numbers = [part if isinstance(part, WeakScalar) else weak(part) for part in parts]
        kind = max((number.kind for number in numbers), key=_KINDS.index)
        for number in numbers if kind is float else ():
            check_exact(number.tensor, tf.float64)
        wide = tf.stack([tf.cast(number.tensor, WIDE_DTYPES[kind]) for number in numbers])
        return WeakScalar(getitem(wide, position), kind)
    result = getitem(tf.stack(parts), position)
    for part in parts:
        context.view(result, part)
    return result


def setitem(value: Any, index: Any, item: Any) -> Any:
    """``value`` after ``value[index] = item``: a new tensor, or the same Python container changed in place."""
    if isinstance(value, Rows):
        raise errors.TypeMismatchError(
            "A ragged argument cannot be changed.", help="fill a tensor of your own.", kind="ragged-changed"
        )
    if is_list(value) and context.mode() is context.Mode.TRACING:
        return list_methods.setitem(value, index, item)
    if isinstance(value, np.ndarray):
        value = tf.convert_to_tensor(value)
    if not is_tensor(value) and _has_member_index(index) and context.mode() is context.Mode.TRACING:
        raise errors.TypeMismatchError(
            f"A {type(value).__name__} cannot be changed at a key that differs between members.",
            help="use a list or an array; or loop over ab.unroll(range(n)), whose numbers all members share.",
            kind="item-of-member",
        )
    if not is_tensor(value):
        if type(value) is dict and isinstance(index, OneOf):
            return dicts.put(value, index, item)
        index = index.numpy() if isinstance(index, tf.Tensor) and hasattr(index, "numpy") else index
        if type(value) is dict and index in value:
            value = list_methods.owned(value)
        value[index] = item
        return value
    changed = scatter(value, *place(value, index, item))
    context.moved(value, changed)
    return changed


def place(value: Any, index: Any, item: Any) -> tuple[tf.Tensor, Any]:
    """What ``value[index] = item`` writes: positions [..., k] on the first k axes, and the parts to put there."""
    if isinstance(value, MemberList):
        return list_methods.place_of_item(value, index, item)
    value = tf.convert_to_tensor(value)
    if is_advanced(index):
        check_fits(item, value.dtype)
        return tf.zeros([0], tf.int32), replaced(value, index, _cast(item, value.dtype))
    parts = _all_parts(index, value.shape.rank)
    if len(parts) > value.shape.rank:
        raise errors.TypeMismatchError(
            f"{len(parts)} indices, but the tensor has shape {list(value.shape)}.",
            help="the batch axis is not there: index as for one example.",
            kind="too-many-indices",
        )
    while parts and isinstance(parts[-1], slice) and parts[-1] == slice(None):
        parts.pop()
    along = [_positions(part, size) for part, size in zip(parts, value.shape, strict=False)]
    grid = [p.shape.num_elements() for p in along if p.shape.rank]
    axis, columns = 0, []
    for p in along:
        if p.shape.rank:
            p = tf.reshape(p, [-1 if k == axis else 1 for k in range(len(grid))])
            axis += 1
        columns.append(tf.broadcast_to(p, grid))
    check_fits(item, value.dtype)
    where = tf.stack(columns, axis=-1) if columns else tf.zeros([0], tf.int32)
    item = _cast(item, value.dtype)
    shape = [*grid, *value.shape[len(parts) :]]
    if item.shape.rank is None or tf.broadcast_static_shape(item.shape, tf.TensorShape(shape)) != shape:
        raise errors.TypeMismatchError(
            f"An item of shape {list(item.shape)} is put where the shape is {shape}.", kind="item-shape"
        )
    return where, tf.broadcast_to(item, shape)


def _cast(item: Any, dtype: tf.DType) -> tf.Tensor:
    """What is put into an array, as NumPy casts it; a member fails whose integer the dtype does not hold."""
    if isinstance(item, WeakScalar):
        return item.astype(dtype)
    if is_tensor(item) and item.dtype != dtype and (item.dtype.is_bool or item.dtype.is_integer):
        return narrowed(tf.cast(item, tf.int64) if item.dtype.is_bool else item, dtype)
    if is_tensor(item) and item.dtype != dtype and item.dtype.is_floating and dtype.is_floating:
        return tf.cast(item, dtype)
    return tf.convert_to_tensor(item, dtype)


def _positions(part: Any, size: int | None) -> tf.Tensor:
    """The positions on an axis that a part of an index means: a scalar, or a vector for a slice."""
    if isinstance(part, slice) and not any(map(per_member, (part.start, part.stop, part.step))):
        return tf.constant(list(range(*part.indices(size))), tf.int32)  # type: ignore[arg-type]
    if not per_member(part) and not isinstance(part, int | np.integer):
        raise errors.UnsupportedSyntaxError(
            "Only integers and slices with fixed bounds can be assigned to (x[i] = v, x[i, 1:3] = v).",
            help="choose between the old and the new tensor with tf.where.",
            kind="item-assignment-index",
        )
    return tf.cast(_position(part, size), tf.int32)


def scatter(value: Any, where: tf.Tensor, what: Any) -> Any:
    """``value`` with ``what`` put at the positions ``where`` (see ``place``)."""
    if isinstance(value, MemberList):
        return list_methods.write(value, where, what)
    if not where.shape[-1]:
        return what
    return tf.tensor_scatter_nd_update(value, where[tf.newaxis], what[tf.newaxis])
