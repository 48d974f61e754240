"""What Python calls by itself of a user's class: operators, calls, truth, length, items, conversions, setters.

Beside them are dicts of known keys, and rows, that change in place.
"""

from __future__ import annotations

import numpy as np
from hypothesis import strategies as st

from tests.fuzz.running import against_python
from tests.fuzz.writer import Writer, indented

PROGRAM = """from dataclasses import dataclass


class Num:
    made = 2

    def __init__(self, x, y=1):
        self.x, self.y, self.last = x, y, None

    def __call__(self, d):
{call}
        return self.x

    def __len__(self):
{len}
        return 3

    def __bool__(self):
        return {truth}

    def __contains__(self, d):
        return {contains}

    def __getitem__(self, d):
{get}
        return self.y

    def __setitem__(self, d, v):
{set}

    def __add__(self, d):
        return Num((self.x + (d.x if isinstance(d, Num) else d)) % 31, self.y)

    def __radd__(self, d):
        return Num((d - self.x) % 31, {right})

    def __iadd__(self, d):
        self.x = (self.x + d) % 37
        return self

    def __neg__(self):
        return Num(-self.x, self.y)

    def __eq__(self, d):
        return {equal}

    def __lt__(self, d):
        return self.x < (d.x if isinstance(d, Num) else d)

    def __int__(self):
        return self.x * 2 + self.y

    @property
    def half(self):
        return self.y // 2

    @half.setter
    def half(self, d):
        if d > 3:
            raise ValueError("too large")
        self.y = d * 2

    @classmethod
    def of(cls, d):
        return cls(d % 7, cls.made) if d > 1 else cls(d)

    @staticmethod
    def bounded(d):
        return d % 9 if d > 5 else d


@dataclass
class Item:
    n: int
    k: int = 0

    def __post_init__(self):
{post}


@ab.autobatch
def f(n, k):
    p, q, i = Num(n), {other}, Item(n, k)
    d, s = {{"a": n, "b": k, "c": 1}}, 0
    rows = [[n, 1], [k, n, 2]]
{body}
    return s, p.x, p.y, q.x, q.y, i.n, i.k, d["a"], d["b"], d["c"], sum(r[-1] * 3 + len(r) for r in rows)
"""


LAST = "(0 if self.last is None else self.last)"


class _Method(Writer):
    """A method's body, which ends without a return."""

    attributes: tuple[str, ...] = ("self.x", "self.y")

    def int(self) -> str:
        return self.pick("d", *self.attributes, "2", LAST, lambda: f"({self.int()} + {self.int()}) % 11")

    def condition(self) -> str:
        return self.pick("d > 1", lambda: f"{self.int()} < {self.int()}", lambda: f"{self.int()} % 2 == 0")

    def simple(self) -> str:
        a = self.pick(*self.attributes)
        return self.pick(
            lambda: f"{a} = ({self.int()}) % 23", lambda: f"{a} += {self.int()}",
            f"self.last = {a}", "self.last = None",
            lambda: f"if {self.condition()}:\n    {a} = {self.int()}",
            lambda: f"if {self.condition()}:\n    return {self.int()} % 5",
        )  # fmt: skip

    def body(self) -> str:
        lines = "\n".join(self.pick("pass", self.simple) for _ in range(self.draw(st.integers(1, 2))))
        return indented(indented(lines))


class _NoReturn(_Method):
    def simple(self) -> str:
        return super().simple().replace("return", "d =")


class _Length(_Method):
    def simple(self) -> str:
        return f"if {self.condition()}:\n    return ({self.int()}) % 5"

    def int(self) -> str:
        return self.pick(*self.attributes, "2")

    def condition(self) -> str:
        return f"{self.int()} < {self.int()}"


class _Post(_NoReturn):
    attributes = ("self.n", "self.k")

    def int(self) -> str:
        return self.pick(*self.attributes, "3")

    def condition(self) -> str:
        return f"{self.int()} < {self.int()}"

    def simple(self) -> str:
        return super().simple().replace("d =", "self.k =")


class _Caller(Writer):
    def key(self) -> str:
        return self.pick("'a'", "'b'", "'c'")

    def object(self) -> str:
        return self.pick("p", "q")

    def int(self) -> str:
        o = self.object()
        return self.pick(
            "n", "k", "s % 7", "2", f"{o}.x", f"len({o})", f"int({o})", f"{o}[k]", f"{o}.half", f"(1 if {o} else 2)",
            lambda: f"{o}({self.int()})", lambda: f"({self.int()} in {o})", lambda: f"d[{self.key()}]",
            lambda: f"({self.int()} + {self.int()}) % 13", lambda: f"Num.bounded({self.int()})", "i.k", "i.n",
            f"({o}.last or k)",
            lambda: f"({self.int()} if {self.condition()} else {self.int()})", "(p == q)", "(p == n)", "(q == -p)",
            lambda: f"d.get({self.key()}, k)", "d.get('e', k)", "max(p, q).x", "rows[0][-1]", "rows[1][0]",
        )  # fmt: skip

    def condition(self) -> str:
        return self.pick("n > 1", "p", "not q", "p < q", "p == q", "k in p", lambda: f"{self.int()} < {self.int()}")

    def made(self) -> str:
        o = self.object()
        return self.pick(
            lambda: f"Num({self.int()})", lambda: f"Num.of({self.int()})", f"{o} + k", f"k + {o}", "p + q", f"-{o}",
            "sum([p, q], Num(0))",
        )  # fmt: skip

    def simple(self) -> str:
        o = self.object()
        return self.pick(
            lambda: f"s = (s * 2 + {self.int()}) % 97", lambda: f"{o} = {self.made()}", lambda: f"{o} += {self.int()}",
            lambda: f"{o}[{self.int()}] = {self.int()}", lambda: f"{o}.half = {self.int()}",
            lambda: f"d[{self.key()}] = {self.int()}", lambda: f"d[{self.key()}] += {self.int()}",
            lambda: f"i = Item({self.int()})", lambda: f"i.n += {self.int()}", lambda: f"{o}.half += 1",
            lambda: f"for r in rows:\n    r[0] = {self.int()}\n    r[-1] += r[0]", "rows[k % 2].append(s)",
            lambda: f"for r in rows:\n    if r[0] > {self.int()}:\n        r.append(s)", "p, q = q, p",
            "for a, b in d.items():\n    s = (s + b) % 19", f"{o}.x += 1", lambda: f"{o}({self.int()})",
            "p.last = q.last",
        )  # fmt: skip

    def statement(self, depth: int) -> str:
        if depth == 0:
            return self.simple()
        inner, i = (lambda: indented(self.block(depth - 1))), self.fresh()
        return self.pick(
            self.simple, self.simple, lambda: f"if {self.condition()}:\n{inner()}",
            lambda: f"if {self.condition()}:\n{inner()}\nelse:\n{inner()}",
            lambda: f"for {i} in range({self.pick('2', 'k % 3')}):\n    s = (s + {i}) % 7\n{inner()}",
            lambda: f"try:\n{inner()}\nexcept ValueError:\n    s += 5",
        )  # fmt: skip

    def block(self, depth: int) -> str:
        return "\n".join(self.statement(depth) for _ in range(self.draw(st.integers(1, 3))))


@st.composite
def _examples(draw):
    method, quiet, caller = _Method(draw), _NoReturn(draw), _Caller(draw)
    return (
        PROGRAM.format(
            call=method.body(), get=method.body(), set=quiet.body(), len=_Length(draw).body(), post=_Post(draw).body(),
            truth=caller.pick("self.x > 2", "self.y != 1", "len(self) > 1", "True"),
            contains=caller.pick("self.x == d", "d < self.y or d > self.x", "False if d > 2 else self.x > d"),
            equal=caller.pick("isinstance(d, Num) and self.x == d.x", "self.x == (d.x if isinstance(d, Num) else d)"),
            right=caller.pick("self.y", "d % 3"), other=caller.pick("Num(k, 2)", "Num.of(k)", "Num(3)"),
            body=indented(caller.block(caller.pick(0, 1, 1, 2))),
        ),
    )  # fmt: skip


examples = _examples()
ARGS = (np.array([0, 1, 2, 3, 7]), np.array([2, 5, 0, 1, 3]))


def check(example):
    """Compares what the members return, or that they fail, with plain Python."""
    (text,) = example
    return against_python(text, ARGS)
