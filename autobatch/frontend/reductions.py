"""``sum(... for i in range(n) if ...)`` and its like: a loop, where members differ in how often it turns.

Where they do not, Python runs the comprehension while it is traced.  Inference finds out which it is
(``indexing.UnlikeItemsError``), and the function is desugared again.
"""

from __future__ import annotations

import builtins
import math
from collections.abc import Callable

import gast

from autobatch import context
from autobatch.frontend.comprehensions import as_loops
from autobatch.frontend.expressions import is_sequence
from autobatch.frontend.list_methods import METHODS, POPS
from autobatch.frontend.loops import Loops, place
from autobatch.frontend.scope import UNKNOWN
from autobatch.frontend.syntax import Statements, assign, constant, if_, load, renamed, support
from autobatch.frontend.trees import walk
from autobatch.language.looping import ROLLED

# The functions that take a comprehension apart, with what else they may be given.
_REDUCTIONS: tuple[tuple[Callable, tuple[str, ...]], ...] = (
    (builtins.sum, ("start",)),
    (math.prod, ("start",)),
    (builtins.any, ()),
    (builtins.all, ()),
    (builtins.min, ("default",)),
    (builtins.max, ("default",)),
    (builtins.len, ()),
)


class Reductions(Loops):
    def on_Call(self, node: gast.Call) -> gast.AST:
        function = self.static_value(node.func)
        admitted = next((options for known, options in _REDUCTIONS if known is function), None)
        if admitted is None or not node.args or not isinstance(node.args[0], gast.GeneratorExp | gast.ListComp):
            return super().on_Call(node)
        of, *rest = node.args
        options = {**dict(zip(("start",), rest, strict=False)), **{k.arg: k.value for k in node.keywords}}
        if not {*options} <= {*admitted}:
            return super().on_Call(node)
        in_turn = function in (builtins.any, builtins.all) and self.acts(of)
        if not (in_turn or self.is_rolled(of)):
            of = of if self.needs_statements(of) else self.asking(of)
            call = gast.Call(func=node.func, args=[of, *rest], keywords=node.keywords)
            return super().on_Call(gast.copy_location(call, node))
        options = {name: self.temporary(self.expression(value), name) for name, value in options.items()}
        return getattr(self, f"rolled_{function.__name__}")(of, **options)

    def on_ListComp(self, node: gast.ListComp) -> gast.AST:
        if self.is_rolled(node) and not self.is_known(node):
            return self.rolled_list(node)
        return super().on_ListComp(node if self.needs_statements(node) else self.asking(node))

    def is_known(self, node: gast.ListComp) -> bool:
        """Whether its items and what they are tested for are known now, so that it can be written out."""
        generator, *others = node.generators
        items = None if others else self.static_items(generator.iter)
        bound = [self.bound_target(generator.target, item) for item in items or ()]
        tests = [renamed(test, new) for new in bound for test in generator.ifs]
        return items is not None and all(self.known(test) is not UNKNOWN for test in tests)

    def rolled_list(self, node: gast.ListComp) -> gast.AST:
        made = self.variable("made", gast.copy_location(gast.List(elts=[], ctx=gast.Load()), node), node)
        self.changing.add(made)

        def add(element: gast.AST) -> Statements:
            return [assign(made, support("append", [load(made, element), element], element), element)]

        self.rolled(node, add)
        return load(made, node)

    def acts(self, node: gast.AST) -> bool:
        """Whether making an item may change something, or raise: by a function of the program, or a user's method."""
        if not isinstance(node, gast.GeneratorExp):
            return False
        calls = [part for part in walk(node) if isinstance(part, gast.Call)]
        methods = [(call, call.func.attr) for call in calls if isinstance(call.func, gast.Attribute)]
        for call, name in methods:
            if name in {*METHODS, *POPS} and self.is_own(call.func):
                self.refuse(
                    call,
                    f"`{name}` in a generator expression, which need not come to its end",
                    "write a for loop.",
                    kind="generator-that-changes",
                )
        of_users = any(hasattr(cls, name) for _, name in methods for cls in context.met())
        return of_users or any(self.callee(call.func) is not None for call in calls)

    def is_rolled(self, node: gast.AST) -> bool:
        """Whether the comprehension is to be a loop: inference asks for it, or Python could not run it."""
        in_several_ways = len(node.generators) > 1 or node.generators[0].ifs
        return self.unrolled_counts.get(place(node)) == ROLLED or bool(in_several_ways and self.needs_statements(node))

    def asking(self, node: gast.AST) -> gast.AST:
        """The comprehension, which asks to be rolled where members differ in how often it turns, or one inside it."""
        label = self.namer.fresh("comprehension")
        self.loops[label] = place(node)
        made = renamed(node, {})
        for inner in walk(made):
            if isinstance(inner, gast.comprehension):
                first = inner is made.generators[0]
                if not (first and self.static_value(inner.iter) is not UNKNOWN):
                    inner.iter = self.asking_range(inner.iter, label)
                inner.ifs = [support("admits", [constant(label, test), test], test) for test in inner.ifs]
        made.path = getattr(node, "path", ())
        return made

    def asking_range(self, node: gast.AST, label: str) -> gast.AST:
        is_range = isinstance(node, gast.Call) and self.static_value(node.func) is builtins.range
        if is_range:
            return support("range_", [constant(label, node), *node.args], node)
        return support("items_of", [constant(label, node), node], node)

    # --- as loops ---------------------------------------------------------------------------------

    def rolled(self, node: gast.AST, body: Callable[[gast.AST], Statements], ended: str | None = None) -> None:
        """The loops of a comprehension around what is done with each element; ``ended``: what says that they end."""
        statements, new = as_loops(node, self.fresh, body, ended)
        self.changing |= new
        self.out += self.block(statements)

    def accumulated(self, node: gast.AST, start: gast.AST, op: gast.AST, value: gast.AST | None = None) -> gast.AST:
        total = self.variable("total", start, node)

        def add(element: gast.AST) -> Statements:
            first = [] if value is None else [gast.copy_location(gast.Expr(value=element), element)]
            term = element if value is None else value
            whole = gast.copy_location(gast.BinOp(left=load(total, element), op=op, right=term), element)
            return [*first, assign(total, whole, element)]

        self.rolled(node, add)
        return load(total, node)

    def rolled_sum(self, node: gast.AST, start: gast.AST | None = None) -> gast.AST:
        return self.accumulated(node, start or constant(0, node), gast.Add())

    def rolled_prod(self, node: gast.AST, start: gast.AST | None = None) -> gast.AST:
        return self.accumulated(node, start or constant(1, node), gast.Mult())

    def rolled_len(self, node: gast.AST) -> gast.AST:
        return self.accumulated(node, constant(0, node), gast.Add(), value=constant(1, node))

    def rolled_any(self, node: gast.AST) -> gast.AST:
        return self.sought(node, lambda element: element)

    def rolled_all(self, node: gast.AST) -> gast.AST:
        found = self.sought(node, lambda e: gast.copy_location(gast.UnaryOp(op=gast.Not(), operand=e), e))
        return support("not_", [found], node)

    def sought(self, node: gast.AST, test: Callable[[gast.AST], gast.AST]) -> gast.AST:
        """Whether an element meets the test; none of a generator's is made after it, but all of a list's."""
        found, is_list = self.variable("found", constant(False, node), node), isinstance(node, gast.ListComp)

        def look(element: gast.AST) -> Statements:
            leave = [] if is_list else [gast.copy_location(gast.Break(), element)]
            return [if_(test(element), [assign(found, constant(True, element), element), *leave], element)]

        self.rolled(node, look, ended=None if is_list else found)
        return load(found, node)

    def rolled_min(self, node: gast.AST, default: gast.AST | None = None) -> gast.AST:
        return self.extreme(node, "min", gast.Lt(), default)

    def rolled_max(self, node: gast.AST, default: gast.AST | None = None) -> gast.AST:
        return self.extreme(node, "max", gast.Gt(), default)

    def extreme(self, node: gast.AST, name: str, order: gast.AST, default: gast.AST | None) -> gast.AST:
        empty, best, value = self.variable("empty", constant(True, node), node), self.fresh("best"), self.fresh("value")

        def compare(element: gast.AST) -> Statements:
            if is_sequence(node.elt, self.sequences):
                self.sequences |= {value, best}
            better = self.compared(load(value, element), order, load(best, element), element)
            take = assign(best, load(value, element), element)
            later = if_(better, [take], element)
            first = [take, assign(empty, constant(False, element), element)]
            choice = gast.copy_location(gast.If(test=load(empty, element), body=first, orelse=[later]), element)
            return [assign(value, element, element), choice]

        self.rolled(node, compare)
        if default is not None:
            end: gast.AST = assign(best, default, node)
        else:
            error = load(self.bind("ValueError", ValueError), node)
            text = constant(f"{name}() iterable argument is empty", node)
            made = gast.copy_location(gast.Call(func=error, args=[text], keywords=[]), node)
            end = gast.copy_location(gast.Raise(exc=made, cause=None), node)
        self.out += self.block([if_(load(empty, node), [end], node)])
        return load(best, node)

    def variable(self, hint: str, value: gast.AST, at: gast.AST) -> str:
        name = self.fresh(hint)
        self.out.append(assign(name, value, at))
        return name
