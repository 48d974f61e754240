"""What desugared code calls: Python's operators and builtins, for values that may be tensors.

Each does just what Python does when its operands are Python values, so the desugared program means the same as
the user's.
"""

from __future__ import annotations

import builtins
import collections
import copy
import functools
import operator
from collections.abc import Callable, Iterable, Set
from types import FunctionType
from typing import Any

import numpy as np
import tensorflow as tf

from autobatch import context, errors
from autobatch.language import arithmetic, as_they_are, augmented, functions, list_queries
from autobatch.language.augmented import in_place
from autobatch.language.choices import and_, both, either, ifexp, limited_to, not_, or_, truth
from autobatch.language.comparisons import equal, ordered
from autobatch.language.copies import deepcopy, shallow_copy
from autobatch.language.dicts import found_in
from autobatch.language.each_of import each, each_key, member_of
from autobatch.language.functions import others
from autobatch.language.indexing import getitem, place, setitem, slice_
from autobatch.language.kinds import dispatched, getattr_, hasattr_, isinstance_, special, type_
from autobatch.language.list_methods import (
    append,
    augment,
    clear,
    copied,
    delete,
    extend,
    insert,
    joined,
    of_range,
    owned,
    place_of_append,
    pop,
    remove,
    reverse,
    rotate,
)
from autobatch.language.list_queries import counted, extreme, in_list, index, kept_iterator, summed
from autobatch.language.lists import MemberList, is_list
from autobatch.language.lookups import get
from autobatch.language.looping import (
    admits,
    gone_through,
    item,
    item_from_end,
    items_of,
    length_from_end,
    range_,
    rows,
    sequence,
    unroll,
    unroll_first,
    unrolled,
)
from autobatch.language.mathematics import stand_in
from autobatch.language.numbers import bool_, cast_to, divmod_, float_, int_, pow_, round_
from autobatch.language.numpy import attribute, method, numpy_
from autobatch.language.objects import (
    MemberObject,
    as_member,
    blank,
    is_a,
    member_class,
    of_fields,
    replaced,
    setattr_,
    users_class,
)
from autobatch.language.one_of import OneOf
from autobatch.language.operand_order import left_first
from autobatch.language.optional import attribute_if_any, attribute_is_none
from autobatch.language.paths import Field, exchange, indices, pop_inside
from autobatch.language.raising import absent, assert_, held, raise_, raise_untold, untold
from autobatch.language.sorting import distinct, max_by, min_by, sorted_by, sorted_numbers
from autobatch.language.sorting import sorted_by as sort_by  # in place
from autobatch.language.structs import Rows
from autobatch.language.texts import bin_, chr_, format_, hex_, mod, oct_, ord_, print_, repr_, str_, text
from autobatch.language.unpacking import unpack, unpack_rest
from autobatch.language.values import (
    WeakScalar,
    is_tensor,
    narrowed,
    per_member,
    python_kind,
)

arithmetic.install()
as_they_are.install()
augmented.install()

__all__ = [
    "Field", "absent", "admits", "and_", "append", "as_member", "assert_", "attribute", "attribute_if_any",
    "attribute_is_none", "augment", "bin_", "blank", "bool_", "both", "cast_to", "chr_", "clear", "copied", "counted",
    "deepcopy", "delete", "dispatched", "distinct", "divmod_", "either", "equal", "exchange", "extend", "float_",
    "format_", "get", "getattr_", "getitem", "gone_through", "hasattr_", "held", "hex_", "ifexp", "in_place", "index",
    "indices", "insert", "int_", "is_a", "isinstance_", "item", "item_from_end", "items_of", "kept_iterator",
    "left_first", "length_from_end", "max_by", "member_class", "member_of", "method", "min_by", "mod", "not_", "numpy_",
    "oct_", "of_fields", "of_range", "or_", "ord_", "ordered", "others", "place", "place_of_append", "pop",
    "pop_inside", "pow_", "print_", "raise_", "raise_untold", "range_", "remove", "replaced", "repr_", "reverse",
    "rotate", "round_", "rows", "sequence", "setattr_", "setitem", "shallow_copy", "slice_", "sort_by", "sorted_by",
    "special", "stand_in", "str_", "text", "truth", "type_", "unpack", "unpack_rest", "unroll", "unroll_first",
    "unrolled", "untold",
]  # fmt: skip


def now(value: Any) -> Any:
    """A name's value in plain Python, where ``x[i] = v`` has made another tensor of it."""
    return context.now(value)


def at_once(value: Any) -> Any:
    """A function or generator that may be used only in the expression that makes it.

    Later, Python's would see later values of the variables that it captured; this one would not.
    """
    made = context.primitive()

    def check() -> None:
        if context.primitive() is not made:
            raise errors.UnsupportedSyntaxError(
                "A function is called later than it was made, and uses variables that are assigned more than once.",
                help="make it where it is called, or use another name for one of the values.",
                kind="kept-closure",
            )

    def function(*args: Any, **kwargs: Any) -> Any:
        check()
        return value(*args, **kwargs)

    def generator() -> Any:
        for part in value:
            check()
            yield part

    return function if callable(value) else generator()


def integer(value: Any) -> Any:
    """A bound of a range, as the Python int that ``range`` makes of it."""
    if is_tensor(value) and value.dtype.is_integer and value.shape.rank == 0:
        return WeakScalar(narrowed(value, tf.int64), int, near=value.dtype.size < 8)
    if isinstance(value, WeakScalar) and value.kind is int:
        return value
    if per_member(value):
        dtype = value.kind.__name__ if isinstance(value, WeakScalar) else f"{value.dtype.name}{list(value.shape)}"
        raise errors.TypeMismatchError(
            f"A range needs integers; this is {dtype}.", help="use tf.cast.", kind="range-type"
        )
    return operator.index(value)


def in_range(i: Any, stop: Any, step: Any) -> Any:
    """Whether ``range(..., stop, step)`` still yields ``i``."""
    if not per_member(step):
        if step == 0:
            raise errors.TypeMismatchError("The step of this range is zero.", kind="range-step")
        return i < stop if step > 0 else i > stop
    nonzero = truth(step != 0)
    context.check(nonzero, errors.raised_by_members(ValueError), "the step of the range is zero")
    rising, falling = tf.convert_to_tensor(i < stop), tf.convert_to_tensor(i > stop)
    return tf.where(tf.convert_to_tensor(step > 0), rising, falling)


# --- builtins -----------------------------------------------------------------------------------


_NOTHING = object()


def _extreme(python: Callable, order: str) -> Callable:
    def extreme(*args: Any, key: Any = None, default: Any = _NOTHING) -> Any:
        only = rows(args[0]) if len(args) == 1 else args
        if isinstance(only, MemberList) and key is None:
            return _extreme_of_list(only, python, default)
        if python_kind(only) is not None:
            raise TypeError(f"'{python_kind(only).__name__}' object is not iterable")  # type: ignore[union-attr]
        values = list(only) if isinstance(only, Iterable) and not is_tensor(only) else [only]
        keys = values if key is None else [key(value) for value in values]
        if not values and default is not _NOTHING:
            return default
        if len(values) < 2 or not any(map(per_member, tf.nest.flatten([values, keys]))):
            return python(values if len(args) == 1 else args, key=key)
        best, best_key = values[0], keys[0]
        for value, its_key in zip(values[1:], keys[1:], strict=True):
            better = ordered(its_key, order, best_key)
            best = ifexp(better, lambda v=value: v, lambda b=best: b)
            best_key = ifexp(better, lambda v=its_key: v, lambda b=best_key: b)
        return best

    return extreme


def _extreme_of_list(values: MemberList, python: Callable, default: Any) -> Any:
    def best() -> Any:
        if len(values.columns) > 1:
            return max_by(values, values) if python is max else min_by(values, values)
        return extreme(values, python is max)

    if default is _NOTHING:
        return best()
    return ifexp(WeakScalar(values.length.tensor > 0, bool), best, lambda: default)


def len_(value: Any) -> Any:
    if isinstance(value, Rows | MemberList):
        return value.length
    if isinstance(value, OneOf):
        return each(len, value)
    if isinstance(value, MemberObject):
        return users_class(value).__len__(value)
    if isinstance(value, WeakScalar) or (is_tensor(value) and value.shape.rank == 0):
        raise errors.TypeMismatchError(
            "A scalar has no length.",
            help="for one member this is a scalar: the batch axis is not there.",
            kind="scalar-length",
        )
    if is_tensor(value) and value.shape.rank and value.shape[0] is not None:
        return value.shape[0]
    return len(value)


def sorted_(values: Any, *, key: Any = None, reverse: Any = False) -> Any:
    """``sorted(values)``, of members' numbers, or tuples of such, as a list of as many."""
    items = rows(values)
    if isinstance(items, MemberList) and (key is not None or not tf.nest.is_nested(items.kinds)):
        return list_queries.sorted_(items, key=key, reverse=reverse)
    if isinstance(items, MemberList):
        return sorted_by(items, items, reverse)
    items = list(items)
    if not any(map(per_member, tf.nest.flatten(items))):
        return sorted(items, key=key, reverse=reverse)
    if key is None and all(isinstance(item, tuple | MemberObject | OneOf) for item in items):
        return sorted_by(items, items, reverse)
    if key is not None or per_member(reverse) or any(python_kind(item) is None for item in items):
        raise errors.TypeMismatchError(
            "Members' values are sorted that are no numbers, or in an order that differs between members.",
            help="sort by a key that is a number, or several: sorted(pairs, key=lambda pair: (pair[0], pair[1])).",
            kind="sorted-by-key",
        )
    return sorted_numbers(items, bool(reverse))


def sort(values: Any, *, key: Any = None, reverse: Any = False) -> Any:
    """``values`` after ``values.sort()``"""
    if isinstance(values, MemberList):
        return sorted_(values, key=key, reverse=reverse)
    if not isinstance(values, list):
        values.sort(**({} if key is None else {"key": key}) | ({} if reverse is False else {"reverse": reverse}))
        return values
    values = owned(values)
    values[:] = sorted_(values, key=key, reverse=reverse)
    return values


def is_(left: Any, right: Any) -> Any:
    """``left is right``, of which Python says little where numbers are concerned."""
    for value, other in ((left, right), (right, left)):
        if isinstance(value, OneOf):
            return each(lambda option, other=other: is_(option, other), value)
    for value, other in ((left, right), (right, left)):
        if not per_member(value):
            continue
        if isinstance(other, bool):
            if isinstance(value, WeakScalar) and value.kind is int:  # a bool, perhaps, on another path
                raise _unknown_identity("numbers or tensors")
            return value == other if python_kind(value) is bool else False
        if other is None or not (per_member(other) or isinstance(other, int | float | complex)):
            return False
        raise _unknown_identity("numbers or tensors")
    if is_list(left) and is_list(right) and left is not right:
        raise _unknown_identity("lists")
    if left is right or type(left) is not type(right):
        return left is right
    if isinstance(left, FunctionType) and left.__code__ is not right.__code__:
        return False
    if isinstance(left, MemberObject):
        raise _unknown_identity("objects", "give each a number of its own, and compare those.")
    if isinstance(left, list | dict | set | tuple | FunctionType):
        raise _unknown_identity("containers or functions")  # which are made anew after a branch, a loop or a call
    return False


def is_not(left: Any, right: Any) -> Any:
    """``left is not right``"""
    return not_(is_(left, right))


def _unknown_identity(what: str, instead: str = "compare them by ==.") -> errors.TypeMismatchError:
    return errors.TypeMismatchError(
        f"Whether two {what} are one object is not known here.",
        help=instead,
        kind="identity-of-members",
    )


def any_(values: Any) -> Any:
    """``any(values)``, which asks for no value after the first that is true."""
    return _sought(values, either, False)


def all_(values: Any) -> Any:
    """``all(values)``, which asks for no value after the first that is false."""
    return _sought(values, both, True)


def _sought(values: Any, joined: Callable, start: bool) -> Any:
    """What the values come to; what making one has to say is only of the members that still ask for it."""
    if isinstance(values, MemberList):
        return list_queries.sought(values, start)
    iterator, end = iter(rows(values)), object()
    found: Any = start
    while per_member(found) or found is start:
        asks = tf.equal(truth(found), start)
        try:
            value = limited_to(asks, lambda: next(iterator, end))
        except (ArithmeticError, LookupError, ValueError) as error:
            if isinstance(error, errors.AutobatchError) or not per_member(found):
                raise
            limited_to(asks, functools.partial(raise_, type(error), "{}", functools.partial(tuple, [str(error)])))
            break
        if value is end:
            break
        found = joined(found, lambda v=value: v)
    return found


def _is_array(value: Any) -> bool:
    return isinstance(value, np.ndarray | tf.Tensor) and len(value.shape) > 0


_BY_HASH = (dict.__contains__, set.__contains__, frozenset.__contains__)


def in_(item: Any, container: Any) -> Any:
    """``item in container``"""
    if isinstance(container, OneOf):
        return each(lambda option: in_(item, option), container)
    if isinstance(item, OneOf) and not (is_list(container) or isinstance(container, tuple)):
        return each(lambda option: in_(option, container), item)
    if isinstance(item, tuple) and any(isinstance(part, OneOf) for part in item) and isinstance(container, dict | Set):
        return each_key(lambda key: in_(key, container), item)
    if isinstance(container, range) and per_member(item):
        first, last = sorted((container[0], container[-1])) if container else (0, -1)
        return both(first <= item, lambda: both(item <= last, lambda: (item - first) % abs(container.step) == 0))
    if isinstance(container, MemberList):
        return in_list(item, container)
    if _is_array(container) and (per_member(item) or per_member(container)):
        return tf.reduce_any(container == item)
    is_hashed = getattr(type(container), "__contains__", None) in _BY_HASH and not isinstance(item, list | dict | set)
    if is_hashed and any(map(per_member, tf.nest.flatten(item))):
        if container and (isinstance(item, tuple) or python_kind(item) is not None):
            return tf.reduce_any(found_in(container, item))
        container = [*container]
    if not isinstance(container, list | tuple) or not any(map(per_member, tf.nest.flatten([item, *container]))):
        return item in container
    found: Any = False
    for element in container:
        found = either(found, lambda e=element: equal(item, e))
    return found


def _over_rows(python: Callable) -> Callable:
    """A builtin that goes through iterables, which here may be tensors."""

    def over_rows(*values: Any, **options: Any) -> Any:
        return python(*map(rows, values), **options)

    return over_rows


def list_(*values: Any) -> Any:
    """``list(value)``"""
    items = [*map(rows, values)]
    return copied(items[0]) if len(items) == 1 and isinstance(items[0], MemberList) else list(*items)


def concatenated(*parts: Any) -> Any:
    """``[*part, *part, ...]``"""
    if not any(isinstance(part, MemberList) for part in parts):
        return [item for part in parts for item in rows(part)]
    first, *others = (part if isinstance(part, MemberList) else [*rows(part)] for part in parts)
    return functools.reduce(joined, others, copied(first) if isinstance(first, MemberList) else first)


def sum_(values: Any, start: Any = 0) -> Any:
    """``sum(values, start)``"""
    return summed(values, start) if isinstance(values, MemberList) else sum(rows(values), start)


def deque_(*values: Any, **options: Any) -> Any:
    """``collections.deque(values)``, of which a list does all that is known here."""
    if options or len(values) > 1:
        raise errors.TypeMismatchError(
            "A deque with a greatest length is made.", help="popleft() where it is full.", kind="deque-of-a-length"
        )
    return list_(*values)


def enumerate_(values: Any, start: Any = 0) -> Any:
    """``enumerate(values, start)``"""
    items = rows(values)
    return list_queries.numbered(items, start) if isinstance(items, MemberList) else enumerate(items, start)


def reversed_(values: Any) -> Any:
    """``reversed(values)``"""
    items = rows(values)
    return reverse(items) if isinstance(items, MemberList) else reversed(items)


def zip_(*values: Any, **options: Any) -> Any:
    """``zip(*values)``"""
    items = [*map(rows, values)]
    if any(isinstance(part, MemberList) for part in items):
        return list_queries.zipped([part if isinstance(part, MemberList) else [*part] for part in items], **options)
    return zip(*items, **options)  # noqa: B905


tuple_ = _over_rows(tuple)
min_, max_ = _extreme(min, "<"), _extreme(max, ">")


# The builtins, and TensorFlow's functions, that need an operator of ours, by its name.
BUILTINS = {
    tf.cast: "cast_to",
    builtins.zip: "zip_",
    builtins.divmod: "divmod_",
    builtins.round: "round_",
    builtins.pow: "pow_",
    operator.is_: "is_",
    operator.is_not: "is_not",
    copy.copy: "shallow_copy",
    copy.deepcopy: "deepcopy",
    builtins.enumerate: "enumerate_",
    builtins.reversed: "reversed_",
    builtins.sorted: "sorted_",
    builtins.list: "list_",
    builtins.tuple: "tuple_",
    builtins.sum: "sum_",
    builtins.str: "str_",
    builtins.repr: "repr_",
    builtins.format: "format_",
    builtins.ord: "ord_",
    builtins.chr: "chr_",
    builtins.bin: "bin_",
    builtins.oct: "oct_",
    builtins.hex: "hex_",
    builtins.any: "any_",
    builtins.all: "all_",
    builtins.min: "min_",
    builtins.max: "max_",
    builtins.int: "int_",
    builtins.float: "float_",
    builtins.bool: "bool_",
    builtins.len: "len_",
    builtins.isinstance: "isinstance_",
    builtins.hasattr: "hasattr_",
    builtins.getattr: "getattr_",
    builtins.type: "type_",
    builtins.range: "of_range",
    collections.deque: "deque_",
}
functions.install({python: globals()[name] for python, name in BUILTINS.items()})
