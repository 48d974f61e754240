"""Expressions of core Python: calls, short-circuits and choices become statements before them."""

from __future__ import annotations

import collections
from collections.abc import Callable, Container, Iterator, Sequence
from types import FunctionType, MappingProxyType
from typing import Any

import gast

from autobatch import errors, ir
from autobatch.context import is_users
from autobatch.frontend.cheap import is_cheap, names_tested_for_none
from autobatch.frontend.core import Callee, Helper, Target
from autobatch.frontend.effects import runs_method
from autobatch.frontend.in_scope import InScope
from autobatch.frontend.library import written
from autobatch.frontend.list_methods import popped
from autobatch.frontend.scope import UNKNOWN, Scope
from autobatch.frontend.source import SUPPORT
from autobatch.frontend.syntax import (
    Statements,
    assign,
    bound_names,
    constant,
    index_value,
    is_support,
    late_names,
    load,
    names,
    rebuilt,
    store,
    support,
    thunk,
)  # fmt: skip
from autobatch.frontend.trees import children, walk
from autobatch.language.asking import SPECIAL_NAMES
from autobatch.language.numpy import ATTRIBUTES

_MAKES_NEW = (gast.BinOp, gast.UnaryOp, gast.Compare, gast.Constant)  # what no variable holds

# Names of what may change a container: the methods that its counterpart without changes lacks, and functions.
_FIXED = {list: tuple, collections.deque: tuple, set: frozenset, dict: MappingProxyType}
_CHANGING = {name for kind, fixed in _FIXED.items() for name in {*dir(kind)} - {*dir(fixed)}} | {"setitem", "delitem"}
_DISPLAYS = (gast.Tuple, gast.List)
_LISTS = ("list_", "sorted_", "sorted_by", "tuple_")


def is_sequence(node: gast.AST, names: Container[str] = ()) -> bool:
    """Whether this is plainly a list or a tuple, or has one of the names."""
    match node:
        case gast.Call(func=gast.Attribute(value=gast.Name(id=module), attr=operator)) if module == SUPPORT:
            return operator in _LISTS
        case gast.Name(id=name):
            return name in names
    return isinstance(node, _DISPLAYS)


def _sequences(tree: gast.AST) -> set[str]:
    """The names to which a list or a tuple is assigned somewhere."""
    pairs = [(target, n.value) for n in walk(tree) if isinstance(n, gast.Assign) for target in n.targets]
    for target, value in pairs:  # which the parts of `a, b = x, y` make longer
        if isinstance(target, gast.Tuple) and isinstance(value, gast.Tuple):
            pairs += zip(target.elts, value.elts, strict=False)
    return {target.id for target, value in pairs if isinstance(target, gast.Name) and is_sequence(value)}


_ORDERS = {gast.Lt: "<", gast.LtE: "<=", gast.Gt: ">", gast.GtE: ">=", gast.Eq: "==", gast.NotEq: "!="}


def _parts(node: gast.AST) -> Iterator[gast.AST]:
    """What a node consists of, in the order in which Python evaluates it."""
    if isinstance(node, gast.Dict):
        yield from (part for pair in zip(node.keys, node.values, strict=True) for part in pair if part is not None)
    else:
        yield from children(node)


class Expressions(Scope):
    """Desugars expressions; the statements that must run before them go to ``out``."""

    nothing_early = False  # whether operands and arms are for those members alone that get there

    def __init__(self, *args: Any):
        super().__init__(*args)
        self.out: Statements = []
        self.sequences = _sequences(self.tree)
        self.statement: gast.AST = self.tree  # the one that is being desugared
        self.rest: Statements = []  # the statements after this one in its block
        self.calls: dict[str, Target] = {}
        self.helpers: dict[str, Helper] = {}
        self.never_values: dict[str, errors.UnsupportedSyntaxError] = {}  # helpers that can only be called or given
        # Nested functions that are functions of their own, the arguments that are such among them.
        self.lifted = {name: value for name, value in self.source.static.items() if isinstance(value, Callee)}
        self.definitions: dict[str, gast.FunctionDef] = {}  # what the helpers are made of
        self.closures: dict[str, Callee] = {}  # helpers as functions of their own, for those that take functions
        self.tested: list[gast.AST] = []  # expressions of objects whose class is none that has the method
        self.loops: dict[str, tuple] = {}
        self.clauses: dict[str, tuple[ir.Classes, ...]] = {}  # of the handlers of `try`
        self.used_at_once = set[int]()  # the lambdas and generators that are arguments of a call

    def emit(self, statement: gast.AST, at: gast.AST) -> None:
        self.out.append(gast.copy_location(statement, at))

    def merge_last(self) -> None:
        """``t = F(x); y = t`` becomes ``y = F(x)`` where t is our own temporary."""
        if len(self.out) < 2:
            return
        first, last = self.out[-2:]
        if (
            isinstance(first, gast.Assign)
            and isinstance(first.targets[0], gast.Name)
            and isinstance(last.value, gast.Name)
            and last.value.id == first.targets[0].id
            and last.value.id in self.temporaries
        ):
            self.out[-2:] = [assign(last.targets[0].id, first.value, first)]

    def condition(self, node: gast.AST) -> gast.AST:
        """The test of an if or while, as a name."""
        return self.named(self.truth(node), "cond")

    def truth(self, node: gast.AST) -> gast.AST:
        """An expression of which only the truth matters."""
        return self.bool_op(node, wants_value=False) if isinstance(node, gast.BoolOp) else self.expression(node)

    def named(self, node: gast.AST, hint: str) -> gast.AST:
        """The value under a name (or as the constant that it is)."""
        if isinstance(node, gast.Constant) or (self.is_variable(node) and hint == "cond"):
            return node
        return self.temporary(node, hint)

    def is_variable(self, node: gast.AST) -> bool:
        """Whether this is a name that differs between members, not one that is known now."""
        return isinstance(node, gast.Name) and (node.id in self.locals or node.id in self.temporaries)

    def temporary(self, node: gast.AST, hint: str) -> gast.Name:
        name = self.fresh(hint)
        self.out.append(assign(name, node, node))
        if is_sequence(node, self.sequences):
            self.sequences.add(name)
        return load(name, node)

    def expression(self, node: gast.AST) -> gast.AST:
        """An equal expression without autobatched calls; what must run before it goes to ``self.out``."""
        method = getattr(self, f"on_{type(node).__name__}", None)
        return method(node) if method else self.children(node)

    def children(self, node: gast.AST) -> gast.AST:
        parts = [*_parts(node)]
        called = node.func if isinstance(node, gast.Call) else None
        done = dict(zip(map(id, parts), self.in_order(parts, called), strict=True))
        return rebuilt(node, lambda part: done[id(part)])

    def in_order(self, nodes: Sequence[gast.AST], called: gast.AST | None = None) -> list[gast.AST]:
        """Expressions that Python evaluates one after the other; ``called``, if any, is among them.

        What one reads, a later one may change that has become statements: then it is read before these.
        """
        done: list[gast.AST] = []
        for node in nodes:
            start = len(self.out)
            made = self.expression(node)
            if len(self.out) > start and self.changes_anything(node):
                statements, self.out[start:] = self.out[start:], []
                pairs = zip(nodes, done, strict=False)
                done = [self.pinned_method(value) if each is called else self.pinned(value) for each, value in pairs]
                self.out += statements
            done.append(made)
        return done

    def changes_anything(self, node: gast.AST) -> bool:
        return any(self.may_change(part) for part in walk(node))

    def may_change(self, node: gast.AST) -> bool:
        """Whether this is a call that may get an array, a list or an object, and change it in place."""
        if isinstance(node, gast.NamedExpr):
            return popped(node)
        if not isinstance(node, gast.Call):
            return runs_method(node)
        value = self.static_value(node.func)
        callee = self.callee(node.func) or written(value, len(node.args))
        if callee is None and not (isinstance(value, FunctionType) and is_users(value.__code__)):
            nested = isinstance(node.func, gast.Name) and node.func.id in self.helpers
            method = isinstance(node.func, gast.Attribute) and node.func.attr in _CHANGING
            return (value is UNKNOWN and (nested or method)) or getattr(value, "__name__", None) in _CHANGING
        arguments = [*node.args, *(keyword.value for keyword in node.keywords)]
        captures = callee is not None and bool(callee.captured)
        return captures or not all(isinstance(argument, _MAKES_NEW) for argument in arguments)

    def pinned(self, value: gast.AST) -> gast.AST:
        """The value under a name, if evaluating it later may give another."""
        if isinstance(value, gast.keyword):
            return gast.copy_location(gast.keyword(arg=value.arg, value=self.pinned(value.value)), value)
        if isinstance(value, gast.Starred):  # what it has now
            items = self.temporary(support("list_", [value.value], value), "before")
            return gast.copy_location(gast.Starred(value=items, ctx=value.ctx), value)
        call = isinstance(value, gast.Call) and is_support(value.func)
        if call and value.func.attr == "slice_":  # no name holds it, but its bounds
            return support("slice_", [*map(self.pinned, value.args)], value)
        if self.static_value(value) is not UNKNOWN:  # a function that is known, such as math.sqrt
            return value
        looks_up = gast.Subscript | gast.Attribute | gast.Call | gast.BinOp
        reads = any(isinstance(part, looks_up) for part in walk(value)) and not is_support(value)
        return self.temporary(value, "before") if reads and isinstance(value, gast.expr) else value

    def pinned_method(self, function: gast.AST) -> gast.AST:
        """As ``pinned``, but of a method its object: no variable can hold the method of a member's object."""
        if not isinstance(function, gast.Attribute) or self.static_value(function) is not UNKNOWN:
            return self.pinned(function)
        made = gast.Attribute(value=self.pinned(function.value), attr=function.attr, ctx=function.ctx)
        return gast.copy_location(made, function)

    def on_Name(self, node: gast.Name) -> gast.AST:
        if self.lifted and isinstance(self.static_value(node), Callee):
            self.refuse(
                node,
                f"the nested function `{node.id}` as a value",
                "call it, or define it outside.",
                kind="nested-function-as-value",
            )
        if node.id in self.never_values:
            raise self.never_values[node.id]
        helper = self.helpers.get(node.id)
        changing = helper is not None and helper.changes
        name = self.children(node)
        return support("at_once", [name], node) if changing and id(node) in self.used_at_once else name

    def on_JoinedStr(self, node: gast.JoinedStr) -> gast.AST:
        if not self.has_local(node):
            return node
        values: list[gast.AST] = []
        text = self.text(node, values)
        return support("text", [constant(text, node), *self.in_order(values)], node)

    def on_NamedExpr(self, node: gast.NamedExpr) -> gast.AST:
        """``(y := x)`` becomes an assignment before the statement."""
        if popped(node):
            return self.pop(node)
        name = node.target.id
        at = (node.lineno, node.col_offset)
        test = self.statement.test if isinstance(self.statement, gast.If | gast.While) else self.statement
        early = [n for n in walk(test) if isinstance(n, gast.Name) and (n.lineno, n.col_offset) < at]
        if any(n.id == name and isinstance(n.ctx, gast.Load) for n in early) or (
            isinstance(self.statement, gast.AugAssign) and self.statement.target.id == name
        ):
            self.refuse(
                node,
                f"`:=` to `{name}`, which the same statement reads before",
                "assign on a line of its own.",
                kind="walrus",
            )
        value = self.expression(node.value)
        self.out.append(assign(name, value, node))
        self.merge_last()
        again = [n for n in walk(test) if isinstance(n, gast.NamedExpr) and n.target.id == name]
        return load(name, node) if len(again) < 2 else self.temporary(load(name, node), name)

    def pop(self, node: gast.NamedExpr) -> gast.AST:
        """``xs.pop(i)``"""
        call, item = node.value, self.fresh("item")
        arguments = [self.expression(argument) for argument in call.args]
        both = gast.Tuple(elts=[store(node.target.id, node), store(item, node)], ctx=gast.Store())
        value = support(call.func.attr, arguments, node)
        self.emit(gast.Assign(targets=[gast.copy_location(both, node)], value=value, type_comment=None), node)
        return load(item, node)

    def on_List(self, node: gast.List) -> gast.AST:
        if not (any(isinstance(part, gast.Starred) for part in node.elts) and self.has_local(node)):
            return self.children(node)
        acts = self.changes_anything(node)
        parts = []
        for part in node.elts:
            if isinstance(part, gast.Starred):
                parts.append(support("list_", [part.value], part) if acts else part.value)
            else:
                parts.append(gast.copy_location(gast.List(elts=[part], ctx=gast.Load()), part))
        return support("concatenated", self.in_order(parts), node)

    def on_UnaryOp(self, node: gast.UnaryOp) -> gast.AST:
        if isinstance(node.op, gast.Not):
            return support("not_", [self.truth(node.operand)], node)
        return self.children(node)

    def on_BinOp(self, node: gast.BinOp) -> gast.AST:
        left, right = self.in_order([node.left, node.right])
        if isinstance(node.op, gast.Mod) and not isinstance(right, gast.Constant):  # which may be a text
            return support("mod", [left, right], node)
        return gast.copy_location(gast.BinOp(left=left, op=node.op, right=right), node)

    def on_Subscript(self, node: gast.Subscript) -> gast.AST:
        if not self.has_local(node.slice):
            return self.children(node)
        return support("getitem", self.in_order([node.value, index_value(node.slice)]), node)

    def on_Attribute(self, node: gast.Attribute) -> gast.AST:
        if node.attr == "__class__" and self.static_value(node) is UNKNOWN:
            return support("type_", [self.expression(node.value)], node)
        if node.attr in SPECIAL_NAMES and self.static_value(node) is UNKNOWN:
            return support("special", [self.expression(node.value), constant(node.attr, node)], node)
        if node.attr in ATTRIBUTES and self.static_value(node) is UNKNOWN:
            return support("attribute", [self.expression(node.value), constant(node.attr, node)], node)
        return self.children(node)

    def may_run_early(self, node: gast.AST) -> bool:
        """Whether a member that does not need the value may compute it all the same."""
        return not self.nothing_early and is_cheap(node) and not self.sometimes_unset.intersection(names(node))

    def on_BoolOp(self, node: gast.BoolOp) -> gast.AST:
        return self.bool_op(node, wants_value=True)

    def bool_op(self, node: gast.BoolOp, wants_value: bool) -> gast.AST:
        first, *rest = node.values
        conjunction = isinstance(node.op, gast.And)
        operand = self.expression if wants_value else self.truth
        tested = names_tested_for_none(node)
        if all(self.may_run_early(value) and not tested.intersection(names(value)) for value in rest):
            name = ("and_" if conjunction else "or_") if wants_value else ("both" if conjunction else "either")
            result = operand(first)
            for value in rest:
                result = support(name, [result, thunk(operand(value))], node)
            return result

        def evaluated(value: gast.AST) -> gast.AST:
            known = wants_value or isinstance(value, gast.Compare | gast.BoolOp)
            return operand(value) if known else support("truth", [operand(value)], value)

        result = self.temporary(evaluated(first), "cond")
        self.rest_of(result.id, conjunction, rest, evaluated, node)
        return load(result.id, node)

    def as_test(self, node: gast.AST) -> gast.AST:
        """A variable, as a condition."""
        return node

    def rest_of(self, result: str, conjunction: bool, rest: list[gast.AST], evaluated: Callable, at: gast.AST) -> None:
        """Evaluates the operands after the first, as far as short-circuiting lets it."""
        if not rest:
            return
        outer, self.out = self.out, []
        self.out.append(assign(result, evaluated(rest[0]), rest[0]))
        self.rest_of(result, conjunction, rest[1:], evaluated, at)
        body, self.out = self.out, outer
        test = self.as_test(load(result, at))
        if not conjunction:
            test = gast.copy_location(gast.UnaryOp(op=gast.Not(), operand=test), at)
        self.emit(gast.If(test=test, body=body, orelse=[]), at)

    def on_Compare(self, node: gast.Compare) -> gast.AST:
        if len(node.ops) == 1:
            left, right = self.in_order([node.left, node.comparators[0]])
            return self.comparison(left, node.ops[0], right, node)
        # a < b < c is a < b and b < c, with b evaluated once, and c only if a < b.
        left, middle = self.in_order([node.left, node.comparators[0]])
        if not isinstance(middle, gast.Name | gast.Constant):
            acts = any(map(self.changes_anything, (node.left, node.comparators[0])))
            left = self.pinned(left) if acts else left
            middle = self.temporary(middle, "middle")
        first = self.comparison(left, node.ops[0], middle, node)
        pairs = list(zip(node.ops[1:], node.comparators[1:], strict=True))
        if all(self.may_run_early(operand) for _, operand in pairs):
            for op, operand in pairs:
                right = self.expression(operand)
                first = support("and_", [first, thunk(self.comparison(middle, op, right, node))], node)
                middle = right
            return first
        result = self.temporary(first, "cond")
        self.rest_of_chain(result.id, middle, pairs, node)
        return load(result.id, node)

    def rest_of_chain(self, result: str, left: gast.AST, pairs: list, at: gast.AST) -> None:
        """Evaluates a chain's later comparisons, as long as they hold."""
        if not pairs:
            return
        (op, operand), *rest = pairs
        outer, self.out = self.out, []
        right = self.atom(operand)
        self.out.append(assign(result, self.comparison(left, op, right, at), operand))
        self.rest_of_chain(result, right, rest, at)
        body, self.out = self.out, outer
        self.emit(gast.If(test=load(result, at), body=body, orelse=[]), at)

    def atom(self, node: gast.AST) -> gast.AST:
        """The value, to be used more than once."""
        return node if isinstance(node, gast.Name | gast.Constant) else self.temporary(self.expression(node), "middle")

    def comparison(self, left: gast.AST, op: gast.AST, right: gast.AST, at: gast.AST) -> gast.AST:
        if isinstance(op, gast.In | gast.NotIn):
            contained = support("in_", [left, right], at)
            return contained if isinstance(op, gast.In) else support("not_", [contained], at)
        if isinstance(op, gast.Is | gast.IsNot) and not (self.has_local(left) or self.has_local(right)):
            return gast.copy_location(gast.Compare(left=left, ops=[op], comparators=[right]), at)
        compared = self.compared(left, op, right, at)
        of_none = isinstance(op, gast.Is | gast.IsNot) and getattr(right, "value", right) is None
        return self.temporary(compared, "cond") if of_none and self.is_variable(left) else compared

    def compared(self, left: gast.AST, op: gast.AST, right: gast.AST, at: gast.AST) -> gast.AST:
        """One comparison, by our operators where Python's would ask for a truth that differs between members."""
        if isinstance(op, gast.Is | gast.IsNot):
            same = support("is_", [left, right], at)
            return same if isinstance(op, gast.Is) else support("not_", [same], at)
        if not any(is_sequence(side, self.sequences) for side in (left, right)) or type(op) not in _ORDERS:
            return gast.copy_location(gast.Compare(left=left, ops=[op], comparators=[right]), at)
        if isinstance(op, gast.Eq | gast.NotEq):
            same = support("equal", [left, right], at)
            return same if isinstance(op, gast.Eq) else support("not_", [same], at)
        return support("ordered", [left, constant(_ORDERS[type(op)], at), right], at)

    def on_IfExp(self, node: gast.IfExp) -> gast.AST:
        known = self.known(node.test)
        if known is not UNKNOWN:
            return self.expression(node.body if known else node.orelse)
        tested, arms = names_tested_for_none(node.test), [node.body, node.orelse]
        early = all(self.may_run_early(arm) and not tested.intersection(names(arm)) for arm in arms)
        if early and not any(isinstance(arm, gast.Constant) and arm.value is None for arm in arms):
            test = self.truth(node.test)
            return support(
                "ifexp", [test, thunk(self.expression(node.body)), thunk(self.expression(node.orelse))], node
            )
        test, result = self.condition(node.test), self.fresh("value")
        arms = []
        for arm in (node.body, node.orelse):
            outer, self.out = self.out, []
            self.out.append(assign(result, self.expression(arm), arm))
            self.merge_last()
            arms.append(self.out)
            self.out = outer
        self.emit(gast.If(test=test, body=arms[0], orelse=arms[1]), node)
        return load(result, node)

    def scope(self, node: gast.AST) -> gast.AST:
        """A lambda or comprehension stays as it is: Python runs it while tracing."""
        changing = [name for name in late_names(node) if name in self.changing]
        if isinstance(node, gast.Lambda | gast.GeneratorExp) and changing:
            # Later, it would see the variable's later value in Python, and the one of now here.
            if id(node) in self.used_at_once:
                return support("at_once", [self.in_scope(node)], node)
            else:
                self.refuse(
                    node,
                    f"a lambda or generator that uses `{changing[0]}`, which is assigned more than once",
                    "use another name for one of the values, or call a function that takes it as an argument.",
                    kind="kept-closure",
                )
        return self.in_scope(node)

    on_Lambda = scope

    def in_scope(self, node: gast.AST) -> gast.AST:
        call = self.call_inside(node)
        if call is not None:
            self.refuse(
                call,
                "an autobatched call inside a lambda or a straight-line helper",
                "write a nested `def` and call it, or use a for loop.",
                kind="call-inside-lambda",
            )
        return InScope(self, bound_names(node)).generic_visit(node)

    def call_inside(self, node: gast.AST) -> gast.Call | None:
        """The first call of a function of the program in a lambda, a nested function or a comprehension."""
        inner = bound_names(node)
        calls = (part for part in walk(node) if isinstance(part, gast.Call) and not set(names(part.func)) & inner)
        return next((call for call in calls if self.callee(call.func) or self.choices_at(call)), None)
