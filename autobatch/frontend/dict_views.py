"""``for k, v in d.items()`` where the body may change ``d`` looks each value up when its turn comes, as Python does.

for k, v in d.items():      for key in d:
    body                        k, v = key, d[key]
                                body
"""

from __future__ import annotations

import builtins
import copy
from dataclasses import replace

import gast

from autobatch.frontend.source import Source
from autobatch.frontend.syntax import Namer, Statements, load, names, root_of, store


def without_views(source: Source) -> Source:
    tree = copy.deepcopy(source.tree)  # the caller keeps its tree
    views = _Views(source, Namer(tree))
    views.visit(tree)
    return replace(source, tree=tree) if views.found else source


class _Views(gast.NodeTransformer):
    def __init__(self, source: Source, namer: Namer):
        self.source, self.namer = source, namer
        self.found = False

    def visit_For(self, node: gast.For) -> gast.AST:
        taken: Statements = []
        node.target, node.iter = self.by_keys(node.target, node.iter, node, taken)
        node.body = [*taken, *node.body]
        self.found = self.found or bool(taken)
        return self.generic_visit(node)

    def by_keys(
        self, target: gast.AST, iterable: gast.AST, loop: gast.For, taken: Statements
    ) -> tuple[gast.AST, gast.AST]:
        """What the loop binds and goes through instead; what the body is to begin with is added to ``taken``."""
        owner = _view(iterable, target, loop)
        if owner is not None:
            key = self.namer.fresh("key")
            found = gast.Assign(targets=[target], value=_found(iterable, key), type_comment=None)
            taken.append(gast.copy_location(found, iterable))
            return store(key, target), owner
        match target, iterable:
            case gast.Tuple(elts=parts), gast.Call(func=gast.Name(id=name), args=args):
                known = self.source.lookup(name, None)
                first = {builtins.zip: 0, builtins.enumerate: 1}.get(known) if known in _BESIDE else None
                if first is not None and len(parts) == len(args) + first:
                    pairs = [self.by_keys(*pair, loop, taken) for pair in zip(parts[first:], args, strict=True)]
                    parts[first:], args[:] = ([pair[k] for pair in pairs] for k in (0, 1))
        return target, iterable


_BESIDE = (builtins.zip, builtins.enumerate)


def _found(view: gast.Call, key: str) -> gast.AST:
    """What the view has for the key."""
    owner = view.func.value
    value = gast.Subscript(value=copy.deepcopy(owner), slice=load(key, owner), ctx=gast.Load())
    value = gast.copy_location(value, view)
    if view.func.attr == "values":
        return value
    return gast.copy_location(gast.Tuple(elts=[load(key, owner), value], ctx=gast.Load()), view)


def _view(node: gast.AST, target: gast.AST, loop: gast.For) -> gast.AST | None:
    """The dict whose items or values these are, if the loop's body may change another than the one that it has."""
    match node:
        case gast.Call(func=gast.Attribute(value=owner, attr="items" | "values"), args=[], keywords=[]):
            root = root_of(owner)
        case _:
            return None
    if not isinstance(root, gast.Name) or root.id in names(loop.body, gast.Store):
        return None
    parts = [part for statement in loop.body for part in gast.walk(statement)]
    return owner if any(_may_change(part, root.id, target) for part in parts) else None


def _may_change(part: gast.AST, name: str, target: gast.AST) -> bool:
    match part:
        case gast.Subscript(ctx=gast.Store() | gast.Del()) if _is(part.value, name):
            key = target.elts[0] if isinstance(target, gast.Tuple) and target.elts else None
            names = isinstance(key, gast.Name) and isinstance(part.slice, gast.Name)
            return not (names and part.slice.id == getattr(key, "id", None) and isinstance(part.value, gast.Name))
        case gast.Call(func=gast.Attribute(value=owner), args=args):
            return _is(owner, name) or any(_is(argument, name) for argument in args)
        case gast.Call(args=args):
            return any(_is(argument, name) for argument in args)
    return False


def _is(node: gast.AST, name: str) -> bool:
    root = root_of(node)
    return isinstance(root, gast.Name) and root.id == name
