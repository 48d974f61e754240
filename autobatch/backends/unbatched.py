"""The user's function in plain Python, one member at a time.

Tensors have no ``x[i] = v``: the function is rewritten so that it makes a new tensor, which is found by whoever holds
the old one.  A slice is a copy, as TensorFlow's are.
"""

from __future__ import annotations

import enum
from collections.abc import Callable, Sequence
from typing import Any

import gast
import numpy as np
import tensorflow as tf

from autobatch import context, errors
from autobatch.frontend import item_assignment
from autobatch.frontend.source import compile_functions, read
from autobatch.frontend.syntax import names
from autobatch.language.keys import key
from autobatch.language.values import DEFAULT_DTYPES, WIDE_DTYPES, is_tensor


def python_function(function: Callable) -> Callable:
    """The user's function itself, or, if tensors may change in place in it, with item assignments rewritten."""
    if not _changes(function, set()):
        return function
    source = read(function, {})
    tree, _ = item_assignment.rewrite(source)
    tree = item_assignment.followed(tree)
    # The name must not be the user's: inside, that stands for the autobatched function.
    definition = gast.FunctionDef(
        name="ab__unbatched",
        args=tree.args,
        body=tree.body,
        decorator_list=[],
        returns=None,
        type_comment=None,
        type_params=[],
    )
    definition.args = _without_defaults(tree.args)
    (rewritten,) = compile_functions(source, [gast.copy_location(definition, tree)])
    rewritten.__defaults__ = function.__defaults__  # type: ignore[attr-defined]
    rewritten.__kwdefaults__ = function.__kwdefaults__  # type: ignore[attr-defined]
    return rewritten


def _changes(function: Callable, seen: set[int]) -> bool:
    """Whether the function, or an autobatched one that it calls by name, assigns items."""
    seen.add(id(function))
    source = read(function, {})
    tree, found = item_assignment.rewrite(source)
    called = (getattr(source.lookup(name, None), "_fn", None) for name in names(tree.body))
    return found or any(_changes(fn, seen) for fn in called if fn is not None and id(fn) not in seen)


def _without_defaults(arguments: gast.arguments) -> gast.arguments:
    return gast.arguments(
        args=arguments.args, posonlyargs=arguments.posonlyargs, vararg=None, kwonlyargs=arguments.kwonlyargs,
        kw_defaults=[None] * len(arguments.kwonlyargs), kwarg=None, defaults=[],
    )  # fmt: skip


def as_value(leaf: Any) -> Any:
    """An argument's leaf, which item assignment must not change for the caller."""
    return tf.constant(leaf) if isinstance(leaf, np.ndarray) and leaf.dtype != object else leaf


def call(function: Callable, *args: Any, **kwargs: Any) -> Any:
    """Runs the function, and every autobatched one that it calls, on one example."""
    with context.entered(context.Mode.MEMBER), context.moving():
        return tf.nest.map_structure(context.now, function(*args, **kwargs))


def stack(results: Sequence[Any], wide: bool) -> Any:
    """One result per member as one batched result; ``wide``: Python numbers take 64 bits.

    Lists of unlike lengths become ragged tensors.
    """
    first = results[0]
    if all(isinstance(result, list) for result in results) and len({*map(len, results)}) > 1:
        return _ragged(results, wide)
    if isinstance(first, tuple) and all(type(each) is type(first) and len(each) == len(first) for each in results):
        parts = [stack(column, wide) for column in zip(*results, strict=True)]
        return first._make(parts) if hasattr(first, "_make") else tuple(parts)
    for result in results[1:]:
        try:
            tf.nest.assert_same_structure(first, result)
        except (ValueError, TypeError) as error:
            raise errors.TypeMismatchError(f"Two members return different structures: {first} and {result}.") from error
    columns = zip(*(tf.nest.flatten(result) for result in results), strict=True)
    return tf.nest.pack_sequence_as(first, [_stack_leaf(column, wide) for column in columns])


def _ragged(lists: Sequence[list], wide: bool) -> Any:
    """Lists of unlike lengths as ragged tensors, in the structure of an item."""
    items = stack([item for values in lists for item in values], wide)
    lengths = [len(values) for values in lists]
    return tf.nest.map_structure(lambda leaf: tf.RaggedTensor.from_row_lengths(leaf, lengths), items)


def _stack_leaf(column: Sequence[Any], wide: bool) -> Any:
    dtype = next((tf.convert_to_tensor(v).dtype for v in column if is_tensor(v) or hasattr(v, "dtype")), None)
    if dtype is None:
        for text in (str, bytes):
            if all(isinstance(value, text) for value in column):
                return tf.constant([*column])
        kinds = {int if isinstance(value, enum.IntEnum) else type(value) for value in column}
        kind = float if float in kinds else int if int in kinds else bool if bool in kinds else None
        if kind is None:
            if len({*map(key, column)}) > 1:
                raise errors.TypeMismatchError(
                    f"Two members return what no tensor holds: {column[0]!r}, and another.",
                    help="return numbers or texts; of a member of an enum, its .name or its .value.",
                    kind="object-returned",
                )
            return column[0]
        dtype = (WIDE_DTYPES if wide else DEFAULT_DTYPES)[kind]
        lost = [z for z, value in enumerate(column) if kind is int and not dtype.min <= value <= dtype.max]
        if lost:
            raise errors.MemberError(f"An int in the result does not fit {dtype.name}.", members=tuple(lost))
    return tf.stack([tf.convert_to_tensor(value, dtype) for value in column])
