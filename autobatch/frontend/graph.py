"""From core Python to the local language: blocks in source order, primitives compiled."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import gast

from autobatch import errors, ir
from autobatch.context import as_lowered_now
from autobatch.frontend.core import Core, Helper, Target
from autobatch.frontend.list_methods import CHANGES
from autobatch.frontend.source import SUPPORT, compile_functions, function_definition, unparse
from autobatch.frontend.syntax import Statements, load, names, renamed, support
from autobatch.frontend.trees import copy_of, walk
from autobatch.language import operators
from autobatch.language.lists import from_outside, is_list

_PLACES = {"setitem": "place", "append": "place_of_append"}  # of what writes one place


@dataclass
class _Draft:
    """A block under construction; its terminator's targets are drafts, numbered at the end."""

    ops: list[ir.LocalOp] = field(default_factory=list)
    end: tuple = ()
    handlers: tuple[_Handler, ...] = ()


@dataclass(frozen=True)
class _Handler:
    """As ``ir.Handler``."""

    number: str
    block: _Draft
    clauses: tuple[ir.Classes, ...]


@dataclass(frozen=True)
class _Loop:
    head: _Draft
    exit: _Draft


def build(core: Core, function_names: dict[str, str], name: str) -> ir.Function:
    """The control-flow graph of one function.

    Args:
      core: the desugared function.
      function_names: the program's name for each autobatched function that ``core.calls`` mentions.
      name: the program's name for this function.
    """
    return _Builder(core, function_names).run(name)


class _Builder:
    def __init__(self, core: Core, function_names: dict[str, str]):
        self.core, self.source, self.function_names = core, core.source, function_names
        self.expressions = _compile_primitives(core)
        self.blocks: list[_Draft] = []
        self.handlers: tuple[_Handler, ...] = ()  # from the innermost outwards
        self.locals = set(self.source.parameters) | set(names(core.tree.body, gast.Store))

    def run(self, name: str) -> ir.Function:
        self.current = self.place(_Draft())
        self.statements(self.core.tree.body, None)
        self.exit_if_open()
        number = {id(block): i for i, block in enumerate(self.blocks)}
        blocks = tuple(
            ir.Block(
                tuple(b.ops),
                _terminator(b.end, number),
                tuple(ir.Handler(h.number, number[id(h.block)], h.clauses) for h in b.handlers),
            )
            for b in self.blocks
        )
        return ir.Function(name, self.source.parameters, blocks, (self.core.result,), self.source.definition_location)

    def exit_if_open(self) -> None:
        if not self.current.end:
            self.current.end = (ir.Return,)

    def place(self, block: _Draft) -> _Draft:
        """Puts the block next in program order, which is the order of the source."""
        block.handlers = self.handlers
        self.blocks.append(block)
        self.current = block
        return block

    def goto(self, target: _Draft) -> None:
        if not self.current.end:
            self.current.end = (ir.Jump, target)

    def statements(self, body: Statements, loop: _Loop | None) -> None:
        for statement in body:
            assert not self.current.end, "desugaring drops what cannot run"
            self.statement(statement, loop)

    def statement(self, node: gast.AST, loop: _Loop | None) -> None:
        match node:
            case gast.Assign(targets=[gast.Name() as target], value=gast.Call(func=gast.Name(id=alias))) if (
                alias in self.core.calls
            ):
                self.current.ops.append(self.call(target, node.value, self.core.calls[alias], alias))
            case gast.If():
                self.branch(node, loop)
            case gast.While():
                inner = _Loop(_Draft(), _Draft())
                self.goto(inner.head)
                self.place(inner.head)
                self.statements(node.body, inner)
                self.goto(inner.head)
                self.place(inner.exit)
            case gast.Break() | gast.Continue():
                assert loop is not None
                self.goto(loop.exit if isinstance(node, gast.Break) else loop.head)
            case gast.Return():
                self.current.end = self.current.end or (ir.Return,)
            case gast.Raise(exc=None):
                self.current.end = (ir.Raise,)
            case gast.Raise(exc=gast.Name(id=number)):
                self.raise_further(number, node)
            case gast.Try(handlers=[]):
                self.outside(node, loop)
            case gast.Try():
                self.attempt(node, loop)
            case _:
                inputs, outputs = _variables(node, self.locals, self.core.helpers)
                location = self.source.location(node)
                self.current.ops.append(ir.Primitive(outputs, self.expressions[id(node)], inputs, location))

    def branch(self, node: gast.If, loop: _Loop | None) -> None:
        yes, no, after = _Draft(), _Draft(), _Draft()
        test, arms = node.test, (yes, no)
        if isinstance(test, gast.UnaryOp):
            test, arms = test.operand, (no, yes)
        self.current.end = (ir.Branch, test.id, *arms, self.source.location(node))
        for arm, body in ((yes, node.body), (no, node.orelse)):
            self.place(arm)
            self.statements(body, loop)
            self.goto(after)
        self.place(after)

    def attempt(self, node: gast.Try, loop: _Loop | None) -> None:
        handler, orelse, after = _Draft(), _Draft(), _Draft()
        (caught,) = node.handlers
        outer = self.handlers
        self.within((_Handler(caught.name.id, handler, self.core.clauses[caught.name.id]), *outer))
        self.statements(node.body, loop)
        self.goto(orelse)
        self.handlers = outer
        for block, body in ((orelse, node.orelse), (handler, caught.body)):
            self.place(block)
            self.statements(body, loop)
            self.goto(after)
        self.place(after)

    def within(self, handlers: tuple[_Handler, ...]) -> None:
        """Has what follows run in a block of its own, with these handlers."""
        self.handlers = handlers
        block = _Draft()
        self.goto(block)
        self.place(block)

    def outside(self, node: gast.Try, loop: _Loop | None) -> None:
        inner = self.handlers
        (at,) = (k for k, handler in enumerate(inner) if handler.number == node.leaves)
        self.within(inner[at + 1 :])
        self.statements(node.finalbody, loop)
        if self.current.end:
            self.handlers = inner
        else:
            self.within(inner)

    def raise_further(self, number: str, node: gast.Raise) -> None:
        """Hands on what was raised, behind the clauses of this number's handler, which do not catch it."""
        outer = self.handlers[0].number if self.handlers else number
        count = len(self.core.clauses[number])
        further = ir.Expression(f"«0» - {count}", lambda number: number - count)
        self.current.ops.append(ir.Primitive((outer,), further, (number,), self.source.location(node)))
        self.current.end = (ir.Jump, self.handlers[0].block) if self.handlers else (ir.Raise, number)

    def call(self, target: gast.Name, node: gast.Call, callee: Target, alias: str) -> ir.LocalOp:
        inputs = tuple(argument.id for argument in node.args)
        location = self.source.location(node)
        if callee.callee.kind == "autobatched":
            return ir.Call((target.id,), self.function_names[alias], inputs, location)
        arguments = ", ".join(f"«{k}»" for k in range(len(inputs)))
        text = f"{callee.callee.function.__name__}({arguments})"
        batched = ir.Expression(text, callee.callee.function, "batch", size=callee.callee.size)
        return ir.Primitive((target.id,), batched, inputs, location)


def _terminator(end: tuple, number: dict[int, int]) -> ir.Terminator:
    kind, *arguments = end or (ir.Return,)
    return kind(*(number[id(a)] if isinstance(a, _Draft) else a for a in arguments))


def _variables(
    node: gast.AST, local: set[str], helpers: Mapping[str, Helper]
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The local variables that a primitive statement reads and assigns."""
    reads = _captured([name for name in names(node) if name in local or name in helpers], helpers)
    outputs = names(node, gast.Store)
    if isinstance(node, gast.AugAssign):
        reads = [*outputs, *(r for r in reads if r not in outputs)]
    return tuple(reads), tuple(outputs)


def _captured(reads: Iterable[str], helpers: Mapping[str, Helper]) -> list[str]:
    """The names with each helper replaced by what it uses."""
    found: dict[str, None] = {}
    for name in reads:
        found |= dict.fromkeys(_captured(helpers[name].captured, helpers) if name in helpers else [name])
    return list(found)


def _definitions(reads: Iterable[str], helpers: Mapping[str, Helper]) -> dict[str, gast.AST]:
    """The definitions of the helpers among the names, each after those that it uses itself."""
    found: dict[str, gast.AST] = {}
    for name in reads:
        if name in helpers:
            found |= {**_definitions(helpers[name].captured, helpers), name: helpers[name].definition}
    return found


def _primitive_statements(body: Statements, core: Core) -> Statements:
    found = []
    for node in body:
        if isinstance(node, gast.If | gast.While):
            found += _primitive_statements([*node.body, *node.orelse], core)
        elif isinstance(node, gast.Try):
            handled = [statement for handler in node.handlers for statement in handler.body]
            found += _primitive_statements([*node.body, *handled, *node.orelse, *node.finalbody], core)
        elif isinstance(node, gast.Assign | gast.AugAssign | gast.Expr) and not _is_call(node, core):
            found.append(node)
    return found


def _is_call(node: gast.AST, core: Core) -> bool:
    return (
        isinstance(node, gast.Assign)
        and isinstance(node.value, gast.Call)
        and isinstance(node.value.func, gast.Name)
        and node.value.func.id in core.calls
    )


def _compile_primitives(core: Core) -> dict[int, ir.Expression]:
    """Each primitive statement as an Expression, all compiled in the scope of the user's function."""
    source = core.source
    local = set(source.parameters) | set(names(core.tree.body, gast.Store))
    statements = _primitive_statements(core.tree.body, core)
    definitions = []
    for k, node in enumerate(statements):
        inputs, outputs = _variables(node, local, core.helpers)
        results = [load(name, node) for name in outputs]
        value = results[0] if len(results) == 1 else gast.copy_location(gast.Tuple(elts=results, ctx=gast.Load()), node)
        body = [
            *_definitions(names(node), core.helpers).values(),
            node,
            gast.copy_location(gast.Return(value=value), node),
        ]
        definitions.append(function_definition(f"ab__primitive_{k}", inputs, body))
        if _changes(node, _PLACES):
            place = support(_PLACES[node.value.func.attr], node.value.args, node)
            place = gast.copy_location(gast.Return(value=place), node)
            definitions.append(function_definition(f"ab__place_{k}", inputs, [*body[:-2], place]))
    functions = {f.__name__: f for f in compile_functions(source, definitions)}
    return {
        id(node): ir.Expression(
            _template(node, *_variables(node, local, core.helpers)),
            as_lowered_now(_primitive(node, _variables(node, local, core.helpers)[0], functions[f"ab__primitive_{k}"])),
            changes=_depth(node.value) if _changes(node) else 0,
            place=functions.get(f"ab__place_{k}"),
            augments=isinstance(node, gast.AugAssign),
        )
        for k, node in enumerate(statements)
    }


def _changes(node: gast.AST, operators: Collection[str] = CHANGES) -> bool:
    """``x = operator(x, ...)``, or ``x, y = operator(x, ...)``"""
    match node:
        case gast.Assign(
            targets=[gast.Name(id=target) | gast.Tuple(elts=[gast.Name(id=target), *_])],
            value=gast.Call(
                func=gast.Attribute(value=gast.Name(id=module), attr=operator), args=[gast.Name(id=name), *_]
            ),
        ):
            return module == SUPPORT and target == name and operator in operators
        case _:
            return False


def _primitive(node: gast.AST, inputs: tuple[str, ...], function: Callable) -> Callable:
    """What runs the statement; ``xs += ys`` changes a list in place, which only Python can do."""
    if not inputs:
        return partial(from_outside, function)
    if not isinstance(node, gast.AugAssign):
        return function

    def augmented(target: Any, *others: Any) -> Any:
        result = function(target, *others)
        if is_list(target) and result is not target:
            raise errors.TypeMismatchError(
                "A list whose length differs between members is changed in place by an operator.",
                help="xs.extend(ys) for xs += ys; or make another list: xs = xs + ys, xs = xs * n.",
                kind="list-augmented",
            )
        return result

    return augmented


def _depth(node: gast.AST) -> int:
    """How deep an operator changes its first argument: itself (1), an item (2), an item's item..."""
    match node:
        case gast.Call(func=gast.Attribute(value=gast.Name(id=module), attr=operator)) if module == SUPPORT:
            deeper = _depth(node.args[-1]) if operator in ("setitem", "setattr_") else operator == "pop_inside"
            return (operator in CHANGES) + deeper
        case _:
            return 0


def _template(node: gast.AST, inputs: tuple[str, ...], outputs: tuple[str, ...]) -> str:
    """The text of the computation, with the inputs as «0», «1», ..."""
    if isinstance(node, gast.AugAssign):
        target = load(outputs[0], node)
        expression: gast.AST = gast.copy_location(gast.BinOp(left=target, op=node.op, right=node.value), node)
    else:
        expression = _Plain().visit(copy_of(node.value))
    called = [part.func for part in walk(expression) if isinstance(part, gast.Call)]
    users = {function.id for function in called if isinstance(function, gast.Name)}
    own = {name: f"user_{name}" for name in users if hasattr(operators, name)}  # those stand without a prefix
    shown = own | {name: f"«{k}»" for k, name in enumerate(inputs)}
    return unparse(renamed(expression, shown)).replace("ab__.", "")


class _Plain(gast.NodeTransformer):
    """``x[i] + y`` for what ``x[i] += y`` has become, as it is shown."""

    def visit_Call(self, node: gast.Call) -> gast.AST:
        self.generic_visit(node)
        match node:
            case gast.Call(func=gast.Attribute(value=gast.Name(id=module), attr="in_place")) if module == SUPPORT:
                return node.args[1]
        return node
