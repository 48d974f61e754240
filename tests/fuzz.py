"""Runs many random programs: ``python -m tests.fuzz --programs 20000 --seed 1``.

Each program runs in plain Python, on numbers and NumPy arrays, and on the interpreter of the stack language; some on a
backend too, in turn.
"""

from __future__ import annotations

import collections
import itertools
import linecache
import time
import types

import numpy as np
import tensorflow as tf
import typer
from hypothesis import HealthCheck, Phase, given, note, reject, seed, settings
from hypothesis import strategies as st
from rich.progress import Progress

import autobatch as ab
from tests.backends import BACKENDS, assert_same
from tests.generator import programs, small
from tests.interpreter import interpret

SIZE = 4
EVERY = 40  # how many programs there are to one that a backend runs too
_column = st.lists(small, min_size=SIZE, max_size=SIZE).map(tf.constant)
arguments = st.tuples(
    st.lists(st.integers(0, 2), min_size=SIZE, max_size=SIZE).map(tf.constant),
    _column,
    _column,
    st.just(tf.constant([0.0, 1.0, 0.5, 2.25])),
    st.just(tf.reshape(tf.range(SIZE * 4) % 7, [SIZE, 4])),
    st.just(tf.reshape(tf.range(SIZE * 6) % 5, [SIZE, 2, 3])),
)
_number = itertools.count()


def load(text):
    """The function ``f`` of a program's text, whose source can be read as a file's can."""
    name = f"<random program {next(_number)}>"
    linecache.cache[name] = (len(text), None, text.splitlines(keepends=True), name)
    scope = {"ab": ab, "tf": tf, "__name__": "random_program"}
    exec(compile(text, name, "exec"), scope)
    return scope["f"]


def accepted(text, values):
    """The function, if it is not refused for an array that may be another's."""
    f = load(text)
    try:
        f._program(f._take_apart(values, {}))
    except ab.errors.UnsupportedSyntaxError as error:
        if error.kind != "shared-array":
            raise
        reject()
    return f


def in_plain_python(text, values):
    """What ``f`` returns for all members, each run on Python's numbers and NumPy arrays of its own."""
    scope = {"ab": types.SimpleNamespace(autobatch=lambda f: f, unroll=list), "tf": tf}
    exec(text, scope)
    results = []
    for z in range(SIZE):
        members = (np.array(value[z]) for value in values)
        results.append(scope["f"](*(value if value.ndim else value.item() for value in members)))
    numbers, floats = zip(*results, strict=True)
    return np.array(numbers, np.int32), np.array(floats, np.float32)


def main(programs_wanted: int = typer.Option(20_000, "--programs"), start: int = typer.Option(0, "--seed")) -> None:
    """Runs random programs, and prints the first one that goes wrong, shrunken."""
    ran, begun = collections.Counter(), time.time()
    with Progress() as progress:
        bar = progress.add_task("programs", total=programs_wanted)

        @seed(start)
        @settings(
            max_examples=programs_wanted, deadline=None, database=None, suppress_health_check=list(HealthCheck),
            phases=[Phase.generate, Phase.shrink], report_multiple_bugs=False,
        )  # fmt: skip
        @given(text=programs(), values=arguments)
        def run(text, values):
            note(text)
            f = accepted(text, values)
            expected = in_plain_python(text, values)
            assert_same(interpret(f, *values), expected)
            ran["interpreter"] += 1
            if ran["interpreter"] % EVERY == 0:
                backend = list(BACKENDS)[ran["interpreter"] // EVERY % len(BACKENDS)]
                assert_same(f.options(**BACKENDS[backend])(*values), expected)
                ran[backend] += 1
            linecache.cache.pop(f._fn.__code__.co_filename)
            progress.advance(bar)

        run()
    print(f"{dict(ran)} programs agree with the oracle; {time.time() - begun:.0f} s")


if __name__ == "__main__":
    app = typer.Typer(pretty_exceptions_enable=False)
    app.command()(main)
    app()
