"""What desugared code calls: Python's operators and builtins, for values that may be tensors.

Each does just what Python does when its operands are Python values, so the desugared program means the same as
the user's.
"""

from __future__ import annotations

import builtins
import operator
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import tensorflow as tf

from autobatch import context, errors
from autobatch.language import arithmetic
from autobatch.language.indexing import (
    getitem,
    item,
    item_from_end,
    place,
    rows,
    sequence,
    setitem,
    slice_,
    unpack,
    unroll_first,
    unrolled,
)
from autobatch.language.structs import Rows, contents
from autobatch.language.values import (
    WIDE_DTYPES,
    WeakScalar,
    adopts,
    check_fits,
    is_tensor,
    narrowed,
    per_member,
    promoted,
    weak,
)

arithmetic.install()

__all__ = [
    "getitem", "item", "item_from_end", "place", "rows", "sequence", "setitem", "slice_", "unpack", "unroll_first",
    "unrolled",
]  # fmt: skip


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
            kind="condition-of-several",
        )
    return value if value.dtype == tf.bool else tf.not_equal(value, tf.zeros([], value.dtype))


def not_(value: Any) -> Any:
    """``not value``"""
    known = truth(value)
    return WeakScalar(tf.logical_not(known), bool) if per_member(value) else not known


def _unified(left: Any, right: Any) -> tuple[Any, Any]:
    """Both values as tensors of one dtype and shape, for a choice between them."""
    left, right = promoted(left, right)
    if isinstance(left, WeakScalar | bool | int | float) and isinstance(right, WeakScalar | bool | int | float):
        kinds = {value.kind if isinstance(value, WeakScalar) else type(value) for value in (left, right)}
        kind = float if float in kinds else int if int in kinds else bool
        a, b = (value if isinstance(value, WeakScalar) else weak(value) for value in (left, right))
        return (a, b) if a.kind is b.kind else (a + kind(0), b + kind(0))
    dtype = next((value.dtype for value in (left, right) if is_tensor(value)), None)
    tensors = []
    for value in (left, right):
        if isinstance(value, WeakScalar):
            value = value.astype(dtype or value.tensor.dtype)
        elif isinstance(value, bool | int | float) and dtype is not None and not adopts(type(value), dtype):
            raise errors.TypeMismatchError(
                f"One side of the choice is {value!r}, the other has dtype {dtype.name}.", kind="choice-of-unlike"
            )
        tensors.append(_choosable(value, left, right, dtype))
    a, b = tensors
    if a.dtype != b.dtype or a.shape != b.shape:
        raise errors.TypeMismatchError(
            f"The two sides of this choice differ: {a.dtype.name}{list(a.shape)} and {b.dtype.name}{list(b.shape)}.",
            kind="choice-of-unlike",
        )
    return a, b


def _choosable(value: Any, left: Any, right: Any, dtype: tf.DType | None) -> tf.Tensor:
    if dtype is not None:
        check_fits(value, dtype)
    try:
        tensor = tf.convert_to_tensor(value, dtype_hint=dtype)
    except (TypeError, ValueError):
        tensor = None
    if tensor is None or tensor.dtype == tf.string:
        raise errors.TypeMismatchError(
            f"Members choose between {left!r} and {right!r}, of which one is neither a tensor nor a number.",
            help="choose between numbers.",
            kind="choice-of-objects",
        )
    return tensor


def ifexp(condition: Any, yes: Callable[[], Any], no: Callable[[], Any]) -> Any:
    """``yes() if condition else no()``, where both sides are cheap and cannot fail."""
    known = truth(condition)
    if not per_member(condition):
        return yes() if known else no()
    left, right = _if(known, yes), _if(tf.logical_not(known), no)
    if tf.nest.is_nested(left):
        tf.nest.assert_same_structure(left, right)
        chosen = left if left is right else tf.nest.map_structure(lambda a, b: _choice(known, a, b), left, right)
        if left is not right:
            context.choice(chosen, contents(chosen))
        return chosen
    return _choice(known, left, right)


def _if(condition: tf.Tensor, side: Callable[[], Any]) -> Any:
    """``side()``, whose checks are only of the members that meet the condition."""
    with context.collected_remarks() as made:
        value = side()
    for remark in made:
        context.remark(replace(remark, passed=tf.logical_or(remark.passed, tf.logical_not(condition))))
    return value


def _choice(condition: tf.Tensor, left: Any, right: Any) -> Any:
    if left is right:
        return left
    sides = left, right
    left, right = _unified(left, right)
    if isinstance(left, WeakScalar):
        return WeakScalar(tf.where(condition, left.tensor, right.tensor), left.kind, left.near and right.near)
    chosen = tf.where(condition, left, right)
    for side in sides:
        context.view(chosen, side)
    return chosen


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


def text(template: str, *values: Any) -> str:
    """``template.format(*values)``"""
    _no_members(values)
    return template.format(*values)


def _no_members(values: Any) -> None:
    if any(map(per_member, tf.nest.flatten(values))):
        raise errors.TypeMismatchError(
            "This text would differ between members.",
            help="print(...) and assert show each member's own value.",
            kind="text-of-members",
        )


def _to_text(python: Callable) -> Callable:
    def convert(*args: Any) -> str:
        _no_members(args)
        return python(*args)

    return convert


def print_(text: str, *values: Any) -> None:
    """Prints ``text.format(*values)``."""
    context.remark(context.Remark(text, values))


def mod(left: Any, right: Any) -> Any:
    """``left % right``, which may be a text."""
    if isinstance(left, str):
        _no_members(right)
    return left % right


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
    context.check(nonzero, errors.MemberError, "the step of the range is zero")
    rising, falling = tf.convert_to_tensor(i < stop), tf.convert_to_tensor(i > stop)
    return tf.where(tf.convert_to_tensor(step > 0), rising, falling)


# --- builtins -----------------------------------------------------------------------------------


def _extreme(python: Callable, choose: Callable) -> Callable:
    def extreme(*args: Any, **kwargs: Any) -> Any:
        only = rows(args[0]) if len(args) == 1 else args
        values = list(only) if isinstance(only, list | tuple) else list(args)
        if kwargs or len(values) < 2 or not any(per_member(value) for value in values):
            return python(*args, **kwargs)
        best = values[0]
        for value in values[1:]:
            best = ifexp(choose(value, best), lambda v=value: v, lambda b=best: b)
        return best

    return extreme


def _cast(python: type) -> Callable:
    def cast(*args: Any) -> Any:
        if len(args) != 1 or not per_member(args[0]):
            return python(*args)
        value = args[0].tensor if isinstance(args[0], WeakScalar) else args[0]
        if python is bool:
            return WeakScalar(truth(value), bool)
        if value.shape.rank != 0:
            raise errors.TypeMismatchError(
                f"{python.__name__}() needs a scalar per member, not shape {value.shape}.", kind="scalar-function"
            )
        if python is int and value.dtype.is_floating:
            number = tf.abs(value) < 2.0**63
            context.check(
                number, errors.MemberArithmeticError, "a number that is not finite or too large becomes an int"
            )
            value = tf.where(number, value, tf.zeros([], value.dtype))
        if value.dtype.is_integer and python is int:
            near = args[0].near if isinstance(args[0], WeakScalar) else value.dtype.size < 8
            return WeakScalar(narrowed(value, tf.int64), int, near)
        return WeakScalar(tf.cast(value, WIDE_DTYPES[python]), python, near=value.dtype == tf.bool)

    return cast


def len_(value: Any) -> Any:
    if isinstance(value, Rows):
        return value.length
    if isinstance(value, WeakScalar) or (is_tensor(value) and value.shape.rank == 0):
        raise errors.TypeMismatchError(
            "A scalar has no length.",
            help="for one member this is a scalar: the batch axis is not there.",
            kind="scalar-length",
        )
    if is_tensor(value) and value.shape.rank and value.shape[0] is not None:
        return value.shape[0]
    return len(value)


def isinstance_(value: Any, kind: Any) -> bool:
    """``isinstance(value, kind)``: a member's scalar is a number of Python's, and the tensor that it is."""
    python = _python_kind(value)
    if isinstance(value, WeakScalar) and python is float and issubclass(int, kind) != issubclass(float, kind):
        raise _int_or_float()
    if python is not None and issubclass(python, kind):
        return True
    return not isinstance(value, WeakScalar) and isinstance(value, kind)


def _int_or_float() -> errors.TypeMismatchError:
    return errors.TypeMismatchError(
        "Whether this number is an int or a float may differ between members.",
        help="isinstance(x, (int, float)) holds for both; a float that has become an integer is x == int(x).",
        kind="int-or-float",
    )


def type_(value: Any, *rest: Any) -> Any:
    """``type(value)``"""
    if isinstance(value, WeakScalar) and value.kind is float:
        raise _int_or_float()
    return (None if rest else _python_kind(value)) or type(value, *rest)


def _python_kind(value: Any) -> type | None:
    """Which of Python's numbers one member's value is, if it is one."""
    if isinstance(value, WeakScalar):
        return value.kind
    if not is_tensor(value) or value.shape.rank != 0:
        return None
    kinds = ((bool, value.dtype.is_bool), (int, value.dtype.is_integer), (float, value.dtype.is_floating))
    return next((kind for kind, has in kinds if has), None)


def is_(left: Any, right: Any) -> Any:
    """``left is right``, of which Python says little where numbers are concerned."""
    for value, other in ((left, right), (right, left)):
        if not per_member(value):
            continue
        if isinstance(other, bool):
            return value == other if _python_kind(value) is bool else False
        if other is None or not (per_member(other) or isinstance(other, int | float | complex)):
            return False
        raise errors.TypeMismatchError(
            "Whether two numbers or tensors are one object is not known here.",
            help="compare them by ==.",
            kind="identity-of-members",
        )
    return left is right


def any_(values: Any) -> Any:
    """``any(values)``, which asks for no value after the first that is true."""
    return _sought(values, either, False)


def all_(values: Any) -> Any:
    """``all(values)``, which asks for no value after the first that is false."""
    return _sought(values, both, True)


def _sought(values: Any, joined: Callable, start: bool) -> Any:
    """What the values come to; what making one has to say is only of the members that still ask for it."""
    iterator, end = iter(rows(values)), object()
    found: Any = start
    while per_member(found) or found is start:
        value = _if(tf.equal(truth(found), start), lambda: next(iterator, end))
        if value is end:
            break
        found = joined(found, lambda v=value: v)
    return found


def in_(item: Any, container: Any) -> Any:
    """``item in container``"""
    if not isinstance(container, list | tuple) or not any(map(per_member, (item, *container))):
        return item in container
    found: Any = False
    for element in container:
        found = either(found, lambda e=element: item == e)
    return found


def _over_rows(python: Callable) -> Callable:
    """A builtin that goes through iterables, which here may be tensors."""

    def over_rows(*values: Any, **options: Any) -> Any:
        return python(*map(rows, values), **options)

    return over_rows


zip_, enumerate_, reversed_ = _over_rows(zip), _over_rows(enumerate), _over_rows(reversed)
list_, tuple_, sum_ = _over_rows(list), _over_rows(tuple), _over_rows(sum)
str_, repr_, format_ = _to_text(str), _to_text(repr), _to_text(format)
min_, max_ = _extreme(min, operator.lt), _extreme(max, operator.gt)
int_, float_, bool_ = _cast(int), _cast(float), _cast(bool)


def cast_to(value: Any, dtype: Any, name: str | None = None) -> tf.Tensor:
    """``tf.cast(value, dtype)``, of all 64 bits of a Python int."""
    exact: Any = value.tensor if isinstance(value, WeakScalar) and value.kind is int else value
    return tf.cast(exact, dtype, name)


# The builtins, and TensorFlow's functions, that need an operator of ours, by its name.
BUILTINS = {
    tf.cast: "cast_to",
    builtins.zip: "zip_",
    builtins.enumerate: "enumerate_",
    builtins.reversed: "reversed_",
    builtins.list: "list_",
    builtins.tuple: "tuple_",
    builtins.sum: "sum_",
    builtins.str: "str_",
    builtins.repr: "repr_",
    builtins.format: "format_",
    builtins.any: "any_",
    builtins.all: "all_",
    builtins.min: "min_",
    builtins.max: "max_",
    builtins.int: "int_",
    builtins.float: "float_",
    builtins.bool: "bool_",
    builtins.len: "len_",
    builtins.isinstance: "isinstance_",
    builtins.type: "type_",
}
