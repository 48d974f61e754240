"""What has a shape of its own in Python's grammar: starred parts, match, lambdas, finally clauses that leave."""

from __future__ import annotations

import re

import numpy as np
from hypothesis import strategies as st

from tests.fuzz.running import against_python
from tests.fuzz.writer import Writer, indented

PROGRAM = """from dataclasses import dataclass
from typing import NamedTuple


@dataclass
class Point:
    x: int
    y: int = 1

    def __lt__(self, other):
        return (self.x, self.y) < (other.x, other.y)

    def __add__(self, other):
        return Point(self.x + other.x, {sum_of})


class Far(Point):
    def __gt__(self, other):
        return self.x + {far} > other.x

    def __radd__(self, other):
        return Point(other.x - self.x, 2)


class Edge(NamedTuple):
    u: int
    v: int = 2


def total(a, *rest, scale=1, **named):
    s = a * scale
    for r in rest:
        s += r
    return s % 23 + named.get("by", 0)


def kept(v, log):
    for i in range(3):
        try:
{attempt}
        finally:
{final}
    return v + len(log)


def told(v, w):
    match {subject}:
{cases}
    return -1


@ab.autobatch
def f(n, k):
    s, t, xs, log = 0, (n, k), [n, k, 2], []
    p, q, e = Point(n, k), Far(k), Edge(n)
{body}
    return s, t, xs, log, (p.x, p.y), e
"""


class _Writer(Writer):
    ints: tuple[str, ...] = ("n", "k", "s", "2", "p.x", "p.y", "q.x", "e.u", "e[1]", "t[0]", "t[-1]", "len(log)")

    def int(self) -> str:
        return self.pick(
            *self.ints, lambda: f"xs[{self.pick('0', '-1', '1')}]", lambda: f"total({self.given()})",
            lambda: f"told({self.int()}, {self.int()})", lambda: f"kept({self.int()}, log)",
            lambda: f"(lambda v, w={self.int()}: v * 2 - w)({self.int()})",
            lambda: f"({self.int()} * 3 + {self.int()}) % 11", lambda: f"max(*xs, {self.int()})",
            lambda: f"sum([*t, {self.int()}])", lambda: f"min(xs, key=lambda v: abs(v - {self.int()}))",
            lambda: f"len([*xs, *{self.pair()}])", lambda: f"(w := {self.int()}) + 1",
        )  # fmt: skip

    def given(self) -> str:
        """The arguments of a call."""
        named = self.pick("", "", lambda: f", scale={self.int()}", lambda: f", by={self.int()}, scale=2")
        return self.pick(self.int, "*t", "n, *t", lambda: f"{self.int()}, {self.int()}", "*t, *e", "n, *xs[:2]") + named

    def pair(self) -> str:
        return self.pick(
            "t", "e", lambda: f"({self.int()}, {self.int()})", "(k, n)", "t[::-1]", lambda: f"divmod({self.int()}, 3)"
        )

    def condition(self) -> str:
        sides = self.pick("p {} q", "q {} p", "p {} p", "t {} e", "(k, s) {} t")
        return self.pick(
            "n > 1", "k % 2 == 0", lambda: f"{self.int()} < {self.int()}", lambda: sides.format("<"),
            lambda: f"0 <= {self.int()} < {self.int()}", "n in xs", "p.__lt__(q)", lambda: f"{self.int()} in t",
            "isinstance(q, Point)", lambda: f"not ({self.condition()})", "any(v > k for v in xs)",
        )  # fmt: skip

    def simple(self) -> str:
        return self.pick(
            lambda: f"s = ({self.int()}) % 13", lambda: f"t = {self.pair()}", lambda: f"p.{self.pick('x', 'y')} += 1",
            lambda: f"a, *b = {self.pick('xs', 't', '[n, k, s]')}\ns += a + len(b)", "*b, a = xs\ns += a - len(b)",
            lambda: f"(a, b), c = {self.pair()}, {self.int()}\ns = (a - b * c) % 7", "p = p + q", "p = p + Point(n)",
            lambda: f"xs = [*{self.pick('t', 'e', 'xs[1:]')}, {self.int()}]", "e = e._replace(v=s)",
            lambda: f"log.append({self.int()})", lambda: f"s += {self.int()}", lambda: f"e = Edge({self.int()}, k)",
            lambda: f"p = Point(*{self.pair()})", lambda: f"s, p.x = p.x, {self.int()}", "xs[0], *_ = t",
            lambda: f"g = lambda v: v + {self.int()}\ns = g(s) % 19", "p.x, p.y = t",
        )  # fmt: skip

    def statement(self, depth: int) -> str:
        if depth == 0:
            return self.simple()
        inner, i = (lambda: indented(self.block(depth - 1))), self.fresh()
        return self.pick(
            self.simple, self.simple, lambda: f"if {self.condition()}:\n{inner()}",
            lambda: f"if {self.condition()}:\n{inner()}\nelif {self.condition()}:\n{inner()}\nelse:\n{inner()}",
            lambda: f"for {i}, j in {self.pick('enumerate(xs)', 'zip(xs, t)')}:\n    s = (s + {i} * j) % 7",
            lambda: f"for {i} in range({self.pick('2', 'k % 3')}):\n{inner()}\nelse:\n    s += 3",
            lambda: f"match {self.pair()}:\n{indented(self.cases())}",
            lambda: f"while {self.condition()}:\n{inner()}\n    break",
        )  # fmt: skip

    def cases(self) -> str:
        found = [
            "case (0, v):\n    s += v", "case (v, w) if v < w:\n    s = w - v", "case (1 | 2, _):\n    s += 5",
            "case (v, 5):\n    s -= v", "case (_, w):\n    s = w % 5",
        ]  # fmt: skip
        return "\n".join(self.pick(*found) for _ in range(self.draw(st.integers(1, 3))))


class _Kept(Writer):
    """What a loop's try statement does, with v, i and log."""

    def simple(self) -> str:
        test = self.pick("v > i", "v % 2 == 0", "i == 1", "len(log) < 2", "v < 3")
        leave = self.pick("return v - i", "break", "continue", "v += i", "raise KeyError(v)", "log.append(v)")
        return self.pick(
            "v = 12 // (v - i)", f"if {test}:\n    {leave}", "log.append(i)", "v = (v * 3 + i) % 13", f"assert {test}",
        )  # fmt: skip

    def statement(self, depth: int) -> str:
        if depth == 0:
            return self.simple()
        body, other = indented(self.block(depth - 1)), indented(self.block(0))
        return self.pick(
            self.simple, f"try:\n{body}\nexcept {self.pick('KeyError', 'ZeroDivisionError', 'Exception')}:\n{other}",
            f"try:\n{body}\nfinally:\n{other}",
        )  # fmt: skip


def _of_match(writer: _Writer) -> tuple[str, str]:
    subject = writer.pick("v", "(v, w)", "Point(v, w)", "[v, w, 3]", "Edge(v, w)")
    patterns = {
        "v": ("0", "1 | 2", "x if x > w", "-1"),
        "(v, w)": ("(0, x)", "(x, 1 | 2)", "(x, y) if x == y", "(x, *_) if x > 3"),
        "Point(v, w)": ("Point(0, x)", "Point(x=x, y=2)", "Point(x, y) if x < y", "Far()"),
        "[v, w, 3]": ("[0, *x]", "[x, y]", "[_, 2, _]", "[x, *_] if x > w"),
        "Edge(v, w)": ("Edge(0, x)", "Edge(u=x)", "(x, y) if x < y", "Edge(x, 2)"),
    }[subject]
    cases = []
    for _ in range(writer.draw(st.integers(1, 4))):
        pattern = writer.pick(*patterns)
        bound = re.findall(r"(?<![*\w])[xy]\b(?!=)", pattern)
        cases.append(f"case {pattern}:\n    return {writer.pick('w', 'v + 1', *bound)}")
    return subject, "\n".join(cases)


@st.composite
def _examples(draw):
    writer, kept = _Writer(draw), _Kept(draw)
    subject, cases = _of_match(writer)
    attempt, final = (indented(indented(indented(kept.block(depth)))) for depth in (kept.pick(0, 1), kept.pick(0, 1)))
    text = PROGRAM.format(
        sum_of=writer.pick("self.y", "other.y + 1"), far=writer.pick("0", "2"), attempt=attempt, final=final,
        subject=subject, cases=indented(indented(cases)), body=indented(writer.block(writer.pick(1, 2))),
    )  # fmt: skip
    return (text,)


examples = _examples()
ARGS = (np.array([0, 1, 2, 4]), np.array([2, 5, 0, 1]))


def check(example):
    """Compares what the members return, or that they fail, with plain Python."""
    (text,) = example
    return against_python(text, ARGS)
