"""Small helpers to build and search syntax trees."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

import gast

from autobatch.frontend.source import SUPPORT
from autobatch.frontend.trees import children, is_node, walk

Statements = list[gast.AST]
COMPREHENSIONS = (gast.ListComp, gast.SetComp, gast.DictComp, gast.GeneratorExp)
SCOPES = (gast.Lambda, gast.FunctionDef, *COMPREHENSIONS)


class Namer:
    """Makes names that the function does not use."""

    def __init__(self, tree: gast.AST):
        nodes = [node for node in walk(tree) if isinstance(node, gast.Name | gast.FunctionDef)]
        self.used = {node.id if isinstance(node, gast.Name) else node.name for node in nodes}

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


def is_support(node: gast.AST) -> bool:
    """Whether this names one of ``autobatch.operators``."""
    return isinstance(node, gast.Attribute) and isinstance(node.value, gast.Name) and node.value.id == SUPPORT


def thunk(value: gast.AST) -> gast.Lambda:
    """``lambda: value``"""
    empty = gast.parse("lambda: 0").body[0].value
    empty.body = value
    return gast.copy_location(empty, value)


def rebuilt(node: gast.AST, change: Callable[[gast.AST], gast.AST]) -> gast.AST:
    """A copy of the node with each of its ``children`` changed."""
    fields = {}
    for name, value in gast.iter_fields(node):
        if isinstance(value, list):
            fields[name] = [change(part) if isinstance(part, gast.AST) else part for part in value]
        else:
            fields[name] = change(value) if is_node(value) else value
    made = gast.copy_location(type(node)(**fields), node)
    if hasattr(node, "path"):  # which copy of a loop it is
        made.path = node.path
    return made


def renamed(tree: gast.AST, new: Mapping[str, str]) -> gast.AST:
    """A copy of a tree with free names that are read replaced."""
    if isinstance(tree, gast.Name):
        name = new.get(tree.id, tree.id) if isinstance(tree.ctx, gast.Load) else tree.id
        return gast.copy_location(gast.Name(id=name, ctx=tree.ctx, annotation=None, type_comment=None), tree)
    if not isinstance(tree, SCOPES):
        return rebuilt(tree, lambda part: renamed(part, new))
    bound, outer = bound_names(tree), {id(part) for part in outside(tree)}
    inner = {old: name for old, name in new.items() if old not in bound}

    def change(part: gast.AST) -> gast.AST:
        if id(part) in outer:
            return renamed(part, new)
        return rebuilt(part, change) if isinstance(part, gast.arguments | gast.comprehension) else renamed(part, inner)

    return rebuilt(tree, change)


def copied(target: gast.AST, new: Mapping[str, str]) -> gast.AST:
    """A copy of an assignment target under other names."""
    if isinstance(target, gast.Name):
        return store(new[target.id], target)
    return rebuilt(target, lambda part: copied(part, new) if isinstance(part, gast.expr) else part)


def negated(node: gast.AST) -> gast.AST:
    return gast.copy_location(gast.UnaryOp(op=gast.Not(), operand=node), node)


def while_true(body: Statements, at: gast.AST) -> gast.While:
    return _located(gast.While(test=constant(True, at), body=body, orelse=[]), at)


def if_(test: gast.AST, body: Statements, at: gast.AST) -> gast.If:
    return _located(gast.If(test=test, body=body, orelse=[]), at)


def _located(statement: gast.AST, at: gast.AST) -> Any:
    for part in statement.body:
        if not hasattr(part, "lineno"):
            gast.copy_location(part, at)
    return gast.copy_location(statement, at)


def always_leaves(body: Statements) -> bool:
    """Whether control never falls off the end."""
    match body[-1] if body else None:
        case gast.Return() | gast.Break() | gast.Continue() | gast.Raise():
            return True
        case gast.If(body=yes, orelse=no):
            return always_leaves(yes) and always_leaves(no)
        case gast.Try(body=inside, handlers=handlers, orelse=orelse, finalbody=last):
            ends = always_leaves(inside) or always_leaves(orelse)
            return always_leaves(last) or (bool(handlers) and ends and all(always_leaves(h.body) for h in handlers))
        case gast.While(body=inside):
            return not any(isinstance(n, gast.Break) for s in inside for n in walk(s))
        case _:
            return False


def with_blocks(node: gast.AST, change: Callable[[Statements, bool], Statements]) -> gast.AST:
    """A copy of a statement with each block of statements in it changed, which is told whether it is a loop's body."""
    if not isinstance(node, gast.If | gast.While | gast.For | gast.Try | gast.ExceptHandler):
        return node
    fields = dict(gast.iter_fields(node))
    for name in {"body", "orelse", "finalbody"} & {*fields}:
        fields[name] = change(fields[name], name == "body" and isinstance(node, gast.While | gast.For))
    if isinstance(node, gast.Try):
        fields["handlers"] = [with_blocks(handler, change) for handler in node.handlers]
    copy = gast.copy_location(type(node)(**fields), node)
    vars(copy).update({name: value for name, value in vars(node).items() if name not in fields})
    return copy


def own_jumps(body: Statements, kind: type) -> bool:
    """Whether the statements have a ``break`` or ``continue`` of the loop around them."""
    return any(isinstance(node, kind) or own_jumps(own_statements(node), kind) for node in body)


def own_jumps_replaced(body: Statements, kind: type, new: Statements) -> Statements:
    """The statements with each ``break`` or ``continue`` of the loop around them replaced."""
    result: Statements = []
    for node in body:
        if isinstance(node, kind):
            result += [gast.copy_location(statement, node) for statement in new]
        elif own_jumps([node], kind):
            result.append(
                with_blocks(node, lambda block, looped: block if looped else own_jumps_replaced(block, kind, new))
            )
        else:
            result.append(node)
    return result


def own_statements(node: gast.AST) -> Statements:
    """The statements inside a statement whose ``break`` leaves the same loop as its own would."""
    arms = [*node.body, *node.orelse] if isinstance(node, gast.If) else []
    if isinstance(node, gast.Try):
        return [*node.body, *node.orelse, *node.finalbody, *(s for handler in node.handlers for s in handler.body)]
    return [*arms, *node.orelse] if isinstance(node, gast.While | gast.For) else arms


def as_load(target: gast.AST) -> gast.AST:
    """A copy of an assignment target, to be read."""
    match target:
        case gast.Name():
            return load(target.id, target)
        case gast.Subscript():
            copy = gast.Subscript(value=as_load(target.value), slice=target.slice, ctx=gast.Load())
            return gast.copy_location(copy, target)
        case gast.Attribute():
            copy = gast.Attribute(value=as_load(target.value), attr=target.attr, ctx=gast.Load())
            return gast.copy_location(copy, target)
        case _:
            return target


def root_of(place: gast.AST) -> gast.AST:
    """What an item or an attribute, of an item or an attribute, is of."""
    while isinstance(place, gast.Subscript | gast.Attribute):
        place = place.value
    return place


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
    """The free names used in this context, in order of appearance; those of inner scopes do not count."""
    trees = [tree] if isinstance(tree, gast.AST) else tree
    found: dict[str, None] = {}
    for each in trees:
        _find_names(each, context, frozenset(), found)
    return [*found]


def _find_names(node: gast.AST, context: type, bound: frozenset[str], found: dict[str, None]) -> None:
    if isinstance(node, gast.Name):
        if isinstance(node.ctx, context) and node.id not in bound:
            found[node.id] = None
        return
    if not isinstance(node, SCOPES):
        for child in children(node):
            _find_names(child, context, bound, found)
        return
    for part in outside(node):  # evaluated where the scope stands
        _find_names(part, context, bound, found)
    if isinstance(node, gast.FunctionDef) and issubclass(gast.Store, context) and node.name not in bound:
        found[node.name] = None
    if context is not gast.Load:  # a function's are its own; a comprehension's walrus would not be, and is refused
        return
    inner = bound | bound_names(node)
    for part in inside(node):
        _find_names(part, context, inner, found)


def outside(scope: gast.AST) -> Statements:
    """The parts of a scope that Python evaluates outside it."""
    if isinstance(scope, COMPREHENSIONS):
        return [scope.generators[0].iter]
    arguments = scope.args
    defaults = [d for d in (*arguments.defaults, *arguments.kw_defaults) if d is not None]
    return defaults + (scope.decorator_list if isinstance(scope, gast.FunctionDef) else [])


def inside(scope: gast.AST) -> Statements:
    if isinstance(scope, gast.FunctionDef):
        return scope.body
    if isinstance(scope, gast.Lambda):
        return [scope.body]
    first, *rest = scope.generators
    elements = [scope.key, scope.value] if isinstance(scope, gast.DictComp) else [scope.elt]
    return [*elements, *first.ifs, first.target, *rest]


def parameter_names(arguments: gast.arguments) -> list[str]:
    extra = [a for a in (arguments.vararg, arguments.kwarg) if a is not None]
    return [a.id for a in [*arguments.posonlyargs, *arguments.args, *extra, *arguments.kwonlyargs]]


def bound_names(scope: gast.AST) -> frozenset[str]:
    """The names that a scope binds."""
    if isinstance(scope, gast.Lambda):
        return frozenset(parameter_names(scope.args))
    if isinstance(scope, gast.FunctionDef):
        return frozenset(parameter_names(scope.args)) | set(assigned_names(scope.body))
    targets = [generator.target for generator in scope.generators]
    return frozenset(n.id for target in targets for n in walk(target) if isinstance(n, gast.Name))


def is_place(node: gast.AST) -> bool:
    """Whether this is a name, a constant, or an item of such, which may be read twice."""
    if isinstance(node, gast.Subscript):
        return is_place(node.value) and is_place(node.slice)
    return isinstance(node, gast.Name | gast.Constant)


def late_names(scope: gast.AST) -> list[str]:
    """The free names that a function or a generator reads when it is used; its defaults are read when it is made."""
    if isinstance(scope, gast.Lambda | gast.FunctionDef):
        return [name for name in names(scope.body) if name not in bound_names(scope)]
    return names(scope)


def assigned_names(body: Statements) -> list[str]:
    """The names that statements assign, which Python makes locals."""
    return names(body, gast.Store)
