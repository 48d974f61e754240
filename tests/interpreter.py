"""The stack language, interpreted one member at a time: a second oracle, without vectorization, masks and XLA.

It is what the language means (paper, figure 4 and algorithm 2): every variable has a stack of its own, of
which Push saves the top and Pop restores it.
"""

from __future__ import annotations

from typing import Any

import tensorflow as tf

from autobatch import ir
from autobatch.calls.arguments import put_together
from autobatch.ir import regions
from autobatch.ir.representation import coerce, stored_from, value_from
from autobatch.options import OPTIMIZATIONS
from autobatch.tracing.execute import execute

# Here each variable is itself, not a register; a jump past a block that only copies registers would lose the copy.
BY_NAME = OPTIMIZATIONS - {"jump_threading"}


def interpret(function: Any, *args: Any) -> Any:
    """What the autobatched function's stack program returns for a batch of arguments."""
    taken = function._take_apart(args, {})
    program = function._program(taken)
    arguments = program.arguments(taken)
    stack = program.stack(BY_NAME)
    members = [_member(stack, [[leaf[z] for leaf in stored] for stored in arguments], taken.shared)
               for z in range(taken.size)]  # fmt: skip
    results, *_ = zip(*members, strict=True)  # a function that calls itself may also hand back what it changed
    return put_together(program.result_type, [tf.stack(leaves) for leaves in zip(*results, strict=True)], taken)


def _member(typed: Any, arguments: list[list[tf.Tensor]], shared: list[tf.Tensor]) -> list[list[tf.Tensor]]:
    program, types = typed.program, typed.types
    tops, stacks, frames, pc = dict(zip(program.inputs, arguments, strict=True)), {}, [], 0
    while True:
        block = program.blocks[pc]
        for part in regions.regions(block.ops):
            match part:
                case regions.Region():
                    env = {v: value_from(types[v], tops[v], shared) for v in part.inputs if v in tops}
                    assert len(env) == len(part.inputs), "a variable is read before it is set"
                    execute(part.ops, env)
                    tops |= {v: stored_from(types[v], env[v]) for v in part.assigned if v in types}
                case ir.Push(outputs, _, inputs):
                    (target,), (source,) = outputs, inputs
                    stacks.setdefault(target, []).append(tops.get(target))  # None: not set yet
                    leaves = coerce(types[source], types[target], [leaf[None] for leaf in tops[source]], shared, 1)
                    tops[target] = [leaf[0] for leaf in leaves]
                case ir.Pop(variables):
                    tops |= {v: stacks[v].pop() for v in variables}
        end = block.terminator
        if isinstance(end, ir.PushJump):
            frames.append(end.return_to)
            end = end.then
        match end:
            case ir.Jump(target):
                pc = target
            case ir.Branch(condition, true, false):
                pc = true if tops[condition][0] else false
            case ir.Raise():
                raise AssertionError("a member raises")
            case _ if frames:
                pc = frames.pop()
            case _:
                return [tops[v] for v in program.outputs]
