"""``xs.append(v)`` means ``xs = append(xs, v)``: what changes a list in place becomes an assignment to its name."""

from __future__ import annotations

from functools import cached_property

import gast

from autobatch.frontend.item_assignment import Rewriter
from autobatch.frontend.source import SUPPORT
from autobatch.frontend.syntax import Statements, as_load, bound_names, constant, load, store, support

# By the method's name: the operator, and what it gets before the method's own arguments.
_METHODS: dict[str, tuple[str, tuple]] = {name: (name, ()) for name in
    ("append", "extend", "insert", "remove", "clear", "reverse", "sort")}  # fmt: skip
_METHODS["appendleft"] = ("insert", (0,))
_POPS: dict[str, tuple] = {"pop": (), "popleft": (0,)}

CHANGES = frozenset({"setitem", "pop", "augment", *(operator for operator, _ in _METHODS.values())})


class ListMethods(Rewriter):
    """Rewrites item assignments, and the methods of lists that are variables, or items of variables."""

    def is_own(self, owner: gast.AST) -> bool:
        """Whether this is a variable of this function, or an item of one."""
        while isinstance(owner, gast.Subscript):
            owner = owner.value
        bound = self.bound if self.own is None else self.own
        return isinstance(owner, gast.Name) and owner.id in bound

    @cached_property
    def lists(self) -> set[str]:
        """The variables that get a list's display somewhere."""
        assigned = (
            node for node in gast.walk(self.source.tree) if isinstance(node, gast.Assign) and _is_list(node.value)
        )
        return {target.id for node in assigned for target in node.targets if isinstance(target, gast.Name)}

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
        if call.func.attr in _METHODS and not any(isinstance(a, gast.Starred) for a in call.args):
            operator, first = _METHODS[call.func.attr]
            return self.changed(node, call.func.value, operator, [*first, *call.args], call.keywords)
        return self.generic_visit(node)

    def visit_Assign(self, node: gast.Assign) -> gast.AST | Statements:
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
        before, target = self.fixed(owner)
        parts = [part if isinstance(part, gast.AST) else constant(part, at) for part in arguments]
        call = support(operator, [as_load(target), *map(self.visit, parts)], at)
        call.keywords = [self.visit(keyword) for keyword in keywords]
        return [*before, *self.store(target, call)]

    def visit_Call(self, node: gast.Call) -> gast.AST:
        """``xs.pop()`` in an expression: a name for the item, which is set, with the list, before the statement."""
        method = node.func.attr if isinstance(node.func, gast.Attribute) else None
        if method not in _POPS or node.keywords or not isinstance(node.func.value, gast.Name):
            return self.generic_visit(node)
        if not self.is_own(node.func.value):
            return self.generic_visit(node)
        self.found = True
        owner = node.func.value
        first = [constant(part, node) for part in _POPS[method]]
        call = support("pop", [load(owner.id, owner), *first, *map(self.visit, node.args)], node)
        return gast.copy_location(gast.NamedExpr(target=store(owner.id, owner), value=call), node)


def _is_list(node: gast.AST) -> bool:
    parts = [node.left, node.right] if isinstance(node, gast.BinOp) else [node]
    return any(isinstance(part, gast.List | gast.ListComp) for part in parts)


def is_method(call: gast.Call) -> bool:
    """Whether this is what a method that changes a list has become, but for item assignment."""
    function = call.func
    ours = isinstance(function, gast.Attribute) and getattr(function.value, "id", None) == SUPPORT
    return ours and function.attr in CHANGES - {"setitem"}


def popped(node: gast.NamedExpr) -> bool:
    """Whether this stands for ``xs.pop()``."""
    call = node.value
    return (
        isinstance(call, gast.Call)
        and isinstance(call.func, gast.Attribute)
        and call.func.attr == "pop"
        and (
            isinstance(node.target, gast.Name)
            and bool(call.args)
            and getattr(call.args[0], "id", None) == node.target.id
        )
    )
