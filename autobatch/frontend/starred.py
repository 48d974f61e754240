"""Functions of any number of arguments, as each call has them.

def f(a, *rest, **more):        def f(a, *, rest_0, rest_1, scale):
    return g(*rest, **more)         return g(rest_0, rest_1, scale=scale)

f(x, y, z, scale=2)             f(x, rest_0=y, rest_1=z, scale=2)
"""

from __future__ import annotations

import copy
import inspect
from collections.abc import Mapping, Sequence
from dataclasses import replace

import gast

from autobatch import context
from autobatch.frontend.core import Callee
from autobatch.frontend.source import Source, compile_functions, read
from autobatch.frontend.syntax import (
    Statements,
    assign,
    assigned_names,
    bound_names,
    constant,
    load,
    names,
    parameter_names,
)


def fitted(callee: Callee, call: gast.Call) -> tuple[Callee, gast.Call]:
    """The function with these arguments, and the call of it."""
    stars = callee.function.__code__.co_flags & (inspect.CO_VARARGS | inspect.CO_VARKEYWORDS)
    if not stars:
        return callee, call
    source = callee.source or read(callee.function, {})
    taken = source.tree.args
    count = len(taken.posonlyargs) + len(taken.args) - len(callee.receiver)
    few, rest = call.args[:count], call.args[count:]
    own = parameter_names(taken)
    named = tuple(k.arg for k in call.keywords if k.arg not in own)
    if (rest and taken.vararg is None) or (named and taken.kwarg is None):
        return callee, call  # which is refused as Python would
    kept = (fitted, callee.function, len(rest), named)
    made, places = context.remembered(kept, lambda: _made(source, len(rest), named, len(callee.captured)))
    keywords = [gast.keyword(arg=place, value=value) for place, value in zip(places, rest, strict=True)]
    fits = gast.Call(func=call.func, args=few, keywords=[*keywords, *call.keywords])
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


def _made(source: Source, count: int, named: Sequence[str], captured: int) -> tuple[Source, list[str]]:
    """The function, and the names of its further arguments, which stand before those that it captures."""
    tree = copy.deepcopy(source.tree)
    taken = tree.args
    used = {*names(tree.body), *bound_names(tree), *named}
    rest = taken.vararg.id if taken.vararg is not None else ""
    places = [_unused(f"{rest}_{k}", used) for k in range(count)]
    more = taken.kwarg.id if taken.kwarg is not None else ""
    taken.vararg = taken.kwarg = None
    new = [gast.Name(id=name, ctx=gast.Param(), annotation=None, type_comment=None) for name in (*places, *named)]
    own = len(taken.kwonlyargs) - captured
    taken.kwonlyargs[own:own] = new
    taken.kw_defaults[own:own] = [None for _ in new]
    changed = {*assigned_names(tree.body)}
    spread = _Spread({rest: places} if rest not in changed else {}, {more: named} if more not in changed else {})
    tree.body = [spread.visit(statement) for statement in tree.body]
    tree.body = [*_collected(rest, places, more, named, tree), *tree.body]
    tree.decorator_list = []
    (function,) = compile_functions(source, [tree])
    function.__defaults__, function.__kwdefaults__ = source.function.__defaults__, source.function.__kwdefaults__
    return Source(function, tree, source.file, source.static), places


def _unused(name: str, used: set[str]) -> str:
    while name in used:
        name += "_"
    used.add(name)
    return name


def _collected(rest: str, places: Sequence[str], more: str, named: Sequence[str], tree: gast.FunctionDef) -> Statements:
    """``rest = (rest_0, rest_1)`` and ``more = {"scale": scale}``, where the body reads them."""
    at, used = tree.body[0], {*names(tree.body)}
    made = []
    if rest in used:
        made.append(assign(rest, gast.Tuple(elts=[load(place, at) for place in places], ctx=gast.Load()), at))
    if more in used:
        items = gast.Dict(keys=[constant(name, at) for name in named], values=[load(name, at) for name in named])
        made.append(assign(more, items, at))
    return made


class _Spread(gast.NodeTransformer):
    """``g(*rest, **more)`` with the arguments one by one; what is empty is known to be."""

    def __init__(self, rest: Mapping[str, Sequence[str]], more: Mapping[str, Sequence[str]]):
        self.rest, self.more = rest, more

    def visit_Call(self, node: gast.Call) -> gast.AST:
        node.args = self.listed(node.args)
        keywords = []
        for each in node.keywords:
            if each.arg is None and getattr(each.value, "id", None) in self.more:
                keywords += [gast.keyword(arg=n, value=load(n, each.value)) for n in self.more[each.value.id]]
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
