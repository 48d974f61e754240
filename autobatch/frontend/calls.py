"""Calls in core Python: of autobatched functions, of builtins that have an operator here, and of print."""

from __future__ import annotations

import builtins
import dis
import enum
import inspect
import random
from collections.abc import Hashable, Mapping
from dataclasses import replace
from types import FunctionType, MappingProxyType
from typing import Any

import gast
import numpy as np
import tensorflow as tf

from autobatch import context, errors
from autobatch.frontend.chosen import ChosenCalls
from autobatch.frontend.core import Callee, Target
from autobatch.frontend.library import written
from autobatch.frontend.scope import UNKNOWN
from autobatch.frontend.source import CLASS, Source, read, signature, unparse
from autobatch.frontend.starred import fitted, with_displays_spread
from autobatch.frontend.syntax import SCOPES, constant, is_support, load, store, support
from autobatch.frontend.texts import escaped
from autobatch.frontend.trees import copy_of, walk
from autobatch.frontend.undecorated import as_program
from autobatch.language.mathematics import STAND_INS
from autobatch.language.numpy import METHODS, is_numpy
from autobatch.language.objects import has_methods, member_class
from autobatch.language.operators import BUILTINS
from autobatch.tracing.objects import makes_objects

_OF_LISTS = {"index": "index", "count": "counted"}  # methods that compare
_GENERATORS = (random.Random, np.random.Generator, np.random.RandomState)


def _is_of_sequence(method: Any) -> bool:
    return method is UNKNOWN or isinstance(getattr(method, "__self__", None), list | tuple)


_ITERATORS = (builtins.reversed, builtins.enumerate, builtins.zip)


def _goes_once_through(function: FunctionType, source: Source | None, parameter: str) -> bool:
    """Whether all that a function does with what it is given is to read it once: a list does as well as an iterator."""
    if function.__name__ == "<lambda>":
        return False
    tree = (source or read(function, {})).tree
    parts = [part for statement in tree.body for part in walk(statement)]
    again = [part for part in parts if isinstance(part, gast.For | gast.While | gast.FunctionDef)]
    inside = {id(part) for each in again for statement in each.body for part in walk(statement)}
    inside |= {id(part) for each in parts if isinstance(each, SCOPES) for part in walk(each)}
    reads = [part for part in parts if isinstance(part, gast.Name) and part.id == parameter]
    return len(reads) == 1 and id(reads[0]) not in inside


def _listed(node: gast.AST) -> gast.AST:
    """A generator expression as the list of what it gives."""
    is_generator = isinstance(node, gast.GeneratorExp)
    return gast.copy_location(gast.ListComp(node.elt, node.generators), node) if is_generator else node


class Calls(ChosenCalls):
    def on_Call(self, node: gast.Call) -> gast.AST:
        callee = self.callee(node.func)
        value = self.static_value(node.func)
        if callee is None and self.has_local(node) and not node.keywords:
            callee = written(value, len(node.args))
            if callee is not None:  # which take what is made for them as a list
                node.args = [_listed(argument) for argument in node.args]
        if callee is None and any(self.is_function(a) for a in (*node.args, *(k.value for k in node.keywords))):
            own = isinstance(node.func, gast.Name) and node.func.id in self.definitions
            callee = self.closure(node.func.id) if own else as_program(value)
            if callee is not None and not own:  # other calls of it may stay as they are
                node = gast.copy_location(gast.Call(self.own_name(value, node.func), node.args, node.keywords), node)
        if callee is not None:
            return self.autobatched_call(node, replace(callee, of=self.class_of_own(node)))
        if options := self.choices_at(node):
            return self.chosen_call(node, options)
        if (method := self.method_call(node)) is not None:
            return method
        if makes_objects(value) and (callee := self.callee_of(value.__init__)) is not None:
            return self.construction(node, replace(callee, of=value))
        if makes_objects(value) and (callee := self.post_init(value)) is not None:
            return self.construction_of_fields(node, replace(callee, of=value))
        self.used_at_once |= {id(argument) for argument in (*node.args, *(k.value for k in node.keywords))}
        if value is builtins.print:
            return self.printed(node)
        if (got := self.got_or_none(node)) is not None:
            return got
        match node.func:
            case gast.Attribute(value=gast.Constant(value=str()), attr="format") if not node.keywords:
                return support("text", [node.func.value, *self.in_order(node.args)], node)
        call = self.children(self.with_iterators_kept(node, value))
        self.use_operator(call)
        owner = self.static_value(node.func.value) if isinstance(node.func, gast.Attribute) else UNKNOWN
        if not (isinstance(owner, type) and makes_objects(owner)):
            return call
        context.meet(owner)  # by a static or class method
        return self.temporary(call, "object")  # for itself, so that it is seen to be new

    def got_or_none(self, node: gast.Call) -> gast.AST | None:
        """``TABLE.get(key)`` as ``TABLE[key] if key in TABLE else None``, if it is of a known dict."""
        match node:
            case gast.Call(func=gast.Attribute(value=table, attr="get"), args=[key], keywords=[]):
                none = constant(None, node)
            case gast.Call(
                func=gast.Attribute(value=table, attr="get"), args=[key, gast.Constant(value=None) as none], keywords=[]
            ):
                pass
            case _:
                return None
        if type(self.static_value(table)) is not dict or not self.has_local(key):
            return None
        own = self.expression(key)
        own = own if self.is_variable(own) else self.temporary(own, "key")
        test = gast.copy_location(gast.Compare(own, [gast.In()], [table]), node)
        item = gast.copy_location(gast.Subscript(copy_of(table), copy_of(own), gast.Load()), node)
        return self.expression(gast.copy_location(gast.IfExp(test, item, none), node))

    def class_of_own(self, node: gast.Call) -> type | None:
        """The class of the object that ``Parent.method(self, ...)`` hands on, where this is a method itself."""
        own, parameters = self.source.static.get(CLASS), self.tree.args.args
        if own is None or not node.args or not isinstance(node.func, gast.Attribute) or not parameters:
            return None
        parent, first = self.static_value(node.func.value), node.args[0]
        handed_on = isinstance(first, gast.Name) and first.id == parameters[0].id
        return own if handed_on and isinstance(parent, type) and issubclass(own, parent) else None

    def printed(self, node: gast.Call) -> gast.AST:
        """``print(...)``: one text, and the values that go into it."""
        options = {"sep": " ", "end": "\n"}
        for keyword in node.keywords:
            value = self.static_value(keyword.value)
            if keyword.arg not in options or not isinstance(value, str):
                self.refuse(
                    node,
                    f"this `{keyword.arg}` of print",
                    "give print values, and constant `sep` and `end`.",
                    kind="print-arguments",
                )
            options[keyword.arg] = value
        if any(isinstance(argument, gast.Starred) for argument in node.args):
            self.refuse(node, "`*` in print", "name the values.", kind="print-arguments")
        values: list[gast.AST] = []
        text = escaped(options["sep"]).join(self.text(argument, values) for argument in node.args)
        text += escaped(options["end"].removesuffix("\n"))
        return support("print_", [constant(text, node), *self.in_order(values)], node)

    def use_operator(self, call: gast.Call) -> None:
        """Has the call of a builtin go to our operator for it, if there is one."""
        value = self.static_value(call.func)
        if isinstance(getattr(value, "__self__", None), _GENERATORS):
            self.refuse(
                call,
                "random numbers of Python or NumPy, which would be drawn once for all members",
                "use ab.random, with a key for each member.",
                kind="python-random",
            )
        if has_methods(value):
            context.meet(value)
        if isinstance(value, enum.EnumMeta):
            call.func = support("member_of", [call.func], call)
        elif makes_objects(value):
            member_class(value)  # so that its methods are known
            call.func = support("member_class", [call.func], call)
        elif isinstance(value, Hashable) and value in BUILTINS:
            call.func = support(BUILTINS[value], [], call).func
        elif isinstance(value, Hashable) and value in STAND_INS:
            call.func = support("stand_in", [call.func], call)
        elif is_numpy(value):
            call.func = support("numpy_", [call.func], call)
        elif isinstance(getattr(value, "registry", None), MappingProxyType):  # of functools.singledispatch
            call.func = support("dispatched", [call.func], call)
        elif isinstance(call.func, gast.Attribute) and call.func.attr in _OF_LISTS and _is_of_sequence(value):
            call.args.insert(0, call.func.value)
            call.func = support(_OF_LISTS[call.func.attr], [], call).func
        elif isinstance(call.func, gast.Attribute) and call.func.attr == "get" and len(call.args) in (1, 2):
            call.func, call.args = support("get", [], call).func, [call.func.value, *call.args]
        elif isinstance(call.func, gast.Attribute) and call.func.attr in METHODS and value is UNKNOWN:
            call.func = support("method", [call.func.value, constant(call.func.attr, call)], call)

    def is_iterator(self, node: Any) -> bool:
        return isinstance(node, gast.Call) and self.static_value(node.func) in _ITERATORS

    def with_iterators_kept(self, node: gast.Call, function: Any) -> gast.Call:
        """A call of a user's function, which may go through what it gets more than once."""
        if is_support(node.func) or not any(map(self.is_iterator, node.args)):
            return node
        if isinstance(function, FunctionType) and context.is_users(function.__code__):
            names = [*signature(function).parameters][: len(node.args)]
            once = len(names) == len(node.args) and all(
                _goes_once_through(function, None, name)
                for name, argument in zip(names, node.args, strict=True)
                if self.is_iterator(argument)
            )
        else:
            once = function is not UNKNOWN or not isinstance(node.func, gast.Name)  # a builtin, or a method
        if not once:
            node.args = [support("kept_iterator", [a], a) if self.is_iterator(a) else a for a in node.args]
        return node

    def kept(self, node: gast.AST) -> gast.AST:
        """A value that gets a name."""
        value = self.expression(node)
        return support("kept_iterator", [value], node) if self.is_iterator(node) else value

    def with_lists(self, node: gast.Call) -> gast.Call:
        """The call with lists in place of iterators over lists."""

        def listed(value: gast.AST) -> gast.AST:
            if not self.is_iterator(value):
                return value
            function = load(self.bind("list", list), value)
            return gast.copy_location(gast.Call(func=function, args=[value], keywords=[]), value)

        keywords = [gast.keyword(arg=each.arg, value=listed(each.value)) for each in node.keywords]
        made = gast.Call(func=node.func, args=[*map(listed, node.args)], keywords=keywords)
        return gast.copy_location(made, node)

    def autobatched_call(self, node: gast.Call, callee: Callee) -> gast.AST:
        node = gast.copy_location(gast.Call(node.func, with_displays_spread(node.args), node.keywords), node)
        node = self.with_variable_spread(node, _call_signature(callee))
        starred = [a for a in node.args if isinstance(a, gast.Starred)] + [k for k in node.keywords if k.arg is None]
        if starred:
            self.refuse(
                node, "* or ** in a call to an autobatched function", "name the arguments.", kind="star-arguments"
            )
        callee, node = fitted(callee, node)
        accepted = _call_signature(callee)
        try:
            bound = accepted.bind(*node.args, **{k.arg: k.value for k in node.keywords})
        except TypeError as error:
            raise errors.UnsupportedSyntaxError(
                f"This call does not fit {callee.function.__name__}{accepted}: {error}.",
                [(self.source.location(node), "")],
                "pass the arguments that the function takes.",
                kind="wrong-arguments",
            ) from error
        lazy = [name for name, value in bound.arguments.items() if self.is_iterator(value)]
        if lazy and all(_goes_once_through(callee.function, callee.source, name) for name in lazy):
            return self.autobatched_call(self.with_lists(node), callee)
        bound.apply_defaults()
        given = {name: value for name, value in bound.arguments.items() if isinstance(value, gast.AST)}
        functions = {name: self.function_argument(value) for name, value in given.items()}
        fixed = {*callee.static, *self.static_by_value(callee, bound.arguments)}
        own = list(signature(callee.function).parameters)
        static, arguments, captured = list(zip(own, callee.receiver, strict=False)), [], [*callee.captured]
        names = {id(value): name for name, value in bound.arguments.items()}
        static += [(CLASS, callee.of)] if callee.of is not None else []
        passed = {}
        for value in (*node.args, *(k.value for k in node.keywords)):  # as Python evaluates them
            name = names[id(value)]
            if functions[name] is not None:
                continue
            if name in fixed:
                passed[name] = self.static_argument(name, value)
            else:
                argument = self.kept(value)
                passed[name] = argument if self.is_variable(argument) else self.temporary(argument, "arg")
        for name, value in bound.arguments.items():
            if functions.get(name) is not None:
                inner = tuple(f"ab__{name}_{k}" for k in range(len(functions[name].captured)))
                static.append((name, replace(functions[name], captured=inner)))
                captured += functions[name].captured
            elif name in fixed:
                static.append((name, passed.get(name, value)))
            elif name in passed:
                arguments.append(passed[name])
            else:  # a default, which Python evaluated when the function was defined
                arguments.append(self.temporary(self.default(callee, name, node), "arg"))
        arguments += [load(name, node) for name in captured]
        target, alias = Target(callee, tuple(static)), unparse(node.func)
        if self.calls.setdefault(alias, target) is not target and self.calls[alias] != target:
            alias = self.fresh(alias.replace(".", "_"))
            self.calls[alias] = target
        call = gast.Call(func=load(alias, node), args=arguments, keywords=[])
        return self.temporary(gast.copy_location(call, node), "call")

    def with_variable_spread(self, node: gast.Call, accepted: inspect.Signature) -> gast.Call:
        """``f(x, *pair)`` of a function without defaults: it takes all of pair, whose length its own says."""
        plain = (p.kind is p.POSITIONAL_OR_KEYWORD and p.default is p.empty for p in accepted.parameters.values())
        count = len(accepted.parameters) - len(node.args) + 1 - len(node.keywords)
        match [k for k, value in enumerate(node.args) if isinstance(value, gast.Starred)]:
            case [at] if isinstance(node.args[at].value, gast.Name) and count > 0 and all(plain):
                others = [*node.args[:at], *node.args[at + 1 :], *(k.value for k in node.keywords)]
                if all(k.arg for k in node.keywords) and not any(map(self.changes_anything, others)):
                    parts = [self.fresh("arg") for _ in range(count)]
                    pair = self.expression(node.args[at].value)
                    targets = gast.Tuple(elts=[store(part, node) for part in parts], ctx=gast.Store())
                    value = support("unpack", [pair, constant(count, node)], node)
                    self.emit(gast.Assign(targets=[targets], value=value, type_comment=None), node)
                    args = [*node.args[:at], *(load(part, node) for part in parts), *node.args[at + 1 :]]
                    return gast.copy_location(gast.Call(node.func, args, node.keywords), node)
        return node

    def static_by_value(self, callee: Callee, given: Mapping[str, Any]) -> list[str]:
        """The parameters that get a known function, or in an undecorated one what is known, but numbers and None."""
        values = {name: self.static_value(v) if isinstance(v, gast.AST) else v for name, v in given.items()}
        numbers = bool | int | float | np.ndarray | np.generic | list | tuple | tf.Tensor | None
        known = {name: v for name, v in values.items() if v is not UNKNOWN and not isinstance(v, numbers)}
        fixed = [name for name, value in known.items() if callable(value)]
        if callee.undecorated and len(fixed) < len(known):
            assigned = {each.argval for each in dis.get_instructions(callee.function) if each.opname == "STORE_FAST"}
            fixed += [name for name in known if name not in fixed and name not in assigned]
        return fixed

    def is_function(self, node: gast.AST) -> bool:
        """Whether this names a nested function that is one of the program's own, or is a lambda that calls one."""
        if isinstance(node, gast.Lambda):
            return self.call_inside(node) is not None
        if not isinstance(node, gast.Name):
            return False
        own = self.definitions.get(node.id)
        return isinstance(self.static_value(node), Callee) or (own is not None and self.is_program(own))

    def default(self, callee: Callee, name: str, at: gast.AST) -> gast.AST:
        value = signature(callee.function).parameters[name].default
        if isinstance(value, enum.Enum):
            return load(self.bind(name, value), at)
        if value is None or isinstance(value, bool | int | float | str | bytes):
            return constant(value, at)
        self.refuse(
            at, f"the default of `{name}`, a {type(value).__name__}", "pass the argument.", kind="default-value"
        )

    def static_argument(self, name: str, node: gast.AST) -> Any:
        value = self.static_value(node)
        if value is UNKNOWN:
            self.refuse(
                node,
                f"a per-member value for the static argument `{name}`",
                "pass a constant or a global.",
                kind="static-argument-of-member",
            )
        return value


def _call_signature(callee: Callee) -> inspect.Signature:
    """What a caller passes: without a method's receiver and the variables that a nested function captures."""
    whole = signature(callee.function)
    parameters = list(whole.parameters.values())
    return whole.replace(parameters=parameters[len(callee.receiver) : len(parameters) - len(callee.captured)])
