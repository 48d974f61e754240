"""Texts and members of an enum that differ between members: compared, looked up, made of one another, in lists."""

from __future__ import annotations

import numpy as np
from hypothesis import strategies as st

from tests.fuzz.running import against_python
from tests.fuzz.writer import Writer, indented

PROGRAM = """import enum


class Way(enum.Enum):
    N = (0, 1)
    E = (1, 0)
    S = (0, -1)

    def turned(self):
        return {{Way.N: Way.E, Way.E: Way.S, Way.S: Way.N}}[self]

    @property
    def dx(self):
        return self.value[0]


class Rank(enum.IntEnum):
    LOW = 1
    HIGH = 7


class Robot:
    def __init__(self):
        self.way, self.mode = Way.N, "a"

    def step(self, w):
        if self.mode == w:
            self.way = self.way.turned()
        else:
            self.mode = w
        return self.way.dx


TABLE = {{"a": 1, "bb": 5, "c": 2}}


def changed(w):
    if w == "a":
        return "bb"
    return "c" if w == "bb" else w


@ab.autobatch
def f(n, k):
    w, v, way, rank, s, xs, d = "a", "bb", Way.N, Rank.LOW, 0, ["a"], {{"a": 0, "bb": 0, "c": 0}}
    robot = Robot()
{body}
    return w, v, way.name, way.value, rank, s, xs, list(d.values()), robot.mode, robot.way.name
"""


class _Writer(Writer):
    def text(self) -> str:
        return self.pick(
            "w", "v", "w", "v", "'a'", "'bb'", "'c'", "xs[0]", "xs[-1]", "robot.mode", "w[0]", "(w or v)",
            "f'{w[0]}{v[-1]}'", lambda: f"changed({self.text()})", lambda: f"max({self.text()}, v)",
            lambda: f"({self.text()} if {self.condition()} else {self.text()})",
            lambda: f"'abc'[{self.int()} % 3]", lambda: f"xs[{self.int()} % len(xs)]",
            lambda: f"{self.text()}.replace('b', 'c')", lambda: f"{{'a': w, 'bb': 'c'}}.get({self.text()}, v)",
        )  # fmt: skip

    def way(self) -> str:
        return self.pick("way", "Way.E", "way.turned()", "robot.way", lambda: f"(Way.S if {self.condition()} else way)")

    def int(self) -> str:
        return self.pick(
            "n", "k", "s", "2", "len(xs)", "rank", "rank + 1", "rank.value", "way.dx", "way.value[1]",
            lambda: f"len({self.text()})", lambda: f"TABLE[{self.text()}]", lambda: f"d[{self.text()}]",
            lambda: f"TABLE.get({self.text()}, {self.pick('0', 'n')})", lambda: f"xs.count({self.text()})",
            lambda: f"(ord({self.text()}[0]) - 97)", lambda: f"{self.text()}.find('b')",
            lambda: f"robot.step({self.text()})", lambda: f"({self.int()} + {self.int()}) % 13",
            lambda: f"{{Way.N: 1, Way.E: n, Way.S: 3}}[{self.way()}]",
        )  # fmt: skip

    def condition(self) -> str:
        return self.pick(
            lambda: f"{self.text()} {self.pick('==', '!=', '<', '>=')} {self.text()}",
            lambda: f"{self.way()} {self.pick('is', 'is not', '==')} {self.way()}",
            lambda: f"{self.text()} in {self.pick('xs', '(v, 1)', 'TABLE', 'd', repr('abb'), '{w, v}')}",
            lambda: f"'b' in {self.text()}", "rank > 3", "w", "not v", lambda: f"{self.int()} > {self.int()}",
            lambda: f"({self.condition()} {self.pick('and', 'or')} {self.condition()})",
        )  # fmt: skip

    def simple(self) -> str:
        return self.pick(
            lambda: f"w = {self.text()}", lambda: f"v = {self.text()}", lambda: f"way = {self.way()}",
            lambda: f"rank = Rank.HIGH if {self.condition()} else {self.pick('rank', 'Rank.LOW')}",
            lambda: f"s = ({self.int()}) % 19", lambda: f"xs.append({self.text()})", lambda: f"xs[0] = {self.text()}",
            lambda: f"d[{self.text()}] += {self.int()}", "w, v = v, w", lambda: f"s += robot.step({self.text()})",
        )  # fmt: skip

    def statement(self, depth: int) -> str:
        if depth == 0:
            return self.simple()
        inner = lambda: indented(self.block(depth - 1))
        return self.pick(
            self.simple, lambda: f"if {self.condition()}:\n{inner()}",
            lambda: f"if {self.condition()}:\n{inner()}\nelif {self.condition()}:\n{inner()}\nelse:\n{inner()}",
            lambda: f"for i in range({self.pick('3', 'n', 'k')}):\n    s = (s + i) % 17\n{inner()}",
            lambda: f"for c in {self.text()}:\n    s = (s * 2 + (c == 'b')) % 17\n{inner()}",
            lambda: f"for c in {self.pick('xs[:3]', 'list(d)')}:\n    s = (s * 2 + (c == v)) % 17\n    {self.simple()}",
            # What is inside may change s and all else, but no count of this depth.
            lambda: f"turn{depth} = 0\nwhile turn{depth} < 9 and {self.condition()}:\n    turn{depth} += 1\n{inner()}",
            lambda: f"try:\n{inner()}\n    s += TABLE[{self.text()}]\nexcept KeyError:\n{inner()}",
            lambda: f"match {self.text()}:\n    case 'a' | 'c':\n{indented(inner())}\n    case 'bb' if "
            f"{self.condition()}:\n{indented(inner())}\n    case other:\n        s += len(other)",
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
