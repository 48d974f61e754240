"""From the local to the stack language (paper, section 3): Call becomes Push, PushJump, Pop.

Callers save.  At a call that may come back to the caller's own code (recursion), the variables that are live after
it are pushed; a variable that no recursive call can clobber never gets a stack.  All saves of one frame
happen at the frame's depth, so one depth per lane serves every stack.  Which leaves of them have one is settled in
``storage.py``.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from autobatch import ir
from autobatch.ir.flow import live_before, liveness
from autobatch.ir.typed import Check, TypedProgram, TypedStackProgram, makes_checks
from autobatch.ir.types import Type, dynamic


def lower_to_stack(typed: TypedProgram, live_saves: bool = True, registers: bool = True) -> TypedStackProgram:
    """Merges all functions into one program with explicit stacks.

    Args:
      live_saves: a call saves what is live after it; without, all variables of the caller.
      registers: what no recursive call can clobber has no stack; without, every call counts as recursive.
    """
    program = typed.program
    several = len(program.functions) > 1
    functions = {f.name: _renamed(f) if several else f for f in program.functions}
    types = {_qualified(f, v) if several else v: t for (f, v), t in typed.types.items() if f in functions}
    reach = _call_reach(program)
    sizes = {name: sum(1 + _calls(b.ops) for b in function.blocks) for name, function in functions.items()}
    offsets, total = {}, 0
    for name, size in sizes.items():
        offsets[name], total = total, total + size
    blocks: list[ir.Block] = []
    for name, function in functions.items():
        recursive = frozenset(callee for callee in functions if name in reach[callee])
        if not registers:
            recursive = frozenset(functions)
        blocks += _lower_function(function, functions, offsets, recursive, types, live_saves)
    entry = functions[program.entry.name]
    owners = tuple(function.signature for name, function in functions.items() for _ in range(sizes[name]))
    stack_program = ir.StackProgram(
        entry.inputs,
        tuple(blocks),
        entry.outputs,
        tuple((offsets[name], name) for name in functions),
    )
    last = _epilogue(blocks, owners, entry.signature, typed.checks)
    return TypedStackProgram(stack_program, types, typed.shared, typed.checks, owners, last)


def _qualified(function: str, variable: str) -> str:
    return f"{function}.{variable}"


def _renamed(function: ir.Function) -> ir.Function:
    """The function with its variables under names that tell them from other functions' variables."""

    def rename(names: Iterable[str]) -> tuple[str, ...]:
        return tuple(_qualified(function.name, v) for v in names)

    blocks = []
    for block in function.blocks:
        ops = tuple(replace(op, inputs=rename(op.inputs), outputs=rename(op.outputs)) for op in block.ops)
        end = block.terminator
        if isinstance(end, ir.Branch):
            end = replace(end, condition=rename([end.condition])[0])
        blocks.append(ir.Block(ops, end))
    inputs, outputs = rename(function.inputs), rename(function.outputs)
    return replace(function, inputs=inputs, outputs=outputs, blocks=tuple(blocks))


def _calls(ops: Iterable[ir.Op]) -> int:
    return sum(isinstance(op, ir.Call) for op in ops)


def _call_reach(program: ir.Program) -> dict[str, set[str]]:
    """For each function, itself and those that may run before a call to it returns."""
    direct = {
        f.name: {op.function for b in f.blocks for op in b.ops if isinstance(op, ir.Call)} for f in program.functions
    }
    reach = {name: {name} for name in direct}
    changed = True
    while changed:
        changed = False
        for name, seen in reach.items():
            more = seen.union(*(reach[c] for c in direct[name]))
            changed |= more != seen
            reach[name] = more
    return reach


def _lower_function(
    function: ir.Function,
    functions: Mapping[str, ir.Function],
    offsets: Mapping[str, int],
    recursive: frozenset[str],
    types: Mapping[str, Type],
    only_live: bool,
) -> list[ir.Block]:
    """The function's blocks, split at calls; ``recursive`` are the callees that may come back to this function."""
    _, live_end = liveness(function)
    handed_on = _handed_on(function, recursive)
    own = {*function.inputs, *(v for block in function.blocks for op in block.ops for v in ir.writes(op))}
    first, starts = offsets[function.name], []
    for block in function.blocks:
        starts.append(first)
        first += 1 + _calls(block.ops)
    lowered: list[ir.Block] = []
    for i, block in enumerate(function.blocks):
        here, ops = starts[i], []
        for k, op in enumerate(block.ops):
            if not isinstance(op, ir.Call):
                ops.append(ir.Update(op.outputs, op.function, op.inputs, op.location))
                continue
            callee = functions[op.function]
            live = live_before(block.ops[k + 1 :], live_end[i]) if only_live else own & types.keys()
            live = live - set(op.outputs) - handed_on
            saved = tuple(v for v in sorted(live) if op.function in recursive and dynamic(types[v]))
            ops += _enter(callee, op, saved)
            back = _leave(callee, op, saved)
            target = offsets[op.function]
            tail = not back and k + 1 == len(block.ops) and isinstance(block.terminator, ir.Return)
            here += 1
            end = ir.Jump(target) if tail else ir.PushJump(ir.Jump(target), here, op.location)
            lowered.append(ir.Block(tuple(ops), end))
            ops = back
        lowered.append(ir.Block(tuple(ops), _moved(block.terminator, starts)))
    return lowered


def _handed_on(function: ir.Function, recursive: frozenset[str]) -> frozenset[str]:
    """The parameters that every recursive call hands on as they are: nothing clobbers them, so they need no stack."""
    ops = [op for block in function.blocks for op in block.ops]
    calls = [op for op in ops if isinstance(op, ir.Call) and op.function in recursive]
    if any(call.function != function.name for call in calls):
        return frozenset()  # mutual recursion: another function's calls set them
    written = {v for op in ops for v in ir.writes(op)}
    return frozenset(
        v for k, v in enumerate(function.inputs) if v not in written and all(call.inputs[k] == v for call in calls)
    )


def _moved(terminator: ir.Terminator, starts: Sequence[int]) -> ir.Terminator:
    match terminator:
        case ir.Jump(target):
            return ir.Jump(starts[target])
        case ir.Branch(_, true, false) as branch:
            return replace(branch, true=starts[true], false=starts[false])
        case _:
            return terminator


def _enter(callee: ir.Function, call: ir.Call, saved: tuple[str, ...]) -> list[ir.Op]:
    """Saves, and sets the callee's inputs."""
    pairs = [(p, a) for p, a in zip(callee.inputs, call.inputs, strict=True) if p != a]
    parameters = {p for p, _ in pairs}
    clash = any(a in {p for p, _ in pairs[:k]} for k, (_, a) in enumerate(pairs))
    saves: list[ir.Op] = [ir.Push((v,), ir.COPY, (v,), call.location) for v in saved if clash or v not in parameters]
    if clash:
        outputs, inputs = zip(*pairs, strict=True)
        return [*saves, ir.Update(outputs, ir.copies(len(pairs)), inputs, call.location)]
    for p, a in pairs:
        saves.append((ir.Push if p in saved else ir.Update)((p,), ir.COPY, (a,), call.location))
    return saves


def _leave(callee: ir.Function, call: ir.Call, saved: tuple[str, ...]) -> list[ir.Op]:
    """Takes the callee's results, and restores."""
    pairs = [(y, r) for y, r in zip(call.outputs, callee.outputs, strict=True) if y != r]
    ops: list[ir.Op] = [ir.Update((y,), ir.COPY, (r,), call.location) for y, r in pairs]
    return [*ops, ir.Pop(saved, call.location)] if saved else ops


def _epilogue(
    blocks: Sequence[ir.Block], owners: Sequence[ir.Signature], entry: ir.Signature, checks: Sequence[Check]
) -> int | None:
    """The block in which the whole program ends, if there is one only, which cannot fail and writes no items."""
    returns = [i for i, b in enumerate(blocks) if owners[i] == entry and isinstance(b.terminator, ir.Return)]
    called = any(isinstance(b.terminator, ir.PushJump) and b.terminator.targets == (0,) for b in blocks)
    if called or len(returns) != 1 or returns == [0]:
        return None
    (found,) = returns
    writes = any(op.function.kind == "write" for op in blocks[found].ops if isinstance(op, ir.Update))
    return None if writes or makes_checks(blocks[found].ops, checks) else found
