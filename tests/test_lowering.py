"""What lowering must achieve: where stacks are needed, and where they are not."""

import pytest
import tensorflow as tf

import autobatch as ab
from autobatch import ir
from autobatch.mcmc import DelayedRejectionHMC, draws
from autobatch.options import OPTIMIZATIONS
from tests.programs import PROGRAMS


def stack_program(name):
    function, args = PROGRAMS[name]
    return function.lower(*args).stack_program


@pytest.mark.parametrize("name", ["collatz", "count_primes", "bubble_sort", "mandelbrot", "sum_of_calls_in_loop"])
def test_no_stacks_without_need(name):
    """sum_of_calls_in_loop calls a recursive function, but is not called by it: its own variables need no stack."""
    stacks = stack_program(name).stacks
    assert all(v.startswith("triangle.") for v in stacks)


def test_only_what_is_live_across_a_recursive_call_has_a_stack():
    assert stack_program("fibonacci").stacks == ("call", "n")
    assert stack_program("gcd").stacks == ()


def test_tail_calls_are_jumps():
    """A tail call leaves no frame behind, so gcd runs in constant depth."""
    blocks = stack_program("gcd").blocks
    assert not any(isinstance(b.terminator, ir.PushJump) for b in blocks)


def test_pop_push_is_cancelled():
    """`extra` is live across both calls and nothing reads it between them: saved once, restored once."""
    ops = [op for block in stack_program("unread_between_calls").blocks for op in block.ops]
    pushed = [v for op in ops if isinstance(op, ir.Push) for v in op.outputs]
    popped = [v for op in ops if isinstance(op, ir.Pop) for v in op.variables]
    assert sorted(pushed) == sorted(popped)
    assert pushed.count("extra") == 1


def test_temporaries_are_not_registers():
    program = stack_program("newton_sqrt")
    assert "cond" not in program.registers


def test_costly_blocks_come_last():
    def log_prob(q):
        return -0.5 * tf.reduce_sum(tf.linalg.matvec(tf.eye(50), q) ** 2)

    sampler = DelayedRejectionHMC(log_prob, 0.1, 5)
    program = draws.lower(sampler, 2, tf.zeros([2, 50]), tf.zeros([2, 2], tf.uint32)).stack_program
    *_, costly, epilogue = program.blocks
    assert any("value_and_gradient(" in str(op) for op in costly.ops)
    assert isinstance(epilogue.terminator, ir.Return)


def test_what_every_recursive_call_hands_on_has_no_stack():
    stacks = stack_program("handed_on_unchanged").stacks
    assert "n" in stacks
    assert not {"x", "weights"} & set(stacks)


@pytest.mark.compiles
def test_unreachable_code_is_not_typed():
    @ab.autobatch(static_argnames="table")
    def lookup(x, table=None):
        if table is not None:
            return table[0] + x
        return x * 2

    assert lookup(tf.constant([1, 2])).numpy().tolist() == [2, 4]
    assert lookup(tf.constant([1, 2]), table=(10,)).numpy().tolist() == [11, 12]
    assert len(lookup.lower(tf.constant([1, 2])).program.entry.blocks) == 1


@pytest.mark.compiles
def test_static_arguments_make_specialisations():
    @ab.autobatch(static_argnames=("f", "n"))
    def repeat(f, n, x):
        return x if n == 0 else repeat(f, n - 1, f(x))

    double = ab.autobatch(lambda_free_double)
    lowered = repeat.lower(double, 3, tf.constant([1.0, 2.0]))
    assert sorted(f.name for f in lowered.program.functions) == [
        "lambda_free_double", "repeat", "repeat'", "repeat''", "repeat'''",
    ]  # fmt: skip
    assert repeat(double, 3, tf.constant([1.0, 2.0])).numpy().tolist() == [8.0, 16.0]


def lambda_free_double(x):
    return 2.0 * x


def test_short_tests_stand_where_they_are_jumped_to():
    @ab.autobatch
    def countdown(n):
        return 0 if n <= 0 else 1 + countdown(n - 1)

    @ab.autobatch
    def slow_test(x):
        while tf.reduce_sum(x) < 10.0:
            x = x + 1.0
        return x

    blocks = countdown.lower(tf.range(3)).stack_program.blocks
    (call,) = (b.terminator for b in blocks if isinstance(b.terminator, ir.PushJump))
    assert isinstance(call.then, ir.Branch), "the base case is tested before the call"
    assert sum("<=" in str(block) for block in blocks) == 2
    blocks = slow_test.lower(tf.zeros([2, 3])).stack_program.blocks
    assert sum("reduce_sum" in str(block) for block in blocks) == 1, "vectors are not worth it"


def test_the_visit_order_has_few_ways_back():
    function, args = PROGRAMS["fibonacci"]
    order = function.lower(*args)._program.stack().order
    # After both calls, after the first, the recursive case, the base case: only the base case's returns go back.
    assert order == (4, 3, 2, 1, 0)


def elif_chain(x):
    y, side = 0.0, (0.0, 1)
    if x < 0.0:
        return x
    if x < 1.0:
        y = x * 2.0
    elif x < 2.0:
        y, side = x + 3.0, (x, 2)
        if y > 4.5:
            y = -y
    return y + side[0] * side[1]


def test_cheap_arms_are_choices():
    """A chain of tests, nested ones and tuples too, is one block; and so is what comes after it."""
    function = ab.autobatch(elif_chain)
    x = tf.constant([-1.0, 0.5, 1.0, 1.4, 1.6, 2.5, 3.5, float("nan")])
    assert len(function.lower(x).stack_program.blocks) == 1
    plain = function.options(optimizations=OPTIMIZATIONS - {"if_conversion"})
    assert len(plain.lower(x).stack_program.blocks) > 4
    for way in (function, plain):
        tf.debugging.assert_equal(tf.stack([function.unbatched(v) for v in x[:-1]]), way(x)[:-1])


def guarded(x, n):
    if x > 0.0:
        y = tf.sqrt(x)
    else:
        y = 0.0
    if n != 0:
        k = 10 // n
    else:
        k = 0
    return y, k


def test_arms_that_may_fail_or_have_no_derivative_stay():
    program = ab.autobatch(guarded).lower(tf.ones([2]), tf.constant([1, 0])).stack_program
    assert len(program.blocks) >= 5
