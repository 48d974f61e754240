"""Dicts that are filled at keys of each member's own, also by nested functions, and deques of a greatest length."""

from __future__ import annotations

import numpy as np
from hypothesis import strategies as st

from tests.fuzz.running import against_python
from tests.fuzz.writer import Writer, indented

PROGRAM = """import functools
from collections import Counter, defaultdict, deque


@ab.autobatch
def f(n, k):
    d, c, g = {made}, Counter(), defaultdict({missing})
    q = deque([n, 1], maxlen={limit})
    s = 0

    def noted(v):
        if v % 2 == 0:
            d[v % 4] = v
        return v % 5

{body}
    return {result}
"""


class _Writer(Writer):
    def key(self) -> str:
        return self.pick("n", "k", "s % 3", "1", lambda: f"({self.int()}) % 3", lambda: f"noted({self.int()})")

    def int(self) -> str:
        return self.pick(
            "n", "k", "2", "s", lambda: f"d[{self.key()}]", lambda: f"d.get({self.key()}, {self.pick('0', 'k')})",
            lambda: f"c[{self.key()}]", lambda: f"g[{self.key()}]", "len(d)", "sum(d.values())",
            "max(c.values(), default=n)",
            lambda: f"d.pop({self.key()}, -1)", lambda: f"d.setdefault({self.key()}, {self.int()})", "len(g)",
            lambda: f"({self.int()} + {self.int()}) % 13", "q[-1]", "len(q)", "sum(q)",
            "sum(a * b for a, b in d.items())",
            "functools.reduce(lambda a, b: (a * 2 + b) % 7, q, k)", lambda: f"noted({self.int()})",
        )  # fmt: skip

    def condition(self) -> str:
        return self.pick(
            "n > 1", "k % 2 == 0", "d", "q", lambda: f"{self.key()} in {self.pick('d', 'c', 'g')}",
            lambda: f"{self.int()} < {self.int()}",
        )  # fmt: skip

    def simple(self) -> str:
        return self.pick(
            lambda: f"d[{self.key()}] = {self.int()}", lambda: f"c[{self.key()}] += {self.pick('1', 'k')}",
            lambda: f"g[{self.key()}] += {self.int()}", lambda: f"s = ({self.int()}) % 11",
            lambda: f"d[{self.key()}] += {self.int()}", lambda: f"q.append({self.int()})",
            lambda: f"q.appendleft({self.int()})", lambda: f"q.rotate({self.pick('1', 'n', '-k')})", "s += q.popleft()",
            lambda: f"del d[{self.key()}]", lambda: f"d = {self.dict()}", lambda: f"noted({self.int()})",
            "for a in d:\n    s = (s * 3 + a) % 17", "for a, b in c.items():\n    s = (s * 3 + a * b) % 17",
        )  # fmt: skip

    def dict(self) -> str:
        return self.pick(
            "{}", lambda: f"{{{self.int()}: {self.int()}}}", "{i * n % 3: i for i in range(3)}",
            "{a: b + 1 for a, b in d.items() if a != k}",
        )  # fmt: skip

    def statement(self, depth: int) -> str:
        if depth == 0:
            return self.simple()
        inner, i = (lambda: indented(self.block(depth - 1))), self.fresh()
        return self.pick(
            self.simple, self.simple, lambda: f"if {self.condition()}:\n{inner()}",
            lambda: f"if {self.condition()}:\n{inner()}\nelse:\n{inner()}",
            lambda: f"for {i} in range({self.pick('2', 'n', 'k % 3')}):\n    s = (s + {i}) % 7\n{inner()}",
        )  # fmt: skip


@st.composite
def _examples(draw):
    writer = _Writer(draw)
    made = writer.pick("{}", "{0: n}", "{n: k, 1: 2}", "dict()")
    result = writer.pick("s", "list(d), list(d.values())", "s, len(c), len(g)", "list(q), s", "sorted(d), c[1]")
    body = indented(writer.block(writer.pick(1, 2)))
    missing, limit = writer.pick("int", "int", "float"), writer.pick("3", "n", "None", "1")
    return (PROGRAM.format(made=made, missing=missing, limit=limit, body=body, result=result),)


examples = _examples()
ARGS = (np.array([0, 1, 2, 4]), np.array([2, 5, 0, 1]))


def check(example):
    """Compares what the members return with plain Python; keys that are missing included."""
    (text,) = example
    return against_python(text, ARGS)
