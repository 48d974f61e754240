"""What loops take one by one while it changes: a dict's values, generator expressions; operands that change things."""

from __future__ import annotations

import numpy as np
from hypothesis import strategies as st

from tests.fuzz.running import against_python
from tests.fuzz.writer import Writer, indented

PROGRAM = """class Counting:
    def __init__(self, y):
        self.count, self._y = 0, y

    @property
    def x(self):
        self.count += 1
        return self.count

    @property
    def y(self):
        return self._y

    @y.setter
    def y(self, value):
        self._y = value % 11

    def __contains__(self, v):
        self.count += 1
        return v == self._y


@ab.autobatch
def f(n, k):
    d, xs, p, s = {{"x": n, "y": 2, "z": k}}, [5, n, 2, k, 7], Counting(n), 0

    def more(v):
        d["y"] += v
        return d["y"]

{body}
    return s, list(d.values()), len(xs), p.count, p._y
"""


class _Writer(Writer):
    def name(self) -> str:
        return self.pick("'x'", "'y'", "'z'")

    def int(self) -> str:
        return self.pick(
            "n", "k", "s", "2", lambda: f"d[{self.name()}]", "len(xs)", "xs[0]", "p.x", "p.y", "p.count",
            lambda: f"more({self.pick('1', 'k')})", lambda: f"({self.int()} + {self.int()}) % 13", "xs.pop()",
            lambda: f"(d.update({self.pick('x', 'y', 'z')}={self.int()}) or {self.int()})",
            lambda: f"({self.int()} if {self.int()} in p else {self.int()})",
            lambda: "sum([v + more(1) for v in d.values()]) % 17",
            lambda: f"next((w for w in (1, n, 3) if w > s), {self.pick('k', '5 // k', 'more(2)')})",
        )  # fmt: skip

    def items(self) -> str:
        element = self.pick("w + k", "7 // w", "xs.pop()", "w * s", "more(w)")
        return f"({element} for w in [n, 2, 3]{self.pick('', ' if w != s', ' if w')})"

    def loop(self) -> str:
        return self.pick(
            "for _, v in d.items():", "for v in d.values():", "for i, v in enumerate(d.values()):",
            "for v, w in zip(d.values(), [1, 2, 3]):", lambda: f"for v in {self.items()}:",
            lambda: f"for i, v in enumerate({self.items()}):",
        )  # fmt: skip

    def simple(self) -> str:
        return self.pick(
            lambda: f"d[{self.name()}] = {self.int()}", lambda: f"d[{self.name()}] += {self.int()}",
            lambda: f"s = ({self.int()}) % 19", lambda: f"p.y += {self.int()}", lambda: f"xs[0] = {self.int()}",
            lambda: f"more({self.int()})", lambda: f"xs[p.x % 3] += {self.int()}",
        )  # fmt: skip

    def statement(self, depth: int) -> str:
        if depth == 0:
            return self.simple()
        inner = lambda: indented(self.block(depth - 1))
        leaves = lambda: self.pick("", f"\n    if s > {self.pick('3', '9')}:\n        break")
        return self.pick(
            self.simple, lambda: f"if {self.int()} > {self.int()}:\n{inner()}",
            lambda: f"{self.loop()}\n    s = (s * 3 + v) % 17\n{inner()}{leaves()}",
        )  # fmt: skip


@st.composite
def _examples(draw):
    writer = _Writer(draw)
    return (PROGRAM.format(body=indented(writer.block(writer.pick(1, 1, 2)))),)


examples = _examples()
ARGS = (np.array([0, 1, 2, 4]), np.array([2, 5, 0, 1]))


def check(example):
    """Compares what the members return with plain Python."""
    (text,) = example
    return against_python(text, ARGS)
