"""An interpreter whose programs are data: each member runs a program of its own, on a stack of its own.

python -m examples.stack_machine [--members 3000]
"""

import numpy as np
import tensorflow as tf
import typer

import autobatch as ab
from examples.against_a_loop import report

PUSH, ADD, MUL, SUB, DUP, SWAP, OVER, ROT, JUMP_IF, HALT = range(10)
NAMES = ("push", "add", "mul", "sub", "dup", "swap", "over", "rot", "jump if", "halt")
LENGTH, DEPTH = 16, 8

PROGRAMS = {  # (instruction, its number); the argument lies on the stack
    "factorial": [(PUSH, 1), (SWAP, 0), (DUP, 0), (ROT, 0), (MUL, 0), (SWAP, 0), (PUSH, -1), (ADD, 0), (DUP, 0),
                  (JUMP_IF, 2), (SWAP, 0), (HALT, 0)],
    "triangle": [(PUSH, 0), (OVER, 0), (ADD, 0), (SWAP, 0), (PUSH, -1), (ADD, 0), (SWAP, 0), (OVER, 0), (JUMP_IF, 1),
                 (HALT, 0)],
    "square": [(DUP, 0), (MUL, 0), (HALT, 0)],
}  # fmt: skip
EXPECTED = {"factorial": [1, 2, 6, 24, 120, 720, 5040, 40320], "triangle": [1, 3, 6, 10, 15, 21, 28, 36],
            "square": [1, 4, 9, 16, 25, 36, 49, 64]}  # fmt: skip


@ab.autobatch
def interpret(code, argument):
    """What lies on top of the stack at the end, and how many instructions that took; code is [LENGTH, 2]."""
    stack = tf.zeros([DEPTH], tf.int32)
    stack[0] = argument
    top, at, steps = 0, 0, 0
    while code[at, 0] != HALT:
        op, number = code[at, 0], code[at, 1]
        at, steps = at + 1, steps + 1
        if op == PUSH:
            top += 1
            stack[top] = number
        elif op in (DUP, OVER):
            stack[top + 1] = stack[top] if op == DUP else stack[top - 1]
            top += 1
        elif op == SWAP:
            stack[top], stack[top - 1] = stack[top - 1], stack[top]
        elif op == ROT:
            stack[top], stack[top - 1], stack[top - 2] = stack[top - 2], stack[top], stack[top - 1]
        elif op == JUMP_IF:
            top -= 1
            if stack[top + 1] != 0:
                at = number
        else:
            a, b = stack[top - 1], stack[top]
            top -= 1
            stack[top] = a + b if op == ADD else a * b if op == MUL else a - b
    return stack[top], steps


def main(members: int = 3000) -> None:
    codes = np.zeros((len(PROGRAMS), LENGTH, 2), np.int32)
    for code, program in zip(codes, PROGRAMS.values(), strict=True):
        code[: len(program)] = program
    which, argument = np.arange(members) % len(PROGRAMS), (np.arange(members) // len(PROGRAMS) % 8 + 1).astype(np.int32)
    value, steps = (found.numpy() for found in report(interpret, codes[which], argument))
    print(f"{'':>10} {'1 to 8':<40} instructions")
    for k, name in enumerate(PROGRAMS):
        first = [int(v) for v in value[which == k][:8]]
        mark = "" if first == EXPECTED[name][: len(first)] else "   which is wrong"
        mine = steps[which == k]
        print(f"{name:>10} {' '.join(map(str, first)):<40} {mine.min()} to {mine.max()}{mark}")


if __name__ == "__main__":
    typer.run(main)
