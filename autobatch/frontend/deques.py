"""A ``collections.deque`` is a list here: what a deque does otherwise is written out, or refused.

q = deque(xs, maxlen=n)               limit, q = n, deque(xs)
                                      while len(q) > limit: q.popleft()
q.append(v)                           q.append(v)
                                      if len(q) > limit: q.popleft()
"""

from __future__ import annotations

import collections
from collections.abc import Collection, Iterator
from dataclasses import replace

import gast

from autobatch.frontend.apart import apart
from autobatch.frontend.list_methods import METHODS, POPS
from autobatch.frontend.refusals import refusal
from autobatch.frontend.source import SUPPORT, Source
from autobatch.frontend.syntax import COMPREHENSIONS, Namer, Statements, assign, constant, load, support
from autobatch.frontend.trees import copy_of, walk

_ALIKE = {*METHODS, *POPS} - {"insert", "sort"}  # which take the same, and do what a list's do
_READERS = ("len", "list", "sum", "sorted", "min", "max", "any", "all", "enumerate", "bool")


def with_limits(source: Source) -> Source:
    """The function in which deques keep to their greatest length, and turn."""
    calls = [node for node in walk(source.tree) if isinstance(node, gast.Call)]
    if not any(source.named(call.func) is collections.deque for call in calls):
        return source
    tree = apart(copy_of(source.tree), lambda value: _is_deque(value, source))  # the caller keeps its tree
    source = replace(source, tree=tree)
    return replace(source, tree=_Limits(source).visit(source.tree))


class _Limits(gast.NodeTransformer):
    def __init__(self, source: Source):
        self.source, self.namer = source, Namer(source.tree)
        made = [node for node in walk(source.tree) if _makes_deque(node, source)]
        self.deques = {node.targets[0].id for node in made}
        limited = {node.targets[0].id: node for node in made if _limit(node.value) is not None}
        for node in made:
            if node.targets[0].id in limited and _limit(node.value) is None:
                raise refusal(
                    source.location(node),
                    "a deque of a greatest length under one name with others",
                    "give it a name of its own.",
                    "deque-of-a-length",
                )
        self.limits = {name: self.namer.fresh("limit") for name in limited}

    def visit_FunctionDef(self, node: gast.FunctionDef) -> gast.AST:
        if node is self.source.tree:
            return self.generic_visit(node)
        for part in (part for part in walk(node) if isinstance(part, gast.Expr)):
            if _method_of(part, self.limits) is not None:
                raise refusal(
                    self.source.location(part),
                    "a deque of a greatest length that a nested function changes",
                    "change it in the function that makes it.",
                    "deque-of-a-length",
                )
        return node

    def visit_Assign(self, node: gast.Assign) -> gast.AST | Statements:
        limit = _limit(node.value) if _makes_deque(node, self.source) else None
        if limit is None:
            return node
        name = node.targets[0].id
        made = gast.copy_location(gast.Call(func=node.value.func, args=node.value.args[:1], keywords=[]), node.value)
        shorten = self.parsed(f"while {SUPPORT}.len_({name}) > {self.limits[name]}:\n    {name}.popleft()", node)
        return [assign(name, made, node), assign(self.limits[name], limit, node), *shorten]

    def visit_Expr(self, node: gast.Expr) -> gast.AST | Statements:
        if (call := _method_of(node, self.deques)) is None:
            return node
        name, method = call.func.value.id, call.func.attr
        if method == "rotate":
            count = call.args[0] if call.args else constant(1, node)
            return assign(name, support("rotate", [load(name, node), count], node), node)
        limit, other = self.limits.get(name), "pop" if method == "appendleft" else "popleft"
        if limit is None or method not in ("append", "appendleft", "extend"):
            return node
        test = "while" if method == "extend" else "if"
        return [node, *self.parsed(f"{test} {SUPPORT}.len_({name}) > {limit}:\n    {name}.{other}()", node)]

    def parsed(self, text: str, at: gast.AST) -> Statements:
        statements = gast.parse(text).body
        for part in (part for statement in statements for part in walk(statement)):
            gast.copy_location(part, at)
        return statements


def _limit(call: gast.Call) -> gast.AST | None:
    """The greatest length that a deque is made with."""
    given = [*call.args[1:], *(keyword.value for keyword in call.keywords if keyword.arg == "maxlen")]
    none = bool(given) and isinstance(given[0], gast.Constant) and given[0].value is None
    return None if not given or none else given[0]


def _method_of(node: gast.Expr, names: Collection[str]) -> gast.Call | None:
    """The call, if the statement is one of a method of one of these variables."""
    match node.value:
        case gast.Call(func=gast.Attribute(value=gast.Name(id=name)), keywords=[]) if name in names:
            return node.value
    return None


def check(source: Source) -> None:
    """Raises UnsupportedSyntaxError where a variable that is a deque is used as a list could not stand for it."""
    nodes = [*walk(source.tree)]
    names = {node.targets[0].id for node in nodes if _makes_deque(node, source)}
    fine = {id(name) for node in nodes for name in _uses(node)} if names else set()
    scopes = [node for node in nodes if isinstance(node, (gast.Lambda, *COMPREHENSIONS))] if names else []
    inside = [part for scope in scopes for part in walk(scope) if isinstance(part, gast.Attribute)]
    fine -= {id(part.value) for part in inside if part.attr in {*METHODS, *POPS}}  # where Python runs them
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
        case gast.Assign(targets=[gast.Name()], value=value):
            return _is_deque(value, source)
        case _:
            return False


def _is_deque(value: gast.AST, source: Source) -> bool:
    return isinstance(value, gast.Call) and source.named(value.func) is collections.deque


def _uses(node: gast.AST) -> Iterator[gast.AST]:
    """What a node uses in ways that a deque and a list have in common."""
    match node:
        case gast.Call(func=gast.Attribute(value=gast.Name(id=module)), args=args) if module == SUPPORT:
            yield from args
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
            if not any(getattr(part, "id", None) == name for statement in body for part in walk(statement)):
                yield iterable
