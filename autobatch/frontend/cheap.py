"""Which expressions a member may evaluate that does not need them, and choices that are no more than an if."""

from __future__ import annotations

import gast

from autobatch.frontend.syntax import assign
from autobatch.frontend.trees import walk

_TOTAL_OPERATORS = (gast.Add, gast.Sub, gast.Mult)
_TOTAL_COMPARISONS = (gast.Lt, gast.LtE, gast.Gt, gast.GtE, gast.Eq, gast.NotEq, gast.Is, gast.IsNot)


def names_tested_for_none(node: gast.AST) -> set[str]:
    """The variables of which the expression asks whether they are None, and that it may not read where they are."""
    tests = (n for n in walk(node) if isinstance(n, gast.Compare) and isinstance(n.left, gast.Name))
    return {
        test.left.id
        for test in tests
        if isinstance(test.ops[0], gast.Is | gast.IsNot)
        and isinstance(test.comparators[0], gast.Constant)
        and test.comparators[0].value is None
    }


def as_if(node: gast.Assign) -> gast.If | None:
    """``x = [] if x is None else x`` as ``if x is None: x = []``; None for another assignment."""
    target, value = node.targets[0], node.value
    if not (isinstance(value, gast.IfExp) and isinstance(target, gast.Name) and len(node.targets) == 1):
        return None
    arms = [getattr(arm, "id", None) == target.id for arm in (value.body, value.orelse)]
    if target.id not in names_tested_for_none(value.test) or sum(arms) != 1:
        return None
    stays = gast.copy_location(gast.Pass(), node)
    body, orelse = (
        [stays if stay else assign(target.id, arm, node)]
        for stay, arm in zip(arms, (value.body, value.orelse), strict=True)
    )
    return gast.copy_location(gast.If(test=value.test, body=body, orelse=orelse), node)


def is_cheap(node: gast.AST) -> bool:
    """Whether evaluating the expression for a member that does not need it costs little and cannot fail."""
    match node:
        case gast.Name() | gast.Constant():
            return True
        case gast.BinOp(op=gast.FloorDiv() | gast.Mod(), right=gast.Constant(value=int(divisor))) if divisor > 0:
            return is_cheap(node.left)
        case gast.BinOp():
            return isinstance(node.op, _TOTAL_OPERATORS) and is_cheap(node.left) and is_cheap(node.right)
        case gast.UnaryOp():
            return is_cheap(node.operand)
        case gast.Attribute():
            return is_cheap(node.value)
        case gast.Compare():
            return all(isinstance(op, _TOTAL_COMPARISONS) for op in node.ops) and all(
                is_cheap(part) for part in (node.left, *node.comparators)
            )
        case gast.BoolOp():
            return all(is_cheap(part) for part in node.values)
        case gast.Tuple():
            return all(is_cheap(part) for part in node.elts)
        case gast.IfExp():
            return all(is_cheap(part) for part in (node.test, node.body, node.orelse))
        case _:
            return False
