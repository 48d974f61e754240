"""What names mean while a function is lowered: locals differ between members, the rest is known now."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any, NoReturn

import gast

from autobatch import errors
from autobatch.frontend.core import Callee
from autobatch.frontend.source import Source, evaluate
from autobatch.frontend.syntax import Namer, assigned_names, names
from autobatch.values import is_tensor

UNKNOWN = object()


class Scope:
    """One function's names; ``callee_of`` tells an autobatched function from other objects."""

    def __init__(self, source: Source, tree: gast.FunctionDef, callee_of: Callable[[Any], Callee | None]):
        self.source, self.tree, self.callee_of = source, tree, callee_of
        self.locals = set(source.parameters) | set(assigned_names(tree.body))
        self.assignments = Counter(source.parameters)
        self.assignments.update(
            n.id for n in gast.walk(tree) if isinstance(n, gast.Name) and isinstance(n.ctx, gast.Store)
        )
        self.namer, self.temporaries = Namer(tree), set[str]()
        for name in set(assigned_names(tree.body)) & set(source.static):
            raise errors.UnsupportedSyntaxError(
                f"The static argument `{name}` is assigned to.",
                [(source.definition_location, "")],
                "use another name for the new value.",
            )

    def fresh(self, hint: str) -> str:
        """A new name for a temporary."""
        name = self.namer.fresh(hint)
        self.temporaries.add(name)
        return name

    def refuse(self, node: gast.AST, what: str, instead: str) -> NoReturn:
        raise errors.UnsupportedSyntaxError(
            f"autobatch does not support {what}.", [(self.source.location(node), "")], instead
        )

    def callee(self, function: gast.AST) -> Callee | None:
        if not isinstance(function, gast.Name | gast.Attribute):
            return None
        value = self.static_value(function)
        return None if value is UNKNOWN else self.callee_of(value)

    def static_value(self, node: gast.AST) -> Any:
        """The value of an expression of constants and names bound outside, else UNKNOWN."""
        allowed = (
            gast.Name, gast.Constant, gast.Attribute, gast.Compare, gast.BoolOp, gast.UnaryOp, gast.BinOp, gast.Tuple,
            gast.expr_context, gast.cmpop, gast.boolop, gast.unaryop, gast.operator,
        )  # fmt: skip
        if not all(isinstance(n, allowed) for n in gast.walk(node)) or set(names(node)) & (
            self.locals | self.temporaries
        ):
            return UNKNOWN
        try:
            return evaluate(self.source, node)
        except Exception:
            return UNKNOWN  # the error will come again, at its line, when the primitive is traced

    def known(self, test: gast.AST) -> Any:
        """The truth of a test if it is the same for every member, else UNKNOWN."""
        value = self.static_value(test)
        if value is UNKNOWN or is_tensor(value):
            return UNKNOWN
        try:
            return value if isinstance(value, int) else bool(value)
        except Exception:
            return UNKNOWN
