"""Each rule of each language, broken; and each pass, broken on purpose: the verifier says so, and names the pass."""

import dataclasses
from dataclasses import replace

import pytest
import tensorflow as tf

import autobatch as ab
from autobatch import ir, passes
from autobatch.errors import InvalidProgramError
from autobatch.ir.parser import parse, parse_typed
from autobatch.ir.types import Tensor
from autobatch.ir.verifier import verify

SUM = """
function sum(n, x) -> r
block 0:
  base = n <= 0
  branch base 1 2
block 1:
  r = x
  return
block 2:
  m = n - 1
  y = x + n
  left = call sum(m, y)
  right = call sum(m, x)
  r = left + right
  return
"""
TYPES = """
types:
function sum
  n: int32[]
  x: int32[]
  r: int32[]
  base: bool[]
  m: int32[]
  y: int32[]
  left: int32[]
  right: int32[]
"""


def changed(text, *pairs):
    for old, new in pairs:
        assert old in text
        text = text.replace(old, new)
    return text


@pytest.mark.parametrize(
    ("pair", "message"),
    [
        (("branch base 1 2", "branch base 1 7"), "Block 0 of `sum` goes on to block 7, which does not exist"),
        (("branch base 1 2", "branch base return 2"), None),
        (("left = call sum(m, y)", "left = call add(m, y)"), "calls `add`, which does not exist"),
        (("left = call sum(m, y)", "left = call sum(m)"), r"`?left = call sum\(m\) does not fit function sum\(n, x\)"),
        (("r = x", "r = z"), None),  # a global
        (("branch base 1 2", "branch bass 1 2"), None),
        (("sum(n, x) ->", "sum(n, n) ->"), "A name comes twice among the inputs of `sum`: n, n"),
        (("m = n - 1", "m, m = n - 1, n"), "A name comes twice among the outputs"),
    ],
)
def test_local_programs(pair, message):
    verify(parse(SUM))
    if message is not None:
        with pytest.raises(InvalidProgramError, match=message):
            verify(parse(changed(SUM, pair)))


def test_two_functions_of_one_name():
    with pytest.raises(InvalidProgramError, match="Two functions have one name"):
        verify(parse(SUM + SUM))


def test_operations_of_the_other_language():
    block = ir.Block((ir.Pop(("n",), None),), ir.Return())
    function = replace(parse(SUM).entry, blocks=(block,))
    with pytest.raises(InvalidProgramError, match="has the operation `pop n` of another language"):
        verify(ir.Program((function,)))


@pytest.mark.parametrize(
    ("pair", "message"),
    [
        (("  r = x\n", ""), "Block 1 of `sum` reads `r`, which some path leaves unset"),
        (("branch base 1 2", "branch bass 1 2"), "Block 0 of `sum` reads `bass`, which some path leaves unset"),
        (("branch base 1 2", "branch base 2 2"), r"Nothing leads to the blocks \[1\] of `sum`"),
        (("base: bool[]", "base: bool[3]"), r"branches on `base`, which is bool\[3\]"),
        (("  base: bool[]\n", ""), "branches on `base`, which has no type"),
        (("y: int32[]", "y: float32[]"), r"argument `y` gives float32\[\] to what holds int32\[\]"),
        (("left: int32[]", "left: int64[]"), r"result `left` gives int32\[\] to what holds int64\[\]"),
        (("r: int32[]", "r: float32[]"), r"gives int32\[\] to what holds float32\[\]"),
        (("  x: int32[]\n", ""), "`x` of `sum` has no type"),
    ],
)
def test_typed_programs(pair, message):
    verify(parse_typed(SUM + TYPES))
    with pytest.raises(InvalidProgramError, match=message):
        verify(parse_typed(changed(SUM + TYPES, pair)))


def stack_text():
    return str(passes.lower_to_stack(parse_typed(SUM + TYPES)))


@pytest.mark.parametrize(
    ("pair", "message"),
    [
        (("  push x = y\n", "  update x = y\n"), "Block 3 pops `x`, which its frame has not pushed"),
        (("  pop m, x\n", "  pop m\n"), r"Block 4 returns with \['x'\] still pushed"),
        (("push left = left\n", "update left = left\n"), "Block 4 pops `left`"),
        (("  push left = left\n  update n = m\n", "  update n = m\n"), "Block 4 pops `left`"),
        (("  pop left\n", ""), "Block 4 reads `left`, which some path leaves unset, or which a call since"),
        (("  pop m, x\n", ""), "reads `m`, which some path leaves unset, or which a call since has set anew"),
        (("  update r = x\n  return", "  pop r\n  return"), "Block 1 pops `r`, which its frame has not pushed"),
        (("  update r = x\n", "  push r = x\n"), r"Block 1 returns with \['r'\] still pushed"),
        (("  update r = x\n", ""), "Block 1 reads `r`, which some path leaves unset"),
        (("pushjump 0 3", "pushjump 0 9"), "goes on to block 9, which does not exist"),
        (("  x: int32[]", "  x: float32[]"), "gives"),
        (("blocks 0 1 2 3 4", "blocks 0 1 2 3"), "Each block must belong to one function"),
        (("types:", "epilogue: 0\ntypes:"), "The epilogue does not return"),
        (("  push x = y\n", "  push x = y + 1\n"), "does more than save one variable and copy another"),
    ],
)
def test_stack_programs(pair, message):
    text = stack_text()
    verify(parse_typed(text))
    with pytest.raises(InvalidProgramError, match=message):
        verify(parse_typed(changed(text, pair)))


@pytest.mark.parametrize(("one", "other"), [(1, 2), (2, 1)])
def test_what_is_saved_must_be_set_on_every_path(one, other):
    text = f"""
program(n) -> r
stacks: pc
registers: none
block 0: (f)
  update c = n <= 0
  branch c {one} {other}
block 1:
  update x = n
  push x = n
  jump 3
block 2:
  push x = n
  jump 3
block 3:
  pop x
  update r = x
  return
function f(n) -> r: blocks 0 1 2 3
types:
  n: int32[]
  x: int32[]
  r: int32[]
  c: bool[]
"""
    with pytest.raises(InvalidProgramError, match="Block 3 reads `x`"):
        verify(parse_typed(text))
    verify(parse_typed(changed(text, ("block 2:\n", "block 2:\n  update x = 0\n"))))


def stored():
    return passes.run(passes.after("ir"), parse_typed(SUM + TYPES))


def test_registers():
    program = stored()
    verify(program)
    both = next(block for block in program.blocks if len(block.reads) > 1)
    one, other = (program.registers[leaf] for leaf in sorted(both.reads)[:2])
    mixed = {leaf: one if register == other else register for leaf, register in program.registers.items()}
    with pytest.raises(InvalidProgramError, match="Two leaves that live at the start of block . share a register"):
        verify(replace(program, registers=mixed))
    with pytest.raises(InvalidProgramError, match="has no register"):
        verify(replace(program, registers={}))
    with pytest.raises(InvalidProgramError, match="The visit order is no order of the blocks"):
        verify(replace(program, order=(0, 0, 1)))
    hidden = tuple(replace(block, reads=frozenset()) for block in program.blocks)
    with pytest.raises(InvalidProgramError, match="not said to be live at its start"):
        verify(replace(program, blocks=hidden))
    short = tuple(replace(block, end=frozenset(), writes=frozenset()) for block in program.blocks)
    with pytest.raises(InvalidProgramError, match="which does not outlive it|needs"):
        verify(replace(program, blocks=short))


@ab.autobatch
def product(x, n):
    if n <= 0:
        return x
    return product(0.5 * x, n - 1) * x


def test_adjoint_programs():
    lowered = product.lower(tf.ones([2]), tf.constant([1, 2]))
    adjoint = lowered._program.adjoint(lowered._options)
    verify(adjoint)

    def broken(i, **change):
        blocks = list(adjoint.blocks)
        blocks[i] = replace(blocks[i], **change)
        return replace(adjoint, blocks=tuple(blocks))

    recording = next(i for i, block in enumerate(adjoint.blocks) if block.records)
    (calling,) = (i for i, block in enumerate(adjoint.blocks) if block.pushes == 1)
    (popping,) = (i for i, block in enumerate(adjoint.blocks) if block.taped)
    part = next(part for part in adjoint.blocks[popping].parts if part.taped)
    others = tuple(replace(each, taped=()) if each is not part else each for each in adjoint.blocks[popping].parts)
    moved = tuple(replace(each, stacks=(("call", 0),)) for each in others)
    made = tuple(replace(each, outputs=(("n", 0),)) for each in others)
    for wrong, message in (
        (broken(recording, records=()), "needs backwards, and does not record it"),
        (broken(calling, pushes=0), "does not know how deep its lanes were"),
        (broken(recording, records_depth=True), "does not know how deep its lanes were"),
        (broken(calling, records=(("r", 0), ("nobody", 0))), "records `nobody`, and does not write it"),
        (broken(calling, written=frozenset()), "writes other registers than its adjoint knows"),
        (broken(calling, cotangents=frozenset({("n", 0)})), "the cotangent of `n`, which has none"),
        (broken(popping, parts=()), "Not every part of block"),
        (broken(popping, parts=moved), "moves a cotangent of `call`, which it neither saves nor restores"),
        (broken(popping, parts=made), "has to do with `n`, and does not set it"),
        (replace(adjoint, blocks=()), "Not every block has an adjoint"),
        (replace(adjoint, registers=adjoint.registers | {("n", 0)}), "`n` has a cotangent, and is int32"),
        (replace(adjoint, registers=adjoint.registers | {("arg", 0)}), "`arg` has a cotangent, and is no register"),
        (replace(adjoint, stacks=adjoint.stacks | {("call", 0)}), "The stack of `call` has cotangents"),
    ):
        with pytest.raises(InvalidProgramError, match=message):
            verify(wrong)


def dropping(kind):
    """A pass that also drops the first operation of a kind."""

    def broken(function):
        def run(program, **parts):
            made = function(program, **parts)
            blocks = list(made.program.blocks)
            for i, block in enumerate(blocks):
                for k, op in enumerate(block.ops):
                    if isinstance(op, kind):
                        blocks[i] = replace(block, ops=block.ops[:k] + block.ops[k + 1 :])
                        return replace(made, program=replace(made.program, blocks=tuple(blocks)))
            raise AssertionError(f"no {kind}")

        return run

    return broken


def wrong_target(function):
    def run(program, **parts):
        made = function(program, **parts)
        blocks = list(made.program.blocks)
        blocks[-1] = replace(blocks[-1], terminator=ir.Jump(len(blocks)))
        return replace(made, program=replace(made.program, blocks=tuple(blocks)))

    return run


def one_register(function):
    """Shares without looking whether two leaves are needed at once."""

    def run(program, **parts):
        made = function(program, **parts)
        first = min(made.registers.values())
        return replace(made, registers=dict.fromkeys(made.registers, first))

    return run


def all_pops_cancelled(function):
    def run(program):
        blocks = [
            replace(b, ops=tuple(op for op in b.ops if not isinstance(op, ir.Pop))) for b in program.program.blocks
        ]
        return replace(program, program=replace(program.program, blocks=tuple(blocks)))

    return run


def forgotten_owner(function):
    return lambda program: replace(made := function(program), typed=replace(made.typed, owners=made.typed.owners[1:]))


def twice_in_the_order(function):
    return lambda stored: replace(made := function(stored), order=(*made.order[1:], made.order[1]))


BREAKS = [
    ("stack_lowering", dropping(ir.Push)),
    ("stack_lowering", dropping(ir.Pop)),
    ("pop_push", all_pops_cancelled),
    ("pop_push", wrong_target),
    ("tail_duplication", wrong_target),
    ("storage", one_register),
    ("jump_threading", forgotten_owner),
    ("visit_order", twice_in_the_order),
]


@pytest.mark.parametrize(("name", "breaks"), BREAKS, ids=lambda part: getattr(part, "__qualname__", part).split(".")[0])
def test_a_broken_pass_is_named(name, breaks, monkeypatch):
    monkeypatch.setenv("AUTOBATCH_VERIFY", "1")
    pipeline = [
        dataclasses.replace(each, function=breaks(each.function)) if each.name == name else each
        for each in passes.after("ir")
    ]
    with pytest.raises(InvalidProgramError, match=f"The pass {name} made an invalid program"):
        passes.run(pipeline, parse_typed(SUM + TYPES))
    passes.run(passes.after("ir"), parse_typed(SUM + TYPES))


def test_without_the_option_nothing_is_verified(monkeypatch):
    monkeypatch.delenv("AUTOBATCH_VERIFY")
    late = passes.after("ir")[-1]
    program = passes.run([dataclasses.replace(late, function=twice_in_the_order(late.function))], stored())
    assert len(set(program.order)) < len(program.order)


def test_what_is_no_program():
    with pytest.raises(InvalidProgramError, match="int is no program"):
        verify(3)


def test_conditions_of_every_kind():
    typed = parse_typed(SUM + TYPES)
    scalar = {("sum", "base"): Tensor(tf.int32, ())}
    verify(replace(typed, types={**typed.types, **scalar}))
