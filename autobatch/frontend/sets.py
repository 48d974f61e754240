"""A set that is filled becomes a list without repetitions; what only a set does otherwise is refused.

    seen = set()                 seen = []
    seen.add(x)                  value = x
                                 if value not in seen: seen.append(value)
    x in seen, len(seen)         as they are

Sets that are made otherwise and only asked: ``distinct.py``.  A test takes as long as the list is, as all of its items
are compared.
"""

from __future__ import annotations

import builtins
from collections.abc import Iterator
from dataclasses import replace

import gast

from autobatch.frontend.refusals import refusal
from autobatch.frontend.source import Source
from autobatch.frontend.syntax import Namer, Statements, assign, bound_names, load, store
from autobatch.frontend.trees import walk

_CHANGES = ("add", "discard", "remove", "update", "clear")
_READERS = ("len", "sum", "sorted", "min", "max", "any", "all", "bool")


def without_sets(source: Source) -> Source:
    """The function in which lists stand for the variables that are sets, and are changed."""
    source = replace(source, tree=_Apart().visit(source.tree))
    nodes = [*walk(source.tree)]
    made = {id(node): node.targets[0].id for node in nodes if _makes_set(node, source)}
    sets = {owner.id for node in nodes for owner in _changed(node)} & {*made.values()}
    if not sets:
        return source
    fine = {id(name) for node in nodes for name in uses(node)}
    for node in nodes:
        if isinstance(node, gast.Name) and node.id in sets and isinstance(node.ctx, gast.Load) and id(node) not in fine:
            raise refusal(
                source.location(node),
                "this use of a set",
                "add, discard, remove, update, clear, x in s, len(s), sorted(s), sums and tests work; else use a list.",
                "set-use",
            )
    places = {place for place, name in made.items() if name in sets}
    return replace(source, tree=_Lists(source, sets, places).visit(source.tree))


class _Apart(gast.NodeTransformer):
    """``a, b = set(), 0`` as two statements."""

    def visit_Assign(self, node: gast.Assign) -> gast.AST | Statements:
        match node:
            case gast.Assign(targets=[gast.Tuple(elts=targets)], value=gast.Tuple(elts=values)):
                simple = len(targets) == len(values) and all(isinstance(each, gast.Name) for each in targets)
                if simple and all(map(_is_empty, values)) and any(isinstance(each, gast.Call) for each in values):
                    return [assign(t.id, value, node) for t, value in zip(targets, values, strict=True)]
        return node


def _is_empty(node: gast.AST) -> bool:
    """Whether this is a new container, ``set()`` or ``[]``, or a constant."""
    match node:
        case gast.Call(func=gast.Name(id="set" | "dict" | "list"), args=[], keywords=[]) | gast.Constant():
            return True
        case gast.List(elts=[]) | gast.Dict(keys=[]):
            return True
    return False


def _makes_set(node: gast.AST, source: Source) -> bool:
    match node:
        case gast.Assign(targets=[gast.Name()], value=gast.Set()):
            return True
        case gast.Assign(targets=[gast.Name()], value=gast.Call(func=gast.Name(id="set"), args=args, keywords=[])):
            return source.lookup("set", None) is builtins.set and len(args) < 2
        case _:
            return False


def _changed(node: gast.AST) -> Iterator[gast.Name]:
    match node:
        case gast.Expr(value=gast.Call(func=gast.Attribute(value=gast.Name() as owner, attr=method), keywords=[])):
            if method in _CHANGES:
                yield owner


def uses(node: gast.AST) -> Iterator[gast.AST]:
    """What a node uses in ways that a set and a list without repetitions have in common."""
    yield from _changed(node)
    match node:
        case gast.Call(func=gast.Name(id=reader), args=[read], keywords=[]) if reader in _READERS:
            yield read
        case gast.If(test=test) | gast.While(test=test) | gast.IfExp(test=test):
            yield test
        case gast.BoolOp(values=values):
            yield from values
        case gast.UnaryOp(op=gast.Not(), operand=operand):
            yield operand
        case gast.Compare(ops=[gast.In() | gast.NotIn()], comparators=[container]):
            yield container


class _Lists(gast.NodeTransformer):
    def __init__(self, source: Source, sets: set[str], places: set[int]):
        self.source, self.sets, self.places, self.namer = source, sets, places, Namer(source.tree)

    def visit_FunctionDef(self, node: gast.FunctionDef) -> gast.AST:
        if node is self.source.tree:
            return self.generic_visit(node)
        outer = self.sets
        self.sets = outer - bound_names(node)
        node, self.sets = self.generic_visit(node), outer
        return node

    def visit_Assign(self, node: gast.Assign) -> gast.AST | Statements:
        if id(node) not in self.places:
            return node
        name, value = node.targets[0].id, node.value
        new = self.namer.fresh(name)  # as its items may ask the old one
        if isinstance(value, gast.Set):
            more = [statement for item in value.elts for statement in self.added(new, item)]
        else:
            more = [statement for items in value.args for statement in self.updated(new, items)]
        empty = gast.copy_location(gast.List(elts=[], ctx=gast.Load()), node)
        if not more:
            return assign(name, empty, node)
        return [assign(new, empty, node), *more, assign(name, load(new, node), node)]

    def visit_Expr(self, node: gast.Expr) -> gast.AST | Statements:
        (owner,) = [owner for owner in _changed(node) if owner.id in self.sets] or (None,)
        if owner is None:
            return node
        method, arguments, name = node.value.func.attr, node.value.args, owner.id
        match method, arguments:
            case "add", [item]:
                return self.added(name, item)
            case "update", _:
                return [statement for items in arguments for statement in self.updated(name, items)]
            case "discard" | "remove", [item]:
                before, value = self.named(item)
                taken = _method(name, "remove", [load(value, node)], node)
                if method == "discard":
                    return [before, _if(value, gast.In(), name, taken, node)]
                error = gast.Call(func=load("KeyError", node), args=[load(value, node)], keywords=[])
                missing = gast.Raise(exc=gast.copy_location(error, node), cause=None)
                return [before, _if(value, gast.NotIn(), name, gast.copy_location(missing, node), node), taken]
            case _:
                return node

    def named(self, item: gast.AST) -> tuple[gast.AST, str]:
        value = self.namer.fresh("value")
        return assign(value, item, item), value

    def added(self, name: str, item: gast.AST) -> Statements:
        before, value = self.named(item)
        put = _method(name, "append", [load(value, item)], item)
        return [before, _if(value, gast.NotIn(), name, put, item)]

    def updated(self, name: str, items: gast.AST) -> Statements:
        value = self.namer.fresh("value")
        body = self.added(name, load(value, items))
        loop = gast.For(target=store(value, items), iter=items, body=body, orelse=[], type_comment=None)
        return [gast.copy_location(loop, items)]


def _method(name: str, method: str, arguments: Statements, at: gast.AST) -> gast.AST:
    function = gast.copy_location(gast.Attribute(value=load(name, at), attr=method, ctx=gast.Load()), at)
    call = gast.copy_location(gast.Call(func=function, args=arguments, keywords=[]), at)
    return gast.copy_location(gast.Expr(value=call), at)


def _if(value: str, operator: gast.AST, name: str, then: gast.AST, at: gast.AST) -> gast.AST:
    test = gast.Compare(left=load(value, at), ops=[operator], comparators=[load(name, at)])
    return gast.copy_location(gast.If(test=gast.copy_location(test, at), body=[then], orelse=[]), at)
