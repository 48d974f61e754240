"""``map``, ``filter`` and generator expressions that are taken in as a whole become comprehensions.

sum(map(f, xs))               sum([f(item) for item in xs])
list(filter(test, xs))        list([item for item in xs if test(item)])
sorted(f(x) for x in xs)      sorted([f(x) for x in xs])
"""

from __future__ import annotations

import builtins
import collections
import math
from dataclasses import replace

import gast

from autobatch.frontend.comprehensions import as_loops
from autobatch.frontend.effects import Effects
from autobatch.frontend.refusals import refusal
from autobatch.frontend.source import Source
from autobatch.frontend.syntax import (
    SCOPES,
    Namer,
    Statements,
    assigned_names,
    bound_names,
    load,
    names,
    parameter_names,
    renamed,
    store,
)
from autobatch.frontend.trees import copy_of, walk

TAKE_ALL = (
    builtins.sum, builtins.list, builtins.tuple, builtins.sorted, builtins.min, builtins.max, builtins.set,
    builtins.any, builtins.all, math.prod,
)  # fmt: skip

# Those that look at all items before they say anything.
_COLLECT = (builtins.list, builtins.tuple, builtins.sorted, builtins.set, builtins.frozenset, collections.deque)


def without_maps(source: Source) -> Source:
    """The function with comprehensions of what differs between members in place of its maps."""
    maps = _Maps(source)
    if not any(isinstance(node, gast.Call) and maps.parts(node) for node in walk(source.tree)):
        return source
    return replace(source, tree=maps.visit(copy_of(source.tree)))  # the caller keeps its tree


class _Maps(gast.NodeTransformer):
    def __init__(self, source: Source):
        self.source, self.namer, self.effects = source, Namer(source.tree), Effects(source)
        self.caught = False  # whether this stands in a `try`
        inner = {name for node in walk(source.tree) if isinstance(node, SCOPES) for name in bound_names(node)}
        self.locals = {*source.parameters, *assigned_names(source.tree.body), *inner}

    def is_builtin(self, node: gast.AST, *functions: object) -> bool:
        match node:
            case gast.Name(id=name) if name not in self.locals:
                value = self.source.lookup(name, None)
            case gast.Attribute(value=gast.Name(id=module), attr=name) if module not in self.locals:
                value = getattr(self.source.lookup(module, None), name, None)
            case _:
                return False
        return any(value is function for function in functions)

    def parts(self, node: gast.Call) -> list[gast.Call]:
        """The maps and generator expressions among the call's arguments, if it takes them in as a whole."""
        collects = self.is_builtin(node.func, *_COLLECT) or self.extends(node)
        found = [a for a in node.args if isinstance(a, gast.GeneratorExp) and collects and {*names(a)} & self.locals]
        if self.is_builtin(node.func, *TAKE_ALL):
            found += [argument for argument in node.args if self.is_map(argument)]
        return found

    def extends(self, node: gast.Call) -> bool:
        """Whether this is ``xs.extend(...)`` of something else than itself."""
        match node:
            case gast.Call(func=gast.Attribute(value=owner, attr="extend"), args=[given], keywords=[]):
                return not {*names(owner)} & {*names(given)}
        return False

    def is_map(self, node: gast.AST) -> bool:
        match node:
            case gast.Call(args=[_, first, *rest], keywords=[]) if self.is_builtin(node.func, builtins.map):
                iterables = [first, *rest]
            case gast.Call(args=[_, first], keywords=[]) if self.is_builtin(node.func, builtins.filter):
                iterables = [first]
            case _:
                return False
        starred = any(isinstance(part, gast.Starred) for part in (node.args[0], *iterables))
        return not starred and bool(set(names(node)) & self.locals)

    def visit_Try(self, node: gast.Try) -> gast.AST:
        """``xs.extend(f(x) for x in ys)`` keeps what it has got when an item fails, and the failure is caught."""
        outer, self.caught = self.caught, True
        node.body = [made for s in node.body for made in _listed(self.visit(s))]
        self.caught = outer
        for name in ("handlers", "orelse", "finalbody"):
            setattr(node, name, [made for part in getattr(node, name) for made in _listed(self.visit(part))])
        return node

    def visit_Expr(self, node: gast.Expr) -> gast.AST | Statements:
        match node.value:
            case gast.Call(
                func=gast.Attribute(attr="extend") as method, args=[gast.GeneratorExp() as items], keywords=[]
            ) if self.caught:

                def put(element: gast.AST) -> Statements:
                    append = gast.Attribute(value=renamed(method.value, {}), attr="append", ctx=gast.Load())
                    call = gast.Call(func=gast.copy_location(append, element), args=[element], keywords=[])
                    return [gast.copy_location(gast.Expr(value=gast.copy_location(call, element)), element)]

                loops, new = as_loops(items, self.namer.fresh, put)
                self.locals |= new
                return [self.visit(loop) for loop in loops]
        return self.generic_visit(node)

    def visit_Call(self, node: gast.Call) -> gast.AST:
        taken = {id(part) for part in self.parts(node)}
        key = next((k.value for k in node.keywords if k.arg == "key"), None)
        beside = key is not None and not self.is_builtin(node.func, builtins.sorted) and self.effects.acts(key)
        if beside and any(map(self.effects.acts, node.args)):
            raise refusal(
                self.source.location(node),
                "a key that changes something, beside a map that does",
                "make a list of the map first: list(map(...)).",
                "generator-that-changes",
            )
        node = self.generic_visit(node)
        node.args = [self.comprehension(part) if id(part) in taken else part for part in node.args]
        if taken and len(node.args) == 1 and self.is_builtin(node.func, builtins.any, builtins.all):
            (given,) = node.args  # of which they look at one item after the other
            node.args = [gast.copy_location(gast.GeneratorExp(elt=given.elt, generators=given.generators), given)]
        return node

    def comprehension(self, node: gast.AST) -> gast.AST:
        if isinstance(node, gast.GeneratorExp):
            return gast.copy_location(gast.ListComp(elt=node.elt, generators=node.generators), node)
        function, *iterables = node.args
        if self.effects.acts(function) and any(map(self.effects.acts, iterables)):
            raise refusal(
                self.source.location(node),
                "a map of a map where both change something, item by item",
                "make a list of the inner one first: list(map(...)).",
                "generator-that-changes",
            )
        items = [self.namer.fresh("item") for _ in iterables]
        targets = [store(item, function) for item in items]  # where no other loop stands
        target, iterable = targets[0], iterables[0]
        if len(items) > 1:
            target = gast.copy_location(gast.Tuple(elts=targets, ctx=gast.Store()), function)
            zipped = gast.Call(func=load(builtins.zip.__name__, node), args=iterables, keywords=[])
            iterable = gast.copy_location(zipped, node)
        is_map = self.is_builtin(node.func, builtins.map)
        found = self.applied(function, items, node)
        each = gast.comprehension(target=target, iter=iterable, ifs=[] if is_map else [found], is_async=0)
        element = found if is_map else load(items[0], node)
        return gast.copy_location(gast.ListComp(elt=element, generators=[each]), node)

    def applied(self, function: gast.AST, items: list[str], at: gast.Call) -> gast.AST:
        if isinstance(function, gast.Constant) and function.value is None:
            return load(items[0], at)
        if isinstance(function, gast.Lambda) and len(function.args.args) == len(items):
            return renamed(function.body, dict(zip(parameter_names(function.args), items, strict=True)))
        call = gast.Call(func=function, args=[load(item, at) for item in items], keywords=[])
        return gast.copy_location(call, at)


def _listed(made: gast.AST | Statements) -> Statements:
    return made if isinstance(made, list) else [made]
