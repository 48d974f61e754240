"""A dict that functions hand on, or objects hold, and that members fill at keys of their own, becomes an object.

    memo = {}                    memo = Dict([], [])
    return walk(n, memo)         return walk(n, memo)

Its class is autobatched Python.  It has what a memo needs; all else that a dict can do is refused: its views follow it,
and to go through it while it changes is an error.  Where one function alone has the dict, two lists stand for it, which
can do more (dicts.py).
"""

from __future__ import annotations

import builtins
import copyreg
import functools
from collections.abc import Callable
from dataclasses import replace
from types import FunctionType
from typing import Any, NoReturn

import gast

from autobatch import errors
from autobatch.frontend.core import Callee
from autobatch.frontend.source import Source
from autobatch.frontend.syntax import Namer, load
from autobatch.frontend.trees import copy_of
from autobatch.frontend.watch import is_library


class _Kind(type):
    """Of the classes of such dicts: those that one function makes are of one, for keys and values of one type."""


class Dict(metaclass=_Kind):
    """Two lists, of the keys and of the values."""

    __slots__ = ("ab__keys", "ab__values")  # no others can be set
    __autobatch_object__ = dict  # what it stands for: members make objects of it, as of classes of the user's
    __hash__ = None  # type: ignore[assignment]

    def __init__(self, keys, values):
        self.ab__keys, self.ab__values = [*keys], [*values]

    def __len__(self):
        return len(self.ab__keys)

    def __contains__(self, key):
        return key in self.ab__keys

    def __getitem__(self, key):
        if key not in self.ab__keys:
            raise KeyError(key)
        return self.ab__values[self.ab__keys.index(key)]

    def __setitem__(self, key, value):
        if key in self.ab__keys:
            self.ab__values[self.ab__keys.index(key)] = value
        else:
            self.ab__keys.append(key)
            self.ab__values.append(value)

    def get(self, key, default=None):
        return self.ab__values[self.ab__keys.index(key)] if key in self.ab__keys else default


_WRITTEN = {each for each in vars(Dict).values() if isinstance(each, FunctionType)}


def _refused(name: str) -> Callable:
    def method(self: Dict, *_: Any, **__: Any) -> NoReturn:
        raise errors.UnsupportedSyntaxError(
            f"`{name.strip('_')}` of a dict that functions share or objects hold, of keys that differ between members.",
            help="such a dict has `in`, len, d[k], d[k] = v and get; keep two lists, of its keys and of its values.",
            kind="dict-handed-on",
        )

    return method


_REFUSED = {*vars(dict)} - {*vars(Dict), *vars(object)} | {"__eq__", "__ne__", "__repr__", "__str__", "__format__"}
for _name in sorted(_REFUSED - {"__class_getitem__"}):
    setattr(Dict, _name, _refused(_name))


@functools.cache
def _of(maker: str) -> _Kind:
    """The class of what the function of this name makes."""
    return _Kind("Dict", (Dict,), {"maker": maker, "__slots__": ()})


copyreg.pickle(_Kind, lambda kind: (_of, (kind.maker,)))


def as_method(function: Any) -> Callee | None:
    """A method of such a dict's as an autobatched function."""
    is_written = isinstance(function, FunctionType) and function in _WRITTEN
    return Callee("autobatched", function) if is_written else None


def with_dictionaries(source: Source) -> Source:
    """The function with objects in place of the dicts that it makes, which are empty, or have numbers for keys."""
    made = _Displays(source)
    tree = made.visit(copy_of(source.tree))  # the caller keeps its tree
    maker = f"{source.function.__module__}.{source.function.__qualname__}"
    return replace(source, tree=tree, static={**source.static, made.name: _of(maker)})


class _Displays(gast.NodeTransformer):
    def __init__(self, source: Source):
        self.source, self.name = source, Namer(source.tree).fresh("dict")
        self.pythons: set[int] = set()  # the displays that stay

    def visit_Dict(self, node: gast.Dict) -> gast.AST:
        self.generic_visit(node)
        if id(node) in self.pythons:
            return node
        keys = [each.value for each in node.keys if isinstance(each, gast.Constant)]
        numbers = len(keys) == len(node.keys) and all(type(each) is int for each in keys)
        return self.made(node, node.keys, node.values) if numbers and len({*keys}) == len(keys) else node

    def visit_Call(self, node: gast.Call) -> gast.AST:
        function = self.source.named(node.func)
        if function is builtins.dict and not (node.args or node.keywords):
            return self.made(node, [], [])
        if function is not None and is_library(function):  # which wants one of Python's
            self.pythons |= {id(each) for each in node.args}
        return self.generic_visit(node)

    def made(self, at: gast.AST, keys: list[gast.AST], values: list[gast.AST]) -> gast.AST:
        lists = [gast.copy_location(gast.List(elts=[*parts], ctx=gast.Load()), at) for parts in (keys, values)]
        return gast.copy_location(gast.Call(func=load(self.name, at), args=lists, keywords=[]), at)
