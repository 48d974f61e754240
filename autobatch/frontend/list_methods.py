"""``xs.append(v)`` means ``xs = append(xs, v)``: what changes a list in place becomes an assignment to its name."""

from __future__ import annotations

from functools import cached_property, partial
from typing import Any

import gast

from autobatch.frontend.effects import Effects, may_act
from autobatch.frontend.item_assignment import Rewriter
from autobatch.frontend.refusals import refusal
from autobatch.frontend.source import CLASS, SUPPORT, Source, unparse
from autobatch.frontend.syntax import (
    Statements,
    as_load,
    assign,
    bound_names,
    constant,
    index_value,
    late_names,
    load,
    names,
    root_of,
    store,
    support,
)
from autobatch.frontend.trees import walk
from autobatch.tracing.objects import makes_objects

# By the method's name: the operator, and what it gets before the method's own arguments.
METHODS: dict[str, tuple[str, tuple]] = {name: (name, ()) for name in
    ("append", "extend", "insert", "remove", "clear", "reverse", "sort")}  # fmt: skip
METHODS["appendleft"] = ("insert", (0,))
POPS: dict[str, tuple] = {"pop": (), "popleft": (0,)}

CHANGES = frozenset(
    {
        "setitem",
        "setattr_",
        "replaced",
        "pop",
        "pop_inside",
        "augment",
        "delete",
        "sort_by",
        "exchange",
        "rotate",
        *(operator for operator, _ in METHODS.values()),
    }
)


class ListMethods(Rewriter):
    """Rewrites item assignments, and the methods of lists that are variables, or items of variables."""

    def __init__(self, source: Source):
        super().__init__(source)
        self.tables, self.effects = _tables(source.tree), Effects(source)

    def is_own(self, owner: gast.AST) -> bool:
        """Whether this is a variable of this function, or an item or an attribute of one; but for objects."""
        if isinstance(owner, gast.Name) and owner.id in self.objects:
            return False
        owner = root_of(owner)
        bound = self.bound if self.own is None else self.own
        return isinstance(owner, gast.Name) and owner.id in bound

    @cached_property
    def lists(self) -> set[str]:
        """The variables that get a list's display somewhere."""
        assigned = (node for node in walk(self.source.tree) if isinstance(node, gast.Assign) and _is_list(node.value))
        return {target.id for node in assigned for target in node.targets if isinstance(target, gast.Name)}

    @cached_property
    def objects(self) -> set[str]:
        """The variables that get an object of the user's classes somewhere."""
        nodes = [node for node in walk(self.source.tree) if isinstance(node, gast.Assign | gast.AnnAssign)]
        pairs = [(target, node.value) for node in nodes for target in getattr(node, "targets", None) or [node.target]]
        for target, value in pairs:  # which grows: ``p, q = P(), Q()``
            if isinstance(target, gast.Tuple) and isinstance(value, gast.Tuple):
                pairs += zip(target.elts, value.elts, strict=False)
        own = [self.source.tree.args.args[0].id] if CLASS in self.source.static else []
        return {t.id for t, value in pairs if isinstance(t, gast.Name) and self.makes_object(value)} | {*own}

    def makes_object(self, value: gast.AST | None) -> bool:
        match value:
            case gast.Call(func=gast.Name(id=name)):
                return makes_objects(self.source.lookup(name, None))
        return False

    @cached_property
    def bound(self) -> frozenset[str]:
        return bound_names(self.source.tree) - {*self.source.static}

    def visit_Lambda(self, node: gast.AST) -> gast.AST:
        return node  # Python runs it

    visit_ListComp = visit_SetComp = visit_DictComp = visit_GeneratorExp = visit_Lambda

    def visit_Expr(self, node: gast.Expr) -> gast.AST | Statements:
        call = node.value
        if not (isinstance(call, gast.Call) and isinstance(call.func, gast.Attribute) and self.is_own(call.func.value)):
            return self.generic_visit(node)
        if call.func.attr in METHODS and not any(isinstance(a, gast.Starred) for a in call.args):
            operator, first = METHODS[call.func.attr]
            return self.changed(node, call.func.value, operator, [*first, *call.args], call.keywords)
        return self.generic_visit(node)

    def visit_Assign(self, node: gast.Assign) -> gast.AST | Statements:
        """``rows[i], rows[j] = rows[j], rows[i]`` leaves each row the object that it is."""
        match node:
            case gast.Assign(targets=[gast.Tuple(elts=[first, second])]) if _is_exchange(node):
                if getattr(first.value, "id", None) in self.tables:
                    return self.changed(node, first.value, "exchange", [first.slice, second.slice], [])
        return super().visit_Assign(self.generic_visit(node))

    def visit_AnnAssign(self, node: gast.AnnAssign) -> gast.AST | Statements:
        return super().visit_AnnAssign(self.generic_visit(node))

    def visit_AugAssign(self, node: gast.AugAssign) -> gast.AST | Statements:
        """``xs += [v]``"""
        of_list = _is_list(node.value) or getattr(node.target, "id", None) in self.lists
        if isinstance(node.op, gast.Add) and of_list and self.is_own(node.target):
            return self.changed(node, node.target, "augment", [node.value], [])
        return super().visit_AugAssign(self.generic_visit(node))

    def changed(self, at: gast.AST, owner: gast.AST, operator: str, arguments: list, keywords: list) -> Statements:
        self.found = True
        parts = [self.visit(part) if isinstance(part, gast.AST) else constant(part, at) for part in arguments]
        acts = any(map(may_act, parts))
        if isinstance(owner, gast.Subscript) and any(map(partial(self.may_move, owner), arguments)):
            raise refusal(
                self.source.location(at),
                "an argument that may change which item it is that gets it",
                "give the item a name first: row = rows[i].",
                "argument-that-changes",
            )
        before, target = self.fixed(owner, wholly=acts)
        if isinstance(target, gast.Subscript) and acts:
            for k, part in enumerate(parts):  # before the item is looked up, which they may change
                name = self.namer.fresh("value")
                before.append(assign(name, part, part))
                parts[k] = load(name, part)
        call = support(operator, [as_load(target), *parts], at)
        call.keywords = [self.visit(keyword) for keyword in keywords]
        return [*before, *self.store(target, call)]

    def may_move(self, item: gast.Subscript, argument: Any) -> bool:
        """Whether evaluating an argument may put other items where this one is: Python has looked it up before."""
        whole, root = unparse(as_load(item.value)), getattr(root_of(item), "id", None)
        for part in walk(argument) if isinstance(argument, gast.AST) else ():
            match part:
                case gast.Call(func=gast.Name(id=name)) if self.effects.acts(part):
                    nested = self.effects.functions.get(name)
                    if root in names(part) or (nested is not None and root in late_names(nested)):
                        return True
                case gast.Call(func=gast.Attribute(value=of, attr=method)) if method in {*METHODS, *POPS}:
                    if unparse(of) == whole:
                        return True
        return False

    def visit_Call(self, node: gast.Call) -> gast.AST:
        """``xs.pop()`` in an expression: a name for the item, which is set, with the list, before the statement."""
        method = node.func.attr if isinstance(node.func, gast.Attribute) else None
        if method not in POPS or node.keywords or not self.is_own(node.func.value):
            return self.generic_visit(node)
        self.found = True
        root, indices = _path(node.func.value)
        first = [constant(part, node) for part in POPS[method]]
        path = gast.Tuple(elts=[self.step(index, node) for index in indices], ctx=gast.Load())
        inner = [gast.copy_location(path, node)] if indices else []
        arguments = [load(root.id, root), *inner, *first, *map(self.visit, node.args)]
        call = support("pop_inside" if indices else "pop", arguments, node)
        return gast.copy_location(gast.NamedExpr(target=store(root.id, root), value=call), node)

    def step(self, index: gast.AST | str, at: gast.AST) -> gast.AST:
        if isinstance(index, str):
            return support("Field", [constant(index, at)], at)
        return index_value(self.visit(index))

    def visit_Delete(self, node: gast.Delete) -> Statements:
        """``del xs[i]``"""
        if not all(self.is_own(target) for target in node.targets):
            place = self.source.location(node)
            raise refusal(
                place, "`del` of an item of no local variable", "copy it to a variable first.", "del-statement"
            )
        return [
            statement
            for target in node.targets
            for statement in self.changed(node, target.value, "delete", [index_value(target.slice)], [])
        ]


def _path(owner: gast.AST) -> tuple[gast.Name, list[gast.AST | str]]:
    """The variable of which this is an item of an item or attribute, and the indices and names."""
    indices: list[gast.AST | str] = []
    while isinstance(owner, gast.Subscript | gast.Attribute):
        indices.insert(0, owner.slice if isinstance(owner, gast.Subscript) else owner.attr)
        owner = owner.value
    assert isinstance(owner, gast.Name)
    return owner, indices


def _is_list(node: gast.AST) -> bool:
    parts = [node.left, node.right] if isinstance(node, gast.BinOp) else [node]
    return any(isinstance(part, gast.List | gast.ListComp) for part in parts)


def _tables(tree: gast.AST) -> set[str]:
    """The variables that get a list of lists somewhere, or a list as an item."""
    pairs: list[tuple[gast.AST, gast.AST]] = []
    for node in walk(tree):
        match node:
            case gast.Assign(targets=[gast.Tuple(elts=targets)], value=gast.Tuple(elts=values)):
                pairs += zip(targets, values, strict=False)
            case gast.Assign(targets=targets, value=value):
                pairs += [(target, value) for target in targets]
            case gast.Call(func=gast.Attribute(value=owner, attr="append"), args=[item]):
                pairs.append((owner, gast.List(elts=[item], ctx=gast.Load())))
    return {target.id for target, value in pairs if isinstance(target, gast.Name) and _has_lists(value)}


def _has_lists(node: gast.AST) -> bool:
    items = node.elts if isinstance(node, gast.List) else [node.elt] if isinstance(node, gast.ListComp) else []
    return any(_is_list(item) or _is_copy(item) for item in items)


def _is_copy(node: gast.AST) -> bool:
    """``list(row)``, ``row[:]``, ``row.copy()``"""
    match node:
        case gast.Call(func=gast.Name(id="list")) | gast.Call(func=gast.Attribute(attr="copy"), args=[]):
            return True
    return isinstance(node, gast.Subscript) and isinstance(node.slice, gast.Slice)


def _is_exchange(node: gast.Assign) -> bool:
    """Whether this is ``xs[i], xs[j] = xs[j], xs[i]``, with indices that do nothing."""
    match node:
        case gast.Assign(
            targets=[gast.Tuple(elts=[gast.Subscript() as first, gast.Subscript() as second])],
            value=gast.Tuple(elts=[left, right]),
        ) if not may_act(node):
            return unparse(as_load(first)) == unparse(right) and unparse(as_load(second)) == unparse(left)
    return False


def is_method(call: gast.Call) -> bool:
    """Whether this is what a method that changes a list has become, but for item assignment."""
    function = call.func
    ours = isinstance(function, gast.Attribute) and getattr(function.value, "id", None) == SUPPORT
    return ours and function.attr in CHANGES - {"setitem", "setattr_", "replaced"}


def popped(node: gast.NamedExpr) -> bool:
    """Whether this stands for ``xs.pop()``."""
    call = node.value
    return (
        isinstance(call, gast.Call)
        and isinstance(call.func, gast.Attribute)
        and call.func.attr in ("pop", "pop_inside")
        and (
            isinstance(node.target, gast.Name)
            and bool(call.args)
            and getattr(call.args[0], "id", None) == node.target.id
        )
    )
