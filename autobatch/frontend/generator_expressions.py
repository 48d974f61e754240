"""A generator expression that a loop goes through becomes a generator function: each item is made in its turn.

    for v in (f(w) for w in xs if w > 0):      def items():
        body                                       for w in xs:
                                                       if w > 0: yield f(w)
                                               for v in items(): body

So does one that ``enumerate``, ``zip`` or a function of ``itertools`` goes through for the loop.  For the rest see
generators.py.
"""

from __future__ import annotations

import builtins
from dataclasses import replace
from typing import Any

import gast

from autobatch.frontend.effects import Effects
from autobatch.frontend.iterators import text_of
from autobatch.frontend.refusals import refusal
from autobatch.frontend.source import Source
from autobatch.frontend.syntax import Namer, Statements, assigned_names, if_, load, names
from autobatch.frontend.trees import copy_of, walk


def with_generator_functions(source: Source) -> Source:
    if not any(isinstance(part, gast.GeneratorExp) for part in walk(source.tree)):
        return source
    tree = copy_of(source.tree)  # the caller keeps its tree
    _Lazily(source).visit(tree)
    return replace(source, tree=tree)


class _Lazily(gast.NodeTransformer):
    def __init__(self, source: Source):
        self.source, self.namer = source, Namer(source.tree)
        self.locals = {*source.parameters, *assigned_names(source.tree.body)}
        self.effects = Effects(source)

    def visit_FunctionDef(self, node: gast.FunctionDef) -> gast.AST:
        """A nested function is looked at when it becomes one of the program's."""
        return self.generic_visit(node) if node.name == self.source.tree.name else node

    def visit_For(self, node: gast.For) -> gast.AST | Statements:
        made: Statements = []
        node.iter = self.lazily(node.iter, made)
        self.generic_visit(node)
        return [*made, node] if made else node

    def visit_Call(self, node: gast.Call) -> gast.AST:
        """What acts beside a generator that acts would have to come between its items, or before them."""
        given = [*node.args, *(keyword.value for keyword in node.keywords)]
        acting = [argument for argument in given if self.effects.acts(argument)]
        made = [argument for argument in acting if isinstance(argument, gast.GeneratorExp)]
        if made and len(acting) > 1:
            raise refusal(
                self.source.location(made[0]),
                "a generator that changes something, item by item beside others",
                "make a list of it first, or loop over it alone.",
                "generator-that-changes",
            )
        return self.generic_visit(node)

    def lazily(self, node: gast.AST, made: Statements) -> gast.AST:
        """The iterable; the functions that it calls are added to ``made``."""
        match node:
            case gast.GeneratorExp() if {*names(node)} & self.locals:
                name = self.namer.fresh("items")
                self.locals.add(name)
                made.append(_function(name, node))
                call = gast.Call(func=load(name, node), args=[], keywords=[])
                return gast.copy_location(call, node)
            case gast.Call() if self.goes_through(node.func, len(node.args)):
                node.args = [self.lazily(argument, made) for argument in node.args]
        return node

    def goes_through(self, node: gast.AST, arguments: int) -> bool:
        """Whether this is a function that takes the items of what it is given one by one."""
        function = self.value(node)
        return function in (builtins.enumerate, builtins.zip) or bool(text_of(function, arguments))

    def value(self, node: gast.AST) -> Any:
        root = node.value if isinstance(node, gast.Attribute) else node
        known = isinstance(root, gast.Name) and root.id not in self.locals
        return self.source.named(node) if known else None


def _function(name: str, node: gast.GeneratorExp) -> gast.FunctionDef:
    made = gast.Expr(value=gast.copy_location(gast.Yield(value=node.elt), node.elt))
    body: Statements = [gast.copy_location(made, node.elt)]
    for generator in reversed(node.generators):
        for test in reversed(generator.ifs):
            body = [if_(test, body, test)]
        loop = gast.For(target=generator.target, iter=generator.iter, body=body, orelse=[], type_comment=None)
        body = [gast.copy_location(loop, generator.target)]
    definition = gast.parse(f"def {name}(): pass").body[0]
    definition.body = body
    for part in walk(definition):
        if not hasattr(part, "lineno"):
            gast.copy_location(part, node)
    return gast.copy_location(definition, node)
