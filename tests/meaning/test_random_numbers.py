"""Random expressions of Python's numbers that differ between members: Python's answer, or the member fails.

``python -m tests.meaning.test_random_numbers 2000`` looks further.
"""

import ast
import linecache
import sys

import numpy as np
from hypothesis import HealthCheck, given, reject, settings
from hypothesis import strategies as st

import autobatch as ab

# Each member's n counts w and v up to it: an int and a float that Python computed, and that differ.
TEXT = """def f(n):
    w, v, b = -3, -1.5, 1
    while w < n:
        w, v, b = w + 1, v + 0.75, b * 9 - 4
    return {}
"""
N = np.array([-3, 0, 1, 5, 15], np.int64)
leaf = st.sampled_from(["w", "v", "b", "n", "0", "1", "-2", "7", "0.5", "2.0", "3000000000", "2**53"])


def binary(inner):
    operators = st.sampled_from(["+", "-", "*", "//", "%", "/", "<", "<=", "==", "!=", ">", "<<", ">>", "&", "|", "^"])
    return st.tuples(inner, operators, inner).map(lambda parts: f"({parts[0]} {parts[1]} {parts[2]})")


def others(inner):
    return st.one_of(
        inner.map("(-{})".format), inner.map("abs({})".format), inner.map("int({})".format),
        inner.map("float({})".format), st.tuples(inner, st.sampled_from("0123")).map(lambda p: f"({p[0]} ** {p[1]})"),
        st.tuples(inner, inner, inner).map(lambda p: f"({p[0]} if {p[1]} > 0 else {p[2]})"),
        st.tuples(inner, inner).map(lambda p: f"max({p[0]}, {p[1]})"),
        st.tuples(inner, inner).map(lambda p: f"({p[0]} and {p[1]})"),
    )  # fmt: skip


expressions = st.recursive(leaf, lambda inner: st.one_of(binary(inner), others(inner)), max_leaves=6)


def too_wide(text, names):
    """Whether a part of the expression leaves what 64 bits hold exactly, so that the member may fail."""
    parts = [ast.unparse(node) for node in ast.walk(ast.parse(text)) if isinstance(node, ast.expr)]
    values = []
    for part in parts:
        try:
            values.append(eval(part, dict(names)))
        except Exception:  # of a side that is not taken, perhaps
            continue
    ints = [value for value in values if isinstance(value, int)]
    return any(abs(value) > 2**53 for value in ints) or not all(np.isfinite(v) for v in values if isinstance(v, float))


def python(text, n):
    scope = {}
    exec(TEXT.format(text), scope)
    w, v, b = -3, -1.5, 1
    while w < n:
        w, v, b = w + 1, v + 0.75, b * 9 - 4
    try:
        return scope["f"](n), {"n": n, "w": w, "v": v, "b": b}
    except Exception as error:
        return error, {"n": n, "w": w, "v": v, "b": b}


def check(text):
    expected = [python(text, n.item()) for n in N]
    name = f"<random expression {abs(hash(text))}>"
    source = TEXT.format(text)
    linecache.cache[name] = (len(source), None, source.splitlines(keepends=True), name)
    scope = {"__name__": "random_expression"}
    exec(compile(source, name, "exec"), scope)
    f = ab.autobatch(scope["f"], backend="local_static", jit_compile=False)
    try:
        results, failed = f(N), ()
    except ab.errors.MemberError as error:
        results, failed = error.results, error.members
    except ab.errors.TypeMismatchError:
        reject()  # mixed types, shifts of tensors, ...
    results = np.broadcast_to(np.asarray(results), N.shape)
    for z, (value, names) in enumerate(expected):
        if z in failed:
            assert isinstance(value, Exception) or too_wide(text, names), (text, z, value)
        else:
            assert not isinstance(value, Exception), (text, z, value, results[z])
            assert results[z] == value or abs(results[z] - value) <= 1e-12 * abs(value), (text, z, value, results[z])


@settings(derandomize=True, deadline=None, database=None, max_examples=40, suppress_health_check=list(HealthCheck))
@given(expressions)
def test_expressions(text):
    check(text)


if __name__ == "__main__":
    settings(max_examples=int(sys.argv[1]), deadline=None, database=None, suppress_health_check=list(HealthCheck))(
        given(expressions)(check)
    )()
