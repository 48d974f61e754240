"""Calls of what members choose: ``f(x)`` becomes ``g(x) if f is g else h(x)`` where g or h cannot run as it is.

Only once that is known: the program is lowered again, with such calls on the line that was refused.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import CodeType
from typing import Any

import gast

from autobatch.context import GENERATED, is_users
from autobatch.frontend.optional_attributes import OptionalAttributes
from autobatch.frontend.scope import UNKNOWN
from autobatch.frontend.syntax import is_support, load, support
from autobatch.language.functions import takes

Chosen = Mapping[tuple[str, int], tuple[Any, ...]]  # by file and line, what members choose between in calls there


def with_choices(known: Chosen, more: Chosen) -> Chosen:
    """Both, but for functions that a program makes: they are others each time that it is lowered."""
    for place, options in more.items():
        old = {*map(_name, known.get(place, ()))}
        new = [option for option in options if _name(option) not in old and GENERATED not in _name(option)[1]]
        known = {**known, place: (*known.get(place, ()), *new)} if new else known
    return known


def _name(function: Any) -> tuple[str, str, CodeType | None]:
    name = str(getattr(function, "__module__", "")), getattr(function, "__qualname__", "")
    return (*name, getattr(function, "__code__", None))  # as all lambdas have one name


def codes(chosen: Chosen) -> frozenset[CodeType]:
    """Of the user's functions among these; lambdas run as they are."""
    found = (getattr(option, "__code__", None) for options in chosen.values() for option in options)
    return frozenset(code for code in found if code is not None and is_users(code) and code.co_name != "<lambda>")


class ChosenCalls(OptionalAttributes):
    choices: Chosen

    def choices_at(self, node: gast.Call) -> list[Any]:
        """What members choose between in a call, as far as it is known and can be called so."""
        lines = range(node.lineno, (node.end_lineno or node.lineno) + 1)
        options = dict.fromkeys(option for line in lines for option in self.choices.get((self.source.file, line), ()))
        inside = node.func.func if isinstance(node.func, gast.Call) else node.func
        values, names = _given(node)
        if is_support(inside) or self.static_value(node.func) is not UNKNOWN or self.is_of_program(node):
            return []
        known = [name for name in names if name is not None]
        if known != names or any(isinstance(value, gast.Starred | gast.Lambda) for value in values):
            return []
        return [option for option in options if takes(option, len(node.args), known)]

    def chosen_call(self, node: gast.Call, options: Sequence[Any]) -> gast.AST:
        """The call of one of these as a choice of calls."""
        values, names = _given(node)
        function, *values = (
            value if self.is_variable(value) else self.temporary(value, "chosen")
            for value in self.in_order([node.func, *values])
        )
        keywords = [gast.keyword(*pair) for pair in zip(names, values[len(node.args) :], strict=True)]

        def call(function: gast.AST) -> gast.AST:
            return gast.copy_location(gast.Call(function, values[: len(node.args)], keywords), node)

        own = [self.own_name(option, node.func) for option in options]
        made = call(support("others", [function, *own], node))
        for name in reversed(own):
            test = gast.copy_location(gast.Compare(left=function, ops=[gast.Is()], comparators=[name]), node)
            made = gast.copy_location(gast.IfExp(test=test, body=call(name), orelse=made), node)
        return self.expression(made)

    def own_name(self, function: Any, at: gast.AST) -> gast.AST:
        """A name of the program's own for a function."""
        return load(self.bind(getattr(function, "__name__", "function"), function), at)


def _given(node: gast.Call) -> tuple[list[gast.AST], list[str | None]]:
    """A call's arguments, and the names of the last ones."""
    keywords = node.keywords
    return [*node.args, *(each.value for each in keywords)], [each.arg for each in keywords]
