"""What desugared code calls: Python's operators and builtins, for values that may be tensors.

Each does just what Python does when its operands are Python values, so the desugared program means the same as
the user's.
"""

from __future__ import annotations

import builtins
import operator
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import tensorflow as tf

from autobatch import context, errors
from autobatch.structs import Rows
from autobatch.values import WIDE_DTYPES, WeakScalar, adopts, is_tensor, weak


def _per_member(value: Any) -> bool:
    return isinstance(value, WeakScalar) or is_tensor(value)


def truth(value: Any) -> Any:
    """``bool(value)``: a bool, or a scalar bool tensor if ``value`` is per-member."""
    if isinstance(value, WeakScalar):
        value = value.tensor
    elif not is_tensor(value):
        return bool(value)
    if value.shape.rank != 0:
        raise errors.TypeMismatchError(
            f"A condition must be one truth value per member; this has shape {value.shape}.",
            help="use tf.reduce_all or tf.reduce_any.",
        )
    return value if value.dtype == tf.bool else tf.not_equal(value, tf.zeros([], value.dtype))


def not_(value: Any) -> Any:
    """``not value``"""
    known = truth(value)
    return WeakScalar(tf.logical_not(known), bool) if _per_member(value) else not known


def _unified(left: Any, right: Any) -> tuple[Any, Any]:
    """Both values as tensors of one dtype and shape, for a choice between them."""
    if isinstance(left, WeakScalar | bool | int | float) and isinstance(right, WeakScalar | bool | int | float):
        kinds = {value.kind if isinstance(value, WeakScalar) else type(value) for value in (left, right)}
        if len(kinds) == 1 or bool not in kinds:
            kind = float if float in kinds else kinds.pop()
            a, b = (value if isinstance(value, WeakScalar) else weak(value) for value in (left, right))
            return (a, b) if a.kind is b.kind else (a + kind(0), b + kind(0))
    dtype = next((value.dtype for value in (left, right) if is_tensor(value)), None)
    tensors = []
    for value in (left, right):
        if isinstance(value, WeakScalar):
            value = value.astype(dtype or value.tensor.dtype)
        elif isinstance(value, bool | int | float) and dtype is not None and not adopts(type(value), dtype):
            raise errors.TypeMismatchError(f"One side of the choice is {value!r}, the other has dtype {dtype.name}.")
        tensors.append(_choosable(value, left, right, dtype))
    a, b = tensors
    if a.dtype != b.dtype or a.shape != b.shape:
        raise errors.TypeMismatchError(
            f"The two sides of this choice differ: {a.dtype.name}{list(a.shape)} and {b.dtype.name}{list(b.shape)}."
        )
    return a, b


def _choosable(value: Any, left: Any, right: Any, dtype: tf.DType | None) -> tf.Tensor:
    try:
        tensor = tf.convert_to_tensor(value, dtype_hint=dtype)
    except (TypeError, ValueError):
        tensor = None
    if tensor is None or tensor.dtype == tf.string:
        raise errors.TypeMismatchError(
            f"Members choose between {left!r} and {right!r}, of which one is neither a tensor nor a number.",
            help="choose between numbers.",
        )
    return tensor


def ifexp(condition: Any, yes: Callable[[], Any], no: Callable[[], Any]) -> Any:
    """``yes() if condition else no()``, where both sides are cheap and cannot fail."""
    known = truth(condition)
    if not _per_member(condition):
        return yes() if known else no()
    left, right = yes(), no()
    if tf.nest.is_nested(left):
        tf.nest.assert_same_structure(left, right)
        return tf.nest.map_structure(lambda a, b: _choice(known, a, b), left, right)
    return _choice(known, left, right)


def _choice(condition: tf.Tensor, left: Any, right: Any) -> Any:
    if left is right:
        return left
    left, right = _unified(left, right)
    if isinstance(left, WeakScalar):
        return WeakScalar(tf.where(condition, left.tensor, right.tensor), left.kind)
    return tf.where(condition, left, right)


def and_(left: Any, right: Callable[[], Any]) -> Any:
    """``left and right()``"""
    return ifexp(left, right, lambda: left)


def or_(left: Any, right: Callable[[], Any]) -> Any:
    """``left or right()``"""
    return ifexp(left, lambda: left, right)


def both(left: Any, right: Callable[[], Any]) -> Any:
    """``bool(left and right())``"""
    return ifexp(left, lambda: truth(right()), lambda: False)


def either(left: Any, right: Callable[[], Any]) -> Any:
    """``bool(left or right())``"""
    return ifexp(left, lambda: True, lambda: truth(right()))


def assert_(condition: Any, source: str, text: str, values: Callable[[], tuple] = tuple) -> None:
    """``assert condition, text.format(*values())``"""
    with context.collected_remarks():  # what computing the values may have to say does not matter
        shown = values()
    context.check(truth(condition), errors.MemberAssertionError, f"`assert {source}` failed", text, shown)


def print_(text: str, *values: Any) -> None:
    """Prints ``text.format(*values)``."""
    context.remark(context.Remark(text, values))


def integer(value: Any) -> Any:
    """A bound of a range, as the Python int that ``range`` makes of it."""
    if is_tensor(value) and value.dtype.is_integer and value.shape.rank == 0:
        return WeakScalar(tf.cast(value, tf.int64), int)
    if isinstance(value, WeakScalar) and value.kind is int:
        return value
    if _per_member(value):
        dtype = value.kind.__name__ if isinstance(value, WeakScalar) else f"{value.dtype.name}{list(value.shape)}"
        raise errors.TypeMismatchError(f"A range needs integers; this is {dtype}.", help="use tf.cast.")
    return operator.index(value)


def in_range(i: Any, stop: Any, step: Any) -> Any:
    """Whether ``range(..., stop, step)`` still yields ``i``."""
    if not _per_member(step):
        if step == 0:
            raise errors.TypeMismatchError("The step of this range is zero.")
        return i < stop if step > 0 else i > stop
    nonzero = truth(step != 0)
    context.check(nonzero, errors.MemberError, "the step of the range is zero")
    rising, falling = tf.convert_to_tensor(i < stop), tf.convert_to_tensor(i > stop)
    return tf.where(tf.convert_to_tensor(step > 0), rising, falling)


# --- indexing -----------------------------------------------------------------------------------


slice_ = slice


def unpack(value: Any, count: int) -> Any:
    """``value``, ready to be unpacked into ``count`` targets: a tensor's rows, which TensorFlow does not iterate."""
    if not isinstance(value, tf.Tensor) or not value.shape.rank:
        return value
    if value.shape[0] != count:
        raise errors.TypeMismatchError(f"{count} targets, but a tensor of {value.shape[0]} rows.")
    return tf.unstack(value)


def _has_member_index(index: Any) -> bool:
    parts = index if isinstance(index, tuple) else (index,)
    return any(_per_member(part) for part in parts)


def _position(index: Any, size: int | None) -> tf.Tensor:
    """A scalar index as a tensor in 0..size-1, negative ones counted from the end."""
    if size is None:
        raise errors.TypeMismatchError("An axis that is indexed per member must have a static size.")
    index = index.tensor if isinstance(index, WeakScalar) else tf.convert_to_tensor(index)
    if index.shape.rank != 0 or not index.dtype.is_integer:
        raise errors.TypeMismatchError(
            f"A per-member index must be an integer scalar; this is {index.dtype.name}{list(index.shape)}.",
            help="use tf.gather for several rows at once.",
        )
    message = f"an index is out of range for an axis of size {size}"
    context.check((index >= -size) & (index < size), errors.MemberIndexError, message)
    # In range whatever comes: outside XLA a gather that fails would stop every member.
    return tf.clip_by_value(tf.where(index < 0, index + size, index), 0, size - 1)


def getitem(value: Any, index: Any) -> Any:
    """``value[index]``; a tensor's index may contain scalar integer tensors, one position per member."""
    if isinstance(value, Rows):
        return _row(value, index)
    if not is_tensor(value):
        _check_slices(index)
        if isinstance(value, list | tuple) and _per_member(index):
            return _chosen(value, index)
        if not _has_member_index(index):
            return value[index]
        value = tf.convert_to_tensor(value)
    _check_slices(index)
    if value.shape.rank == 0:
        raise errors.TypeMismatchError(
            "A scalar is indexed.", help="for one member this is a scalar: the batch axis is not there."
        )
    if not _has_member_index(index):
        return value[index]
    axis = 0
    for part in _all_parts(index, value.shape.rank):
        if _per_member(part):
            value = tf.gather(value, _position(part, value.shape[axis]), axis=axis)
        else:
            value = value[(slice(None),) * axis + (part,)]
            axis += not isinstance(part, int)
    return value


def _row(rows: Rows, index: Any) -> Any:
    """``rows[index]``, where the first part of the index is a position among the member's own rows."""
    first, *rest = index if isinstance(index, tuple) else (index,)
    if not _per_member(first) and not isinstance(first, int):
        raise errors.TypeMismatchError(
            "Only a row of a ragged argument can be taken (x[i]), not a slice.", help="loop over range(start, stop)."
        )
    length = rows.length if isinstance(rows.length, WeakScalar) else weak(rows.length)
    position = (first if isinstance(first, WeakScalar) else weak(first)) if not is_tensor(first) else first
    at = tf.cast(position.tensor if isinstance(position, WeakScalar) else position, tf.int64)
    inside = (at >= -length.tensor) & (at < length.tensor)
    failure = "an index is out of range for a member's own number of rows"
    context.check(inside, errors.MemberIndexError, failure)
    row = item(rows, WeakScalar(tf.where(inside, tf.where(at < 0, at + length.tensor, at), 0), int))
    return getitem(row, tuple(rest)) if rest else row


Rows.__getitem__ = _row  # type: ignore[attr-defined] # a constant index is left to Python


def _check_slices(index: Any) -> None:
    slices = [part for part in (index if isinstance(index, tuple) else (index,)) if isinstance(part, slice)]
    if any(_per_member(bound) for part in slices for bound in (part.start, part.stop, part.step)):
        raise errors.TypeMismatchError(
            "The bounds of this slice differ between members, so its shape would too.",
            help="tf.gather(x, start + tf.range(n)) takes n items from each member's own start; "
            "tf.where(tf.range(len(x)) < n, x, 0) keeps the first n of each.",
        )


def _all_parts(index: Any, rank: int) -> list[Any]:
    """The parts of an index, with ``...`` written out."""
    parts = list(index) if isinstance(index, tuple) else [index]
    at = next((k for k, part in enumerate(parts) if part is Ellipsis), None)
    if at is not None:
        named = sum(part is not None for part in parts) - 1
        parts[at : at + 1] = [slice(None)] * (rank - named)
    return parts


def _chosen(value: Any, position: Any) -> Any:
    """The item of a Python list or tuple at each member's own position; the items must be alike."""
    try:
        if all(type(part) in (int, float) for part in value):
            kind = float if float in map(type, value) else int
            return WeakScalar(getitem(tf.constant(value, WIDE_DTYPES[kind]), position), kind)
        if any(isinstance(part, str) for part in tf.nest.flatten(value)):
            raise TypeError("strings")
        return tf.nest.map_structure(lambda *parts: getitem(tf.stack(parts), position), *value)
    except (TypeError, ValueError) as error:
        raise errors.TypeMismatchError(
            f"A {type(value).__name__} of unlike items cannot be indexed by a value that differs between members.",
            help="make it a tensor, or index it with a Python number.",
        ) from error


class Unlike(Exception):
    """The items of a loop have no common type, so it must be unrolled.

    Attributes:
      count: the number of items.
      function, variable: the program's function, and its variable that holds the items.
    """

    def __init__(self, count: int, function: str = "", variable: str = ""):
        self.count, self.function, self.variable = count, function, variable


def _iterable(value: Any) -> Any:
    if isinstance(value, Rows):
        return value
    if isinstance(value, WeakScalar) or (is_tensor(value) and not value.shape.rank):
        raise errors.TypeMismatchError("A scalar cannot be looped over.", help="loop over range(n).")
    return value if is_tensor(value) or isinstance(value, list | tuple) else list(value)


def alike(items: Sequence[Any]) -> bool:
    """Whether one position can stand for any of the items: all numbers, or tensors of one dtype and shape, or nests."""
    try:
        for item in items:
            tf.nest.assert_same_structure(items[0], item)
    except (TypeError, ValueError):
        return False
    return all(map(_alike_leaves, zip(*map(tf.nest.flatten, items), strict=True)))


def _alike_leaves(column: Sequence[Any]) -> bool:
    if all(isinstance(leaf, int | float | WeakScalar) for leaf in column):
        return True
    if not all(isinstance(leaf, int | float | WeakScalar | tf.Tensor | tf.Variable | np.ndarray) for leaf in column):
        return False
    shaped = [leaf for leaf in column if not isinstance(leaf, int | float | WeakScalar)]
    shapes = {(tf.as_dtype(leaf.dtype), tuple(leaf.shape)) for leaf in shaped}
    return len(shapes) == 1 and (len(shaped) == len(column) or shaped[0].shape == ())


def sequence(value: Any) -> Any:
    """What a ``for`` loop goes through: a tensor's rows, or a list of an iterable's items."""
    items = _iterable(value)
    if not is_tensor(items) and not isinstance(items, Rows) and not alike(items):
        raise Unlike(len(items))
    return items


def unroll(iterable: Any) -> list:
    """The items of a loop that is to be unrolled: its body is copied for each, in which a known item stays known.

    ``for i in ab.unroll(range(4))`` makes ``i`` a Python number, which may index a list of unlike things.  Use it
    too where the types of what a loop changes differ from one turn to the next.

    Args:
      iterable: a Python iterable, or a tensor, for its rows.
    """
    items = _iterable(iterable)
    return tf.unstack(items) if is_tensor(items) else list(items)


def unroll_first(value: Any) -> Any:
    """Asks for the loop over ``value`` to be unrolled."""
    raise Unlike(len(unroll(value)))


def item(items: Any, position: Any) -> Any:
    """``items[position]``, a position that the loop keeps in range."""
    items = items.padded if isinstance(items, Rows) else items
    with context.collected_remarks():
        return getitem(items, position)


def setitem(value: Any, index: Any, item: Any) -> Any:
    """``value`` after ``value[index] = item``: a new tensor, or the same Python container changed in place."""
    if isinstance(value, Rows):
        raise errors.TypeMismatchError("A ragged argument cannot be changed.", help="fill a tensor of your own.")
    if not is_tensor(value):
        value[index.numpy() if isinstance(index, tf.Tensor) and hasattr(index, "numpy") else index] = item
        return value
    return scatter(value, *place(value, index, item))


def place(value: tf.Tensor, index: Any, item: Any) -> tuple[tf.Tensor, tf.Tensor]:
    """What ``value[index] = item`` writes: positions [..., k] on the first k axes, and the parts to put there."""
    parts = _all_parts(index, value.shape.rank)
    if len(parts) > value.shape.rank:
        raise errors.TypeMismatchError(f"{len(parts)} indices, but the tensor has shape {list(value.shape)}.")
    while parts and isinstance(parts[-1], slice) and parts[-1] == slice(None):
        parts.pop()
    along = [_positions(part, size) for part, size in zip(parts, value.shape, strict=False)]
    grid = [int(p.shape[0]) for p in along if p.shape.rank]
    axis, columns = 0, []
    for p in along:
        if p.shape.rank:
            p = tf.reshape(p, [-1 if k == axis else 1 for k in range(len(grid))])
            axis += 1
        columns.append(tf.broadcast_to(p, grid))
    where = tf.stack(columns, axis=-1) if columns else tf.zeros([0], tf.int32)
    item = item.astype(value.dtype) if isinstance(item, WeakScalar) else tf.convert_to_tensor(item, value.dtype)
    return where, tf.broadcast_to(item, [*grid, *value.shape[len(parts) :]])


def _positions(part: Any, size: int | None) -> tf.Tensor:
    """The positions on an axis that a part of an index means: a scalar, or a vector for a slice."""
    if isinstance(part, slice) and not any(map(_per_member, (part.start, part.stop, part.step))):
        return tf.constant(list(range(*part.indices(size))), tf.int32)  # type: ignore[arg-type]
    if not _per_member(part) and not isinstance(part, int | np.integer):
        raise errors.UnsupportedSyntaxError(
            "Only integers and slices with fixed bounds can be assigned to (x[i] = v, x[i, 1:3] = v).",
            help="choose between the old and the new tensor with tf.where.",
        )
    return tf.cast(_position(part, size), tf.int32)


def scatter(value: tf.Tensor, where: tf.Tensor, what: tf.Tensor) -> tf.Tensor:
    """``value`` with ``what`` put at the positions ``where`` (see ``place``)."""
    if not where.shape[-1]:
        return what
    return tf.tensor_scatter_nd_update(value, where[tf.newaxis], what[tf.newaxis])


# --- builtins -----------------------------------------------------------------------------------


def _extreme(python: Callable, choose: Callable) -> Callable:
    def extreme(*args: Any, **kwargs: Any) -> Any:
        values = list(args[0]) if len(args) == 1 and isinstance(args[0], list | tuple) else list(args)
        if kwargs or len(values) < 2 or not any(_per_member(value) for value in values):
            return python(*args, **kwargs)
        best = values[0]
        for value in values[1:]:
            best = ifexp(choose(value, best), lambda v=value: v, lambda b=best: b)
        return best

    return extreme


def _cast(python: type) -> Callable:
    def cast(*args: Any) -> Any:
        if len(args) != 1 or not _per_member(args[0]):
            return python(*args)
        value = args[0].tensor if isinstance(args[0], WeakScalar) else args[0]
        if python is bool:
            return WeakScalar(truth(value), bool)
        if value.shape.rank != 0:
            raise errors.TypeMismatchError(f"{python.__name__}() needs a scalar per member, not shape {value.shape}.")
        return WeakScalar(tf.cast(value, WIDE_DTYPES[python]), python)

    return cast


def len_(value: Any) -> Any:
    if isinstance(value, Rows):
        return value.length
    if is_tensor(value) and value.shape.rank and value.shape[0] is not None:
        return value.shape[0]
    return len(value)


def isinstance_(value: Any, kind: Any) -> bool:
    return issubclass(value.kind, kind) if isinstance(value, WeakScalar) else isinstance(value, kind)


def type_(value: Any, *rest: Any) -> Any:
    return value.kind if isinstance(value, WeakScalar) else type(value, *rest)


def in_(item: Any, container: Any) -> Any:
    """``item in container``"""
    if not isinstance(container, list | tuple) or not any(map(_per_member, (item, *container))):
        return item in container
    found: Any = False
    for element in container:
        found = either(found, lambda e=element: item == e)
    return found


min_, max_ = _extreme(min, operator.lt), _extreme(max, operator.gt)
int_, float_, bool_ = _cast(int), _cast(float), _cast(bool)

# The builtins that need an operator of ours, by its name.
BUILTINS = {
    builtins.min: "min_",
    builtins.max: "max_",
    builtins.int: "int_",
    builtins.float: "float_",
    builtins.bool: "bool_",
    builtins.len: "len_",
    builtins.isinstance: "isinstance_",
    builtins.type: "type_",
}
