"""Which exceptions a function's statements may raise by ``raise``, in it or in what it calls."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Iterable
from contextlib import suppress
from types import FunctionType
from typing import Any

import gast

from autobatch import context
from autobatch.errors import UnsupportedSyntaxError
from autobatch.frontend.core import Callee
from autobatch.frontend.source import Source, read
from autobatch.frontend.syntax import assigned_names
from autobatch.frontend.trees import walk


class UnknownRaised(Exception):  # noqa: N818 (an answer, not an error)
    """It cannot be known."""


def raised_by(source: Source, statements: Iterable[gast.AST]) -> set[type]:
    """The classes after ``raise``, but for what is raised again; raises UnknownRaised."""
    found = _Raised()
    found.statements(source, statements)
    for cls in context.met():  # any of whose methods Python may call
        found.methods(cls)
    if found.unknown & found.asked:
        raise UnknownRaised
    return found.classes


def _own(source: Source) -> set[str]:
    return {*source.parameters, *assigned_names(source.tree.body)} - {*source.static}


class _Raised:
    def __init__(self) -> None:
        self.classes: set[type] = set()
        self.seen: set[Any] = set()
        self.unknown: set[tuple[FunctionType, str]] = set()  # the parameters that get what is not known
        self.asked: set[tuple[FunctionType, str]] = set()  # those that are called

    def statements(self, source: Source, statements: Iterable[gast.AST]) -> None:
        inside = {f.name: f for f in walk(source.tree) if isinstance(f, gast.FunctionDef) and f is not source.tree}
        own = _own(source)
        for part in (part for statement in statements for part in walk(statement)):
            match part:
                case gast.Raise(exc=gast.Call(func=kind)) | gast.Raise(exc=kind) if kind is not None:
                    self.raised(source, kind)
                case gast.Call(func=gast.Name(id=name)) if name in inside:
                    if inside[name] not in self.seen:
                        self.seen.add(inside[name])
                        self.statements(source, inside[name].body)
                case gast.Call(func=gast.Name(id=name)) if name in own:
                    if source.function not in self.seen or name in assigned_names(source.tree.body):
                        raise UnknownRaised
                    self.asked.add((source.function, name))
                case gast.Call(func=gast.Name() | gast.Attribute() as function):
                    self.called(source.named(function), part, source)

    def raised(self, source: Source, kind: gast.AST) -> None:
        handlers = (node for node in walk(source.tree) if isinstance(node, gast.ExceptHandler))
        names = {handler.name.id for handler in handlers if handler.name is not None}
        if isinstance(kind, gast.Name) and kind.id in names:
            return  # again
        value = source.named(kind)
        value = type(value) if isinstance(value, BaseException) else value
        if not (isinstance(value, type) and issubclass(value, BaseException)):
            raise UnknownRaised
        self.classes.add(value)

    def called(self, value: Any, call: gast.Call | None = None, caller: Source | None = None) -> None:
        if isinstance(value, Callee):  # a function that is given to this one
            if value.source is not None:
                if value.source.tree not in self.seen:
                    self.seen.add(value.source.tree)
                    self.statements(value.source, value.source.tree.body)
                return
            value = value.function
        while isinstance(value, functools.partial):
            value = value.func
        value = inspect.unwrap(value) if callable(value) else None
        value = getattr(value, "__func__", value)
        if isinstance(value, type):
            self.methods(value)
        elif not isinstance(value, FunctionType):
            value = getattr(type(value), "__call__", None)  # noqa: B004 (an object that may be called)
        if not isinstance(value, FunctionType) or not context.is_users(value.__code__):
            return
        self.given(value, call, caller)
        if value in self.seen:
            return
        self.seen.add(value)
        try:
            source = read(value, {})
        except UnsupportedSyntaxError:  # a lambda, which raises by what it calls
            for name in value.__code__.co_names:
                self.called(value.__globals__.get(name))
            return
        self.statements(source, source.tree.body)

    def given(self, function: FunctionType, call: gast.Call | None, caller: Source | None) -> None:
        """Notes what the function's parameters get: lambdas and known functions raise what can be seen."""
        signature, arguments = inspect.signature(function), {}
        if call is not None:
            with suppress(TypeError):
                arguments = signature.bind(*call.args, **{k.arg: k.value for k in call.keywords}).arguments
        for name, parameter in signature.parameters.items():
            argument = arguments.get(name, parameter.default)
            value = argument
            if caller is not None and isinstance(argument, gast.Name) and argument.id not in _own(caller):
                value = caller.named(argument)
            if isinstance(value, FunctionType):
                self.called(value)
            elif not isinstance(argument, gast.Lambda):  # the lines of which are among those that are looked at
                self.unknown.add((function, name))

    def methods(self, cls: type) -> None:
        for each in cls.__mro__:
            for value in vars(each).values():
                for method in (value, *(getattr(value, name, None) for name in ("fget", "fset", "__func__"))):
                    if isinstance(method, FunctionType):
                        self.called(method)
