"""``for k, v in d.items()`` where the body may change ``d`` looks each value up when its turn comes, as Python does.

    for k, v in d.items():      for key in d:
        body                        k, v = key, d[key]
                                    body

In a comprehension ``for v in d.values()`` becomes ``for key in d for v in [d[key]]``.
"""

from __future__ import annotations

import builtins
from collections.abc import Sequence
from dataclasses import replace

import gast

from autobatch.frontend.source import Source
from autobatch.frontend.syntax import Namer, Statements, load, names, root_of, store
from autobatch.frontend.trees import copy_of, walk


def without_views(source: Source) -> Source:
    if not any(isinstance(node, gast.Attribute) and node.attr in _OF_DICTS for node in walk(source.tree)):
        return source
    tree = copy_of(source.tree)  # the caller keeps its tree
    views = _Views(source, Namer(tree))
    views.visit(tree)
    return replace(source, tree=tree) if views.found else source


_OF_DICTS = ("items", "values")
_BESIDE = {builtins.zip: 0, builtins.enumerate: 1}  # and how many targets stand before those of what is given


class _Views(gast.NodeTransformer):
    def __init__(self, source: Source, namer: Namer):
        self.source, self.namer = source, namer
        self.found = False
        functions = [node for node in walk(source.tree) if isinstance(node, gast.FunctionDef | gast.Lambda)]
        self.nested = {getattr(node, "name", ""): {*names(node.body)} for node in functions if node is not source.tree}

    def visit_For(self, node: gast.For) -> gast.AST:
        taken: Statements = []
        node.target, node.iter = self.by_keys(node.target, node.iter, node, taken)
        node.body = [*taken, *node.body]
        self.found = self.found or bool(taken)
        return self.generic_visit(node)

    def lazily(self, node: gast.comprehension, body: Sequence[gast.AST]) -> list[gast.comprehension]:
        owner = self.view(node.iter, node.target, body)
        if owner is None:
            return [node]
        self.found = True
        key = self.namer.fresh("key")
        one = gast.copy_location(gast.List(elts=[_found(node.iter, key)], ctx=gast.Load()), node.iter)
        keys = gast.comprehension(target=store(key, node.target), iter=owner, ifs=[], is_async=0)
        return [keys, gast.comprehension(target=node.target, iter=one, ifs=node.ifs, is_async=0)]

    def by_comprehension(self, node: gast.AST) -> gast.AST:
        parts = [part for part in (getattr(node, name, None) for name in ("elt", "key", "value")) if part is not None]
        body = [*parts, *(test for generator in node.generators for test in generator.ifs)]
        node.generators = [made for each in node.generators for made in self.lazily(each, body)]
        return self.generic_visit(node)

    visit_ListComp = visit_SetComp = visit_DictComp = visit_GeneratorExp = by_comprehension

    def view(self, node: gast.AST, target: gast.AST, body: Sequence[gast.AST]) -> gast.AST | None:
        """The dict whose items or values these are, if the body may change another than the one that it has."""
        match node:
            case gast.Call(func=gast.Attribute(value=owner, attr="items" | "values"), args=[], keywords=[]):
                root = root_of(owner)
            case _:
                return None
        if not isinstance(root, gast.Name) or root.id in names([*body], gast.Store):
            return None
        parts = (part for each in body for part in walk(each))
        return owner if any(self.may_change(part, root.id, target) for part in parts) else None

    def may_change(self, part: gast.AST, name: str, target: gast.AST) -> bool:
        match part:
            case gast.Subscript(ctx=gast.Store() | gast.Del()) if _is(part.value, name):
                key = target.elts[0] if isinstance(target, gast.Tuple) and target.elts else None
                both = isinstance(key, gast.Name) and isinstance(part.slice, gast.Name)
                return not (both and part.slice.id == getattr(key, "id", None) and isinstance(part.value, gast.Name))
            case gast.Call(func=gast.Attribute(value=owner), args=args):
                return _is(owner, name) or any(_is(argument, name) for argument in args)
            case gast.Call(func=gast.Name(id=function), args=args):
                return name in self.nested.get(function, ()) or any(_is(argument, name) for argument in args)
            case gast.Call(args=args):
                return any(_is(argument, name) for argument in args)
        return False

    def by_keys(
        self, target: gast.AST, iterable: gast.AST, loop: gast.For, taken: Statements
    ) -> tuple[gast.AST, gast.AST]:
        """What the loop binds and goes through instead; what the body is to begin with is added to ``taken``."""
        owner = self.view(iterable, target, loop.body)
        if owner is not None:
            key = self.namer.fresh("key")
            found = gast.Assign(targets=[target], value=_found(iterable, key), type_comment=None)
            taken.append(gast.copy_location(found, iterable))
            return store(key, target), owner
        match target, iterable:
            case gast.Tuple(elts=parts), gast.Call(func=gast.Name(id=name), args=args):
                known = self.source.lookup(name, None)
                first = next((first for function, first in _BESIDE.items() if known is function), None)
                if first is not None and len(parts) == len(args) + first:
                    pairs = [self.by_keys(*pair, loop, taken) for pair in zip(parts[first:], args, strict=True)]
                    parts[first:], args[:] = ([pair[k] for pair in pairs] for k in (0, 1))
        return target, iterable


def _found(view: gast.Call, key: str) -> gast.AST:
    """What the view has for the key."""
    owner = view.func.value
    value = gast.Subscript(value=copy_of(owner), slice=load(key, owner), ctx=gast.Load())
    value = gast.copy_location(value, view)
    if view.func.attr == "values":
        return value
    return gast.copy_location(gast.Tuple(elts=[load(key, owner), value], ctx=gast.Load()), view)


def _is(node: gast.AST, name: str) -> bool:
    root = root_of(node)
    return isinstance(root, gast.Name) and root.id == name
