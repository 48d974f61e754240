"""A batch cannot hold an object of which an attribute is None for some members: those fail.

function f(x)  ->    function f.whole(x)
                       result = call f(x)
                       whole(result)
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import tensorflow as tf

from autobatch import context, errors, ir
from autobatch.language.choices import truth
from autobatch.language.containers import MemberObject, parts_of
from autobatch.language.optional import flagged
from autobatch.language.values import is_tensor


def check_results(program: ir.Program) -> ir.Program:
    """The program that checks the objects that it returns."""
    entry = program.entry
    whole = ir.Expression("whole(«0»)", lambda value: _check(value, entry.name))
    ops = (
        ir.Call(entry.outputs, entry.name, entry.inputs, entry.location),
        *(ir.Primitive((), whole, (v,), entry.location) for v in entry.outputs),
    )
    first = replace(entry, name=f"{entry.name}.whole", blocks=(ir.Block(ops, ir.Return()),))
    return replace(program, functions=(first, *program.functions))


def _check(value: Any, name: str) -> None:
    for attribute, flag in _flags(value):
        none = truth(flag)
        if is_tensor(none):  # what is None for all members is returned as None
            failure = f"`{name}` returns an object whose `.{attribute}` is None, which no batch can hold"
            context.check(tf.logical_not(none), errors.NoneValueError, failure)


def _flags(value: Any) -> Iterator[tuple[str, Any]]:
    if isinstance(value, MemberObject):
        parts = zip(*value.__tf_flatten__(), strict=True)  # type: ignore[attr-defined]
        yield from ((name, part) for each, part in parts if (name := flagged(each)) is not None)
    if isinstance(value, dict | list | tuple | MemberObject):
        for part in parts_of(value):
            yield from _flags(part)
