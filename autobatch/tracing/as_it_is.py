"""Functions of the user's that run as they are while a program is traced, and ask what stands for members' values, or
catch what it raises.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from types import CodeType, FrameType, ModuleType
from typing import Any

from autobatch import context, errors, ir
from autobatch.language.asking import asks, lead_to_asking, of_users, reached
from autobatch.language.containers import MemberObject, contents, parts_of
from autobatch.language.lists import MemberList
from autobatch.language.one_of import OneOf
from autobatch.language.values import per_member
from autobatch.tracing.code import code_key, read_outside
from autobatch.tracing.explain import raise_at
from autobatch.tracing.noting import calls_noted


@contextmanager
def asking_refused(op: ir.Assign, env: Mapping[str, Any]) -> Iterator[None]:
    """Around an operation: raises UnsupportedSyntaxError if such a function ran.

    What may run one is looked for first, as it takes longer to note all calls.
    """
    inputs = [env[name] for name in op.inputs]
    key = (asking_refused, code_key(op.function))
    reads = context.remembered(key, lambda: lead_to_asking(read_outside(op.function)))
    if not reads and not lead_to_asking(inputs):
        yield
        return
    found: list[CodeType] = []  # of the one that asks, and of those that led to it

    def note(frame: FrameType) -> None:
        if not found and asks(frame.f_code, frame.f_globals) and _are_members(frame.f_locals.values()):
            found.extend(_called_from(frame))

    try:
        with calls_noted(note):
            yield
    finally:
        if found:
            code = found[0]
            error = errors.UnsupportedSyntaxError(
                f"`{code.co_name}` asks what a value is (isinstance, type, is), or catches what it raises, but is not "
                "autobatched.",
                [(ir.location(code.co_filename, code.co_firstlineno, 0), ""), (op.location, "called here")],
                "call it by its name, with its arguments one by one.",
                kind="not-autobatched",
            )
            error.helpers = frozenset(found)
            raise_at(op.location, error, inputs)


def _called_from(frame: FrameType | None) -> list[CodeType]:
    """The codes from this frame up to the program's own, if it is called from there."""
    found = []
    while frame is not None:
        if frame.f_code.co_name.startswith(context.GENERATED):
            return found
        found.append(frame.f_code)
        frame = frame.f_back
    return []


def _are_members(values: Iterable[Any]) -> bool:
    """Whether one stands for members' values, or holds what does."""
    return any(per_member(each) or isinstance(each, _STAND_INS) for each in reached(values, _held))


_STAND_INS = (OneOf, MemberList, MemberObject)


def _held(value: Any) -> Iterable[Any]:
    if contents(value) is not None:
        return parts_of(value)
    is_object = not isinstance(value, type | ModuleType) and of_users(value)
    return getattr(value, "__dict__", {}).values() if is_object else ()
