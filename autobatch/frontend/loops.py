"""From the user's Python to core Python: ``for`` loops and comprehensions, rolled or unrolled.

A loop stays a loop if one position can stand for any of its items: numbers, rows, things of one type.  Otherwise, or if
asked by ``ab.unroll``, its body is copied for each item.  Items that are known now are static in their copy; of others,
inference finds out how many there are (``indexing.UnlikeItemsError``) and the function is desugared again.
"""

from __future__ import annotations

import builtins
from collections.abc import Callable, Sequence, Sized
from typing import Any

import gast

from autobatch import errors
from autobatch.frontend.calls import Calls
from autobatch.frontend.effects import runs_method
from autobatch.frontend.list_methods import is_method
from autobatch.frontend.scope import UNKNOWN
from autobatch.frontend.syntax import (
    COMPREHENSIONS,
    Statements,
    always_leaves,
    assign,
    assigned_names,
    constant,
    copied,
    if_,
    load,
    names,
    own_jumps,
    own_jumps_replaced,
    renamed,
    support,
    while_true,
)  # fmt: skip
from autobatch.frontend.trees import walk
from autobatch.language.looping import ROLLED, alike, unroll
from autobatch.language.values import is_tensor

Item = Callable[[gast.AST], gast.AST]  # from a position to what is there
Finder = Callable[[list[gast.AST], gast.AST], gast.AST]  # the same, for the names of the parts
Part = tuple[gast.AST | None, str]  # "items" that a loop goes through, or how many they were ("begun"); a "number"
Length = Callable[[list[gast.AST]], gast.AST]  # for the names of the parts
_ITERATORS = (builtins.zip, builtins.enumerate, builtins.reversed)


class Loops(Calls):
    def do_For(self, node: gast.For) -> None:
        if self.else_jumps(node):
            return
        iterable, forced = self.iterable(node.iter)
        call = node.iter
        if not forced and isinstance(call, gast.Call) and self.static_value(call.func) is builtins.range:
            if call.keywords or any(isinstance(a, gast.Starred) for a in call.args) or not 1 <= len(call.args) <= 3:
                self.refuse(
                    call,
                    "this form of range",
                    "write range(stop), range(start, stop) or range(start, stop, step).",
                    kind="range-arguments",
                )
            self.range_loop(node, call)
            return
        known = self.static_items(iterable)
        if known is not None and (forced or not alike(known)):
            self.out += self.block(self.unrolled(node, [load(self.bind("item", item), node) for item in known]))
        elif self.is_display_of_functions(iterable):
            self.out += self.block(self.unrolled(node, iterable.elts))
        elif forced or self.unrolled_counts.get(place(node), ROLLED) != ROLLED:
            if self.unrolled_counts.get(place(node)) == ROLLED:
                self.refuse(
                    node.iter,
                    "`ab.unroll` of a list whose length differs between members",
                    "loop over the list itself.",
                    kind="unroll-of-members",
                )
            items, ended = self.counted_items(iterable, node, forced)
            self.out += self.block(self.unrolled(node, items, ended))
        else:
            self.sequence_loop(node)

    def do_While(self, node: gast.While) -> None:
        if self.else_jumps(node):
            return
        first, rest = split_walrus(node.test)
        if rest is not None and not node.orelse:
            leave = gast.If(test=rest, body=[gast.Pass()], orelse=[gast.copy_location(gast.Break(), node)])
            body = [gast.copy_location(leave, node), *node.body]
            self.do_While(gast.copy_location(gast.While(test=first, body=body, orelse=[]), node))
            return
        known = self.known(node.test)
        if known is not UNKNOWN and not known:
            self.out += self.block(node.orelse)
            return
        outer, self.out = self.out, []
        if known is UNKNOWN:
            self.leave_unless(self.condition(node.test), node)
        body, self.out = self.out, outer
        self.loop([*body, *self.block(node.body)], node)

    def loop(self, body: Statements, at: gast.AST) -> None:
        self.out.append(while_true(body, at))

    def leave_unless(self, test: gast.AST, at: gast.While | gast.For) -> None:
        """Leaves the loop by way of its ``else``."""
        negated = gast.copy_location(gast.UnaryOp(op=gast.Not(), operand=test), at)
        last = self.block(at.orelse)
        if not always_leaves(last):
            last.append(gast.copy_location(gast.Break(), at))
        self.emit(gast.If(test=negated, body=last, orelse=[]), at)

    def else_jumps(self, node: gast.While | gast.For) -> bool:
        """Moves an ``else`` that leaves the loop around this one out of this one; says whether it did."""
        if not any(own_jumps(node.orelse, kind) for kind in (gast.Break, gast.Continue)):
            return False
        finished = self.fresh("finished")
        fields = {name: getattr(node, name) for name in node._fields}
        fields["orelse"] = [assign(finished, constant(True, node), node)]
        loop = gast.copy_location(type(node)(**fields), node)
        after = if_(load(finished, node), node.orelse, node)
        self.out += self.block([assign(finished, constant(False, node), node), loop, after])
        return True

    # --- rolled -----------------------------------------------------------------------------------

    def range_loop(self, node: gast.For, call: gast.Call) -> None:
        bounds = self.in_order(call.args)
        bounds = [self.temporary(b, "bound") if any(map(runs_method, walk(b))) else b for b in bounds]
        bounds = [b if _is_int(b) else support("integer", [b], b) for b in bounds]
        start = bounds[0] if len(bounds) > 1 else constant(0, node)
        stop = self.named(bounds[1] if len(bounds) > 1 else bounds[0], "stop")
        step = self.named(bounds[2], "step") if len(bounds) > 2 else constant(1, node)
        known_bounds = [self.static_value(b) for b in call.args]
        if all(isinstance(b, int) for b in known_bounds) and known_bounds[2:] != [0] and range(*known_bounds):
            self.unpack(node.target, start, node)  # the loop runs, so its variable is set after it
        step_value = self.known(step)
        position = self.fresh(f"next_{node.target.id}" if isinstance(node.target, gast.Name) else "next")
        if step_value is not UNKNOWN and isinstance(step_value, int) and step_value != 0:
            order = gast.Lt() if step_value > 0 else gast.Gt()
            inside = load(position, node)
            more: gast.AST = gast.copy_location(gast.Compare(left=inside, ops=[order], comparators=[stop]), node)
        else:
            more = support("in_range", [load(position, node), stop, step], node)
        self.out.append(assign(position, start, node))
        self.counted_loop(node, position, more, load(position, node), step)

    def sequence_loop(self, node: gast.For) -> None:
        """``for row in x``: over a tensor's leading axis, over a Python sequence of like items, or over several."""
        position = self.fresh("next")
        lengths, item = self.iteration(node.iter, node, "sequence", load(position, node))
        stop = lengths[0] if len(lengths) == 1 else support("min_", lengths, node)
        if not self.may_grow_lists(node):
            stop = self.temporary(stop, "stop")
        more = gast.Compare(left=load(position, node), ops=[gast.Lt()], comparators=[stop])
        self.out.append(assign(position, constant(0, node), node))
        value = item(load(position, node))
        self.counted_loop(node, position, gast.copy_location(more, node), value, constant(1, node))

    def may_grow_lists(self, loop: gast.AST) -> bool:
        """Whether the body may change the length of a list that the loop goes through."""
        calls = (n for s in getattr(loop, "body", ()) for n in walk(s) if isinstance(n, gast.Call))
        return any(is_method(call) or self.callee(call.func) is not None for call in calls)

    def counted_loop(self, node: gast.For, position: str, more: gast.AST, item: gast.AST, step: gast.AST) -> None:
        """While there is more, binds the target to the item, advances, and runs the body."""
        outer, self.out = self.out, []
        self.leave_unless(self.named(more, "cond"), node)
        self.unpack(node.target, item, node)
        advanced = gast.copy_location(gast.BinOp(left=load(position, node), op=gast.Add(), right=step), node)
        self.out.append(assign(position, advanced, node))
        head, self.out = self.out, outer
        self.loop([*head, *self.block(node.body)], node)

    # --- position by position ---------------------------------------------------------------------

    def iteration(
        self, iterable: gast.AST, at: gast.AST, operator: str, position: gast.AST
    ) -> tuple[list[gast.AST], Item]:
        """Lengths of what a loop goes through, the shortest of which counts, and what it finds at a position.

        Through ``zip``, ``enumerate`` and ``reversed`` each position is looked up when its turn comes, as in Python.

        Args:
          iterable: what it goes through.
          at: the loop, or comprehension.
          operator: what looks at each part before.
          position: the one for which the lengths are asked.
        """
        parts: list[Part] = []
        ranges: list[Length] | None = [] if operator == "sequence" else None
        finder = self.finder(iterable, parts, ranges, turns_back=self.may_grow_lists(at))
        sources = self.in_order([part for part, _ in parts if part is not None])
        if len(sources) > 1:
            sources = [self.named(source, "part") for source in sources]
        through = [source for source, (_, kind) in zip(sources, _given(parts), strict=True) if kind == "items"]
        names, lengths = [], []
        for _, kind in parts:
            if kind == "begun":  # where it begins, whatever becomes of the list
                names.append(self.temporary(lengths.pop(), "begun"))
                lengths.append(support("length_from_end", [*names[-2:], position], at))
                continue
            source = sources.pop(0)
            if kind == "items":
                beside = [other for other in through if other is not source]
                source = self.temporary(support(operator, [source, *beside], at), "items")
                self.loops[source.id] = place(at)
                lengths.append(support("len_", [source], at))
            names.append(source)
        return [*(length(names) for length in ranges or ()), *lengths], lambda position: finder(names, position)

    def finder(self, node: gast.AST, parts: list[Part], ranges: list[Length] | None, turns_back: bool) -> Finder:
        """What an iterable has at a position, in terms of its parts, to which it adds; in a range, it is computed.

        Args:
          node: the iterable.
          parts: to this its parts are added.
          ranges: to this the lengths of ranges are added; without, these are parts themselves.
          turns_back: whether ``reversed`` goes through what may change its length.
        """
        call = node if isinstance(node, gast.Call) else None
        builtin = self.static_value(node.func) if call and not any(map(_is_starred, node.args)) else None
        options = {keyword.arg: keyword.value for keyword in call.keywords} if call else {}
        k = len(parts)
        if builtin is builtins.enumerate and 1 <= len(node.args) <= 2 and set(options) <= {"start"}:
            inner = self.finder(node.args[0], parts, ranges, turns_back)
            start = len(parts)
            parts.append((next(iter([*node.args[1:], *options.values()]), constant(0, node)), "number"))

            def numbered(names: list[gast.AST], position: gast.AST) -> gast.AST:
                return _tuple([_sum(position, names[start], node), inner(names, position)], node)

            return numbered
        if builtin is builtins.zip and node.args and not options:
            each = [self.finder(argument, parts, ranges, turns_back) for argument in node.args]
            return lambda names, position: _tuple([find(names, position) for find in each], node)
        is_range = builtin is builtins.range and 1 <= len(node.args) <= 2 and self.static_value(node) is UNKNOWN
        if is_range and ranges is not None:
            bounds = [support("integer", [bound], node) for bound in node.args]
            parts += [(bound, "number") for bound in [constant(0, node), *bounds][-2:]]
            ranges.append(
                lambda names: gast.copy_location(gast.BinOp(left=names[k + 1], op=gast.Sub(), right=names[k]), node)
            )
            return lambda names, position: _sum(position, names[k], node)
        turned = builtin is builtins.reversed and len(node.args) == 1 and not options
        if turned and turns_back:
            parts += [(node.args[0], "items"), (None, "begun")]
            return lambda names, position: support("item", [names[k], _last(names[k + 1], position)], node)
        parts.append((node.args[0] if turned else node, "items"))
        operator = "item_from_end" if turned else "item"
        return lambda names, position: support(operator, [names[k], position], node)

    # --- unrolled ---------------------------------------------------------------------------------

    def iterable(self, node: gast.AST) -> tuple[gast.AST, bool]:
        """What a loop goes through, and whether ``ab.unroll`` stands around it."""
        if isinstance(node, gast.Call) and self.static_value(node.func) is unroll and len(node.args) == 1:
            return node.args[0], True
        return node, False

    def static_items(self, node: gast.AST) -> list[Any] | None:
        """The items of an iterable that is known now, else None."""
        value = self.static_value(node)
        if value is UNKNOWN or is_tensor(value) or hasattr(value, "__array__"):
            return None
        if isinstance(value, Sized) or (isinstance(node, gast.Call) and isinstance(value, _ITERATORS)):
            return list(value)  # type: ignore[call-overload]
        return None

    def is_display_of_functions(self, node: gast.AST) -> bool:
        """``[f, lambda y: y + 1, obj.method]``: each is known in its copy."""
        return isinstance(node, gast.Tuple | gast.List) and all(
            isinstance(part, gast.Lambda) or callable(self.static_value(part)) for part in node.elts
        )

    def counted_items(self, iterable: gast.AST, at: gast.AST, forced: bool) -> tuple[list[gast.AST], Statements]:
        """Expressions for the items of an iterable that is not known now, and what is to follow the last of them.

        Inference asks for it if they are unlike.  If ``forced``, by ``ab.unroll``, they are those that it has now.
        """
        key = place(at)
        count = self.unrolled_counts.get(key, 0)
        operator = "unroll" if forced else "unrolled"
        if key not in self.unrolled_counts:
            operator = "unroll_first"
        if forced:
            items = self.temporary(support(operator, [self.expression(iterable)], at), "items")
            self.loops[items.id] = key
            return [support("item", [load(items.id, at), constant(k, at)], at) for k in range(count)], []
        lengths, item = self.iteration(iterable, at, operator, constant(count, at))
        check = support("gone_through", [constant(count, at), *lengths], at)
        return [item(constant(k, at)) for k in range(count)], [gast.copy_location(gast.Expr(value=check), at)]

    def unrolled(self, node: gast.For, items: Sequence[gast.AST], ended: Statements | None = None) -> Statements:
        """The loop as copies of its body, in the user's Python; ``ended``: what follows the last."""
        breaks, continues = (own_jumps(node.body, kind) for kind in (gast.Break, gast.Continue))
        left = self.fresh("left")
        copies: Statements = []
        for k, item in enumerate(items):
            body = self.copy(node, item, k)
            if continues:  # the copy becomes a loop that runs once
                if breaks:
                    copies.append(assign(left, constant(False, node), node))
                    body = own_jumps_replaced(
                        body, gast.Break, [assign(left, constant(True, node), node), gast.Break()]
                    )
                body = own_jumps_replaced(body, gast.Continue, [gast.Break()])
                copies.append(while_true([*body, gast.Break()], node))
                if breaks:
                    copies.append(if_(load(left, node), [gast.Break()], node))
            else:  # a block of its own, for the functions that it defines
                copies.append(if_(constant(True, node), body, node))
        after = [*copies, *(ended or ()), *node.orelse]
        return [while_true([*after, gast.Break()], node)] if breaks else after

    def copy(self, node: gast.For, item: gast.AST, k: int) -> Statements:
        """One copy of the loop's body.  A target that is known now is static in it, unless the body assigns it."""
        known = self.static_value(item)
        bound = {} if known is UNKNOWN else self.bound_target(node.target, known)
        fixed = {name: static for name, static in bound.items() if name not in assigned_names(node.body)}
        body = [renamed(statement, fixed) for statement in node.body]
        for part in (part for statement in body for part in walk(statement)):
            if isinstance(part, (gast.For, *COMPREHENSIONS)):
                part.path = (*getattr(part, "path", ()), k)
        targets = [n.id for n in walk(node.target) if isinstance(n, gast.Name)]
        if set(targets) <= set(fixed) and not any(self.is_read_outside(name, node.body) for name in targets):
            return body
        return [gast.copy_location(gast.Assign(targets=[node.target], value=item, type_comment=None), node), *body]

    def bound_target(self, target: gast.AST, value: Any) -> dict[str, str]:
        """The static names that stand for the target's names when it is bound to the value."""
        if isinstance(target, gast.Name):
            name = self.bind(target.id, value)
            self.changing.add(name)
            return {target.id: name}
        if any(isinstance(element, gast.Starred) for element in target.elts):
            return {}
        try:
            parts = list(value)
        except TypeError:
            parts = None
        if parts is None or len(parts) != len(target.elts):
            raise errors.TypeMismatchError(
                f"{len(target.elts)} targets, but the item is {value!r}.",
                [(self.source.location(target), "")],
                kind="wrong-unpacking",
            )
        pairs = zip(target.elts, parts, strict=True)
        return {name: static for element, part in pairs for name, static in self.bound_target(element, part).items()}

    def is_read_outside(self, name: str, body: Statements) -> bool:
        return _reads(name, [self.tree]) > _reads(name, body)

    # --- comprehensions ---------------------------------------------------------------------------

    def comprehension(self, node: gast.AST) -> gast.AST:
        if not self.needs_statements(node):
            for generator in node.generators:
                if isinstance(generator.iter, gast.Name | gast.Attribute | gast.Subscript):
                    generator.iter = support("rows", [generator.iter], node)
            return self.scope(node)
        if isinstance(node, gast.GeneratorExp) and id(node) not in self.used_at_once:
            self.refuse(
                node,
                "a generator whose items need statements of their own",
                "write a list.",
                kind="generator-with-statements",
            )
        if len(node.generators) > 1:
            self.refuse(
                node,
                "this comprehension with several `for`s",
                "write a for loop.",
                kind="comprehension-of-several-loops",
            )
        (generator,) = node.generators
        iterable, forced = self.iterable(generator.iter)
        known, ended = self.static_items(iterable), []
        if known is None:
            items, ended = self.counted_items(iterable, node, forced)
        else:
            items = [load(self.bind("item", item), node) for item in known]
        keys, values = [], []
        for item in items:
            if known is None:
                new = {name: self.fresh(name) for name in names(generator.target, gast.Store)}
                self.changing |= {*new.values()}
                self.unpack(copied(generator.target, new), item, node)
            else:
                new = self.bound_target(generator.target, self.static_value(item))
            if not all(self.admits(renamed(test, new)) for test in generator.ifs):
                continue
            if isinstance(node, gast.DictComp):
                keys.append(self.expression(renamed(node.key, new)))
            value = self.expression(renamed(node.value if isinstance(node, gast.DictComp) else node.elt, new))
            values.append(value if isinstance(value, gast.Constant) else self.temporary(value, "element"))
        self.out += ended
        if isinstance(node, gast.DictComp):
            return gast.copy_location(gast.Dict(keys=keys, values=values), node)
        if isinstance(node, gast.SetComp):
            return gast.copy_location(gast.Set(elts=values), node)
        return gast.copy_location(gast.List(elts=values, ctx=gast.Load()), node)

    on_ListComp = on_SetComp = on_DictComp = on_GeneratorExp = comprehension

    def needs_statements(self, node: gast.AST) -> bool:
        """Whether the comprehension has what Python, running it on symbolic tensors, would get wrong."""
        first = node.generators[0].iter
        if isinstance(first, gast.Call) and self.static_value(first.func) is unroll:
            return True
        parts = [part for part in walk(node) if part is not node]
        return any(
            isinstance(part, gast.IfExp | gast.BoolOp | gast.Not)
            or (isinstance(part, gast.Compare) and (len(part.ops) > 1 or isinstance(part.ops[0], gast.In | gast.NotIn)))
            or (isinstance(part, gast.Call) and (self.callee(part.func) is not None or self.choices_at(part)))
            or self.is_of_program(part)
            for part in parts
        )

    def admits(self, test: gast.AST) -> bool:
        known = self.known(test)
        if known is UNKNOWN:
            self.refuse(
                test,
                "a comprehension whose length differs between members",
                "choose the value ([a if c else 0.0 for ...]), or fill a tensor in a for loop.",
                kind="comprehension-length",
            )
        return bool(known)


def split_walrus(test: gast.AST) -> tuple[gast.AST, gast.AST | None]:
    """``a and (y := b)`` as a, and the rest that runs only if a holds, after which y is set; else None."""
    if not (isinstance(test, gast.BoolOp) and isinstance(test.op, gast.And)):
        return test, None
    first, *rest = test.values
    if not any(isinstance(part, gast.NamedExpr) for value in rest for part in walk(value)):
        return test, None
    whole = rest[0] if len(rest) == 1 else gast.copy_location(gast.BoolOp(op=test.op, values=rest), rest[0])
    return first, whole


def place(node: gast.AST) -> tuple:
    """Tells a loop from all others of its function, copies of itself included."""
    return node.lineno, node.col_offset, getattr(node, "path", ())


def _tuple(elements: list[gast.AST], at: gast.AST) -> gast.AST:
    return gast.copy_location(gast.Tuple(elts=elements, ctx=gast.Load()), at)


def _sum(position: gast.AST, start: gast.AST, at: gast.AST) -> gast.AST:
    if isinstance(start, gast.Constant) and start.value == 0:
        return position
    return gast.copy_location(gast.BinOp(left=position, op=gast.Add(), right=start), at)


def _given(parts: Sequence[Part]) -> list[Part]:
    return [part for part in parts if part[0] is not None]


def _last(length: gast.AST, position: gast.AST) -> gast.AST:
    """``length - 1 - position``"""
    end = gast.copy_location(gast.BinOp(left=length, op=gast.Sub(), right=constant(1, length)), length)
    return gast.copy_location(gast.BinOp(left=end, op=gast.Sub(), right=position), length)


def _is_starred(node: gast.AST) -> bool:
    return isinstance(node, gast.Starred)


def _is_int(node: gast.AST) -> bool:
    return isinstance(node, gast.Constant) and isinstance(node.value, int)


def _reads(name: str, trees: Sequence[gast.AST]) -> int:
    nodes = (n for tree in trees for n in walk(tree))
    return sum(isinstance(n, gast.Name) and n.id == name and isinstance(n.ctx, gast.Load) for n in nodes)
