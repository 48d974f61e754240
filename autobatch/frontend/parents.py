"""``super()`` by the name of the parent: ``super().step(dt)`` is ``Parent.step(self, dt)``."""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from dataclasses import replace
from types import FunctionType
from typing import Any

import gast

from autobatch.frontend.refusals import refusal
from autobatch.frontend.source import CLASS, Source
from autobatch.frontend.syntax import Namer, constant, load
from autobatch.frontend.trees import walk


def without_super(source: Source) -> Source:
    """The method with calls of its parents' methods in place of ``super()``.

    Which class comes next depends on that of the object; where it is not known, all that there are must agree.
    """
    if not any(map(_is_super, walk(source.tree))):
        return source
    own = source.lookup("__class__", None)
    parents = _Parents(source, own)
    tree = parents.visit(source.tree) if isinstance(own, type) else source.tree
    left = next(filter(_is_super, walk(tree)), None)
    if left is not None:
        raise refusal(
            source.location(left),
            "this use of `super()`",
            "name the parent: Parent.method(self, ...).",
            kind="super-without-arguments",
        )
    return replace(source, tree=tree, static={**source.static, **parents.static})


def _is_super(node: gast.AST) -> bool:
    return isinstance(node, gast.Call) and isinstance(node.func, gast.Name) and node.func.id == "super"


class _Parents(gast.NodeTransformer):
    def __init__(self, source: Source, own: Any):
        self.source, self.own, self.namer, self.static = source, own, Namer(source.tree), dict[str, Any]()
        self.receiver = source.tree.args.args[0].id if source.tree.args.args else ""

    def visit_Call(self, node: gast.Call) -> gast.AST:
        node = self.generic_visit(node)
        method = node.func
        if not (isinstance(method, gast.Attribute) and _is_super(method.value) and not method.value.args):
            return node
        parent = self.next_with(method.attr)
        if parent is object and method.attr == "__init__" and not node.args and not node.keywords:
            return constant(None, node)
        of_exception = isinstance(parent, type) and issubclass(parent, BaseException) and method.attr == "__init__"
        if of_exception and not isinstance(parent.__init__, FunctionType):  # what it says is not kept (held.py)
            return constant(None, node)
        if parent is None or not isinstance(inspect.getattr_static(parent, method.attr), FunctionType):
            return node
        function = gast.Attribute(value=self.named(parent, node), attr=method.attr, ctx=gast.Load())
        call = gast.Call(gast.copy_location(function, node), [load(self.receiver, node), *node.args], node.keywords)
        return gast.copy_location(call, node)

    def visit_Attribute(self, node: gast.Attribute) -> gast.AST:
        node = self.generic_visit(node)
        parent = self.next_with(node.attr) if _is_super(node.value) and not node.value.args else None
        if parent is None or not isinstance(inspect.getattr_static(parent, node.attr), property):
            return node
        getter = gast.Attribute(value=self.named(parent, node), attr=node.attr, ctx=gast.Load())
        getter = gast.Attribute(value=gast.copy_location(getter, node), attr="fget", ctx=gast.Load())
        call = gast.Call(gast.copy_location(getter, node), [load(self.receiver, node)], [])
        return gast.copy_location(call, node)

    def named(self, parent: type, at: gast.AST) -> gast.AST:
        name = next((name for name, value in self.static.items() if value is parent), None)
        if name is None:
            name = self.namer.fresh("parent")
            self.static[name] = parent
        return load(name, at)

    def next_with(self, name: str) -> type | None:
        """The class behind the method's own that has this attribute; None: that depends, or there is none."""
        of = self.source.static.get(CLASS)
        found = {_behind(cls, self.own, name) for cls in ([of] if of is not None else _with_subclasses(self.own))}
        return found.pop() if len(found) == 1 else None


def _behind(cls: type, own: type, name: str) -> type | None:
    order = cls.__mro__[cls.__mro__.index(own) + 1 :]
    return next((each for each in order if name in vars(each)), None)


def _with_subclasses(cls: type) -> Iterator[type]:
    yield cls
    for below in cls.__subclasses__():
        yield from _with_subclasses(below)
