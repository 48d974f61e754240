"""Which names a read may find unset, as far as the syntax tells."""

from __future__ import annotations

from collections.abc import Iterable

import gast

from autobatch.frontend.syntax import Statements, names

Known = frozenset[str] | None  # the names that are set; None: nothing gets here


def sometimes_unset(body: Statements, given: Iterable[str]) -> frozenset[str]:
    """The locals that are read where some path from the function's start, to which ``given`` are set, sets them not."""
    walk = _Walk(names(body, gast.Store))
    walk.block(body, frozenset(given))
    return frozenset(walk.doubtful)


class _Walk:
    def __init__(self, assigned: Iterable[str]):
        self.locals, self.doubtful = set(assigned), set[str]()
        self.at_breaks: list[list[Known]] = []  # of the loops around, what is set where they are left

    def block(self, statements: Statements, known: Known) -> Known:
        for statement in statements:
            if known is None:
                return None
            known = self.statement(statement, known)
        return known

    def statement(self, node: gast.AST, known: frozenset[str]) -> Known:
        match node:
            case gast.If():
                known = self.simple(node.test, known)
                return _both(self.block(node.body, known), self.block(node.orelse, known))
            case gast.Try():
                return self.attempt(node, known)
            case gast.While() | gast.For():
                return self.loop(node, known)
            case gast.Break():
                self.at_breaks[-1].append(known)
                return None
            case gast.Return() | gast.Raise():
                self.simple(node, known)
                return None
            case gast.Continue():
                return None
            case _:
                return self.simple(node, known)

    def attempt(self, node: gast.Try, known: frozenset[str]) -> Known:
        result = self.block(node.orelse, self.block(node.body, known))
        for handler in node.handlers:
            result = _both(result, self.block(handler.body, known))
        last = self.block(node.finalbody, known)
        return None if result is None or last is None else result | last

    def loop(self, node: gast.While | gast.For, known: frozenset[str]) -> Known:
        known = self.simple(node.test if isinstance(node, gast.While) else node.iter, known)
        for_ever = isinstance(node, gast.While) and isinstance(node.test, gast.Constant) and node.test.value
        self.at_breaks.append([])
        targets = names(node.target, gast.Store) if isinstance(node, gast.For) else ()
        self.block(node.body, known.union(targets))
        left = self.at_breaks.pop()
        result = None if for_ever else self.block(node.orelse, known)
        for other in left:
            result = _both(result, other)
        return result

    def simple(self, node: gast.AST, known: frozenset[str]) -> frozenset[str]:
        self.doubtful |= self.locals.intersection(names(node)) - known
        return known.union(names(node, gast.Store))


def _both(one: Known, other: Known) -> Known:
    if one is None or other is None:
        return one if other is None else other
    return one & other
