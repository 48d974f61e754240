"""Our operators in a lambda, a comprehension or a straight-line helper, which stay as they are."""

from __future__ import annotations

import builtins
from typing import Any

import gast

from autobatch.frontend.syntax import index_value, is_place, late_names, names, support, thunk
from autobatch.frontend.trees import copy_of


class InScope(gast.NodeTransformer):
    """Puts our operators into a lambda or comprehension, where they need no statements."""

    def __init__(self, desugarer: Any, bound: frozenset[str]):
        self.desugarer, self.bound = desugarer, bound

    def visit_Subscript(self, node: gast.Subscript) -> gast.AST:
        node = self.generic_visit(node)
        if isinstance(node.ctx, gast.Load) and (
            self.desugarer.has_local(node.slice) or set(names(node.slice)) & self.bound
        ):
            return support("getitem", [node.value, index_value(node.slice)], node)
        return node

    def visit_Compare(self, node: gast.Compare) -> gast.AST:
        later = node.comparators[:-1] + node.comparators[1:]  # what is read twice, or for those alone that get there
        is_simple = all(map(is_place, later))
        node = self.generic_visit(node)
        if not is_simple:
            return node
        sides = [node.left, *node.comparators]
        first, *more = (
            self.desugarer.compared(copy_of(left), op, right, node)
            for left, op, right in zip(sides, node.ops, sides[1:], strict=False)
        )
        for each in more:
            first = support("and_", [first, thunk(each)], node)
        return first

    def visit_Lambda(self, node: gast.Lambda | gast.GeneratorExp) -> gast.AST:
        """One that is made inside, as by ``[lambda: n for k in ks]``, and may be kept."""
        changing = self.desugarer.changing.intersection(late_names(node)) - self.bound
        node = self.generic_visit(node)
        return support("at_once", [node], node) if changing else node

    visit_GeneratorExp = visit_Lambda

    def visit_Call(self, node: gast.Call) -> gast.AST:
        if self.desugarer.static_value(node.func) is builtins.print:
            self.desugarer.refuse(
                node,
                "print in a lambda or a straight-line nested function",
                "print outside it.",
                kind="print-in-lambda",
            )
        node = self.generic_visit(node)
        if not set(names(node.func)) & self.bound:
            self.desugarer.use_operator(node)
        return node
