"""From a Python function to its syntax tree and back, with names that resolve just as in Python."""

from __future__ import annotations

import ast
import builtins
import functools
import inspect
import itertools
import linecache
import os
import types
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import gast

from autobatch import context, errors, ir
from autobatch.frontend.trees import copy_of, walk
from autobatch.language import operators

CLASS = "ab__class"  # the static argument that tells the class of the object that a method is called for
SUPPORT = context.GENERATED  # the name under which generated code finds the operators


@dataclass(frozen=True)
class Source:
    """A user function: its tree, and the scope in which its free names resolve."""

    function: Any  # a types.FunctionType
    tree: gast.FunctionDef
    file: str
    static: Mapping[str, Any] = field(default_factory=dict)  # static arguments by name
    captured: tuple[str, ...] = ()  # further arguments: what functions among the static ones use

    @property
    def parameters(self) -> tuple[str, ...]:
        """The names of the arguments that are not static, in order."""
        return (*(p for p in signature(self.function).parameters if p not in self.static), *self.captured)

    @property
    def definition_location(self) -> ir.Location:
        return self.location(self.tree)

    def location(self, node: gast.AST) -> ir.Location:
        line, column = getattr(node, "lineno", self.tree.lineno), getattr(node, "col_offset", 0)
        compound = isinstance(node, gast.If | gast.While | gast.For | gast.FunctionDef | gast.With | gast.Try)
        end = None if compound or getattr(node, "end_lineno", None) != line else node.end_col_offset
        return ir.location(self.file, line, column, end)

    def lookup(self, name: str, default: Any) -> Any:
        """What a name that the function does not bind stands for now."""
        cells = self.cells()
        if name in cells:
            cell = cells[name]
            return default if cell == types.CellType() else cell.cell_contents
        return self.function.__globals__.get(name, vars(builtins).get(name, default))

    def named(self, node: gast.AST) -> Any:
        """What such a name stands for, or an attribute of one; None, if the expression is neither."""
        if isinstance(node, gast.Attribute):
            return getattr(self.named(node.value), node.attr, None)
        return self.lookup(node.id, None) if isinstance(node, gast.Name) else None

    def cells(self) -> dict[str, types.CellType]:
        """The names bound outside the function's own scope and its module: closure and static arguments."""
        cells = dict(zip(self.function.__code__.co_freevars, self.function.__closure__ or (), strict=True))
        cells |= {name: types.CellType(value) for name, value in self.static.items()}
        cells[SUPPORT] = types.CellType(operators)
        return cells


@functools.lru_cache(maxsize=1024)
def signature(function: Callable) -> inspect.Signature:
    """The function's own signature, not that of what it wraps."""
    return inspect.signature(function, follow_wrapped=False)


def check_function(function: Callable) -> None:
    """Raises UnsupportedSyntaxError unless the function was made by a def statement."""
    if isinstance(function, types.FunctionType) and function.__name__ != "<lambda>":
        return
    if isinstance(function, classmethod):
        raise errors.UnsupportedSyntaxError(
            "autobatch needs a function, not a classmethod.",
            help="put @classmethod above @ab.autobatch.",
            kind="not-a-function",
        )
    place = None
    if isinstance(function, types.FunctionType):
        code = function.__code__
        text = linecache.getline(code.co_filename, code.co_firstlineno).rstrip()
        place = ir.Location(code.co_filename, code.co_firstlineno, max(text.find("lambda"), 0), text)
    raise errors.UnsupportedSyntaxError(
        f"autobatch needs a function made by `def`, not {function!r}.",
        [(place, "")],
        "write it as a def statement.",
        kind="not-a-function",
    )


def read(function: Any, static: Mapping[str, Any]) -> Source:
    """Finds and parses the function's source."""
    file, first = function.__code__.co_filename, function.__code__.co_firstlineno
    linecache.checkcache(file)  # the file may have been edited
    lines = inspect.getblock(linecache.getlines(file, function.__globals__)[first - 1 :])
    if not lines:
        raise errors.UnsupportedSyntaxError(
            f"The source of `{function.__qualname__}` cannot be read.",
            help="define it in a file or a notebook cell: exec(), `python -c` and the prompt do not keep it.",
            kind="no-source",
        )
    if function.__code__.co_name == "<lambda>":
        definition = _of_lambda(function, "".join(linecache.getlines(file, function.__globals__)))
    else:
        definition = copy_of(_definition("".join(lines), first))
    owner = _class_of(function.__qualname__)
    if owner is not None:
        definition = _Mangler(owner).visit(definition)
    source = Source(function, definition, file, dict(static))
    if not isinstance(definition, gast.FunctionDef):
        kind = "async functions" if isinstance(definition, gast.AsyncFunctionDef) else "this definition"
        raise errors.UnsupportedSyntaxError(
            f"autobatch does not take {kind}.",
            [(source.location(definition), "")],
            "write it as a plain `def`.",
            kind="not-a-plain-function",
        )
    return source


@functools.lru_cache(maxsize=1024)
def _definition(text: str, first: int) -> gast.AST:
    """The statement that this is; an indented one parses inside ``if``, which leaves columns as they are."""
    indented = text[:1].isspace()
    module = gast.parse(f"if True:\n{text}" if indented else text)
    definition = module.body[0].body[0] if indented else module.body[0]
    return ast.increment_lineno(definition, first - 1 - indented)


def _of_lambda(function: types.FunctionType, text: str) -> gast.FunctionDef:
    """A lambda of a file as a definition."""
    code = function.__code__
    found = [node for node in _lambdas(text) if node.lineno == code.co_firstlineno]
    found = found if len(found) < 2 else [node for node in found if _is_of(node, code)]
    if not found:
        raise errors.UnsupportedSyntaxError(
            f"The source of the lambda on line {code.co_firstlineno} of {os.path.basename(code.co_filename)} cannot be "
            "told from that of others.",
            help="put it on a line of its own, or write it as a def statement.",
            kind="no-source",
        )
    return definition_of(copy_of(found[0]), "lambda_")


@functools.lru_cache(maxsize=16)
def _lambdas(text: str) -> list[gast.Lambda]:
    try:
        tree = gast.parse(text)
    except SyntaxError:  # of another language around it
        return []
    return [node for node in walk(tree) if isinstance(node, gast.Lambda)]


def _is_of(node: gast.Lambda, code: types.CodeType) -> bool:
    """Whether the lambda compiles to this code, but for its place."""
    module = gast.Module(body=[gast.Expr(value=copy_of(node))], type_ignores=[])
    made = compile(ast.fix_missing_locations(gast.gast_to_ast(module)), code.co_filename, "exec")
    inside = next(part for part in made.co_consts if isinstance(part, types.CodeType))
    return _does_as(inside, code)


def _does_as(one: Any, other: Any) -> bool:
    """Whether two constants are equal, or codes that do the same."""
    if not (isinstance(one, types.CodeType) and isinstance(other, types.CodeType)):
        return type(one) is type(other) and one == other
    if any(getattr(one, part) != getattr(other, part) for part in ("co_code", "co_names", "co_varnames")):
        return False
    return len(one.co_consts) == len(other.co_consts) and all(map(_does_as, one.co_consts, other.co_consts))


def definition_of(node: gast.AST, name: str) -> gast.FunctionDef:
    """A definition, a lambda or ``f = lambda x: ...`` as a definition."""
    if isinstance(node, gast.FunctionDef):
        return node
    value = node if isinstance(node, gast.Lambda) else node.value
    body = [gast.copy_location(gast.Return(value=value.body), value.body)]
    definition = gast.FunctionDef(
        name=name, args=value.args, body=body, decorator_list=[], returns=None, type_comment=None, type_params=[]
    )
    return gast.copy_location(definition, node)


def _class_of(qualname: str) -> str | None:
    """The class in whose body a function of this name stands."""
    parts = qualname.split(".")
    classes = (name for name, inner in itertools.pairwise(parts) if "<locals>" not in (name, inner))
    return next(reversed([*classes]), None)


class _Mangler(gast.NodeTransformer):
    """Gives ``self.__x`` in a class its name ``_Class__x``, which Python gives it when it compiles the class."""

    def __init__(self, owner: str):
        self.prefix = f"_{owner.lstrip('_')}"

    def mangled(self, name: str) -> str:
        private = name.startswith("__") and not name.endswith("__") and "." not in name
        return self.prefix + name if private else name

    def visit_Attribute(self, node: gast.Attribute) -> gast.AST:
        node.attr = self.mangled(node.attr)
        return self.generic_visit(node)

    def visit_Name(self, node: gast.Name) -> gast.AST:
        node.id = self.mangled(node.id)
        return node


def compile_functions(source: Source, definitions: list[gast.FunctionDef]) -> list[Any]:
    """Compiles functions that stand in the scope where the user's function was defined."""
    if not definitions:
        return []
    cells = source.cells()
    scope = gast.parse("def scope():\n  def inner(): pass").body[0]
    scope.args = _arguments(tuple(cells))
    scope.body = definitions
    module = gast.Module(body=[scope], type_ignores=[])
    tree = gast.gast_to_ast(module)
    code = compile(ast.fix_missing_locations(tree), source.file, "exec")
    (scope_code,) = (c for c in code.co_consts if isinstance(c, types.CodeType))
    codes = {c.co_name: c for c in scope_code.co_consts if isinstance(c, types.CodeType)}
    return [_bind(codes[d.name], source, cells) for d in definitions]


def _bind(code: types.CodeType, source: Source, cells: dict[str, types.CellType]) -> types.FunctionType:
    closure = tuple(cells.get(name, types.CellType()) for name in code.co_freevars)
    return types.FunctionType(code, source.function.__globals__, code.co_name, None, closure)


def evaluate(source: Source, expression: gast.AST) -> Any:
    """The value of an expression without locals, as it stands when the program is lowered."""
    definition = function_definition("ab__static", (), [gast.Return(value=expression)])
    (function,) = compile_functions(source, [definition])
    return function()


def function_definition(name: str, parameters: tuple[str, ...], body: list[gast.AST]) -> gast.FunctionDef:
    definition = gast.parse(f"def {name}(): pass").body[0]
    definition.args = _arguments(parameters)
    definition.body = body
    if body and hasattr(body[0], "lineno"):
        gast.copy_location(definition, body[0])
    return definition


def _arguments(names: tuple[str, ...]) -> gast.arguments:
    return gast.arguments(
        args=[gast.Name(id=name, ctx=gast.Param(), annotation=None, type_comment=None) for name in names],
        posonlyargs=[], vararg=None, kwonlyargs=[], kw_defaults=[], kwarg=None, defaults=[],
    )  # fmt: skip


def unparse(tree: gast.AST) -> str:
    return ast.unparse(ast.fix_missing_locations(gast.gast_to_ast(tree)))
