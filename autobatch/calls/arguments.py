"""From a call's arguments to per-member types and stored leaves, and from stored leaves to results."""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import tensorflow as tf

from autobatch import errors
from autobatch.frontend.source import signature
from autobatch.ir.representation import value_from
from autobatch.ir.types import Opaque, Shared, Static, Tensor, Type, Weak, dynamic, leaves, static_shape, type_of
from autobatch.language import keys
from autobatch.language.lists import MemberList
from autobatch.language.objects import MemberObject, users_class
from autobatch.language.one_of import OneOf
from autobatch.language.optional import flag, flagged
from autobatch.language.structs import Rows, map_nodes
from autobatch.language.values import DEFAULT_DTYPES, WIDE_DTYPES, WeakScalar, is_of_jax, is_tensor
from autobatch.machine.xla import is_part_of_program
from autobatch.options import Axes
from autobatch.passes.ragged_lists import is_of_numbers


@dataclass(frozen=True)
class Arguments:
    """A call's arguments, taken apart.

    ``types`` and ``stored`` have an entry for each parameter that is not static, in order; ``stored`` holds the
    batched leaves with the batch axis first.  ``size`` is a scalar tensor where only the graph will know it.
    """

    static: dict[str, Any]
    types: list[Type]
    stored: list[list[tf.Tensor]]
    shared: list[tf.Tensor]
    shared_types: list[Tensor | Weak]
    size: Any
    first: int = 0  # the number of the first member

    @property
    def known_size(self) -> int | None:
        return self.size if isinstance(self.size, int) else None

    @property
    def wide(self) -> bool:
        """Whether the results that are Python numbers come as 64-bit tensors: if any argument does."""
        own = itertools.chain(*map(leaves, self.types))
        return any(isinstance(leaf, Tensor) and leaf.dtype.size == 8 for leaf in (*own, *self.shared_types))


def take_apart(
    function: Callable, static_names: Sequence[str], in_axes: Axes, args: Sequence[Any], kwargs: Mapping[str, Any]
) -> Arguments:
    """Raises TypeError if the arguments do not fit the function, BatchShapeError if their shapes do not."""
    try:
        bound = signature(function).bind(*args, **kwargs)
    except TypeError as error:
        raise TypeError(f"{function.__name__}(): {error}") from None
    given = [name for name in bound.arguments if name not in static_names]
    if in_axes is not None and (isinstance(in_axes, int) or len(in_axes) < len(given)):
        given = [name for name in given if not _is_default(function, name, bound.arguments[name])]
    bound.apply_defaults()
    static = {name: value for name, value in bound.arguments.items() if name in static_names}
    names = [name for name in bound.arguments if name not in static]
    axes = _axes_by_name(function, in_axes, given)
    taken = Arguments(static, [], [], [], [], 0)
    sizes: dict[str, int | None] = {}
    for name in names:
        stored: list[tf.Tensor] = []
        value = bound.arguments[name]
        if name not in given:  # a default is part of the program
            type_: Type = type_of(value)
        elif (axis := axes[name]) is None:
            type_ = tf.nest.map_structure(lambda leaf: _shared_leaf(leaf, taken), value)
        elif is_tensor(value):
            type_ = _batched_leaf(name, value, axis, stored, sizes)
        else:
            flat = [_batched_leaf(name, leaf, axis, stored, sizes) for leaf in tf.nest.flatten(value)]
            type_ = tf.nest.pack_sequence_as(value, flat)
        taken.types.append(type_)
        taken.stored.append(stored)
    if not sizes:
        raise errors.BatchShapeError(
            f"No argument of `{function.__name__}` has a batch axis.",
            help="give at least one batched argument, or call f.unbatched.",
        )
    size, all_stored = _of_one_size(taken.stored, sizes)
    return Arguments(static, taken.types, all_stored, taken.shared, taken.shared_types, size)


def _is_default(function: Callable, name: str, value: Any) -> bool:
    """Whether it is the number, text or None that stands for it anyway: ``tf.function`` passes all of them."""
    default = signature(function).parameters[name].default
    return isinstance(value, bool | int | float | str | None) and keys.key(value) == keys.key(default)


def _axes_by_name(function: Callable, in_axes: Axes, names: Sequence[str]) -> dict[str, int | None]:
    if in_axes is None or isinstance(in_axes, int):
        return dict.fromkeys(names, in_axes)
    if len(in_axes) != len(names):
        raise errors.BatchShapeError(
            f"in_axes has {len(in_axes)} entries for the {len(names)} arguments that `{function.__name__}` got.",
            help="give an int or None for each argument that is not static, or one for all.",
        )
    return dict(zip(names, in_axes, strict=True))


def _batched_leaf(
    name: str, value: Any, axis: int, stored: list[tf.Tensor], sizes: dict[str, int | None]
) -> Tensor | Static | Rows:
    if value is None:
        return Static(None)
    if isinstance(value, bool | int | float | str):
        raise errors.BatchShapeError(
            f"Argument `{name}` contains {value!r}, a Python {type(value).__name__}, which has no batch axis.",
            help="wrap a list in tf.constant; use in_axes=None for a number that all members share, and "
            "static_argnames for any other value.",
        )
    if isinstance(value, tf.RaggedTensor):
        return _ragged_leaf(name, value, axis, stored, sizes)
    tensor = _tensor(name, value)
    shape = tensor.shape
    if shape.rank is None:
        raise _unknown(name, shape)
    if not -shape.rank <= axis < shape.rank:
        raise errors.BatchShapeError(
            f"Argument `{name}` has shape {list(shape)}, which has no batch axis {axis}.",
            help="give it one value per member, or in_axes=None for it if all members share it.",
        )
    axis %= shape.rank
    _check_size(name, shape[axis], sizes)
    if axis:
        tensor = tf.transpose(tensor, [axis, *(k for k in range(shape.rank) if k != axis)])
    if not tensor.shape[1:].is_fully_defined():
        raise _unknown(name, shape)
    stored.append(tensor)
    return Tensor(tensor.dtype, static_shape(tensor.shape[1:]))


def _unknown(name: str, shape: tf.TensorShape) -> errors.BatchShapeError:
    return errors.BatchShapeError(
        f"Argument `{name}` has the shape {shape}, of which more than the batch size is unknown.",
        help="give the tf.function an input_signature, or the tensor its shape by tf.ensure_shape.",
    )


def _check_size(name: str, size: int | None, sizes: dict[str, int | None]) -> None:
    """``size``: None where only the graph will know it."""
    for other, expected in sizes.items():
        if None not in (size, expected) and size != expected:
            raise errors.BatchShapeError(f"The batch sizes disagree: {expected} in `{other}`, {size} in `{name}`.")
    sizes[name] = sizes.get(name) if size is None else size


def _of_one_size(stored: list[list[tf.Tensor]], sizes: Mapping[str, int | None]) -> tuple[Any, list[list[tf.Tensor]]]:
    """The batch size, and the leaves with it; where only the graph knows it, that fails if they have not."""
    size: Any = next((size for size in sizes.values() if size is not None), None)
    flat = [leaf for leaves in stored for leaf in leaves]
    if all(leaf.shape[0] is not None for leaf in flat):
        return size, stored
    if size is None:
        size = tf.shape(flat[0])[0]
        return size, [[tf.reshape(leaf, [size, *leaf.shape[1:]]) for leaf in leaves] for leaves in stored]
    return size, [[tf.ensure_shape(leaf, [size, *leaf.shape[1:]]) for leaf in leaves] for leaves in stored]


def _ragged_leaf(
    name: str, value: tf.RaggedTensor, axis: int, stored: list[tf.Tensor], sizes: dict[str, int | None]
) -> Rows:
    """Members of different length: padded to a power of two, so that few lengths are compiled."""
    if axis or value.ragged_rank != 1 or not value.flat_values.shape[1:].is_fully_defined():
        raise errors.BatchShapeError(
            f"Argument `{name}` is ragged beyond its members' lengths, or its batch axis is not the first.",
            help="the batch must be the first axis, each member's rows the second, and all rows of one shape.",
        )
    if not tf.executing_eagerly():
        raise errors.BatchShapeError(f"Argument `{name}` is ragged, and its longest member is not known here.")
    size = int(value.nrows())
    _check_size(name, size, sizes)
    lengths = value.row_lengths()
    longest = 1 << (int(tf.reduce_max(lengths, 0)) - 1).bit_length() if size and len(value.flat_values) else 1
    padded = value.to_tensor(shape=[None, longest, *value.flat_values.shape[1:]])
    stored += [padded, tf.cast(lengths, tf.int64)]
    return Rows(Tensor(padded.dtype, static_shape(padded.shape[1:])), Weak(int))


def _tensor(name: str, value: Any) -> tf.Tensor:
    try:
        return tf.convert_to_tensor(value)
    except (TypeError, ValueError) as error:
        raise errors.BatchShapeError(
            f"Argument `{name}` is a {type(value).__name__}, which is not a tensor.",
            help=_help_with(value),
        ) from error


def _help_with(value: Any) -> str:
    if dataclasses.is_dataclass(value):
        return "decorate its class with @ab.struct."
    if type(value).__module__.partition(".")[0] in ("jax", "jaxlib"):  # what jax.jit traces with, or a typed key
        return "inside of jax.jit call f.lower(...).to_jax(); of a key take jax.random.key_data(key)."
    return "name it in static_argnames if it is the same Python object for every member."


def is_array(value: Any) -> bool:
    """Whether it is TensorFlow's, NumPy's or JAX's."""
    return is_tensor(value) or isinstance(value, np.ndarray | np.generic) or is_of_jax(value)


def _shared_leaf(value: Any, taken: Arguments) -> Shared | Static | Opaque:
    if type(value) in DEFAULT_DTYPES:
        leaf: Tensor | Weak = Weak(type(value))
        tensor = tf.constant(value, leaf.dtype)
    elif is_array(value):
        tensor = tf.convert_to_tensor(value)
        leaf = Tensor(tensor.dtype, static_shape(tensor.shape))
    else:
        return type_of(value)
    taken.shared.append(tensor)
    taken.shared_types.append(leaf)
    return Shared(len(taken.shared) - 1, leaf)


def member(type_: Type, stored: Sequence[tf.Tensor], shared: Sequence[tf.Tensor]) -> Any:
    """One member's argument, as plain Python gets it."""
    return _plain(map_nodes(Rows, _own_rows, value_from(type_, stored, shared)))


def member_of_lists(type_: Type, stored: Sequence[tf.Tensor], shared: Sequence[tf.Tensor]) -> Any:
    """One member's argument, with a list for ragged rows of numbers."""
    value = value_from(type_, stored, shared)
    return _plain([*_own_rows(value)] if is_of_numbers(type_) else map_nodes(Rows, _own_rows, value))


def _own_rows(rows: Rows) -> tf.Tensor:
    return rows.padded[: int(rows.length.tensor)]


def _plain(value: Any) -> Any:
    return tf.nest.map_structure(
        lambda leaf: leaf.tensor.numpy().item() if isinstance(leaf, WeakScalar) else leaf, value
    )


def put_together(type_: Type, stored: Sequence[tf.Tensor], taken: Arguments) -> Any:
    """A batched result from its stored leaves; what is the same for all members is repeated.

    Raises MemberError, with the others' results, for ints that do not fit.
    """
    result, lost = with_misfits(type_, stored, taken)
    if lost:
        error = does_not_fit(tf.int64 if taken.wide else tf.int32, lost, taken)
        error.results = result
        raise error
    return result


def with_misfits(type_: Type, stored: Sequence[tf.Tensor], taken: Arguments) -> tuple[Any, list[int]]:
    """The batched result, and the positions of the members with a Python int that does not fit.

    Such an int is the lowest integer there, as a failed member's is.
    """
    lost: set[int] = set()
    return _built(type_, stored, taken, lost), sorted(lost)


def unfitting(type_: Type, stored: Sequence[tf.Tensor], taken: Arguments) -> tf.Tensor:
    """[size] bool: which members' Python ints do not fit the dtype in which results come, if that is int32."""
    lost, int32 = tf.zeros([taken.size], tf.bool), tf.int32
    if taken.wide:
        return lost
    for leaf, part in zip(dynamic(type_), stored, strict=True):
        if isinstance(leaf, Weak) and leaf.kind is int:
            lost |= tf.not_equal(part, tf.cast(tf.cast(part, int32), part.dtype))
    fixed = [leaf.value for leaf in leaves(type_) if isinstance(leaf, Static) and type(leaf.value) is int]
    return lost | any(not int32.min <= value <= int32.max for value in fixed)


def _built(type_: Type, stored: Sequence[tf.Tensor], taken: Arguments, lost: set[int]) -> Any:
    remaining = iter(stored)
    number_types = WIDE_DTYPES if taken.wide else DEFAULT_DTYPES

    def build(leaf: Any) -> Any:
        match leaf:
            case Shared(index, Weak(kind)):
                return tf.broadcast_to(tf.cast(taken.shared[index], number_types[kind]), (taken.size,))
            case Shared(index, inner):
                return tf.broadcast_to(taken.shared[index], (taken.size, *inner.shape))
            case Static(int(value)) if type(value) is int:
                fits = tf.int64.min <= value <= tf.int64.max
                if not fits and taken.wide and not tf.executing_eagerly():
                    raise does_not_fit(tf.int64, range(taken.size), taken)
                lost.update(() if fits else range(taken.size))
                number = tf.constant(value if fits else tf.int64.min, tf.int64)
                return _narrowed(tf.fill([taken.size], number), number_types[int], lost)
            case Static(value) if type(value) in number_types:
                return tf.fill([taken.size], tf.constant(value, number_types[type(value)]))
            case Static(value) if isinstance(value, int | str | bytes):
                return tf.fill([taken.size], tf.constant(value, number_types[int] if isinstance(value, int) else None))
            case Static(value):
                return value
            case Weak(kind):
                return _narrowed(next(remaining), number_types[kind], lost)
            case _:
                return next(remaining)

    if isinstance(type_, Tensor | Weak):
        return build(type_)
    built = tf.nest.pack_sequence_as(type_, [build(leaf) for leaf in leaves(type_)])
    built = map_nodes(MemberList, lambda values: _ragged(values, tf.range(taken.size), taken, lost), built)
    built = map_nodes(OneOf, lambda value: _texts(value, number_types[int]), built)
    return map_nodes(MemberObject, _released, built)


def _texts(value: OneOf, integers: tf.DType) -> tf.Tensor:
    """[Z], what each member's is; of members of an IntEnum, the integer."""
    options: Any = [*value.options]
    return tf.gather(tf.constant(options, integers if isinstance(options[0], int) else tf.string), value.number)


def _released(value: Any) -> Any:
    """An object of the user's own class."""
    made = object.__new__(users_class(value))
    parts = dict(zip(*value.__tf_flatten__(), strict=True))
    for name, part in parts.items():
        if flagged(name) is None:
            none = parts.get(flag(name), False)
            object.__setattr__(made, name, None if none is True else map_nodes(MemberObject, _released, part))
    return made


def _ragged(values: MemberList, owners: tf.Tensor, taken: Arguments, lost: set[int]) -> Any:
    """Lists, one behind the other, as ragged tensors in the structure of an item; ``owners``: whose each list is."""
    if not values.columns:
        return []
    capacity = values.columns[0].shape[1]
    length = tf.clip_by_value(tf.cast(values.length, tf.int64), 0, capacity)
    own = tf.sequence_mask(length, capacity)
    owners = tf.repeat(owners, length)
    number_types = WIDE_DTYPES if taken.wide else DEFAULT_DTYPES
    flat = []
    for kind, column in zip(tf.nest.flatten(values.kinds), values.columns, strict=True):
        flat.append(tf.boolean_mask(column, own))
        if kind:
            flat[-1] = _narrowed(flat[-1], number_types[kind], lost, owners)
    items = tf.nest.pack_sequence_as(values.kinds, flat)
    items = map_nodes(MemberList, lambda inner: _ragged(inner, owners, taken, lost), items)
    items = map_nodes(OneOf, lambda value: _texts(value, number_types[int]), items)
    return tf.nest.map_structure(lambda leaf: tf.RaggedTensor.from_row_lengths(leaf, length, validate=False), items)


def _narrowed(numbers: tf.Tensor, dtype: tf.DType, lost: set[int], owners: tf.Tensor | None = None) -> tf.Tensor:
    """Python numbers as the dtype that TensorFlow gives them; ``lost`` gets the members with those that do not fit.

    owners: whose each is, if not one of each member.
    """
    if dtype != tf.int32:
        return tf.cast(numbers, dtype)
    if not tf.executing_eagerly():
        fits = (numbers >= dtype.min) & (numbers <= dtype.max)
        message = f"autobatch: an int in the result does not fit {dtype.name}"
        check = None if is_part_of_program() else tf.debugging.Assert(tf.reduce_all(fits), [message])
        with tf.control_dependencies([] if check is None else [check]):
            return tf.where(fits, tf.cast(numbers, dtype), dtype.min)
    wide = numbers.numpy()  # type: ignore[attr-defined]
    narrow = wide.astype(np.int32)
    if not np.array_equal(wide, narrow):
        unfit = wide != narrow
        at = np.nonzero(unfit)[0]
        lost.update((at if owners is None else owners.numpy()[at]).tolist())  # type: ignore[attr-defined]
        narrow[unfit] = dtype.min
    return tf.constant(narrow)


def does_not_fit(dtype: tf.DType, members: Sequence[int], taken: Arguments) -> errors.MemberError:
    """The error for ints of these members."""
    lost = tuple(taken.first + member for member in members)
    return errors.MemberError(
        f"An int in the result does not fit {dtype.name}, in members {', '.join(map(str, lost[:8]))}.",
        help="" if dtype == tf.int64 else "pass 64-bit arguments, and Python numbers come back in 64 bits.",
        members=lost,
    )
