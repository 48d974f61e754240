"""Whether the user's code gives the same when it runs again: what it gives while it is traced stands for all members.

A helper that counts its calls, takes from a list of the module's or looks at the clock would give every member the
same, where Python gives each another.  So what reads such things runs twice, and the operations are compared that lead
to what it returned.
"""

from __future__ import annotations

import types
from collections.abc import Collection, Mapping
from typing import Any

import numpy as np
import tensorflow as tf

from autobatch import context, errors, ir
from autobatch.language.keys import key
from autobatch.language.objects import Absent
from autobatch.language.values import WeakScalar, is_tensor
from autobatch.tracing.catching import functions_run
from autobatch.tracing.code import code_key, read_outside
from autobatch.tracing.execute import execute

_REPEATING = (  # packages of what gives the same for the same
    "autobatch", "builtins", "cmath", "collections", "dataclasses", "functools", "math", "numpy", "operator",
    "statistics", "tensorflow", "tensorflow_probability", "typing",
)  # fmt: skip
_PLAIN = (bool, int, float, complex, str, bytes, type(None), range, np.generic, np.ndarray)


class Repeats:
    """A region's operations that may give something else when they run again, with what they were given and made."""

    def __init__(self) -> None:
        self.ran: list[tuple[ir.Assign, dict[str, Any], dict[str, Any]]] = []

    def given(self, op: ir.Assign, env: Mapping[str, Any]) -> dict[str, Any] | None:
        """What an operation is about to get; None if it need not, or cannot, run twice."""
        code = (Repeats, code_key(op.function))
        if not context.remembered(code, lambda: any(not _repeats(value) for value in read_outside(op.function))):
            return None
        given = {v: env[v] for v in op.inputs}
        try:
            leaves = tf.nest.flatten(given)
        except TypeError:  # a dict of keys of unlike types
            return None
        return _copied(given) if all(map(_is_kept, leaves)) else None

    def made(self, op: ir.Assign, given: dict[str, Any] | None, env: Mapping[str, Any]) -> None:
        """Notes what an operation has made of what it was given."""
        if given is not None:
            self.ran.append((op, given, {v: _copied(env[v]) for v in op.outputs}))

    def check(self) -> None:
        """Raises UnsupportedSyntaxError if the operations, run again, make something else."""
        for op, given, made in self.ran:
            again = dict(given)
            try:
                execute((op,), again)
            except Exception:
                again = {}
            if not again or not all(_same(made[v], again[v]) for v in op.outputs):
                error = errors.UnsupportedSyntaxError(
                    "What is called here gives another result when it is called again, and all members would get one.",
                    [(op.location, "")],
                    "pass each member what it needs; count in the function itself.",
                    kind="changing-result",
                )
                error.helpers = functions_run(op.function.call, [given[v] for v in op.inputs])
                raise error


def _copied(value: Any) -> Any:
    """The containers anew, of the same leaves."""
    try:
        return tf.nest.map_structure(lambda leaf: leaf, value)
    except Exception:  # it is no value of a program, which is said later
        return value


def _is_kept(leaf: Any) -> bool:
    """Whether nothing that is done with it changes it."""
    if isinstance(leaf, types.FunctionType):
        return not leaf.__closure__
    if isinstance(leaf, types.BuiltinFunctionType):  # or a method of a list
        return isinstance(leaf.__self__, types.ModuleType | None)
    known = isinstance(leaf, (WeakScalar, Absent, types.ModuleType, type, tf.DType, *_PLAIN))
    return is_tensor(leaf) or (known and not isinstance(leaf, np.ndarray))


def _repeats(value: Any) -> bool:
    """Whether it is known that what stands for this gives the same for the same."""
    if isinstance(value, tuple | frozenset):
        return all(map(_repeats, value))
    if isinstance(value, types.ModuleType):
        return value.__name__.partition(".")[0] in _REPEATING
    if isinstance(value, _PLAIN) or is_tensor(value):
        return True
    if isinstance(value, Collection):
        return False
    module = getattr(value, "__module__", None) if callable(value) else type(value).__module__
    return (module or "").partition(".")[0] in _REPEATING


def _same(one: Any, other: Any) -> bool:
    """Whether two results are the same, as far as that can be known."""
    try:
        leaves = tf.nest.flatten(one)
    except Exception:  # it is no value of a program, which is said later
        return True
    try:
        tf.nest.assert_same_structure(one, other)
    except (TypeError, ValueError):
        return False
    return all(map(_same_leaf, leaves, tf.nest.flatten(other)))


def _same_leaf(one: Any, other: Any) -> bool:
    if isinstance(one, WeakScalar) and isinstance(other, WeakScalar):
        return one.kind is other.kind and _same_leaf(one.tensor, other.tensor)
    if isinstance(one, tf.Tensor) and isinstance(other, tf.Tensor) and hasattr(one, "op") and hasattr(other, "op"):
        return _same_operations(one, other)
    plain = isinstance(one, _PLAIN) or isinstance(other, _PLAIN)
    return not plain or isinstance(one, np.ndarray) or key(one) == key(other)


def _same_operations(one: tf.Tensor, other: tf.Tensor) -> bool:
    """Whether the same operations on the same tensors lead to both."""
    pending, seen = [(one, other)], set[tuple[int, int]]()
    while pending:
        a, b = pending.pop()
        if a is b or (id(a), id(b)) in seen:
            continue
        seen.add((id(a), id(b)))
        if a.op.type != b.op.type or a.value_index != b.value_index or _attributes(a.op) != _attributes(b.op):
            return False
        pending += zip(a.op.inputs, b.op.inputs, strict=True)
    return True


def _attributes(operation: tf.Operation) -> dict[str, bytes]:
    """Those that say what it does; functions have names of their own each time."""
    found = operation.node_def.attr
    names = (name for name in found if not name.startswith("_") and found[name].WhichOneof("value") != "func")
    return {name: found[name].SerializeToString() for name in names}
