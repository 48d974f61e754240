"""Where an expression takes in a generator, by ``sum``, ``next``, ``in``, a comprehension, a loop stands before it.

    total = f(x) + sum(numbers(n))         before = f(x)
                                           items = []
                                           for item in numbers(n): items.append(item)
                                           total = before + sum(items)

What Python evaluates before the generator comes before the loop; what it may leave out, a choice or the rest of an
``and``, becomes an ``if`` with the loop inside.  The loops themselves are generators.py's.
"""

from __future__ import annotations

import builtins
from collections.abc import Callable, Sequence
from dataclasses import replace

import gast

from autobatch.frontend.comprehensions import as_loops
from autobatch.frontend.generators import Generators, ends, is_endless, without_unused
from autobatch.frontend.maps import TAKE_ALL
from autobatch.frontend.source import Source
from autobatch.frontend.syntax import (
    COMPREHENSIONS,
    Statements,
    as_load,
    assign,
    constant,
    if_,
    load,
    names,
    negated,
    store,
)
from autobatch.frontend.trees import children, copy_of, walk

_TAKE_ALL = (*TAKE_ALL, builtins.enumerate, builtins.zip)
_BESIDE = (builtins.enumerate, builtins.zip, builtins.any, builtins.all)  # that take one item of each, in turn


def without_generators(source: Source) -> Source:
    """The function with loops in place of the generators that it calls."""
    if not _Consumers(source).has_work():
        return source
    consumers = _Consumers(replace(source, tree=copy_of(source.tree)))  # the caller keeps its tree
    tree = consumers.visit(consumers.source.tree)
    tree = without_unused(tree, consumers.nested.keys() - set(names(tree.body)))
    return replace(source, tree=tree, static={**source.static, **consumers.static})


class _Consumers(Generators):
    def has_work(self) -> bool:
        calls = [node for node in walk(self.source.tree) if isinstance(node, gast.Call)]
        return any(self.generator(call) or self.is_next_of_expression(call) for call in calls)

    def is_next_of_expression(self, node: gast.Call) -> bool:
        """``next(v for v in ...)`` where that is of members."""
        is_next = self.value(node.func) is builtins.next and bool(node.args)
        return is_next and isinstance(node.args[0], gast.GeneratorExp) and bool(set(names(node)) & self.locals)

    # --- in turn --------------------------------------------------------------------------------------

    def generic_visit(self, node: gast.AST) -> gast.AST:
        if not isinstance(node, gast.stmt | gast.ExceptHandler):
            return node
        if isinstance(node, gast.AugAssign):
            return self.augmented(node)
        for name, field in gast.iter_fields(node):
            if isinstance(field, gast.expr):
                taken = not isinstance(node, gast.While) and name != "msg"  # which are evaluated later, if at all
                setattr(node, name, self.taken_in(field) if taken else field)
            elif name in ("body", "orelse", "finalbody"):
                setattr(node, name, self.block(field))
            elif name == "handlers":
                for handler in field:
                    handler.body = self.block(handler.body)
        return node

    def augmented(self, node: gast.AugAssign) -> gast.AST:
        """``xs[i] += sum(numbers(n))``: Python looks up xs[i] first."""
        changing = (part for part in walk(node.value) if self.changes(part))
        for part in changing if isinstance(node.target, gast.Subscript | gast.Attribute) else ():
            self.refuse_change(part, "beside what is assigned to in place", "give its sum a name first.")
        acts = self.effects.acts(node.value)
        self.parts_in_turn(node, [(node, "target", None)])
        before, node.value = self.apart(lambda: self.taken_in(node.value))
        if before and not isinstance(node.target, gast.Name):
            node.target = self.pinned(node.target, {*names(before, gast.Store)})
        if before and acts:  # perhaps on what is assigned to
            old = self.variable("old", as_load(node.target), node)
            added = gast.AugAssign(target=store(old, node), op=node.op, value=node.value)
            before.append(gast.copy_location(added, node))
            node = gast.copy_location(
                gast.Assign(targets=[node.target], value=load(old, node), type_comment=None), node
            )
        self.before += before
        return node

    def taken_in(self, node: gast.AST) -> gast.AST:
        """The expression with lists in place of the generators that are taken in as a whole."""
        match node:
            case gast.Lambda():
                return node
            case gast.BoolOp():
                return self.short_circuit(node, node.values)
            case gast.IfExp():
                return self.choice(node)
            case gast.Call(args=[of, *rest], keywords=[]) if self.value(node.func) is builtins.next and len(rest) < 2:
                return self.first_of(node, of, rest)
            case gast.Compare(left=left, ops=[gast.In() | gast.NotIn() as op], comparators=[of]) if self.generator(of):
                wanted = self.variable("wanted", self.taken_in(left), node)
                return self.sought(node, of, lambda item: _is_equal(item, load(wanted, node)), isinstance(op, gast.In))
            case gast.Call(func=function, args=[of]) if self.value(function) is builtins.any and self.generator(of):
                return self.sought(node, of, lambda item: item, True)
            case gast.Call(func=function, args=[of]) if self.value(function) is builtins.all and self.generator(of):
                return self.sought(node, of, negated, False)
            case gast.Call() if any(self.value(node.func) is f for f in _TAKE_ALL):
                self.check_lazy(node)
                self.parts_in_turn(node, _children(node), self.argument)
                return node
            case _ if isinstance(node, COMPREHENSIONS):
                return self.comprehension(node)
        self.parts_in_turn(node, _children(node))
        return node

    def argument(self, node: gast.AST) -> gast.AST:
        return self.as_list(node) if self.generator(node) else self.taken_in(node)

    def parts_in_turn(
        self, node: gast.AST, parts: Sequence[_Place], change: Callable[[gast.AST], gast.AST] | None = None
    ) -> None:
        """Takes in generators in the parts; what a part finds to the left of its loop is evaluated before that."""
        done: list[_Place] = []
        for place in parts:
            start = len(self.before)
            _put(place, (change or self.taken_in)(_get(place)))
            if len(self.before) > start:
                stored = {*names(self.before[start:], gast.Store)}
                loops, self.before = self.before[start:], self.before[:start]
                for other in done:
                    _put(other, self.pinned(_get(other), stored))
                self.before += loops
            done.append(place)

    def pinned(self, value: gast.AST, stored: set[str]) -> gast.AST:
        """What comes before a loop, under a name; a target's own parts likewise."""
        match value:
            case gast.Constant() | gast.Lambda():
                return value
            case gast.Name(id=name):
                return load(self.variable("before", value, value), value) if name in stored else value
            case gast.Starred(value=inner):
                items = gast.copy_location(gast.List(elts=[value], ctx=gast.Load()), value)
                kept = load(self.variable("before", items, inner), inner)
                return gast.copy_location(gast.Starred(value=kept, ctx=value.ctx), value)
            case gast.Attribute(ctx=gast.Store()) | gast.Subscript(ctx=gast.Store()):
                for place in _children(value):
                    _put(place, self.pinned(_get(place), stored) if place[1] != "value" else _get(place))
                return value
        if isinstance(value, gast.Attribute) and self.value(value) is not None:  # a function of a module
            return value
        return load(self.variable("before", value, value), value)

    def variable(self, hint: str, value: gast.AST, at: gast.AST) -> str:
        name = self.namer.fresh(hint)
        self.locals.add(name)
        self.before.append(assign(name, value, at))
        return name

    def apart(self, make: Callable[[], gast.AST]) -> tuple[Statements, gast.AST]:
        """What is made, and the statements that it wants before it."""
        outer, self.before = self.before, []
        made = make()
        before, self.before = self.before, outer
        return before, made

    def short_circuit(self, node: gast.BoolOp, values: Sequence[gast.AST]) -> gast.AST:
        first, rest = self.taken_in(values[0]), values[1:]
        if not rest:
            return first
        before, others = self.apart(lambda: self.short_circuit(node, rest))
        if not before:
            whole = [first, *(others.values if others is not rest[0] and isinstance(others, gast.BoolOp) else [others])]
            return gast.copy_location(gast.BoolOp(op=node.op, values=whole), node)
        name = self.variable("value", first, first)
        test = load(name, node) if isinstance(node.op, gast.And) else negated(load(name, node))
        self.before.append(if_(test, [*before, assign(name, others, others)], node))
        return load(name, node)

    def choice(self, node: gast.IfExp) -> gast.AST:
        node.test = self.taken_in(node.test)
        (first, body), (second, orelse) = (
            self.apart(lambda arm=arm: self.taken_in(arm)) for arm in (node.body, node.orelse)
        )
        node.body, node.orelse = body, orelse
        if not (first or second):
            return node
        name = self.namer.fresh("value")
        self.locals.add(name)
        made = if_(node.test, [*first, assign(name, body, body)], node)
        made.orelse = [*second, assign(name, orelse, orelse)]
        self.before.append(made)
        return load(name, node)

    # --- what takes in --------------------------------------------------------------------------------

    def check_lazy(self, node: gast.Call) -> None:
        """Refuses generators that change something beside others, or between the turns of a loop."""
        acting_key = any(k.arg == "key" and self.effects.acts(k.value) for k in node.keywords)
        for given in node.args if acting_key or any(self.value(node.func) is f for f in _BESIDE) else ():
            call = given.generators[0].iter if isinstance(given, gast.GeneratorExp) else given
            if self.changes(call):
                self.refuse_change(
                    call, "item by item beside others", "make a list of it first, or loop over it alone."
                )

    def comprehension(self, node: gast.AST) -> gast.AST:
        first = node.generators[0]
        if not self.generator(first.iter):
            first.iter = self.taken_in(first.iter)
            return node
        parts = (part for part in children(node) if not isinstance(part, gast.comprehension))
        tests = (test for generator in node.generators for test in generator.ifs)
        if not self.changes(first.iter) and not any(map(self.effects.acts, (*parts, *tests))):
            first.iter = self.as_list(first.iter)
            return node
        if isinstance(node, gast.SetComp | gast.DictComp):
            self.refuse_change(first.iter, "item by item beside others", "write a for loop.")
        made = self.variable("made", gast.copy_location(gast.List(elts=[], ctx=gast.Load()), node), node)
        loops, new = as_loops(node, self.namer.fresh, lambda element: [_append(made, element)])
        self.locals |= new
        self.before += self.block(loops)
        return load(made, node)

    def first_of(self, node: gast.Call, of: gast.AST, rest: list[gast.AST]) -> gast.AST:
        """``next``, of an expression that makes a generator."""
        item = self.namer.fresh("item")
        leave = gast.copy_location(gast.Break(), node)
        if self.is_next_of_expression(node) and len(of.generators) == 1:
            (loop,), new = as_loops(of, self.namer.fresh, lambda element: [assign(item, element, node), leave])
            self.locals |= new
        elif self.generator(of):
            loop = gast.For(target=store(item, node), iter=of, body=[leave], orelse=[], type_comment=None)
        else:
            self.parts_in_turn(node, _children(node))
            return node
        if rest:
            last = rest[0] if isinstance(rest[0], gast.Constant) else load(self.variable("last", rest[0], node), node)
            end: gast.AST = assign(item, last, node)
        else:
            error = gast.copy_location(gast.Call(func=load("StopIteration", node), args=[], keywords=[]), node)
            end = gast.copy_location(gast.Raise(exc=error, cause=None), node)
        loop.orelse = [end]
        self.locals.add(item)
        self.before += self.block([gast.copy_location(loop, node)])
        return load(item, node)

    def sought(self, node: gast.AST, of: gast.AST, test: Callable[[gast.AST], gast.AST], positive: bool) -> gast.AST:
        """Whether an item of the generator, which then makes no more of them, meets the test; or whether none does."""
        found, item = self.variable("found", constant(False, node), node), self.namer.fresh("item")
        self.locals.add(item)
        leave = [assign(found, constant(True, node), node), gast.copy_location(gast.Break(), node)]
        body = [if_(test(load(item, node)), leave, node)]
        loop = gast.For(target=store(item, node), iter=of, body=body, orelse=[], type_comment=None)
        self.before += self.block([gast.copy_location(loop, node)])
        return load(found, node) if positive else negated(load(found, node))

    def as_list(self, call: gast.Call) -> gast.AST:
        generator = self.generator(call)
        if generator is not None and is_endless(generator.tree) and not ends(generator.tree):
            self.refuse(call, "taking in a generator without end", "loop over it, and break.", kind="yield")
        item = self.namer.fresh("item")
        self.locals.add(item)
        items = self.variable("items", gast.copy_location(gast.List(elts=[], ctx=gast.Load()), call), call)
        body = [_append(items, load(item, call))]
        loop = gast.For(target=store(item, call), iter=call, body=body, orelse=[], type_comment=None)
        made = self.visit_For(gast.copy_location(loop, call))
        self.before += made if isinstance(made, list) else [made]
        return load(items, call)


_Place = tuple[gast.AST, str, int | None]  # a node's field, or an item of it


def _get(place: _Place) -> gast.AST:
    node, name, k = place
    return getattr(node, name) if k is None else getattr(node, name)[k]


def _put(place: _Place, value: gast.AST) -> None:
    node, name, k = place
    if k is None:
        setattr(node, name, value)
    else:
        getattr(node, name)[k] = value


def _children(node: gast.AST) -> list[_Place]:
    """The expressions of which an expression consists, in the order in which Python evaluates them."""
    match node:
        case gast.Dict():
            pairs = ((node, field, k) for k in range(len(node.values)) for field in ("keys", "values"))
            return [place for place in pairs if _get(place) is not None]
        case gast.Call(func=gast.Attribute() as method):
            places: list[_Place] = [(method, "value", None)]
        case gast.Call():
            places = []
        case gast.Compare(comparators=[_, _, *_]):  # of which Python may leave out all after the second
            return [(node, "left", None), (node, "comparators", 0)]
        case _:
            places = []
            for name, field in gast.iter_fields(node):
                for k, part in enumerate(field) if isinstance(field, list) else [(None, field)]:
                    if isinstance(part, gast.Slice | gast.FormattedValue):
                        places += _children(part)
                    elif isinstance(part, gast.expr):
                        places.append((node, name, k))
            return places
    places += [(node, "args", k) for k in range(len(node.args))]
    return places + [(keyword, "value", None) for keyword in node.keywords]


def _append(items: str, element: gast.AST) -> gast.AST:
    function = gast.copy_location(gast.Attribute(value=load(items, element), attr="append", ctx=gast.Load()), element)
    call = gast.copy_location(gast.Call(func=function, args=[element], keywords=[]), element)
    return gast.copy_location(gast.Expr(value=call), element)


def _is_equal(left: gast.AST, right: gast.AST) -> gast.AST:
    return gast.copy_location(gast.Compare(left=left, ops=[gast.Eq()], comparators=[right]), left)
