"""Choices and tests in what changes lists and objects get names: ``xs.append(a or 0)`` is ``c = a or 0; xs.append(c)``.

An operand of theirs may be None for some members; all else of its statement is done once with None and once without
then, which what changes a list or an object cannot be.  Behind what may change something, a choice stays where it is.
"""

from __future__ import annotations

from collections.abc import Callable, Collection

import gast

from autobatch.frontend.effects import runs_method
from autobatch.frontend.list_methods import CHANGES
from autobatch.frontend.objects import is_acting_method
from autobatch.frontend.syntax import SCOPES, Statements, assign, is_support, load, names, rebuilt
from autobatch.frontend.trees import walk


def with_named_choices(statement: gast.AST, fresh: Callable[[str], str]) -> Statements:
    """A desugared statement, and before it what gives its choices names, if need be; ``fresh`` makes them."""
    changes = isinstance(statement, gast.Assign | gast.Expr) and _calls(statement.value, CHANGES)
    if not changes or not any(map(_is_choice, walk(statement.value))):
        return [statement]
    before: Statements = []
    acted = False  # by what is evaluated before

    def named(node: gast.AST, within: bool) -> gast.AST:
        nonlocal acted
        if isinstance(node, (*SCOPES, gast.Dict)):
            acted |= any(map(_may_act, walk(node)))
            return node
        if not _is_choice(node):
            made = rebuilt(node, lambda part: named(part, within or isinstance(node, gast.Call)))
            acted |= _may_act(node)
            return made
        acts = any(map(_may_act, walk(node)))
        if not within or acted or acts:
            acted |= acts
            return node
        name = fresh("choice")
        before.append(assign(name, node, node))
        return load(name, node)

    value = named(statement.value, False)
    return [*before, rebuilt(statement, lambda part: value if part is statement.value else part)]


def _may_act(node: gast.AST) -> bool:
    calls = isinstance(node, gast.Call) and not is_support(node.func)
    return calls or is_acting_method(node) or runs_method(node)


def _is_choice(node: gast.AST) -> bool:
    """Whether it takes an operand that is None, or decides on it: ``a or b``, ``0 if a is None else a``, ``a == 3``."""
    if _calls(node, {"ifexp"}):
        test, *arms = node.args
        return not {*names(test)}.isdisjoint(names(arms))
    equals = isinstance(node, gast.Compare) and all(isinstance(op, gast.Eq | gast.NotEq) for op in node.ops)
    return equals or _calls(node, {"and_", "or_", "not_", "bool_", "equal", "in_"})


def _calls(node: gast.AST, operators: Collection[str]) -> bool:
    return isinstance(node, gast.Call) and is_support(node.func) and node.func.attr in operators
