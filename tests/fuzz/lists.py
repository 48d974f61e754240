"""Lists that grow, shrink and are changed as each member says, under several names, in lists, by callees."""

from __future__ import annotations

import numpy as np
from hypothesis import strategies as st

from tests.fuzz.running import against_python
from tests.fuzz.writer import Writer, indented

PROGRAM = """@ab.autobatch
def push(v, i):
    if len(v) < 9:
        v.append(i)
    return v


@ab.autobatch
def collect(v, n):
    if n > 0:
        collect(v, n - 1)
        v.append(n)


@ab.autobatch
def countdown(n):
    return [] if n <= 0 else [n] + countdown(n - 2)


@ab.autobatch
def f(n, k, x):
    xs, ys, zs = [n], [i * k % 5 for i in range(n)], [4, 2, 7]
    rows = [[k], [1, 2]]
    asked = {{n, k, 3}}
    s = 0
{body}
    return {result}
"""
NAMES = ("xs", "ys", "zs")


class _Writer(Writer):
    def name(self) -> str:
        return self.pick(*NAMES)

    def index(self) -> str:
        return self.pick("0", "-1", "n", "k", "s % 3", "1")

    def int(self) -> str:
        return self.pick(
            "n", "k", "3", "s", lambda: f"len({self.name()})", lambda: f"{self.name()}[{self.index()}]",
            lambda: f"({self.int()} * 3 + 1) % 11", lambda: f"sum({self.name()})",
            lambda: f"{self.pick('len', 'sum')}({self.pick('asked', self.set)})",
            lambda: f"max({self.name()}, default={self.pick('0', 'k')})", lambda: f"{self.name()}.count({self.int()})",
            lambda: f"sum(a * {self.pick('2', 'k')} for a in {self.name()} if a != {self.pick('1', 'n')})",
        )  # fmt: skip

    def condition(self) -> str:
        return self.pick(
            "n > 1", "k % 2 == 0", "s < 3", lambda: self.name(), lambda: f"not {self.name()}",
            lambda: f"{self.int()} in {self.name()}", lambda: f"len({self.name()}) > {self.int()}",
            lambda: f"{self.name()} == {self.list()}", lambda: f"{self.int()} in {self.pick('asked', self.set)}",
        )  # fmt: skip

    def list(self) -> str:
        return self.pick(
            self.name, lambda: f"[{self.int()}]", lambda: f"[{self.int()}, {self.int()}]",
            lambda: f"{self.name()}[{self.bound()}:{self.bound()}]", lambda: f"{self.name()}[::-1]",
            lambda: f"{self.name()} + {self.name()}", lambda: f"sorted({self.name()})", lambda: f"list({self.name()})",
            lambda: f"[a + {self.pick('1', 'k')} for a in {self.name()}]",
            lambda: f"[i for i in range({self.pick('n', '3')}) if i != {self.pick('1', 'k')}]",
            lambda: f"[{self.pick('0', 'k')}] * {self.pick('n', '2', 'len(xs)')}",
            lambda: f"countdown({self.pick('n', 'k')})",
            lambda: f"push({self.name()}, {self.int()})", lambda: f"list(range({self.pick('n', 'k, n', '2')}))",
            lambda: f"({self.name()} if {self.condition()} else {self.name()})", lambda: f"{self.name()}.copy()",
        )  # fmt: skip

    def set(self) -> str:
        return self.pick(
            lambda: f"set({self.list()})", lambda: f"{{{self.int()}, {self.int()}}}",
            lambda: f"{{a % {self.pick('3', 'k')} for a in {self.name()}}}",
        )  # fmt: skip

    def bound(self) -> str:
        return self.pick("", "1", "n", "-1", "k")

    def change(self) -> str:
        v = self.name()
        return self.pick(
            lambda: f"{v}.append({self.int()})", lambda: f"{v}[{self.index()}] = {self.int()}",
            lambda: f"s += {v}.pop()", lambda: f"{v}.pop({self.index()})",
            lambda: f"{v}.insert({self.index()}, {self.int()})",
            lambda: f"{v}.extend({self.list()})", lambda: f"{v}.{self.pick('reverse', 'sort', 'clear')}()",
            lambda: f"{v}.remove({self.int()})", lambda: f"push({v}, {self.int()})",
            lambda: f"collect({v}, {self.pick('n', 'k')})", lambda: f"{v} += {self.list()}",
            lambda: f"{v}[{self.index()}] += 1",
            lambda: f"{v}[0], {v}[-1] = {v}[-1], {v}[0]",
            lambda: f"rows[{self.pick('0', '1', 'n % 2')}].append({self.int()})",
            lambda: f"rows[{self.pick('0', 'k % 2')}][{self.pick('0', '-1')}] = {self.int()}",
            lambda: f"rows.append({self.list()})", lambda: f"rows[{self.pick('0', 'n % 2')}] = {self.list()}",
        )  # fmt: skip

    def simple(self) -> str:
        return self.pick(
            self.change, self.change, self.change,
            lambda: f"{self.name()} = {self.list()}", lambda: f"{self.name()} = {self.name()}",
            lambda: f"s = {self.int()}", lambda: f"asked = {self.set()}",
            lambda: f"{self.name()} = rows[{self.pick('0', '-1', 'n % 2')}]",
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
            lambda: f"for {i} in range({self.pick('2', 'n', 'k % 3')}):\n    s = (s + {i}) % 7\n{inner()}",
            lambda: f"{i}s = 0\nfor {i} in {self.list()}:\n    s, {i}s = (s * 2 + {i}) % 97, {i}s + 1\n"
            f"    if s > 50 or {i}s > 9:\n        break\n{inner()}",  # the list may grow
            lambda: f"{i} = 0\nwhile {self.name()} and {i} < 3:\n    {i} += 1\n{inner()}",
        )  # fmt: skip


@st.composite
def _examples(draw):
    writer = _Writer(draw)
    result = writer.pick("s", "xs, s", "xs, ys, zs", "ys, rows[-1]", "len(rows), xs", "zs, s")
    return (PROGRAM.format(body=indented(writer.block(writer.pick(1, 2))), result=result),)


examples = _examples()
ARGS = (np.array([0, 1, 2, 4], np.int32), np.array([2, 5, 0, 1], np.int32), np.array([0.5, 2.0, -1.0, 0.0]))


def check(example):
    """Compares what the members return with plain Python; out-of-range indices included."""
    (text,) = example
    return against_python(text, ARGS)
