"""``match`` becomes ``if`` and ``elif``."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace

import gast

from autobatch.frontend.refusals import refusal
from autobatch.frontend.source import Source
from autobatch.frontend.syntax import Namer, Statements, assign, constant, load, renamed
from autobatch.frontend.trees import copy_of, walk


def without_match(source: Source) -> Source:
    """The function without ``match``: of values, classes and sequences, of which parts may get names."""
    if not any(isinstance(node, gast.Match) for node in walk(source.tree)):
        return source
    return replace(source, tree=_Matches(source).visit(source.tree))


@dataclass
class _Case:
    """What a pattern asks for, and the names that it binds."""

    tests: list[gast.AST] = field(default_factory=list)
    bound: dict[str, gast.AST] = field(default_factory=dict)


class _Matches(gast.NodeTransformer):
    def __init__(self, source: Source):
        self.source, self.namer = source, Namer(source.tree)

    def visit_Match(self, node: gast.Match) -> Statements:
        is_tuple = isinstance(node.subject, gast.Tuple)
        parts = node.subject.elts if is_tuple else [node.subject]
        names = [self.namer.fresh("subject") for _ in parts]
        before = [assign(name, self.visit(part), node) for name, part in zip(names, parts, strict=True)]
        subjects = [load(name, node) for name in names]
        last: Statements = []
        for each in reversed(node.cases):
            case = _Case()
            self.pattern(each.pattern, subjects, is_tuple, case, node)
            bindings = [assign(name, copy_of(subject), node) for name, subject in case.bound.items()]
            body = [*bindings, *(made for s in each.body for made in _listed(self.visit(s)))]
            tests = case.tests
            names_alone = all(isinstance(subject, gast.Name) for subject in case.bound.values())
            if each.guard is not None and (not names_alone or self.are_read_elsewhere(case.bound, each)):
                last = self.bound_before_guard(tests, bindings, self.visit(each.guard), body[len(bindings) :], last)
                continue
            if each.guard is not None:
                tests = [*tests, renamed(self.visit(each.guard), {name: s.id for name, s in case.bound.items()})]
            last = _if_all(tests, body, last)
        return [*before, *last]

    def are_read_elsewhere(self, bound: Iterable[str], case: gast.match_case) -> bool:
        """Whether these names are read but in the case itself."""
        reads = Counter(_reads(self.source.tree))
        inside = Counter(_reads(case))
        return any(reads[name] > inside[name] for name in bound)

    def bound_before_guard(
        self, tests: list[gast.AST], bindings: Statements, guard: gast.AST, body: Statements, last: Statements
    ) -> Statements:
        """Names stay bound where the guard does not hold."""
        if not tests:
            return [*bindings, *_if_all([guard], body, last)]
        holds = self.namer.fresh("holds")
        bound = _if_all(tests, [*bindings, assign(holds, guard, guard)], [])
        return [assign(holds, constant(False, guard), guard), *bound, *_if_all([load(holds, guard)], body, last)]

    def pattern(self, pattern: gast.AST, subjects: list[gast.AST], is_tuple: bool, case: _Case, at: gast.AST) -> None:
        """Adds to the case what the pattern asks of the subjects; those of a tuple are matched by a sequence."""
        match pattern:
            case gast.MatchAs(pattern=None, name=None):
                return
            case gast.MatchSequence(patterns=patterns) if is_tuple and len(patterns) == len(subjects):
                for part, subject in zip(patterns, subjects, strict=True):
                    self.pattern(part, [subject], False, case, at)
                return
            case _ if is_tuple:
                pass
            case gast.MatchAs(pattern=inner, name=str(name)):
                if inner is not None:
                    self.pattern(inner, subjects, is_tuple, case, at)
                case.bound[name] = subjects[0]
                return
            case gast.MatchValue(value=value):
                case.tests.append(_compared(subjects[0], gast.Eq(), value))
                return
            case gast.MatchSingleton(value=value):
                case.tests.append(_compared(subjects[0], gast.Is(), constant(value, at)))
                return
            case gast.MatchSequence(patterns=patterns):
                for subject, part in self.parts_of_sequence(patterns, subjects[0], case, at):
                    self.pattern(part, [subject], False, case, at)
                return
            case gast.MatchMapping(keys=keys, patterns=patterns, rest=None):
                case.tests.append(_call("isinstance", [subjects[0], load("dict", at)], at))
                for key, part in zip(keys, patterns, strict=True):
                    case.tests.append(_compared(key, gast.In(), subjects[0]))
                    self.pattern(part, [_item(subjects[0], key, at)], False, case, at)
                return
            case gast.MatchClass(cls=cls):
                case.tests.append(_call("isinstance", [subjects[0], cls], at))
                for subject, part in self.parts_of_object(pattern, subjects[0], at):
                    self.pattern(part, [subject], False, case, at)
                return
            case gast.MatchOr(patterns=patterns):
                arms = []
                for part in patterns:
                    arm = _Case()
                    self.pattern(part, subjects, is_tuple, arm, at)
                    if arm.bound or len(arm.tests) != 1:
                        break
                    arms += arm.tests
                else:
                    case.tests.append(gast.copy_location(gast.BoolOp(op=gast.Or(), values=arms), arms[0]))
                    return
        what = "this kind of `case`"
        raise refusal(self.source.location(at), what, "use if and elif.", "match-statement")

    def parts_of_sequence(
        self, patterns: Sequence[gast.AST], subject: gast.AST, case: _Case, at: gast.AST
    ) -> Iterator[tuple[gast.AST, gast.AST]]:
        """The items that a sequence pattern looks at, each with its pattern."""
        star = next((k for k, part in enumerate(patterns) if isinstance(part, gast.MatchStar)), None)
        after = 0 if star is None else len(patterns) - star - 1
        kinds = gast.copy_location(gast.Tuple(elts=[load("list", at), load("tuple", at)], ctx=gast.Load()), at)
        case.tests.append(_call("isinstance", [subject, kinds], at))
        length = constant(len(patterns) - (star is not None), at)
        case.tests.append(_compared(_call("len", [subject], at), gast.Eq() if star is None else gast.GtE(), length))
        for k, part in enumerate(patterns):
            if k == star:
                if part.name is not None:
                    end = constant(-after, at) if after else None
                    items = gast.Slice(lower=constant(k, at), upper=end, step=None)
                    case.bound[part.name] = _call("list", [_item(subject, items, at)], at)
            else:
                place = k if star is None or k < star else k - len(patterns)
                yield _item(subject, constant(place, at), at), part

    def parts_of_object(
        self, pattern: gast.MatchClass, subject: gast.AST, at: gast.AST
    ) -> Iterator[tuple[gast.AST, gast.AST]]:
        """What a class pattern looks at, each with its pattern."""
        cls = self.source.named(pattern.cls)
        if cls in _WHOLE and len(pattern.patterns) == 1:
            yield subject, pattern.patterns[0]
        else:
            names = getattr(cls, "__match_args__", ())[: len(pattern.patterns)]
            if len(names) < len(pattern.patterns):
                what = f"a `case` with {len(pattern.patterns)} parts for a class that names {len(names)}"
                raise refusal(self.source.location(at), what, "name the attributes: Point(x=0).", "match-statement")
            for name, part in zip(names, pattern.patterns, strict=True):
                yield _attribute(subject, name, at), part
        for name, part in zip(pattern.kwd_attrs, pattern.kwd_patterns, strict=True):
            yield _attribute(subject, name, at), part


# Of which a pattern's one part is the whole.
_WHOLE = (bool, bytearray, bytes, dict, float, frozenset, int, list, set, str, tuple)


def _call(function: str, arguments: list[gast.AST], at: gast.AST) -> gast.AST:
    call = gast.Call(func=load(function, at), args=[*map(copy_of, arguments)], keywords=[])
    return gast.copy_location(call, at)


def _item(subject: gast.AST, index: gast.AST, at: gast.AST) -> gast.AST:
    item = gast.Subscript(value=copy_of(subject), slice=copy_of(index), ctx=gast.Load())
    return gast.copy_location(item, at)


def _attribute(subject: gast.AST, name: str, at: gast.AST) -> gast.AST:
    return gast.copy_location(gast.Attribute(value=copy_of(subject), attr=name, ctx=gast.Load()), at)


def _if_all(tests: list[gast.AST], body: Statements, orelse: Statements) -> Statements:
    if not tests:
        return body
    test = tests[0] if len(tests) == 1 else gast.BoolOp(op=gast.And(), values=tests)
    arm = gast.If(test=gast.copy_location(test, tests[0]), body=body, orelse=orelse)
    return [gast.copy_location(arm, tests[0])]


def _reads(tree: gast.AST) -> Iterator[str]:
    return (n.id for n in walk(tree) if isinstance(n, gast.Name) and isinstance(n.ctx, gast.Load))


def _compared(subject: gast.AST, operator: gast.AST, value: gast.AST) -> gast.AST:
    compare = gast.Compare(left=copy_of(subject), ops=[operator], comparators=[copy_of(value)])
    return gast.copy_location(compare, value)


def _listed(made: gast.AST | Statements) -> Statements:
    return made if isinstance(made, list) else [made]
