"""What an operation does that reads a variable which is None for some members, and which is beside a flag.

    best or 7        unless_none(or_(best, lambda: 7), best.none)
    best + 1         present(best.none); best + 1

A test, an operator that takes None too, and code of the user's that does, are run for both.  All else fails the
members whose variable is None.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from types import CodeType
from typing import Any

import tensorflow as tf

from autobatch import context, errors, ir
from autobatch.ir.types import ABSENT
from autobatch.language import operators
from autobatch.language.choices import ifexp, truth
from autobatch.language.copies import deepcopy
from autobatch.language.values import is_tensor
from autobatch.tracing.catching import functions_run

_LAZY = {"and_", "both", "either", "ifexp", "or_"}  # these evaluate operands where a member needs them
_ASK = {"hasattr_", "is_", "is_a", "isinstance_", "left_first", "type_"}
_TAKE_NONE = {"assert_", "bool_", "equal", "get", "in_", "not_", "print_", "raise_", "raised", "truth"} | _ASK | _LAZY
_COMPARES = re.compile(r"[!=]= ")


def takes_none(function: ir.Expression) -> bool:
    """Whether an operation may mean something for None, as operators that take it, choices and users' code may."""
    called = _called(function)
    asks = bool(called & _TAKE_NONE) or _COMPARES.search(function.template) is not None
    return function.kind == "member" and ((asks and not function.changes) or called <= _TAKE_NONE or _is_users(called))


def with_none(op: ir.Primitive, read: Sequence[str]) -> ir.Expression:
    """The operation, for variables ``read`` that may be None, the flags of which are its last inputs."""
    function, count = op.function, len(op.inputs)

    def run(*given: Any) -> Any:
        values, flags = given[:count], given[count:]
        accepted = not _is_users(_called(function)) or _accepts_none(op, values, read)
        if accepted or function.instead is not None:
            return decided(values, flags)
        refuse_lazy(op)
        for variable, none in zip(read, flags, strict=True):
            check_present(none, failure(variable))
        return function.call(*values)

    def decided(values: Sequence[Any], flags: Sequence[Any]) -> Any:
        if not flags:
            return function.call(*values)
        variable, none = read[-len(flags)], truth(flags[0])
        holes = [None if v == variable else value for v, value in zip(op.inputs, values, strict=True)]

        def absent() -> Any:
            return decided(holes, flags[1:])

        def present() -> Any:
            return decided(values, flags[1:])

        if values[op.inputs.index(variable)] is ABSENT:
            none = True
        try:
            with context.collected_remarks() as made:
                result = ifexp(none, absent, present)
        except Exception as error:  # what it does to None, mostly; if not, it does it again
            if function.instead is not None:
                caught = function.instead(error if isinstance(error, AttributeError | LookupError) else TypeError())
                return ifexp(none, caught.call, present)
            refuse_lazy(op)
            with context.collected_remarks() as made:
                result = present()  # if that is what raises, nothing is said of None
            check_present(none, failure(variable))
        for remark in made:
            context.remark(remark)
        return result

    text = f"unless_none({function.template}, {', '.join(f'«{count + k}»' for k in range(len(read)))})"
    return replace(function, template=text, call=run)


def _called(function: ir.Expression) -> set[str]:
    """The operators, functions and .methods that an operation calls."""
    return set(re.findall(r"(\.?\w+)\(", function.template))


def _is_users(called: set[str]) -> bool:
    return any(name == "member_class" or (name != "raised" and not hasattr(operators, name)) for name in called)


def _accepts_none(op: ir.Primitive, values: Sequence[Any], read: Sequence[str]) -> bool:
    """Whether the user's code does anything but raise for None, for some of the variables or all.

    Raises UnsupportedSyntaxError, which asks for the functions that it calls as programs, if there are any: those tell
    the members apart.
    """
    for holes in _holes(op, values, read):
        results: list[Any] = []
        functions = _tried(op, holes, results)
        if functions and results:
            error = errors.UnsupportedSyntaxError(
                f"`{_name(read[0])}` is None for some members, and goes into a function that is not autobatched.",
                help="call it by its name, with its arguments one by one.",
                kind="not-autobatched",
            )
            error.helpers = functions
            raise error
        if results:
            return True
    return False


def _holes(op: ir.Primitive, values: Sequence[Any], read: Sequence[str]) -> Iterator[list[Any]]:
    """The operation's inputs with None for one or more of the variables."""
    for count in range(1, len(read) + 1):
        for absent in itertools.combinations(read, count):
            yield [None if v in absent else value for v, value in zip(op.inputs, values, strict=True)]


def _tried(op: ir.Primitive, holes: Sequence[Any], results: list[Any]) -> frozenset[CodeType]:
    """The functions of the user's that the operation calls; its result, if it has one, is put to the results."""
    with context.collected_remarks(), context.collected_risks(), context.collected_choices():
        return functions_run(lambda *inputs: results.append(op.function.call(*inputs)), [*map(deepcopy, holes)])


def refuse_lazy(op: ir.Assign) -> None:
    """Raises UnsupportedSyntaxError if what does not work with None has operands that some members alone need."""
    if _called(op.function) & _LAZY:
        raise errors.UnsupportedSyntaxError(
            "Parts of this are not for all members, and what they read is None for some.",
            [(op.location, "")],
            "write it with `if` and `else`, outside of lambdas.",
            kind="none-value",
        )


def _name(variable: str) -> str:
    return variable.split(".")[0]


def failure(variable: str) -> str:
    """What is said of members whose variable is None."""
    return f"`{_name(variable)}` is None where a value is needed"


def check_present(none: Any, failure: str) -> None:
    """Fails the members for which the flag is set."""
    known = truth(none)
    context.check(tf.logical_not(known) if is_tensor(known) else not known, errors.NoneValueError, failure)
