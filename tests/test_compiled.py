"""What XLA makes of the machine: stacks stay in place, and a block's work stays in its guard."""

import re

import tensorflow as tf

import autobatch as ab

Z, D = 5, 67  # sizes that nothing else has


@ab.autobatch
def tree_sum(x, n):
    if n == 0:
        return tf.linalg.matvec(tf.ones([D, D]), x)  # does not change x: work that XLA would like to hoist
    left = tree_sum(x * 0.5, n - 1)
    right = tree_sum(x + 1.0, n - 1)
    return left + right + x


def optimized():
    """The optimised program's computations as ("ENTRY " or "", lines) pairs; the entry stands outside the loop."""
    lowered = tree_sum.lower(tf.ones([Z, D]), tf.constant([1, 2, 3, 1, 0]))
    executable = lowered._program.executable(Z, tree_sum._options)
    text = executable.compiler_ir(lowered._program.arguments(lowered._taken), [], "optimized_hlo")
    return re.findall(r"^(ENTRY )?%?[\w.\-]+ \([^\n]*\{\n(.*?)^\}", text, re.MULTILINE | re.DOTALL)


def test_the_program_is_exported_with_all_that_it_takes():
    matrix = tf.constant(0.5, shape=[D, D])

    @ab.autobatch
    def scaled(x, n):
        for _ in range(n):
            x = tf.linalg.matvec(matrix, x)
        return x

    lowered = scaled.lower(tf.ones([Z, D]), tf.range(Z))
    program, inputs = lowered.to_hlo()
    assert b"while" in program
    assert [tuple(tensor.shape) for tensor in inputs] == [(Z, D), (Z,), (D, D)]


def test_no_stack_is_copied_in_the_loop():
    stack = re.compile(rf"= f32\[\d+,{Z},{D}\]\S* copy\(")
    computations = optimized()
    assert any(re.search(rf"f32\[\d+,{Z},{D}\]", body) for _, body in computations)
    for entry, body in computations:
        assert entry or not stack.search(body), body


def test_work_is_not_hoisted_out_of_its_guard():
    """The matrix product stands in a computation of its own guard, not in the loop around all guards."""
    guards = re.compile(r"= \([^\n]*\) while\(")
    for _, body in optimized():
        if len(guards.findall(body)) > 1:  # the body of the outer loop
            assert not re.search(r"\b(dot|custom-call)\(", body), body
