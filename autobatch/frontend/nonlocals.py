"""A variable that a nested function assigns by ``nonlocal`` becomes the item of a list, which both may change.

count = 0                            count = [0]
def add():                           def add():
    nonlocal count                       count[0] += 1
    count += 1                       add()
add()                                return count[0]
return count
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Any

import gast

from autobatch.frontend.source import Source
from autobatch.frontend.syntax import assign, assigned_names, constant, load, parameter_names
from autobatch.frontend.trees import children, copy_of, walk


def without_nonlocals(source: Source) -> Source:
    """The function in which nothing is nonlocal, where each such variable is first assigned in the body itself."""
    tree = source.tree
    declared = _changed_inside(tree.body)
    given = [name for name in declared if name in parameter_names(tree.args)]
    first = {name: _first(name, tree) for name in declared if name not in given}
    names = {*given, *(name for name, at in first.items() if at is not None)}
    if not names:
        return source
    tree = copy_of(tree)  # the caller keeps its tree
    body = [_boxed(name, tree) for name in given]
    for k, statement in enumerate(tree.body):
        new = [name for name in names if first.get(name) == k]
        body += [_Items(names - {*new}).visit(statement), *(_boxed(name, statement) for name in new)]
    tree.body = body
    return replace(source, tree=tree)


def _boxed(name: str, at: gast.AST) -> gast.Assign:
    return assign(name, gast.copy_location(gast.List(elts=[load(name, at)], ctx=gast.Load()), at), at)


def _changed_inside(body: Iterable[gast.AST]) -> dict[str, None]:
    """The variables of these statements' scope that functions in it say are nonlocal."""
    found: dict[str, None] = {}
    for function in _within(body, gast.FunctionDef):
        further = _changed_inside(function.body)
        found |= dict.fromkeys(name for name in further if name not in _own(function))
        found |= dict.fromkeys(_declared(function))
    return found


def _declared(function: gast.FunctionDef) -> list[str]:
    """The names that a function says are nonlocal."""
    return [name for part in _within(function.body, gast.Nonlocal) for name in part.names]


def _own(function: gast.FunctionDef) -> set[str]:
    """The variables of a function."""
    return {*assigned_names(function.body)} - {*_declared(function)} | {*parameter_names(function.args)}


def _within(body: Iterable[gast.AST], kind: type) -> Iterator[Any]:
    """The nodes of a kind among these and what they consist of, not looking into functions."""
    for node in body:
        if isinstance(node, kind):
            yield node
        if not isinstance(node, gast.FunctionDef | gast.Lambda):
            yield from _within(children(node), kind)


def _first(name: str, tree: gast.FunctionDef) -> int | None:
    """Which statement of the body gives the name its first value; None: it may be another, or what it uses itself."""
    for k, statement in enumerate(tree.body):
        uses = [part for part in walk(statement) if isinstance(part, gast.Name) and part.id == name]
        if uses:
            stores = all(isinstance(use.ctx, gast.Store) for use in uses)
            return k if stores and isinstance(statement, gast.Assign | gast.AnnAssign) else None
    return None


class _Items(gast.NodeTransformer):
    """Puts the list's item in place of each name, in all scopes to which it belongs."""

    def __init__(self, names: set[str]):
        self.names = names

    def visit_Name(self, node: gast.Name) -> gast.AST:
        if node.id not in self.names:
            return node
        item = gast.Subscript(value=load(node.id, node), slice=constant(0, node), ctx=node.ctx)
        return gast.copy_location(item, node)

    def visit_Nonlocal(self, node: gast.Nonlocal) -> gast.AST | None:
        names = [name for name in node.names if name not in self.names]
        return gast.copy_location(gast.Nonlocal(names=names), node) if names else None

    def visit_FunctionDef(self, node: gast.FunctionDef) -> gast.AST:
        node.args = self.with_defaults(node.args)
        outer, self.names = self.names, self.names - _own(node)
        body = [self.visit(statement) for statement in node.body]
        node.body = [s for s in body if s is not None] or [gast.copy_location(gast.Pass(), node)]
        self.names = outer
        return node

    def visit_Lambda(self, node: gast.Lambda) -> gast.AST:
        node.args = self.with_defaults(node.args)
        outer, self.names = self.names, self.names - {*parameter_names(node.args)}
        node.body, self.names = self.visit(node.body), outer
        return node

    def with_defaults(self, arguments: gast.arguments) -> gast.arguments:
        """Defaults are evaluated outside of the function."""
        arguments.defaults = [self.visit(default) for default in arguments.defaults]
        arguments.kw_defaults = [default and self.visit(default) for default in arguments.kw_defaults]
        return arguments

    def in_comprehension(self, node: gast.AST) -> gast.AST:
        targets = (part for g in node.generators for part in walk(g.target) if isinstance(part, gast.Name))
        outer, self.names = self.names, self.names - {part.id for part in targets}
        node, self.names = self.generic_visit(node), outer
        return node

    visit_ListComp = visit_SetComp = visit_DictComp = visit_GeneratorExp = in_comprehension
