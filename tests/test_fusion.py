"""What is computed once, though several results come from it, and what the hiding of roundings does not cost."""

import re

import numpy as np
import pytest
import tensorflow as tf

import autobatch as ab
from autobatch.tracing.fusion import worth_keeping
from benchmarks.programs import oscillator
from tests.backends import assert_same

ELEMENTWISE = {"AddV2", "Mul", "Sqrt", "Less", "Cast"}


def chained(x, times, unit):
    for _ in range(times):
        x = x * unit
    return x


@pytest.fixture
def x():
    with tf.Graph().as_default():
        yield tf.compat.v1.placeholder(tf.float32, [])


def test_what_several_results_come_from(x):
    long = chained(x, 20, x)
    assert worth_keeping([long + 1.0, long * x], ELEMENTWISE) == [long]
    assert worth_keeping([long + 1.0], ELEMENTWISE) == []
    assert worth_keeping([long, x + 1.0], ELEMENTWISE) == []


def test_what_takes_little_to_compute(x):
    short = chained(x, 5, x)
    assert worth_keeping([short + 1.0, short * x], ELEMENTWISE) == []


def test_what_is_kept_ends_what_is_computed_again(x):
    """Two values on the way to a third, which is kept: they are read by that one alone."""
    first = chained(x, 20, x)
    second = chained(first, 20, first)
    assert worth_keeping([second + 1.0, second * x], ELEMENTWISE) == [second]
    assert worth_keeping([second + 1.0, second * x, first], ELEMENTWISE) == [second, first]


def test_what_xla_keeps_of_itself(x):
    root = tf.sqrt(chained(x, 20, x))
    assert worth_keeping([root + 1.0, root * x], ELEMENTWISE) == []
    after = root + 1.0
    assert worth_keeping([after + 1.0, after * x], ELEMENTWISE) == []


def test_no_integers(x):
    n = chained(tf.cast(x, tf.int32), 20, 3)
    assert worth_keeping([n + 1, n * 2], ELEMENTWISE) == []


@pytest.mark.compiles
def test_the_machine_computes_it_once():
    def loop(x, y, n):
        while n > 0:
            z = x * 3.7 * (1.0 - x)
            z = z * 3.7 * (1.0 - z)
            z = z * 3.7 * (1.0 - z)
            z = z * 3.7 * (1.0 - z)
            x, y, n = z * 0.5, y * 0.25 + z, n - 1
        return x, y

    function = ab.autobatch(loop)
    args = np.linspace(0.1, 0.9, 7), np.linspace(-1, 1, 7), np.arange(7)
    assert_same(function(*args), function.options(backend="unbatched")(*args))
    lowered = function.lower(*args)
    executable = lowered._program.executable(7, function._options)
    text = executable.compiler_ir(lowered._program.arguments(lowered._taken), [], "optimized_hlo")
    bodies = re.findall(r"^%?fused[\w.\-]+ \([^\n]*\{\n(.*?)^\}", text, re.MULTILINE | re.DOTALL)
    assert sum(body.count("constant(3.7)") > 0 for body in bodies) == 1


def test_the_hiding_of_roundings_does_not_make_an_arm_costly():
    stiffness, tolerance = tf.constant([1.0, 5.0]), tf.constant([1e-3, 1e-4])
    text = oscillator.lower(stiffness, tolerance).as_text("stack")
    assert "choose(" in text
