"""Control flow: two functions that call themselves and each other, and a method.

Every program ends (recursion burns ``n``, loops are bounded), integers stay small, and Python itself could run it.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable

import numpy as np
import tensorflow as tf
from hypothesis import reject
from hypothesis import strategies as st

from autobatch.errors import UnsupportedSyntaxError
from tests.backends import BACKENDS, assert_same
from tests.fuzz.running import AGREED, REFUSED, batched, plain
from tests.fuzz.writer import Writer, indented
from tests.interpreter import interpret

SIZE = 4
EVERY = 40  # how many programs there are to one that a backend runs too

PARAMETERS = "n, a, b, z, t, m"
INTS = ("a", "b", "c", "k", "p[0]", "d['u']", "d['v']")
NAMES = ("a", "b", "c", "k")
small = st.integers(-5, 9)
_column = st.lists(small, min_size=SIZE, max_size=SIZE).map(tf.constant)
arguments = st.tuples(
    st.lists(st.integers(0, 2), min_size=SIZE, max_size=SIZE).map(tf.constant),
    _column,
    _column,
    st.just(tf.constant([0.0, 1.0, 0.5, 2.25])),
    st.just(tf.reshape(tf.range(SIZE * 4) % 7, [SIZE, 4])),
    st.just(tf.reshape(tf.range(SIZE * 6) % 5, [SIZE, 2, 3])),
)

METHOD = """class S:
    def __init__(self, k):
        self.k = k

    @ab.autobatch
    def step(self, n, a):
        if n <= 0 or a > 50:
            return a % self.k
        return self.step(n - 1, a + self.k) + 1


s = S(3)
"""
HEAD = """@ab.autobatch
def {name}(n, a, b, z, t, m):
    c, k, p, d = 1, 2, (b, 0.5), {{"u": a, "v": 3}}
    u, e, t0, m0, z0 = False, 1.0, t, m, z
    if n <= 0:
        return a - b, z
"""
# A nested function has its own variables, and captures the rest.
NESTED = """def {i}(y, w=2):
    c, k, p, d, u, e, t, m, a, b, z = y, w, (w, 0.25), {{'u': y, 'v': w}}, y > w, 0.5, t0, m0, y, w, z0
    if y > {x}:
        return (y - w) % 13
{body}
    return {y}
b = {i}(c) + {i}({y}, a)"""
UNLIKE = """for {x}, {i} in [(a, 'l'), (b, 'r')]:
    if {i} == 'l' and {c}:
        {leave}
{body}"""


class _Writer(Writer):
    def name(self) -> str:
        return self.pick(*NAMES)

    def ints(self, depth: int) -> str:
        leaves = [lambda: self.pick(*INTS), lambda: str(self.draw(small))]
        if depth == 0:
            return self.pick(*leaves)

        def x() -> str:
            return self.ints(depth - 1)

        return self.pick(
            *leaves,
            lambda: f"({x()} {self.pick('+', '-', '*')} {x()}) % 97",
            lambda: f"{x()} // {self.draw(st.integers(2, 7))}",
            lambda: f"-{self.name()}",
            lambda: f"abs({x()})",
            lambda: f"({x()} if {self.condition(depth - 1)} else {x()})",
            lambda: f"{self.pick('max', 'min')}({x()}, {x()})",
            lambda: f"t[({x()} + {x()}) % 4]",
            lambda: f"t[-1 - ({x()}) % 4]",
            lambda: f"m[({x()}) % 2, ({x()}) % 3]",
            lambda: f"m[:, ({x()}) % 3][1]",
            lambda: f"[{x()}, {x()}, 3][({x()}) % 3]",
            lambda: f"sum(v if v > {x()} else -v for v in ({x()}, {x()}, 2)) % 97",
            lambda: f"s.step(n, {x()})",
        )

    def condition(self, depth: int) -> str:
        def x() -> str:
            return self.ints(max(depth - 1, 0))

        def comparison() -> str:
            return f"{x()} {self.pick('<', '<=', '==', '!=', '>')} {x()}"

        def floating() -> str:
            return self.pick("z < 0.5", "z >= 2.0", "p[1] > 1.0", "e > 0.6", "u")

        if depth == 0:
            return self.pick(comparison, floating)
        return self.pick(
            comparison,
            floating,
            lambda: f"({self.condition(depth - 1)} {self.pick('and', 'or')} {self.condition(depth - 1)})",
            lambda: f"(not {self.condition(depth - 1)})",
            lambda: f"{x()} < {x()} <= {x()}",
            lambda: f"{x()} in (1, {x()}, 4)",
            "(a % 2 == 0 or f(n - 1, b, a, z, t, m)[0] > 20)",
            "a < f(n - 1, b, a, z, t, m)[0] <= b",
        )

    def call(self) -> str:
        return f"{self.pick('f', 'g')}(n - 1, {self.ints(1)}, {self.ints(1)}, z, t, m)"

    def block(self, depth: int, in_loop: bool) -> str:
        return "\n".join(self.statement(depth, in_loop) for _ in range(self.draw(st.integers(1, 3))))

    def simple(self, in_loop: bool) -> list:
        x = self.name
        choices = [
            lambda: f"{x()} = {self.ints(2)}",
            lambda: (lambda v: f"{v} += {self.ints(1)}\n{v} = {v} % 89")(x()),
            lambda: f"p = ({self.ints(2)}, {self.pick('z', 'p[1]', 'z + p[1]')})",
            lambda: f"d = {{'u': {self.ints(1)}, 'v': {self.ints(1)}}}",
            lambda: f"{x()}, (z, _) = {self.ints(1)}, p[::-1]",
            lambda: self.pick("z = z + 0.5", "z = z - 0.25", "z = min(z, p[1])", "p = (k, z)"),
            lambda: self.pick("a, b = b, a", "k = 0", "c = k", "e = e / 2 + 0.25", "e = max(e, 0.7)"),
            lambda: f"u = {self.condition(1)}",
            lambda: f"t[{x()} % 4] = {self.ints(1)}",
            lambda: f"t[{x()} % 4] += {self.ints(1)} % 7",
            lambda: f"m[{x()} % 2, {x()} % 3] = {self.ints(1)}",
            lambda: self.pick(
                "t[b % 4], t[1] = t[1], t[b % 4]", "m[a % 2] = t[1:]", "m[0:] = m[::-1] + 0", "t[0:] = t[::-1] + 0"
            ),
            lambda: self.pick("t[1:3] = b", "m[a % 2, 1:] = t[1:3]", "m[:, b % 3] = a"),
            lambda: f"t[{x()} % 4] = m[1, 2]\nm[0][{x()} % 3] = t[0]",
            lambda: f"{x()}, z = {self.call()}",
            lambda: f"{x()} = {self.call()}[0] + {x()}",
            lambda: f"p = {self.call()}",
            lambda: f"{self.pick('a', 'b', 'c')} = [{self.call()}[0] for k in (a, {self.ints(1)})][1]",
            lambda: f"assert {x()} * 0 == 0, f'never {{{x()}}}'",
            lambda: (lambda i: f"{i} = lambda y, w={x()}: (y + a - w) % 83\nb = {i}(c) - {i}({x()})")(self.fresh()),
        ]
        if in_loop:
            choices.append(lambda: f"if {self.condition(1)}:\n    {self.pick('break', 'continue')}")
        return choices

    def statement(self, depth: int, in_loop: bool) -> str:
        simple = self.simple(in_loop)
        if depth == 0:
            return self.pick(*simple)

        def test() -> str:
            return self.condition(1)

        def inner() -> str:
            return indented(self.block(depth - 1, in_loop))

        def body() -> str:
            return indented(self.block(depth - 1, True))

        def target() -> str:
            return self.pick("c", "k", "a")

        def fill(text: str, **parts: Callable) -> Callable:
            return lambda: text.format(i=self.fresh(), **{name: write() for name, write in parts.items()})

        def value() -> str:
            return self.ints(1)

        return self.pick(
            *simple,
            fill("if {c}:\n    return {x}, z", c=test, x=value),
            fill("if {c}:\n{body}\nelse:\n{other}", c=lambda: self.condition(2), body=inner, other=inner),
            fill("if {c}:\n{body}\nelif {d}:\n{other}", c=test, d=test, body=inner, other=inner),
            fill("if {c}:\n{body}", c=test, body=inner),
            fill("if ({i} := {x}) > {y} and {i} < 50:\n{body}", x=value, y=self.name, body=inner),
            fill("for {x} in range(({y}) % 4):\n{body}", x=target, y=value, body=body),
            fill("for {x} in range({y}, {w} % 5, -2):\n{body}", x=target, y=value, w=self.name, body=body),
            fill("for {x} in range(3):\n{body}\nelse:\n{other}", x=target, body=body, other=inner),
            fill("for {x} in t:\n{body}", x=target, body=body),
            fill("for {x}, k in [(a, 1), (b, 2)]:\n{body}", x=target, body=body),
            fill(UNLIKE, x=target, c=test, leave=lambda: self.pick("break", "continue", "a = b"), body=body),
            fill("for {x} in ab.unroll(range(2)):\n{body}\nelse:\n{other}", x=target, body=body, other=inner),
            fill("for {i} in (t, m[0]):\n    a = a + {i}[k % 3]\n    a = a % 71\n{body}", body=body),
            fill("{i} = 0\nwhile {i} < 4 and {c}:\n    {i} += 1\n{body}", c=test, body=body),
            fill("{i} = 0\nwhile {i} < 3:\n    {i} += 1\n{body}\nelse:\n{other}", body=body, other=inner),
            fill(NESTED, x=value, y=self.name, body=self.nested_body),
        )

    def nested_body(self) -> str:
        return indented(self.block(0, False))

    def function(self, name: str) -> str:
        depth = self.pick(0, 1, 1, 2) if name == "f" else 0
        return f"{HEAD.format(name=name)}{indented(self.block(depth, False))}\n    return {self.ints(1)}, z\n"


@st.composite
def programs(draw: Callable) -> str:
    writer = _Writer(draw)
    return "\n\n".join([METHOD, writer.function("f"), writer.function("g")])


examples = st.tuples(programs(), arguments)
_agreed = itertools.count(1)


def accepted(text, values):
    """The function; the example is rejected if it is refused for an array that may be another's."""
    f = _function(text, values)
    if f is None:
        reject()
    return f


def _function(text, values):
    f = batched(text)["f"]
    try:
        f._program(f._take_apart(values, {}))
    except UnsupportedSyntaxError as error:
        if error.kind != "shared-array":
            raise
        return None
    return f


def in_plain_python(text, values):
    """What ``f`` returns for all members, each run on Python's numbers and NumPy arrays of its own."""
    f, results = plain(text)["f"], []
    for z in range(SIZE):
        members = (np.array(value[z]) for value in values)
        results.append(f(*(value if value.ndim else value.item() for value in members)))
    numbers, floats = zip(*results, strict=True)
    return np.array(numbers, np.int32), np.array(floats, np.float32)


def check(example):
    """Runs the program on the interpreter of the stack language, and some on a backend too, in turn."""
    text, values = example
    f = _function(text, values)
    if f is None:
        return REFUSED
    expected = in_plain_python(text, values)
    assert_same(interpret(f, *values), expected)
    count = next(_agreed)
    if count % EVERY == 0:
        backend = list(BACKENDS)[count // EVERY % len(BACKENDS)]
        assert_same(f.options(**BACKENDS[backend])(*values), expected)
    return AGREED
