"""A comprehension as the loops that it is."""

from __future__ import annotations

from collections.abc import Callable

import gast

from autobatch.frontend.syntax import Statements, copied, if_, load, names, renamed


def as_loops(
    node: gast.AST,
    fresh: Callable[[str], str],
    body: Callable[..., Statements],
    ended: str | None = None,
) -> tuple[Statements, set[str]]:
    """The loops around what is done with each element, and their variables.

    Args:
      node: the comprehension.
      fresh: makes names.
      body: what is done, from the element; from key and value, of a dict.
      ended: the variable that says that all loops end, if there is one.
    """
    new: dict[str, str] = {}
    through = []
    for generator in node.generators:  # each sees the targets of those before it
        iterable = renamed(generator.iter, new)
        new = new | {name: fresh(name) for name in names(generator.target, gast.Store)}
        through.append((copied(generator.target, new), iterable, [renamed(test, new) for test in generator.ifs]))
    elements = (node.key, node.value) if isinstance(node, gast.DictComp) else (node.elt,)
    statements = body(*(renamed(element, new) for element in elements))
    for k, (target, iterable, tests) in reversed(list(enumerate(through))):
        for test in reversed(tests):
            statements = [if_(test, statements, test)]
        loop = gast.For(target=target, iter=iterable, body=statements, orelse=[], type_comment=None)
        loop = gast.copy_location(loop, target)
        loop.path = getattr(node, "path", ())
        statements = [loop]
        if ended is not None and k:
            statements.append(if_(load(ended, node), [gast.copy_location(gast.Break(), node)], node))
    return statements, {*new.values()}
