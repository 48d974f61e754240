"""Rows of unlike lengths as arguments, which are members' lists, and lists of tuples."""

from __future__ import annotations

import copy

import numpy as np
import tensorflow as tf
from hypothesis import strategies as st

from tests.fuzz.running import INTERPRETED, batched, compare, outcome, plain
from tests.fuzz.writer import Writer, indented

PROGRAM = """@ab.autobatch
def halves(v):
    if len(v) < 2:
        return [a + 1 for a in v]
    return halves(v[len(v) // 2:]) + halves(v[:len(v) // 2])


def second(p):
    return p[1]


def weight(p):
    if p[0] > 2:
        return p[1] - p[0]
    return p[0]


@ab.autobatch
def f(v, w, n):
    xs, pairs = [n], [(n, 1)]
    p, s = (1, n), 0
{body}
    return {result}
"""
LISTS = ("v", "xs")


class _Writer(Writer):
    def name(self) -> str:
        return self.pick(*LISTS)

    def index(self) -> str:
        return self.pick("0", "-1", "n", "s % 3")

    def int(self) -> str:
        return self.pick(
            "n", "s", "2", "p[0]", "p[1]", lambda: f"len({self.pick(*LISTS, 'pairs', 'w')})",
            lambda: f"{self.pick('v', 'w', 'xs')}[{self.index()}]", lambda: f"sum({self.pick('v', 'w', 'xs')})",
            lambda: f"pairs[{self.index()}][{self.pick('0', '1')}]", lambda: f"({self.int()} * 3 + 1) % 11",
            lambda: f"sum(a * b for a, b in {self.pick('pairs', 'zip(v, w)', 'enumerate(xs)')})",
            lambda: "max(a for a, _ in pairs)", lambda: f"max({self.name()}, default=n)",
            lambda: "sum(second(q) for q in pairs)",
        )  # fmt: skip

    def condition(self) -> str:
        return self.pick(
            "n > 1", "s % 2 == 0", self.name, "not pairs", lambda: f"{self.int()} in {self.pick('v', 'w', 'xs')}",
            lambda: f"{self.pair()} in pairs", lambda: f"{self.pair()} < p", lambda: f"{self.name()} == {self.list()}",
            lambda: f"len({self.pick('v', 'pairs')}) > {self.int()}",
        )  # fmt: skip

    def pair(self) -> str:
        return self.pick(
            "p", lambda: f"({self.int()}, {self.int()})", lambda: f"pairs[{self.index()}]", lambda: "min(pairs)",
            lambda: f"max(pairs, key={self.pick('second', 'weight', 'lambda q: -q[0]')})",
            lambda: f"(p if {self.condition()} else pairs[0])",
        )  # fmt: skip

    def list(self) -> str:
        return self.pick(
            self.name, lambda: f"{self.pick('v', 'w', 'xs')}[{self.pick('', '1', 'n')}:{self.pick('', '-1', 'n')}]",
            lambda: f"sorted({self.pick('v', 'w')})", lambda: f"halves({self.pick('v', 'w', 'xs')})",
            lambda: f"[a + b for a, b in pairs if a != {self.pick('n', '1')}]", lambda: f"{self.name()}[::-1]",
            lambda: f"[a for a in {self.pick('v', 'w')} if a > {self.pick('n', '1')}]", lambda: "list(w)",
            lambda: f"[{self.int()}] + {self.name()}",
        )  # fmt: skip

    def simple(self) -> str:
        v = self.name()
        return self.pick(
            lambda: f"{v}.append({self.int()})", lambda: f"{v}[{self.index()}] = {self.int()}",
            lambda: f"s += {v}.pop({self.pick('', '0')})", lambda: f"{v}.{self.pick('sort', 'reverse')}()",
            lambda: f"{v}[{self.index()}] += {self.int()}", lambda: f"{v}.extend({self.list()})",
            lambda: f"v[0], v[{self.index()}] = v[{self.index()}], v[0]",
            lambda: f"pairs.append({self.pair()})", lambda: f"pairs.append(({self.int()}, {self.int()}))",
            lambda: f"pairs.sort({self.pick('', 'key=second', 'key=lambda q: (q[1], -q[0])', 'key=weight')})",
            lambda: f"pairs[{self.index()}] = {self.pair()}", lambda: f"p = {self.pick(self.pair, 'pairs.pop()')}",
            lambda: f"n, s = {self.pair()}",
            lambda: f"pairs = [(a % 5, b) for a, b in {self.pick('pairs', 'zip(w, v)')}]",
            lambda: f"s = ({self.int()}) % 13", lambda: f"xs = {self.list()}",
            lambda: f"pairs.insert({self.index()}, {self.pair()})",
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
            lambda: f"for {i} in {self.pick('w', 'v[:3]', 'range(2)', 'xs[-2:]')}:\n    s = (s + {i}) % 7\n{inner()}",
            lambda: f"for {i}, {i}b in {self.pick('pairs[:3]', 'enumerate(w)', 'zip(w, xs[:2])')}:\n"
            f"    s = (s * 2 + {i} + {i}b) % 97\n{inner()}",
            lambda: f"{i} = 0\nwhile {self.pick('v', 'pairs', 'xs')} and {i} < 3:\n    {i} += 1\n{inner()}",
        )  # fmt: skip


@st.composite
def _examples(draw):
    writer = _Writer(draw)
    result = writer.pick("s, n, p", "v, s", "xs, s", "pairs, s", "p, v, xs")
    return (PROGRAM.format(body=indented(writer.block(writer.pick(1, 2))), result=result),)


examples = _examples()
ROWS = ([[3, 1, 2], [5], [], [2, 0, 4, 1]], [[1], [4, 2, 2], [7, 3], []], [0, 1, 2, 3])


def check(example):
    """Compares what the members return with plain Python's lists; what the function does to those is the caller's."""
    (text,) = example
    scope = plain(text)
    expected = [outcome(scope["f"], *copy.deepcopy([arg[z] for arg in ROWS])) for z in range(4)]
    args = (*(tf.ragged.constant(rows, tf.int32) for rows in ROWS[:2]), np.array(ROWS[2], np.int32))
    return compare(batched(text)["f"].options(**INTERPRETED), args, expected)
