"""What a program's own code changes outside while it is traced, and reads: refused, as it would stand for all members.

Python runs a helper that counts its calls, takes from a list of the module's or fills a dict once for each member;
traced, it runs as often as it happens to.  What nobody reads (a log, a count of calls) may change.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from types import CodeType, FunctionType

import gast

from autobatch import errors, ir
from autobatch.frontend.source import Source, read
from autobatch.frontend.trees import walk
from autobatch.frontend.watch import Watched, watch_with_functions


class Outside:
    """What functions refer to, as it was when they were first met."""

    def __init__(self) -> None:
        self.before: dict[tuple, Watched] = {}
        self.functions: dict[int, FunctionType] = {}

    def meet(self, sources: Iterable[Source]) -> None:
        found, functions = watch_with_functions(sources)
        self.before = found | self.before
        self.functions |= {id(function): function for function in functions}

    def check(self) -> None:
        """Raises UnsupportedSyntaxError where something is read that is not as it was."""
        changed = {name for watched in self.before.values() for name in watched.changes()}
        for function in self.functions.values() if changed else ():
            for location, name in _reads(function, changed):
                raise errors.UnsupportedSyntaxError(
                    f"`{name}` is from outside, and this code both changes and reads it: all members would find what "
                    "it holds while the function is traced.",
                    [(location, "")],
                    "make it in the function, pass each member what it needs, or change it before the call.",
                    kind="changes-outside",
                )


def _reads(function: FunctionType, names: Collection[str]) -> Iterator[tuple[ir.Location, str]]:
    """Where the function reads something by one of these names, and by which."""
    mentioned = _mentioned(function.__code__) & {*names}
    if not mentioned:
        return
    try:
        source = read(function, {})
    except errors.UnsupportedSyntaxError:  # a lambda, whose text cannot be told from others on its line
        yield ir.location(function.__code__.co_filename, function.__code__.co_firstlineno, 0), min(mentioned)
        return
    nodes = [*walk(source.tree)]
    only_changed = {id(part) for node in nodes for part in _only_changed(node)}
    for node in nodes:
        match node:
            case gast.Name(id=name, ctx=gast.Load()) | gast.Attribute(attr=name, ctx=gast.Load()):
                is_read = id(node) not in only_changed
            case gast.Constant(value=str(name)):  # getattr, or so
                is_read = True
            case _:
                continue
        if is_read and name in mentioned:
            yield source.location(node), name


def _only_changed(node: gast.AST) -> list[gast.AST]:
    """What a statement changes, whatever was there before: ``x.append(5)``, ``x[k] += 1``."""
    match node:
        case gast.Expr(value=gast.Call(func=gast.Attribute(value=owner))):
            return [owner]
        case gast.Call(func=gast.Attribute(value=owner, attr=name)) if name in _SAYING_NOTHING:
            return [owner]
        case gast.Subscript(value=owner, ctx=gast.Store() | gast.Del()):
            return [owner]
    return []


# Methods of Python's containers that return None.
_SAYING_NOTHING = {
    "add", "append", "appendleft", "clear", "discard", "extend", "extendleft", "insert", "remove", "update",
}  # fmt: skip


def _mentioned(code: CodeType) -> set[str]:
    """The names of globals, closures and attributes that the code, and what is defined in it, may refer to."""
    inner = [_mentioned(part) for part in code.co_consts if isinstance(part, CodeType)]
    texts = (part for part in code.co_consts if isinstance(part, str))
    return {*code.co_names, *code.co_freevars, *texts}.union(*inner)
