"""Random programs: every backend agrees with the oracle on control flow that nobody thought of.

``AUTOBATCH_EXAMPLES=500 pytest tests/test_random_programs.py`` looks further.
"""

import itertools
import os
import textwrap

import pytest
import tensorflow as tf
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import autobatch as ab
from tests.backends import BACKENDS, assert_same

EXAMPLES = int(os.environ.get("AUTOBATCH_EXAMPLES", "0"))

INTS = ("a", "b", "c")
small = st.integers(-5, 9)


def ints(depth):
    leaf = st.one_of(st.sampled_from(INTS), small.map(str))
    if depth == 0:
        return leaf
    inner = ints(depth - 1)
    return st.one_of(
        leaf,
        st.tuples(inner, st.sampled_from("+-*"), inner).map(lambda t: f"({t[0]} {t[1]} {t[2]}) % 97"),
        st.tuples(inner, st.integers(2, 7)).map(lambda t: f"{t[0]} // {t[1]}"),
        st.tuples(inner, conditions(depth - 1), inner).map(lambda t: f"({t[0]} if {t[1]} else {t[2]})"),
        st.tuples(inner, inner, st.sampled_from(["max", "min"])).map(lambda t: f"{t[2]}({t[0]}, {t[1]})"),
        st.tuples(inner, inner).map(lambda t: f"t[({t[0]} + {t[1]}) % 4]"),
    )


def conditions(depth):
    number = ints(max(depth - 1, 0))
    comparison = st.tuples(number, st.sampled_from(["<", "<=", "==", "!=", ">"]), number).map(" ".join)
    floating = st.tuples(st.sampled_from(["<", ">="]), st.sampled_from(["0.5", "2.0"])).map(
        lambda t: f"z {t[0]} {t[1]}"
    )
    if depth == 0:
        return st.one_of(comparison, floating)
    inner = conditions(depth - 1)
    return st.one_of(
        comparison,
        floating,
        st.tuples(inner, st.sampled_from(["and", "or"]), inner).map(lambda t: f"({t[0]} {t[1]} {t[2]})"),
        inner.map(lambda c: f"(not {c})"),
        st.tuples(number, number, number).map(lambda t: f"{t[0]} < {t[1]} <= {t[2]}"),
        st.just("(a % 2 == 0 or f(n - 1, b, a, z, t)[0] > 20)"),
    )


def call():
    name = st.sampled_from(["f", "g"])
    return st.tuples(name, ints(1), ints(1)).map(lambda t: f"{t[0]}(n - 1, {t[1]}, {t[2]}, z, t)")


def block(depth, in_loop):
    return st.lists(statement(depth, in_loop), min_size=1, max_size=3).map("\n".join)


def indented(text):
    return textwrap.indent(text, "    ")


counter = itertools.count()


def bounded_while(parts):
    k = next(counter)
    test, body = parts
    return f"i{k} = 0\nwhile i{k} < 4 and {test}:\n    i{k} += 1\n{indented(body)}"


def statement(depth, in_loop):
    simple = [
        st.tuples(st.sampled_from(INTS), ints(2)).map(lambda t: f"{t[0]} = {t[1]}"),
        st.tuples(st.sampled_from(INTS), ints(1)).map(lambda t: f"{t[0]} += {t[1]}\n{t[0]} = {t[0]} % 89"),
        st.sampled_from(
            ["z = z + 0.5", "z = z - 0.25", "a, b = b, a", "t[a % 4] = b", "t[b % 4], t[1] = t[1], t[b % 4]"]
        ),
        call().map(lambda c: f"a, z = {c}"),
        call().map(lambda c: f"b = {c}[0] + a"),
    ]
    if in_loop:
        simple.append(
            st.tuples(conditions(1), st.sampled_from(["break", "continue"])).map(lambda t: f"if {t[0]}:\n    {t[1]}")
        )
    if depth == 0:
        return st.one_of(*simple)
    inner, loop_body = block(depth - 1, in_loop), block(depth - 1, True)
    returning = st.tuples(conditions(1), ints(1)).map(lambda t: f"if {t[0]}:\n    return {t[1]}, z")
    return st.one_of(
        *simple,
        returning,
        st.tuples(conditions(2), inner, inner).map(lambda t: f"if {t[0]}:\n{indented(t[1])}\nelse:\n{indented(t[2])}"),
        st.tuples(conditions(1), inner).map(lambda t: f"if {t[0]}:\n{indented(t[1])}"),
        st.tuples(ints(1), loop_body).map(lambda t: f"for c in range(({t[0]}) % 4):\n{indented(t[1])}"),
        st.tuples(conditions(1), loop_body).map(bounded_while),
    )


def function(name):
    def write(parts):
        body, result = parts
        head = f"@ab.autobatch\ndef {name}(n, a, b, z, t):\n    c = 1\n    if n <= 0:\n        return a - b, z\n"
        return f"{head}{indented(body)}\n    return {result}, z\n"

    return st.tuples(block(2, False), ints(1)).map(write)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("programs")


@settings(
    max_examples=EXAMPLES or 12,
    derandomize=not EXAMPLES,
    deadline=None,
    suppress_health_check=list(HealthCheck),
)
@given(first=function("f"), second=function("g"), data=st.data())
def test_random_program(folder, first, second, data):
    path = folder / f"program_{next(counter)}.py"
    path.write_text(f"{first}\n\n{second}")
    scope = {"ab": ab}
    exec(compile(path.read_text(), str(path), "exec"), scope)
    size = 4
    column = st.lists(small, min_size=size, max_size=size).map(tf.constant)
    args = (
        tf.constant(data.draw(st.lists(st.integers(0, 2), min_size=size, max_size=size))),
        data.draw(column),
        data.draw(column),
        tf.constant([0.0, 1.0, 0.5, 2.25]),
        tf.reshape(tf.range(size * 4) % 7, [size, 4]),
    )
    f = scope["f"]
    expected = f.options(backend="unbatched")(*args)
    for name in ("program_counter_no_xla", "local_static", "program_counter"):
        assert_same(f.options(**BACKENDS[name])(*args), expected)
