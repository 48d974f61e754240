"""From the user's Python to core Python: control flow as statements, calls by themselves."""

from __future__ import annotations

import builtins
import inspect
from collections import Counter
from collections.abc import Callable, Hashable
from typing import Any

import gast

from autobatch import errors
from autobatch.frontend import fence, item_assignment
from autobatch.frontend.core import Callee, Core, Target
from autobatch.frontend.source import Source, evaluate, unparse
from autobatch.frontend.syntax import (
    Namer,
    Statements,
    assign,
    assigned_names,
    bound_names,
    constant,
    index_value,
    load,
    names,
    store,
    support,
    thunk,
)  # fmt: skip
from autobatch.operators import BUILTINS
from autobatch.values import is_tensor


def desugar(source: Source, callee_of: Callable[[Any], Callee | None]) -> Core:
    """Desugars one function; ``callee_of`` tells an autobatched function from other objects."""
    fence.check(source)
    tree, _ = item_assignment.rewrite(source)
    return _Desugarer(source, tree, callee_of).run()


_UNKNOWN = object()
_TOTAL_OPERATORS = (gast.Add, gast.Sub, gast.Mult)
_TOTAL_COMPARISONS = (gast.Lt, gast.LtE, gast.Gt, gast.GtE, gast.Eq, gast.NotEq, gast.Is, gast.IsNot)


def _is_cheap(node: gast.AST) -> bool:
    """Whether evaluating the expression for a member that does not need it costs little and cannot fail."""
    match node:
        case gast.Name() | gast.Constant():
            return True
        case gast.BinOp():
            return isinstance(node.op, _TOTAL_OPERATORS) and _is_cheap(node.left) and _is_cheap(node.right)
        case gast.UnaryOp():
            return _is_cheap(node.operand)
        case gast.Attribute():
            return _is_cheap(node.value)
        case gast.Compare():
            return all(isinstance(op, _TOTAL_COMPARISONS) for op in node.ops) and all(
                _is_cheap(part) for part in (node.left, *node.comparators)
            )
        case gast.BoolOp():
            return all(_is_cheap(part) for part in node.values)
        case gast.IfExp():
            return all(_is_cheap(part) for part in (node.test, node.body, node.orelse))
        case _:
            return False


def _is_int(node: gast.AST) -> bool:
    return isinstance(node, gast.Constant) and isinstance(node.value, int)


def _always_leaves(body: Statements) -> bool:
    """Whether control never falls off the end."""
    match body[-1] if body else None:
        case gast.Return() | gast.Break() | gast.Continue():
            return True
        case gast.If(body=yes, orelse=no):
            return _always_leaves(yes) and _always_leaves(no)
        case gast.While(body=inside):
            return not any(isinstance(n, gast.Break) for s in inside for n in gast.walk(s))
        case _:
            return False


class _Desugarer:
    def __init__(self, source: Source, tree: gast.FunctionDef, callee_of: Callable[[Any], Callee | None]):
        self.source, self.tree, self.callee_of = source, tree, callee_of
        self.locals = set(source.parameters) | set(assigned_names(tree.body))
        self.assignments = Counter(source.parameters)
        self.assignments.update(
            n.id for n in gast.walk(tree) if isinstance(n, gast.Name) and isinstance(n.ctx, gast.Store)
        )
        self.used_at_once = set[int]()  # the lambdas and generators that are arguments of a call
        self.namer, self.temporaries = Namer(tree), set[str]()
        self.out: Statements = []
        self.calls: dict[str, Target] = {}

    def run(self) -> Core:
        for name in set(assigned_names(self.tree.body)) & set(self.source.static):
            raise errors.UnsupportedSyntaxError(
                f"The static argument `{name}` is assigned to.",
                [(self.source.location(self.tree), "")],
                "use another name for the new value.",
            )
        self.result = self.fresh("result")
        body = self.block(self.tree.body)
        if not _always_leaves(body):
            at = self.tree.body[-1]
            body += [assign(self.result, constant(None, at), at), self.return_(at)]
        definition = gast.parse(f"def {self.source.function.__name__}(): pass").body[0]
        definition.args = gast.parse(f"def f({', '.join(self.source.parameters)}): pass").body[0].args
        definition.body = body
        return Core(self.source, gast.copy_location(definition, self.tree), self.result, self.calls)

    # --- statements -----------------------------------------------------------------------------

    def block(self, statements: Statements) -> Statements:
        outer, self.out = self.out, []
        for statement in statements:
            getattr(self, f"do_{type(statement).__name__}")(statement)
            if _always_leaves(self.out):
                break  # nothing after this runs
        result, self.out = self.out, outer
        return result

    def emit(self, statement: gast.AST, at: gast.AST) -> None:
        self.out.append(gast.copy_location(statement, at))

    def do_Pass(self, node: gast.Pass) -> None:
        pass

    def do_Expr(self, node: gast.Expr) -> None:
        if isinstance(node.value, gast.Constant):
            return  # a docstring
        value = self.expression(node.value)
        if not isinstance(value, gast.Name):
            self.emit(gast.Expr(value=value), node)

    def do_Assign(self, node: gast.Assign) -> None:
        if len(node.targets) == 1 and isinstance(node.targets[0], gast.Name):
            self.out.append(assign(node.targets[0].id, self.expression(node.value), node))
            self.merge_last()
            return
        value = self.expression(node.value)
        if len(node.targets) > 1:
            value = self.named(value, "value")
        for target in node.targets:
            self.unpack(target, value, node)

    def unpack(self, target: gast.AST, value: gast.AST, at: gast.AST) -> None:
        """Assigns to one target; nested targets are unpacked one level at a time, for any may be a tensor's rows."""
        if not isinstance(target, gast.Tuple | gast.List) or any(isinstance(e, gast.Starred) for e in target.elts):
            self.emit(gast.Assign(targets=[target], value=value, type_comment=None), at)
            return
        flat, nested = [], []
        for element in target.elts:
            if isinstance(element, gast.Tuple | gast.List):
                name = self.fresh("part")
                nested.append((element, name))
                element = store(name, element)
            flat.append(element)
        if not (isinstance(value, gast.Tuple) and len(value.elts) == len(flat)):
            value = support("unpack", [value, constant(len(flat), at)], at)
        left = gast.copy_location(gast.Tuple(elts=flat, ctx=gast.Store()), target)
        self.emit(gast.Assign(targets=[left], value=value, type_comment=None), at)
        for element, name in nested:
            self.unpack(element, load(name, at), at)

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

    def do_AnnAssign(self, node: gast.AnnAssign) -> None:
        if node.value is not None:
            self.do_Assign(
                gast.copy_location(gast.Assign(targets=[node.target], value=node.value, type_comment=None), node)
            )

    def do_AugAssign(self, node: gast.AugAssign) -> None:
        self.emit(gast.AugAssign(target=node.target, op=node.op, value=self.expression(node.value)), node)

    def do_Return(self, node: gast.Return) -> None:
        value = self.expression(node.value) if node.value is not None else constant(None, node)
        self.out.append(assign(self.result, value, node))
        self.merge_last()
        self.out.append(self.return_(node))

    def return_(self, at: gast.AST) -> gast.Return:
        return gast.copy_location(gast.Return(value=load(self.result, at)), at)

    def do_Break(self, node: gast.Break) -> None:
        self.out.append(node)

    do_Continue = do_Break

    def do_If(self, node: gast.If) -> None:
        known = self.known(node.test)
        if known is not _UNKNOWN:
            self.out += self.block(node.body if known else node.orelse)
            return
        test = self.condition(node.test)
        body, orelse = self.block(node.body), self.block(node.orelse)
        self.emit(gast.If(test=test, body=body, orelse=orelse), node)

    def do_While(self, node: gast.While) -> None:
        known = self.known(node.test)
        if known is not _UNKNOWN and not known:
            return
        outer, self.out = self.out, []
        if known is _UNKNOWN:
            self.leave_unless(self.condition(node.test), node)
        body, self.out = self.out, outer
        self.loop([*body, *self.block(node.body)], node)

    def loop(self, body: Statements, at: gast.AST) -> None:
        self.emit(gast.While(test=constant(True, at), body=body, orelse=[]), at)

    def leave_unless(self, test: gast.AST, at: gast.AST) -> None:
        negated = gast.copy_location(gast.UnaryOp(op=gast.Not(), operand=test), at)
        self.emit(gast.If(test=negated, body=[gast.copy_location(gast.Break(), at)], orelse=[]), at)

    def do_For(self, node: gast.For) -> None:
        call = node.iter
        if not (
            isinstance(call, gast.Call)
            and self.static_value(call.func) is builtins.range
            and not call.keywords
            and 1 <= len(call.args) <= 3
            and not any(isinstance(a, gast.Starred) for a in call.args)
        ):
            self.refuse(node.iter, "a loop over anything but range(...)", "loop over range(...) and index.")
        bounds = [self.expression(a) for a in call.args]
        bounds = [b if _is_int(b) else support("integer", [b], b) for b in bounds]
        start = bounds[0] if len(bounds) > 1 else constant(0, node)
        stop = self.named(bounds[1] if len(bounds) > 1 else bounds[0], "stop")
        step = self.named(bounds[2], "step") if len(bounds) > 2 else constant(1, node)
        position = self.fresh(f"next_{node.target.id}")
        self.out.append(assign(position, start, node))
        inside, step_value = load(position, node), self.known(step)
        if step_value is not _UNKNOWN and isinstance(step_value, int) and step_value != 0:
            order = gast.Lt() if step_value > 0 else gast.Gt()
            more: gast.AST = gast.copy_location(gast.Compare(left=inside, ops=[order], comparators=[stop]), node)
        else:
            more = support("in_range", [inside, stop, step], node)
        outer, self.out = self.out, []
        self.leave_unless(self.named(more, "cond"), node)
        self.out.append(assign(node.target.id, load(position, node), node))
        advanced = gast.copy_location(gast.BinOp(left=load(position, node), op=gast.Add(), right=step), node)
        self.out.append(assign(position, advanced, node))
        head, self.out = self.out, outer
        self.loop([*head, *self.block(node.body)], node)

    # --- expressions ----------------------------------------------------------------------------

    def condition(self, node: gast.AST) -> gast.AST:
        """The test of an if or while, as a name."""
        return self.named(self.truth(node), "cond")

    def truth(self, node: gast.AST) -> gast.AST:
        """An expression of which only the truth matters."""
        return self.bool_op(node, wants_value=False) if isinstance(node, gast.BoolOp) else self.expression(node)

    def named(self, node: gast.AST, hint: str) -> gast.AST:
        """The value under a name (or as the constant that it is)."""
        if isinstance(node, gast.Constant) or (isinstance(node, gast.Name) and hint == "cond"):
            return node
        return self.temporary(node, hint)

    def fresh(self, hint: str) -> str:
        name = self.namer.fresh(hint)
        self.temporaries.add(name)
        return name

    def temporary(self, node: gast.AST, hint: str) -> gast.Name:
        name = self.fresh(hint)
        self.out.append(assign(name, node, node))
        return load(name, node)

    def expression(self, node: gast.AST) -> gast.AST:
        """An equal expression without autobatched calls; what must run before it goes to ``self.out``."""
        method = getattr(self, f"on_{type(node).__name__}", None)
        return method(node) if method else self.children(node)

    def children(self, node: gast.AST) -> gast.AST:
        fields = {}
        for field, value in gast.iter_fields(node):
            if isinstance(value, list):
                fields[field] = [self.expression(v) if isinstance(v, gast.AST) else v for v in value]
            else:
                fields[field] = self.expression(value) if isinstance(value, gast.AST) else value
        return gast.copy_location(type(node)(**fields), node)

    def on_UnaryOp(self, node: gast.UnaryOp) -> gast.AST:
        if isinstance(node.op, gast.Not):
            return support("not_", [self.truth(node.operand)], node)
        return self.children(node)

    def on_Subscript(self, node: gast.Subscript) -> gast.AST:
        if not any(name in self.locals for name in names(node.slice)):
            return self.children(node)
        return support("getitem", [self.expression(node.value), self.expression(index_value(node.slice))], node)

    def on_BoolOp(self, node: gast.BoolOp) -> gast.AST:
        return self.bool_op(node, wants_value=True)

    def bool_op(self, node: gast.BoolOp, wants_value: bool) -> gast.AST:
        first, *rest = node.values
        conjunction = isinstance(node.op, gast.And)
        operand = self.expression if wants_value else self.truth
        if all(_is_cheap(value) for value in rest):
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

    def rest_of(self, result: str, conjunction: bool, rest: list[gast.AST], evaluated: Callable, at: gast.AST) -> None:
        """Evaluates the operands after the first, as far as short-circuiting lets it."""
        if not rest:
            return
        outer, self.out = self.out, []
        self.out.append(assign(result, evaluated(rest[0]), rest[0]))
        self.rest_of(result, conjunction, rest[1:], evaluated, at)
        body, self.out = self.out, outer
        test: gast.AST = load(result, at)
        if not conjunction:
            test = gast.copy_location(gast.UnaryOp(op=gast.Not(), operand=test), at)
        self.emit(gast.If(test=test, body=body, orelse=[]), at)

    def on_Compare(self, node: gast.Compare) -> gast.AST:
        if len(node.ops) == 1:
            return self.children(node)
        # a < b < c is a < b and b < c, with b evaluated once
        links, left = [], node.left
        for op, right in zip(node.ops, node.comparators, strict=True):
            if right is not node.comparators[-1] and not isinstance(right, gast.Name | gast.Constant):
                right = self.temporary(self.expression(right), "middle")
            links.append(gast.copy_location(gast.Compare(left=left, ops=[op], comparators=[right]), node))
            left = right
        return self.expression(gast.copy_location(gast.BoolOp(op=gast.And(), values=links), node))

    def on_IfExp(self, node: gast.IfExp) -> gast.AST:
        known = self.known(node.test)
        if known is not _UNKNOWN:
            return self.expression(node.body if known else node.orelse)
        if _is_cheap(node.body) and _is_cheap(node.orelse):
            test = self.expression(node.test)
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
        inner = bound_names(node)
        if isinstance(node, gast.Lambda | gast.GeneratorExp) and id(node) not in self.used_at_once:
            # It would see the variable's later value in Python, and the one of now here.
            changing = [name for name in names(node) if self.assignments[name] > 1]
            if changing:
                self.refuse(
                    node,
                    f"a lambda or generator that uses `{changing[0]}`, which is assigned more than once",
                    "use another name for one of the values, or call a function that takes it as an argument.",
                )
        for part in gast.walk(node):
            if isinstance(part, gast.Call) and not (set(names(part.func)) & inner) and self.callee(part.func):
                self.refuse(
                    part, "an autobatched call inside a lambda or comprehension", "use a for loop over range(...)."
                )
        return node

    on_Lambda = on_ListComp = on_SetComp = on_DictComp = on_GeneratorExp = scope

    def on_Call(self, node: gast.Call) -> gast.AST:
        callee = self.callee(node.func)
        if callee is not None:
            return self.autobatched_call(node, callee)
        value = self.static_value(node.func)
        self.used_at_once |= {id(argument) for argument in (*node.args, *(k.value for k in node.keywords))}
        if value is builtins.print:
            self.refuse(node, "print", "return the value instead, or call f.unbatched to debug one member.")
        call = self.children(node)
        if isinstance(value, Hashable) and value in BUILTINS:
            call.func = support(BUILTINS[value], [], node).func
        return call

    def autobatched_call(self, node: gast.Call, callee: Callee) -> gast.AST:
        starred = [a for a in node.args if isinstance(a, gast.Starred)] + [k for k in node.keywords if k.arg is None]
        if starred:
            self.refuse(node, "* or ** in a call to an autobatched function", "name the arguments.")
        signature = inspect.signature(callee.function)
        try:
            bound = signature.bind(*node.args, **{k.arg: k.value for k in node.keywords})
        except TypeError as error:
            raise errors.UnsupportedSyntaxError(
                f"This call does not fit {callee.function.__name__}{signature}: {error}.",
                [(self.source.location(node), "")],
                "pass the arguments that the function takes.",
            ) from error
        bound.apply_defaults()
        static, arguments = [], []
        passed = {id(v) for v in (*node.args, *(k.value for k in node.keywords))}
        for name, value in bound.arguments.items():
            if name in callee.static:
                static.append((name, self.static_argument(name, value) if id(value) in passed else value))
            elif id(value) in passed:
                argument = self.expression(value)
                arguments.append(argument if isinstance(argument, gast.Name) else self.temporary(argument, "arg"))
            else:  # a default, which Python evaluated when the function was defined
                arguments.append(self.temporary(self.default(callee, name, node), "arg"))
        target, alias = Target(callee, tuple(static)), unparse(node.func)
        if self.calls.setdefault(alias, target) is not target and self.calls[alias] != target:
            alias = self.fresh(alias)
            self.calls[alias] = target
        call = gast.Call(func=load(alias, node), args=arguments, keywords=[])
        return self.temporary(gast.copy_location(call, node), "call")

    def default(self, callee: Callee, name: str, at: gast.AST) -> gast.AST:
        value = inspect.signature(callee.function).parameters[name].default
        if value is None or isinstance(value, bool | int | float | str):
            return constant(value, at)
        self.refuse(at, f"the default of `{name}`, a {type(value).__name__}", "pass the argument.")
        raise AssertionError

    def static_argument(self, name: str, node: gast.AST) -> Any:
        value = self.static_value(node)
        if value is _UNKNOWN:
            self.refuse(node, f"a per-member value for the static argument `{name}`", "pass a constant or a global.")
        return value

    # --- what is known when lowering ------------------------------------------------------------

    def refuse(self, node: gast.AST, what: str, instead: str) -> None:
        raise errors.UnsupportedSyntaxError(
            f"autobatch does not support {what}.", [(self.source.location(node), "")], instead
        )

    def callee(self, function: gast.AST) -> Callee | None:
        if not isinstance(function, gast.Name | gast.Attribute):
            return None
        value = self.static_value(function)
        return None if value is _UNKNOWN else self.callee_of(value)

    def static_value(self, node: gast.AST) -> Any:
        """The value of an expression of constants and names bound outside, else _UNKNOWN."""
        allowed = (
            gast.Name, gast.Constant, gast.Attribute, gast.Compare, gast.BoolOp, gast.UnaryOp, gast.BinOp, gast.Tuple,
            gast.expr_context, gast.cmpop, gast.boolop, gast.unaryop, gast.operator,
        )  # fmt: skip
        if not all(isinstance(n, allowed) for n in gast.walk(node)) or set(names(node)) & (
            self.locals | self.temporaries
        ):
            return _UNKNOWN
        try:
            return evaluate(self.source, node)
        except Exception:
            return _UNKNOWN  # the error will come again, at its line, when the primitive is traced

    def known(self, test: gast.AST) -> Any:
        """The truth of a test if it is the same for every member, else _UNKNOWN."""
        value = self.static_value(test)
        if value is _UNKNOWN or is_tensor(value):
            return _UNKNOWN
        try:
            return value if isinstance(value, int) else bool(value)
        except Exception:
            return _UNKNOWN
