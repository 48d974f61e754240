"""Exceptions: raised by members, caught, raised again, kept; what they hold; functions that raise and that catch."""

from __future__ import annotations

import numpy as np
from hypothesis import strategies as st

from tests.fuzz.running import AGREED, INTERPRETED, batched, compare, outcome, plain
from tests.fuzz.writer import Writer, indented

PROGRAM = """import math


class Bad(ValueError):
    pass


class Worse(Bad):
    def __init__(self, code, limit=2):
        super().__init__("worse", code)
        self.code, self.limit = code, limit

    @property
    def over(self):
        return self.code - self.limit

    def fee(self, d):
        if self.code > d:
            return self.code % 7
        return d % 5


class Gone(LookupError):
    def __init__(self, place):
        self.place = place


def risky(n, k):
    s = 1
{risky}
    return (s + n) % 31


@ab.autobatch
def f(n, k):
    s, last = 0, None
{body}
    return {result}
"""
CLASSES = ("Bad", "Worse", "Gone", "ValueError", "KeyError", "IndexError", "ZeroDivisionError")
WIDER = ("(KeyError, Bad)", "(Worse, Gone)", "LookupError", "ArithmeticError", "Exception")


class _Writer(Writer):
    def int(self) -> str:
        return self.pick(
            "n", "k", "2", "s", lambda: f"({self.int()} + {self.int()}) % 13", lambda: f"abs({self.int()})",
            lambda: f"12 // ({self.int()} - 1)", lambda: f"[3, 1, 4][{self.int()}]", lambda: f"5 % ({self.int()})",
            lambda: f"int(math.sqrt({self.int()}))", lambda: f"{{0: 3, 2: 5}}[{self.int()}]",
            lambda: f"({self.int()} if {self.condition()} else {self.int()})", self.called,
        )  # fmt: skip

    def called(self) -> str:
        return f"risky({self.pick('n', 'k', 's')}, {self.pick('k', 's', '1')})"

    def condition(self) -> str:
        return self.pick("n > 1", "k % 2 == 0", "s > 3", lambda: f"{self.int()} < {self.int()}")

    def made(self) -> str:
        return self.pick(
            lambda: f"Worse({self.int()})", lambda: f"Worse({self.int()}, k)", lambda: f"Gone({self.int()})",
            "Bad('bad')", "ValueError('v', n)", "KeyError(k)", "IndexError", lambda: f"Bad({self.int()})",
            lambda: f"ValueError(f'{{({self.int()})}} of k')", lambda: f"KeyError(n, {self.int()})",
        )  # fmt: skip

    def simple(self) -> str:
        return self.pick(
            lambda: f"s = ({self.int()}) % 29", lambda: f"s += {self.int()}",
            lambda: f"if {self.condition()}:\n    raise {self.made()}",
            lambda: f"if {self.condition()}:\n    return {self.returned()}", lambda: f"assert {self.condition()}",
            lambda: f"assert {self.condition()}, {self.int()}",
        )  # fmt: skip

    def returned(self) -> str:
        return self.pick("s", "n", "k")

    def statement(self, depth: int) -> str:
        if depth == 0:
            return self.simple()
        inner, i = (lambda: indented(self.block(depth - 1))), self.fresh()
        return self.pick(
            lambda: self.attempt(depth), lambda: self.attempt(depth), self.simple,
            lambda: f"if {self.condition()}:\n{inner()}\nelse:\n{inner()}",
            lambda: f"for {i} in range({self.pick('2', 'k % 3')}):\n    s = s + {i}\n{inner()}",
        )  # fmt: skip

    def attempt(self, depth: int) -> str:
        parts = [f"try:\n{indented(self.block(depth - 1))}"]
        final = self.draw(st.integers(0, 3)) == 3
        handlers = self.draw(st.integers(0 if final else 1, 2))
        for _ in range(handlers):
            parts.append(self.handler(depth))
        if handlers and self.draw(st.integers(0, 3)) == 3:
            parts.append(f"else:\n{indented(self.block(0))}")
        if final:
            parts.append(f"finally:\n{indented(self.pick('s += 1', 'if s > 2:' + chr(10) + '    s = 1'))}")
        return "\n".join(parts)

    def handler(self, depth: int) -> str:
        caught, i = self.pick(*CLASSES, *WIDER), self.fresh()
        held = [
            f"s += {self.pick('1', 'k')}",
            "raise",
            f"raise {i}",
            f"raise Bad('again') from {i}",
            f"s = {self.int()}",
        ]
        if caught == "Worse":
            held += [f"s += {i}.code", f"s = {i}.over + {i}.fee(k)", f"s += {i}.args[1]", f"last = {i}"]
        elif caught == "Gone":
            held += [f"s += {i}.place"]
        else:
            one = self.pick(*CLASSES)
            held += [
                f"if isinstance({i}, {one}):\n    s += 7\nelse:\n    raise",
                f"s += 3 if isinstance({i}, {one}) else 4",
            ]
        chosen = "\n".join(self.pick(*held) for _ in range(self.draw(st.integers(1, 2))))
        return f"except {caught} as {i}:\n{indented(chosen)}"

    def block(self, depth: int) -> str:
        return "\n".join(self.statement(depth) for _ in range(self.draw(st.integers(1, 3))))


class _Helper(_Writer):
    def called(self) -> str:
        return "n * k % 7"


@st.composite
def _examples(draw):
    helper, writer = _Helper(draw), _Writer(draw)
    risky = indented(helper.block(helper.pick(0, 0, 1)))
    body = indented(writer.block(writer.pick(1, 2)))
    result = writer.pick("s", "s, n", "s if last is None else last.code", "0 if last is None else last.fee(n)")
    return (PROGRAM.format(risky=risky, body=body, result=result),)


examples = _examples()
ARGS = (np.array([0, 1, 2, 4, -3]), np.array([2, 5, 0, 1, 3]))


def check(example):
    """Compares what the members return, or that they fail, with plain Python."""
    (text,) = example
    f = plain(text)["f"]
    expected = [outcome(f, *(arg[z].item() for arg in ARGS)) for z in range(len(ARGS[0]))]
    try:
        return compare(batched(text)["f"].options(**INTERPRETED), ARGS, expected)
    except Exception as error:  # a helper's, which it raises while the program is lowered
        if not all(type(value) is type(error) for value in expected):
            raise
        return AGREED
