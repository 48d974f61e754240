"""What the language admits; everything else is refused here, with the line and what to write instead."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import gast

from autobatch import errors
from autobatch.frontend.refusals import refusal, together
from autobatch.frontend.source import Source
from autobatch.frontend.syntax import SCOPES, bound_names, root_of
from autobatch.frontend.trees import walk

_STATEMENTS = (
    gast.Assign, gast.AugAssign, gast.AnnAssign, gast.Expr, gast.If, gast.While, gast.For, gast.Try,
    gast.Assert, gast.Break, gast.Continue, gast.FunctionDef, gast.Pass, gast.Raise, gast.Return,
    gast.ExceptHandler, gast.Import, gast.ImportFrom,
)  # fmt: skip
_EXPRESSIONS = (
    gast.Attribute, gast.BinOp, gast.BoolOp, gast.Call, gast.Compare, gast.Constant, gast.Dict, gast.DictComp,
    gast.FormattedValue, gast.GeneratorExp, gast.IfExp, gast.JoinedStr, gast.Lambda, gast.List, gast.ListComp,
    gast.Name, gast.NamedExpr, gast.Set, gast.SetComp, gast.Slice, gast.Starred, gast.Subscript, gast.Tuple,
    gast.UnaryOp,
)  # fmt: skip
_PARTS = (
    gast.alias,
    gast.arguments, gast.comprehension, gast.keyword, gast.boolop, gast.cmpop, gast.expr_context, gast.operator,
    gast.unaryop,
)  # fmt: skip


@dataclass(frozen=True)
class _Refused:
    """A kind of node: what it is called, what to write instead, and the message's short name."""

    what: str
    instead: str
    kind: str


_NO_YIELD = "collect results in a list, and return it; loop over a generator where it is called: for x in g(n)."
_NO_WAITING = "autobatched code cannot wait for anything."
_NO_OUTER = "return the new value, and assign it outside."
_REFUSED = {
    "With": _Refused(
        "`with`",
        "move the `with` into an undecorated helper function without branches, and call that.",
        "with-statement",
    ),
    "Yield": _Refused("`yield`", _NO_YIELD, "yield"),
    "YieldFrom": _Refused("`yield from`", _NO_YIELD, "yield"),
    "Await": _Refused("`await`", _NO_WAITING, "await"),
    "AsyncFor": _Refused("`async for`", _NO_WAITING, "await"),
    "AsyncWith": _Refused("`async with`", _NO_WAITING, "await"),
    "AsyncFunctionDef": _Refused(
        "a nested `async def`", "define the function outside, and pass what it needs as arguments.", "await"
    ),
    "Global": _Refused("`global`", _NO_OUTER, "global-statement"),
    "Nonlocal": _Refused("`nonlocal`", _NO_OUTER, "nonlocal-statement"),
    "Delete": _Refused("`del`", "leave the variable alone; it costs nothing once nothing reads it.", "del-statement"),
    "ClassDef": _Refused("a nested class", "define the class outside.", "class-definition"),
}


def check(source: Source) -> None:
    """Raises UnsupportedSyntaxError with all constructs that the language does not have."""
    fence = _Fence(source)
    fence.function(source.tree)
    if fence.refused:
        raise together(fence.refused, source.function.__name__)


class _Fence(gast.NodeVisitor):
    def __init__(self, source: Source):
        self.own = bound_names(source.tree) - {*source.static}
        self.source, self.inner = source, 0  # how many lambdas and comprehensions stand around
        self.refused: list[errors.UnsupportedSyntaxError] = []

    def refuse(self, node: gast.AST, what: str, instead: str, *, kind: str) -> None:
        self.refused.append(refusal(self.source.location(node), what, instead, kind))

    def function(self, node: gast.FunctionDef) -> None:
        arguments = node.args
        for extra, mark in ((arguments.vararg, "*"), (arguments.kwarg, "**")):
            if extra is not None:
                self.refuse(
                    extra,
                    f"`{mark}{extra.id}` parameters",
                    "name every parameter; one may be a tuple or a dict.",
                    kind="star-parameters",
                )
        for statement in node.body:
            self.visit(statement)

    def generic_visit(self, node: gast.AST) -> None:
        if not isinstance(node, (*_STATEMENTS, *_EXPRESSIONS, *_PARTS)):
            name = type(node).__name__
            usual = _Refused(f"`{name.lower()}`", "see the language table in the documentation.", "unsupported-syntax")
            refused = _REFUSED.get(name, usual)
            self.refuse(node, refused.what, refused.instead, kind=refused.kind)
            return
        self.inner += isinstance(node, SCOPES)
        super().generic_visit(node)
        self.inner -= isinstance(node, SCOPES)

    def visit_FunctionDef(self, node: gast.FunctionDef) -> None:
        """A nested function meets the fence when it turns out to have per-member control flow."""

    def visit_Delete(self, node: gast.Delete) -> None:
        """``del xs[i]`` changes a list; of a name, there is nothing to delete."""
        if not all(isinstance(target, gast.Subscript) for target in node.targets):
            self.generic_visit(node)
            return
        for target in node.targets:
            self.visit(target.value)
            self.visit(target.slice)

    def visit_For(self, node: gast.For) -> None:
        if any(isinstance(part, gast.Subscript | gast.Attribute) for part in walk(node.target)):
            self.refuse(
                node.target,
                "a loop whose variable is an item or an attribute",
                "assign it in the body.",
                kind="loop-target",
            )
        self.generic_visit(node)

    def visit_NamedExpr(self, node: gast.NamedExpr) -> None:
        if self.inner:
            self.refuse(node, "`:=` inside a lambda or a comprehension", "assign on a line of its own.", kind="walrus")
        self.generic_visit(node)

    def visit_Attribute(self, node: gast.Attribute) -> None:
        root = root_of(node)
        if isinstance(node.ctx, gast.Store) and not (isinstance(root, gast.Name) and self.is_local(root.id)):
            self.refuse(
                node,
                "assignment to an attribute of what is from outside, and shared by all members",
                "make the object in the function, or return what changes.",
                kind="attribute-assignment",
            )
        self.check_outside(node)
        self.generic_visit(node)

    def visit_Subscript(self, node: gast.Subscript) -> None:
        root = root_of(node)
        if isinstance(node.ctx, gast.Store) and isinstance(root, gast.Name) and not self.is_local(root.id):
            self.refuse(
                node,
                "assignment to an item of what is from outside, and shared by all members",
                "make it in the function, or copy it there first; return what changes.",
                kind="item-assignment",
            )
        self.generic_visit(node)

    def visit_Name(self, node: gast.Name) -> None:
        self.check_outside(node)

    def check_outside(self, node: gast.Name | gast.Attribute) -> None:
        """Refuses what one member's use of would change for the next."""
        root = root_of(node)
        if not isinstance(root, gast.Name) or self.is_local(root.id):
            return
        owner = self.held(node.value) if isinstance(node, gast.Attribute) and node.attr == "cache_info" else None
        if isinstance(self.held(node), Iterator):
            self.refuse(
                node,
                "an iterator from outside, of which the members would share the items",
                "make it in the function (iter(xs)), or pass each member what it takes.",
                kind="outside-iterator",
            )
        elif isinstance(owner, functools._lru_cache_wrapper):
            self.refuse(node, "`cache_info`", "nothing is cached in a batch: leave it out.", kind="cache-info")

    def held(self, node: gast.AST) -> Any:
        """What a name stands for, or an attribute of one holds; no property is run for it."""
        if isinstance(node, gast.Attribute):
            return inspect.getattr_static(self.held(node.value), node.attr, None)
        return self.source.lookup(node.id, None) if isinstance(node, gast.Name) else None

    def is_local(self, name: str) -> bool:
        """Whether this is a variable of the function, or of one around it."""
        own = name in self.own or name in self.source.function.__code__.co_cellvars
        return own or (self.source.lookup(name, None) is None and name not in self.source.cells())

    def visit_AnnAssign(self, node: gast.AnnAssign) -> None:
        self.visit(node.target)  # the annotation itself means nothing
        if node.value is not None:
            self.visit(node.value)
