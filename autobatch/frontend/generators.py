"""A loop over a generator becomes what the generator does, with the loop's body where it yields.

    for x in numbers(n):         n_2 = n
        body                     while n_2 > 0:              the generator's own statements, its names made new
                                     x = n_2; body           for ``yield n_2``
                                     n_2 //= 2

Where an expression takes in a generator, see consumers.py.  ``itertools`` has generators too (iterators.py).
"""

from __future__ import annotations

import builtins
import inspect
import itertools
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any, NoReturn

import gast

from autobatch.frontend.effects import Effects
from autobatch.frontend.iterators import ENDLESS, text_of, text_of_choices
from autobatch.frontend.refusals import refusal
from autobatch.frontend.source import Source, read, signature
from autobatch.frontend.syntax import (
    COMPREHENSIONS,
    Namer,
    Statements,
    assign,
    assigned_names,
    constant,
    if_,
    load,
    names,
    negated,
    own_jumps,
    own_jumps_replaced,
    parameter_names,
    renamed,
    while_true,
)
from autobatch.frontend.trees import children, walk

_YIELDS = (gast.Yield, gast.YieldFrom)


@dataclass(frozen=True)
class _Generator:
    """A generator function.

    Attributes:
      tree: its definition.
      fixed: the values of names that mean something else where it is called, and of its defaults.
      here: whether its lines are of the file of the function that calls it.
      ours: whether it is of iterators.py.
      scope: where its names resolve, if that is not where it is called.
    """

    tree: gast.FunctionDef
    fixed: Mapping[str, Any]
    here: bool
    ours: bool = False
    scope: Source | None = None


class Generators(gast.NodeTransformer):
    def __init__(self, source: Source):
        self.source, self.namer = source, Namer(source.tree)
        self.locals = {*source.parameters, *assigned_names(source.tree.body)}
        self.effects = Effects(source)
        self.functions = self.effects.functions
        self.nested = {name: node for name, node in self.functions.items() if _is_generator(node)}
        self.static: dict[str, Any] = {}
        self.within: tuple[str, ...] = ()  # the generators that are being written out
        self.found = 0
        self.before: Statements = []  # what comes before the statement that is looked at

    def refuse(self, node: gast.AST, what: str, instead: str, *, kind: str) -> NoReturn:
        raise refusal(self.source.location(node), what, instead, kind)

    def refuse_change(self, call: gast.AST, where: str, instead: str) -> NoReturn:
        self.refuse(call, f"a generator that changes something, {where}", instead, kind="generator-that-changes")

    # --- which generator a call is of ---------------------------------------------------------------

    def value(self, node: gast.AST) -> Any:
        match node:
            case gast.Name(id=name) if name in self.static:
                return self.static[name]
            case gast.Name(id=name) if name not in self.locals:
                return self.source.lookup(name, None)
            case gast.Attribute(value=inner, attr=attribute):
                return getattr(self.value(inner), attribute, None)
        return None

    def generator(self, node: gast.AST) -> _Generator | None:
        if not isinstance(node, gast.Call) or any(isinstance(a, gast.Starred) for a in node.args):
            return None
        if isinstance(node.func, gast.Name) and node.func.id in self.nested:
            return _Generator(self.nested[node.func.id], {}, True)
        function, known = self.value(node.func), not set(names(node)) & self.locals
        if inspect.isgeneratorfunction(function):
            own = read(function, {})
            return None if known and not is_endless(own.tree) else self.of_function(own)  # Python runs it
        of_generator = any(map(self.generator, node.args))
        if (known or function is builtins.enumerate) and not of_generator and not any(function is f for f in ENDLESS):
            return None
        text = text_of(function, len(node.args))
        if len(node.args) == 2 and isinstance(node.args[1], gast.Constant):
            text = text_of_choices(function, node.args[1].value) or text
        return _Generator(gast.parse(text).body[0], {}, False, True) if text and not node.keywords else None

    def of_function(self, own: Source) -> _Generator:
        """A generator of a module; its names are bound to what they mean there if that is something else here."""
        bound = {*parameter_names(own.tree.args), *assigned_names(own.tree.body)}
        free = [name for name in names(own.tree.body) if name not in bound and not hasattr(builtins, name)]
        same = own.function.__globals__ is self.source.function.__globals__
        cells = own.cells()
        fixed = {n: own.lookup(n, None) for n in free if n in self.locals or n in cells or not same}
        parameters = signature(own.function).parameters.values()
        defaults = {p.name: p.default for p in parameters if p.default is not p.empty}
        return _Generator(own.tree, fixed | defaults, own.file == self.source.file, scope=own)

    # --- statements ---------------------------------------------------------------------------------

    def visit_FunctionDef(self, node: gast.FunctionDef) -> gast.AST:
        if node is self.source.tree:
            node.body = self.block(node.body)
        return node

    def block(self, statements: Statements) -> Statements:
        made: Statements = []
        for statement in statements:
            outer, self.before = self.before, []
            found = self.visit(statement)
            made += [*self.before, *(found if isinstance(found, list) else [found])]
            self.before = outer
        return made

    def visit_For(self, node: gast.For) -> gast.AST | Statements:
        generator = self.generator(node.iter)
        if generator is None:
            return self.generic_visit(node)
        node.body, node.orelse = self.block(node.body), self.block(node.orelse)
        return self.inlined(node, node.iter, generator)

    def changes(self, call: gast.AST) -> bool:
        """Whether this calls a generator that may do more than to make items, or is given a function that does."""
        found = self.generator(call)
        if found is None:
            return False
        effects = self.effects if found.scope is None else Effects(found.scope)
        return effects.function_acts(found.tree) or any(map(self.effects.acts, _arguments(call)))

    # --- a loop over a generator ----------------------------------------------------------------------

    def inlined(self, node: gast.For, call: gast.Call, generator: _Generator) -> Statements:
        name = generator.tree.name
        if name in self.within and not generator.ours:
            self.refuse(
                call, f"`{name}`, a generator that calls itself", "collect what it yields in a list.", kind="yield"
            )
        self.found += 1
        number = self.found
        tree = generator.tree if generator.here else _at(generator.tree, call)
        self.check(tree)
        new = {v: self.namer.fresh(v) for v in (*parameter_names(tree.args), *assigned_names(tree.body))}
        fixed = {v: self.namer.fresh(v) for v in generator.fixed}
        self.static |= {fixed[v]: value for v, value in generator.fixed.items()}
        self.locals |= {*new.values()}
        given = self.given(call, tree, fixed)
        in_place = (v for v, g in given.items() if self.generator(g) or self.is_nested_function(g))
        through = {v: given[v] for v in in_place if v not in assigned_names(tree.body)}  # looped over or called
        made: Statements = []
        for v, value in given.items():
            if v not in through:
                made.append(assign(new[v], value, call))
            elif isinstance(value, gast.Call):  # its arguments are evaluated now, though it begins later
                value.args = [self.kept(argument, made) for argument in value.args]
                for keyword in value.keywords:
                    keyword.value = self.kept(keyword.value, made)
        body = [_Renamed({**fixed, **new}, through).visit(renamed(statement, {})) for statement in tree.body]
        _number(body, number)
        flags = {kind: self.namer.fresh(kind) for kind in ("left", "ended")}
        self.locals |= {*flags.values()}
        written = _Written(node, flags["left"], flags["ended"])
        body = written.block(body, looped=False)
        left = written.used & {flags["left"]}
        made += [assign(flag, constant(False, node), node) for flag in sorted(written.used)]
        self.within = (*self.within, name)
        body = self.block(body)
        self.within = self.within[:-1]
        made.append(while_true([*body, gast.copy_location(gast.Break(), node)], node))
        if node.orelse and left:
            (flag,) = left
            made.append(if_(negated(load(flag, node)), node.orelse, node))
        else:
            made += node.orelse
        return made

    def kept(self, argument: gast.AST, made: Statements) -> gast.AST:
        """The argument under a name; one that is looped over, or called, as it is."""
        if isinstance(argument, gast.Constant | gast.Name | gast.Lambda) or self.generator(argument):
            return argument
        name = self.namer.fresh("given")
        self.locals.add(name)
        made.append(assign(name, argument, argument))
        return load(name, argument)

    def is_nested_function(self, node: gast.AST) -> bool:
        return isinstance(node, gast.Name) and node.id in self.functions

    def check(self, tree: gast.FunctionDef) -> None:
        statements = [n.value for n in walk(tree) if isinstance(n, gast.Expr)]
        for part in walk(tree):
            if isinstance(part, _YIELDS) and not any(part is value for value in statements):
                self.refuse(part, "a `yield` whose value is used", "make it a statement of its own.", kind="yield")
            if isinstance(part, gast.Try) and any(isinstance(inner, _YIELDS) for inner in walk(part)):
                self.refuse(part, "`yield` inside `try`", "yield after it.", kind="yield")
            if isinstance(part, gast.FunctionDef) and part is not tree:
                self.refuse(part, "a function inside a generator", "define it outside.", kind="yield")
        if tree.args.vararg or tree.args.kwarg:
            self.refuse(
                tree, "a generator with `*` or `**` parameters", "name every parameter.", kind="star-parameters"
            )

    def given(self, call: gast.Call, tree: gast.FunctionDef, fixed: Mapping[str, str]) -> dict[str, gast.AST]:
        """The arguments by the parameters' names, in the call's order; a default that is ``fixed`` has that name."""
        arguments = tree.args
        positional = [a.id for a in (*arguments.posonlyargs, *arguments.args)]
        given = dict(zip(positional, call.args, strict=False))
        given |= {k.arg: k.value for k in call.keywords if k.arg is not None}
        defaults = dict(zip(reversed(positional), reversed(arguments.defaults), strict=False))
        keyword_only = [a.id for a in arguments.kwonlyargs]
        defaults |= {k: d for k, d in zip(keyword_only, arguments.kw_defaults, strict=True) if d is not None}
        wanted = [*positional, *keyword_only]
        bad = len(call.args) > len(positional) or set(given) - set(wanted) or set(wanted) - set(given) - set(defaults)
        if bad or len(given) < len(call.args) + len(call.keywords):
            self.refuse(
                call, f"this call of `{tree.name}`", "pass the arguments that it takes.", kind="wrong-arguments"
            )
        for name in (name for name in wanted if name not in given):
            if name not in fixed and not isinstance(defaults[name], gast.Constant):
                self.refuse(call, f"the default of `{name}`", "pass the argument.", kind="default-value")
            given[name] = load(fixed[name], call) if name in fixed else defaults[name]
        return given


class _Written:
    """The generator's statements with the loop's body where it yields.

    Args:
      loop: the loop over the generator.
      left: the flag of a ``break`` of its body, which leaves all of the generator's loops.
      ended: the flag of a ``return`` of the generator inside of a loop.
    """

    def __init__(self, loop: gast.For, left: str, ended: str):
        self.loop, self.left, self.ended = loop, left, ended
        self.used: set[str] = set()
        self.yields = itertools.count()

    def block(self, statements: Statements, looped: bool) -> Statements:
        """``looped``: inside of a loop of the generator's."""
        return [made for statement in statements for made in self.statement(statement, looped)]

    def statement(self, node: gast.AST, looped: bool) -> Statements:
        match node:
            case gast.Expr(value=gast.Yield(value=value)):
                return self.body(value if value is not None else constant(None, node), node)
            case gast.Expr(value=gast.YieldFrom(value=value)):
                return self.loop_over(value, node)
            case gast.Return():
                end = gast.copy_location(gast.Break(), node)
                if not looped:
                    return [end]
                self.used.add(self.ended)
                return [assign(self.ended, constant(True, node), node), end]
            case gast.If():
                node.body, node.orelse = self.block(node.body, looped), self.block(node.orelse, looped)
                return [node]
            case gast.For() | gast.While():
                before = set(self.used)
                self.used = set()
                node.body = self.block(node.body, True)
                inside, self.used = self.used, before | self.used
                node.orelse = self.block(node.orelse, looped)
                return [node, *(_leave(flag, node) for flag in sorted(inside))]
        return [node]

    def body(self, value: gast.AST, at: gast.AST) -> Statements:
        k = next(self.yields)
        body = [renamed(statement, {}) for statement in self.loop.body]
        for part in (part for statement in body for part in walk(statement)):
            if isinstance(part, (gast.For, *COMPREHENSIONS)):
                part.path = (*getattr(part, "path", ()), k)
        target = renamed(self.loop.target, {})
        taken = gast.copy_location(gast.Assign(targets=[target], value=value, type_comment=None), at)
        breaks, continues = (own_jumps(self.loop.body, kind) for kind in (gast.Break, gast.Continue))
        if breaks:
            self.used.add(self.left)
            flag = assign(self.left, constant(True, at), at)
            body = own_jumps_replaced(body, gast.Break, [flag, gast.Break()])
        if not continues:
            return [taken, *body]
        body = own_jumps_replaced(body, gast.Continue, [gast.Break()])
        once = while_true([*body, gast.copy_location(gast.Break(), at)], at)
        return [taken, once, *([_leave(self.left, at)] if breaks else [])]

    def loop_over(self, iterable: gast.AST, at: gast.AST) -> Statements:
        """``yield from``."""
        breaks = own_jumps(self.loop.body, gast.Break)
        target = renamed(self.loop.target, {})
        body = self.body(constant(None, at), at)[1:]
        loop = gast.For(target=target, iter=iterable, body=body, orelse=[], type_comment=None)
        return [gast.copy_location(loop, at), *([_leave(self.left, at)] if breaks else [])]


def _leave(flag: str, at: gast.AST) -> gast.AST:
    return if_(load(flag, at), [gast.copy_location(gast.Break(), at)], at)


class _Renamed(gast.NodeTransformer):
    """Gives a generator's variables new names; ``through``: the parameters in place of which generators are called."""

    def __init__(self, new: Mapping[str, str], through: Mapping[str, gast.AST]):
        self.new, self.through = new, through

    def visit_Name(self, node: gast.Name) -> gast.AST:
        if node.id in self.through:
            return self.through[node.id]
        node.id = self.new.get(node.id, node.id)
        return node


def without_unused(tree: gast.FunctionDef, unused: Collection[str]) -> gast.FunctionDef:
    """The function without the generators of these names."""
    return _Without(unused).visit(tree)


class _Without(gast.NodeTransformer):
    def __init__(self, functions: Collection[str]):
        self.functions = functions

    def visit_FunctionDef(self, node: gast.FunctionDef) -> gast.AST | None:
        return None if node.name in self.functions and _is_generator(node) else self.generic_visit(node)


def _arguments(call: gast.Call) -> list[gast.AST]:
    return [*call.args, *(keyword.value for keyword in call.keywords)]


def _is_generator(node: gast.FunctionDef) -> bool:
    pending: list[gast.AST] = list(node.body)
    while pending:
        part = pending.pop()
        if isinstance(part, _YIELDS):
            return True
        if not isinstance(part, gast.FunctionDef | gast.Lambda):
            pending += children(part)
    return False


def is_endless(node: gast.FunctionDef) -> bool:
    loops = (part for part in walk(node) if isinstance(part, gast.While))
    return any(isinstance(loop.test, gast.Constant) and loop.test.value for loop in loops)


def ends(node: gast.FunctionDef) -> bool:
    return any(isinstance(part, gast.Return | gast.Break | gast.Raise) for part in walk(node))


def _at(tree: Any, at: gast.AST) -> Any:
    """The tree, all of it where another stands."""
    for part in walk(tree):
        gast.copy_location(part, at)
    return tree


def _number(body: Statements, number: int) -> None:
    """Tells the loops of one use of a generator from each other, and from those of another."""
    loops = (part for statement in body for part in walk(statement) if isinstance(part, (gast.For, *COMPREHENSIONS)))
    for k, loop in enumerate(loops):
        loop.path = (*getattr(loop, "path", ()), f"generator {number} loop {k}")
