"""A ``collections.deque`` is a list here: what a deque does otherwise is refused."""

from __future__ import annotations

import collections
from collections.abc import Iterator
from typing import Any

import gast

from autobatch.frontend.list_methods import METHODS, POPS
from autobatch.frontend.refusals import refusal
from autobatch.frontend.source import Source

_ALIKE = {*METHODS, *POPS} - {"insert", "sort"}  # which take the same, and do what a list's do
_READERS = ("len", "list", "sum", "sorted", "min", "max", "any", "all", "enumerate", "bool")


def check(source: Source) -> None:
    """Raises UnsupportedSyntaxError where a variable that is a deque is used as a list could not stand for it."""
    nodes = [*gast.walk(source.tree)]
    names = {node.targets[0].id for node in nodes if _makes_deque(node, source)}
    fine = {id(name) for node in nodes for name in _uses(node)} if names else set()
    for node in nodes:
        read = isinstance(node, gast.Name) and node.id in names and isinstance(node.ctx, gast.Load)
        if read and id(node) not in fine:
            raise refusal(
                source.location(node),
                "this use of a deque",
                "append, appendleft, pop, popleft, extend, q[i], len(q), loops and tests work; else use a list.",
                "deque-use",
            )


def _makes_deque(node: gast.AST, source: Source) -> bool:
    match node:
        case gast.Assign(targets=[gast.Name()], value=gast.Call(func=function)):
            return _outside(function, source) is collections.deque
        case _:
            return False


def _outside(node: gast.AST, source: Source) -> Any:
    if isinstance(node, gast.Attribute):
        return getattr(_outside(node.value, source), node.attr, None)
    return source.lookup(node.id, None) if isinstance(node, gast.Name) else None


def _uses(node: gast.AST) -> Iterator[gast.AST]:
    """What a node uses in ways that a deque and a list have in common."""
    match node:
        case gast.Call(func=gast.Attribute(value=owner, attr=method), args=args):
            if method in _ALIKE and not (method == "pop" and args):
                yield owner
        case gast.Call(func=gast.Name(id=reader), args=args) if reader in _READERS:
            yield from args
        case gast.Subscript(value=owner, slice=index) if not isinstance(index, gast.Slice):
            yield owner
        case gast.If(test=test) | gast.While(test=test) | gast.IfExp(test=test):
            yield test
        case gast.BoolOp(values=values):
            yield from values
        case gast.UnaryOp(op=gast.Not(), operand=operand):
            yield operand
        case gast.Compare(ops=[gast.In() | gast.NotIn()], comparators=[container]):
            yield container
        case gast.comprehension(iter=iterable) | gast.Return(value=iterable):
            yield iterable
        case gast.For(iter=gast.Name(id=name) as iterable, body=body):  # Python's own may not change meanwhile
            if not any(getattr(part, "id", None) == name for statement in body for part in gast.walk(statement)):
                yield iterable
