"""What must hold of a program between two passes.

    every level     blocks that are jumped to exist; a branch has a condition; names stand for one thing
    Program         calls have a callee, and as many arguments and results as it
    TypedProgram    every block can be reached; every read is of a variable that every path has set; types agree
    stack programs  what a function pushes it pops before it returns, and paths that meet have pushed the same; every
                    read is of a variable that every path has set and that no call since has set anew
    StoredProgram   what is live has a register; no two leaves that live at once share one
    AdjointProgram  what a pullback needs is recorded before it is overwritten: see adjoint_verifier.py

``passes.run`` verifies after every pass where the environment has AUTOBATCH_VERIFY=1, as the tests do.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from functools import cache, singledispatch
from typing import Any, NoReturn

from autobatch import errors, ir
from autobatch.ir.flow import reachable, reaching
from autobatch.ir.leaves import Leaf, leaves_of
from autobatch.ir.stored import BlockStorage, StoredProgram
from autobatch.ir.typed import TypedProgram, TypedStackProgram
from autobatch.ir.types import JoinError, Static, Type, describe, join, leaves, same
from autobatch.language.lists import MemberList


def fail(what: str, place: ir.Location | None = None) -> NoReturn:
    raise errors.InvalidProgramError(what, [(place, "")])


def check(holds: bool, what: str, place: ir.Location | None = None) -> None:
    if not holds:
        fail(what, place)


@singledispatch
def verify(program: Any) -> None:
    """Raises InvalidProgramError, which says what is wrong and where."""
    fail(f"{type(program).__name__} is no program.")


# --- the local language ---------------------------------------------------------------------------


@verify.register
def _(program: ir.Program) -> None:
    names = [function.name for function in program.functions]
    check(bool(names), "There is no function.")
    check(len(set(names)) == len(names), f"Two functions have one name: {names}.")
    for function in program.functions:
        _verify_function(function, program)


def _verify_function(function: ir.Function, program: ir.Program) -> None:
    where = f"of `{function.name}`"
    _distinct(function.inputs, f"inputs {where}")
    _verify_blocks(function.blocks, ir.Primitive | ir.Call, ir.Jump | ir.Branch | ir.Return | ir.Raise, where)
    callees = {f.name: f for f in program.functions}
    for i, block in enumerate(function.blocks):
        for op in block.ops:
            if isinstance(op, ir.Call):
                callee = callees.get(op.function)
                if callee is None:
                    fail(f"Block {i} {where} calls `{op.function}`, which does not exist.", op.location)
                counts, wanted = (len(op.inputs), len(op.outputs)), (len(callee.inputs), len(callee.outputs))
                check(counts == wanted, f"Block {i} {where}: {op} does not fit {callee.signature}.", op.location)


def _verify_blocks(blocks: Sequence[ir.Block], ops: Any, terminators: Any, where: str) -> None:
    check(bool(blocks), f"There is no block {where}.")
    for i, block in enumerate(blocks):
        for op in block.ops:
            check(isinstance(op, ops), f"Block {i} {where} has the operation `{op}` of another language.")
            _distinct(ir.writes(op), f"outputs of `{op}` in block {i} {where}")
        end = block.terminator
        check(isinstance(end, terminators), f"Block {i} {where} ends in `{end}`, of another language.")
        for target in _targets(end):
            check(0 <= target < len(blocks), f"Block {i} {where} goes on to block {target}, which does not exist.")


def _targets(end: ir.Terminator) -> tuple[int, ...]:
    return (*end.targets, end.return_to) if isinstance(end, ir.PushJump) else ir.successors(end)


def _distinct(names: Sequence[str], what: str) -> None:
    check(len(set(names)) == len(names), f"A name comes twice among the {what}: {', '.join(names)}.")


# --- types ----------------------------------------------------------------------------------------


@verify.register
def _(typed: TypedProgram) -> None:
    verify(typed.program)
    for function in typed.program.functions:
        live = reachable(function.blocks)
        unreached = [i for i in range(len(function.blocks)) if i not in live]
        check(not unreached, f"Nothing leads to the blocks {unreached} of `{function.name}`.")
        _verify_reads(function)
        _verify_types(function, typed)


def _verify_reads(function: ir.Function) -> None:
    """Every path to a read has set the variable."""
    before, inputs = reaching(function), set(function.inputs)
    for i, block in enumerate(function.blocks):
        unset = {v for v, definitions in before[i].items() if (0, -1) in definitions} - inputs
        for op in block.ops:
            _all_set(ir.reads(op), unset, f"Block {i} of `{function.name}`", op.location)
            unset -= set(ir.writes(op))
        _all_set(_read_at_end(block.terminator, function.outputs), unset, f"Block {i} of `{function.name}`")


def _all_set(read: Iterable[str], unset: Collection[str], where: str, place: ir.Location | None = None) -> None:
    for v in read:
        check(v not in unset, f"{where} reads `{v}`, which some path leaves unset.", place)


def _read_at_end(end: ir.Terminator, outputs: Iterable[str]) -> tuple[str, ...]:
    then = end.then if isinstance(end, ir.PushJump) else end
    read = (then.condition,) if isinstance(then, ir.Branch) else ()
    return (*read, *outputs) if ir.may_return(end) else read


def _verify_types(function: ir.Function, typed: TypedProgram) -> None:
    types = typed.of(function.name)
    for v in (*function.inputs, *function.outputs):
        check(v in types, f"`{v}` of `{function.name}` has no type.", function.location)
    for i, block in enumerate(function.blocks):
        where = f"Block {i} of `{function.name}`"
        made: set[str] = set()  # of which straight-line code may know more than their variables' types
        for op in block.ops:
            if isinstance(op, ir.Call):
                callee, theirs = typed.program[op.function], typed.of(op.function)
                for parameter, argument in zip(callee.inputs, op.inputs, strict=True):
                    _fits(types[argument], theirs[parameter], f"{where}: `{op}`, argument `{argument}`", op.location)
                for output, result in zip(op.outputs, callee.outputs, strict=True):
                    _fits(theirs[result], types[output], f"{where}: `{op}`, result `{output}`", op.location)
            else:
                _verify_copy(op, types, made, where)
            made.update(op.outputs)
        _verify_condition(block.terminator, types, where)


def _verify_copy(op: ir.Assign, types: Mapping[str, Type], made: Collection[str], where: str) -> None:
    if op.inputs and op.function == ir.copies(len(op.inputs)) and len(op.inputs) == len(op.outputs):
        for output, source in zip(op.outputs, op.inputs, strict=True):
            if output in types and source in types and source not in made:
                _fits(types[source], types[output], f"{where}: `{op}`", op.location)


def _fits(have: Type, want: Type, where: str, place: ir.Location) -> None:
    """Whether a value of one type may be held by a variable of the other."""
    try:
        fits = same(join(have, want), want)
    except JoinError:
        fits = False
    check(fits, f"{where} gives {describe(have)} to what holds {describe(want)}.", place)


def _verify_condition(end: ir.Terminator, types: Mapping[str, Type], where: str) -> None:
    for v in _read_at_end(end, ()):
        check(v in types, f"{where} branches on `{v}`, which has no type.")
        found = leaves(types[v])
        if isinstance(types[v], MemberList):
            continue
        scalar = len(found) == 1 and not isinstance(found[0], Static) and getattr(found[0], "shape", ()) == ()
        check(scalar, f"{where} branches on `{v}`, which is {describe(types[v])}.")


# --- the stack language ---------------------------------------------------------------------------


@verify.register
def _(typed: TypedStackProgram) -> None:
    _verify_stack_program(typed)
    _Frames(typed).verify()


def _verify_stack_program(typed: TypedStackProgram) -> None:
    program, where = typed.program, "of the program"
    _distinct(program.inputs, f"inputs {where}")
    ends = ir.Jump | ir.Branch | ir.PushJump | ir.Return | ir.Raise
    _verify_blocks(program.blocks, ir.Update | ir.Push | ir.Pop, ends, where)
    check(len(typed.owners) == len(program.blocks), "Not every block has an owner.")
    check(not typed.flows or len(typed.flows) == len(program.blocks), "Not every block's leaves are known.")
    if typed.epilogue is not None:
        check(isinstance(program.blocks[typed.epilogue].terminator, ir.Return), "The epilogue does not return.")
    for i, block in enumerate(program.blocks):
        made: set[str] = set()
        for op in block.ops:
            if isinstance(op, ir.Push):
                single = op.function == ir.COPY and len(op.outputs) == 1
                check(single, f"Block {i}: `{op}` does more than save one variable and copy another.", op.location)
            if isinstance(op, ir.Assign):
                _verify_copy(op, typed.types, made, f"Block {i}")
                made.update(op.outputs)
        _verify_condition(block.terminator, typed.types, f"Block {i}")
        if isinstance(block.terminator, ir.PushJump):
            callees = {typed.owners[target] for target in block.terminator.targets}
            check(len(callees) == 1, f"Block {i} calls {len(callees)} functions at once.")
            back = typed.owners[block.terminator.return_to] == typed.owners[i]
            check(back, f"A call of block {i} returns to another function's block {block.terminator.return_to}.")


_Pushed = tuple[tuple[str, tuple[frozenset[Leaf], ...]], ...]  # for each variable what was set of it at each push
_State = tuple[frozenset[Leaf], _Pushed]  # what is set; and what this frame has pushed


class _Frames:
    """Walks through each function's frames: what they have set, and what they have pushed."""

    def __init__(self, typed: TypedStackProgram):
        self.typed, self.blocks = typed, typed.program.blocks
        self.before: dict[int, _State] = {}

    @cache  # noqa: B019 (it lives as long as one check)
    def _set_inside(self, targets: tuple[int, ...]) -> frozenset[Leaf]:
        """What blocks set before a call that begins at one of these returns."""
        inside = set().union(*(reachable(self.blocks, target) for target in targets))
        return self._all(v for i in inside for op in self.blocks[i].ops for v in ir.writes(op))

    def _all(self, variables: Iterable[str]) -> frozenset[Leaf]:
        """The leaves of these variables; one without a type, which no block hands on, counts as one leaf."""
        types = self.typed.types
        return frozenset(leaf for v in variables for leaf in (leaves_of(v, types) if v in types else [(v, 0)]))

    def verify(self) -> None:
        pending = [(0, (self._all(self.typed.program.inputs), ()))]
        while pending:
            i, state = pending.pop()
            known = self.before.get(i)
            if known is not None:
                state = (known[0] & state[0], self._met(i, known[1], state[1]))
                if state == known:
                    continue
            self.before[i] = state
            pending += self._behind(i, state)

    def _met(self, i: int, one: _Pushed, other: _Pushed) -> _Pushed:
        """What is pushed where paths meet: the same variables as often, set where they are on both."""
        counts = [{v: len(saved) for v, saved in pushed} for pushed in (one, other)]
        check(counts[0] == counts[1], f"Paths that meet at block {i} have pushed {counts[0]} and {counts[1]}.")
        pairs = zip(one, other, strict=True)
        return tuple((v, tuple(a & b for a, b in zip(ours, theirs, strict=True))) for (v, ours), (_, theirs) in pairs)

    def _behind(self, i: int, state: _State) -> list[tuple[int, _State]]:
        valid, pushed = set(state[0]), {v: list(saved) for v, saved in state[1]}
        for op in self.blocks[i].ops:
            for v in () if isinstance(op, ir.Push) and op.inputs == op.outputs else ir.reads(op):  # saved, set or not
                self._is_set(i, v, valid, op.location)
            if isinstance(op, ir.Push):
                (v,) = op.outputs
                pushed.setdefault(v, []).append(frozenset(valid & self._all([v])))
            if isinstance(op, ir.Pop):
                for v in op.variables:
                    check(bool(pushed.get(v)), f"Block {i} pops `{v}`, which its frame has not pushed.", op.location)
                    valid = valid - self._all([v]) | pushed[v].pop()
            elif ir.reads(op) != ir.writes(op):
                valid |= self._all(op.outputs)
        for v in _read_at_end(self.blocks[i].terminator, ()):
            self._is_set(i, v, valid, None)
        left = tuple(sorted((v, tuple(saved)) for v, saved in pushed.items() if saved))
        return self._successors(i, frozenset(valid), left)

    def _is_set(self, i: int, variable: str, valid: Collection[Leaf], place: ir.Location | None) -> None:
        missing = self._all([variable]) - set(valid)
        what = f"Block {i} reads `{variable}`, which some path leaves unset, or which a call since has set anew."
        check(not missing, what, place)

    def _successors(self, i: int, valid: frozenset[Leaf], pushed: tuple) -> list[tuple[int, _State]]:
        end, owners = self.blocks[i].terminator, self.typed.owners
        if ir.may_return(end):
            check(not pushed, f"Block {i} returns with {[v for v, _ in pushed]} still pushed.")
            for v in owners[i].outputs:
                self._is_set(i, v, valid, None)
        if isinstance(end, ir.PushJump):
            inside = [(target, (valid, ())) for target in end.targets]
            after = valid - self._set_inside(end.targets) | self._all(owners[end.targets[0]].outputs)
            return [*inside, (end.return_to, (after, pushed))]
        away = [target for target in ir.successors(end) if owners[target] != owners[i]]
        check(not (away and pushed), f"Block {i} goes on to another function with {[v for v, _ in pushed]} pushed.")
        return [(target, (valid, pushed)) for target in ir.successors(end)]


# --- storage --------------------------------------------------------------------------------------


@verify.register
def _(stored: StoredProgram) -> None:
    typed, registers, count = stored.typed, stored.registers, len(stored.program.blocks)
    _verify_stack_program(typed)
    check(len(stored.blocks) == count, "Not every block's storage is known.")
    check(not stored.costs or len(stored.costs) == count, "Not every block has a cost.")
    check(not stored.order or sorted(stored.order) == list(range(count)), "The visit order is no order of the blocks.")
    for leaf, register in registers.items():
        check(registers.get(register) == register, f"The register of {leaf} is none: {register}.")
    for v in typed.program.outputs:
        check(all(leaf in registers for leaf in leaves_of(v, typed.types)), f"The result `{v}` has no register.")
    for i, block in enumerate(stored.blocks):
        _verify_live(i, block, stored)
        for which, live in (("start", block.reads), ("end", block.end)):
            held = sorted(registers[leaf] for leaf in live if leaf in registers)
            check(len(held) == len(live), f"A leaf that lives at the {which} of block {i} has no register.")
            check(len(set(held)) == len(held), f"Two leaves that live at the {which} of block {i} share a register.")
    _verify_across_calls(stored)


def _verify_live(i: int, block: BlockStorage, stored: StoredProgram) -> None:
    """What the block's parts need is live at its start, and what later blocks need at its end."""
    needed = set(block.end)
    then = _read_at_end(stored.program.blocks[i].terminator, ())
    needed |= {leaf for v in then for leaf in leaves_of(v, stored.types)}
    for step in reversed(block.steps):
        read = [sources for leaf, sources in step.sources.items() if leaf in needed]
        needed = (needed - set(step.sources)).union(step.needs, step.saves & stored.stacked, *read)
    check(needed <= block.reads, f"Block {i} needs {sorted(needed - block.reads)}, not said to be live at its start.")
    check(block.writes <= block.end, f"Block {i} writes {sorted(block.writes - block.end)}, which nothing reads.")
    later = _live_behind(i, stored) - _held(block.end, stored)
    check(not later, f"What follows block {i} needs {sorted(later)}, which does not outlive it.")


def _held(live: Iterable[Leaf], stored: StoredProgram) -> set[Leaf]:
    return {stored.registers[leaf] for leaf in live if leaf in stored.registers}


def _live_behind(i: int, stored: StoredProgram) -> set[Leaf]:
    """The registers that the blocks behind this one read, but for a call's results."""
    end, blocks = stored.program.blocks[i].terminator, stored.blocks
    if isinstance(end, ir.PushJump):
        inside = set().union(*(_held(blocks[target].reads, stored) for target in end.targets))
        return inside | _held(_needed_across(end, stored), stored)
    return set().union(*(_held(blocks[target].reads, stored) for target in ir.successors(end)))


def _needed_across(call: ir.PushJump, stored: StoredProgram) -> frozenset[Leaf]:
    outputs = stored.typed.owners[call.targets[0]].outputs
    return stored.blocks[call.return_to].reads - {leaf for v in outputs for leaf in leaves_of(v, stored.types)}


def _verify_across_calls(stored: StoredProgram) -> None:
    """Nothing that runs before a call returns writes a register that holds something else across the call."""
    for i, block in enumerate(stored.program.blocks):
        if isinstance(block.terminator, ir.PushJump):
            needed = _needed_across(block.terminator, stored)
            inside = set().union(*(reachable(stored.program.blocks, t) for t in block.terminator.targets))
            for j in sorted(inside):
                others = stored.blocks[j].end - needed
                shared = _held(needed, stored) & _held(others, stored)
                check(not shared, f"What block {i} keeps across a call shares {sorted(shared)} with block {j}.")
