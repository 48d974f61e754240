"""Numbers: expressions of Python's numbers that differ between members, and of tensors of two widths.

The oracle's tensors are NumPy's numbers, but for the one rule of the documentation that NumPy does not have: integers
by zero raise, as Python's do.
"""

from __future__ import annotations

import ast
import types

import numpy as np
from hypothesis import strategies as st

import autobatch as ab
from tests.fuzz.running import INTERPRETED, batched, compare, outcome, plain
from tests.fuzz.writer import indented

# Each member's n counts w and v up to it: an int and a float that Python computed, and that differ; i is an int32.
TEXT = """{decorated}def g(n, i, w, v, b):
    return {inner}

def f(n, i):
    w, v, b = -3, -1.5, 1
    while w < n:
        w, v, b = w + 1, v + 0.75, b * 9 - 4
{body}
"""
BODIES = (
    "return {}",
    "w = {}\nreturn w",
    "if {}:\n    w = b\nreturn w",
    "for k in range(3):\n    b = {}\nreturn b",
    "for k in range(w % 4):\n    w = {}\nreturn w",
    "while w < {} and w < 30:\n    w += 5\nreturn w",
    "return (lambda y: {})(b)",
    "return [{} for y in (w, b)][1]",
    "def h(y, w=w):\n    return {}\nreturn h(b)",
    "return g(n, i, w, v, b) + ({})",
    "return g(i, n, b, v, w)",
    "w = g(n, i, w, v, b)\nreturn {}",
    "y = [w, b][w % 2]\nreturn {}",
    "y = w if i > 2 else b\nreturn {}",
)
N = np.array([-3, 0, 1, 5, 15], np.int64)
I = np.array([0, 3, 2**31 - 1, -7, -(2**31)], np.int32)  # noqa: E741
LEAVES = ("w", "v", "b", "n", "i", "0", "1", "-2", "7", "0.5", "2.0", "3000000000", "2**53", "True")
leaf = st.sampled_from(LEAVES)


def binary(inner):
    operators = st.sampled_from(["+", "-", "*", "//", "%", "/", "<", "<=", "==", "!=", ">", "<<", ">>", "&", "|", "^"])
    return st.tuples(inner, operators, inner).map(lambda parts: f"({parts[0]} {parts[1]} {parts[2]})")


def others(inner):
    return st.one_of(
        *(inner.map(f"{function}({{}})".format) for function in ("-", "abs", "int", "float", "tf.abs", "round")),
        inner.map("(not {})".format),
        st.tuples(inner, st.sampled_from("0123")).map(lambda p: f"({p[0]} ** {p[1]})"),
        st.tuples(inner, inner, inner).map(lambda p: f"({p[0]} if {p[1]} > 0 else {p[2]})"),
        st.tuples(st.sampled_from(["max", "min", "tf.maximum"]), inner, inner).map(lambda p: f"{p[0]}({p[1]}, {p[2]})"),
        st.tuples(inner, st.sampled_from(["and", "or"]), inner).map(lambda p: f"({p[0]} {p[1]} {p[2]})"),
        st.tuples(inner, inner).map(lambda p: f"divmod({p[0]}, {p[1]})[0]"),
        inner.map("tf.cast({}, tf.float64)".format),
    )  # fmt: skip


expressions = st.recursive(leaf, lambda inner: st.one_of(binary(inner), others(inner)), max_leaves=6)


@st.composite
def _examples(draw):
    body = draw(st.sampled_from(BODIES)).replace("{}", draw(expressions))
    if "y" in body:
        body = body.replace("v", draw(st.sampled_from("vy")))
    decorated = draw(st.sampled_from(["@ab.autobatch\n", ""]))
    return (TEXT.format(decorated=decorated, inner=draw(expressions), body=indented(body)),)


examples = _examples()


def exact(operator, x, y):
    """``//``, ``%`` and ``/`` of ints, tensors or not, raise by zero."""
    if isinstance(y, int | np.integer) and isinstance(x, int | np.integer) and y == 0:
        raise ZeroDivisionError(f"{x} {operator} {y}")
    return {"//": lambda: x // y, "%": lambda: x % y, "/": lambda: x / y}[operator]()


def remainder(x, y):
    return exact("//", x, y), exact("%", x, y)


def negative(x):
    """A truth value of NumPy's is one of Python's: it is a member's own."""
    return -bool(x) if isinstance(x, np.bool_) else -x


class _Checked(ast.NodeTransformer):
    SYMBOLS = types.MappingProxyType({ast.FloorDiv: "//", ast.Mod: "%", ast.Div: "/"})

    def visit_BinOp(self, node):
        node = self.generic_visit(node)
        if type(node.op) not in self.SYMBOLS:
            return node
        operator = ast.Constant(self.SYMBOLS[type(node.op)])
        return ast.Call(ast.Name("exact", ast.Load()), [operator, node.left, node.right], [])

    def visit_UnaryOp(self, node):
        node = self.generic_visit(node)
        return ast.Call(ast.Name("negative", ast.Load()), [node.operand], []) if isinstance(node.op, ast.USub) else node


class _Wide(Exception):
    """A value that 64 bits do not hold."""


def cast(x, dtype):
    """A Python float enters TensorFlow as a float32."""
    return dtype(np.float32(x) if type(x) is float else x)


def absolute(x):
    """A Python int enters TensorFlow as an int32, whose lowest has no opposite."""
    return x if type(x) is int and x == -(2**31) else abs(x)


def absolute_32(x):
    """What TensorFlow makes of an int32 is one, and wraps."""
    return np.abs(np.int32(x)) if type(x) is int and -(2**31) <= x < 2**31 else abs(x)


TENSORFLOW = types.SimpleNamespace(abs=absolute, maximum=max, float64=np.float64, cast=cast)
ORACLE = {"exact": exact, "negative": negative, "divmod": remainder, "tf": TENSORFLOW}
ORACLE_32 = ORACLE | {"tf": types.SimpleNamespace(**vars(TENSORFLOW) | {"abs": absolute_32})}


def check(example):
    """Compares the members' results with Python's; a member whose int leaves 64 bits may fail, wherever it does."""
    (text,) = example
    checked = ast.unparse(ast.fix_missing_locations(_Checked().visit(ast.parse(text))))
    expected = [outcome(plain(checked, **ORACLE)["f"], n, i) for n, i in zip(N, I, strict=True)]
    f = ab.autobatch(batched(text)["f"], **INTERPRETED)

    def of_python(z):
        """Of an int32 that is a float on another path, and does not wrap; and of one that TensorFlow keeps as it is."""
        in_tensorflow = outcome(plain(checked, **ORACLE_32)["f"], N[z], I[z])
        return [outcome(plain(checked, **ORACLE)["f"], int(N[z]), int(I[z])), in_tensorflow]

    def may_fail(z):
        value, _ = of_python(z)
        beyond = isinstance(value, Exception) or not -(2**63) <= value < 2**63
        return wide(checked, N[z], I[z]) or beyond

    return compare(f, (N, I), expected, may_fail, of_python)


def wide(text, n, i):
    """Whether an int of the member leaves 64 bits on the way, or 32 where it meets an int32."""

    class Seen(ast.NodeTransformer):
        def visit(self, node):
            node = self.generic_visit(node)
            if isinstance(node, ast.BinOp | ast.Call | ast.IfExp | ast.BoolOp | ast.UnaryOp | ast.Name):
                if not isinstance(getattr(node, "ctx", ast.Load()), ast.Load):
                    return node
                return ast.Call(ast.Name("__seen", ast.Load()), [node], [])
            return node

    def seen(value):
        if isinstance(value, int) and not -(2**31) <= value < 2**31 and ("i" in text or not -(2**63) <= value < 2**63):
            raise _Wide
        if isinstance(value, float) and not np.isfinite(value):
            raise _Wide
        return value

    tree = ast.fix_missing_locations(Seen().visit(ast.parse(text)))
    return isinstance(outcome(plain(ast.unparse(tree), **ORACLE, __seen=seen)["f"], n, i), _Wide)
