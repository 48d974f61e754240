"""What is None for some members: variables, attributes, arguments and results, and the helpers that get them."""

from __future__ import annotations

import numpy as np
from hypothesis import strategies as st

from tests.fuzz.running import against_python
from tests.fuzz.writer import Writer, indented

PROGRAM = """class Best:
    def __init__(self, v):
        self.v, self.last = v, None

    def see(self, k):
        if self.last is None or {seen}:
            self.last = k

    def shown(self):
        return -1 if self.last is None else self.last + self.v


def or_zero(a):
    return 0 if a is None else a


def either(a, b):
    return a if a is not None else b


def grown(a):
    return a + 1


def checked(a, b=None):
    if b is None:
        return a
    return {checked}


@ab.autobatch
def found(n, k):
    for i in range(n):
        if {found}:
            return i
    return None


@ab.autobatch
def f(n, k):
    a, b, s, t = None, {b}, 0, False
    p = Best(k)
    gone = lambda v: v is None
{body}
    return s, t, or_zero(a), -1 if b is None else b, p.shown()
"""


class _Writer(Writer):
    def maybe(self) -> str:
        """What may be None."""
        return self.pick(
            "a", "b", "p.last", lambda: f"found({self.pick('n', 'k', '3')}, k)", "None", self.int,
            lambda: f"either({self.maybe()}, {self.maybe()})",
            lambda: f"({self.maybe()} if {self.condition()} else {self.maybe()})",
            lambda: f"({self.pick('a', 'b', 'p.last')} {self.pick('and', 'or')} {self.maybe()})",
        )  # fmt: skip

    def int(self) -> str:
        return self.pick(
            "n", "k", "s", "2", lambda: f"or_zero({self.maybe()})", lambda: f"grown({self.int()})",
            lambda: f"({self.maybe()} or {self.pick('0', 'k')})", lambda: f"({self.int()} * 3 + 1) % 11",
            lambda: f"checked({self.int()}, {self.maybe()})", "checked(n)", "p.shown()",
            lambda: f"({self.pick('a', 'b')} + 1 if {self.condition()} else {self.int()})",
        )  # fmt: skip

    def condition(self) -> str:
        a = self.pick("a", "b", "p.last")
        return self.pick(
            "n > 1", "t", "not t", f"{a} is None", f"{a} is not None", f"not {a}", f"gone({self.pick('a', 'b')})",
            lambda: f"{a} is not None and {a} > {self.int()}", lambda: f"{a} is None or {a} < {self.int()}",
            lambda: f"t and {a} > {self.int()}", lambda: f"{a} == {self.maybe()}", lambda: f"{a} in (1, None, k)",
        )  # fmt: skip

    def simple(self) -> str:
        return self.pick(
            lambda: f"{self.pick('a', 'b', 'p.last')} = {self.maybe()}", lambda: f"s = ({self.int()}) % 13",
            lambda: f"t = {self.pick('a', 'b', 'p.last')} is not None", lambda: f"p.see({self.int()})",
            lambda: f"s += {self.pick('a', 'b', 'p.last')}", "a = b = None", "a, b = b, a",
            lambda: f"t = bool({self.condition()})",
        )  # fmt: skip

    def statement(self, depth: int) -> str:
        if depth == 0:
            return self.simple()

        def inner() -> str:
            return indented(self.block(depth - 1))

        i = self.fresh()
        return self.pick(
            self.simple, self.simple,
            lambda: f"if {self.condition()}:\n{inner()}",
            lambda: f"if {self.condition()}:\n{inner()}\nelse:\n{inner()}",
            lambda: f"for {i} in range({self.pick('2', 'n', 'k')}):\n{inner()}",
            lambda: f"{i} = 0\nwhile ({self.condition()}) and {i} < 3:\n    {i} += 1\n{inner()}",
            lambda: f"try:\n{inner()}\nexcept TypeError:\n    s += 20",
        )  # fmt: skip


@st.composite
def _examples(draw):
    writer = _Writer(draw)
    body = indented(writer.block(writer.pick(1, 2)))
    choices = {
        "seen": writer.pick("k > self.last", "k % 2 == 0"), "checked": writer.pick("a + b", "a * b if b > 1 else a"),
        "found": writer.pick("i * 2 > k", "(i + n) % 3 == k"), "b": writer.pick("k", "None", "found(n, 1)"),
    }  # fmt: skip
    return (PROGRAM.format(body=body, **choices),)


examples = _examples()
ARGS = (np.array([0, 1, 2, 4], np.int32), np.array([2, 5, 0, 1], np.int32))


def check(example):
    """Compares what the members return with plain Python; who computes with None fails, as it does."""
    (text,) = example
    return against_python(text, ARGS)
