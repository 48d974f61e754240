"""Dicts and lists that functions hand on, or objects hold, begun where none is given; choices in what changes them."""

from __future__ import annotations

import numpy as np
from hypothesis import strategies as st

from tests.fuzz.running import against_python
from tests.fuzz.writer import Writer, indented

PROGRAM = """
class Store:
    def __init__(self, first, memo=None):
        self.memo = {{}} if memo is None else memo
        self.log, self.best, self.first = [], None, first

    def go(self, v):
        if v < 2:
            return v
        if v not in self.memo:
            self.log.append({logged})
            self.memo[v] = self.go(v - 1) + self.go(v - {step})
        return self.memo[v]

    def note(self, v):
{note}
        return len(self.memo)


def walk(v, memo=None):
    {begun}
    if v in memo:
        return memo[v]
    if v < 2:
        return v + 1
    memo[v] = {kept}
    return memo[v]


def collect(v, found=None):
    {begun_list}
    found.append({found})
    if v > 0:
        collect(v - 1 - v % 2, found)
    return found


@ab.autobatch
def f(n, k):
    s, b, xs, d, p = 0, None, [n], {{}}, Store(n)
{body}
    return s, xs, {result}
"""


class _Writer(Writer):
    v = ("n", "k", "s")  # the ints that a name stands for
    held = ("d", "p.memo")

    def small(self) -> str:
        return self.pick("n", "k", "2", "s % 4", lambda: f"({self.int()}) % 5")

    def int(self) -> str:
        held = self.pick(*self.held)
        return self.pick(
            *self.v, "2", lambda: f"({self.choice()})", lambda: f"walk({self.small()})",
            lambda: f"walk({self.small()}, d)", lambda: f"p.go({self.small()})",
            lambda: f"{held}.get({self.small()}, 1)", f"len({held})", lambda: f"p.note({self.small()})",
            lambda: f"sum(collect({self.small()})) % 17",
            lambda: f"len(collect({self.small()}, [n]))", lambda: f"{held}[{self.small()}]",
            lambda: f"({self.int()} * 3 + {self.int()}) % 11", "len(p.log)", "p.first",
        )  # fmt: skip

    def choice(self) -> str:
        """What one operand may decide on."""
        b = self.pick("b", "p.best")
        return self.pick(
            f"{b} or 4", f"{b} if {b} is not None else k", f"0 if {b} is None else {b} + 1",
            lambda: f"{self.int()} or {self.int()}", lambda: f"{self.int()} if {self.condition()} else {self.int()}",
            lambda: f"{self.int()} and {self.int()}",
        )  # fmt: skip

    def condition(self) -> str:
        return self.pick(
            "n > 1", "k % 2 == 0", lambda: f"{self.small()} in {self.pick(*self.held)}", "b is None",
            "p.best is not None", lambda: f"{self.int()} < {self.int()}", "b", lambda: f"{self.small()} not in p.memo",
        )  # fmt: skip

    def simple(self) -> str:
        held = self.pick(*self.held)
        return self.pick(
            lambda: f"s = ({self.int()}) % 13", lambda: f"{held}[{self.small()}] = {self.int()}",
            lambda: f"xs.append({self.choice()})", lambda: f"b = {self.pick('None', 'n', self.choice)}",
            lambda: f"p.best = {self.pick('None', 'k', self.choice)}", lambda: f"s += {self.int()}",
            lambda: f"xs[{self.pick('0', '-1', 'n % len(xs)')}] = {self.choice()}", lambda: f"p.note({self.int()})",
            lambda: f"p.first = max({self.choice()}, {self.int()})", lambda: f"xs += [{self.choice()}, {self.int()}]",
            lambda: f"{held}[{self.small()}] = {self.choice()}", "p = Store(k)", "p = Store(s, d)",
        )  # fmt: skip

    def statement(self, depth: int) -> str:
        if depth == 0:
            return self.simple()
        inner, i = (lambda: indented(self.block(depth - 1))), self.fresh()
        return self.pick(
            self.simple, self.simple, lambda: f"if {self.condition()}:\n{inner()}",
            lambda: f"if {self.condition()}:\n{inner()}\nelse:\n{inner()}",
            lambda: f"for {i} in range({self.pick('2', 'len(xs) % 3')}):\n    s = (s + {i}) % 7\n{inner()}",
            lambda: f"try:\n{inner()}\nexcept KeyError:\n    s += 5",
        )  # fmt: skip


class _Note(_Writer):
    """The body of a method, of v."""

    v, held = ("v", "self.first"), ("self.memo",)

    def int(self) -> str:
        return self.pick("v", "self.first", "3", "len(self.log)", "self.memo.get(v, 2)", lambda: f"({self.choice()})")

    def small(self) -> str:
        return self.pick("v", "self.first", "1")

    def choice(self) -> str:
        best = "self.best"
        return self.pick(f"{best} or v", f"v if {best} is None else {best}", lambda: f"v if {self.condition()} else 3")

    def condition(self) -> str:
        return self.pick("v > 2", "v in self.memo", "self.best is None", "self.best", "len(self.log) < 2")

    def simple(self) -> str:
        return self.pick(
            lambda: f"self.memo[{self.small()}] = {self.choice()}", lambda: f"self.log.append({self.choice()})",
            lambda: f"self.best = {self.choice()}", "self.best = None", lambda: f"self.first += {self.int()}",
        )  # fmt: skip


BEGUN = (
    "if {x} is None:\n        {x} = {empty}", "{x} = {empty} if {x} is None else {x}",
    "{x} = {x} if {x} is not None else {empty}", "if not {x}:\n        {x} = {empty}", "{x} = {x} or {empty}",
)  # fmt: skip


@st.composite
def _examples(draw):
    writer, note = _Writer(draw), _Note(draw)
    return (
        PROGRAM.format(
            logged=writer.pick("v", "self.best or v", "v if v % 2 else 0"),
            step=writer.pick("2", "1", "3"),
            note=indented(indented(note.block(note.pick(0, 1)))),
            begun=writer.pick(*BEGUN).format(x="memo", empty=writer.pick("{}", "dict()", "{0: 3}")),
            begun_list=writer.pick(*BEGUN).format(x="found", empty=writer.pick("[]", "[1]")),
            kept=writer.pick("walk(v - 1, memo) + walk(v - 2, memo)", "walk(v - 2, memo) * 2 % 19", "v + len(memo)"),
            found=writer.pick("v", "v or 3", "len(found)"),
            body=indented(writer.block(writer.pick(1, 2))),
            result=writer.pick("len(d)", "p.log, p.first", "len(p.memo), p.best or -1", "d.get(n, -1), b or -1"),
        ),
    )


examples = _examples()
ARGS = (np.array([0, 1, 2, 4]), np.array([2, 5, 0, 1]))


def check(example):
    """Compares what the members return, or that they fail, with plain Python."""
    (text,) = example
    return against_python(text, ARGS)
