"""Methods of members' objects that are functions of the program, with ``__init__``, properties and operators.

Which class an object has is known when the program is typed; until then, a call stands in a branch for each class:

    p.step(dt)                      if is_a(p, Ball): step(p, dt)
                                    else: p.step(dt)
"""

from __future__ import annotations

import copy
import dataclasses
import inspect
from collections.abc import Callable, Sequence
from dataclasses import replace
from types import FunctionType
from typing import Any

import gast

from autobatch import context
from autobatch.frontend.core import Callee
from autobatch.frontend.effects import value_acts
from autobatch.frontend.item_assignment import Rewriter
from autobatch.frontend.library import written
from autobatch.frontend.scope import UNKNOWN
from autobatch.frontend.source import read, unparse
from autobatch.frontend.syntax import Statements, as_load, assign, constant, index_value, load, root_of, support
from autobatch.frontend.texts import Texts
from autobatch.frontend.trees import copy_of, walk
from autobatch.language.operand_order import REFLECTED

Method = tuple[type, Callee]  # of a class

OPERATORS = {
    gast.Add: "__add__", gast.Sub: "__sub__", gast.Mult: "__mul__", gast.Div: "__truediv__", gast.Mod: "__mod__",
    gast.FloorDiv: "__floordiv__", gast.Pow: "__pow__", gast.MatMult: "__matmul__", gast.USub: "__neg__",
    gast.Eq: "__eq__", gast.NotEq: "__ne__", gast.Lt: "__lt__", gast.LtE: "__le__", gast.Gt: "__gt__",
    gast.GtE: "__ge__",
}  # fmt: skip


class Objects(Texts):
    def methods(
        self, name: str, at: gast.AST, of_property: bool = False, by: Callable[[Any], Callee | None] | None = None
    ) -> list[Method]:
        """The classes of which the method, or the property, of this name is a function of the program.

        by: says which is, if not ``callee_of``.
        """
        if any(at is node for node in self.tested):
            return []
        found = []
        for cls in context.met():
            function = inspect.getattr_static(cls, name, None)
            if of_property:
                function = function.fget if isinstance(function, property) else None
            callee = (by or self.callee_of)(function) if isinstance(function, FunctionType) else None
            callee = callee or written(function, 2)
            if callee is not None:
                found.append((cls, replace(callee, of=cls)))
        return found

    def is_of_program(self, node: gast.AST) -> bool:
        """Whether this may call a method, get a property or apply an operator that is a function of the program."""
        match node:
            case gast.Call(func=gast.Attribute(attr=name)):
                return bool(self.methods(name, at=node))
            case gast.Attribute(attr=name) if self.static_value(node) is UNKNOWN:
                return bool(self.methods(name, at=node, of_property=True))
            case gast.BinOp(op=op) | gast.UnaryOp(op=op) | gast.Compare(ops=[op]):
                name = OPERATORS.get(type(op), "")
                return bool(self.methods(name, at=node) or self.methods(REFLECTED.get(name, ""), at=node))
        return False

    def on_Attribute(self, node: gast.Attribute) -> gast.AST:
        methods = self.methods(node.attr, of_property=True, at=node) if self.static_value(node) is UNKNOWN else []
        return self.dispatched(node, node.value, methods, "value") if methods else super().on_Attribute(node)

    def on_BinOp(self, node: gast.BinOp) -> gast.AST:
        methods = self.methods(OPERATORS.get(type(node.op), ""), at=node)
        return self.dispatched(node, node.left, methods, "left") if methods else super().on_BinOp(node)

    def on_UnaryOp(self, node: gast.UnaryOp) -> gast.AST:
        methods = self.methods(OPERATORS.get(type(node.op), ""), at=node)
        return self.dispatched(node, node.operand, methods, "operand") if methods else super().on_UnaryOp(node)

    def on_Compare(self, node: gast.Compare) -> gast.AST:
        op, *others = node.ops
        if others:
            return super().on_Compare(node)
        if methods := self.methods(OPERATORS.get(type(op), ""), at=node):
            return self.dispatched(node, node.left, methods, "left")
        return super().on_Compare(node)

    def may_change(self, node: gast.AST) -> bool:
        return super().may_change(node) or is_acting_method(node) or self.is_users_method(node)

    def is_users_method(self, node: gast.AST) -> bool:
        match node:
            case gast.Call(func=gast.Attribute(attr=name) as method) if self.static_value(method) is UNKNOWN:
                return any(hasattr(cls, name) for cls in context.met())
        return False

    def may_run_early(self, node: gast.AST) -> bool:
        calls = any(is_acting_method(part) or self.is_of_program(part) for part in walk(node))
        return super().may_run_early(node) and not calls

    def method_call(self, node: gast.Call) -> gast.AST | None:
        """``p.step(dt)``, where it may be a function of the program."""
        if not isinstance(node.func, gast.Attribute) or self.static_value(node.func) is not UNKNOWN:
            return None
        methods = self.methods(node.func.attr, at=node)
        return self.dispatched(node, node.func.value, methods, "func") if methods else None

    def dispatched(self, node: gast.AST, owner: gast.AST, methods: Sequence[Method], part: str) -> gast.AST:
        """The method of the class of the object, which is that part of the expression; or the expression as it is.

        What the method changes of an item or an attribute is put back there.
        """
        owner = self.place(owner)
        receiver = self.expression(owner)
        inside = not self.is_variable(receiver) and self.is_own(owner)
        inside = inside and any(_may_change_itself(callee) for _, callee in methods)
        if inside:
            node = self.with_arguments(node, owner, part)
            receiver = self.temporary(support("deepcopy", [receiver], owner), "object")
        elif not self.is_variable(receiver) and self.static_value(owner) is UNKNOWN:
            receiver = self.temporary(receiver, "object")
        result = self.fresh("result")
        self.out += self.arms(node, receiver, methods, part, result)
        if inside:
            new = support("replaced", [as_load(owner), receiver], owner)
            for statement in Rewriter(self.source).store(owner, new):
                self.emit(assign(statement.targets[0].id, self.expression(statement.value), node), node)
        return load(result, node)

    def with_arguments(self, node: gast.AST, owner: gast.AST, part: str) -> gast.AST:
        """The call with its arguments under names, if they may change the object, which has these changes then."""
        beside = _beside(node, part)
        if not any(map(self.changes_anything, beside)):
            return node
        starred = any(isinstance(each, gast.Starred) for each in beside)
        if starred or part != "func" or any(_may_move(unparse(as_load(owner)), each) for each in beside):
            self.refuse(
                node,
                "an argument that may change which object it is whose method is called",
                "give the argument a name first: v = q.step(); r.p.step(v).",
                kind="argument-that-changes",
            )
        made = copy.copy(node)
        arguments = [self.temporary(value, "argument") for value in self.in_order([_value(each) for each in beside])]
        made.args, named = arguments[: len(node.args)], arguments[len(node.args) :]
        pairs = zip(node.keywords, named, strict=True)
        made.keywords = [gast.copy_location(gast.keyword(each.arg, value), each) for each, value in pairs]
        return made

    def arms(
        self, node: gast.AST, receiver: gast.AST, methods: Sequence[Method], part: str, result: str
    ) -> list[gast.AST]:
        outer, self.out = self.out, []
        if methods:
            (cls, callee), *others = methods
            test = self.temporary(support("is_a", [receiver, load(self.bind("cls", cls), node)], node), "cond")
            before, self.out = self.out, []
            self.emit(
                assign(result, self.autobatched_call(self.call_of(callee, node, receiver, part), callee), node), node
            )
            then, self.out = self.out, before
            self.emit(gast.If(test=test, body=then, orelse=self.arms(node, receiver, others, part, result)), node)
        else:
            self.emit(assign(result, self.plain(_with(node, part, receiver)), node), node)
        made, self.out = self.out, outer
        return made

    def plain(self, node: gast.AST) -> gast.AST:
        """The expression where its object is of no class that has the method as a function of the program."""
        self.tested.append(node)
        return self.expression(node)

    def call_of(self, callee: Callee, node: gast.AST, receiver: gast.AST, part: str) -> gast.Call:
        """The call of a method as a function, with what stands beside the object."""
        arguments, keywords = [], []
        match part, copy_of(node):
            case "func" | "callee", gast.Call(args=arguments, keywords=keywords):
                pass
            case "left", gast.BinOp(right=other) | gast.Compare(comparators=[other]):
                arguments = [other]
            case "right" | "container", gast.BinOp(left=other) | gast.Compare(left=other):
                arguments = [other]
            case "value", gast.Subscript(slice=index):
                arguments = [index_value(index)]
        function = load(self.bind("method", callee.function), node)
        call = gast.Call(func=function, args=[receiver, *arguments], keywords=keywords)
        return gast.copy_location(call, node)

    def place(self, node: gast.AST) -> gast.AST:
        """An item or an attribute, with what must be evaluated once under a name."""
        if isinstance(node, gast.Attribute):
            return gast.copy_location(gast.Attribute(value=self.place(node.value), attr=node.attr, ctx=node.ctx), node)
        if not isinstance(node, gast.Subscript):
            return node
        value, index = self.place(node.value), node.slice
        if any(isinstance(part, gast.Call | gast.NamedExpr) for part in walk(index)):
            index = self.temporary(self.expression(index_value(index)), "index")
        return gast.copy_location(gast.Subscript(value=value, slice=index, ctx=node.ctx), node)

    def is_own(self, node: gast.AST) -> bool:
        """Whether this is an item or an attribute of a variable."""
        root = root_of(node)
        return root is not node and isinstance(root, gast.Name) and root.id in self.locals

    def construction(self, node: gast.Call, callee: Callee) -> gast.AST:
        """``Particle(x, v)`` where ``__init__`` is a function of the program."""
        assert callee.of is not None
        names = constant(_always_set(callee.function, callee.of), node)
        made = self.temporary(support("blank", [node.func, names], node), "object")
        function = load(self.bind("init", callee.function), node)
        call = gast.Call(func=function, args=[made, *node.args], keywords=node.keywords)
        self.autobatched_call(gast.copy_location(call, node), callee)
        return made

    def post_init(self, cls: type) -> Callee | None:
        """What a dataclass does when its fields are set, if that is a function of the program."""
        method = inspect.getattr_static(cls, "__post_init__", None)
        is_alone = isinstance(method, FunctionType) and method.__code__.co_argcount == 1  # without InitVars
        return self.callee_of(method) if dataclasses.is_dataclass(cls) and is_alone else None

    def construction_of_fields(self, node: gast.Call, callee: Callee) -> gast.AST:
        """``Particle(x, v)`` where ``__post_init__`` is a function of the program."""
        made = gast.Call(func=support("of_fields", [], node).func, args=[node.func, *node.args], keywords=node.keywords)
        made = self.temporary(self.children(gast.copy_location(made, node)), "object")
        function = load(self.bind("post_init", callee.function), node)
        self.autobatched_call(gast.copy_location(gast.Call(func=function, args=[made], keywords=[]), node), callee)
        return made


def is_acting_method(node: gast.AST) -> bool:
    """Whether this may call a method of a user's class, one that does more than to return something."""
    match node:
        case gast.Attribute(attr=name):
            found = [getattr(inspect.getattr_static(cls, name, None), "fget", None) for cls in context.met()]
        case gast.BinOp() | gast.UnaryOp() | gast.Compare():
            operators = node.ops if isinstance(node, gast.Compare) else [node.op]
            names = [OPERATORS.get(type(op), "") for op in operators]
            names += [REFLECTED[name] for name in names if name in REFLECTED]
            found = [inspect.getattr_static(cls, name, None) for cls in context.met() for name in names]
        case _:
            return False
    return any(map(_acts, found))


def _acts(method: Any) -> bool:
    is_users = isinstance(method, FunctionType) and method.__code__.co_filename != "<string>"  # as dataclasses have
    return is_users and value_acts(method)


def _may_change_itself(method: Callee) -> bool:
    """Whether a method may change its object: by an attribute, an item, or what it calls or hands a variable to."""
    for part in walk(read(method.function, {}).tree):
        store = isinstance(part, gast.Attribute | gast.Subscript) and not isinstance(part.ctx, gast.Load)
        call = isinstance(part, gast.Call) and not isinstance(part.func, gast.Name)
        handed_on = isinstance(part, gast.Call) and any(isinstance(a, gast.Name) for a in part.args)
        if store or call or handed_on:
            return True
    return False


def _beside(node: gast.AST, part: str) -> list[gast.AST]:
    """What Python evaluates between the object and its method's call."""
    match part, node:
        case "func" | "callee", gast.Call(args=arguments, keywords=keywords):
            return [*arguments, *keywords]
        case "left", gast.BinOp(right=other):
            return [other]
        case "left", gast.Compare(comparators=others):
            return others
        case "value", gast.Subscript(slice=index):
            return [index_value(index)]
    return []


def _value(argument: gast.AST) -> gast.AST:
    return argument.value if isinstance(argument, gast.keyword) else argument


def _may_move(owner: str, argument: gast.AST) -> bool:
    """Whether evaluating an argument may put another object where this one is: Python has looked it up before."""
    for call in walk(argument):
        if isinstance(call, gast.Call):
            given = [_value(each) for each in (*call.args, *call.keywords)]
            given += [call.func.value] if isinstance(call.func, gast.Attribute) else []
            if any(owner.startswith((f"{text}.", f"{text}[")) for text in map(unparse, map(as_load, given))):
                return True
    return False


def _with(node: gast.AST, part: str, receiver: gast.AST) -> gast.AST:
    """The expression with another object in this part."""
    node = copy_of(node)
    if part == "itself":
        return receiver
    if part == "func":
        node.func.value = receiver
    elif part == "callee":
        node.func = receiver
    elif part == "container":
        node.comparators = [receiver]
    elif part == "args":
        node.args = [receiver]
    else:
        setattr(node, part, receiver)
    return node


def _always_set(method: FunctionType, cls: type) -> tuple[str, ...]:
    """The attributes that ``__init__``, or a setter, sets wherever it comes to its end, as far as is plain to see."""
    tree = read(method, {}).tree
    names: dict[str, None] = {}
    for name in _assigned(tree.body, tree.args.args[0].id):
        found = inspect.getattr_static(cls, name, None)
        setter = found.fset if isinstance(found, property) else None
        if isinstance(setter, FunctionType) and setter is not method:
            names |= dict.fromkeys(_always_set(setter, cls))
        else:
            names[name] = None
    return tuple(names)


def _assigned(statements: Statements, owner: str) -> list[str]:
    """The attributes of this variable's that the statements assign to, whichever way they go to their end."""
    names: list[str] = []
    for statement in statements:
        if any(isinstance(part, gast.Return) for part in walk(statement)):
            break
        if isinstance(statement, gast.If):
            other = _assigned(statement.orelse, owner)
            names += [name for name in _assigned(statement.body, owner) if name in other]
        targets = statement.targets if isinstance(statement, gast.Assign) else [getattr(statement, "target", None)]
        parts = (part for target in targets if target is not None for part in walk(target))
        if isinstance(statement, gast.Assign | gast.AnnAssign):
            attributes = (p for p in parts if isinstance(p, gast.Attribute) and isinstance(p.ctx, gast.Store))
            names += [each.attr for each in attributes if getattr(each.value, "id", "") == owner]
    return names
