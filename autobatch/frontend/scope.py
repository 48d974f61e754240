"""What names mean while a function is lowered: locals differ between members, the rest is known now."""

from __future__ import annotations

import builtins
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, NoReturn

import gast

from autobatch import errors
from autobatch.frontend.assigned import sometimes_unset
from autobatch.frontend.core import Callee
from autobatch.frontend.refusals import refusal
from autobatch.frontend.source import Source, evaluate
from autobatch.frontend.syntax import Namer, assigned_names, names
from autobatch.frontend.trees import children, walk
from autobatch.language.looping import unroll
from autobatch.language.values import is_tensor

UNKNOWN = object()

# What static values may be given to while lowering: these change nothing.
_PURE = (
    builtins.abs, builtins.all, builtins.any, builtins.bool, builtins.dict, builtins.enumerate, builtins.float,
    builtins.getattr, builtins.hasattr, builtins.int, builtins.isinstance, builtins.issubclass, builtins.len,
    builtins.list, builtins.max, builtins.min, builtins.range, builtins.reversed, builtins.sorted, builtins.str,
    builtins.sum, builtins.tuple, builtins.type, builtins.zip, unroll,
)  # fmt: skip
_STATIC_NODES = (
    gast.Name, gast.Constant, gast.Attribute, gast.Compare, gast.BoolOp, gast.UnaryOp, gast.BinOp, gast.Tuple,
    gast.List, gast.Dict, gast.Subscript, gast.Slice, gast.IfExp, gast.Call, gast.expr_context, gast.cmpop,
    gast.boolop, gast.unaryop, gast.operator,
)  # fmt: skip


class Scope:
    """One function's names.

    Args:
      source: the function.
      tree: its definition, rewritten or not.
      callee_of: tells an autobatched function from other objects.
      unrolled: how many items each loop has that must be unrolled, by its ``place``.
    """

    def __init__(
        self,
        source: Source,
        tree: gast.FunctionDef,
        callee_of: Callable[[Any], Callee | None],
        unrolled: Mapping[Any, int],
    ):
        self.source, self.tree, self.callee_of, self.unrolled_counts = source, tree, callee_of, unrolled
        self.locals = set(source.parameters) | set(assigned_names(tree.body))
        self.assignments = Counter([*source.parameters, *_stores(tree.body)])
        self.sometimes_unset = sometimes_unset(tree.body, source.parameters)
        self.namer, self.temporaries = Namer(tree), set[str]()
        # Names that have one value after the other: a function that was made before sees the last one in Python.
        self.changing = {name for name, count in self.assignments.items() if count > 1} | _in_loops(tree)
        for name in set(assigned_names(tree.body)) & set(source.static):
            raise errors.UnsupportedSyntaxError(
                f"The static argument `{name}` is assigned to.",
                [(source.definition_location, "")],
                "use another name for the new value.",
                kind="static-argument-assigned",
            )

    def fresh(self, hint: str) -> str:
        """A new name for a temporary."""
        name = self.namer.fresh(hint)
        self.temporaries.add(name)
        return name

    def bind(self, hint: str, value: Any) -> str:
        """A new name for a static value."""
        name = self.namer.fresh(hint)
        self.set_static(name, value)
        return name

    def set_static(self, name: str, value: Any) -> None:
        self.locals.discard(name)
        self.source = replace(self.source, static={**self.source.static, name: value})

    def refuse(self, node: gast.AST, what: str, instead: str, *, kind: str) -> NoReturn:
        raise refusal(self.source.location(node), what, instead, kind)

    def callee(self, function: gast.AST) -> Callee | None:
        value = self.static_value(function)
        if value is UNKNOWN or isinstance(value, Callee):
            return None if value is UNKNOWN else value
        return self.callee_of(value)

    def static_value(self, node: gast.AST) -> Any:
        """The value of an expression of constants and names bound outside, else UNKNOWN."""
        match node:
            case gast.Constant(value=value):
                return value
            case gast.Name(id=name):
                if name in self.locals or name in self.temporaries:
                    return UNKNOWN
                return self.source.lookup(name, UNKNOWN)
            case gast.Attribute(value=inner, attr=attribute):
                value = self.static_value(inner)
                try:
                    return value if value is UNKNOWN else getattr(value, attribute)
                except Exception:
                    return UNKNOWN
        if not all(isinstance(n, _STATIC_NODES) for n in walk(node)) or self.has_local(node):
            return UNKNOWN
        if not all(self._is_pure(n) for n in walk(node) if isinstance(n, gast.Call)):
            return UNKNOWN
        try:
            return evaluate(self.source, node)
        except Exception:
            return UNKNOWN  # the error will come again, at its line, when the primitive is traced

    def has_local(self, node: gast.AST) -> bool:
        return bool(set(names(node)) & (self.locals | self.temporaries))

    def _is_pure(self, call: gast.Call) -> bool:
        if isinstance(call.func, gast.Attribute) and call.func.attr in ("items", "keys", "values"):
            return isinstance(self.static_value(call.func.value), Mapping)
        function = self.static_value(call.func)
        return any(function is pure for pure in _PURE)

    def known(self, test: gast.AST) -> Any:
        """The truth of a test if it is the same for every member, else UNKNOWN."""
        value = self.static_value(test)
        if value is UNKNOWN or is_tensor(value):
            return UNKNOWN
        try:
            return value if isinstance(value, int) else bool(value)
        except Exception:
            return UNKNOWN


def _stores(body: list[gast.AST]) -> list[str]:
    """The names that statements assign, as often as they do."""
    return [name for part in _own(body) for name in _assigned(part)]


def _in_loops(tree: gast.FunctionDef) -> set[str]:
    loops = (part for part in _own(tree.body) if isinstance(part, gast.For | gast.While))
    return {name for loop in loops for part in _own(loop) for name in _assigned(part)}


def _own(node: gast.AST | list[gast.AST]) -> list[gast.AST]:
    """The nodes and their descendants in the same scope; an inner function only as the name that it binds."""
    if isinstance(node, list):
        return [part for child in node for part in _own(child)]
    if isinstance(node, gast.FunctionDef):
        return [node]
    return [node, *(part for child in children(node) for part in _own(child))]


def _assigned(node: gast.AST) -> list[str]:
    if isinstance(node, gast.FunctionDef):
        return [node.name]
    return [node.id] if isinstance(node, gast.Name) and isinstance(node.ctx, gast.Store) else []
