"""``x[i] = v`` means ``x = x with v at i``, and ``p.a = v`` likewise: these assignments become assignments to names."""

from __future__ import annotations

from types import BuiltinFunctionType, ModuleType

import gast

from autobatch import errors
from autobatch.frontend.effects import may_act, runs_method
from autobatch.frontend.source import SUPPORT, Source
from autobatch.frontend.syntax import (
    Namer,
    Statements,
    as_load,
    assign,
    bound_names,
    constant,
    index_value,
    load,
    root_of,
    store,
    support,
)
from autobatch.frontend.trees import walk


def rewrite(source: Source) -> tuple[gast.FunctionDef, bool]:
    """The function without item assignments, and whether it had any."""
    rewriter = Rewriter(source)
    return rewriter.visit(source.tree), rewriter.found


def followed(tree: gast.FunctionDef) -> gast.FunctionDef:
    """The function in which each read of a variable, or of an item, finds what a tensor has become."""
    return _Now(bound_names(tree)).visit(tree)


class Rewriter(gast.NodeTransformer):
    def __init__(self, source: Source):
        self.source, self.namer, self.found = source, Namer(source.tree), False
        self.own: frozenset[str] | None = None  # the variables of the nested function that is being rewritten

    def visit_FunctionDef(self, node: gast.FunctionDef) -> gast.AST:
        if node is self.source.tree:
            return self.generic_visit(node)
        outer, self.own = self.own, bound_names(node)
        node = self.generic_visit(node)
        self.own = outer
        return node

    def is_item(self, target: gast.AST) -> bool:
        """Whether the target has an item of a variable of this function (not of one around it)."""
        owners = _owners_of_items(target)
        return bool(owners) and (self.own is None or any(name in self.own for name in owners))

    def visit_Assign(self, node: gast.Assign) -> gast.AST | Statements:
        if not any(self.is_item(target) for target in node.targets):
            return node
        self.found = True
        if len(node.targets) == 1 and not self.is_later(node.targets[0], node.value):
            return self.store(node.targets[0], node.value)
        value = self.namer.fresh("value")
        stores = [s for target in node.targets for s in self.store(target, load(value, node))]
        return [assign(value, node.value, node), *stores]

    def visit_AnnAssign(self, node: gast.AnnAssign) -> gast.AST | Statements:
        if node.value is None or not self.is_item(node.target):
            return node
        assignment = gast.Assign(targets=[node.target], value=node.value, type_comment=None)
        return Rewriter.visit_Assign(self, gast.copy_location(assignment, node))

    def is_later(self, target: gast.AST, value: gast.AST) -> bool:
        """Whether it matters that Python evaluates the target after the value."""
        places = [part for part in walk(target) if isinstance(part, gast.Subscript | gast.Attribute)]
        indices = [place.slice for place in places if isinstance(place, gast.Subscript)]
        inside = any(not isinstance(place.value, gast.Name) for place in places)
        moves = inside or any(not isinstance(index, gast.Constant) for index in indices)
        return may_act(target) or (moves and any(map(self.may_change, walk(value))))

    def may_change(self, node: gast.AST) -> bool:
        """Whether this may change a variable: a call of what is neither a builtin nor of a module."""
        if not isinstance(node, gast.Call):
            return isinstance(node, gast.NamedExpr)
        root = root_of(node.func)
        if not isinstance(root, gast.Name):
            return True
        known = self.source.lookup(root.id, None)
        of_module = isinstance(known, ModuleType) and root is not node.func
        return not (root.id == SUPPORT or of_module or isinstance(known, type | BuiltinFunctionType))

    def visit_AugAssign(self, node: gast.AugAssign) -> gast.AST | Statements:
        if not self.is_item(node.target):
            return node
        self.found = True
        before, target = self.fixed(node.target)
        old = as_load(target)
        if runs_method(target):
            name = self.namer.fresh("old")
            before.append(assign(name, old, node))
            old = load(name, node)
        made = gast.copy_location(gast.BinOp(left=old, op=node.op, right=node.value), node)
        value = support("in_place", [old, made], node)
        return [*before, *self.store(target, value)]

    def fixed(self, target: gast.AST, wholly: bool = False) -> tuple[Statements, gast.AST]:
        """The target with each index that does more than read variables under a name, so that it is evaluated once.

        ``wholly``: also those that read variables, which what comes next may change.
        """
        if not isinstance(target, gast.Subscript | gast.Attribute):
            return [], target
        before, value = self.fixed(target.value, wholly)
        if isinstance(target, gast.Attribute):
            return before, gast.copy_location(gast.Attribute(value=value, attr=target.attr, ctx=target.ctx), target)
        index = target.slice
        if may_act(index) or (wholly and not isinstance(index, gast.Constant)):
            name = self.namer.fresh("index")
            before.append(assign(name, index_value(index), index))
            index = load(name, index)
        fixed = gast.Subscript(value=value, slice=index, ctx=target.ctx)
        return before, gast.copy_location(fixed, target)

    def store(self, target: gast.AST, value: gast.AST) -> Statements:
        match target:
            case gast.Name():
                return [assign(target.id, value, target)]
            case gast.Tuple() | gast.List() if any(_stores_item(e) for e in target.elts):
                parts = [self.namer.fresh("part") for _ in target.elts]
                pairs = list(zip(target.elts, parts, strict=True))
                unpack = gast.Tuple(
                    elts=[_like(element, store(part, target)) for element, part in pairs], ctx=gast.Store()
                )
                statement = gast.Assign(targets=[gast.copy_location(unpack, target)], value=value, type_comment=None)
                stores = [s for element, part in pairs for s in self.store(_bare(element), load(part, target))]
                return [gast.copy_location(statement, target), *stores]
            case gast.Attribute():
                parts = [as_load(target.value), constant(target.attr, target), value]
                return self.store(target.value, support("setattr_", parts, target))
            case gast.Subscript(value=gast.Name() | gast.Subscript() | gast.Attribute()):
                container = as_load(target.value)
                return self.store(
                    target.value, support("setitem", [container, index_value(target.slice), value], target)
                )
            case gast.Subscript():
                raise errors.UnsupportedSyntaxError(
                    "Only items of a local variable can be assigned to.",
                    [(self.source.location(target), "")],
                    "copy it to a variable first.",
                    kind="item-of-no-variable",
                )
            case _:
                return [gast.copy_location(gast.Assign(targets=[target], value=value, type_comment=None), target)]


def _bare(element: gast.AST) -> gast.AST:
    return element.value if isinstance(element, gast.Starred) else element


def _like(element: gast.AST, target: gast.AST) -> gast.AST:
    """The target, with a star if the element has one."""
    if not isinstance(element, gast.Starred):
        return target
    return gast.copy_location(gast.Starred(value=target, ctx=gast.Store()), element)


def _stores_item(target: gast.AST) -> bool:
    return bool(_owners_of_items(target))


def _owners_of_items(target: gast.AST) -> list[str | None]:
    """The variables, or None for what is none, of which the target has items."""
    owners = []
    for node in walk(target):
        if isinstance(node, gast.Subscript | gast.Attribute) and isinstance(node.ctx, gast.Store):
            root = root_of(node)
            owners.append(root.id if isinstance(root, gast.Name) else None)
    return owners


class _Now(gast.NodeTransformer):
    def __init__(self, bound: frozenset[str]):
        self.bound = bound

    def visit_Name(self, node: gast.Name) -> gast.AST:
        read = isinstance(node.ctx, gast.Load) and node.id in self.bound
        return support("now", [node], node) if read else node

    def visit_Subscript(self, node: gast.Subscript) -> gast.AST:
        node = self.generic_visit(node)
        return support("now", [node], node) if isinstance(node.ctx, gast.Load) else node

    def visit_Call(self, node: gast.Call) -> gast.AST:
        arguments = [self.visit(part) for part in (*node.args, *node.keywords)]
        node.args, node.keywords = arguments[: len(node.args)], arguments[len(node.args) :]
        node.func = node.func if isinstance(node.func, gast.Name) else self.visit(node.func)
        return node
