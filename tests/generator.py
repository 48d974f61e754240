"""Random programs in the user's language: two functions that call themselves and each other.

Every program ends (recursion burns ``n``, loops are bounded), integers stay small, and Python itself could run it.
"""

from __future__ import annotations

import itertools
import textwrap

from hypothesis import strategies as st

PARAMETERS = "n, a, b, z, t, m"
INTS = ("a", "b", "c", "k", "p[0]", "d['u']", "d['v']")
NAMES = ("a", "b", "c", "k")
small = st.integers(-5, 9)
counter = itertools.count()


def fields(text, **strategies):
    """Text whose ``{name}``s are drawn."""
    return st.fixed_dictionaries(strategies).map(lambda values: text.format(**values))


def lines(text, **strategies):
    """Like ``fields``; a drawn block keeps the indentation of its place.  ``{i}`` is a new variable."""

    def write(values):
        values = {name: textwrap.indent(value, "    ") if name.startswith("body") else value
                  for name, value in values.items()}  # fmt: skip
        return text.format(i=f"i{next(counter)}", **values)

    return st.fixed_dictionaries(strategies).map(write)


def ints(depth):
    leaf = st.one_of(st.sampled_from(INTS), small.map(str))
    if depth == 0:
        return leaf
    inner = ints(depth - 1)
    return st.one_of(
        leaf,
        fields("({x} {op} {y}) % 97", x=inner, op=st.sampled_from("+-*"), y=inner),
        fields("{x} // {k}", x=inner, k=st.integers(2, 7)),
        fields("-{x}", x=st.sampled_from(NAMES)),
        fields("abs({x})", x=inner),
        fields("({x} if {c} else {y})", x=inner, c=conditions(depth - 1), y=inner),
        fields("{f}({x}, {y})", f=st.sampled_from(["max", "min"]), x=inner, y=inner),
        fields("t[({x} + {y}) % 4]", x=inner, y=inner),
        fields("t[-1 - ({x}) % 4]", x=inner),
        fields("m[({x}) % 2, ({y}) % 3]", x=inner, y=inner),
        fields("m[:, ({x}) % 3][1]", x=inner),
        fields("[{x}, {y}, 3][({w}) % 3]", x=inner, y=inner, w=inner),
        fields(
            "sum({v} if {v} > {x} else -{v} for {v} in ({y}, {w}, 2)) % 97", v=st.just("v"), x=inner, y=inner, w=inner
        ),
        fields("s.step(n, {x})", x=inner),
    )


def conditions(depth):
    number = ints(max(depth - 1, 0))
    comparison = fields("{x} {op} {y}", x=number, op=st.sampled_from(["<", "<=", "==", "!=", ">"]), y=number)
    floating = st.sampled_from(["z < 0.5", "z >= 2.0", "p[1] > 1.0", "e > 0.6", "u"])
    if depth == 0:
        return st.one_of(comparison, floating)
    inner = conditions(depth - 1)
    return st.one_of(
        comparison,
        floating,
        fields("({x} {op} {y})", x=inner, op=st.sampled_from(["and", "or"]), y=inner),
        fields("(not {x})", x=inner),
        fields("{x} < {y} <= {w}", x=number, y=number, w=number),
        fields("{x} in (1, {y}, 4)", x=number, y=number),
        st.just("(a % 2 == 0 or f(n - 1, b, a, z, t, m)[0] > 20)"),
        st.just("a < f(n - 1, b, a, z, t, m)[0] <= b"),
    )


def call():
    return fields("{f}(n - 1, {x}, {y}, z, t, m)", f=st.sampled_from("fg"), x=ints(1), y=ints(1))


def block(depth, in_loop):
    return st.lists(statement(depth, in_loop), min_size=1, max_size=3).map("\n".join)


def simple_statements(in_loop):
    name, value = st.sampled_from(NAMES), ints(2)
    simple = [
        lines("{x} = {value}", x=name, value=value),
        lines("{x} += {value}\n{x} = {x} % 89", x=name, value=ints(1)),
        lines("p = ({x}, {z})", x=value, z=st.sampled_from(["z", "p[1]", "z + p[1]"])),
        lines("d = {{'v': {x}, 'u': {y}}}", x=ints(1), y=ints(1)),
        lines("{x}, (z, _) = {y}, p[::-1]", x=name, y=ints(1)),
        st.sampled_from(
            ["z = z + 0.5", "z = z - 0.25", "z = min(z, p[1])", "a, b = b, a", "k = 0", "c = k", "p = (k, z)"]
        ),
        lines("t[{x} % 4] = {y}", x=name, y=ints(1)),
        lines("t[{x} % 4] += {y}\nt = t % 91", x=name, y=ints(1)),
        lines("m[{x} % 2, {y} % 3] = {w}", x=name, y=name, w=ints(1)),
        st.sampled_from(["t[b % 4], t[1] = t[1], t[b % 4]", "m[a % 2] = t[1:]", "m = m[::-1]", "t = t[::-1] + 0"]),
        lines("{x}, z = {call}", x=name, call=call()),
        lines("{x} = {call}[0] + {y}", x=name, call=call(), y=name),
        lines("p = {call}", call=call()),
        lines("assert {x} * 0 == 0, f'never {{{x}}}'", x=name),
        lines("u = {c}", c=conditions(1)),
        st.sampled_from(
            ["e = e / 2 + 0.25", "e = max(e, 0.7)", "t[1:3] = b", "m[a % 2, 1:] = t[1:3]", "m[:, b % 3] = a"]
        ),
        lines("t[{x} % 4] = m[1, 2]\nm[0][{y} % 3] = t[0]", x=name, y=name),
        lines("{x} = [{call}[0] for k in (a, {y})][1]", x=st.sampled_from("abc"), call=call(), y=ints(1)),
        lines("{i} = lambda y, w={x}: (y + a - w) % 83\nb = {i}(c) - {i}({y})", x=ints(1), y=name),
    ]
    if in_loop:
        simple.append(lines("if {c}:\n    {leave}", c=conditions(1), leave=st.sampled_from(["break", "continue"])))
    return simple


def statement(depth, in_loop):
    simple = simple_statements(in_loop)
    if depth == 0:
        return st.one_of(*simple)
    test, inner, body = conditions(1), block(depth - 1, in_loop), block(depth - 1, True)
    target, number = st.sampled_from(["c", "k", "a"]), st.sampled_from(NAMES)
    return st.one_of(
        *simple,
        lines("if {c}:\n    return {x}, z", c=test, x=ints(1)),
        lines("if {c}:\n{body}\nelse:\n{body2}", c=conditions(2), body=inner, body2=inner),
        lines("if {c}:\n{body}\nelif {c2}:\n{body2}", c=test, c2=test, body=inner, body2=inner),
        lines("if {c}:\n{body}", c=test, body=inner),
        lines("for {x} in range(({y}) % 4):\n{body}", x=target, y=ints(1), body=body),
        lines("for {x} in range({y}, {w} % 5, -2):\n{body}", x=target, y=st.integers(0, 8), w=number, body=body),
        lines("for {x} in range(3):\n{body}\nelse:\n{body2}", x=target, body=body, body2=inner),
        lines("for {x} in t:\n{body}", x=target, body=body),
        lines("for {x}, k in [(a, 1), (b, 2)]:\n{body}", x=target, body=body),
        lines(UNLIKE, x=target, c=test, leave=st.sampled_from(["break", "continue", "a = b"]), body=body),
        lines("for {x} in ab.unroll(range(2)):\n{body}\nelse:\n{body2}", x=target, body=body, body2=inner),
        lines("for {i} in (t, m[0]):\n    a = a + {i}[k % 3]\n    a = a % 71\n{body}", body=body),
        lines(NESTED, x=ints(1), y=number, body=block(0, False)),
        lines("if ({i} := {x}) > {y} and {i} < 50:\n{body}", x=ints(1), y=number, body=inner),
        lines("{i} = 0\nwhile {i} < 4 and {c}:\n    {i} += 1\n{body}", c=test, body=body),
        lines("{i} = 0\nwhile {i} < 3:\n    {i} += 1\n{body}\nelse:\n{body2}", body=body, body2=inner),
    )  # fmt: skip


UNLIKE = """for {x}, {i} in [(a, 'l'), (b, 'r')]:
    if {i} == 'l' and {c}:
        {leave}
{body}"""
# A nested function has its own variables, and captures the rest.
NESTED = """def {i}(y, w=2):
    c, k, p, d, u, e, t, m, a, b, z = y, w, (w, 0.25), {{'u': y, 'v': w}}, y > w, 0.5, t0, m0, y, w, z0
    if y > {x}:
        return (y - w) % 13
{body}
    return {y}
b = {i}(c) + {i}({y}, a)"""


def function(name):
    head = f"""@ab.autobatch
def {name}({PARAMETERS}):
    c, k, p, d = 1, 2, (b, 0.5), {{"u": a, "v": 3}}
    u, e, t0, m0, z0 = False, 1.0, t, m, z
    if n <= 0:
        return a - b, z
"""
    return st.tuples(block(2, False), ints(1)).map(
        lambda parts: f"{head}{textwrap.indent(parts[0], '    ')}\n    return {parts[1]}, z\n"
    )


METHOD = """class S:
    def __init__(self, k):
        self.k = k

    @ab.autobatch
    def step(self, n, a):
        if n <= 0 or a > 50:
            return a % self.k
        return self.step(n - 1, a + self.k) + 1


s = S(3)
"""

programs = st.tuples(st.just(METHOD), function("f"), function("g")).map("\n\n".join)
