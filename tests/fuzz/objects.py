"""Arrays, lists and dicts as objects: other names, parts, choices, changes by callees, while looping, in lambdas."""

from __future__ import annotations

import numpy as np
from hypothesis import strategies as st

from tests.fuzz.running import INTERPRETED, batched, compare, outcome, plain
from tests.fuzz.writer import Writer, indented

HEAD = """@ab.autobatch
def swap(v, i, j):
    v[i], v[j] = v[j], v[i]


@ab.autobatch
def same(v):
    return v


"""
CALLEE = """@ab.autobatch
def g(v, w, n):
    k = n + 1
    if n <= 0:
        return {early}
{body}
    return {late}


"""
CALLER = """@ab.autobatch
def f(t, u, m, n, k):
    q = t + 0
    xs, d, rows, fs = [n, k, 3], {{"a": n, "b": [k, 1]}}, [[n, 1], [k, 2]], []
    ys = xs
{body}
    total = 0
    for x in ab.unroll([*xs, *ys, *rows[0], *rows[1], *d["b"], d["a"], *[h() for h in fs]]):
        total = (total * 3 + x) % 9973
    return total, {result}
"""


WHILE = "{0} = 0\nwhile {0} < 3 and {1}:\n    {0} += 1\n{2}"
B = "d['b']"


class _Writer(Writer):
    vectors = ("t", "u", "q", "m[0]", "m[n % 2]")
    names = ("t", "u", "q")

    def __init__(self, draw):
        super().__init__(draw)
        self.lists = self.pick(True, False)  # lists that change, or control flow: seldom both, as that is refused
        self.depth = self.pick(0, 0, 0, 2) if self.lists else 2

    def index(self) -> str:
        return self.pick("0", "1", "-1", "n % 4", "k % 4", lambda: f"({self.int()}) % 4")

    def int(self) -> str:
        return self.pick(
            "n", "k", "5", lambda: f"{self.pick(*self.vectors)}[{self.index()}]", lambda: f"({self.int()} + 3) % 11",
            *([lambda: self.pick("xs[0]", "ys[-1]", "rows[1][0]", "d['a']", "len(xs)")] * self.lists),
        )  # fmt: skip

    def condition(self) -> str:
        return self.pick("n > 1", "k % 2 == 0", "u[0] > t[1]", lambda: f"{self.int()} < {self.int()}")

    def vector(self) -> str:
        return self.pick(
            *self.vectors,
            lambda: f"({self.pick(*self.vectors)} + 1)",
            lambda: f"{self.pick(*self.vectors)}[::-1]",
            lambda: f"({self.pick(*self.vectors)} if {self.condition()} else {self.pick(*self.vectors)})",
            lambda: f"same({self.pick(*self.vectors)})",
            lambda: f"g({self.pick(*self.vectors)}, {self.pick(*self.vectors)}, n - 1)",
        )

    def change(self) -> str:
        """A change of an array in place."""
        v = self.pick(*self.vectors)
        return self.pick(
            f"{v}[{self.index()}] = {self.int()}", f"{v}[{self.index()}] += 1",
            f"swap({v}, {self.index()}, {self.index()})", f"{v}[1:3] = {self.int()}", f"{v}[:2] = {self.vector()}[2:]",
            f"{v}[{self.index()}], {v}[0] = {v}[0], {v}[{self.index()}]",
        )  # fmt: skip

    def changed_list(self) -> str:
        return self.pick(
            lambda: f"{self.pick('xs', 'ys', 'rows[0]', B)}.append({self.int()})",
            lambda: f"{self.pick('xs', 'ys', 'rows[1]', B)}[{self.pick('0', '-1')}] = {self.int()}",
            lambda: self.pick("ys = xs", "ys = xs[:]", "ys = list(xs)", "ys = rows[0]", "ys = d['b']", "xs = [*ys]"),
            lambda: f"ys = {self.pick('xs', 'rows[0]')} + [{self.int()}]",
            lambda: f"xs += [{self.int()}]",
            lambda: self.pick("ys.pop()", "k = xs.pop()", "xs.insert(0, k)", "xs.reverse()", "xs.extend(rows[1])"),
            lambda: f"d['a'] = {self.int()}",
            lambda: f"e = d\ne['a'] = {self.int()}",
            lambda: f"d.update(a={self.int()})",
            lambda: f"for row in rows:\n    row[0] = {self.int()}",
            lambda: f"for row in rows:\n    row.append({self.int()})",
            lambda: f"for x in xs:\n    k = (k + x) % 7\n    {self.pick('ys[1] = k', 'xs[-1] = 4', 't[x % 4] = k')}",
            lambda: f"fs.append(lambda: {self.int()})",
            lambda: f"rows[{self.pick('0', 'k % 2', 'n % 2')}][{self.pick('0', '1')}] = {self.int()}",
            lambda: f"row = rows[{self.pick('0', 'k % 2')}]\nrow[1] = {self.int()}",
            lambda: f"row = xs if {self.condition()} else ys\nrow[0] = {self.int()}",
            lambda: f"rows[0], rows[1] = rows[1], {self.pick('rows[0]', '[1, k]')}",
            lambda: "for x in ab.unroll(range(3)):\n    fs.append(lambda: x)",
        )

    def simple(self) -> str:
        return self.pick(
            self.change, self.change, self.change,
            lambda: f"{self.pick(*self.names)} = {self.vector()}",
            lambda: f"k = {self.int()}",
            lambda: f"g({self.pick(*self.vectors)}, {self.pick(*self.vectors)}, n - 1)",
            *([self.changed_list] * 3 * self.lists),
            *([lambda: f"m[{self.pick('0', 'n % 2')}] = {self.vector()}", "m[:, 1] = k"] * ("m[0]" in self.vectors)),
            *([self.unrolled] * 2 * self.lists),
        )  # fmt: skip

    def unrolled(self) -> str:
        items = self.pick("range(2)", "rows", "[xs, rows[0]]", "xs")
        return f"for x in ab.unroll({items}):\n{indented(self.changed_list())}"

    def statement(self, depth: int) -> str:
        if depth == 0:
            return self.simple()

        def inner() -> str:
            return indented(self.block(depth - 1))

        return self.pick(
            self.simple, self.simple, self.simple,
            lambda: f"if {self.condition()}:\n{inner()}",
            lambda: f"if {self.condition()}:\n{inner()}\nelse:\n{inner()}",
            lambda: f"for i in range({self.pick('3', 'n', 'k % 4')}):\n    t[i % 4] = i\n{inner()}",
            lambda: f"for x in {self.pick(*self.names)}:\n    k = x % 5\n{inner()}",
            lambda: f"for x in {self.vector()}:\n    k = (k + x) % 5\n{inner()}",
            lambda: WHILE.format(self.fresh(), self.condition(), inner()),
        )  # fmt: skip


class _CalleeWriter(_Writer):
    vectors = names = ("v", "w")

    def __init__(self, draw):
        super().__init__(draw)
        self.lists, self.depth = False, 0

    def condition(self) -> str:
        return self.pick("n > 1", "k % 2 == 0", "v[0] > w[1]")


@st.composite
def _examples(draw):
    callee, caller = _CalleeWriter(draw), _Writer(draw)
    returned = ("v", "w", "v + 0", "v")
    early, late = callee.pick(*returned), callee.pick(*returned)
    g = CALLEE.format(early=early, late=late, body=indented(callee.block(callee.depth)))
    result = caller.pick("t, u, m, q", "q + 0", "t, m", "(q, t)")
    return (HEAD + g + CALLER.format(body=indented(caller.block(caller.depth)), result=result),)


examples = _examples()
T = np.array([[3, 1, 2, 0], [5, 9, 7, 8], [1, 1, 6, 2], [0, 4, 4, 3]], np.int32)
M = np.arange(32, dtype=np.int32).reshape(4, 2, 4) * 5 % 13
ARGS = (T, T[::-1] + 1, M, np.array([0, 1, 2, 3], np.int32), np.array([2, 5, 0, 1], np.int32))


def check(example):
    """Compares what the members return, in plain Python on arrays of their own; out-of-range indices included."""
    (text,) = example
    scope = plain(text)
    expected = [
        outcome(scope["f"], *(np.array(arg[z]) if arg.ndim > 1 else arg[z].item() for arg in ARGS)) for z in range(4)
    ]
    return compare(batched(text)["f"].options(**INTERPRETED), ARGS, expected)
