"""Loops that change the items of a list run over its indices: ``p`` is ``ps[k]``, so that ``ps`` has the change.

for p in ps:                    for k in indices(ps):
    p.x += p.v                      ps[k].x += ps[k].v

for p, dx in zip(ps, steps):    for k, dx in zip(indices(ps), steps):
    p.x += dx                       ps[k].x += dx
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import gast

from autobatch.frontend.source import Source
from autobatch.frontend.syntax import (
    SCOPES,
    Namer,
    Statements,
    as_load,
    assign,
    bound_names,
    load,
    root_of,
    store,
    support,
)
from autobatch.frontend.trees import children, copy_of, walk

# What zip may go through as it stands: a name for it would keep an iterator.
_LAZY = ("range", "reversed", "enumerate", "zip", "map", "filter")


def without_item_loops(source: Source) -> Source:
    """The function in which loops that set attributes of their items, or call methods of them, run over indices."""
    rewriter = _ItemLoops(source)
    tree = rewriter.visit(source.tree)
    return replace(source, tree=tree) if rewriter.found else source


class _ItemLoops(gast.NodeTransformer):
    def __init__(self, source: Source):
        self.source, self.namer, self.found = source, Namer(source.tree), False
        self.own = bound_names(source.tree) - {*source.static}

    def visit_For(self, node: gast.For) -> gast.AST | Statements:
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
            case gast.For(
                target=gast.Tuple(elts=targets), iter=gast.Call(func=gast.Name(id="zip"), args=given, keywords=[])
            ) if len(targets) == len(given):
                return self.zipped(node, targets, given)
            case _:
                return node
        if not self.applies(node, item, items):
            return node
        self.found = True
        name = counter.id if counter is not None else self.namer.fresh("index")
        body = self.with_items(node.body, item, items, name, target)
        indices = support("indices", [as_load(items)], items)
        made = gast.For(target=store(name, target), iter=indices, body=body, orelse=node.orelse, type_comment=None)
        return gast.copy_location(made, node)

    def zipped(self, node: gast.For, targets: list[gast.AST], given: list[gast.AST]) -> gast.AST | Statements:
        """What else is zipped is made before the lengths are asked for, which it may change."""
        lists = [k for k, each in enumerate(given) if isinstance(each, gast.Name | gast.Attribute)]
        named = [k for k in lists if isinstance(targets[k], gast.Name)]
        chosen = [k for k in named if self.applies(node, targets[k].id, given[k])]
        if not chosen:
            return node
        self.found = True
        before, targets, given, body = [], [*targets], [*given], node.body
        for k, each in enumerate(given):
            if k in chosen:
                index, item = self.namer.fresh("index"), targets[k].id
                body = self.with_items(body, item, each, index, targets[k])
                targets[k], given[k] = store(index, targets[k]), support("indices", [as_load(each)], each)
            elif isinstance(each, gast.Call) and getattr(each.func, "id", None) not in _LAZY:
                before.append(assign(self.namer.fresh("items"), each, each))
                given[k] = load(before[-1].targets[0].id, each)
        zipped = gast.copy_location(gast.Call(func=node.iter.func, args=given, keywords=[]), node.iter)
        target = gast.copy_location(gast.Tuple(elts=targets, ctx=gast.Store()), node.target)
        made = gast.For(target=target, iter=zipped, body=body, orelse=node.orelse, type_comment=None)
        return [*before, gast.copy_location(made, node)]

    def with_items(self, body: Statements, item: str, items: gast.AST, index: str, at: gast.AST) -> Statements:
        inner = gast.Subscript(value=items, slice=load(index, at), ctx=gast.Load())
        return [_Items(item, gast.copy_location(inner, at)).visit(statement) for statement in body]

    def applies(self, node: gast.For, item: str, of: gast.AST) -> bool:
        """Whether the body changes the items, and neither the list, which is a variable or a part, nor the names."""
        root = root_of(of)
        if not isinstance(root, gast.Name) or root.id not in self.own:
            return False
        parts = [part for statement in node.body for part in walk(statement)]
        inside = {id(part) for part in parts}
        beside = {id(name) for part in parts for name in _other_attributes(part, of)}
        mentions = any(isinstance(p, gast.Name) and p.id == root.id and id(p) not in beside for p in parts)
        stores = any(isinstance(p, gast.Name) and p.id == item and not isinstance(p.ctx, gast.Load) for p in parts)
        later = any(id(read) not in inside for read in _reads(item, self.source.tree))
        scopes = any(isinstance(p, SCOPES) and item in bound_names(p) for p in parts)
        return not (mentions or stores or later or scopes) and any(_changes(p, item) for p in parts)


def _other_attributes(node: gast.AST, items: gast.AST) -> Iterator[gast.Name]:
    """``self`` of ``self.dt``, beside a loop over ``self.bodies``."""
    called = [node.func] if isinstance(node, gast.Call) else []
    for part in children(node):
        match items, part:
            case gast.Attribute(value=gast.Name(id=owner), attr=own), gast.Attribute(
                value=gast.Name(id=name), attr=other
            ):
                if owner == name and own != other and part not in called:
                    yield part.value


def _reads(name: str, scope: gast.AST) -> Iterator[gast.Name]:
    """Where a variable of this scope is read, but for loops over it, which set it before."""
    for node in children(scope):
        if isinstance(node, gast.Name) and node.id == name and isinstance(node.ctx, gast.Load):
            yield node
        if isinstance(node, gast.For) and any(getattr(part, "id", None) == name for part in walk(node.target)):
            beside = gast.Module(body=[node.iter, *node.orelse], type_ignores=[])
            yield from _reads(name, beside)
        elif not (isinstance(node, SCOPES) and name in bound_names(node)):
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
        return gast.copy_location(copy_of(self.item), node) if node.id == self.name else node
