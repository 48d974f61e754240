"""``match`` becomes ``if`` and ``elif``."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import gast

from autobatch.frontend.refusals import refusal
from autobatch.frontend.source import Source
from autobatch.frontend.syntax import Namer, Statements, assign, constant, load, renamed


def without_match(source: Source) -> Source:
    """The function without ``match``: of numbers, None, and displays of tuples, of which parts may get names."""
    if not any(isinstance(node, gast.Match) for node in gast.walk(source.tree)):
        return source
    return replace(source, tree=_Matches(source).visit(source.tree))


@dataclass
class _Case:
    """What a pattern asks for, and the names that it binds."""

    tests: list[gast.AST] = field(default_factory=list)
    bound: dict[str, str] = field(default_factory=dict)


class _Matches(gast.NodeTransformer):
    def __init__(self, source: Source):
        self.source, self.namer = source, Namer(source.tree)

    def visit_Match(self, node: gast.Match) -> Statements:
        is_tuple = isinstance(node.subject, gast.Tuple)
        parts = node.subject.elts if is_tuple else [node.subject]
        subjects = [self.namer.fresh("subject") for _ in parts]
        before = [assign(name, self.visit(part), node) for name, part in zip(subjects, parts, strict=True)]
        last: Statements = []
        for each in reversed(node.cases):
            case = _Case()
            self.pattern(each.pattern, subjects, is_tuple, case, node)
            bindings = [assign(name, load(subject, node), node) for name, subject in case.bound.items()]
            body = [*bindings, *(made for s in each.body for made in _listed(self.visit(s)))]
            tests = case.tests
            if each.guard is not None:
                tests = [*tests, renamed(self.visit(each.guard), case.bound)]
            if not tests:
                last = body
                continue
            test = tests[0] if len(tests) == 1 else gast.BoolOp(op=gast.And(), values=tests)
            arm = gast.If(test=gast.copy_location(test, tests[0]), body=body, orelse=last)
            last = [gast.copy_location(arm, node)]
        return [*before, *last]

    def pattern(self, pattern: gast.AST, subjects: list[str], is_tuple: bool, case: _Case, at: gast.AST) -> None:
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
        what = "a `case` of another kind than numbers, None, names, `|`, and sequences for a tuple"
        raise refusal(self.source.location(at), what, "use if and elif.", "match-statement")


def _compared(subject: str, operator: gast.AST, value: gast.AST) -> gast.AST:
    compare = gast.Compare(left=load(subject, value), ops=[operator], comparators=[value])
    return gast.copy_location(compare, value)


def _listed(made: gast.AST | Statements) -> Statements:
    return made if isinstance(made, list) else [made]
