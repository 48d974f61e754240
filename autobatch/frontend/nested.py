"""From the user's Python to core Python: functions defined inside a function, and local names for known objects.

A nested function that is decorated, that is given to a function, or that is only ever called and branches, loops or
changes what it gets, becomes an autobatched function of its own: what it captures becomes further parameters, and
each call hands over the values of that moment, which are those that Python's closure would see. Any other nested
function or lambda with a name is straight-line code: its definition is put into each primitive that uses it.
"""

from __future__ import annotations

import functools
from typing import Any

import gast

from autobatch import errors
from autobatch.frontend import fence
from autobatch.frontend.core import Callee, Helper
from autobatch.frontend.list_methods import CHANGES, METHODS, POPS
from autobatch.frontend.scope import UNKNOWN
from autobatch.frontend.sorting import Sorting
from autobatch.frontend.source import SUPPORT, Source, compile_functions, definition_of
from autobatch.frontend.starred import without_stars
from autobatch.frontend.syntax import (
    COMPREHENSIONS,
    assign,
    bound_names,
    late_names,
    names,
    parameter_names,
    renamed,
    root_of,
)
from autobatch.frontend.trees import copy_of, walk
from autobatch.language.values import is_tensor

_CONTROL_FLOW = (
    gast.If, gast.While, gast.For, gast.IfExp, gast.BoolOp, gast.Not, gast.Assert, gast.Try, gast.In, gast.NotIn,
)  # fmt: skip


class Nested(Sorting):
    comprehensions_apart = False  # whether nested functions with comprehensions are functions of the program

    def do_FunctionDef(self, node: gast.FunctionDef) -> None:
        if self.assignments[node.name] > 1:
            self.refuse(
                node,
                f"a second meaning of `{node.name}`, which is a nested function",
                "give one another name.",
                kind="nested-function-redefined",
            )
        self.check_order(node)
        decorators = [self.decorator(d) for d in node.decorator_list if not self.is_cache(d)]
        static = () if not decorators and self.is_lifted(node) else decorators[0] if len(decorators) == 1 else None
        if static is not None:
            self.lift(node, static)
        else:
            self.help(node.name, node)

    def named_lambda(self, node: gast.Assign) -> None:
        """``f = lambda x: ...``"""
        definition = definition_of(node, node.targets[0].id)
        if self.is_lifted(definition):
            self.lift(definition, static=())
        else:
            self.help(definition.name, node)

    def is_cache(self, decorator: gast.AST) -> bool:
        """Whether this is ``functools.cache`` or ``lru_cache``, of which a batch has no use."""
        made = decorator.func if isinstance(decorator, gast.Call) else decorator
        return self.static_value(made) in (functools.cache, functools.lru_cache)

    def decorator(self, node: gast.AST) -> tuple[str, ...] | None:
        """The static arguments' names, if this is the decorator ``autobatch``."""
        call = isinstance(node, gast.Call)
        if not getattr(self.static_value(node.func if call else node), "__autobatch_decorator__", False):
            return None
        options = {k.arg: self.static_value(k.value) for k in node.keywords} if call else {}
        static = options.get("static_argnames", ())
        return (static,) if isinstance(static, str) else tuple(static)

    def is_lifted(self, node: gast.FunctionDef) -> bool:
        around = [*self.rest, node]
        called = {id(n.func) for s in around for n in walk(s) if isinstance(n, gast.Call)}
        if not all(id(use) in called for s in around for use in _uses(node.name, s)):
            return False
        return self.is_program(node)

    def is_program(self, node: gast.FunctionDef) -> bool:
        """Whether a nested function branches, loops, changes what it gets, or calls itself or a function that does.

        What a decorator makes of it is another function, which is Python's.
        """
        if not all(map(self.is_cache, node.decorator_list)):
            return False
        own = bound_names(node)

        def is_autobatched(function: gast.AST) -> bool:
            own_name = isinstance(function, gast.Name) and function.id in own
            return not own_name and self.callee(function) is not None

        branches = any(
            self.is_control_flow(part) or (isinstance(part, gast.Call) and is_autobatched(part.func))
            for statement in node.body
            for part in walk(statement)
        )
        branches = branches or _changes_what_is_given(node)
        if not branches and not _uses(node.name, node):
            return False
        try:
            fence.check(Source(self.source.function, without_stars(node), self.source.file))
        except errors.UnsupportedSyntaxError:
            return False  # straight-line code may have anything
        return True

    def is_control_flow(self, node: gast.AST) -> bool:
        return isinstance(node, _CONTROL_FLOW) or (self.comprehensions_apart and isinstance(node, COMPREHENSIONS))

    def check_order(self, node: gast.FunctionDef) -> None:
        """Refuses a definition that does not come before all of its uses on every path."""
        later = sum(len(_uses(node.name, s)) for s in (*self.rest, node))
        if len(_uses(node.name, self.tree)) > later:
            self.refuse(
                node,
                f"a use of the nested function `{node.name}` before its definition or outside its block",
                "define it further up; make functions that call each other outside, with what they need as arguments.",
                kind="nested-function-order",
            )

    # --- straight-line helpers --------------------------------------------------------------------

    def help(self, name: str, definition: gast.AST) -> None:
        """Makes a definition part of the primitives that use the name."""
        function = definition if isinstance(definition, gast.FunctionDef) else definition.value
        arguments = function.args
        for defaults in (arguments.defaults, arguments.kw_defaults):  # Python evaluates them once, now
            for k, default in enumerate(defaults):
                if default is None:
                    continue
                known = self.static_value(default)
                if known is UNKNOWN:
                    defaults[k] = self.temporary(self.expression(default), "default")
                else:
                    self.check_default(default, known)
        for part in walk(function):
            if isinstance(part, gast.Nonlocal | gast.Global):
                self.refuse(
                    part,
                    f"`{type(part).__name__.lower()}`",
                    "return the new value, and assign it outside.",
                    kind="nonlocal-statement",
                )
        captured = [v for v in names(function) if v != name and (v in self.locals or v in self.temporaries)]
        changing = [v for v in late_names(function) if v != name and v in self.changing]
        if changing and not all(self.is_used_at_once(use) for s in self.rest for use in _uses(name, s)):
            self.refuse(
                function,
                f"a function that uses `{changing[0]}`, which is assigned more than once, and is kept",
                "call it where you use it, or use another name for one of the values.",
                kind="kept-closure",
            )
        kept = next((v for scope in _kept_scopes(function) for v in late_names(scope) if v in changing), None)
        if kept is not None:
            self.refuse(
                function,
                f"a function that makes one which uses `{kept}`, which is assigned more than once",
                "pass it as an argument, or use another name for one of the values.",
                kind="kept-closure",
            )
        new = self.namer.fresh(name) if name in self.helpers else name
        original = renamed(copy_of(definition), {name: new})
        self.rename_rest(name, new)
        try:
            body = renamed(self.in_scope(function), {name: new})
        except errors.UnsupportedSyntaxError as error:
            if error.kind != "call-inside-lambda":
                raise
            self.never_values[new] = error
            body = original if isinstance(original, gast.FunctionDef) else original.value
        if isinstance(definition, gast.FunctionDef):
            body.name = new
        statement = body if isinstance(definition, gast.FunctionDef) else assign(new, body, definition)
        self.helpers[new] = Helper(statement, tuple(captured), bool(changing))
        self.definitions[new] = definition_of(original, new)
        self.locals.add(new)

    def check_default(self, node: gast.AST, known: Any) -> None:
        if isinstance(known, list | dict | set):
            self.refuse(
                node,
                f"a {type(known).__name__} as a default, which all calls would share",
                "make it inside the function.",
                kind="shared-default",
            )

    def is_used_at_once(self, use: gast.Name) -> bool:
        calls = [n for s in self.rest for n in walk(s) if isinstance(n, gast.Call)]
        return any(n.func is use or use in n.args or any(k.value is use for k in n.keywords) for n in calls)

    def rename_rest(self, old: str, new: str) -> None:
        """Has the statements that follow in this block use another name."""
        if new != old:
            self.rest = [renamed(statement, {old: new}) for statement in self.rest]

    # --- functions of their own -------------------------------------------------------------------

    def lift(self, node: gast.FunctionDef, static: tuple[str, ...]) -> None:
        callee = self.made(node, static)
        self.lifted[self.name_static(node.name, callee)] = callee

    def callee(self, function: gast.AST) -> Callee | None:
        name = function.id if isinstance(function, gast.Name) else None
        if name in self.definitions and self.is_program(self.definitions[name]):
            return self.closure(name)
        return super().callee(function)

    def closure(self, name: str) -> Callee:
        """A helper as a function of its own."""
        if name not in self.closures:
            self.closures[name] = self.made(self.definitions[name], ())
        return self.closures[name]

    def on_Name(self, node: gast.Name) -> gast.AST:
        if node.id in self.definitions and _changes_what_is_given(self.definitions[node.id]):
            self.refuse(
                node,
                f"the nested function `{node.id}`, which changes what it gets, as a value",
                "call it by its name.",
                kind="nested-function-as-value",
            )
        return super().on_Name(node)

    def function_argument(self, node: gast.AST) -> Callee | None:
        """The nested function or lambda that an argument is, with what it captures; None: it is something else."""
        if isinstance(node, gast.Name) and node.id in self.definitions:
            return self.closure(node.id)
        if isinstance(node, gast.Lambda) and (
            set(late_names(node)) & (self.locals | self.temporaries)
            or self.call_inside(node)
            or any(isinstance(part, gast.IfExp | gast.BoolOp | gast.Not) for part in walk(node.body))
            or (self.comprehensions_apart and any(isinstance(part, COMPREHENSIONS) for part in walk(node.body)))
        ):
            return self.made(definition_of(node, self.namer.fresh("function")), ())
        value = self.static_value(node)
        return value if isinstance(value, Callee) else None

    def made(self, node: gast.FunctionDef, static: tuple[str, ...]) -> Callee:
        used = late_names(node)
        helpers = self.needed_helpers(used)
        callees = [c for c in map(self.lifted.get, used) if c is not None]
        free = [
            *used,
            *(v for h in helpers for v in self.helpers[h].captured),
            *(v for c in callees for v in c.captured),
        ]
        captured = tuple(dict.fromkeys(v for v in free if v in self.locals - set(self.helpers) and v != node.name))
        hidden = [v for c in callees for v in c.captured if v in bound_names(node)]
        if hidden:
            self.refuse(
                node,
                f"`{hidden[0]}` as a name both here and in a nested function called here",
                "rename one.",
                kind="nested-function-name",
            )
        tree = gast.FunctionDef(
            name=node.name, args=_with_captured(node.args, captured), decorator_list=[], returns=None,
            body=[*(self.helpers[h].definition for h in helpers), *node.body], type_comment=None, type_params=[],
        )  # fmt: skip
        tree = gast.copy_location(tree, node)
        (function,) = compile_functions(self.source, [tree])
        function.__defaults__ = tuple(map(self.known_default, node.args.defaults))  # type: ignore[attr-defined]
        keyword_only = zip(node.args.kwonlyargs, node.args.kw_defaults, strict=True)
        function.__kwdefaults__ = {a.id: self.known_default(d) for a, d in keyword_only if d is not None}
        inner = dict(self.source.static)
        source = Source(function, tree, self.source.file, inner)
        callee = Callee("autobatched", function, static, source=source, captured=captured)
        inner[node.name] = callee
        return callee

    def known_default(self, node: gast.AST) -> Any:
        value = self.static_value(node)
        self.check_default(node, value)
        if value is UNKNOWN:
            self.refuse(node, "a default that differs between members", "pass the argument.", kind="default-value")
        return value

    def name_static(self, name: str, value: Any) -> str:
        """Gives a local name to a static value, in the statements that follow."""
        if name in self.source.static:
            new = self.bind(name, value)
            self.rename_rest(name, new)
            return new
        self.set_static(name, value)
        return name

    def needed_helpers(self, used: list[str]) -> list[str]:
        """The helpers that these names need, each after those that it needs itself."""
        found: dict[str, None] = {}
        for name in used:
            if name in self.helpers:
                found |= dict.fromkeys([*self.needed_helpers(list(self.helpers[name].captured)), name])
        return list(found)

    # --- local names for known objects ------------------------------------------------------------

    def is_named_once(self, node: gast.Assign) -> bool:
        """Whether the name has this value wherever it is read."""
        name = node.targets[0].id
        later = sum(len(_uses(name, s)) for s in (*self.rest, node.value))
        return self.assignments[name] == 1 and later == len(_uses(name, self.tree))

    def is_alias(self, node: gast.Assign) -> bool:
        """Whether this gives a local name to an object that is known now: a function, a module, a list of layers."""
        if not isinstance(node.value, gast.Name | gast.Attribute | gast.Subscript | gast.IfExp):
            return False
        value = self.static_value(node.value)
        if value is UNKNOWN or is_tensor(value) or hasattr(value, "__array__"):
            return False
        return not isinstance(value, bool | int | float | complex | str | None) and self.is_named_once(node)

    def without_aliases(self, node: gast.Assign) -> gast.Assign:
        """``f, y = tf.sin, x`` as ``y, = x,``, and ``f`` as the local name that it is."""
        (target, *others), value = node.targets, node.value
        if others or not isinstance(target, gast.Tuple) or not isinstance(value, gast.Tuple):
            return node
        if len(target.elts) != len(value.elts) or not all(isinstance(e, gast.Name) for e in target.elts):
            return node
        pairs = [
            gast.Assign(targets=[t], value=v, type_comment=None) for t, v in zip(target.elts, value.elts, strict=True)
        ]
        left = [pair for pair in pairs if not self.is_alias(pair)]
        for pair in pairs:
            if pair not in left:
                self.alias(pair)
        if len(left) == len(pairs):
            return node
        targets = gast.copy_location(gast.Tuple(elts=[pair.targets[0] for pair in left], ctx=gast.Store()), target)
        values = gast.copy_location(gast.Tuple(elts=[pair.value for pair in left], ctx=gast.Load()), value)
        return gast.copy_location(gast.Assign(targets=[targets], value=values, type_comment=None), node)

    def alias(self, node: gast.Assign) -> None:
        self.name_static(node.targets[0].id, self.static_value(node.value))


def _changes_what_is_given(function: gast.FunctionDef) -> bool:
    """Whether a function may change in place what it has not made itself."""
    parts = [part for statement in function.body for part in walk(statement)]
    roots = {getattr(_root_of_change(part), "id", None) for part in parts}
    if roots - bound_names(function) - {None}:
        return True  # of what it captures; changes of its own variables have become calls
    changed = {call.args[0].id for call in parts if _is_change(call)}
    augmented = {part.target.id for part in parts if isinstance(part, gast.AugAssign) and hasattr(part.target, "id")}
    if any(name.id in augmented for part in parts for name in _kept(part)):
        return True
    changed |= augmented
    found = dict.fromkeys(parameter_names(function.args), False)
    for part in parts:
        if isinstance(part, gast.Assign) and not _is_change(part.value):
            fresh = isinstance(part.value, _MADE_HERE)
            names = [n.id for target in part.targets for n in walk(target) if isinstance(n, gast.Name)]
            found |= {name: fresh and found.get(name, True) for name in names}
    return any(not found.get(name, False) for name in changed)


def _kept(node: gast.AST) -> list[gast.Name]:
    """The variables whose values may get another name or place here."""
    match node:
        case gast.Assign(value=value):
            values = [value]
        case gast.Tuple(elts=values, ctx=gast.Load()) | gast.List(elts=values, ctx=gast.Load()):
            pass
        case gast.Dict(values=values) | gast.Call(args=values):
            pass
        case _:
            return []
    return [value for value in values if isinstance(value, gast.Name)]


def _root_of_change(node: gast.AST) -> gast.AST | None:
    """What it is that an item or an attribute is assigned of, or a method changes."""
    match node:
        case gast.Subscript(ctx=gast.Store() | gast.Del()) | gast.Attribute(ctx=gast.Store()):
            return root_of(node)
        case gast.Call(func=gast.Attribute(value=owner, attr=method)) if method in METHODS or method in POPS:
            return root_of(owner)
    return None


_MADE_HERE = (gast.Call, gast.List, gast.ListComp, gast.Constant, gast.BinOp)  # calls as well: np.zeros(3)


def _is_change(node: gast.AST) -> bool:
    """Whether this is what an item assignment or a list's method has become."""
    match node:
        case gast.Call(func=gast.Attribute(value=gast.Name(id=module), attr=operator), args=[gast.Name(), *_]):
            return module == SUPPORT and operator in CHANGES
    return False


def _kept_scopes(function: gast.AST) -> list[gast.AST]:
    """The functions and generators that a function makes, but for those that are called, or taken in by a builtin."""
    body = function.body if isinstance(function.body, list) else [function.body]
    inner = [part for statement in body for part in walk(statement)]
    calls = [part for part in inner if isinstance(part, gast.Call)]
    at_once = {id(a) for c in calls if getattr(c.func, "id", None) in _AT_ONCE for a in (*c.args, *c.keywords)}
    at_once |= {id(part.value) for part in inner if isinstance(part, gast.keyword) and id(part) in at_once}
    called = {id(call.func) for call in calls}
    values = {p.id for p in inner if isinstance(p, gast.Name) and isinstance(p.ctx, gast.Load) and id(p) not in called}
    made = [part for part in inner if isinstance(part, gast.Lambda | gast.GeneratorExp) and id(part) not in at_once]
    return [*made, *(part for part in inner if isinstance(part, gast.FunctionDef) and part.name in values)]


_AT_ONCE = ("sum", "min", "max", "sorted", "any", "all", "list", "tuple", "set", "dict", "len")


def _with_captured(arguments: gast.arguments, captured: tuple[str, ...]) -> gast.arguments:
    extra = [gast.Name(id=name, ctx=gast.Param(), annotation=None, type_comment=None) for name in captured]
    return gast.arguments(
        args=arguments.args, posonlyargs=arguments.posonlyargs, vararg=arguments.vararg, kwarg=arguments.kwarg,
        kwonlyargs=[*arguments.kwonlyargs, *extra], kw_defaults=[*arguments.kw_defaults, *(None for _ in extra)],
        defaults=arguments.defaults,
    )  # fmt: skip


def _uses(name: str, tree: gast.AST) -> list[gast.Name]:
    loads = (n for n in walk(tree) if isinstance(n, gast.Name) and isinstance(n.ctx, gast.Load))
    return [n for n in loads if n.id == name]
