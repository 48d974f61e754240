"""Random programs in the local language, as text: blocks in any order, loops, calls, recursion, odd names."""

from __future__ import annotations

import tensorflow as tf
from hypothesis import strategies as st

from autobatch import ir
from autobatch.ir.typed import TypedProgram
from autobatch.ir.types import Tensor

NUMBERS, CONDITIONS = ("a", "b", "x", "y"), ("c", "d")


@st.composite
def programs(draw) -> str:
    """Every function begins with a base case for ``n <= 0``, and calls have ``n - 1``, so that recursion ends."""
    count = draw(st.integers(1, 3))
    arities = [draw(st.integers(1, 3)) for _ in range(count)]
    return "\n\n".join(draw(functions(k, arities)) for k in range(count))


@st.composite
def functions(draw, k: int, arities: list[int]) -> str:
    inputs = ("n", *NUMBERS)[: arities[k]]
    blocks = draw(st.integers(2, 7))
    unset = [v for v in (*NUMBERS, "r") if v not in inputs]
    lines = [f"function f{k}({', '.join(inputs)}) -> r", "block 0:"]
    lines += [f"  {v} = {draw(st.integers(0, 5))}" for v in unset]
    lines += [f"  {v} = n > {draw(st.integers(0, 2))}" for v in CONDITIONS]
    lines += ["  m = n - 1", "  base = n <= 0", f"  branch base 1 {draw(st.integers(1, blocks - 1))}"]
    lines += ["block 1:", *draw(bodies(arities)), "  return"]
    for i in range(2, blocks):
        lines += [f"block {i}:", *draw(bodies(arities)), f"  {draw(ends(blocks))}"]
    return "\n".join(lines)


@st.composite
def ends(draw, blocks: int) -> str:
    target = st.integers(1, blocks - 1)
    match draw(st.sampled_from(["jump", "branch", "branch", "return"])):
        case "jump":
            return f"jump {draw(target)}"
        case "branch":
            return f"branch {draw(st.sampled_from(CONDITIONS))} {draw(target)} {draw(target)}"
        case _:
            return "return"


@st.composite
def bodies(draw, arities: list[int]) -> list[str]:
    return [f"  {draw(operations(arities))}" for _ in range(draw(st.integers(0, 4)))]


@st.composite
def operations(draw, arities: list[int]) -> str:
    number, target = st.sampled_from((*NUMBERS, "r", "m")), draw(st.sampled_from((*NUMBERS, "r")))
    match draw(st.sampled_from(["copy", "compute", "constant", "compare", "pair", "call", "call"])):
        case "copy":
            return f"{target} = {draw(number)}"
        case "compute":
            return f"{target} = ({draw(number)} * 3 + {draw(number)}) % 11"
        case "constant":
            return f"{target} = {draw(st.integers(0, 9))}"
        case "compare":
            return f"{draw(st.sampled_from(CONDITIONS))} = {draw(number)} > {draw(number)}"
        case "pair":
            return f"x, y = ({draw(number)} + 1) % 7, {draw(number)}"
        case _:
            callee = draw(st.integers(0, len(arities) - 1))
            arguments = ["m", *(draw(number) for _ in range(arities[callee] - 1))]
            return f"{target} = call f{callee}({', '.join(arguments)})"


def typed(program: ir.Program) -> TypedProgram:
    """The program with the types that inference would find: conditions are bools, all else is a number."""
    types = {}
    for function in program.functions:
        ops = [op for block in function.blocks for op in block.ops]
        for v in (*function.inputs, *(v for op in ops for v in ir.writes(op))):
            is_condition = v.split(".")[0] in (*CONDITIONS, "base")
            types[function.name, v] = Tensor(tf.bool if is_condition else tf.int32, ())
    return TypedProgram(program, types, (), ())
