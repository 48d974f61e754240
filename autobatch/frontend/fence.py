"""What the language admits; everything else is refused here, with the line and what to write instead."""

from __future__ import annotations

import gast

from autobatch import errors
from autobatch.frontend.source import Source
from autobatch.frontend.syntax import SCOPES

_STATEMENTS = (
    gast.Assign, gast.AugAssign, gast.AnnAssign, gast.Expr, gast.If, gast.While, gast.For,
    gast.Assert, gast.Break, gast.Continue, gast.FunctionDef, gast.Pass, gast.Return,
)  # fmt: skip
_EXPRESSIONS = (
    gast.Attribute, gast.BinOp, gast.BoolOp, gast.Call, gast.Compare, gast.Constant, gast.Dict, gast.DictComp,
    gast.FormattedValue, gast.GeneratorExp, gast.IfExp, gast.JoinedStr, gast.Lambda, gast.List, gast.ListComp,
    gast.Name, gast.NamedExpr, gast.Set, gast.SetComp, gast.Slice, gast.Starred, gast.Subscript, gast.Tuple,
    gast.UnaryOp,
)  # fmt: skip
_PARTS = (
    gast.arguments, gast.comprehension, gast.keyword, gast.boolop, gast.cmpop, gast.expr_context, gast.operator,
    gast.unaryop,
)  # fmt: skip

_INSTEAD = {
    "With": "move the `with` into an undecorated helper function and call that.",
    "Try": "per-member exceptions do not exist; test for the bad case with `if`.",
    "TryStar": "per-member exceptions do not exist; test for the bad case with `if`.",
    "Raise": "per-member exceptions do not exist; return a value that marks the failure.",
    "Yield": "collect results in a tensor and return it.",
    "YieldFrom": "collect results in a tensor and return it.",
    "Await": "autobatched code cannot wait for anything.",
    "AsyncFor": "autobatched code cannot wait for anything.",
    "AsyncWith": "autobatched code cannot wait for anything.",
    "Global": "return the new value, and assign it outside.",
    "Nonlocal": "return the new value, and assign it outside.",
    "Delete": "leave the variable alone; it costs nothing once nothing reads it.",
    "AsyncFunctionDef": "define the function outside, and pass what it needs as arguments.",
    "ClassDef": "define the class outside.",
    "Import": "import at the top of the file.",
    "ImportFrom": "import at the top of the file.",
    "Match": "use if and elif.",
}
_KEYWORDS = {
    "ClassDef": "a nested class", "Delete": "`del`",
    "ImportFrom": "`import`", "YieldFrom": "`yield from`", "TryStar": "`try`", "AsyncFor": "`async for`",
    "AsyncWith": "`async with`", "AsyncFunctionDef": "a nested `async def`",
}  # fmt: skip


def check(source: Source) -> None:
    """Raises UnsupportedSyntaxError at the first construct that the language does not have."""
    _Fence(source).function(source.tree)


class _Fence(gast.NodeVisitor):
    def __init__(self, source: Source):
        self.source, self.inner = source, 0  # how many lambdas and comprehensions stand around

    def refuse(self, node: gast.AST, what: str, instead: str) -> None:
        raise errors.UnsupportedSyntaxError(
            f"autobatch does not support {what}.", [(self.source.location(node), "")], instead
        )

    def function(self, node: gast.FunctionDef) -> None:
        arguments = node.args
        for extra, mark in ((arguments.vararg, "*"), (arguments.kwarg, "**")):
            if extra is not None:
                self.refuse(
                    extra, f"`{mark}{extra.id}` parameters", "name every parameter; one may be a tuple or a dict."
                )
        for statement in node.body:
            self.visit(statement)

    def generic_visit(self, node: gast.AST) -> None:
        if not isinstance(node, (*_STATEMENTS, *_EXPRESSIONS, *_PARTS)):
            name = type(node).__name__
            what = _KEYWORDS.get(name, f"`{name.lower()}`")
            self.refuse(node, what, _INSTEAD.get(name, "see the language table in the documentation."))
        self.inner += isinstance(node, SCOPES)
        super().generic_visit(node)
        self.inner -= isinstance(node, SCOPES)

    def visit_FunctionDef(self, node: gast.FunctionDef) -> None:
        """A nested function meets the fence when it turns out to have per-member control flow."""

    def visit_For(self, node: gast.For) -> None:
        if any(isinstance(part, gast.Subscript | gast.Attribute) for part in gast.walk(node.target)):
            self.refuse(node.target, "a loop whose variable is an item or an attribute", "assign it in the body.")
        self.generic_visit(node)

    def visit_NamedExpr(self, node: gast.NamedExpr) -> None:
        if self.inner:
            self.refuse(node, "`:=` inside a lambda or a comprehension", "assign on a line of its own.")
        self.generic_visit(node)

    def visit_Attribute(self, node: gast.Attribute) -> None:
        if isinstance(node.ctx, gast.Store):
            self.refuse(
                node,
                "assignment to an attribute",
                "use a dataclass with @ab.struct and dataclasses.replace, or a namedtuple and its _replace.",
            )
        self.generic_visit(node)

    def visit_AnnAssign(self, node: gast.AnnAssign) -> None:
        self.visit(node.target)  # the annotation itself means nothing
        if node.value is not None:
            self.visit(node.value)
