"""Arrays and lists are objects: what ``x[i] = v`` changes is seen by whoever holds them, as in Python, or is refused.

``x[i] = v`` has become ``x = setitem(x, i, v)``, and ``xs.append(v)`` ``xs = append(xs, v)``, which gives a new value
to one name alone.  That it may mean what it does in Python,

- names that are surely the same array get the new tensor too;
- what a function changes in its arguments has come back to its caller (``changed_arguments.py``);
- where a name that is read later may be the same array, or a part of it, the change is refused.

A forward analysis finds, for each place, which names are surely one object (a partition of the names), and which pairs
of names may be one, or parts of one.  Pairs, not sets of objects, so that two arrays that take turns stay two.
A list that its own region made is changed by Python in place (``list_methods.py``), which everybody there sees.
Programs that change nothing in place are not looked at.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import replace
from itertools import product

from autobatch import context, errors, ir
from autobatch.ir.flow import live_before, liveness
from autobatch.ir.typed import TypedProgram
from autobatch.ir.types import Static, Tensor, Type, dynamic, leaves, opaque, same, structure
from autobatch.language.containers import MemberObject
from autobatch.language.lists import MemberList
from autobatch.passes.augmented import check_augmented
from autobatch.passes.changed_arguments import SUFFIX, changed_by, handed_back, is_change
from autobatch.passes.conversions import original
from autobatch.passes.holding import FROM_OUTSIDE, Held, Place, Traced, containers, holds_objects, lists_deep, traced
from autobatch.passes.inference import infer
from autobatch.passes.sharing import State, argument, joined
from autobatch.passes.webs import split_webs

Pair = tuple[str, str]
Returned = tuple[frozenset[str], frozenset[str], frozenset[Pair]]


def share_changes(typed: TypedProgram) -> TypedProgram:
    """The program in which a change of an array in place is seen wherever Python would see it.

    Raises UnsupportedSyntaxError where it is not known who would.
    """
    names = {f.name for f in typed.program.functions}
    changing = {f.name for f in typed.program.functions if any(_changes(op) for b in f.blocks for op in b.ops)}
    if typed.augments:
        return _shared(typed, names)
    if not changing:
        return typed
    if any(_is_deep(op) for f in typed.program.functions for b in f.blocks for op in b.ops):
        return _shared(typed, names)
    try:  # mostly it does not matter what the results of other functions hold, and to trace them takes time
        return _shared(typed, changing)
    except errors.UnsupportedSyntaxError:
        return _shared(typed, names)


def _changes(op: ir.LocalOp) -> bool:
    """Whether this is an item assignment, or a call that hands back what it changed."""
    return is_change(op) or (isinstance(op, ir.Call) and len(op.outputs) > 1)


def _shared(typed: TypedProgram, known: Collection[str]) -> TypedProgram:
    """Of functions that are not ``known`` the results may hold any argument."""
    program = typed.program
    looked_at = [f for f in program.functions if f.name in known]
    returned: dict[str, Returned] = {
        f.name: (frozenset(f.inputs), frozenset(), frozenset(product(f.inputs, f.inputs))) for f in program.functions
    }
    returned |= {f.name: (frozenset(), frozenset(f.inputs), frozenset()) for f in looked_at}
    known_of = {f.name: traced(f, typed) for f in looked_at}
    while True:
        analysed = {f.name: Analysis(f, program, returned, known_of[f.name]) for f in looked_at}
        found = returned | {name: analysis.returned() for name, analysis in analysed.items()}
        if found == returned:
            break
        returned = found
    check_augmented(analysed)
    _check_twice(analysed, known_of)
    if program.entry.name in analysed:
        _check_worth(program.entry, analysed[program.entry.name], typed)
    rewritten = {name: analysis.rewritten() for name, analysis in analysed.items()}
    unforeseen = {name: analysis.unforeseen for name, analysis in analysed.items() if analysis.unforeseen}
    if unforeseen:  # what was decided by it is decided anew
        return share_changes(infer(split_webs(_with_copies(typed.undecided, unforeseen))))
    program = replace(program, functions=tuple(rewritten.get(f.name, f) for f in program.functions))
    if any(analysis.widens for analysis in analysed.values()):
        return infer(program)
    return replace(typed, program=program)


class Analysis:
    """One function, and what is known at the start of each of its blocks."""

    def __init__(
        self,
        function: ir.Function,
        program: ir.Program,
        returned: Mapping[str, Returned],
        found: Traced,
    ):
        self.function, self.program, self.returned_by = function, program, returned
        self.types, self.held, self.settled, self.augmented = found.types, found.held, found.settled, found.augmented
        self.known = found.known
        self.may_hold_twice = False  # a list one item
        self.unforeseen: list[
            tuple[ir.LocalOp, ir.Primitive]
        ] = []  # copies that change what was known, and behind what
        self.widens = False  # whether a name gets a list that is longer than what its type has room for
        _, self.live_end = liveness(function)
        arguments = frozenset(frozenset({p, argument(p)}) for p in function.inputs if self.is_array(p))
        start = State(arguments, arguments)
        self.before: list[State | None] = [start, *(None for _ in function.blocks[1:])]
        pending = [0]
        while pending:
            i = pending.pop()
            *_, state = (after for *_, after in self.steps(i))
            for j in ir.successors(function.blocks[i].terminator):
                new = joined(self.before[j], state)
                if new != self.before[j]:
                    self.before[j] = new
                    pending.append(j)

    def is_array(self, variable: str) -> bool:
        """Whether it may hold what can be changed in place."""
        if variable == FROM_OUTSIDE:
            return True
        type_ = self.types[variable]
        arrays = any(isinstance(leaf, Tensor) and leaf.shape for leaf in dynamic(type_))
        return (
            arrays
            or bool(opaque(type_))
            or any(isinstance(part, dict | list | MemberList | MemberObject) for part in containers(type_))
        )

    def steps(self, i: int) -> Iterator[tuple[int, ir.LocalOp | None, State, State]]:
        """The block's operations, each with what is known before and after it; first, none."""
        state = self.before[i]
        if state is None:
            return
        yield -1, None, state, state
        for k, op in enumerate(self.function.blocks[i].ops):
            after = self.after(state, op, (i, k))
            yield k, op, state, after
            state = after

    def after(self, state: State, op: ir.LocalOp, at: tuple[int, int]) -> State:
        changed = dict(self.changed_by(op))
        for v, source in changed.items():
            if self.is_array(v):
                items = {u for u in self.put_into(v, op, at) if u != source and self.is_array(u)}
                self.may_hold_twice |= holds_objects(self.types[v]) and not items.isdisjoint(state.partners(source))
                state = state.changed(source, v, items, {v, *self.live_after(*at)})
        made: dict[str, Held] = {}
        for v in {**dict.fromkeys(op.outputs), **self.held.get(at, {})}:
            if v not in changed and self.is_array(v):
                held = self.held_by_result(op) if isinstance(op, ir.Call) else self.held.get(at, {}).get(v, {})
                made[v] = {u: same for u, same in held.items() if self.is_array(u)}
        return state.assigned(made)

    def put_into(self, changed: str, op: ir.LocalOp, at: Place) -> Iterable[str]:
        """The variables of which an operation may put the object, or a part, into what it changes."""
        if isinstance(op, ir.Call):
            callee = self.callee(op)
            given = dict(zip(callee.inputs, op.inputs, strict=True))
            back = {new: p for new, _, p in handed_back(op, callee)}
            *_, stored = self.returned_by[op.function]
            objects = holds_objects(self.types[changed])
            return [given[q] for p, q in stored if p == back[changed]] if objects else ()
        return self.held.get(at, {}).get(changed, {})

    def held_by_result(self, call: ir.Call) -> Held:
        """The names that hold, once the call has changed them, what its result may hold."""
        callee = self.callee(call)
        back = {p: new for new, _, p in handed_back(call, callee)}
        may, surely, _ = self.returned_by[call.function]
        return {back.get(p, v): p in surely for v, p in zip(call.inputs, callee.inputs, strict=True) if p in may}

    def callee(self, call: ir.Call) -> ir.Function:
        return self.program[call.function]

    def live_after(self, i: int, k: int) -> frozenset[str]:
        return live_before(self.function.blocks[i].ops[k + 1 :], self.live_end[i])

    def changed_by(self, op: ir.LocalOp) -> list[tuple[str, str]]:
        """The variables that hold what the operation changes in place, with those that held it before."""
        return changed_by(op, self.program)

    def changes(self) -> Iterator[tuple[int, int, ir.LocalOp, str, str, State]]:
        """Each change of an array: block, operation, its names afterwards and before, and what was known before."""
        for i in range(len(self.function.blocks)):
            for k, op, state, _ in self.steps(i):
                for new, old in self.changed_by(op) if op is not None else ():
                    if self.is_array(old) and (i, k) not in self.settled:
                        yield i, k, op, new, old, state  # type: ignore[misc]

    def is_list(self, variable: str) -> bool:
        return isinstance(self.types[variable], dict | list | MemberList)

    def returned(self) -> Returned:
        """The parameters that the result may be, or be a part of, and those that it surely is; and which of them may
        hold, when the function is done, a part of which others.
        """
        may: set[str] = set()
        stored: set[Pair] = set()
        surely = set(self.function.inputs)
        for i, block in enumerate(self.function.blocks):
            if isinstance(block.terminator, ir.Return) and self.before[i] is not None:
                *_, state = (after for *_, after in self.steps(i))
                result = self.function.outputs[0]
                may |= {p for p in self.function.inputs if argument(p) in state.partners(result)}
                surely &= {p for p in surely if argument(p) in state.like(result)}
                for p, q in product(self.function.inputs, repeat=2):
                    holder = p + SUFFIX
                    if p != q and holder in self.function.outputs and argument(q) in state.partners(holder):
                        stored.add((p, q))
        return frozenset(may), frozenset(surely), frozenset(stored)

    def changed_arguments(self) -> dict[str, ir.LocalOp]:
        """The parameters that are changed, under whatever name, and where."""
        return {
            p: op
            for *_, op, _, old, state in self.changes()
            for p in self.function.inputs
            if argument(p) in state.partners(old)
        }

    def rewritten(self) -> ir.Function:
        """The function in which all names of a changed array that are read later get the new one."""
        copies: dict[tuple[int, int], list[ir.Primitive]] = {}
        for i, k, op, new, old, state in self.changes():
            live = self.live_after(i, k)
            if isinstance(op, ir.Call) and op.inputs.count(old) > 1:
                raise _given_twice(op, old)
            if FROM_OUTSIDE in state.partners(old):
                raise _from_outside(op, old)
            # What was surely one object may be another, now that a walk over attributes is known to go on.
            for other in self.given_before(i, k, new) if context.optional_attributes() else ():
                is_another = other.split(".")[0] != old.split(".")[0]
                if is_another and other not in state.like(old):
                    raise self.refusal(op, old, other)
            for other in sorted(state.partners(old) & {*live, *op.inputs} - {new, old, *op.outputs}):
                if not self.is_affected(other, op, old):
                    continue
                passed = isinstance(op, ir.Call) and other in op.inputs
                if passed or (other in live and other not in state.like(old)):
                    raise self.refusal(op, old, other)
                if other not in live:
                    continue
                copy = ir.Primitive((other,), ir.COPY, (new,), op.location)
                copies.setdefault((i, k), []).append(copy)
                if other in self.known or _was_known(self.types[other], self.types[new]):
                    self.unforeseen.append((op, copy))
                self.widens |= not same(self.types[new], self.types[other])
        self.check_handed_back()
        blocks = []
        for i, block in enumerate(self.function.blocks):
            ops = [o for k, op in enumerate(block.ops) for o in (op, *copies.get((i, k), ()))]
            blocks.append(replace(block, ops=tuple(ops)))
        return replace(self.function, blocks=tuple(blocks))

    def given_before(self, i: int, k: int, new: str) -> Iterator[str]:
        """The names that get what an operation has changed by copies that ``_with_copies`` has put behind it."""
        op, *behind = self.function.blocks[i].ops[k:]
        for copy in itertools.takewhile(lambda each: each.location == op.location, behind):
            copies = isinstance(copy, ir.Primitive) and copy.function == ir.COPY
            if copies and original(copy.inputs[0]) == original(new):
                yield original(copy.outputs[0])

    def check_handed_back(self) -> None:
        """Refuses an argument that is changed under another name only, if it is to come back to a caller."""
        called = any(
            isinstance(op, ir.Call) and op.function == self.function.name
            for f in self.program.functions
            for b in f.blocks
            for op in b.ops
        )
        for p, op in self.changed_arguments().items() if called else ():
            if p + SUFFIX not in self.function.outputs:
                raise self.refusal(op, dict(self.changed_by(op)).popitem()[1], p)

    def is_affected(self, other: str, op: ir.LocalOp, changed: str) -> bool:
        """Whether a change of a list itself, not of its items, may be seen under another name: not by an item."""
        if isinstance(op, ir.Call) or op.function.changes > 1 or not self.is_list(changed):
            return True
        deep = lists_deep(self.types[op.outputs[0]])
        return deep == math.inf or lists_deep(self.types[other]) >= deep

    def refusal(self, op: ir.LocalOp, name: str, other: str) -> errors.UnsupportedSyntaxError:
        shown, also = name.split(".")[0], other.split(".")[0]
        what, copy = self.kind(name)
        made = (o.location for b in self.function.blocks for o in b.ops if other in o.outputs and o is not op)
        return errors.UnsupportedSyntaxError(
            f"`{shown}` is changed in place, and `{also}` may be the same {what}, a part of it, or hold it.",
            [(op.location, "changed here"), (next(made, self.function.location), f"`{also}`")],
            f"copy what is to stay as it is: {copy}; or change it by its first name.",
            kind="shared-array",
        )

    def kind(self, name: str) -> tuple[str, str]:
        """What it is, and how it is copied."""
        match self.types[name]:
            case MemberObject():
                return "object", "copy.deepcopy(...)"
            case dict():
                return "dict", "dict(...)"
            case list() | MemberList():
                return "list", "list(...)"
        return "array", "tf.identity(...)"


def _was_known(old: Type, new: Type) -> bool:
    """Whether branches may have been decided, or loops unrolled, by what is no longer so."""
    if isinstance(old, MemberList) and isinstance(new, MemberList):
        return False
    if structure(old) != structure(new):
        return True
    return any(isinstance(a, Static) and a != b for a, b in zip(leaves(old), leaves(new), strict=True))


def _with_copies(program: ir.Program | None, copies: Mapping[str, list[tuple[ir.LocalOp, ir.Primitive]]]) -> ir.Program:
    """The program before any branch was decided, with copies behind operations that are found in it again."""
    functions = []
    for function in program.functions if program else ():
        blocks = list(function.blocks)
        for op, copy in copies.get(function.name, ()):
            places = [(i, k) for i, block in enumerate(blocks) for k, found in enumerate(block.ops) if found == op]
            unrolled = any(_is_unrolled(found) for block in blocks for found in block.ops)
            if len(places) != 1 or unrolled:  # an unrolled loop has one copy for each item that was known
                raise _known(op, copy)
            ((i, k),) = places
            ops = blocks[i].ops
            copy = replace(copy, inputs=(original(copy.inputs[0]),), outputs=(original(copy.outputs[0]),))
            blocks[i] = replace(blocks[i], ops=(*ops[: k + 1], copy, *ops[k + 1 :]))
        functions.append(replace(function, blocks=tuple(blocks)))
    assert program is not None
    return replace(program, functions=tuple(functions))


def _is_unrolled(op: ir.LocalOp) -> bool:
    return isinstance(op, ir.Primitive) and op.function.template.startswith(("unroll(", "unrolled("))


def _known(op: ir.LocalOp, copy: ir.Primitive) -> errors.UnsupportedSyntaxError:
    shown, also = (names[0].split(".")[0] for names in (copy.inputs, copy.outputs))
    return errors.UnsupportedSyntaxError(
        f"`{shown}` changes here, and so does `{also}`, by whose items a loop is unrolled.",
        [(op.location, "")],
        "use one name for the list.",
        kind="shared-known-list",
    )


def _from_outside(op: ir.LocalOp, name: str) -> errors.UnsupportedSyntaxError:
    return errors.UnsupportedSyntaxError(
        f"`{name.split('.')[0]}` is changed in place, and may be a list or an array from outside, which members share.",
        [(op.location, "")],
        "copy it first: list(...), or np.array(...).",
        kind="outside-changed",
    )


def _given_twice(call: ir.Call, name: str) -> errors.UnsupportedSyntaxError:
    return errors.UnsupportedSyntaxError(
        f"`{call.function}` gets `{name.split('.')[0]}` twice, and changes it in place.",
        [(call.location, "")],
        "pass a copy: tf.identity(...).",
        kind="shared-array",
    )


def _check_twice(analysed: Mapping[str, Analysis], found: Mapping[str, Traced]) -> None:
    """Refuses to change an item's item where a list may hold that item twice."""
    twice = sorted(v for each in found.values() for v in each.twice)
    twice += [each.function.name for each in analysed.values() if each.may_hold_twice]
    deep = [op for each in analysed.values() for *_, op, _, _, _ in each.changes() if _is_deep(op)]
    deep += [each.function.blocks[i].ops[k] for each in analysed.values() for i, k in each.augmented]
    op = next(filter(is_change, deep), None) if twice else None
    if op is not None:
        raise errors.UnsupportedSyntaxError(
            f"An item of `{op.outputs[0].split('.')[0]}` is changed in place, and a list in `{twice[0].split('.')[0]}` "
            "may hold one item twice.",
            [(op.location, "")],
            "give each place an item of its own: [[0] * m for _ in range(n)].",
            kind="shared-array",
        )


def _is_deep(op: ir.LocalOp) -> bool:
    return isinstance(op, ir.Primitive) and op.function.changes > 1


def _check_worth(entry: ir.Function, analysis: Analysis, typed: TypedProgram) -> None:
    """Refuses a program of which nothing is left: all that it does is to change the caller's arrays."""
    changed = analysis.changed_arguments()
    if changed and not dynamic(typed.types[entry.name, entry.outputs[0]]):
        name = min(changed)
        raise errors.UnsupportedSyntaxError(
            f"`{entry.name}` changes `{name}` in place, and returns nothing of it; the caller's own stay as they are.",
            [(entry.location, "")],
            f"return {name}.",
            kind="nothing-returned",
        )
