"""A variable that is None on one path and something else on another gets a flag that says which.

    best = None                      best, best.none = absent, True
    ...                              ...
    if best is None:                 branch best.none
    return best + 1                  present(best.none); result = best + 1

What reads the value where it is None fails the member; where a test has shown that it is not, nothing is checked.  The
flag goes with the value into calls and back from them.  A batch cannot return None: such members fail.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from autobatch import context, errors, ir
from autobatch.ir.flow import predecessors
from autobatch.ir.types import ABSENT, Static
from autobatch.language.choices import ifexp, not_, truth
from autobatch.language.objects import MemberObject
from autobatch.passes.displays import with_copies
from autobatch.passes.none_operands import check_present, failure, takes_none, with_none

Variable = tuple[str, str]  # function, variable
# Whether variables are None: True where they are, False where not, None where it is for all members as the operation
# finds that sets them.
Kinds = Mapping[Variable, frozenset[bool | None]]

NONE = ir.Expression("None", lambda: None)
_ABSENT = ir.Expression("absent", lambda: ABSENT)
_TRUE, _FALSE = ir.Expression("True", lambda: True), ir.Expression("False", lambda: False)
_OR_ABSENT = ir.Expression("or_absent(«0»)", lambda value: ABSENT if value is None else value)
_IS_ABSENT = ir.Expression("is_absent(«0»)", lambda value: value is None or value is ABSENT)
_NOT = ir.Expression("not «0»", not_)
IS_NONE, IS_NOT_NONE = "is_(«0», None)", "not_(is_(«0», None))"


def with_flags(program: ir.Program, sometimes: Collection[Variable]) -> ir.Program:
    """The program in which no variable is None for some members only; the same one if that holds already.

    sometimes: variables of which the types tell that they are None for some members.
    """
    given, program = program, with_copies(program)
    kinds, known = _kinds(program, {}, sometimes), {}
    while True:  # to know where a variable is not None tells more about those that it is copied to
        mixed = {v for v, found in kinds.items() if True in found and len(found) > 1}
        if not mixed:
            return given
        flags = [_Flags(f, program, kinds, mixed) for f in program.functions]
        known = {(each.function.name, *at): there for each in flags for at, there in each.known().items()}
        sharper = _kinds(program, known, sometimes)
        if sharper == kinds:
            break
        kinds = sharper
    flagged = replace(program, functions=tuple(each.run() for each in flags))
    crosses = mixed.intersection((program.entry.name, v) for v in (*program.entry.inputs, *program.entry.outputs))
    return _entered(flagged, program) if crosses else flagged


def _flag(variable: str) -> str:
    return f"{variable}.none"


def is_absent(type_: Any) -> bool:
    return isinstance(type_, Static) and type_.value is None


def optional_attributes(left: Any, right: Any) -> frozenset[str]:
    """The names of those that are None in an object of one type, and something else in the other."""
    if isinstance(left, MemberObject) and type(left) is type(right):
        parts = dict(zip(*right.__tf_flatten__(), strict=True))  # type: ignore[attr-defined]
        pairs = [(name, part, parts.get(name)) for name, part in zip(*left.__tf_flatten__(), strict=True)]  # type: ignore[attr-defined]
        found = frozenset(name for name, one, other in pairs if is_absent(one) != is_absent(other))
        return found.union(*(optional_attributes(one, other) for _, one, other in pairs))
    if isinstance(left, list | tuple) and isinstance(right, list | tuple):
        return frozenset().union(*map(optional_attributes, left, right))
    return frozenset()


def is_none(op: ir.LocalOp) -> bool:
    return isinstance(op, ir.Primitive) and op.function.template == "None" and len(op.outputs) == 1


def _kind(op: ir.LocalOp) -> bool | None:
    """Whether an operation that neither copies nor calls gives None."""
    if is_none(op):
        return True
    if not isinstance(op, ir.Primitive) or op.function.changes:  # which hands on what it changes
        return False
    if op.function.template in (IS_NONE, IS_NOT_NONE):
        return False
    return None if _MAY_GIVE_NONE.search(op.function.template) else False


_MAY_GIVE_NONE = re.compile(r"\w\(|[»\w]\.[^\W\d]|[»\w]\[")  # calls, attributes and items


def _copied(op: ir.LocalOp) -> list[tuple[str, str]]:
    """What an operation that only copies assigns, with where it is from."""
    if isinstance(op, ir.Primitive) and op.inputs and op.function == ir.copies(len(op.outputs)):
        return list(zip(op.outputs, op.inputs, strict=True))
    return []


def _kinds(
    program: ir.Program, known: Mapping[tuple[str, int, int], frozenset[str]], sometimes: Collection[Variable]
) -> Kinds:
    """Of all variables, from those that operations are known to find not to be None, and some that may be None."""
    entry = program.entry
    kinds: Kinds = {
        (entry.name, v): frozenset({is_absent(t)}) for v, t in zip(entry.inputs, program.arguments, strict=True)
    }
    kinds = {**kinds, **{v: kinds.get(v, frozenset()) | {True} for v in sometimes}}
    while True:
        found = dict(kinds)

        def add(variable: Variable, more: Iterable[bool | None], found: dict = found) -> None:
            found[variable] = found.get(variable, frozenset()).union(more)

        def read(f: ir.Function, variable: str, at: tuple[int, int], found: dict = found) -> Iterable[bool | None]:
            return {False} if variable in known.get((f.name, *at), ()) else found.get((f.name, variable), ())

        for f, i, k, op in _operations(program):
            if isinstance(op, ir.Call):
                callee = program[op.function]
                for parameter, v in zip(callee.inputs, op.inputs, strict=True):
                    add((callee.name, parameter), read(f, v, (i, k)))
                for result, v in zip(callee.outputs, op.outputs, strict=True):
                    add((f.name, v), found.get((callee.name, result), ()))
            elif pairs := _copied(op):
                for v, source in pairs:
                    add((f.name, v), read(f, source, (i, k)))
            else:
                for v in op.outputs:
                    add((f.name, v), {_kind(op)})
        if found == kinds:
            return kinds
        kinds = found


def _operations(program: ir.Program) -> Iterator[tuple[ir.Function, int, int, ir.LocalOp]]:
    for f in program.functions:
        for i, block in enumerate(f.blocks):
            for k, op in enumerate(block.ops):
                yield f, i, k, op


class _Flags:
    """One function, in which variables that are None now and then get flags."""

    def __init__(
        self,
        function: ir.Function,
        program: ir.Program,
        kinds: Kinds,
        mixed: set[Variable],
    ):
        self.function, self.program, self.kinds, self.all_mixed = function, program, kinds, mixed
        self.mixed = {v for name, v in mixed if name == function.name}
        self.before = self.known_before()

    def run(self) -> ir.Function:
        f = self.function
        blocks = []
        for i, block in enumerate(f.blocks):
            ops, known = [], self.before[i] or frozenset()
            for op in block.ops:
                ops += self.lowered(op, known)
                known = self.behind(op, known)
            end = block.terminator
            if isinstance(end, ir.Branch) and end.condition in self.mixed:
                test = f"{end.condition}.true"
                inputs = (_flag(end.condition), end.condition)
                ops.append(ir.Primitive((test,), ir.Expression("truth(«0», «1»)", _truth), inputs, self.place(block)))
                end = replace(end, condition=test)
            blocks.append(replace(block, ops=tuple(ops), terminator=end))
        flags = [[_flag(v) for v in names if v in self.mixed] for names in (f.inputs, f.outputs)]
        return replace(f, inputs=(*f.inputs, *flags[0]), outputs=(*f.outputs, *flags[1]), blocks=tuple(blocks))

    def known(self) -> dict[tuple[int, int], frozenset[str]]:
        """What each operation finds, by block and number, that is known not to be None."""
        found = {}
        for i, block in enumerate(self.function.blocks):
            there = self.before[i] or frozenset()
            for k, op in enumerate(block.ops):
                found[i, k] = there
                there = self.behind(op, there)
        return found

    def place(self, block: ir.Block) -> ir.Location:
        return getattr(block.terminator, "location", None) or self.function.location

    def is_none(self, variable: str) -> bool:
        """Whether it is None wherever it is set."""
        return self.kinds.get((self.function.name, variable)) == {True}

    def may_be_none(self, variable: str) -> bool:
        """Whether it may be None for all members, where no test tells so."""
        return None in self.kinds.get((self.function.name, variable), ())

    def told(self, variable: str, found: str, location: ir.Location) -> list[ir.Primitive]:
        """Sets a variable and its flag by what has been found."""
        return [
            ir.Primitive((variable,), _OR_ABSENT, (found,), location),
            ir.Primitive((_flag(variable),), _IS_ABSENT, (found,), location),
        ]

    # --- operations -------------------------------------------------------------------------------

    def lowered(self, op: ir.LocalOp, known: frozenset[str]) -> list[ir.LocalOp]:
        if isinstance(op, ir.Call):
            return self.call(op, known)
        if pairs := _copied(op):
            if not self.mixed.intersection(op.outputs):
                return [op]
            return [*self.copy(op), *self.flags(pairs, op, known)]
        if op.function.template in (IS_NONE, IS_NOT_NONE) and op.inputs[0] in self.mixed:
            function = ir.COPY if op.function.template == IS_NONE else _NOT
            flags = [ir.Primitive((_flag(v),), _FALSE, (), op.location) for v in op.outputs if v in self.mixed]
            return [replace(op, function=function, inputs=(_flag(op.inputs[0]),)), *flags]
        read = sorted({*op.inputs} & self.mixed - known)
        _ask_for_optional(op, read)
        if read and takes_none(op.function):
            op = replace(op, function=with_none(op, read), inputs=(*op.inputs, *map(_flag, read)))
            read = []
        checks = [ir.Primitive((), _present(v), (_flag(v),), op.location) for v in read]
        if is_none(op) and op.outputs[0] in self.mixed:
            op = replace(op, function=_ABSENT)
            return [op, ir.Primitive((_flag(op.outputs[0]),), _TRUE, (), op.location)]
        flags = []
        if _kind(op) is None:
            found = {v: f"{v}.found" for v in op.outputs if v in self.mixed}
            flags = [each for v, name in found.items() for each in self.told(v, name, op.location)]
            op = replace(op, outputs=tuple(found.get(v, v) for v in op.outputs))
        else:
            flags = [ir.Primitive((_flag(v),), _FALSE, (), op.location) for v in op.outputs if v in self.mixed]
        return [*checks, op, *flags]

    def copy(self, op: ir.Primitive) -> list[ir.LocalOp]:
        """Copies, where what is None is absent."""
        inputs = [u if v not in self.mixed else self.held(u) for v, u in zip(op.outputs, op.inputs, strict=True)]
        before = [self.hold(u, op.location) for u, held in zip(op.inputs, inputs, strict=True) if held != u]
        return [*before, replace(op, inputs=tuple(inputs))]

    def held(self, variable: str) -> str:
        """Where what is None for all members is absent."""
        may_be = variable not in self.mixed and self.may_be_none(variable)
        return f"{variable}.absent" if may_be or self.is_none(variable) else variable

    def hold(self, variable: str, location: ir.Location) -> ir.Primitive:
        inputs = () if self.is_none(variable) else (variable,)
        return ir.Primitive((self.held(variable),), _OR_ABSENT if inputs else _ABSENT, inputs, location)

    def flags(self, pairs: Sequence[tuple[str, str]], op: ir.LocalOp, known: frozenset[str]) -> Iterator[ir.LocalOp]:
        """Sets the flags of what is copied at once."""
        pairs = [(v, source) for v, source in pairs if v in self.mixed]
        if len(pairs) == 1:
            ((v, source),) = pairs
            yield from self.flag(v, source, op, known)
            return
        for v, source in pairs:  # what was a flag may be set by then
            yield from (replace(flag, outputs=(f"{_flag(v)}.next",)) for flag in self.flag(v, source, op, known))
        for v, _ in pairs:
            yield ir.Primitive((_flag(v),), ir.COPY, (f"{_flag(v)}.next",), op.location)

    def flag(self, variable: str, source: str, op: ir.LocalOp, known: frozenset[str]) -> list[ir.Primitive]:
        """Sets a variable's flag, which has become what another was."""
        if source in self.mixed - known:
            return [ir.Primitive((_flag(variable),), ir.COPY, (_flag(source),), op.location)]
        if self.held(source) != source and not self.is_none(source):
            return [ir.Primitive((_flag(variable),), _IS_ABSENT, (self.held(source),), op.location)]
        return [ir.Primitive((_flag(variable),), _TRUE if self.is_none(source) else _FALSE, (), op.location)]

    def call(self, call: ir.Call, known: frozenset[str]) -> list[ir.LocalOp]:
        callee = self.program[call.function]
        before: list[ir.LocalOp] = []
        inputs, in_flags = list(call.inputs), []
        for k, (parameter, v) in enumerate(zip(callee.inputs, call.inputs, strict=True)):
            if (callee.name, parameter) in self.all_mixed:
                if self.held(v) != v:
                    inputs[k] = self.held(v)
                    before.append(self.hold(v, call.location))
                given = f"{v}.given"
                before += [replace(op, outputs=(given,)) for op in self.flag(v, v, call, known)]
                in_flags.append(given)
        after: list[ir.LocalOp] = []
        outputs, out_flags = list(call.outputs), []
        for k, (result, v) in enumerate(zip(callee.outputs, call.outputs, strict=True)):
            if (callee.name, result) in self.all_mixed:
                out_flags.append(_flag(v))
            elif v in self.mixed:
                if {True, None}.isdisjoint(self.kinds.get((callee.name, result), ())):
                    after.append(ir.Primitive((_flag(v),), _FALSE, (), call.location))
                else:
                    outputs[k] = f"{v}.found"
                    after += self.told(v, outputs[k], call.location)
        made = replace(call, inputs=(*inputs, *in_flags), outputs=(*outputs, *out_flags))
        return [*before, made, *after]

    # --- what is known not to be None -------------------------------------------------------------

    def known_before(self) -> list[frozenset[str] | None]:
        """For each block, the variables that are not None where it begins; None: nothing gets there."""
        blocks = self.function.blocks
        parents = predecessors(blocks)
        before: list[frozenset[str] | None] = [None for _ in blocks]
        before[0] = frozenset()
        changed = True
        while changed:
            changed = False
            for i in range(1, len(blocks)):
                found = [known for p in parents[i] for known in self.known_along(p, i, before[p])]
                now = frozenset.intersection(*found) if found else None
                changed |= now != before[i]
                before[i] = now
        return before

    def known_along(self, parent: int, child: int, known: frozenset[str] | None) -> Iterator[frozenset[str]]:
        """What is known where one block leads to another, each way from one to the other."""
        if known is None:
            return
        block = self.function.blocks[parent]
        tests: dict[str, tuple[str, bool]] = {}  # by what holds it, that a variable is (True) or is not None
        for op in block.ops:
            known = self.behind(op, known)
            tests = {v: (u, none) for v, (u, none) in tests.items() if not {v, u} & {*ir.writes(op)}}
            if isinstance(op, ir.Primitive) and op.function.template in (IS_NONE, IS_NOT_NONE):
                tests[op.outputs[0]] = op.inputs[0], op.function.template == IS_NONE
        end = block.terminator
        if not isinstance(end, ir.Branch):
            yield known
            return
        variable, none = tests.get(end.condition, (end.condition, False))
        for target, holds in ((end.true, True), (end.false, False)):
            if target == child:
                yield known | {variable} if holds != none and variable in self.mixed else known

    def behind(self, op: ir.LocalOp, known: frozenset[str]) -> frozenset[str]:
        sources = dict(_copied(op))
        there = {v for v in op.outputs if (sources[v] in known if v in sources else self.makes(op, v))}
        return known - {*op.outputs} | (there & self.mixed)

    def makes(self, op: ir.LocalOp, variable: str) -> bool:
        """Whether the operation gives the variable a value that is not None."""
        if isinstance(op, ir.Call):
            callee = self.program[op.function]
            found = self.kinds.get((callee.name, callee.outputs[op.outputs.index(variable)]), ())
            return {True, None}.isdisjoint(found)
        return _kind(op) is False


def _truth(none: Any, value: Any) -> Any:
    """``bool(value)`` of what is None for some members."""
    if value is ABSENT:
        return False
    return ifexp(none, lambda: False, lambda: truth(value))


def _ask_for_optional(op: ir.Primitive, read: Collection[str]) -> None:
    """Raises a request for the attribute to be optional that gets what is None for some members."""
    setting = re.fullmatch(r"setattr_\(«0», '(\w+)', «1»\)", op.function.template)
    if setting is not None and op.inputs[1] in read and setting[1] not in context.optional_attributes():
        error = errors.TypeMismatchError(
            f"`.{setting[1]}` becomes None for some members.", [(op.location, "")], kind="path-types-differ"
        )
        error.optional = frozenset({setting[1]})
        raise error


def _present(variable: str) -> ir.Expression:
    return ir.Expression("present(«0»)", lambda none: check_present(none, failure(variable)))


def _entered(flagged: ir.Program, program: ir.Program) -> ir.Program:
    """The program with the entry point that it had, which calls the one with flags; members fail that return None."""
    entry, place = program.entry, program.entry.location
    name = f"{entry.name}.flagged"
    before, given = [], list(entry.inputs)
    for v in flagged.entry.inputs[len(given) :]:
        k = [*map(_flag, entry.inputs)].index(v)
        none = is_absent(program.arguments[k])
        if none:
            given[k] = f"{entry.inputs[k]}.absent"
            before.append(ir.Primitive((given[k],), _ABSENT, (), place))
        before.append(ir.Primitive((v,), _TRUE if none else _FALSE, (), place))
        given.append(v)
    results = (*entry.outputs, *flagged.entry.outputs[len(entry.outputs) :])
    after = []
    if _flag(entry.outputs[0]) in results:
        told = f"`{entry.name}` returns None, which no batch can hold"
        check = ir.Expression("returned(«0»)", lambda none: check_present(none, told))
        after.append(ir.Primitive((), check, (_flag(entry.outputs[0]),), place))
    ops = (*before, ir.Call(results, name, tuple(given), place), *after)
    outer = replace(entry, blocks=(ir.Block(ops, ir.Return()),))

    def calling(op: Any) -> Any:
        return replace(op, function=name) if isinstance(op, ir.Call) and op.function == entry.name else op

    inner = [
        replace(f, blocks=tuple(replace(b, ops=tuple(map(calling, b.ops))) for b in f.blocks))
        for f in (replace(flagged.entry, name=name), *flagged.functions[1:])
    ]
    return replace(flagged, functions=(outer, *inner))
