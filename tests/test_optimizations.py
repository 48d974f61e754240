"""Each optimization can be left out; that changes what the program is, never what it returns."""

import pytest
import tensorflow as tf

import autobatch as ab
from autobatch import ir
from autobatch.options import OPTIMIZATIONS
from tests.backends import assert_same
from tests.programs import PROGRAMS

WITHOUT = [*sorted(OPTIMIZATIONS), "all"]


def left_out(function, name):
    return function.options(optimizations=OPTIMIZATIONS - {name} if name != "all" else ())


@pytest.mark.parametrize(
    ("program", "name"), [*(("unread_between_calls", name) for name in WITHOUT), ("quicksort", "all")]
)
def test_the_results_are_the_same(program, name):
    """(On random graphs, without the machine, for any choice of them: tests/passes/test_random_graphs.py.)"""
    function, args = PROGRAMS[program]
    assert_same(left_out(function, name)(*args), function.options(backend="unbatched")(*args))


def sizes(program, name):
    """How many registers, stacks, saves and blocks there are."""
    function, args = PROGRAMS[program]
    found = (
        (left_out(function, name) if name else function)
        .lower(*args)
        ._program.stack(OPTIMIZATIONS - {name} if name else OPTIMIZATIONS)
    )
    ops = [op for block in found.program.blocks for op in block.ops]
    saves = sum(isinstance(op, ir.Push) for op in ops)
    return len(set(found.registers.values())), len(found.stacked), saves, len(found.blocks)


@pytest.mark.parametrize(
    ("name", "program", "kind"),
    [
        ("live_saves", "fibonacci", "saves"),
        ("temporaries", "newton_sqrt", "registers"),
        ("registers", "sum_of_calls_in_loop", "stacks"),
        ("pop_push", "unread_between_calls", "saves"),
        ("coalescing", "ackermann", "registers"),
        ("jump_threading", "n_queens", "blocks"),
        ("tail_duplication", "collatz", "blocks"),
    ],
)
def test_what_each_saves(name, program, kind):
    k = ("registers", "stacks", "saves", "blocks").index(kind)
    assert sizes(program, name)[k] > sizes(program, None)[k]


def test_a_loop_that_ends_a_function_returns_by_its_branch():
    @ab.autobatch
    def steps(n):
        count = 0
        while n > 1:
            n = n // 2 if n % 2 == 0 else 3 * n + 1
            count += 1
        return count

    @ab.autobatch
    def both(n):
        return steps(n) + steps(n + 1)

    lowered = both.lower(N := tf.constant([7, 27, 1]))
    ends = [block.terminator for block in lowered._program.stack().program.blocks]
    assert any(isinstance(end, ir.Branch) and str(end).endswith("return") for end in ends)
    for dispatch in ("guarded", "sweep", "rounds", "switch_case"):
        assert_same(both.options(dispatch=dispatch)(N), tf.constant([16 + 3, 111 + 18, 0 + 1]))


def test_the_order_of_blocks():
    function, args = PROGRAMS["fibonacci"]
    program = function.lower(*args)._program
    assert program.stack().order
    assert not program.stack(OPTIMIZATIONS - {"visit_order"}).order


def test_costly_blocks_need_not_come_last():
    @ab.autobatch
    def far(x):
        while tf.reduce_sum(x) < 100:
            x = tf.linalg.matvec(tf.ones([40, 40]), tf.linalg.matvec(tf.ones([40, 40]), x))
            if x[0] > 50:
                x = x + 1
        return x

    program = far.lower(tf.ones([2, 40]))._program
    usual, plain = (program.stack(names).costs for names in (OPTIMIZATIONS, OPTIMIZATIONS - {"costly_last"}))
    assert sorted(usual) == sorted(plain)
    assert usual.index(max(usual)) > plain.index(max(plain))


def test_names_that_are_none():
    with pytest.raises(ValueError, match="there is no optimization speed; there are coalescing, "):
        PROGRAMS["fibonacci"][0].options(optimizations=("speed",))
