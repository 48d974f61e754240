"""``raise``, ``assert`` and ``try``.

    try: ...                           try: ...
    except ValueError: a         ->    except ValueError, KeyError as number:
    except KeyError: b                     if number == 1: a  elif number == 2: b  else: raise number

The number is that of the first clause that catches what was raised (see ``ir.Handler``).  ``finally`` is a handler
that catches nothing, and a copy of its statements wherever control leaves them otherwise.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import NoReturn

import gast

from autobatch import ir
from autobatch.frontend import held
from autobatch.frontend.nested import Nested
from autobatch.frontend.raised import UnknownRaised, raised_by
from autobatch.frontend.scope import UNKNOWN
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
    thunk,
    with_blocks,
)
from autobatch.frontend.texts import escaped
from autobatch.frontend.trees import children, copy_of, walk
from autobatch.frontend.undecorated import as_program


@dataclass(frozen=True)
class _Caught:
    """What a clause around has caught.

    Attributes:
      name: its name there.
      number: the variable that says of which class it is.
      kinds: the classes that it may be of, and the number that stands for each; none where that is not known.
    """

    name: str | None
    number: str
    kinds: dict[int, type]


class Exceptions(Nested):
    caught: _Caught | None = None  # by the innermost clause around
    holds = False  # whether exceptions hold what they are given

    def do_Assert(self, node: gast.Assert) -> None:
        if node.msg is not None and self.call_inside(thunk(node.msg)):  # for those alone who fail
            made = gast.Call(func=load(self.bind("kind", AssertionError), node), args=[node.msg], keywords=[])
            raised = _at(gast.Raise(exc=_at(made, node), cause=None), node)
            test = _at(gast.UnaryOp(op=gast.Not(), operand=node.test), node)
            self.rest.insert(0, _at(gast.If(test=test, body=[raised], orelse=[]), node))
            return
        values: Statements = []
        text = self.text(node.msg, values) if node.msg is not None else ""
        test = self.expression(node.test)
        if any(isinstance(part, gast.Is | gast.IsNot) for part in walk(node.test)):
            test = self.temporary(test, "cond")  # which may ask whether a variable is None
        arguments = [test, constant(self.written(node.test), node), constant(text, node)]
        if values:
            arguments.append(self.shown(values, node))
        self.emit(gast.Expr(value=support("assert_", arguments, node)), node)

    def do_Raise(self, node: gast.Raise) -> None:
        is_end = isinstance(node.exc, gast.Name) and node.exc.id in self.clauses  # of a handler
        if is_end or hasattr(node, "ends"):  # or behind what has failed the member
            self.out.append(node)
            return
        if self.is_caught(node.exc):
            self.raise_again(node)
            return
        raised = node.exc if node.exc is not None else constant(None, node)
        call = isinstance(raised, gast.Call)
        kind = self.static_value(raised.func if call else raised)
        given = [*raised.args, *(keyword.value for keyword in raised.keywords)] if call else []
        if call and (self.holds or any(self.call_inside(thunk(each)) for each in given)):  # each is evaluated once
            raised = self.with_names(raised)
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
        if self.holds:
            reference = self.hold(kind, raised if call else None, node)
        arguments = [reference, constant(text, node), self.shown(values, node)]
        self.emit(gast.Expr(value=support("raise_", arguments, node)), node)
        self.emit(gast.Raise(exc=None, cause=None), node)

    def with_names(self, call: gast.Call) -> gast.Call:
        """The call with what it is given under names, but for texts."""

        def named(node: gast.AST) -> gast.AST:
            return node if held.is_text(node) else self.temporary(self.expression(node), "arg")

        keywords = [_at(gast.keyword(arg=each.arg, value=named(each.value)), call) for each in call.keywords]
        return _at(gast.Call(func=call.func, args=[*map(named, call.args)], keywords=keywords), call)

    def hold(self, kind: type, call: gast.Call | None, at: gast.Raise) -> gast.AST:
        """Makes the exception; gives the class that is raised."""
        bare = gast.Call(func=load(self.bind("kind", kind), at), args=[], keywords=[])
        made_by = call if call is not None else gast.copy_location(bare, at)
        if (init := held.own_init(kind)) is not None:
            callee = as_program(init)
            if callee is None:
                self.refuse(
                    at,
                    f"an exception whose `__init__` takes any number of arguments (`{kind.__name__}`)",
                    "name its parameters.",
                    kind="exception-class",
                )
            made = self.construction(made_by, replace(callee, of=kind))
        else:
            made = support("held", [made_by.func, *self.in_order(held.without_texts(made_by))], at)
        self.temporaries.add(held.variable(kind))
        self.emit(assign(held.variable(kind), made, at), at)
        return load(self.bind("kind", held.by_statement(kind)), at)

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

    def raise_again(self, node: gast.Raise) -> None:
        """Raises the class that the number says."""
        assert self.caught is not None
        if not self.caught.kinds:
            self.refuse(
                node,
                "`raise` of what may be of any class",
                "call functions by their names in the `try`, or say what to raise: raise ValueError(...).",
                kind="exception-class",
            )
        *others, last = self.caught.kinds.items()
        statement = self.raise_of(last[1], node)
        for number, kind in reversed(others):
            test = self.is_number(self.caught.number, number, node)
            statement = _at(gast.If(test=test, body=[self.raise_of(kind, node)], orelse=[statement]), node)
        self.out += self.block([statement])

    def raise_of(self, kind: type, at: gast.AST) -> gast.Raise:
        kind = kind if issubclass(kind, Exception) else Exception
        return _at(gast.Raise(exc=load(self.bind("kind", kind), at), cause=None), at)

    def is_number(self, variable: str, number: int, at: gast.AST, op: type = gast.Eq) -> gast.AST:
        return _at(gast.Compare(load(variable, at), [op()], [constant(number, at)]), at)

    def on_Call(self, node: gast.Call) -> gast.AST:
        """``isinstance(error, E)`` of what was caught: whether its number is that of a class below E."""
        match node:
            case gast.Call(func=function, args=[gast.Name(id=name), kinds], keywords=[]) if (
                self.caught is not None and name == self.caught.name and self.static_value(function) is isinstance
            ):
                asked = self.static_value(kinds)
                if not self.caught.kinds or asked is UNKNOWN:
                    self.refuse(
                        node,
                        "`isinstance` of what may be of any class",
                        "catch each class in a clause of its own.",
                        kind="exception-class",
                    )
                numbers = [k for k, kind in self.caught.kinds.items() if issubclass(kind, asked)]
                tests = [self.is_number(self.caught.number, k, node) for k in numbers]
                if len(numbers) in (0, len(self.caught.kinds)):
                    return self.temporary(constant(bool(numbers), node), "cond")
                either = tests[0] if len(tests) == 1 else _at(gast.BoolOp(op=gast.Or(), values=tests), node)
                return self.expression(either)
        return super().on_Call(node)

    # --- try --------------------------------------------------------------------------------------

    def do_Try(self, node: gast.Try) -> None:
        if hasattr(node, "leaves"):
            self.out.append(_outside(node.leaves, self.block(node.finalbody), node))
        elif node.finalbody:
            self.with_finally(node)
        else:
            self.with_clauses(node)

    def with_clauses(self, node: gast.Try) -> None:
        if self.holds:
            node.handlers = [each for handler in node.handlers for each in self.reading(handler, node.body)]
        groups = [self.told_apart(handler, self.classes(handler), node.body) for handler in node.handlers]
        number = self.fresh("exception")
        clauses = tuple(kinds for group in groups for kinds in group)
        self.protected(node, number, clauses, node.body, lambda: self.chosen(node, number, groups), node.orelse)

    def told_apart(self, handler: gast.ExceptHandler, kinds: ir.Classes, body: Statements) -> tuple[ir.Classes, ...]:
        """What a clause catches, each class for itself if it matters of which class that is."""
        if not _asks_for_class(handler, self.name_of(handler)):
            return (kinds,)
        try:
            possible = {*held.RAISED, *raised_by(self.source, body)}
        except UnknownRaised:
            handler.unknown = True
            return (kinds,)
        below = {each for each in possible if issubclass(each, kinds)}
        return tuple((each,) for each in sorted({*below, *kinds}, key=lambda each: (-len(each.__mro__), each.__name__)))

    def reading(self, handler: gast.ExceptHandler, body: Statements) -> list[gast.ExceptHandler]:
        """A clause that reads what it catches, once for each class that ``raise`` raises, and for all else."""
        name = self.name_of(handler)
        if name is None or not self.reads(handler, name):
            return [handler]
        try:
            kinds = {each for each in raised_by(self.source, body) if issubclass(each, self.classes(handler))}
        except UnknownRaised:
            return [handler]
        texts = (part for s in handler.body for part in walk(s) if held.says(part, name))
        if (text := next(texts, None)) is not None:
            self.refuse(
                text,
                "the text of a caught exception",
                "give it numbers, and read those: e.code, or e.args[1]; a clause for each class tells what was raised.",
                kind="exception-text",
            )
        found = []
        for kind in sorted(kinds, key=lambda each: (-len(each.__mro__), each.__name__)):
            reference = load(self.bind("kind", held.by_statement(kind)), handler)
            one = _at(gast.ExceptHandler(type=reference, name=handler.name, body=copy_of(handler.body)), handler)
            one.held = held.variable(kind)
            self.temporaries.add(one.held)
            self.emit(assign(one.held, support("absent", [], handler), handler), handler)
            found.append(one)
        end = _at(gast.Raise(exc=None, cause=None), handler)
        end.ends = True
        handler.body = [_at(gast.Expr(value=support("raise_untold", [], handler)), handler), end]
        handler.held = None
        return [*found, handler]

    def name_of(self, handler: gast.ExceptHandler) -> str | None:
        return handler.name.id if handler.name is not None else None

    def chosen(self, node: gast.Try, number: str, groups: Sequence[tuple[ir.Classes, ...]], k: int = 0) -> Statements:
        """The clause of this number; from the k-th on."""
        if k == len(groups):
            return [_at(gast.Raise(exc=load(number, node), cause=None), node)]
        handler, first = node.handlers[k], 1 + sum(map(len, groups[:k]))
        numbers = range(first, first + len(groups[k]))
        outer, self.caught = self.caught, self.caught_by(handler, number, dict(zip(numbers, groups[k], strict=True)))
        body, self.caught = self.block(handler.body), outer
        if getattr(handler, "held", None):
            body.insert(0, assign(handler.name.id, load(handler.held, handler), handler))
        this = self.fresh("is_caught")
        others = self.chosen(node, number, groups, k + 1)
        arm = gast.If(test=load(this, handler), body=body, orelse=others)
        op = gast.Eq if len(numbers) == 1 else gast.LtE  # those before are gone
        return [assign(this, self.is_number(number, numbers[-1], handler, op), handler), _at(arm, handler)]

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

    def caught_by(self, handler: gast.ExceptHandler, number: str, kinds: dict[int, ir.Classes]) -> _Caught:
        """Refuses uses of what a member's exception says, of which only the class is known."""
        name = self.name_of(handler)
        if name is not None and _reads_outside(self.tree.body, name):
            self.refuse(
                handler,
                f"`except ... as {name}` where `{name}` is another variable too, which the clause unsets",
                "give one of them another name.",
                kind="except-clause",
            )
        if not hasattr(handler, "held"):
            for part in self.reads(handler, name) if name is not None else ():
                self.refuse_value(part)
        known = _asks_for_class(handler, name) and not hasattr(handler, "unknown")
        return _Caught(name, number, {k: each for k, (each, *_) in kinds.items()} if known else {})

    def reads(self, handler: gast.ExceptHandler, name: str) -> list[gast.Name]:
        """Where a clause reads what its exception holds."""
        raises = [part for s in handler.body for part in walk(s) if isinstance(part, gast.Raise)]
        allowed = {id(part) for node in raises for part in (node.exc, node.cause)}
        calls = [part for s in handler.body for part in walk(s) if isinstance(part, gast.Call)]
        allowed |= {id(call.args[0]) for call in calls if self.static_value(call.func) is isinstance and call.args}
        parts = (part for s in handler.body for part in walk(s) if isinstance(part, gast.Name) and part.id == name)
        return [part for part in parts if id(part) not in allowed]

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


def _asks_for_class(handler: gast.ExceptHandler, name: str | None) -> bool:
    """Whether a clause raises again what it caught, or asks for its class."""
    for part in (part for statement in handler.body for part in walk(statement)):
        if isinstance(part, gast.Raise) and (part.exc is None or (name and getattr(part.exc, "id", None) == name)):
            return True
        if name and isinstance(part, gast.Call) and part.args and getattr(part.args[0], "id", None) == name:
            return True
    return False


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
        if (name in names(node)) if whole else _reads_outside(children(node), name):
            return True
    return False


def _at(node: gast.AST, at: gast.AST) -> gast.AST:
    return gast.copy_location(node, at)


def _jumps_replaced(body: Statements, left: Callable[[gast.AST], Statements], inside: bool = False) -> Statements:
    """The statements with what leaves them replaced; ``inside`` a loop of theirs, ``break`` does not.

    What runs outside of a ``try`` around has been put before it, and comes after what is put there now.
    """
    result: Statements = []
    for node in body:
        if isinstance(node, gast.Return) or (isinstance(node, gast.Break | gast.Continue) and not inside):
            at = len(result)
            while at and hasattr(result[at - 1], "leaves"):
                at -= 1
            *before, jump = left(node) or [node]
            result = [*result[:at], *before, *result[at:], jump]
        elif hasattr(node, "leaves"):
            result.append(node)
        else:
            result.append(with_blocks(node, lambda block, looped: _jumps_replaced(block, left, inside or looped)))
    return result
