"""A variable that some path leaves unset: a member that reads it there fails, as by Python's UnboundLocalError.

    if x > 0:            y, y.set = unset, False
        y = 1.0          if x > 0: y = 1.0; y.set = True
    return y             is_set(y.set); return y

What is surely set costs nothing; what is surely unset is refused.  A function that returns by what it raised
(``exceptions.py``) leaves its result unset, which nobody reads.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from autobatch import context, errors, ir
from autobatch.ir.flow import reachable, reaching
from autobatch.ir.representation import zero
from autobatch.ir.typed import Check, Variable
from autobatch.ir.types import Exact, Opaque, Shared, Type, Weak, leaves
from autobatch.language.choices import truth

Read = tuple[int, int]  # by a block, and its operation or, behind the last, its terminator

_FALSE, _TRUE = ir.Expression("False", lambda: False), ir.Expression("True", lambda: True)
_UNSET = frozenset({(0, -1)})  # as ``reaching`` has it


def checked(function: ir.Function, types: dict[Variable, Type]) -> tuple[ir.Function, tuple[Check, ...]]:
    """The function in which members fail that read an unset variable, and its checks; ``types`` gets the new variables.

    Raises UndefinedVariableError where a read always finds its variable unset, or nothing can stand for its value.
    """
    reads = doubtful_reads(function)
    doubtful = {v for found in reads.values() for v in found}
    unread = _unset_results(function)
    if not doubtful | unread:
        return function, ()
    for v in doubtful | unread:
        if not _has_zero(types.get((function.name, v))):
            raise _undefined(function, v)
    for v in doubtful:
        types[function.name, _flag(v)] = Weak(bool)
    checks: list[Check] = []

    def marked(i: int, k: int, op: Any) -> Iterator[Any]:
        for v in sorted(reads.get((i, k), ())):
            failure = f"`{_shown(v)}` is read before it is set"
            location = op.location
            checks.append(Check(_ERROR, failure, "", Exact(()), location))
            yield ir.Primitive((), _is_set(failure), (_flag(v),), location)
        if isinstance(op, ir.Branch):
            return
        yield op
        for v in doubtful.intersection(ir.writes(op)):
            yield ir.Primitive((_flag(v),), _TRUE, (), op.location)

    start = [
        ir.Primitive((v,), _zero(types[function.name, v]), (), function.location) for v in sorted(doubtful | unread)
    ]
    start += [ir.Primitive((_flag(v),), _FALSE, (), function.location) for v in sorted(doubtful)]
    blocks = [ir.Block(tuple(start), ir.Jump(1))]
    for i, block in enumerate(function.blocks):
        end = [block.terminator] if isinstance(block.terminator, ir.Branch) else []
        ops = tuple(new for k, op in enumerate([*block.ops, *end]) for new in marked(i, k, op))
        later = {j: j + 1 for j in ir.successors(block.terminator)}
        blocks.append(ir.Block(ops, ir.retargeted(block.terminator, later)))
    return replace(function, blocks=tuple(blocks)), tuple(checks)


_ERROR = errors.raised_by_members(UnboundLocalError)


def _flag(variable: str) -> str:
    """The variable that says whether this one is set."""
    return f"{variable}.set"


def _shown(variable: str) -> str:
    return variable.split(".")[0]


def _is_set(failure: str) -> ir.Expression:
    return ir.Expression("is_set(«0»)", lambda flag: context.check(truth(flag), _ERROR, failure))


def _has_zero(type_: Type | None) -> bool:
    return type_ is not None and not any(isinstance(leaf, Shared | Opaque) for leaf in leaves(type_))


def _zero(type_: Type) -> ir.Expression:
    return ir.Expression("unset", lambda: zero(type_))


def _unset_results(function: ir.Function) -> set[str]:
    """The results that some path to a return leaves unset."""
    before, found = reaching(function), set()
    for i in reachable(function.blocks):
        if isinstance(function.blocks[i].terminator, ir.Return):
            written = {v for op in function.blocks[i].ops for v in ir.writes(op)}
            found |= {v for v in {*function.outputs} - written if before[i].get(v, _UNSET) & _UNSET}
    return found - {*function.inputs}


def doubtful_reads(function: ir.Function) -> dict[Read, list[str]]:
    """The variables that a read may find unset; behind one that has been checked they are set.

    Raises UndefinedVariableError where a read always finds its variable unset.
    """
    before, inputs = reaching(function), {*function.inputs}
    found: dict[Read, list[str]] = {}
    for i in sorted(reachable(function.blocks)):
        now, block = dict(before[i]), function.blocks[i]
        condition = [block.terminator.condition] if isinstance(block.terminator, ir.Branch) else []
        for k, (read, written) in enumerate([*((ir.reads(op), ir.writes(op)) for op in block.ops), (condition, ())]):
            for v in read:
                if v in inputs or not now[v] & _UNSET:
                    continue
                if now[v] == _UNSET:
                    raise _undefined(function, v)
                found.setdefault((i, k), []).append(v)
                now[v] -= _UNSET
            now |= dict.fromkeys(written, frozenset())
    return found


def _undefined(function: ir.Function, variable: str) -> errors.UndefinedVariableError:
    shown = _shown(variable)
    ops = [op for block in function.blocks for op in block.ops]
    read = next((op.location for op in ops if variable in ir.reads(op)), None)
    ends = (block.terminator for block in function.blocks)
    read = read or next((e.location for e in ends if isinstance(e, ir.Branch) and e.condition == variable), None)
    assigned = next((op.location for op in ops if variable in ir.writes(op)), None)
    return errors.UndefinedVariableError(
        f"`{shown}` may be read before it is set: some path gets here without an assignment to it.",
        [(read, "read here"), (assigned, "set here, but not on every path")],
        f"give `{shown}` a value before the branch or the loop.",
        kind="maybe-unset",
    )
