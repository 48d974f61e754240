"""What a function changes in its arguments comes back to its caller, as further results.

    def swap(a, i, j):            function swap(a, i, j) -> result, a.changed
        a[i], a[j] = a[j], a[i]   ...
    swap(a, 0, 1)                 call, a = call swap(a, 0, 1)

``x[i] = v`` has become ``x = setitem(x, i, v)``, so an argument is changed if the parameter's own name is, or if it is
handed on to a function that changes it.  ``aliasing.py`` sees to the other names of an array.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from autobatch import errors, ir
from autobatch.ir.flow import reachable, reaching

Place = tuple[int, int, str]  # block, operation (-1: the start), parameter
Changed = Mapping[str, tuple[str, ...]]  # by function, the parameters


def hand_back(program: ir.Program) -> ir.Program:
    """The program in which the results of a call hold what it changed in its arguments.

    Raises UnsupportedSyntaxError for a parameter that is changed and then another array.
    """
    if not any(is_change(op) for f in program.functions for b in f.blocks for op in b.ops):
        return program
    changed: Changed = {f.name: () for f in program.functions}
    returned: Changed = {f.name: f.inputs for f in program.functions}
    while True:
        origins = {f.name: _Origins(f, program, changed, returned) for f in program.functions}
        found = {name: each.changed for name, each in origins.items()}
        surely = {name: each.returned for name, each in origins.items()}
        if found == changed and surely == returned:
            break
        changed, returned = found, surely
    called = {op.function for f in program.functions for b in f.blocks for op in b.ops if isinstance(op, ir.Call)}
    changed = {name: parameters if name in called else () for name, parameters in changed.items()}
    functions = tuple(_handing_back(origins[f.name], changed) for f in program.functions)
    return replace(program, functions=functions)


def is_change(op: ir.LocalOp | ir.Assign) -> bool:
    """Whether this changes its first input in place: an item assignment, or a list's method."""
    return isinstance(op, ir.Primitive) and op.function.changes > 0


def handed_back(call: ir.Call, callee: ir.Function) -> list[tuple[str, str, str]]:
    """The arguments that a call changes: what holds each behind it, the argument, and its parameter."""
    arguments = dict(zip(callee.inputs, call.inputs, strict=True))
    results = [(new, name.removesuffix(SUFFIX)) for new, name in zip(call.outputs, callee.outputs, strict=True)]
    return [(new, arguments[p], p) for new, p in results[1:] if p + SUFFIX in callee.outputs]


def changed_by(op: ir.LocalOp, program: ir.Program) -> list[tuple[str, str]]:
    """The variables that hold what the operation changes in place, with those that held it before."""
    if isinstance(op, ir.Call):
        return [(new, old) for new, old, _ in handed_back(op, program[op.function])]
    return [(op.outputs[0], op.inputs[0])] if is_change(op) else []


SUFFIX = ".changed"


class _Origins:
    """Where a function's parameters may have another value than the caller's array."""

    def __init__(self, function: ir.Function, program: ir.Program, changed: Changed, returned: Changed):
        self.function, self.program, self.all_changed, self.all_returned = function, program, changed, returned
        self.before = reaching(function)
        self.own: set[Place] = {(0, -1, p) for p in function.inputs}  # definitions that keep the caller's array
        changes, kept = self._changes()
        while True:
            more = {at for at in kept if self._keeps(*at)} - self.own
            if not more:
                break
            self.own |= more
        self.surely = set(self.own)  # those that surely do
        while True:
            other = {at for at in self.surely if at[1] >= 0 and not self._surely_keeps(*at)}
            if not other:
                break
            self.surely -= other
        self.changed = tuple(p for p in function.inputs if any(at[2] == p and self._keeps(*at) for at in changes))

    def _changes(self) -> tuple[list[Place], list[Place]]:
        """Where a parameter's name is changed in place, and where what it gets is what it had, as far as it had it."""
        changes, kept = [], []
        for i in sorted(reachable(self.function.blocks)):
            for k, op in enumerate(self.function.blocks[i].ops):
                if is_change(op):
                    changes.append((i, k, op.inputs[0]))
                    kept.append((i, k, op.inputs[0]))
                for v, p in self._arguments(op):
                    if p in self.all_changed[op.function]:
                        changes.append((i, k, v))
                    if p in self.all_returned[op.function] if v in op.outputs else p in self.all_changed[op.function]:
                        kept.append((i, k, v))
        mine = self.function.inputs
        return [at for at in changes if at[2] in mine], [at for at in kept if at[2] in mine]

    def _arguments(self, op: ir.LocalOp) -> list[tuple[str, str]]:
        """A call's arguments with the callee's parameters."""
        return list(zip(op.inputs, self.program[op.function].inputs, strict=True)) if isinstance(op, ir.Call) else []

    @property
    def returned(self) -> tuple[str, ...]:
        """The parameters of which the result is the array, surely."""
        ends = [i for i in reachable(self.function.blocks) if isinstance(self.function.blocks[i].terminator, ir.Return)]
        result = self.function.outputs[0]
        return tuple(p for p in self.function.inputs if all(self._is_array_of(i, result, p) for i in ends))

    def _is_array_of(self, end: int, result: str, parameter: str) -> bool:
        """Whether a variable is the parameter's array wherever this block's end finds it."""
        for i, k in self.definitions(end, len(self.function.blocks[end].ops), result):
            op = self.function.blocks[i].ops[k] if k >= 0 else None
            if isinstance(op, ir.Call):
                sources = [v for v, p in self._arguments(op) if p in self.all_returned[op.function]]
            else:
                sources = [*op.inputs] if op is not None and op.function == ir.COPY else []
            if not any(v == parameter and all((*d, v) in self.own for d in self.definitions(i, k, v)) for v in sources):
                return False
        return True

    def _keeps(self, i: int, k: int, parameter: str) -> bool:
        """Whether what the operation finds under this name may be the caller's array."""
        return any((*definition, parameter) in self.own for definition in self.definitions(i, k, parameter))

    def _surely_keeps(self, i: int, k: int, parameter: str) -> bool:
        return all((*definition, parameter) in self.surely for definition in self.definitions(i, k, parameter))

    def definitions(self, i: int, k: int, v: str) -> frozenset[tuple[int, int]]:
        """Those of a variable that reach an operation."""
        for before in range(k - 1, -1, -1):
            op = self.function.blocks[i].ops[before]
            if v in ir.writes(op) or (i, before, v) in self.own:  # a call that changes it does not write it yet
                return frozenset({(i, before)})
        return self.before[i].get(v, frozenset())  # no definition reaches a block that is not reached


def _handing_back(origins: _Origins, changed: Changed) -> ir.Function:
    function = origins.function
    own = changed[function.name]
    blocks = []
    for i, block in enumerate(function.blocks):
        ops = [_with_results(op, origins.program, changed) if isinstance(op, ir.Call) else op for op in block.ops]
        if isinstance(block.terminator, ir.Return):
            location = block.ops[-1].location if block.ops else function.location
            for p in own:
                if not all((*d, p) in origins.surely for d in origins.definitions(i, len(block.ops), p)):
                    raise _becomes_another(function, p)
                ops.append(ir.Primitive((p + SUFFIX,), ir.COPY, (p,), location))
        blocks.append(replace(block, ops=tuple(ops)))
    return replace(function, blocks=tuple(blocks), outputs=(*function.outputs, *(p + SUFFIX for p in own)))


def _with_results(call: ir.Call, program: ir.Program, changed: Changed) -> ir.Call:
    arguments = dict(zip(program[call.function].inputs, call.inputs, strict=True))
    back = tuple(arguments[p] for p in changed[call.function])
    if len({*back}) < len(back):
        raise errors.UnsupportedSyntaxError(
            f"`{call.function}` gets one array twice, and changes it under both names.",
            [(call.location, "")],
            "pass a copy: tf.identity(...).",
            kind="shared-array",
        )
    # x = f(x): what x held is told apart from what it gets
    return replace(call, outputs=(*call.outputs, *(v + SUFFIX if v in call.outputs else v for v in back)))


def _becomes_another(function: ir.Function, parameter: str) -> errors.UnsupportedSyntaxError:
    ops = [op for block in function.blocks for op in block.ops]
    changed = next(op for op in ops if parameter in op.inputs and (is_change(op) or isinstance(op, ir.Call)))
    other = next((op for op in ops if parameter in ir.writes(op) and not is_change(op)), changed)
    return errors.UnsupportedSyntaxError(
        f"`{parameter}`, which the caller passed, is changed in place, and then becomes another array.",
        [(changed.location, "changed here"), (other.location, "another array")],
        "give the other array another name.",
        kind="shared-array",
    )
