"""``q, k = deque(), 0`` as two assignments, for what looks for variables by what is assigned to them."""

from __future__ import annotations

from collections.abc import Callable

import gast

from autobatch.frontend.syntax import Statements, assign, names


def apart(tree: gast.AST, wanted: Callable[[gast.AST], bool]) -> gast.AST:
    """The tree, changed in place: assignments of several values stand apart if one of these is wanted."""
    return _Apart(wanted).visit(tree)


class _Apart(gast.NodeTransformer):
    def __init__(self, wanted: Callable[[gast.AST], bool]):
        self.wanted = wanted

    def visit_Assign(self, node: gast.Assign) -> gast.AST | Statements:
        match node:
            case gast.Assign(targets=[gast.Tuple(elts=targets)], value=gast.Tuple(elts=values)):
                plain = len(targets) == len(values) and all(isinstance(target, gast.Name) for target in targets)
                if not plain or not any(map(self.wanted, values)):
                    return node
                if any(target.id in names(values[k + 1 :]) for k, target in enumerate(targets)):
                    return node  # a later value reads what was there before
                return [assign(target.id, v, node) for target, v in zip(targets, values, strict=True)]
        return node
