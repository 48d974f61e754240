"""Loops that change the items of a list run over its indices: ``p`` is ``ps[k]``, so that ``ps`` has the change.

for p in ps:                    for k in indices(ps):
    p.x += p.v                      ps[k].x += ps[k].v
"""

from __future__ import annotations

import copy
from collections.abc import Iterator
from dataclasses import replace

import gast

from autobatch.frontend.source import Source
from autobatch.frontend.syntax import SCOPES, Namer, as_load, bound_names, load, root_of, store, support


def without_item_loops(source: Source) -> Source:
    """The function in which loops that set attributes of their items, or call methods of them, run over indices."""
    rewriter = _ItemLoops(source)
    tree = rewriter.visit(source.tree)
    return replace(source, tree=tree) if rewriter.found else source


class _ItemLoops(gast.NodeTransformer):
    def __init__(self, source: Source):
        self.source, self.namer, self.found = source, Namer(source.tree), False
        self.own = bound_names(source.tree) - {*source.static}

    def visit_For(self, node: gast.For) -> gast.AST:
        node = self.generic_visit(node)
        match node:
            case gast.For(target=gast.Name(id=item), iter=gast.Name() | gast.Attribute() as items):
                target, counter = node.target, None
            case gast.For(
                target=gast.Tuple(elts=[gast.Name() as counter, gast.Name(id=item)]),
                iter=gast.Call(
                    func=gast.Name(id="enumerate"), args=[gast.Name() | gast.Attribute() as items], keywords=[]
                ),
            ):
                target = counter
            case _:
                return node
        root = root_of(items)
        own = isinstance(root, gast.Name) and root.id in self.own
        if not own or not self.applies(node, item, root.id):
            return node
        self.found = True
        name = counter.id if counter is not None else self.namer.fresh("index")
        inner = gast.Subscript(value=items, slice=load(name, target), ctx=gast.Load())
        body = [_Items(item, gast.copy_location(inner, target)).visit(statement) for statement in node.body]
        indices = support("indices", [as_load(items)], items)
        made = gast.For(target=store(name, target), iter=indices, body=body, orelse=node.orelse, type_comment=None)
        return gast.copy_location(made, node)

    def applies(self, node: gast.For, item: str, items: str) -> bool:
        """Whether the body changes the items, and neither the list nor the names."""
        parts = [part for statement in node.body for part in gast.walk(statement)]
        inside = {id(part) for part in parts}
        mentions = any(isinstance(p, gast.Name) and p.id == items for p in parts)
        stores = any(isinstance(p, gast.Name) and p.id == item and not isinstance(p.ctx, gast.Load) for p in parts)
        later = any(id(read) not in inside for read in _reads(item, self.source.tree))
        scopes = any(isinstance(p, SCOPES) and item in bound_names(p) for p in parts)
        return not (mentions or stores or later or scopes) and any(_changes(p, item) for p in parts)


def _reads(name: str, scope: gast.AST) -> Iterator[gast.Name]:
    """Where a variable of this scope is read."""
    for node in gast.iter_child_nodes(scope):
        if isinstance(node, gast.Name) and node.id == name and isinstance(node.ctx, gast.Load):
            yield node
        if not (isinstance(node, SCOPES) and name in bound_names(node)):
            yield from _reads(name, node)


def _changes(node: gast.AST, item: str) -> bool:
    match node:
        case gast.Attribute(value=owner, ctx=gast.Store()) | gast.Subscript(value=owner, ctx=gast.Store()):
            pass
        case gast.Expr(value=gast.Call(func=gast.Attribute(value=owner))):
            pass
        case _:
            return False
    root = root_of(owner)
    return isinstance(root, gast.Name) and root.id == item


class _Items(gast.NodeTransformer):
    def __init__(self, name: str, item: gast.AST):
        self.name, self.item = name, item

    def visit_Name(self, node: gast.Name) -> gast.AST:
        return gast.copy_location(copy.deepcopy(self.item), node) if node.id == self.name else node
