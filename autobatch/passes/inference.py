"""Type inference: abstract interpretation of a local-language program to a fixed point.

Every variable starts unknown.  Running a region on symbolic tensors gives the types of what it assigns; types
only ever grow (``types.join``), so the iteration ends.  Recursion needs nothing special: a call whose result is
still unknown ends the walk of its block, which is walked again when the base case has given the callee a type.
Branches on values that are the same for all members are decided here, and only live code is typed.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace
from typing import Any

import tensorflow as tf

from autobatch import context, errors, ir
from autobatch.ir import regions
from autobatch.ir.typed import Check, TypedProgram, Variable
from autobatch.ir.types import (
    JoinError,
    Shared,
    Static,
    Tensor,
    TooManyError,
    Type,
    Weak,
    describe,
    join,
    leaves,
    opaque,
    options_in,
    parted,
    same,
    unlike_numbers,
)  # fmt: skip
from autobatch.language.containers import parts_of
from autobatch.language.lists import MemberList
from autobatch.language.looping import UnlikeItemsError
from autobatch.language.objects import MemberObject, truth_method, users_class
from autobatch.language.one_of import OneOf
from autobatch.language.raising import raise_
from autobatch.language.structs import Rows
from autobatch.passes import conversions, definedness, exceptions, nones
from autobatch.passes.none_operands import refuse_lazy
from autobatch.passes.region_types import OF_VALUES, Traces
from autobatch.passes.results import check_results
from autobatch.passes.separate_calls import asks_for_types, one_for_each_call
from autobatch.passes.simplify import decide_branches, simplified
from autobatch.passes.versions import with_versions
from autobatch.tracing.explain import NoneOperandError, is_of_none


@context.remembering()
def infer(program: ir.Program) -> TypedProgram:
    """Types the program, from the types of its inputs.

    Raises:
      TypeMismatchError: two assignments of a variable have no common type.
      UndefinedVariableError: a read always finds its variable unset.
      UnrollingNeeded: some loops go over things of several types.
    """
    traces, unflagged, sometimes = Traces(program.shared), program, frozenset[Variable]()
    while True:
        try:
            return _typed(program, traces)
        except (_Raises, _NeverReturn) as found:
            program = found.told(program)
        except _Grows as found:
            split = with_versions(program, found.function, found.variables)
            if split is program:
                raise found.error from None
            program = split
        except _TypesOfCalls as found:
            separated = one_for_each_call(program, found.function)
            if separated is program:
                raise found.error from None
            program = separated
        except _NoneSometimes as found:
            flagged = (
                program if found.variable in sometimes else nones.with_flags(unflagged, sometimes | {found.variable})
            )
            if flagged in (program, unflagged):
                raise found.error from None
            program, sometimes = flagged, sometimes | {found.variable}
            continue
        if not sometimes:
            unflagged = program


def _typed(program: ir.Program, traces: Traces) -> TypedProgram:
    inference = _Inference(program, traces)
    entry = program.entry
    for variable, type_ in zip(entry.inputs, program.arguments, strict=True):
        inference.record((entry.name, variable), type_, entry.location)
    inference.run()
    functions = []
    for function in program.functions:
        if function.name in inference.entered:
            functions.append(decide_branches(function, inference.decisions(function)))
    for function in functions:
        definedness.doubtful_reads(function)  # what is surely unset has no type, nor has what follows
    _check_returns(functions, inference)
    check_results(entry, inference.types, inference.origin)
    checks = dict.fromkeys(check for made in inference.checks.values() for check in made)
    converted = []
    for function in functions:
        made, more = conversions.explicit(program, function, inference.types, inference.made)
        made = exceptions.without_idle_tests(made, inference.types)
        made, unset = definedness.checked(made, inference.types)
        converted.append(simplified(made))
        checks |= dict.fromkeys((*more, *unset))
    live = replace(program, functions=tuple(converted))
    return TypedProgram(live, inference.types, program.shared, tuple(checks), inference.augments, undecided=program)


class UnrollingNeeded(Exception):  # noqa: N818 (a request, not an error)
    """These loops must be unrolled, and the program lowered again."""

    def __init__(self, loops: Sequence[UnlikeItemsError]):
        self.loops = tuple(loops)


class _Raises(Exception):  # noqa: N818 (a request, not an error)
    """An operation raises for all members that get to it, which may be none, or be caught."""

    def __init__(self, at: tuple[str, int], op: ir.Assign, error: Exception):
        self.at, self.op, self.error = at, op, error

    def told(self, program: ir.Program) -> ir.Program:
        """The program in which they raise there."""
        (name, i), error = self.at, self.error
        function = program[name]
        blocks = list(function.blocks)
        at = blocks[i].ops.index(self.op)
        before, after = blocks[i].ops[:at], blocks[i].ops[at + 1 :]
        if self.op.function.instead is not None:
            told = replace(self.op, function=self.op.function.instead(error))
            blocks[i] = replace(blocks[i], ops=(*before, told, *after))
        else:
            kind = TypeError if isinstance(error, NoneOperandError) else type(error)
            text = f"raise_({kind.__name__}, {str(error)!r})"
            expression = ir.Expression(text, lambda: raise_(kind, "{}", lambda: (str(error),)))
            blocks[i] = ir.Block((*before, ir.Primitive((), expression, (), self.op.location)), ir.Raise())
        changed = replace(function, blocks=tuple(blocks))
        return replace(program, functions=tuple(changed if f.name == name else f for f in program.functions))


class _NeverReturn(Exception):  # noqa: N818 (a request, not an error)
    """These functions end by exceptions alone, so nobody gets to what follows their calls."""

    def __init__(self, names: Collection[str]):
        self.names = names

    def told(self, program: ir.Program) -> ir.Program:
        """The program without what follows the calls; itself if nothing does."""
        ended = [replace(f, blocks=tuple(map(self.ended, f.blocks))) for f in program.functions]
        return program if tuple(ended) == program.functions else replace(program, functions=tuple(ended))

    def ended(self, block: ir.Block) -> ir.Block:
        for k, op in enumerate(block.ops):
            if isinstance(op, ir.Call) and op.function in self.names:
                return ir.Block(block.ops[: k + 1], ir.Raise(), block.handlers)
        return block


class _NoneSometimes(Exception):  # noqa: N818 (a request, not an error)
    """A variable is None on one path and something else on another."""

    def __init__(self, variable: Variable, error: Exception):
        self.variable, self.error = variable, error


class _Grows(Exception):  # noqa: N818 (a request, not an error)
    """One of a function's variables is one of more and more texts, each made of the one before, perhaps in its turn."""

    def __init__(self, function: str, variables: Collection[str], error: Exception):
        self.function, self.variables, self.error = function, variables, error


class _TypesOfCalls(Exception):  # noqa: N818 (a request, not an error)
    """A function's argument is of one type at one call and of another at the next."""

    def __init__(self, function: str, error: Exception):
        self.function, self.error = function, error


class _Inference:
    def __init__(self, program: ir.Program, traces: Traces):
        self.program, self.traces = program, traces
        self.types: dict[Variable, Type] = {}
        self.origin: dict[Variable, ir.Location] = {}
        self.entered: dict[str, None] = {program.entry.name: None}
        self.pending: dict[tuple[str, int], None] = {(program.entry.name, 0): None}
        self.visited: set[tuple[str, int]] = set()
        self.readers: dict[Variable, set[tuple[str, int]]] = {}
        self.checks: dict[tuple[str, int, int], tuple[Check, ...]] = {}  # by function, block and operation
        self.made: dict[tuple[str, int, int], dict[str, Type]] = {}  # likewise, the types of what they assign
        self.caught: dict[tuple[str, int, int], tuple[tuple[ir.Assign, Exception], ...]] = {}  # likewise
        self.unlike: dict[tuple[str, int], UnlikeItemsError] = {}
        self.failures: dict[tuple[str, int], Exception] = {}
        self.augments = False
        self.widened: dict[Variable, int] = {}  # how often it has become one of more texts
        self.escaping = {f.name: _read_elsewhere(f) for f in program.functions}

    def run(self) -> None:
        while self.pending:
            at = next(iter(self.pending))
            del self.pending[at]
            self.failures.pop(at, None)
            self.unlike.pop(at, None)
            self.walk(*at)
            if not self.pending and not self.failures and not self.unlike:
                self.end_without_results()
        if self.unlike:
            raise UnrollingNeeded([*self.unlike.values()])
        for at, error in self.failures.items():
            op = self.traces.raised_in.get(error)
            if op is not None and is_of_none(error):
                refuse_lazy(op)
            sometimes = op is not None and at != (self.program.entry.name, 0)
            if op is not None and sometimes and (isinstance(error, OF_VALUES) or is_of_none(error)):
                raise _Raises(at, op, error)
            raise error.refusal if isinstance(error, NoneOperandError) else error
        for (name, i, _), caught in self.caught.items():
            for op, error in caught:  # still so, now that all types are known
                if is_of_none(error):
                    refuse_lazy(op)
                raise _Raises((name, i), op, error)

    def end_without_results(self) -> None:
        """Gives those functions a result, None, that end by exceptions alone; raises _NeverReturn of those called."""
        ended = [self.program[name] for name in self.entered if self.ends_by_exceptions(name)]
        never = {f.name for f in ended if not any((f.name, v) in self.types for v in f.outputs)}
        if (request := _NeverReturn(never)).told(self.program) is not self.program:
            raise request
        for function in ended:
            for v in function.outputs:
                if (function.name, v) not in self.types:
                    self.record((function.name, v), Static(None), function.location)

    def ends_by_exceptions(self, name: str) -> bool:
        function = self.program[name]
        ends = [b.terminator for i, b in enumerate(function.blocks) if (name, i) in self.visited]
        return any(isinstance(end, ir.Raise) for end in ends) or any((name, v) in self.types for v in function.outputs)

    def record(self, variable: Variable, type_: Type, location: ir.Location) -> None:
        """Joins a type into a variable's, and has its readers walked again if that changed it."""
        old = self.types.get(variable)
        if old is not None and unlike_numbers(old, type_) and asks_for_types(self.program, variable[0]):
            self.keep_apart(variable, type_, location)
        try:
            new = type_ if old is None else join(old, type_)
        except TooManyError:
            raise self.too_many(variable, location) from None
        except JoinError:
            found = self.mismatch(variable, type_, location)
            if Static(None) in (old, type_):
                raise _NoneSometimes(variable, found) from None
            function, name = variable
            raise (_TypesOfCalls(function, found) if name in self.program[function].inputs else found) from None
        if old is None or not same(old, new):
            if old is not None and options_in(old) < options_in(new):
                self.widened[variable] = self.widened.get(variable, 0) + 1
                if self.widened[variable] > MOST_WIDENED:
                    raise self.too_many(variable, location)
            if old is not None and parted(old, new):
                self.keep_apart(variable, type_, location)
            most = MOST_NESTED + (variable[0] == "__init__")  # told where the caller has it
            if _depth(new) > most or _is_bushy(new):
                raise errors.TypeMismatchError(
                    "What is made here holds what it held before, deeper at each turn.",
                    [(location, "")],
                    "keep the parts in lists, and refer to each by its index.",
                    kind="nested-without-end",
                )
            self.types[variable], self.origin[variable] = new, location
            self.pending |= dict.fromkeys(sorted(self.readers.get(variable, ())))

    def keep_apart(self, variable: Variable, type_: Type, location: ir.Location) -> None:
        """Asks for functions of their own for calls with unlike numbers, or texts, which may be settings."""
        function, name = variable
        if name in self.program[function].inputs and one_for_each_call(self.program, function) is not self.program:
            raise _TypesOfCalls(function, self.mismatch(variable, type_, location))

    def too_many(self, variable: Variable, location: ir.Location) -> Exception:
        texts = [v for (function, v), type_ in self.types.items() if function == variable[0] and options_in(type_)]
        error = errors.TypeMismatchError(
            f"`{variable[1].split('.')[0]}` may be one of more and more texts, members of an enum, or functions.",
            [(location, "")],
            "a loop makes no text longer with each turn; go over ab.unroll(range(3)), or put the parts into a list.",
            kind="texts-without-end",
        )
        return _Grows(variable[0], texts, error)

    def mismatch(self, variable: Variable, type_: Type, location: ir.Location) -> Exception:
        function, name = variable
        shown = name.split(".")[0]
        what = f"The result of `{function}`" if name in self.program[function].outputs else f"`{shown}`"
        here, there = describe(self.types[variable]), describe(type_)
        help = "give both the same dtype, shape and structure."
        if "None" in here + there:
            help = (
                "a variable, or a result, may be None on one path, but not an item: start from a number such as -inf."
            )
        elif {type(type_), type(self.types[variable])} in ({Tensor, MemberList}, {Tensor, list}):
            help = "make a list of the array where it comes from: list(x), or x.tolist()."
        elif isinstance(type_, list | tuple) and isinstance(self.types[variable], list | tuple):
            help = "a list whose length differs between members holds numbers or tensors of one type."
        elif isinstance(type_, Static) and not isinstance(type_.value, bool | int | float):
            help = "members cannot differ in this: do the work in each branch, or tell the cases apart by a number."
        elif (shape := _shape_to_start_from(self.types[variable], type_)) is not None:
            help = f"start from a tensor of that shape: tf.zeros({shape}), tf.fill({shape}, value)."
        elif (
            isinstance(type_, Tensor | Static | Weak)
            and "Python" not in here + there
            and here.split("[")[0] == there.split("[")[0]
        ):
            help = "a variable keeps one shape for every member; pad, or start from tf.zeros of the final shape."
        found = errors.TypeMismatchError(
            f"{what} is {here} on one path and {there} on another.",
            [(self.origin.get(variable), here), (location, there)],
            help,
            kind="path-types-differ",
        )
        found.optional = nones.optional_attributes(self.types[variable], type_)
        return found

    # --- one block ------------------------------------------------------------------------------

    def walk(self, name: str, i: int) -> None:
        self.visited.add((name, i))
        function = self.program[name]
        block = function.blocks[i]
        for k, part in enumerate(regions.regions(block.ops)):
            known = self.call(name, i, part) if isinstance(part, ir.Call) else self.region((name, i, k), part)
            if not known:
                return
        match block.terminator:
            case ir.Return():
                pass
            case ir.Branch(condition, true, false):
                if not self.known(name, i, [condition]):
                    return
                decision = self.decision(name, block.terminator)
                for successor in (true, false) if decision is None else (true,) if decision else (false,):
                    self.enter(name, successor)
            case terminator:
                for successor in ir.successors(terminator):
                    self.enter(name, successor)

    def enter(self, name: str, i: int) -> None:
        if (name, i) not in self.visited:
            self.pending[name, i] = None

    def known(self, name: str, i: int, variables: Sequence[str]) -> bool:
        """Whether the variables have types; asks to walk block ``i`` again when those change."""
        for v in variables:
            self.readers.setdefault((name, v), set()).add((name, i))
        return all((name, v) in self.types for v in variables)

    def decision(self, name: str, branch: ir.Branch) -> bool | None:
        type_ = self.types[name, branch.condition]
        if isinstance(type_, Rows):
            raise errors.TypeMismatchError(
                "A ragged argument is neither true nor false.",
                [(branch.location, "")],
                "test its len(x).",
                kind="condition-of-several",
            )
        if isinstance(type_, MemberList):
            return None
        if isinstance(type_, OneOf):
            found = {bool(option) for option in type_.options}
            return None if len(found) > 1 else found.pop()
        if isinstance(type_, MemberObject):  # whose own method says so once the program knows the class
            return None if truth_method(users_class(type_)) else True
        if tf.nest.is_nested(type_):
            structure: Any = type_
            return len(structure) > 0 if hasattr(structure, "__len__") else True
        match type_:
            case Static(value):
                return bool(value)
            case Tensor(_, shape) | Shared(_, Tensor(_, shape)) if shape != ():
                raise errors.TypeMismatchError(
                    f"A condition must be one truth value per member; this is {type_}.",
                    [(branch.location, "")],
                    "use tf.reduce_all or tf.reduce_any.",
                    kind="condition-of-several",
                )
            case _:
                return None

    def decisions(self, function: ir.Function) -> dict[int, bool]:
        """The blocks whose branch goes the same way for all members."""
        result = {}
        for i, block in enumerate(function.blocks):
            if isinstance(block.terminator, ir.Branch) and (function.name, block.terminator.condition) in self.types:
                decision = self.decision(function.name, block.terminator)
                if decision is not None:
                    result[i] = decision
        return result

    def call(self, name: str, i: int, call: ir.Call) -> bool:
        callee = self.program[call.function]
        if not self.known(name, i, call.inputs):
            return False
        self.entered[callee.name] = None
        for parameter, argument in zip(callee.inputs, call.inputs, strict=True):
            self.check_crossing(name, argument, call.location)
            self.record((callee.name, parameter), self.types[name, argument], call.location)
        self.enter(callee.name, 0)
        results = [(callee.name, v) for v in callee.outputs]
        for v in results:
            self.readers.setdefault(v, set()).add((name, i))
        for output, result in zip(call.outputs, results, strict=True):
            if result in self.types:
                self.record((name, output), self.types[result], call.location)
        return any(v in self.types for v in results)  # what goes on may need no more

    def region(self, at: tuple[str, int, int], region: Any) -> bool:
        name, i, _ = at
        if not self.known(name, i, region.inputs):
            return False
        for v in region.inputs:
            self.check_crossing(name, v, next(op.location for op in region.ops if v in op.inputs))
        inputs = {v: self.types[name, v] for v in region.inputs}
        try:
            traced = self.traces.of(region, inputs, [v for v in region.assigned if v in self.escaping[name]])
        except UnlikeItemsError as loop:
            self.unlike[name, i] = UnlikeItemsError(loop.count, name, loop.variable)  # of these types, as are failures
            return False
        except Exception as error:
            # It may be due to a type that is not final (a literal that will join with a tensor).
            self.failures[name, i] = error
            return False
        self.made[at], self.checks[at], self.caught[at] = traced.types, traced.checks, traced.caught
        self.augments |= traced.augments
        for v, type_ in traced.types.items():
            location = next(op.location for op in reversed(region.ops) if v in op.outputs)
            self.record((name, v), type_, location)
        return True

    def check_crossing(self, name: str, variable: str, location: ir.Location) -> None:
        """Refuses a value that cannot be stored per member and yet outlives its straight-line code."""
        found = opaque(self.types[name, variable])
        if found is not None:
            shown = variable.split(".")[0]
            raise errors.TypeMismatchError(
                f"`{shown}` is a {found}, which cannot live across a branch, a loop or a call.",
                [(self.origin[name, variable], "made here"), (location, "needed here")],
                found.help or "make it again where it is needed, or keep the tensors that it was made from.",
                kind="object-across-branch",
            )


def _shape_to_start_from(old: Type, new: Type) -> list[int] | None:
    """The shape, if one is a number and the other a tensor with axes."""
    for number, tensor in ((old, new), (new, old)):
        if isinstance(number, Weak | Static) and isinstance(tensor, Tensor) and tensor.shape:
            return list(tensor.shape)
    return None


MOST_WIDENED = 40  # times that a variable becomes one of more texts
MOST_NESTED = 30  # structures in structures; what a loop puts into itself has no end
BUSHY = 7, 100  # so deep, and with so many leaves: a tree of objects, which doubles with each turn


def _depth(type_: Type) -> int:
    if not isinstance(type_, dict | list | tuple | MemberObject):
        return 0
    return 1 + max(map(_depth, parts_of(type_)), default=0)


def _is_bushy(type_: Type) -> bool:
    depth, size = BUSHY
    return _depth(type_) > depth and len(leaves(type_)) > size


def _read_elsewhere(function: ir.Function) -> frozenset[str]:
    """Variables that are read outside the region that assigns them."""
    found = set(function.outputs)
    for block in function.blocks:
        for part in regions.regions(block.ops):
            found |= set(part.inputs if isinstance(part, regions.Region | ir.Call) else ())
        if isinstance(block.terminator, ir.Branch):
            found.add(block.terminator.condition)
    return frozenset(found)


def _check_returns(functions: Sequence[ir.Function], inference: _Inference) -> None:
    for function in reversed(functions):  # a callee before its callers, which do not return for its sake
        if any((function.name, v) not in inference.types for v in function.outputs):
            raise errors.TypeMismatchError(
                f"`{function.name}` never returns: every path through it calls itself again or loops for ever.",
                [(function.location, "")],
                "add a base case that returns without recursing.",
                kind="never-returns",
            )
