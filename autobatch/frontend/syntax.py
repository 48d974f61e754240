"""Small helpers to build and search syntax trees."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

import gast

from autobatch.frontend.source import SUPPORT

Statements = list[gast.AST]
SCOPES = (gast.Lambda, gast.ListComp, gast.SetComp, gast.DictComp, gast.GeneratorExp)


class Namer:
    """Makes names that the function does not use."""

    def __init__(self, tree: gast.AST):
        self.used = {n.id for n in gast.walk(tree) if isinstance(n, gast.Name)}

    def fresh(self, hint: str) -> str:
        name, k = hint, 1
        while name in self.used:
            k += 1
            name = f"{hint}_{k}"
        self.used.add(name)
        return name


def load(name: str, at: gast.AST) -> gast.Name:
    return gast.copy_location(gast.Name(id=name, ctx=gast.Load(), annotation=None, type_comment=None), at)


def store(name: str, at: gast.AST) -> gast.Name:
    return gast.copy_location(gast.Name(id=name, ctx=gast.Store(), annotation=None, type_comment=None), at)


def assign(name: str, value: gast.AST, at: gast.AST) -> gast.Assign:
    return gast.copy_location(gast.Assign(targets=[store(name, at)], value=value, type_comment=None), at)


def constant(value: object, at: gast.AST) -> gast.Constant:
    return gast.copy_location(gast.Constant(value=value, kind=None), at)


def support(operator: str, args: list[gast.AST], at: gast.AST) -> gast.Call:
    """A call to one of ``autobatch.operators``."""
    function = gast.Attribute(value=load(SUPPORT, at), attr=operator, ctx=gast.Load())
    return gast.copy_location(gast.Call(func=gast.copy_location(function, at), args=args, keywords=[]), at)


def thunk(value: gast.AST) -> gast.Lambda:
    """``lambda: value``"""
    empty = gast.parse("lambda: 0").body[0].value
    empty.body = value
    return gast.copy_location(empty, value)


def rebuilt(node: gast.AST, change: Callable[[gast.AST], gast.AST]) -> gast.AST:
    """A copy of the node with each child changed."""
    fields = {}
    for name, value in gast.iter_fields(node):
        if isinstance(value, list):
            fields[name] = [change(part) if isinstance(part, gast.AST) else part for part in value]
        else:
            fields[name] = change(value) if isinstance(value, gast.AST) else value
    return gast.copy_location(type(node)(**fields), node)


def as_load(target: gast.AST) -> gast.AST:
    """A copy of an assignment target, to be read."""
    match target:
        case gast.Name():
            return load(target.id, target)
        case gast.Subscript():
            copy = gast.Subscript(value=as_load(target.value), slice=target.slice, ctx=gast.Load())
            return gast.copy_location(copy, target)
        case _:
            return target


def index_value(index: gast.AST) -> gast.AST:
    """A subscript's index as an expression: slices become calls."""
    if isinstance(index, gast.Slice):
        bounds = [part or constant(None, index) for part in (index.lower, index.upper, index.step)]
        return support("slice_", bounds, index)
    if isinstance(index, gast.Tuple):
        elements = [index_value(element) for element in index.elts]
        return gast.copy_location(gast.Tuple(elts=elements, ctx=gast.Load()), index)
    return index


def names(tree: gast.AST | Iterable[gast.AST], context: type = gast.Load) -> list[str]:
    """The free names used in this context, in order of appearance; a comprehension's or lambda's own do not count."""
    trees = [tree] if isinstance(tree, gast.AST) else tree
    return list(dict.fromkeys(name for t in trees for name in _names(t, context, frozenset())))


def _names(node: gast.AST, context: type, bound: frozenset[str]) -> Iterator[str]:
    if isinstance(node, gast.Name):
        if isinstance(node.ctx, context) and node.id not in bound:
            yield node.id
        return
    inner = bound
    if isinstance(node, SCOPES):
        inner = bound | bound_names(node)
        if not isinstance(node, gast.Lambda):
            # Python evaluates the first iterable outside the comprehension's scope.
            yield from _names(node.generators[0].iter, context, bound)
    for child in gast.iter_child_nodes(node):
        if isinstance(node, gast.Lambda) and isinstance(child, gast.arguments):
            for default in child.defaults:
                yield from _names(default, context, bound)
        else:
            yield from _names(child, context, inner)


def bound_names(scope: gast.AST) -> frozenset[str]:
    """The names that a lambda or a comprehension binds."""
    if isinstance(scope, gast.Lambda):
        arguments = scope.args
        extra = [a for a in (arguments.vararg, arguments.kwarg) if a is not None]
        return frozenset(a.id for a in [*arguments.args, *arguments.posonlyargs, *arguments.kwonlyargs, *extra])
    targets = [generator.target for generator in scope.generators]
    return frozenset(n.id for target in targets for n in gast.walk(target) if isinstance(n, gast.Name))


def assigned_names(body: Statements) -> list[str]:
    """The names that statements assign, which Python makes locals."""
    return names(body, gast.Store)
