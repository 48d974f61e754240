"""A dict that members fill at keys of their own becomes two lists, of its keys and of its values, in their order.

    memo = {}                    memo_keys, memo_values = [], []
    memo[k] = v                  put(memo_keys, memo_values, k, v)
    memo[k]                      memo_values[find(memo_keys, k)]
    k in memo                    k in memo_keys
    for k, v in memo.items()     for k, v in zip(memo_keys, memo_values)

So does a ``defaultdict`` or a ``Counter``.  It is done where a program cannot be typed otherwise, as Python's own dicts
hold what is unlike, at keys that are known.  A key is sought among all of them.  The functions that stand for what a
dict does are library.py's.
"""

from __future__ import annotations

import builtins
import collections
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import gast

from autobatch.errors import AutobatchError
from autobatch.frontend import library
from autobatch.frontend.apart import apart
from autobatch.frontend.comprehensions import as_loops
from autobatch.frontend.effects import may_act
from autobatch.frontend.source import Source
from autobatch.frontend.syntax import SCOPES, Namer, Statements, assign, bound_names, constant, load, thunk
from autobatch.frontend.trees import copy_of, walk

# The messages of what Python's own dicts cannot do for members.
OF_DICTS = (
    "item-of-member", "dict-key-of-member", "changed-container", "unhashable-member", "key-of-some-members",
    "hash-of-one-of-several",
)  # fmt: skip
_READERS = ("len", "bool", "list", "tuple", "sorted", "set", "sum", "max", "min", "any", "all", "enumerate", "reversed")
_METHODS = {  # with how many arguments
    "get": (1, 2), "pop": (1, 2), "setdefault": (2,), "keys": (0,), "values": (0,), "items": (0,), "clear": (0,),
    "popitem": (0,), "most_common": (0, 1),
}  # fmt: skip
_ADDING = ("pop", "popitem", "setdefault", "clear", "update")
_ZEROS: dict[Any, Any] = {int: 0, float: 0.0, bool: False}


@dataclass(frozen=True)
class _Kind:
    """Of a dict: whether a missing key fails, adds a value (its class, or list), or is only counted as 0."""

    missing: type | None = None
    counts: bool = False


def without_dicts(source: Source) -> Source:
    """The function with lists in place of the dicts of which it uses nothing but what lists can do."""
    tree = apart(copy_of(source.tree), lambda value: _kind(value, source) is not None)  # the caller keeps its tree
    lists = _Lists(source, _found(replace(source, tree=tree)))
    return replace(source, tree=lists.visit(tree), static={**source.static, **lists.static}) if lists.dicts else source


# --- which ----------------------------------------------------------------------------------------


def _found(source: Source) -> dict[str, _Kind]:
    kinds, other = _kinds(source), {name for name, _ in _other_uses(source)}
    return {name: next(iter(found)) for name, found in kinds.items() if len(found) == 1 and name not in other}


def _kinds(source: Source) -> dict[str, set[_Kind]]:
    """The variables that get a dict, and of which kinds."""
    kinds: dict[str, set[_Kind]] = {}
    for node in walk(source.tree):
        if (name := _named(node)) is not None and (kind := _kind(node.value, source)) is not None:
            kinds.setdefault(name, set()).add(kind)
    return kinds


def _other_uses(source: Source) -> Iterator[tuple[str, gast.AST]]:
    """The dicts that are used as no two lists can be, and where."""
    nodes, kinds = [*walk(source.tree)], _kinds(source)
    fine = {id(owner) for node in nodes for owner in _uses(node)}
    made = [node for node in nodes if _named(node) is not None and _kind(node.value, source) is not None]
    fine |= {id(part) for node in made for part in walk(_target(node))}
    for node in nodes:
        if isinstance(node, SCOPES) and node is not source.tree:
            yield from ((name, node) for name in bound_names(node))
        if isinstance(node, gast.Name) and node.id in kinds and id(node) not in fine:
            yield node.id, node
        if isinstance(node, gast.For):
            yield from ((name, node.iter) for name in _changed_while_gone_through(node))
    yield from ((name, source.tree) for name in source.parameters)


def explained(error: AutobatchError, sources: Iterable[Source]) -> AutobatchError:
    """The error, with the uses for which the dict that it is about stays one of Python's."""
    places = []
    shown = {word for place, _ in error.places if place for word in re.findall(r"\w+", place.source)}
    for source in sources:
        dicts, first = _kinds(source), dict(reversed([*_other_uses(source)]))
        places += [
            (source.location(node), f"for this, `{name}` stays a dict of keys that all members share")
            for name, node in first.items()
            if name in dicts and name in shown and node is not source.tree
        ]
    return type(error)(error.message, [*error.places, *dict.fromkeys(places)], error.help, kind=error.kind)


def _target(node: gast.AST) -> gast.AST:
    return node.target if isinstance(node, gast.AnnAssign) else node.targets[0]


def _named(node: gast.AST) -> str | None:
    """The variable, if the node assigns to one."""
    match node:
        case gast.Assign(targets=[gast.Name(id=name)]) | gast.AnnAssign(target=gast.Name(id=name)):
            return name if node.value is not None else None
    return None


def _kind(value: gast.AST, source: Source) -> _Kind | None:
    match value:
        case gast.Dict(keys=keys) if None not in keys:
            return _Kind()
        case gast.DictComp():
            return _Kind()
        case gast.Call(func=function, args=args, keywords=[]):
            called = source.named(function)
            if called is builtins.dict and not args:
                return _Kind()
            if called is collections.Counter and len(args) < 2:
                return _Kind(int, counts=True)
            missing = source.named(args[0]) if called is collections.defaultdict and len(args) == 1 else None
            return _Kind(missing) if missing is list or missing in _ZEROS else None
    return None


def _uses(node: gast.AST) -> Iterator[gast.AST]:
    """What a node uses in ways that two lists can stand for."""
    match node:
        case gast.Assign(targets=[gast.Subscript(value=owner)]) | gast.Delete(targets=[gast.Subscript(value=owner)]):
            yield owner
        case gast.AugAssign(target=gast.Subscript(value=owner)):
            yield owner
        case gast.Subscript(value=owner, slice=key, ctx=gast.Load()) if not isinstance(key, gast.Slice):
            yield owner
        case gast.Compare(ops=[gast.In() | gast.NotIn()], comparators=[owner]):
            yield owner
        case gast.Call(func=gast.Attribute(value=owner, attr=method), args=args, keywords=[]):
            if len(args) in _METHODS.get(method, ()) and not any(isinstance(a, gast.Starred) for a in args):
                yield owner
        case gast.Expr(value=gast.Call(func=gast.Attribute(value=owner, attr="update")) as call):
            yield from [owner] if _updates(call) is not None else []
        case gast.keyword(arg="key", value=gast.Attribute(value=owner, attr="get")):
            yield owner
        case gast.Call(func=gast.Name(id=reader), args=args) if reader in _READERS:
            yield from args
        case gast.If(test=test) | gast.While(test=test) | gast.IfExp(test=test):
            yield test
        case gast.BoolOp(values=values):
            yield from values
        case gast.UnaryOp(op=gast.Not(), operand=operand):
            yield operand
        case gast.For(iter=owner) | gast.comprehension(iter=owner):
            yield owner


def _updates(call: gast.Call) -> list[tuple[gast.AST, gast.AST]] | None:
    """The keys and values of ``d.update({k: v}, name=v)``, if they stand there."""
    match call.args:
        case [] | [gast.Dict()] if all(each.arg for each in call.keywords):
            shown = call.args[0] if call.args else gast.Dict([], [])
            named = [(constant(each.arg, each.value), each.value) for each in call.keywords]
            return None if None in shown.keys else [*zip(shown.keys, shown.values, strict=True), *named]
    return None


def _changed_while_gone_through(loop: gast.For) -> Iterator[str]:
    """The dicts through which a loop goes that get or lose keys in it, perhaps; Python raises if they do."""
    through = {node.id for node in walk(loop.iter) if isinstance(node, gast.Name)}
    for part in (part for statement in loop.body for part in walk(statement)):
        match part:
            case gast.Subscript(value=gast.Name(id=name), ctx=gast.Store() | gast.Del()) if name in through:
                yield name
            case gast.Call(func=gast.Attribute(value=gast.Name(id=name), attr=method)) if name in through:
                yield from [name] if method in _ADDING else []


# --- as lists -------------------------------------------------------------------------------------


class _Lists(gast.NodeTransformer):
    def __init__(self, source: Source, dicts: dict[str, _Kind]):
        self.source, self.dicts, self.namer = source, dicts, Namer(source.tree)
        self.keys = {name: self.namer.fresh(f"{name}_keys") for name in dicts}
        self.values = {name: self.namer.fresh(f"{name}_values") for name in dicts}
        self.static: dict[str, Any] = {}

    def bound(self, function: Callable, at: gast.AST) -> gast.AST:
        name = next((name for name, known in self.static.items() if known is function), None)
        if name is None:
            name = self.namer.fresh(function.__name__)
            self.static[name] = function
        return load(name, at)

    def call(self, function: Callable, of: str, arguments: list[gast.AST], at: gast.AST) -> gast.AST:
        """Of one of library.py's functions, as the dict's own."""
        own = constant(f"{of} of {self.source.function.__qualname__}", at)
        return gast.copy_location(gast.Call(func=self.bound(function, at), args=[*arguments, own], keywords=[]), at)

    def lists(self, name: str, at: gast.AST) -> list[gast.AST]:
        return [load(self.keys[name], at), load(self.values[name], at)]

    def zero(self, name: str, at: gast.AST) -> gast.AST:
        missing = self.dicts[name].missing
        empty = gast.copy_location(gast.List(elts=[], ctx=gast.Load()), at)
        return empty if missing is list else constant(_ZEROS[missing], at)

    def position(self, name: str, key: gast.AST, at: gast.AST, to_add: bool = False) -> gast.AST:
        keys, values = self.lists(name, at)
        kind = self.dicts[name]
        if kind.missing is None or (kind.counts and not to_add):
            return self.call(library.find, name, [keys, key], at)
        return self.call(library.placed, name, [keys, values, key, self.zero(name, at)], at)

    def item(self, name: str, position: gast.AST, ctx: gast.AST, at: gast.AST) -> gast.AST:
        values = load(self.values[name], at)
        return gast.copy_location(gast.Subscript(value=values, slice=position, ctx=ctx), at)

    def named(self, node: gast.AST) -> str | None:
        return node.id if isinstance(node, gast.Name) and node.id in self.dicts else None

    def owner(self, node: gast.AST) -> str | None:
        """The dict of which this is an item."""
        return self.named(node.value) if isinstance(node, gast.Subscript) else None

    # --- statements ---------------------------------------------------------------------------------

    def visit_Assign(self, node: gast.Assign) -> gast.AST | Statements:
        name = _named(node)
        if name in self.dicts:
            return self.made(name, node)
        target = node.targets[0]
        if len(node.targets) > 1 or (owner := self.owner(target)) is None:
            return self.generic_visit(node)
        value, before = self.visit(node.value), []
        if may_act(value) or may_act(target.slice):  # before the lists are looked up, which they may change
            value = self.kept(value, before)
        return [*before, self.put(owner, self.visit(target.slice), value, node)]

    def put(self, name: str, key: gast.AST, value: gast.AST, at: gast.AST) -> gast.AST:
        call = self.call(library.put, name, [*self.lists(name, at), key, value], at)
        return gast.copy_location(gast.Expr(value=call), at)

    def kept(self, value: gast.AST, before: Statements) -> gast.AST:
        """The value under a name that is set before."""
        name = self.namer.fresh("value")
        before.append(assign(name, value, value))
        return load(name, value)

    def visit_AnnAssign(self, node: gast.AnnAssign) -> gast.AST | Statements:
        name = _named(node)
        return self.made(name, node) if name in self.dicts else self.generic_visit(node)

    def visit_AugAssign(self, node: gast.AugAssign) -> gast.AST | Statements:
        if (owner := self.owner(node.target)) is None:
            return self.generic_visit(node)
        key, value = self.visit(node.target.slice), self.visit(node.value)
        if may_act(value) and self.dicts[owner].missing is not list:  # which may put the item elsewhere
            before: Statements = []
            key = self.kept(key, before)
            old = self.kept(self.read(owner, key, gast.Load(), node), before)
            new = self.kept(gast.copy_location(gast.BinOp(left=old, op=node.op, right=value), node), before)
            return [*before, self.put(owner, key, new, node)]
        target = self.item(owner, self.position(owner, key, node, to_add=True), gast.Store(), node)
        return gast.copy_location(gast.AugAssign(target=target, op=node.op, value=value), node)

    def visit_Delete(self, node: gast.Delete) -> gast.AST:
        name = self.owner(node.targets[0])
        if name is None:
            return self.generic_visit(node)
        call = self.call(library.popped, name, [*self.lists(name, node), self.visit(node.targets[0].slice)], node)
        return gast.copy_location(gast.Expr(value=call), node)

    def visit_Expr(self, node: gast.Expr) -> gast.AST | Statements:
        match node.value:
            case gast.Call(func=gast.Attribute(value=gast.Name(id=name), attr="clear")) if name in self.dicts:
                return [_cleared(each, node) for each in (self.keys[name], self.values[name])]
            case gast.Call(func=gast.Attribute(value=gast.Name(id=name), attr="update")) if name in self.dicts:
                kept: Statements = []  # all of it is there before any is put
                pairs = [
                    (self.kept(self.visit(key), kept), self.kept(self.visit(value), kept))
                    for key, value in _updates(node.value) or ()
                ]
                return [*kept, *(self.put(name, key, value, node) for key, value in pairs)]
        return self.generic_visit(node)

    def made(self, name: str, node: gast.AST) -> Statements:
        keys, values = self.keys[name], self.values[name]
        filled = not (isinstance(node.value, gast.Dict | gast.Call) and not _parts(node.value))
        new = [self.namer.fresh(each) if filled else each for each in (keys, values)]
        statements: Statements = [
            assign(each, gast.copy_location(gast.List([], gast.Load()), node), node) for each in new
        ]

        def put(key: gast.AST, value: gast.AST) -> Statements:
            lists = [load(each, node) for each in new]
            return [gast.copy_location(gast.Expr(value=self.call(library.put, name, [*lists, key, value], key)), key)]

        match node.value:
            case gast.Dict(keys=items, values=parts):
                pairs = zip(map(self.visit, items), map(self.visit, parts), strict=True)
                statements += [statement for pair in pairs for statement in put(*pair)]
            case gast.DictComp():
                loops, _ = as_loops(self.generic_visit(node.value), self.namer.fresh, put)
                statements += loops
            case gast.Call(args=[items]) if self.dicts[name].counts:
                item = self.namer.fresh("item")
                lists = [load(each, node) for each in new]
                at = self.call(library.placed, name, [*lists, load(item, node), constant(0, node)], node)
                place = gast.copy_location(gast.Subscript(value=lists[1], slice=at, ctx=gast.Store()), node)
                body = [gast.copy_location(gast.AugAssign(target=place, op=gast.Add(), value=constant(1, node)), node)]
                target = gast.copy_location(gast.Name(item, gast.Store(), None, None), node)
                loop = gast.For(target=target, iter=self.visit(items), body=body, orelse=[], type_comment=None)
                statements.append(gast.copy_location(loop, node))
        if filled:
            statements += [assign(old, load(each, node), node) for old, each in zip((keys, values), new, strict=True)]
        return statements

    # --- expressions --------------------------------------------------------------------------------

    def visit_Subscript(self, node: gast.Subscript) -> gast.AST:
        name = self.owner(node)
        if name is None:
            return self.generic_visit(node)
        return self.read(name, self.visit(node.slice), node.ctx, node)

    def read(self, name: str, key: gast.AST, ctx: gast.AST, at: gast.AST) -> gast.AST:
        """``d[key]``"""
        if self.dicts[name].counts:
            return self.call(library.get, name, [*self.lists(name, at), key, constant(0, at)], at)
        return self.item(name, self.position(name, key, at), ctx, at)

    def visit_Call(self, node: gast.Call) -> gast.AST:
        name = self.named(node.func.value) if isinstance(node.func, gast.Attribute) else None
        if name is None:
            return self.generic_visit(node)
        lists, arguments = self.lists(name, node), [self.visit(argument) for argument in node.args]
        match node.func.attr, arguments:
            case "get", [key]:
                return self.call(library.get, name, [*lists, key, constant(None, node)], node)
            case "get", _:
                return self.call(library.get, name, [*lists, *arguments], node)
            case "pop", [_]:
                return self.call(library.popped, name, [*lists, *arguments], node)
            case "pop", _:
                return self.call(library.popped_or, name, [*lists, *arguments], node)
            case "popitem", _:
                return self.call(library.pop_last, name, lists, node)
            case "most_common", _:
                function = library.so_many_most_common if arguments else library.most_common
                return self.call(function, name, [*lists, *arguments], node)
            case "setdefault", _:
                position = self.call(library.placed, name, [*lists, *arguments], node)
                return self.item(name, position, gast.Load(), node)
            case "items", _:
                return gast.copy_location(gast.Call(func=self.bound(zip, node), args=lists, keywords=[]), node)
            case "keys", _:
                return lists[0]
            case _:
                return lists[1]

    def visit_keyword(self, node: gast.keyword) -> gast.AST:
        match node:
            case gast.keyword(arg="key", value=gast.Attribute(value=gast.Name(id=name))) if name in self.dicts:
                key = self.namer.fresh("key")
                node.value = thunk(
                    self.item(name, self.position(name, load(key, node.value), node.value), gast.Load(), node.value)
                )
                node.value.args.args = [gast.Name(id=key, ctx=gast.Param(), annotation=None, type_comment=None)]
                return node
        return self.generic_visit(node)

    def visit_Name(self, node: gast.Name) -> gast.AST:
        return load(self.keys[node.id], node) if node.id in self.dicts else node


def _parts(value: gast.AST) -> list[gast.AST]:
    """What a dict is made of; the class that makes what is missing is no part."""
    if isinstance(value, gast.Dict):
        return value.keys
    return [] if getattr(value.func, "attr", getattr(value.func, "id", "")) == "defaultdict" else value.args


def _cleared(name: str, at: gast.AST) -> gast.AST:
    function = gast.copy_location(gast.Attribute(value=load(name, at), attr="clear", ctx=gast.Load()), at)
    call = gast.copy_location(gast.Call(func=function, args=[], keywords=[]), at)
    return gast.copy_location(gast.Expr(value=call), at)
