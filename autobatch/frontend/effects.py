"""What evaluating something may do that others notice, as far as its text says."""

from __future__ import annotations

import dis
import inspect
import re
from collections.abc import Collection, Iterable
from types import FunctionType, ModuleType
from typing import Any

import gast

from autobatch import context
from autobatch.errors import UnsupportedSyntaxError
from autobatch.frontend.source import SUPPORT, Source, read
from autobatch.frontend.syntax import assigned_names, parameter_names
from autobatch.frontend.trees import walk

# What is not Python's own and stands elsewhere may do anything; what stands here does nothing, but for these few.
_LIBRARIES = (
    "autobatch", "builtins", "itertools", "math", "numpy", "statistics", "tensorflow", "tensorflow_probability",
)  # fmt: skip
_ACTING = (print, next, setattr, delattr, input, exec, eval)


_ACTING_OPCODES = re.compile("STORE_(ATTR|SUBSCR|GLOBAL|DEREF)|DELETE_|RAISE|CALL|PRECALL|YIELD")


def may_act(node: gast.AST) -> bool:
    """Whether evaluating this may do something."""
    return any(isinstance(part, gast.Call | gast.NamedExpr) or runs_method(part) for part in walk(node))


def runs_method(node: gast.AST) -> bool:
    """Whether this attribute, item or ``in`` may run a method of the classes that the program makes objects of."""
    if isinstance(node, gast.Attribute):
        return any(isinstance(inspect.getattr_static(cls, node.attr, None), property) for cls in context.met())
    if isinstance(node, gast.Subscript):
        return any(isinstance(inspect.getattr_static(cls, "__getitem__", None), FunctionType) for cls in context.met())
    if isinstance(node, gast.Compare) and isinstance(node.ops[0], gast.In | gast.NotIn):
        return any(isinstance(inspect.getattr_static(cls, "__contains__", None), FunctionType) for cls in context.met())
    return False


class Effects:
    """What the functions do that a function calls, or defines: do they more than to return something?

    They do if they change what others see, or raise.  What they are given to call is not their own doing.
    """

    def __init__(self, source: Source):
        self.source = source
        self.own = {*source.parameters, *assigned_names(source.tree.body)}
        functions = [node for node in walk(source.tree) if isinstance(node, gast.FunctionDef)]
        self.functions = {node.name: node for node in functions if node is not source.tree}

    def acts(self, node: gast.AST) -> bool:
        """Whether evaluating the expression may act, or calling a function that it hands on."""
        return self._any_acts([node], (), ())

    def function_acts(self, function: gast.FunctionDef, within: Collection[object] = ()) -> bool:
        """``within``: the functions that are looked at, which may call each other."""
        given = parameter_names(function.args)
        return function not in within and self._any_acts(function.body, given, (*within, function))

    def _any_acts(self, trees: Iterable[gast.AST], given: Collection[str], within: Collection[object]) -> bool:
        return any(self._part_acts(part, given, within) for tree in trees for part in walk(tree))

    def _part_acts(self, part: gast.AST, given: Collection[str], within: Collection[object]) -> bool:
        match part:
            case gast.NamedExpr() | gast.Nonlocal() | gast.Raise() | gast.Assert():
                return True
            case gast.Subscript(ctx=gast.Store() | gast.Del()) | gast.Attribute(ctx=gast.Store() | gast.Del()):
                return True
            case gast.Attribute(attr=name, ctx=gast.Load()):
                found = (inspect.getattr_static(cls, name, None) for cls in context.met())
                return any(isinstance(each, property) and value_acts(each.fget, within) for each in found)
            case gast.Name(id=name) if name in given or name == SUPPORT:
                return False
            case gast.Name(id=name) if name in self.functions:
                return self.function_acts(self.functions[name], within)
            case gast.Name(id=name, ctx=gast.Load()) if name not in self.own:
                value = self.source.lookup(name, None)
                return callable(value) and value_acts(value, within)
            case gast.Call(func=gast.Name(id=name)) if name not in given:
                return name in self.own and name not in self.functions
            case gast.Call(func=gast.Attribute(value=gast.Name(id=name), attr=attribute)) if name not in self.own:
                owner = self.source.lookup(name, None)
                known = name == SUPPORT or isinstance(owner, ModuleType)
                return not known or value_acts(getattr(owner, attribute, None), within)
            case gast.Call():
                return not isinstance(part.func, gast.Name)
        return False


def value_acts(value: Any, within: Collection[object] = ()) -> bool:
    """Whether calling the value may act."""
    value = inspect.unwrap(value) if callable(value) else value
    module = getattr(value, "__module__", None)
    module = module if isinstance(module, str) else type(value).__module__
    if module.partition(".")[0] in _LIBRARIES:
        return any(value is known for known in _ACTING)
    if not isinstance(value, FunctionType):
        return not isinstance(value, type)
    try:
        source = read(value, {})
    except UnsupportedSyntaxError:  # a lambda, or what has no source
        return any(_ACTING_OPCODES.match(each.opname) for each in dis.get_instructions(value))
    return value not in within and Effects(source)._any_acts(
        source.tree.body, parameter_names(source.tree.args), (*within, value)
    )
