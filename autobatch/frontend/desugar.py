"""From the user's Python to core Python, which ``as_text("source")`` shows: one statement after the other.

The desugarer is one class in several files: statements here, on top of exceptions (exceptions.py), nested functions
(nested.py), loops and comprehensions (loops.py), expressions (expressions.py) and what names mean (scope.py).
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable, Collection, Mapping
from types import ModuleType
from typing import Any

import gast

from autobatch import errors
from autobatch.frontend import deques, fence
from autobatch.frontend.cheap import as_if
from autobatch.frontend.chosen import Chosen
from autobatch.frontend.consumers import without_generators
from autobatch.frontend.core import Callee, Core
from autobatch.frontend.dict_views import without_views
from autobatch.frontend.dictionary import with_dictionaries
from autobatch.frontend.dicts import without_dicts
from autobatch.frontend.distinct import with_distinct
from autobatch.frontend.exceptions import Exceptions
from autobatch.frontend.generator_expressions import with_generator_functions
from autobatch.frontend.item_loops import without_item_loops
from autobatch.frontend.list_methods import ListMethods
from autobatch.frontend.loops import split_walrus
from autobatch.frontend.maps import without_maps
from autobatch.frontend.match import without_match
from autobatch.frontend.named_choices import with_named_choices
from autobatch.frontend.nonlocals import without_nonlocals
from autobatch.frontend.parents import without_super
from autobatch.frontend.refusals import together
from autobatch.frontend.scope import UNKNOWN
from autobatch.frontend.sets import without_sets
from autobatch.frontend.source import Source, unparse
from autobatch.frontend.suppressed import without_suppress
from autobatch.frontend.syntax import Statements, always_leaves, assign, constant, load, renamed, store, support

# Each from a function to one that has less of Python's, before what is left is looked at.
_BEFORE = (
    without_super, without_suppress, without_nonlocals, without_views, with_generator_functions, without_maps,
    without_generators, without_match, without_sets, deques.with_limits, with_distinct, without_item_loops,
)  # fmt: skip


def desugar(
    source: Source,
    callee_of: Callable[[Any], Callee | None],
    unrolled: Mapping[Any, int],
    modes: Collection[str],
    chosen: Chosen,
) -> Core:
    """Desugars one function.

    Args:
      source: the function.
      callee_of: tells an autobatched function from other objects.
      unrolled: how many items each loop has that must be unrolled, by its place.
      modes: as for ``lower``; chosen: likewise.
    """
    source = without_dicts(source) if "dicts_as_lists" in modes else source
    source = with_dictionaries(source) if "dicts_as_objects" in modes else source
    for pass_ in _BEFORE:
        source = pass_(source)
    fence.check(source)
    deques.check(source)
    desugarer = _Desugarer(source, ListMethods(source).visit(source.tree), callee_of, unrolled)
    desugarer.choices = chosen
    desugarer.holds = "exceptions_hold" in modes
    desugarer.nothing_early = "nothing_early" in modes
    desugarer.comprehensions_apart = "comprehensions_apart" in modes
    return desugarer.run()


class _Desugarer(Exceptions):
    def run(self) -> Core:
        self.result = self.fresh("result")
        self.refused: list[errors.UnsupportedSyntaxError] = []
        body = self.block(self.tree.body)
        if self.refused:
            raise together(self.refused, self.source.function.__name__)
        if not always_leaves(body):
            at = self.tree.body[-1]
            body += [assign(self.result, constant(None, at), at), self.return_(at)]
        definition = gast.parse(f"def {self.source.function.__name__}(): pass").body[0]
        definition.args = gast.parse(f"def f({', '.join(self.source.parameters)}): pass").body[0].args
        definition.body = body
        tree = gast.copy_location(definition, self.tree)
        return Core(self.source, tree, self.result, self.calls, self.helpers, self.loops, self.clauses)

    def block(self, statements: Statements) -> Statements:
        (outer, self.out), (after, self.rest) = (self.out, []), (self.rest, list(statements))
        while self.rest and not always_leaves(self.out):  # after that, nothing runs
            statement = self.statement = self.rest.pop(0)
            try:
                getattr(self, f"do_{type(statement).__name__}")(statement)
            except errors.UnsupportedSyntaxError as refusal:
                self.refused.append(refusal)
                for part in (statement, *getattr(statement, "handlers", [])):
                    for inside in ("body", "orelse", "finalbody"):
                        self.block(getattr(part, inside, []))
            except Exception:
                if not self.refused:  # else it may be a consequence
                    raise
        result, self.out, self.rest = self.out, outer, after
        return [part for statement in result for part in with_named_choices(statement, self.fresh)]

    def do_Pass(self, node: gast.Pass) -> None:
        pass

    def do_Import(self, node: gast.Import) -> None:
        for each in node.names:
            module, first = self.imported(each.name, 0, node), each.name.partition(".")[0]
            self.imports(each.asname or first, module if each.asname else sys.modules[first], node)

    def do_ImportFrom(self, node: gast.ImportFrom) -> None:
        module = self.imported(node.module or "", node.level, node)
        for each in node.names:
            if not hasattr(module, each.name):
                self.imported(f"{module.__name__}.{each.name}", 0, node)
            self.imports(each.asname or each.name, getattr(module, each.name), node)

    def imports(self, name: str, value: Any, at: gast.AST) -> None:
        if self.assignments[name]:
            self.refuse(
                at,
                f"`import` of `{name}`, which is assigned elsewhere",
                "give one another name.",
                kind="import-statement",
            )
        self.set_static(name, value)

    def imported(self, name: str, level: int, at: gast.AST) -> ModuleType:
        package = self.source.function.__globals__.get("__package__")
        try:
            return importlib.import_module("." * level + name, package)
        except ImportError as error:
            place = self.source.location(at)
            raise errors.UndefinedVariableError(
                f"{error}.", [(place, "")], "install it.", kind="undefined-name"
            ) from error

    def do_Expr(self, node: gast.Expr) -> None:
        if isinstance(node.value, gast.Constant):
            return  # a docstring
        value = self.expression(node.value)
        if not isinstance(value, gast.Name):
            self.emit(gast.Expr(value=value), node)

    def do_Assign(self, node: gast.Assign) -> None:
        if len(node.targets) == 1 and isinstance(node.targets[0], gast.Name):
            if (choice := as_if(node)) is not None:
                self.rest.insert(0, choice)
                return
            if methods := self.setters(node.value):
                self.set_by_methods(node.targets[0], node.value, methods)
                return
            if self.sets_optional(node.value):
                self.set_optional(node.targets[0], node.value)
                return
            if self.is_alias(node):
                self.alias(node)
                return
            if isinstance(node.value, gast.Lambda) and self.is_named_once(node):
                self.named_lambda(node)
                return
            self.out.append(assign(node.targets[0].id, self.kept(node.value), node))
            self.merge_last()
            return
        node, nones = without_nones(self.without_aliases(node))
        value = self.expression(node.value)
        if len(node.targets) > 1:
            value = self.named(value, "value")
        for target in node.targets:
            self.unpack(target, value, node)
        self.out += nones

    def unpack(self, target: gast.AST, value: gast.AST, at: gast.AST) -> None:
        """Assigns to one target; nested targets are unpacked one level at a time, for any may be a tensor's rows."""
        if not isinstance(target, gast.Tuple | gast.List):
            self.emit(gast.Assign(targets=[target], value=value, type_comment=None), at)
            return
        elements = target.elts
        stars = [k for k, element in enumerate(elements) if isinstance(element, gast.Starred)]
        if stars:
            before, after = stars[0], len(elements) - 1 - stars[0]
            value = support("unpack_rest", [value, constant(before, at), constant(after, at)], at)
            elements = [element.value if isinstance(element, gast.Starred) else element for element in elements]
        flat, nested = [], []
        for element in elements:
            if isinstance(element, gast.Tuple | gast.List):
                name = self.fresh("part")
                nested.append((element, name))
                element = store(name, element)
            flat.append(element)
        if not (isinstance(value, gast.Tuple) and len(value.elts) == len(flat)):
            value = support("unpack", [value, constant(len(flat), at)], at)
        left = gast.copy_location(gast.Tuple(elts=flat, ctx=gast.Store()), target)
        self.emit(gast.Assign(targets=[left], value=value, type_comment=None), at)
        for element, name in nested:
            self.unpack(element, load(name, at), at)

    def do_AnnAssign(self, node: gast.AnnAssign) -> None:
        if node.value is not None:
            self.do_Assign(
                gast.copy_location(gast.Assign(targets=[node.target], value=node.value, type_comment=None), node)
            )

    def do_AugAssign(self, node: gast.AugAssign) -> None:
        value, methods = self.expression(node.value), self.augmenting(node)
        value = self.temporary(value, "value") if methods else value
        self.out += self.augmenting_arms(node, value, methods)

    def written(self, node: gast.AST) -> str:
        """The expression as the user wrote it."""
        place = self.source.location(node)
        one_line = getattr(node, "end_lineno", 0) == node.lineno
        return place.source[place.column : place.column + place.width] if one_line else unparse(node)

    def do_Return(self, node: gast.Return) -> None:
        value = self.expression(node.value) if node.value is not None else constant(None, node)
        self.out.append(assign(self.result, value, node))
        self.merge_last()
        self.out.append(self.return_(node))

    def return_(self, at: gast.AST) -> gast.Return:
        return gast.copy_location(gast.Return(value=load(self.result, at)), at)

    def do_Break(self, node: gast.Break) -> None:
        self.out.append(node)

    do_Continue = do_Break

    def do_If(self, node: gast.If) -> None:
        first, rest = split_walrus(node.test)
        if rest is not None:
            inner = gast.copy_location(gast.If(test=rest, body=node.body, orelse=node.orelse), node)
            again = [renamed(statement, {}) for statement in node.orelse]
            self.do_If(gast.copy_location(gast.If(test=first, body=[inner], orelse=again), node))
            return
        known = self.known(node.test)
        if known is not UNKNOWN:
            self.out += self.block(node.body if known else node.orelse)
            return
        test = self.condition(node.test)
        body, orelse = self.block(node.body), self.block(node.orelse)
        self.emit(gast.If(test=test, body=body, orelse=orelse), node)


def without_nones(node: gast.Assign) -> tuple[gast.Assign, Statements]:
    """``a, b = x, None`` as ``a = x`` and, behind it, ``b = None``."""
    (target, *others), value = node.targets, node.value
    if others or not isinstance(target, gast.Tuple) or not isinstance(value, gast.Tuple):
        return node, []
    pairs = list(zip(target.elts, value.elts, strict=False))
    nones = [t for t, v in pairs if isinstance(v, gast.Constant) and v.value is None and isinstance(t, gast.Name)]
    starred = any(isinstance(part, gast.Starred) for part in (*target.elts, *value.elts))
    if not nones or starred or len(target.elts) != len(value.elts):
        return node, []
    left = [(t, v) for t, v in pairs if t not in nones]
    targets, values = (
        gast.Tuple(elts=[pair[k] for pair in left], ctx=ctx()) for k, ctx in ((0, gast.Store), (1, gast.Load))
    )
    if len(left) == 1:
        ((targets, values),) = left
    first = gast.Assign(
        targets=[gast.copy_location(targets, target)], value=gast.copy_location(values, value), type_comment=None
    )
    return gast.copy_location(first, node), [assign(name.id, constant(None, name), node) for name in nones]
