"""Programs of every level, run by plain Python for one member whose variables are Python numbers."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any

from autobatch import ir
from autobatch.ir.leaves import leaves_of
from autobatch.ir.stored import StoredProgram
from autobatch.ir.typed import TypedProgram, TypedStackProgram


class OutOfFuel(Exception):
    """The program takes longer than a test wants to wait."""


class Fuel:
    def __init__(self, blocks: int = 400):
        self.left = blocks

    def burn(self) -> None:
        self.left -= 1
        if self.left < 0:
            raise OutOfFuel


def run(program: Any, arguments: Sequence[Any]) -> tuple:
    """What the program returns.  Raises OutOfFuel."""
    match program:
        case ir.Program():
            return _call(program, program.entry, arguments, Fuel())
        case TypedProgram():
            return run(program.program, arguments)
        case TypedStackProgram():
            return _stack_machine(program, arguments)
        case StoredProgram():
            return _register_machine(program, arguments)
    raise TypeError(program)


@functools.cache
def _code(template: str) -> Any:
    for k in range(9):
        template = template.replace(f"«{k}»", f"_{k}")
    return compile(f"({template})", "<primitive>", "eval")


def _assign(op: ir.Assign, env: dict[str, Any]) -> None:
    if op.inputs and op.function == ir.copies(len(op.inputs)):  # of what is not set, or not live, nothing
        values = {y: env[x] for y, x in zip(op.outputs, op.inputs, strict=True) if x in env}
        for y in op.outputs:
            env.pop(y, None)
        env |= values
        return
    inputs = {f"_{k}": env[v] for k, v in enumerate(op.inputs)}
    value = eval(_code(op.function.template), {}, inputs)
    env.update(zip(op.outputs, value if len(op.outputs) > 1 else (value,), strict=True))


def _call(program: ir.Program, function: ir.Function, arguments: Sequence[Any], fuel: Fuel) -> tuple:
    env, i = dict(zip(function.inputs, arguments, strict=True)), 0
    while True:
        fuel.burn()
        block = function.blocks[i]
        for op in block.ops:
            if isinstance(op, ir.Call):
                results = _call(program, program[op.function], [env[v] for v in op.inputs], fuel)
                env.update(zip(op.outputs, results, strict=True))
            else:
                _assign(op, env)
        following = _following(block.terminator, env)
        if following is None:
            return tuple(env[v] for v in function.outputs)
        i = following


def _following(end: Any, env: dict[str, Any]) -> int | None:
    if isinstance(end, ir.Return):
        return None
    target = end.target if isinstance(end, ir.Jump) else end.true if env[end.condition] else end.false
    return None if target == ir.RETURN else target


def _step(end: ir.Terminator, env: dict[str, Any], frames: list[int]) -> int | None:
    if isinstance(end, ir.PushJump):
        frames.append(end.return_to)
        end = end.then
    following = _following(end, env)
    if following is None and frames:
        return frames.pop()
    return following


def _restore(variables: Sequence[str], stacks: dict[str, list[Any]], env: dict[str, Any]) -> None:
    for v in variables:
        saved = stacks[v].pop()
        env.pop(v, None)
        env |= {} if saved is None else {v: saved}  # what was not set when it was saved is not set


def _stack_machine(typed: TypedStackProgram, arguments: Sequence[Any]) -> tuple:
    """By name: each variable has a top, and a stack of what was saved (paper, algorithm 2)."""
    program, fuel = typed.program, Fuel(1000)
    tops: dict[str, Any] = dict(zip(program.inputs, arguments, strict=True))
    stacks: dict[str, list[Any]] = {}
    frames: list[int] = []
    at: int | None = 0
    while at is not None:
        fuel.burn()
        block = program.blocks[at]
        for op in block.ops:
            if isinstance(op, ir.Pop):
                _restore(op.variables, stacks, tops)
                continue
            if isinstance(op, ir.Push):
                stacks.setdefault(op.outputs[0], []).append(tops.get(op.outputs[0]))
            _assign(op, tops)
        at = _step(block.terminator, tops, frames)
    return tuple(tops[v] for v in program.outputs)


def _register_machine(stored: StoredProgram, arguments: Sequence[Any]) -> tuple:
    """By register, as the machine does: a block sees what is live, and hands on what it writes."""
    program, fuel = stored.program, Fuel(1000)
    registers = {
        stored.registers[leaf]: value
        for v, value in zip(program.inputs, arguments, strict=True)
        for leaf in leaves_of(v, stored.types)
        if leaf in stored.registers
    }
    stacks: dict[str, list[Any]] = {}
    frames: list[int] = []
    at: int | None = 0
    while at is not None:
        fuel.burn()
        block, storage = program.blocks[at], stored.blocks[at]
        held = {leaf[0]: stored.registers[leaf] for leaf in storage.reads}
        env = {v: registers[register] for v, register in held.items() if register in registers}
        for op in block.ops:
            if isinstance(op, ir.Pop):
                _restore([v for v in op.variables if (v, 0) in stored.stacked], stacks, env)
                continue
            if isinstance(op, ir.Push) and (op.outputs[0], 0) in stored.stacked:
                stacks.setdefault(op.outputs[0], []).append(env.get(op.outputs[0]))
            if all(v in env for v in op.inputs) or op.function == ir.copies(len(op.inputs)):  # else nothing reads it
                _assign(op, env)
        registers |= {stored.registers[leaf]: env[leaf[0]] for leaf in storage.writes if leaf[0] in env}
        at = _step(block.terminator, env, frames)
    return tuple(registers[stored.registers[v, 0]] for v in program.outputs)
