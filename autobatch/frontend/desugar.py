"""From the user's Python to core Python: statements."""

from __future__ import annotations

import builtins
from collections.abc import Callable
from typing import Any

import gast

from autobatch.frontend import fence, item_assignment
from autobatch.frontend.core import Callee, Core
from autobatch.frontend.expressions import Expressions
from autobatch.frontend.scope import UNKNOWN
from autobatch.frontend.source import Source, unparse
from autobatch.frontend.syntax import Statements, assign, constant, load, store, support, thunk


def desugar(source: Source, callee_of: Callable[[Any], Callee | None]) -> Core:
    """Desugars one function; ``callee_of`` tells an autobatched function from other objects."""
    fence.check(source)
    tree, _ = item_assignment.rewrite(source)
    return _Desugarer(source, tree, callee_of).run()


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


class _Desugarer(Expressions):
    def run(self) -> Core:
        self.result = self.fresh("result")
        body = self.block(self.tree.body)
        if not _always_leaves(body):
            at = self.tree.body[-1]
            body += [assign(self.result, constant(None, at), at), self.return_(at)]
        definition = gast.parse(f"def {self.source.function.__name__}(): pass").body[0]
        definition.args = gast.parse(f"def f({', '.join(self.source.parameters)}): pass").body[0].args
        definition.body = body
        return Core(self.source, gast.copy_location(definition, self.tree), self.result, self.calls)

    def block(self, statements: Statements) -> Statements:
        outer, self.out = self.out, []
        for statement in statements:
            getattr(self, f"do_{type(statement).__name__}")(statement)
            if _always_leaves(self.out):
                break  # nothing after this runs
        result, self.out = self.out, outer
        return result

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

    def do_AnnAssign(self, node: gast.AnnAssign) -> None:
        if node.value is not None:
            self.do_Assign(
                gast.copy_location(gast.Assign(targets=[node.target], value=node.value, type_comment=None), node)
            )

    def do_AugAssign(self, node: gast.AugAssign) -> None:
        self.emit(gast.AugAssign(target=node.target, op=node.op, value=self.expression(node.value)), node)

    def do_Assert(self, node: gast.Assert) -> None:
        text = constant(unparse(node.test), node)
        message = thunk(node.msg) if node.msg is not None else thunk(constant("", node))
        self.emit(gast.Expr(value=support("assert_", [self.expression(node.test), text, message], node)), node)

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
        if known is not UNKNOWN:
            self.out += self.block(node.body if known else node.orelse)
            return
        test = self.condition(node.test)
        body, orelse = self.block(node.body), self.block(node.orelse)
        self.emit(gast.If(test=test, body=body, orelse=orelse), node)

    def do_While(self, node: gast.While) -> None:
        known = self.known(node.test)
        if known is not UNKNOWN and not known:
            self.out += self.block(node.orelse)
            return
        outer, self.out = self.out, []
        if known is UNKNOWN:
            self.leave_unless(self.condition(node.test), node)
        body, self.out = self.out, outer
        self.loop([*body, *self.block(node.body)], node)

    def loop(self, body: Statements, at: gast.AST) -> None:
        self.emit(gast.While(test=constant(True, at), body=body, orelse=[]), at)

    def leave_unless(self, test: gast.AST, at: gast.While | gast.For) -> None:
        """Leaves the loop by way of its ``else``."""
        negated = gast.copy_location(gast.UnaryOp(op=gast.Not(), operand=test), at)
        last = self.block(at.orelse)
        if not _always_leaves(last):
            last.append(gast.copy_location(gast.Break(), at))
        self.emit(gast.If(test=negated, body=last, orelse=[]), at)

    def do_For(self, node: gast.For) -> None:
        call = node.iter
        if isinstance(call, gast.Call) and self.static_value(call.func) is builtins.range:
            if call.keywords or any(isinstance(a, gast.Starred) for a in call.args) or not 1 <= len(call.args) <= 3:
                self.refuse(
                    call, "this form of range", "write range(stop), range(start, stop) or range(start, stop, step)."
                )
            self.range_loop(node, call)
        else:
            self.sequence_loop(node)

    def range_loop(self, node: gast.For, call: gast.Call) -> None:
        bounds = [self.expression(a) for a in call.args]
        bounds = [b if _is_int(b) else support("integer", [b], b) for b in bounds]
        start = bounds[0] if len(bounds) > 1 else constant(0, node)
        stop = self.named(bounds[1] if len(bounds) > 1 else bounds[0], "stop")
        step = self.named(bounds[2], "step") if len(bounds) > 2 else constant(1, node)
        known_bounds = [self.static_value(b) for b in call.args]
        if all(isinstance(b, int) for b in known_bounds) and known_bounds[2:] != [0] and range(*known_bounds):
            self.unpack(node.target, start, node)  # the loop runs, so its variable is set after it
        step_value = self.known(step)
        position = self.fresh(f"next_{node.target.id}" if isinstance(node.target, gast.Name) else "next")
        if step_value is not UNKNOWN and isinstance(step_value, int) and step_value != 0:
            order = gast.Lt() if step_value > 0 else gast.Gt()
            inside = load(position, node)
            more: gast.AST = gast.copy_location(gast.Compare(left=inside, ops=[order], comparators=[stop]), node)
        else:
            more = support("in_range", [load(position, node), stop, step], node)
        self.out.append(assign(position, start, node))
        self.counted_loop(node, position, more, load(position, node), step)

    def sequence_loop(self, node: gast.For) -> None:
        """``for row in x``: over a tensor's leading axis, or over a Python sequence of equal structure."""
        items = self.temporary(support("sequence", [self.expression(node.iter)], node), "items")
        stop = self.temporary(support("len_", [items], node), "stop")
        position = self.fresh("next")
        more = gast.Compare(left=load(position, node), ops=[gast.Lt()], comparators=[stop])
        item = support("item", [load(items.id, node), load(position, node)], node)
        self.out.append(assign(position, constant(0, node), node))
        self.counted_loop(node, position, gast.copy_location(more, node), item, constant(1, node))

    def counted_loop(self, node: gast.For, position: str, more: gast.AST, item: gast.AST, step: gast.AST) -> None:
        """While there is more, binds the target to the item, advances, and runs the body."""
        outer, self.out = self.out, []
        self.leave_unless(self.named(more, "cond"), node)
        self.unpack(node.target, item, node)
        advanced = gast.copy_location(gast.BinOp(left=load(position, node), op=gast.Add(), right=step), node)
        self.out.append(assign(position, advanced, node))
        head, self.out = self.out, outer
        self.loop([*head, *self.block(node.body)], node)
