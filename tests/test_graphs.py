"""Graphs and loops made by hand do what TensorFlow's own do."""

import functools
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import pytest
import tensorflow as tf

import autobatch as ab
from autobatch.machine.loop import while_loop
from autobatch.tracing.graphs import GraphFunction

SCALE = tf.Variable(2.0)
ROWS = tf.reshape(tf.range(1200.0), [300, 4])  # too large for a constant in a graph


class Compiled:
    safe = False


class Interpreted:
    safe = True


def turned(loop, x, n):
    """Nested loops; what is read from outside is the graph's, eager, a variable's, or of the outer loop."""
    step = tf.reduce_sum(x)

    def inner(k, state):
        return k + 1, {"seen": state["seen"] + step + ROWS[k % 300, 0], "x": state["x"] * SCALE}

    def outer(k, state, last):
        bound = k + 1
        _, state = loop(lambda j, _: j < bound, inner, (0, state))
        return k + 1, state, tf.where(k > 1, last, state["x"])

    start = {"seen": tf.zeros([]), "x": x}
    return loop(lambda k, *_: k < n, outer, (0, start, tf.zeros_like(x)))


def theirs(goes_on, body, carried):
    return tf.while_loop(goes_on, body, carried, parallel_iterations=1)


class Pair(NamedTuple):
    first: Any
    second: Any


@ab.struct
@dataclass(frozen=True)
class State:
    x: tf.Tensor


@pytest.mark.parametrize(
    "nest",
    [
        tf.constant(1),
        [],
        [tf.constant(1), (), (tf.constant(2), [tf.constant(3)])],
        Pair({"b": tf.constant(1), "a": [tf.constant(2)]}, Pair(tf.constant(3), ())),
        ({"b": (tf.constant(1),), "a": State(tf.constant(2))}, tf.constant(3)),
    ],
)
def test_results_have_the_structure(nest):
    found = GraphFunction(lambda nest: nest, nest)(nest)
    assert str(tf.nest.map_structure(int, found)) == str(tf.nest.map_structure(int, nest))


@pytest.mark.parametrize("jit_compile", [True, False])
@pytest.mark.parametrize("n", [0, 1, 4])
def test_loops_in_loops(jit_compile, n):
    x = tf.constant([1.0, 2.0, 3.0])
    loop = functools.partial(while_loop, Compiled() if jit_compile else Interpreted())
    found = tf.function(lambda x: turned(loop, x, n), autograph=False, jit_compile=jit_compile)(x)
    expected = tf.function(lambda x: turned(theirs, x, n), autograph=False)(x)
    for one, other in zip(tf.nest.flatten(found), tf.nest.flatten(expected), strict=True):
        np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize(
    ("body", "text"),
    [
        (lambda k, x: (k + 1, tf.concat([x, x], 0)), "shape"),
        (lambda k, x: (k + 1, tf.cast(x, tf.int32)), "int32"),
        (lambda k, x: (k + 1, x, x), "structure"),
    ],
)
def test_what_is_carried_stays_as_it_is(body, text):
    with pytest.raises(ValueError, match=text):
        tf.function(lambda x: looped(body, x), autograph=False, jit_compile=True)(tf.zeros([2]))


def looped(body, x, owner=Compiled):
    return while_loop(owner(), lambda k, _: k < 3, body, (0, x))[1]


def test_gradients_go_through_loops_outside_of_xla():
    x = tf.constant([1.0, 2.0])

    def doubled(k, x):
        return k + 1, 2 * x

    def gradient(owner, jit_compile):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = tf.function(lambda x: looped(doubled, x, owner), autograph=False, jit_compile=jit_compile)(x)
        return tape.gradient(y, x)

    assert gradient(Interpreted, False).numpy().tolist() == [8.0, 8.0]
    with pytest.raises(LookupError, match="has gradients in plain calls"):
        gradient(Compiled, True)


def test_a_graph_takes_and_gives_nests():
    doubled = GraphFunction(lambda x, more: {"sum": x + more["y"], "rest": [more["z"], 3, None or x]}, *given(1.0))
    for value in (1.0, 5.0):
        x, more = given(value)
        found = doubled(x, more)
        np.testing.assert_array_equal(found["sum"], x + more["y"])
        assert [float(tf.reduce_sum(leaf)) for leaf in found["rest"]] == [7.0, 3.0, 2 * value]


def given(value):
    return tf.fill([2], value), {"z": tf.constant(7.0), "y": tf.constant([1.0, -1.0])}


def test_tapes_go_through_a_graph():
    cubed = GraphFunction(lambda x: x**3 * SCALE + tf.reduce_sum(ROWS), tf.zeros([3]))
    x = tf.constant([1.0, 2.0, 3.0])
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = cubed(x)
    by_x, by_scale = tape.gradient(y, [x, SCALE])
    np.testing.assert_allclose(by_x, 6 * x**2)
    np.testing.assert_allclose(by_scale, tf.reduce_sum(x**3))


def test_what_has_effects_happens_once_for_each_call(capfd):
    said = GraphFunction(lambda x: [tf.print("here", output_stream="file:///dev/stdout"), x][1], tf.zeros([]))
    for k in range(3):
        assert float(said(tf.constant(float(k)))) == k
    assert capfd.readouterr().out.count("here") == 3
