"""``raise``, ``assert`` and ``try``.

    try: ...                           try: ...
    except ValueError: a         ->    except ValueError, KeyError as number:
    except KeyError: b                     if number == 1: a  elif number == 2: b  else: raise number

The number is that of the first clause that catches what was raised (see ``ir.Handler``).  ``finally`` is a handler
that catches nothing, and a copy of its statements wherever control leaves them otherwise.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, NoReturn

import gast

from autobatch import ir
from autobatch.frontend.nested import Nested
from autobatch.frontend.syntax import (
    Statements,
    always_leaves,
    assign,
    constant,
    load,
    names,
    renamed,
    store,
    support,
    with_blocks,
)
from autobatch.frontend.texts import escaped


@dataclass(frozen=True)
class _Caught:
    """What a clause around has caught: its name there, and a reference to the class that it says."""

    name: str | None
    kind: gast.AST | None


# What operations raise for members.
_RAISED = (ZeroDivisionError, OverflowError, IndexError, KeyError, ValueError, AssertionError, StopIteration)


class Exceptions(Nested):
    caught: _Caught | None = None  # by the innermost clause around

    def do_Assert(self, node: gast.Assert) -> None:
        values: Statements = []
        text = self.text(node.msg, values) if node.msg is not None else ""
        test = self.expression(node.test)
        if any(isinstance(part, gast.Is | gast.IsNot) for part in gast.walk(node.test)):
            test = self.temporary(test, "cond")  # which may ask whether a variable is None
        arguments = [test, constant(self.written(node.test), node), constant(text, node)]
        if values:
            arguments.append(self.shown(values, node))
        self.emit(gast.Expr(value=support("assert_", arguments, node)), node)

    def do_Raise(self, node: gast.Raise) -> None:
        if isinstance(node.exc, gast.Name) and node.exc.id in self.clauses:  # a handler's own end
            self.out.append(node)
            return
        raised = self.raised_again(node) if self.is_caught(node.exc) else node.exc
        raised = raised if raised is not None else constant(None, node)
        call = isinstance(raised, gast.Call)
        kind = self.static_value(raised.func if call else raised)
        values: Statements = []
        if isinstance(kind, Exception) and not call:  # made outside
            reference, text, kind = support("type_", [raised], node), escaped(str(kind)), type(kind)
        else:
            reference, text = (raised.func, self.message(raised, values)) if call else (raised, "")
        if not (isinstance(kind, type) and issubclass(kind, Exception)):
            self.refuse(
                node,
                "`raise` of what is no known exception",
                "raise a class of exceptions, or call one: raise ValueError(f'not {x}').",
                kind="raise-statement",
            )
        arguments = [reference, constant(text, node), self.shown(values, node)]
        self.emit(gast.Expr(value=support("raise_", arguments, node)), node)
        self.emit(gast.Raise(exc=None, cause=None), node)

    def message(self, call: gast.Call, values: Statements) -> str:
        """What an exception says that is made by this call, as a text for ``str.format``."""
        if len(call.args) == 1 and not call.keywords:
            return self.text(call.args[0], values)
        parts = [self.field(argument, values, "!r") for argument in call.args]
        return f"({', '.join(parts)})" if parts else ""

    def is_caught(self, raised: gast.AST | None) -> bool:
        """Whether this stands for what a clause around has caught."""
        if self.caught is None:
            return False
        return raised is None or (isinstance(raised, gast.Name) and raised.id == self.caught.name)

    def raised_again(self, node: gast.Raise) -> gast.AST:
        assert self.caught is not None
        if self.caught.kind is None or self.may_be_another(self.static_value(self.caught.kind)):
            self.refuse(
                node,
                "`raise` of what may be of several classes",
                "catch each in a clause of its own, or say what to raise: raise ValueError(...).",
                kind="raise-statement",
            )
        return self.caught.kind

    def may_be_another(self, kind: Any) -> bool:
        """Whether what is caught may be of a class below this one: of Python's, or of the function's own module."""
        below = [each for each in _RAISED if each is not kind and issubclass(each, kind)]
        pending = [kind]
        while pending:
            found = pending.pop().__subclasses__()
            below += [each for each in found if each.__module__ == self.source.function.__module__]
            pending += found
        return bool(below)

    # --- try --------------------------------------------------------------------------------------

    def do_Try(self, node: gast.Try) -> None:
        if hasattr(node, "leaves"):
            self.out.append(_outside(node.leaves, self.block(node.finalbody), node))
        elif node.finalbody:
            self.with_finally(node)
        else:
            self.with_clauses(node)

    def with_clauses(self, node: gast.Try) -> None:
        node.handlers = [each for handler in node.handlers for each in self.apart(handler)]
        clauses = tuple(map(self.classes, node.handlers))
        number = self.fresh("exception")
        self.protected(node, number, clauses, node.body, lambda: self.chosen(node, number, clauses), node.orelse)

    def apart(self, handler: gast.ExceptHandler) -> list[gast.ExceptHandler]:
        """A clause of several classes that raises again what it caught as one of each."""
        name = handler.name.id if handler.name is not None else None
        raised = [part.exc for s in handler.body for part in gast.walk(s) if isinstance(part, gast.Raise)]
        again = any(exc is None or (name is not None and getattr(exc, "id", None) == name) for exc in raised)
        if not (again and isinstance(handler.type, gast.Tuple)):
            return [handler]
        return [
            _at(gast.ExceptHandler(type=kind, name=handler.name, body=copy.deepcopy(handler.body)), handler)
            for kind in handler.type.elts
        ]

    def chosen(self, node: gast.Try, number: str, clauses: Sequence[ir.Classes], k: int = 0) -> Statements:
        """The clause of this number; from the k-th on."""
        if k == len(clauses):
            return [_at(gast.Raise(exc=load(number, node), cause=None), node)]
        handler = node.handlers[k]
        test = gast.Compare(left=load(number, node), ops=[gast.Eq()], comparators=[constant(k + 1, node)])
        outer, self.caught = self.caught, self.caught_by(handler, clauses[k])
        body, self.caught = self.block(handler.body), outer
        this = self.fresh("is_caught")
        others = self.chosen(node, number, clauses, k + 1)
        arm = gast.If(test=load(this, handler), body=body, orelse=others)
        return [assign(this, _at(test, handler), handler), _at(arm, handler)]

    def protected(
        self,
        at: gast.Try,
        number: str,
        clauses: tuple[ir.Classes, ...],
        body: Statements,
        handler: Callable[[], Statements],
        orelse: Statements,
    ) -> None:
        """``try`` of core Python; ``handler`` desugars what the handler does."""
        self.clauses[number] = clauses
        body, last = self.block(body), self.block(orelse)
        kinds = gast.Tuple(elts=[load(k.__name__, at) for kinds in clauses for k in kinds], ctx=gast.Load())
        one = gast.ExceptHandler(type=_at(kinds, at), name=store(number, at), body=handler())
        self.emit(gast.Try(body=body, handlers=[_at(one, at)], orelse=last, finalbody=[]), at)

    def classes(self, handler: gast.ExceptHandler) -> ir.Classes:
        if handler.type is None:
            return (BaseException,)
        found = self.static_value(handler.type)
        kinds = found if isinstance(found, tuple) else (found,)
        if not all(isinstance(kind, type) and issubclass(kind, BaseException) for kind in kinds):
            self.refuse(
                handler.type,
                "`except` of what is no known class of exceptions",
                "name classes that are bound outside of the function.",
                kind="except-clause",
            )
        if any(issubclass(kind, RecursionError) for kind in kinds):
            self.refuse(
                handler.type,
                "`except RecursionError`",
                "count the depth, and test it; the option max_depth bounds it.",
                kind="except-clause",
            )
        return kinds

    def caught_by(self, handler: gast.ExceptHandler, kinds: ir.Classes) -> _Caught:
        """Refuses uses of what a member's exception says, of which only the class is known."""
        name = handler.name.id if handler.name is not None else None
        if name is not None and _reads_outside(self.tree.body, name):
            self.refuse(
                handler,
                f"`except ... as {name}` where `{name}` is another variable too, which the clause unsets",
                "give one of them another name.",
                kind="except-clause",
            )
        raises = [part for s in handler.body for part in gast.walk(s) if isinstance(part, gast.Raise)]
        allowed = {id(part) for node in raises for part in (node.exc, node.cause)}
        for part in (part for s in handler.body for part in gast.walk(s)):
            if isinstance(part, gast.Name) and part.id == name and id(part) not in allowed:
                self.refuse_value(part)
        kind = handler.type if handler.type is not None else gast.Name("BaseException", gast.Load(), None, None)
        return _Caught(name, kind if len(kinds) == 1 and not isinstance(kind, gast.Tuple) else None)

    def refuse_value(self, node: gast.Name) -> NoReturn:
        self.refuse(
            node,
            "what a caught exception holds",
            "keep what it should say in a variable of its own, set before it is raised.",
            kind="exception-value",
        )

    def with_finally(self, node: gast.Try) -> None:
        number = self.fresh("exception")
        inner = gast.Try(body=node.body, handlers=node.handlers, orelse=node.orelse, finalbody=[])
        body = [gast.copy_location(inner, node)] if node.handlers else [*node.body, *node.orelse]

        def left(jump: gast.AST) -> Statements:
            outside = _outside(number, [renamed(statement, {}) for statement in node.finalbody], jump)
            if not isinstance(jump, gast.Return) or jump.value is None:
                return [outside, jump]
            value = self.fresh("value")
            return [assign(value, jump.value, jump), outside, _at(gast.Return(value=load(value, jump)), jump)]

        jumps: Statements = []
        _jumps_replaced(node.finalbody, lambda jump: jumps.append(jump) or [])
        leaves = bool(jumps)
        if leaves and not always_leaves(node.finalbody):
            self.refuse(
                node.finalbody[0], "a `finally` that leaves on some paths only", "use `except`.", kind="finally-leaves"
            )

        def further() -> Statements:
            again = [renamed(statement, {}) for statement in node.finalbody]
            return self.block([*again, _at(gast.Raise(exc=load(number, node), cause=None), node)])

        clauses = ((BaseException,),) if leaves else ()
        self.protected(node, number, clauses, _jumps_replaced(body, left), further, [])
        if not always_leaves(self.out):
            self.out += self.block(node.finalbody)


def _outside(number: str, statements: Statements, at: gast.AST) -> gast.Try:
    """Statements that run outside of the ``try`` of this number's handler, though they stand in it."""
    node = _at(gast.Try(body=[_at(gast.Pass(), at)], handlers=[], orelse=[], finalbody=statements), at)
    node.leaves = number
    return node


def _reads_outside(nodes: Iterable[gast.AST], name: str) -> bool:
    """Whether a name is read, but where clauses have given it to what they caught."""
    for node in nodes:
        if isinstance(node, gast.ExceptHandler) and node.name is not None and node.name.id == name:
            continue
        whole = isinstance(node, gast.expr | gast.FunctionDef)
        if (name in names(node)) if whole else _reads_outside(gast.iter_child_nodes(node), name):
            return True
    return False


def _at(node: gast.AST, at: gast.AST) -> gast.AST:
    return gast.copy_location(node, at)


def _jumps_replaced(body: Statements, left: Callable[[gast.AST], Statements], inside: bool = False) -> Statements:
    """The statements with what leaves them replaced; ``inside`` a loop of theirs, ``break`` does not."""
    result: Statements = []
    for node in body:
        if isinstance(node, gast.Return) or (isinstance(node, gast.Break | gast.Continue) and not inside):
            result += left(node)
        else:
            result.append(with_blocks(node, lambda block, looped: _jumps_replaced(block, left, inside or looped)))
    return result
