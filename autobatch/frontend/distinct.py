"""A set that is only asked is a list of what differs between members, each once, in whatever order.

len(set(xs)), x in {a, b}      len(distinct(xs)), x in [a, b]
seen = {f(x) for x in xs}      seen = distinct([f(x) for x in xs])
"""

from __future__ import annotations

import builtins
from collections import Counter
from collections.abc import Collection
from dataclasses import replace

import gast

from autobatch.frontend.sets import uses
from autobatch.frontend.source import Source
from autobatch.frontend.syntax import names, support
from autobatch.frontend.trees import walk


def with_distinct(source: Source) -> Source:
    """The function in which lists stand for such sets, if they are made of its own variables, or are one."""
    nodes = [*walk(source.tree)]
    assigned = Counter(n.id for n in nodes if isinstance(n, gast.Name) and not isinstance(n.ctx, gast.Load))
    made = Counter(name for node in nodes if (name := _assigned_set(node, source)) is not None)
    fine = {id(use) for node in nodes for use in uses(node)}
    unlike = {n.id for n in nodes if isinstance(n, gast.Name) and isinstance(n.ctx, gast.Load) and id(n) not in fine}
    asked = {name for name in made if made[name] == assigned[name] and name not in unlike}
    own = {*assigned, *(node.name for node in nodes if isinstance(node, gast.FunctionDef))}
    at_once = {id(n) for n in nodes if id(n) in fine and _is_set(n, source) and {*names(n)} & own}
    found = at_once | {id(node.value) for node in nodes if _assigned_set(node, source) in asked}
    return replace(source, tree=_Distinct(found).visit(source.tree)) if found else source


def _is_set(node: gast.AST, source: Source) -> bool:
    match node:
        case gast.Set() | gast.SetComp():
            return True
        case gast.Call(func=gast.Name(id="set" | "frozenset" as kind), args=[_], keywords=[]):
            return source.lookup(kind, None) in (builtins.set, builtins.frozenset)
        case _:
            return False


def _assigned_set(node: gast.AST, source: Source) -> str | None:
    """The variable that gets a set here."""
    match node:
        case gast.Assign(targets=[gast.Name(id=name)], value=value) if _is_set(value, source):
            return name
        case _:
            return None


class _Distinct(gast.NodeTransformer):
    def __init__(self, found: Collection[int]):
        self.found = found

    def visit_Compare(self, node: gast.Compare) -> gast.AST:
        container = node.comparators[-1]
        if id(container) in self.found and isinstance(container, gast.Set):  # which is only asked for one item
            node.comparators[-1] = gast.copy_location(gast.List(elts=container.elts, ctx=gast.Load()), container)
        return self.generic_visit(node)

    def visit(self, node: gast.AST) -> gast.AST:
        is_set = id(node) in self.found
        node = super().visit(node)
        return support("distinct", [_items(node)], node) if is_set else node


def _items(node: gast.AST) -> gast.AST:
    """What a set is made of, as a list."""
    match node:
        case gast.Set():
            items = gast.List(elts=node.elts, ctx=gast.Load())
        case gast.SetComp():
            items = gast.ListComp(elt=node.elt, generators=node.generators)
        case gast.Call(args=[gast.GeneratorExp() as given]):
            items = gast.ListComp(elt=given.elt, generators=given.generators)
        case _:
            return node.args[0]
    return gast.copy_location(items, node)
