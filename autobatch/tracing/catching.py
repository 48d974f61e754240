"""Undecorated functions with a ``try`` around what members may fail at: nothing raises there while they are traced."""

from __future__ import annotations

import ast
import contextlib
import functools
import inspect
import textwrap
import types
from collections.abc import Callable, Collection, Sequence
from typing import Any

from autobatch import context, errors, ir
from autobatch.context import is_users
from autobatch.language.as_they_are import is_of_python
from autobatch.tracing.noting import calls_noted


def refuse_catching(risks: Collection[context.Risk], location: ir.Location) -> None:
    """Raises UnsupportedSyntaxError if a function of the user's that is no program would catch what is risked."""
    for risk in risks:
        for code, line in risk:
            if any(line in lines for lines in _caught(code)):
                error = errors.UnsupportedSyntaxError(
                    f"`{code.co_name}` catches what fails for a member, but is not autobatched.",
                    [(ir.location(code.co_filename, line, 0), ""), (location, "called here")],
                    "call it by its name, with its arguments one by one.",
                    kind="not-autobatched",
                )
                error.helpers = frozenset(code for code, _ in risk)
                raise error


def functions_run(call: Callable, inputs: Sequence[Any]) -> frozenset[types.CodeType]:
    """The user's functions that a primitive calls; it is run for that."""
    found: set[types.CodeType] = set()

    def note(frame: types.FrameType) -> None:
        code = frame.f_code
        if not code.co_name.startswith(context.GENERATED) and _may_be_helper(code):
            found.add(code)

    with calls_noted(note), contextlib.suppress(Exception):  # on which nothing depends: it is asked for what led there
        call(*inputs)
    return frozenset(found)


def _may_be_helper(code: types.CodeType) -> bool:
    """Whether this is a function of the user's with statements, which a lambda or a comprehension has not."""
    return not code.co_name.startswith("<") and is_users(code)


@functools.cache
def _caught(code: types.CodeType) -> tuple[range, ...]:
    """The lines of its ``try`` bodies with handlers; of Python's library, with handlers of all that is raised."""
    of_users = _may_be_helper(code)
    if not of_users and not is_of_python(code.co_filename):
        return ()
    try:
        lines, first = inspect.getsourcelines(code)
        tree = ast.parse(textwrap.dedent("".join(lines)))
    except (OSError, SyntaxError):
        return ()
    caught = (node for node in ast.walk(tree) if isinstance(node, ast.Try) and node.handlers)
    bodies = (node.body for node in caught if of_users or any(map(_is_broad, node.handlers)))
    return tuple(range(first + body[0].lineno - 1, first + (body[-1].end_lineno or 0)) for body in bodies)


def _is_broad(handler: ast.ExceptHandler) -> bool:
    return handler.type is None or (isinstance(handler.type, ast.Name) and handler.type.id == "Exception")
