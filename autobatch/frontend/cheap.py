"""Which expressions a member may evaluate that does not need them."""

from __future__ import annotations

import gast

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
