"""Gradients: floats through loops, recursion, lists and arrays, against dual numbers in plain Python.

A dual number carries its derivatives along, operation by operation: forwards, where the library goes backwards.
"""

from __future__ import annotations

import functools
import math
import types
from typing import Any

import numpy as np
import tensorflow as tf
from hypothesis import strategies as st

from autobatch.errors import AutobatchError
from tests.fuzz.running import AGREED, REFUSED, batched, plain
from tests.fuzz.writer import Writer, indented

PROGRAM = """class Body:
    def __init__(self, place, speed):
        self.place = place
        self.speed = speed

    def moved(self, by):
        self.place = self.place + 0.5 * self.speed * by
        return self.place - self.speed


def at_least(z, low):
    if z < low:
        raise ValueError(z)
    return z * low


def halves(z, n):
    for i in range(n):
        yield z / (i + 2.0)


@ab.autobatch
def h(n, x, y):
    return {handed}


@ab.autobatch
def g(n, x, y):
    s, q, xs, k = tf.stack([y, x]), 0.5 * x, [y, x * y], n
    d, o = {{"u": x, "v": c * y}}, Body(y, x)
    if n <= 0:
        return {leaf}
{inner}
    return {returned}


@ab.autobatch
def f(n, x, y):
    s, q, xs, k = tf.stack([x, y]), x - y, [x, y, c], 2
    d, o = {{"u": y, "v": x * x}}, Body(x, -y)
{body}
    return {result}, tf.tanh(s), q
"""
N = np.array([0, 3, 1, 2], np.int32)
X = np.array([0.31, -1.27, 0.83, 2.09])
Y = np.array([1.13, 0.47, -0.71, -1.91])
C, W, V = 0.6, 0.77, np.array([0.59, -1.43, 0.37])
INPUTS = 2 + 1 + len(V)  # x and y of the member; w and v of all


class Dual:
    """A float and its derivatives."""

    def __init__(self, value: float, slopes: np.ndarray):
        self.value, self.slopes = value, slopes

    def _with(self, other: Any, value: float, own: float, others: float) -> Dual:
        return Dual(value, own * self.slopes + others * as_dual(other).slopes)

    def __add__(self, other):
        return self._with(other, self.value + as_dual(other).value, 1.0, 1.0)

    def __mul__(self, other):
        return self._with(other, self.value * as_dual(other).value, as_dual(other).value, self.value)

    def __truediv__(self, other):
        below = as_dual(other).value
        return self._with(other, self.value / below, 1 / below, -self.value / below**2)

    def __rtruediv__(self, other):
        return as_dual(other) / self

    def __neg__(self):
        return self * -1.0

    def __sub__(self, other):
        return self + as_dual(other) * -1.0

    def __rsub__(self, other):
        return as_dual(other) - self

    def __abs__(self):
        return self * math.copysign(1.0, self.value)

    def __pow__(self, exponent: int):
        return functools.reduce(Dual.__mul__, [self] * exponent)

    def __lt__(self, other):
        return self.value < as_dual(other).value

    def __gt__(self, other):
        return self.value > as_dual(other).value

    __radd__, __rmul__ = __add__, __mul__


def as_dual(x: Any) -> Dual:
    return x if isinstance(x, Dual) else Dual(float(x), np.zeros(INPUTS))


def _elementwise(value: Any, slope: Any) -> Any:
    """Of numbers and of arrays; ``slope``: the derivative, from what goes in and what comes out."""

    def function(x: Any) -> Any:
        if isinstance(x, np.ndarray):
            return np.array([function(each) for each in x], object)
        x = as_dual(x)
        result = value(x.value)
        return Dual(result, slope(x.value, result) * x.slopes)

    return function


ORACLE = types.SimpleNamespace(
    sin=_elementwise(math.sin, lambda x, _: math.cos(x)),
    tanh=_elementwise(math.tanh, lambda _, y: 1 - y * y),
    sqrt=_elementwise(math.sqrt, lambda _, y: 0.5 / y),
    exp=_elementwise(math.exp, lambda _, y: y),
    stop_gradient=_elementwise(lambda x: x, lambda x, y: 0.0),
    stack=lambda parts: np.array([as_dual(each) for each in parts], object),
    reduce_sum=np.sum,
)


class _Writer(Writer):
    def float(self, depth: int) -> str:
        def x() -> str:
            return self.float(depth - 1)

        leaves = [
            *("x", "y", "q", "w", "o.place", "o.speed", "d['u']", "d['v']"),
            *("xs[0]", "xs[-1]", "s[1]", "v[1]"),
            "v[k % 3]",
            "s[n % 2]",
            "c",
            "-c",
        ]
        if depth == 0:
            return self.pick(*leaves)
        return self.pick(
            *leaves,
            lambda: f"({x()} {self.pick('+', '-', '*')} {x()})",
            lambda: f"{x()} / (2.0 + {x()} ** 2)",
            lambda: f"tf.{self.pick('sin', 'tanh')}({x()})",
            lambda: f"tf.sqrt(1.0 + {x()} ** 2)",
            lambda: f"tf.exp(-({x()} ** 2))",
            lambda: f"abs({x()})",
            lambda: f"{self.pick('max', 'min')}({x()}, {x()})",
            lambda: f"({x()} if {self.condition()} else {x()})",
            lambda: f"tf.stop_gradient({x()})",
            lambda: "tf.reduce_sum(s * v[1:])",
            lambda: f"sum(a * {x()} for a in xs)",
            lambda: f"xs[{self.pick('k', 'n')} % len(xs)]",
            lambda: f"(lambda z: z * {x()} + q)({x()})",
            lambda: f"o.moved({x()})",
            lambda: f"sum(halves({x()}, {self.pick('n', '2')}))",
            lambda: f"sum(d[key] * {x()} for key in d)",
        )

    def condition(self) -> str:
        return self.pick(
            "k > 1", "n % 2 == 0", lambda: f"{self.float(0)} < {self.float(0)}", lambda: f"{self.float(0)} > 0.4"
        )

    def call(self) -> str:
        return self.pick(
            lambda: f"g(n - 1, tf.tanh({self.float(1)}), tf.sin({self.float(1)}))",
            lambda: f"h(n - 1, x, tf.tanh({self.float(1)}))",
            "h(n - 1, x, y)",
            "g(n - 1, y, x)",
        )

    def statement(self, depth: int, in_loop: bool = False) -> str:
        def x() -> str:
            return self.float(2)

        simple = [
            lambda: f"{self.pick('q', 'x', 'y')} = {x()}",
            lambda: f"q += {x()}",
            lambda: f"x, y = y, tf.tanh({x()})",
            lambda: f"q = {self.call()} + {self.float(0)}",
            lambda: f"xs[{self.pick('0', '-1', 'n % 2')}] = {x()}",
            lambda: f"xs.append({self.float(1)})" if not in_loop else f"xs = [{x()}, xs[0]]",
            lambda: f"s = s * {self.float(1)} + 0.5",
            lambda: f"s = tf.stack([{self.float(1)}, s[0]])",
            lambda: f"s = tf.sin(s + {self.float(0)})",
            lambda: self.pick("k = k + 1", "k = n"),
            lambda: f"d['{self.pick('u', 'v')}'] = {x()}",
            lambda: f"o.{self.pick('place', 'speed')} {self.pick('=', '+=')} {x()}",
            lambda: f"try:\n    q = at_least({x()}, {self.float(0)})\nexcept ValueError:\n    q = {x()}",
        ]
        if in_loop:
            simple.append(lambda: f"if {self.condition()}:\n    {self.pick('break', 'continue')}")
        if depth == 0:
            return self.pick(*simple)

        def inner() -> str:
            return indented(self.block(depth - 1, in_loop))

        def looped() -> str:
            return indented(self.block(depth - 1, True))

        i = self.fresh()
        return self.pick(
            *simple,
            lambda: f"if {self.condition()}:\n{inner()}\nelse:\n{inner()}",
            lambda: f"if {self.condition()}:\n{inner()}",
            lambda: f"for {i} in range({self.pick('n', '2', 'k % 3')}):\n{looped()}",
            lambda: f"{i} = 0\nwhile {i} < 3 and {self.condition()}:\n    {i} += 1\n{looped()}",
        )

    def block(self, depth: int, in_loop: bool = False) -> str:
        return "\n".join(self.statement(depth, in_loop) for _ in range(self.draw(st.integers(1, 3))))


@st.composite
def _examples(draw):
    writer = _Writer(draw)
    parts = {"inner": indented(writer.block(1)), "body": indented(writer.block(2))}
    texts = {"leaf": writer.float(1), "returned": writer.float(1), "result": writer.float(1)}
    texts["handed"] = writer.pick("g(n, x, y)", "g(n - 1, x, y)", "g(n - 1, y, x) * x")
    return (PROGRAM.format(**parts, **texts),)


examples = _examples()


def of_python(text: str) -> list[list[Dual]]:
    """Each member's results, one after the other."""
    eye, found = np.eye(INPUTS), []
    for n, x, y in zip(N, X, Y, strict=True):
        scope = {
            "tf": ORACLE,
            "c": C,
            "w": Dual(W, eye[2]),
            "v": np.array([Dual(*pair) for pair in zip(V, eye[3:], strict=True)]),
        }
        result, s, q = plain(text, **scope)["f"](int(n), Dual(x, eye[0]), Dual(y, eye[1]))
        found.append([as_dual(each) for each in (result, *s, q)])
    return found


def check(example):
    """Values and gradients of a weighted sum of the results, of all members, on the compiled machine."""
    (text,) = example
    expected = of_python(text)
    weights = np.array([1.0, -0.5, 0.3, 0.7])
    w, v = tf.Variable(W, dtype=tf.float64), tf.Variable(V)
    x, y = tf.constant(X), tf.constant(Y)
    f = batched(text, c=tf.constant(C, tf.float64), w=w, v=v)["f"].options(shards=1)
    try:
        with tf.GradientTape() as tape:
            tape.watch([x, y])
            result, s, q = f(N, x, y)
            values = tf.concat([result[:, None], s, q[:, None]], axis=1)
            total = tf.reduce_sum(values * weights)
        found = tape.gradient(total, [x, y, w, v], unconnected_gradients="zero")
    except AutobatchError as error:
        return f"{REFUSED} ({error.kind})"
    slopes = np.array([sum(k * each.slopes for k, each in zip(weights, row, strict=True)) for row in expected])
    wanted = slopes[:, 0], slopes[:, 1], slopes[:, 2].sum(), slopes[:, 3:].sum(axis=0)
    tight = {"rtol": 1e-9, "atol": 1e-9}
    np.testing.assert_allclose(values, [[each.value for each in row] for row in expected], **tight)
    for name, one, other in zip("xywv", found, wanted, strict=True):
        np.testing.assert_allclose(tf.convert_to_tensor(one), other, **tight, err_msg=name)
    return AGREED
