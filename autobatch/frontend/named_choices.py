"""Choices inside other operations get names: ``xs.append(a or 0)`` becomes ``choice = a or 0; xs.append(choice)``.

An operand of a choice may be None for some members, and all that is computed with it in the same statement then is for
them alone: what changes a list or an object, or takes numbers only, is not.  Behind what may change something, a choice
stays where it is.
"""

from __future__ import annotations

from collections.abc import Callable

import gast

from autobatch.frontend.effects import runs_method
from autobatch.frontend.syntax import SCOPES, Statements, assign, is_support, load, names, rebuilt
from autobatch.frontend.trees import walk


def with_named_choices(statement: gast.AST, fresh: Callable[[str], str]) -> Statements:
    """A desugared statement, and before it what gives its choices names; ``fresh`` makes them."""
    if not isinstance(statement, gast.Assign | gast.Expr) or not any(map(_is_choice, walk(statement.value))):
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
        if not within or acted:
            return node
        name = fresh("choice")
        before.append(assign(name, node, node))
        return load(name, node)

    value = named(statement.value, False)
    return [*before, rebuilt(statement, lambda part: value if part is statement.value else part)]


def _may_act(node: gast.AST) -> bool:
    return runs_method(node) or (isinstance(node, gast.Call) and not is_support(node.func))


def _is_choice(node: gast.AST) -> bool:
    """Whether one operand decides on what becomes of itself: ``a or b``, ``0 if a is None else a``."""
    if not (isinstance(node, gast.Call) and is_support(node.func)):
        return False
    first, *others = node.args or [node]
    if node.func.attr == "ifexp":
        return not {*names(first)}.isdisjoint(names(others))
    return node.func.attr in ("and_", "or_")
