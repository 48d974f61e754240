"""``x[i] = v`` on a tensor means ``x = x with v at i``: item assignments become assignments to names."""

from __future__ import annotations

import gast

from autobatch import errors
from autobatch.frontend.source import Source
from autobatch.frontend.syntax import Namer, Statements, as_load, assign, index_value, load, store, support


def rewrite(source: Source) -> tuple[gast.FunctionDef, bool]:
    """The function without item assignments, and whether it had any."""
    rewriter = _Rewriter(source)
    return rewriter.visit(source.tree), rewriter.found


class _Rewriter(gast.NodeTransformer):
    def __init__(self, source: Source):
        self.source, self.namer, self.found = source, Namer(source.tree), False

    def visit_Assign(self, node: gast.Assign) -> gast.AST | Statements:
        if not any(_stores_item(target) for target in node.targets):
            return node
        self.found = True
        if len(node.targets) == 1:
            return self.store(node.targets[0], node.value)
        value = self.namer.fresh("value")
        stores = [s for target in node.targets for s in self.store(target, load(value, node))]
        return [assign(value, node.value, node), *stores]

    def visit_AnnAssign(self, node: gast.AnnAssign) -> gast.AST | Statements:
        if node.value is None or not _stores_item(node.target):
            return node
        self.found = True
        return self.store(node.target, node.value)

    def visit_AugAssign(self, node: gast.AugAssign) -> gast.AST | Statements:
        if not _stores_item(node.target):
            return node
        self.found = True
        value = gast.copy_location(gast.BinOp(left=as_load(node.target), op=node.op, right=node.value), node)
        return self.store(node.target, value)

    def store(self, target: gast.AST, value: gast.AST) -> Statements:
        match target:
            case gast.Name():
                return [assign(target.id, value, target)]
            case gast.Tuple() | gast.List() if any(_stores_item(e) for e in target.elts):
                parts = [self.namer.fresh("part") for _ in target.elts]
                unpack = gast.Tuple(elts=[store(part, target) for part in parts], ctx=gast.Store())
                statement = gast.Assign(targets=[gast.copy_location(unpack, target)], value=value, type_comment=None)
                pairs = zip(target.elts, parts, strict=True)
                stores = [s for element, part in pairs for s in self.store(element, load(part, target))]
                return [gast.copy_location(statement, target), *stores]
            case gast.Subscript(value=gast.Name() | gast.Subscript()):
                container = as_load(target.value)
                return self.store(
                    target.value, support("setitem", [container, index_value(target.slice), value], target)
                )
            case gast.Subscript():
                raise errors.UnsupportedSyntaxError(
                    "Only items of a local variable can be assigned to.",
                    [(self.source.location(target), "")],
                    "copy it to a variable first.",
                )
            case _:
                return [gast.copy_location(gast.Assign(targets=[target], value=value, type_comment=None), target)]


def _stores_item(target: gast.AST) -> bool:
    return any(isinstance(n, gast.Subscript) and isinstance(n.ctx, gast.Store) for n in gast.walk(target))
