"""``with suppress(KeyError): ...`` becomes a ``try`` whose clause passes."""

from __future__ import annotations

import contextlib
from dataclasses import replace

import gast

from autobatch.frontend.source import Source
from autobatch.frontend.trees import copy_of, walk


def without_suppress(source: Source) -> Source:
    """The function without ``with contextlib.suppress(...)``."""
    if not any(isinstance(node, gast.With) for node in walk(source.tree)):
        return source
    return replace(source, tree=_Suppressed(source).visit(copy_of(source.tree)))


class _Suppressed(gast.NodeTransformer):
    def __init__(self, source: Source):
        self.source = source

    def visit_With(self, node: gast.With) -> gast.AST:
        self.generic_visit(node)
        match node.items:
            case [gast.withitem(context_expr=gast.Call(func=function, args=[_, *_] as kinds, keywords=[]))] if (
                self.source.named(function) is contextlib.suppress
                and not any(isinstance(k, gast.Starred) for k in kinds)
            ):
                caught = gast.copy_location(gast.Tuple(elts=kinds, ctx=gast.Load()), node)
                clause = gast.ExceptHandler(type=caught, name=None, body=[gast.copy_location(gast.Pass(), node)])
                handlers = [gast.copy_location(clause, node)]
                return gast.copy_location(gast.Try(node.body, handlers, orelse=[], finalbody=[]), node)
        return node
