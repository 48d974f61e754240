"""What Python calls by itself, where it may be a function of the program: ``p(x)``, ``while p``, ``x in p``, ``p[k]``,
``float(p)``, ``2 * p``, ``p += q``, ``p[k] = v``, and the setter of ``p.x = v``.
"""

from __future__ import annotations

import builtins
import inspect
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import permutations
from types import FunctionType
from typing import Any

import gast
import numpy as np
import tensorflow as tf

from autobatch import context
from autobatch.frontend.objects import OPERATORS, Method, Objects
from autobatch.frontend.scope import UNKNOWN
from autobatch.frontend.syntax import as_load, assign, constant, index_value, is_support, load, store, support
from autobatch.frontend.undecorated import as_program
from autobatch.language.objects import truth_method
from autobatch.language.operand_order import REFLECTED, is_asked_first

_FUNCTIONS: dict[Any, str] = {
    builtins.abs: "__abs__", builtins.len: "__len__", builtins.float: "__float__", builtins.int: "__int__",
}  # fmt: skip
_KNOWN = (list, dict, set, deque, str, bytes, int, float, np.ndarray, tf.Tensor)  # what else has methods
_MAY_BE_OBJECTS = gast.Name | gast.Attribute | gast.Subscript | gast.Call


class SpecialMethods(Objects):
    def method_call(self, node: gast.Call) -> gast.AST | None:
        """``p.step(dt)``, ``p(x)``, ``abs(p)``, where they may be functions of the program."""
        if methods := self.setters(node):  # of a part of an object
            part = self.temporary(support("deepcopy", [self.expression(node.args[0])], node), "object")
            self.set_by_methods(store(part.id, node), node, methods)
            return part
        made = super().method_call(node)
        if made is not None:
            return made
        value = self.static_value(node.func)
        if value is UNKNOWN and not (_is_of_python(node.func) or self.is_nested(node.func)):
            methods = self.methods("__call__", at=node)
            return self.dispatched(node, node.func, methods, "callee") if methods else None
        name = next((name for function, name in _FUNCTIONS.items() if value is function), None)
        methods = self.methods(name, at=node) if name is not None and len(node.args) == 1 else []
        return self.dispatched(node, node.args[0], methods, "args") if methods else None

    def is_nested(self, node: gast.AST) -> bool:
        """Whether this is a nested function or a lambda, or names one."""
        return isinstance(node, gast.Lambda) or getattr(node, "id", None) in {*self.definitions, *self.helpers}

    def truth(self, node: gast.AST) -> gast.AST:
        """An expression of which only the truth matters, which an object's own method may say."""
        asks = any(map(truth_method, context.met()))
        if not asks or not isinstance(node, _MAY_BE_OBJECTS) or self.static_value(node) is not UNKNOWN:
            return super().truth(node)
        of_bool = self.methods("__bool__", at=node)
        of_len = [each for each in self.methods("__len__", at=node) if not hasattr(each[0], "__bool__")]
        methods = [*of_bool, *of_len]
        return support("bool_", [self.dispatched(node, node, methods, "itself")], node)

    def as_test(self, node: gast.AST) -> gast.AST:
        asks = any(map(truth_method, context.met()))
        return self.temporary(self.truth(node), "cond") if asks else super().as_test(node)

    def may_run_early(self, node: gast.AST) -> bool:
        asks = isinstance(node, gast.Name) and (self.methods("__bool__", at=node) or self.methods("__len__", at=node))
        return not asks and super().may_run_early(node)

    def may_change(self, node: gast.AST) -> bool:
        calls = isinstance(node, gast.Call) and self.static_value(node.func) is UNKNOWN
        return super().may_change(node) or (calls and any(map(_has_calls, context.met())))

    def on_Subscript(self, node: gast.Subscript) -> gast.AST:
        if (call := self.of_known(node.value, "__getitem__", node.slice, node)) is not None:
            return self.expression(call)
        methods = self.methods("__getitem__", at=node) if self.static_value(node.value) is UNKNOWN else []
        return self.dispatched(node, node.value, methods, "value") if methods else super().on_Subscript(node)

    def on_Compare(self, node: gast.Compare) -> gast.AST:
        match node:
            case gast.Compare(ops=[gast.In() | gast.NotIn() as op], comparators=[container]):
                if (call := self.of_known(container, "__contains__", node.left, node)) is not None:
                    found = support("bool_", [self.expression(call)], node)
                    return found if isinstance(op, gast.In) else support("not_", [found], node)
                methods = self.methods("__contains__", at=node, by=as_program)  # Python asks for the result's truth
                return self.contained(node, op, container, methods) if methods else super().on_Compare(node)
            case gast.Compare(ops=[gast.NotEq()]) if self.methods("__eq__", node) and not self.methods("__ne__", node):
                # It is not ==, where a class does not say otherwise.
                equal = gast.copy_location(gast.Compare(node.left, [gast.Eq()], node.comparators), node)
                return support("not_", [self.on_Compare(equal)], node)
            case gast.Compare(ops=[op], comparators=[right]) if not isinstance(right, gast.Constant):
                return self.of_either_side(node, op, right, super().on_Compare)
        return super().on_Compare(node)

    def of_known(self, owner: gast.AST, name: str, given: gast.AST, at: gast.AST) -> gast.Call | None:
        """The call of a method, which is a function of the program, of an object from outside."""
        value = self.static_value(owner)
        method = inspect.getattr_static(type(value), name, None) if value is not UNKNOWN else None
        if not isinstance(method, FunctionType) or self.callee_of(method) is None or not self.has_local(given):
            return None
        attribute = gast.copy_location(gast.Attribute(value=owner, attr=name, ctx=gast.Load()), at)
        return gast.copy_location(gast.Call(func=attribute, args=[index_value(given)], keywords=[]), at)

    def compared(self, left: gast.AST, op: gast.AST, right: gast.AST, at: gast.AST) -> gast.AST:
        """An object from outside is asked first as one of the same class, not as one of a class above members'."""
        if type(self.static_value(left)) in context.met() and self.has_local(right):
            left = support("as_member", [left], at)
        return super().compared(left, op, right, at)

    def contained(self, node: gast.Compare, op: gast.AST, container: gast.AST, methods: Sequence[Method]) -> gast.AST:
        item = self.temporary(self.expression(node.left), "item")
        asked = gast.copy_location(gast.Compare(left=item, ops=[gast.In()], comparators=[container]), node)
        found = support("bool_", [self.dispatched(asked, container, methods, "container")], node)
        return found if isinstance(op, gast.In) else support("not_", [found], node)

    def on_BinOp(self, node: gast.BinOp) -> gast.AST:
        return self.of_either_side(node, node.op, node.right, super().on_BinOp)

    def of_either_side(
        self, node: gast.AST, op: gast.AST, right: gast.AST, by_left: Callable[[Any], gast.AST]
    ) -> gast.AST:
        """By the right side's method, unless the left side is an object that is asked first."""
        operator = OPERATORS.get(type(op), "")
        methods = self.methods(REFLECTED.get(operator, ""), at=node)
        below = self.methods(operator, at=node) and any(
            is_asked_first(cls, base, operator) for cls, base in permutations(context.met(), 2)
        )
        if not methods and not below:
            return by_left(node)
        left, right = self.side(node.left, "left"), self.side(right, "right")
        if isinstance(node, gast.BinOp):
            both: gast.AST = gast.BinOp(left=left, op=op, right=right)
        else:
            both = gast.Compare(left=left, ops=[op], comparators=[right])
        both = gast.copy_location(both, node)
        first, result = support("left_first", [left, right, constant(operator, node)], node), self.fresh("result")
        test = self.temporary(first, "cond")
        outer, self.out = self.out, []
        self.emit(assign(result, by_left(both), node), node)
        then, self.out = self.out, []
        self.emit(assign(result, self.dispatched(both, right, methods, "right"), node), node)
        orelse, self.out = self.out, outer
        self.emit(gast.If(test=test, body=then, orelse=orelse), node)
        return load(result, node)

    def side(self, node: gast.AST, hint: str) -> gast.AST:
        """What may be read twice: under a name, or what is from outside."""
        return node if self.static_value(node) is not UNKNOWN else self.temporary(self.expression(node), hint)

    def augmenting(self, node: gast.AugAssign) -> list[Method]:
        """By which methods ``p += k`` is done where p is of their classes: ``__iadd__``, or else ``__add__``."""
        plain = OPERATORS.get(type(node.op), "")
        name = plain.replace("__", "__i", 1)
        return [*self.methods(name, node), *(each for each in self.methods(plain, node) if not hasattr(each[0], name))]

    def augmenting_arms(self, node: gast.AugAssign, value: gast.AST, methods: Sequence[Method]) -> list[gast.AST]:
        outer, self.out = self.out, []
        if methods:
            (cls, callee), *others = methods
            receiver = as_load(node.target)
            test = self.temporary(support("is_a", [receiver, load(self.bind("cls", cls), node)], node), "cond")
            before, self.out = self.out, []
            function = load(self.bind("method", callee.function), node)
            call = gast.Call(func=function, args=[receiver, value], keywords=[])
            result = self.autobatched_call(gast.copy_location(call, node), callee)
            self.emit(assign(node.target.id, result, node), node)
            then, self.out = self.out, before
            self.emit(gast.If(test=test, body=then, orelse=self.augmenting_arms(node, value, others)), node)
        else:
            self.emit(gast.AugAssign(target=node.target, op=node.op, value=value), node)
        made, self.out = self.out, outer
        return made

    # --- what sets ----------------------------------------------------------------------------------------------------

    def setters(self, node: gast.AST) -> list[Method]:
        """By which methods ``setattr_(p, "x", v)`` or ``setitem(p, k, v)`` is done where p is of their classes."""
        match node:
            case gast.Call(func=gast.Attribute(attr="setattr_"), args=[_, gast.Constant(value=name), _]):
                found = [(cls, getattr(inspect.getattr_static(cls, name, None), "fset", None)) for cls in context.met()]
            case gast.Call(func=gast.Attribute(attr="setitem")):
                found = [(cls, inspect.getattr_static(cls, "__setitem__", None)) for cls in context.met()]
            case _:
                return []
        if not is_support(node.func) or any(node is each for each in self.tested):
            return []
        callees = ((cls, as_program(method)) for cls, method in found)
        return [(cls, replace(callee, of=cls)) for cls, callee in callees if callee is not None]

    def set_by_methods(self, target: gast.Name, node: gast.Call, methods: Sequence[Method]) -> None:
        """``p = setattr_(p, "x", v)``"""
        _, *given = node.args
        given = [
            each if isinstance(each, gast.Constant) else self.temporary(each, "arg") for each in self.in_order(given)
        ]
        self.out += self.setting_arms(target, node, given, methods)

    def setting_arms(
        self, target: gast.Name, node: gast.Call, given: list[gast.AST], methods: Sequence[Method]
    ) -> list[gast.AST]:
        outer, self.out = self.out, []
        receiver = as_load(target)
        if methods:
            (cls, callee), *others = methods
            test = self.temporary(support("is_a", [receiver, load(self.bind("cls", cls), node)], node), "cond")
            before, self.out = self.out, []
            arguments = given[1:] if node.func.attr == "setattr_" else given
            function = load(self.bind("method", callee.function), node)
            call = gast.Call(func=function, args=[receiver, *arguments], keywords=[])
            self.autobatched_call(gast.copy_location(call, node), callee)
            then, self.out = self.out, before
            self.emit(gast.If(test=test, body=then, orelse=self.setting_arms(target, node, given, others)), node)
        else:
            plain = gast.copy_location(gast.Call(func=node.func, args=[receiver, *given], keywords=[]), node)
            self.tested.append(plain)
            self.emit(assign(target.id, self.expression(plain), node), node)
        made, self.out = self.out, outer
        return made


def _has_calls(cls: type) -> bool:
    return any("__call__" in vars(each) for each in cls.__mro__)


def _is_of_python(function: gast.AST) -> bool:
    """Whether this is a method of what is no object of the user's."""
    return isinstance(function, gast.Attribute) and any(hasattr(kind, function.attr) for kind in _KNOWN)
