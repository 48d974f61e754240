"""Functions of any number of arguments, as each call has them.

def f(a, *rest, **more):        def f(a, *, rest_0, rest_1, more_scale):
    return g(*rest, **more)         return g(rest_0, rest_1, scale=more_scale)

f(x, y, z, scale=2)             f(x, rest_0=y, rest_1=z, more_scale=2)
"""

from __future__ import annotations

import copy
import inspect
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

import gast

from autobatch import context
from autobatch.frontend.core import Callee
from autobatch.frontend.source import Source, compile_functions, read
from autobatch.frontend.syntax import Statements, assign, constant, load
from autobatch.frontend.trees import copy_of, walk


def fitted(callee: Callee, call: gast.Call) -> tuple[Callee, gast.Call]:
    """The function with these arguments, and the call of it."""
    stars = callee.function.__code__.co_flags & (inspect.CO_VARARGS | inspect.CO_VARKEYWORDS)
    if not stars:
        return callee, call
    source = callee.source or read(callee.function, {})
    taken = source.tree.args
    count = len(taken.posonlyargs) + len(taken.args) - len(callee.receiver)
    few, rest = call.args[:count], call.args[count:]
    own = {parameter.id for parameter in (*taken.args, *taken.kwonlyargs)}
    named = tuple(k.arg for k in call.keywords if k.arg not in own)
    if (rest and taken.vararg is None) or (named and taken.kwarg is None):
        return callee, call  # which is refused as Python would
    kept = (fitted, callee.function, len(rest), named)
    made, places, places_of = context.remembered(kept, lambda: _made(source, len(rest), named, len(callee.captured)))
    keywords = [gast.keyword(arg=place, value=value) for place, value in zip(places, rest, strict=True)]
    keywords += [gast.keyword(arg=places_of.get(k.arg, k.arg), value=k.value) for k in call.keywords]
    fits = gast.Call(func=call.func, args=few, keywords=keywords)
    return replace(callee, function=made.function, source=made), gast.copy_location(fits, call)


def with_displays_spread(values: Sequence[gast.AST]) -> list[gast.AST]:
    """``*(x, y)`` among arguments as x, y."""
    found = []
    for value in values:
        match value:
            case gast.Starred(value=gast.Tuple(elts=parts) | gast.List(elts=parts)):
                found += parts
            case _:
                found.append(value)
    return found


def without_stars(function: gast.FunctionDef) -> gast.FunctionDef:
    """The function as if each call of it had no further arguments."""
    plain = copy.copy(function)
    plain.args = copy.copy(function.args)
    plain.args.vararg = plain.args.kwarg = None
    return gast.copy_location(plain, function)


def _made(
    source: Source, count: int, named: Sequence[str], captured: int
) -> tuple[Source, list[str], Mapping[str, str]]:
    """The function, and its names for its further arguments, which stand before those that it captures."""
    tree = copy_of(source.tree)
    taken = tree.args
    used = {*_mentioned(tree), *named}
    rest = taken.vararg.id if taken.vararg is not None else ""
    more = taken.kwarg.id if taken.kwarg is not None else ""
    places = [_unused(f"{rest}_{k}", used) for k in range(count)]
    places_of = {name: _unused(f"{more}_{name}", used) for name in named}
    taken.vararg = taken.kwarg = None
    new = [_parameter(name) for name in (*places, *places_of.values())]
    own = len(taken.kwonlyargs) - captured
    taken.kwonlyargs[own:own] = new
    taken.kw_defaults[own:own] = [None for _ in new]
    changed = {*_bound(tree.body)}
    is_read = more not in changed and _is_only_read(more, tree.body)
    spread = _Spread({rest: places} if rest not in changed else {}, {more: places_of} if is_read else {})
    tree.body = [spread.visit(statement) for statement in tree.body]
    tree.body = [*_collected(rest, places, more, places_of, tree), *tree.body]
    tree.decorator_list, tree.name = [], _unused(tree.name, used)  # by its own name it calls itself as it was
    (function,) = compile_functions(source, [tree])
    function.__name__ = source.function.__name__
    function.__defaults__, function.__kwdefaults__ = source.function.__defaults__, source.function.__kwdefaults__
    return Source(function, tree, source.file, source.static), places, places_of


def _parameter(name: str) -> gast.Name:
    return gast.Name(id=name, ctx=gast.Param(), annotation=None, type_comment=None)


def _unused(name: str, used: set[str]) -> str:
    while name in used:
        name += "_"
    used.add(name)
    return name


def _mentioned(tree: gast.AST) -> Iterator[str]:
    """All names, those of inner functions included."""
    for node in walk(tree):
        if isinstance(node, gast.Name | gast.FunctionDef):
            yield node.id if isinstance(node, gast.Name) else node.name
        elif isinstance(node, gast.Nonlocal | gast.Global):
            yield from node.names


def _bound(body: Statements) -> Iterator[str]:
    """The names that get another value, here or in an inner function, or are an inner function's own."""
    for node in (part for statement in body for part in walk(statement)):
        if isinstance(node, gast.Name) and not isinstance(node.ctx, gast.Load):
            yield node.id
        elif isinstance(node, gast.Nonlocal | gast.Global):
            yield from node.names
        elif isinstance(node, gast.ExceptHandler | gast.FunctionDef):
            yield getattr(node.name, "id", node.name) or ""


def _is_only_read(name: str, body: Statements) -> bool:
    """Whether all that is done with a dict is to hand it on by ``**`` and to ask for its items."""
    parts = [part for statement in body for part in walk(statement)]
    fine: set[int] = set()
    for part in parts:
        match part:
            case gast.keyword(arg=None, value=value):
                fine.add(id(value))
            case gast.Call(func=gast.Attribute(value=value, attr="get" | "items" | "keys" | "values")):
                fine.add(id(value))
            case gast.Subscript(value=value, ctx=gast.Load()):
                fine.add(id(value))
            case gast.Compare(ops=[gast.In() | gast.NotIn()], comparators=[value]):
                fine.add(id(value))
            case gast.Call(func=gast.Name(id="len"), args=[value]):
                fine.add(id(value))
    return all(id(part) in fine for part in parts if isinstance(part, gast.Name) and part.id == name)


def _collected(
    rest: str, places: Sequence[str], more: str, places_of: Mapping[str, str], tree: gast.FunctionDef
) -> Statements:
    """``rest = (rest_0, rest_1)`` and ``more = {"scale": more_scale}``, where the body mentions them."""
    at, used = tree.body[0], {*(name for statement in tree.body for name in _mentioned(statement))}
    made = []
    if rest in used:
        made.append(assign(rest, gast.Tuple(elts=[load(place, at) for place in places], ctx=gast.Load()), at))
    if more in used:
        keys, values = [constant(name, at) for name in places_of], [load(place, at) for place in places_of.values()]
        made.append(assign(more, gast.Dict(keys=keys, values=values), at))
    return made


class _Spread(gast.NodeTransformer):
    """``g(*rest, **more)`` with the arguments one by one; what is empty is known to be."""

    def __init__(self, rest: Mapping[str, Sequence[str]], more: Mapping[str, Mapping[str, str]]):
        self.rest, self.more = rest, more

    def visit_Call(self, node: gast.Call) -> gast.AST:
        node.args = self.listed(node.args)
        keywords = []
        for each in node.keywords:
            if each.arg is None and getattr(each.value, "id", None) in self.more:
                places = self.more[each.value.id]
                keywords += [gast.keyword(arg=name, value=load(place, node)) for name, place in places.items()]
            else:
                keywords.append(each)
        node.keywords = keywords
        return self.generic_visit(node)

    def visit_Tuple(self, node: gast.Tuple) -> gast.AST:
        node.elts = self.listed(node.elts)
        return self.generic_visit(node)

    visit_List = visit_Tuple

    def visit_Name(self, node: gast.Name) -> gast.AST:
        empty = isinstance(node.ctx, gast.Load) and node.id in self.rest and not self.rest[node.id]
        return gast.copy_location(gast.Tuple(elts=[], ctx=gast.Load()), node) if empty else node

    def listed(self, values: Sequence[gast.AST]) -> list[gast.AST]:
        return [part for value in values for part in self.parts(value)]

    def parts(self, value: gast.AST) -> list[gast.AST]:
        match value:
            case gast.Starred(value=gast.Name(id=name)) if name in self.rest:
                return [load(place, value) for place in self.rest[name]]
            case gast.Starred(value=gast.Subscript(value=gast.Name(id=name), slice=gast.Slice() as part)) if (
                name in self.rest
            ):
                bounds = (part.lower, part.upper, part.step)
                if all(each is None or isinstance(each, gast.Constant) for each in bounds):
                    bounds = (each and each.value for each in bounds)
                    return [load(place, value) for place in self.rest[name][slice(*bounds)]]
        return [value]
