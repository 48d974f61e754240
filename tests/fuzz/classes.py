"""Objects of plain classes: attributes, methods, other names, parts, copies, lists of them, exceptions in methods."""

from __future__ import annotations

import numpy as np
from hypothesis import strategies as st

from tests.fuzz.running import against_python
from tests.fuzz.writer import Writer, indented

CLASSES = """import copy


class Point:
    def __init__(self, x, y=1):
        self.x, self.y = x, y
        self.seen = [x, 0]

    def move(self, d):
{move}
        return self.y

    def checked(self, d):
        if self.x > d:
            raise ValueError("too far")
        self.y += 1
        return self.x

    @property
    def size(self):
        return (abs(self.x) + abs(self.y)) % 50

    @property
    def stepped(self):
        self.y = (self.y + 1) % 29
        return self.y

    def __add__(self, other):
        return Point((self.x + other.x) % 31, self.y)

    def __lt__(self, other):
        return self.x < other.x


class Heavy(Point):
    def __init__(self, x, mass):
        super().__init__(x, mass)
        self.mass = mass

    def move(self, d):
{heavy}
        return super().move(d % 5) + self.mass


class Pair:
    def __init__(self, a, b):
        self.a, self.b = a, b

    def swap(self):
        self.a, self.b = self.b, self.a

    def push(self, d):
{push}


def shown(o):
    return (o.x + 2 * o.y + 5 * o.seen[0] + 7 * o.seen[-1] + len(o.seen)) % 9973


"""
CALLER = """@ab.autobatch
def f(n, k):
    p, q = Point(n), {other}
    r, ps = Pair(Point(n, k), Point(k, 3)), [Point(i, k) for i in range(3)]
{body}
    total = sum(shown(o) for o in ps)
    return total, shown(p), shown(q), shown(r.a), shown(r.b), k, {result}
"""
TRY = "try:\n{0}\nexcept {1}:\n{2}"


class _Method(Writer):
    """A method's body."""

    owners: tuple[str, ...] = ("self",)

    def int(self) -> str:
        return self.pick(
            "d", "2", *(f"{o}.{a}" for o in self.owners for a in ("x", "y")), lambda: f"({self.int()} + d)"
        )

    def condition(self) -> str:
        return self.pick("d > 2", lambda: f"{self.int()} < {self.int()}", lambda: f"{self.int()} % 2 == 0")

    def simple(self) -> str:
        o = self.pick(*self.owners)
        return self.pick(
            f"{o}.x = ({self.int()}) % 23", f"{o}.y += d", f"{o}.seen[{self.pick('0', '1', '-1')}] = {self.int()}",
            f"{o}.x, {o}.y = {o}.y, {o}.x % 19", f"{o}.y = {o}.size", "d = d % 7 + 1",
        )  # fmt: skip

    def statement(self, depth: int) -> str:
        inner = lambda: indented(self.block(depth - 1))
        if depth == 0:
            return self.simple()
        return self.pick(
            self.simple, self.simple, lambda: f"if {self.condition()}:\n{inner()}",
            lambda: f"if {self.condition()}:\n{inner()}\nelse:\n{inner()}",
            lambda: f"for i in range({self.pick('2', 'd % 3')}):\n{inner()}",
        )  # fmt: skip

    def block(self, depth: int) -> str:
        return "\n".join(self.statement(depth) for _ in range(self.draw(st.integers(1, 3))))


class _Caller(_Method):
    owners = ("p", "q", "r.a", "r.b", "ps[0]", "ps[k % 3]")

    def int(self) -> str:
        o = self.pick(*self.owners)
        parts = [self.part(o), *(self.part(o) for _ in range(self.draw(st.integers(0, 2))))]
        if len(parts) == 1:
            return parts[0]
        return self.pick(
            f"({' + '.join(parts)})", f"({' - 2 * '.join(parts)})", f"max({', '.join(parts)})",
            f"[{', '.join(parts)}][{self.pick('0', '-1')}]", f"(1 if {' < '.join(parts)} else 2)",
            f"dict(b={parts[0]}, a={parts[1]})['b']", f"({parts[0]} if {parts[1]} > 2 else {parts[-1]})",
        )  # fmt: skip

    def part(self, o: str) -> str:
        """Of a sum, or a call, where one of them changes what another reads."""
        return self.pick(
            "n", "k", "3", f"{o}.x", f"{o}.y", f"{o}.size", f"{o}.seen[0]", f"{o}.move(k)", f"{o}.stepped",
            f"len({o}.seen)",
        )  # fmt: skip

    def condition(self) -> str:
        o, other = self.pick(*self.owners), self.pick(*self.owners)
        return self.pick("n > 1", "k % 2 == 0", lambda: f"{o}.x < {self.int()}", f"{o} < {other}")

    def object(self) -> str:
        return self.pick(
            lambda: f"Point({self.pick('n', 'k', '4')})", *self.owners, "p + q", "r.a + ps[1]", "copy.copy(p)",
            lambda: f"copy.deepcopy({self.pick('p', 'q', 'r.a')})", lambda: f"(p if {self.condition()} else r.b)",
        )  # fmt: skip

    def simple(self) -> str:
        o, i = self.pick(*self.owners), self.int
        return self.pick(
            lambda: f"{o}.x = ({i()}) % 23", lambda: f"{o}.y += {i()}", lambda: f"{o}.move({i()})",
            lambda: f"k = ({i()}) % 17", lambda: f"k = {o}.move({i()}) % 11",
            lambda: f"{self.pick('p', 'q')} = {self.object()}", lambda: f"r.a = {self.object()}",
            lambda: f"r = Pair({self.object()}, {self.pick('p', 'Point(k)')})", "r.swap()", lambda: f"r.push({i()})",
            lambda: f"ps[{self.pick('0', 'k % 3')}] = {self.object()}", lambda: f"ps.append(Point({i()}))",
            lambda: f"{o}.seen[0] = {i()}", lambda: f"{o}.seen.append({i()})", "p, q = q, p",
            lambda: f"for o in ps:\n    o.move({i()})", lambda: f"for o in ps:\n    o.x = o.y + {self.pick('k', '1')}",
            "k = sum(o.size for o in ps) % 13", "k = max(o.y for o in ps) % 13", "ps.reverse()",
            lambda: f"k = {o}.checked({i()})",
        )  # fmt: skip

    def statement(self, depth: int) -> str:
        if depth and self.draw(st.integers(0, 5)) == 0:
            kind = self.pick("ValueError", "Exception", "(KeyError, ValueError)")
            return TRY.format(indented(self.block(depth - 1)), kind, indented(self.block(0)))
        return super().statement(depth).replace("d % 3", "k % 3").replace("d = d % 7 + 1", "n = k + 1")


class _PairMethod(_Method):
    owners = ("self.a", "self.b")


@st.composite
def _examples(draw):
    method, pair, caller = _Method(draw), _PairMethod(draw), _Caller(draw)
    bodies = {"move": method.block(1), "heavy": method.block(1), "push": pair.block(1)}
    other = caller.pick("Point(k, 2)", "Point(k, 2)", "Heavy(k, 2)")
    body = indented(caller.block(caller.pick(0, 1, 1, 2)))
    result = caller.pick("p.x", "(p.x, r.b.y)", "len(ps)", "p is q")
    classes = CLASSES.format(**{name: indented(indented(text)) for name, text in bodies.items()})
    return (classes + CALLER.format(other=other, body=body, result=result),)


examples = _examples()
ARGS = (np.array([0, 1, 2, 3, -4]), np.array([2, 5, 0, 1, 3]))


def check(example):
    """Compares what the members return, in plain Python with objects of their own."""
    (text,) = example
    return against_python(text, ARGS)
