"""NumPy's functions and methods for members, against NumPy."""

import numpy as np
import pytest

from autobatch.errors import AutobatchError
from tests.fuzz.running import INTERPRETED, batched, compare, outcome, plain

A = np.array([[1.0, 2.0, 3.0], [-4.0, 5.0, 0.5]])
INTS = np.array([[1, 2, 3], [4, -5, 6]], np.int32)
M = np.arange(8.0).reshape(2, 2, 2) + np.eye(2)
N, X = np.array([2, 1]), np.array([0.5, 2.0])

# Each function by itself is in test_numpy_functions.py.
OF_VECTORS = (
    "np.array([a[0], a[1] * 2, 1.0])", "np.exp(a).sum()", "a.tolist()[1]", "np.mean(a) + np.var(a)", "np.zeros(3) + a",
    "np.float64(a[0])", "np.int64(a[0])", "(a > 0).any()", "a[::-1].copy()", "[np.sin(v) for v in a]", "np.pi * a",
    "(lambda v: np.cos(v))(a)", "a.shape[0] + a[0]", "a.ndim + a[0]", "np.median([a[0], 2])", "a @ a",
)  # fmt: skip
OF_INTEGERS = (
    "np.fmod(a, 3)", "np.mod(a, -3)", "np.power(a, [0, 1, 2])", "a.dtype == int", "np.dtype(a.dtype).kind == 'i'",
    "np.zeros(2, dtype=a.dtype) + a[0]", "a.dtype == np.int32", "int == a.dtype", "a.dtype != float",
)  # fmt: skip
OF_MATRICES = (
    "np.linalg.det(a - a[0])", "np.eye(2) @ a[0]", "np.array([[1.5, 2.0], [3, 4]]) @ a", "np.concatenate(a)",
    "np.linalg.det(a[::-1] * [1e-3, 5])", "np.linalg.det(np.stack([a, a.T]))", "getattr(a, 'T')", "a.T @ a", "a @ a[0]",
    "a[0] @ a",
)  # fmt: skip
PROGRAMS = (
    (
        "try:\n    m = a + np.histogram(b, [50, 60], density=True)[0][0]\n"
        "except ZeroDivisionError:\n    m = 7.0\nreturn m",
        N,
        A,
    ),
    ("d = np.zeros(3)\nfor i in range(a):\n    d[i] = i * 2\nreturn d", N),
    ("d = np.zeros(3)\ne = d\nd[0] = a\nreturn e", N),
    ("d = np.zeros((2, 2))\nr = d[0]\nd[0, 0] = a\nreturn d", N),
    ("d = np.arange(3)\nd[1] = a\nreturn d.sum()", N),
    ("d = np.zeros(4)\nd[:2] = b[:2]\nd[a] += 1\nreturn d", N, A),
    ("d = np.ones(3, dtype=int)\nd[a] = 7\nreturn d * 2", N),
    ("k = 0\nwhile k < a: k += 1\nreturn np.sqrt(k) + np.maximum(k, b)", N, X),
    ("k = 0.0\nwhile k < a: k += 1\nreturn np.array([k, b, 1])", N, X),
    ("return np.array([a, 2.0, 3.0]), np.array([[a, 2.0], [3, a / 2]]), np.array([a, True])", N),
    ("return np.array([(a, 1), (2, 2.5)]), np.array([np.array([a, 2.5]), [1, 2]]), np.linspace(0, a, 3)", N),
)
CASES = [
    *((f"return {expression}", A) for expression in OF_VECTORS),
    *((f"return {expression}", INTS) for expression in OF_VECTORS if "a[0]" not in expression),
    *((f"return {expression}", INTS) for expression in OF_INTEGERS),
    *((f"return {expression}", M) for expression in OF_MATRICES),
    *PROGRAMS,
]


def written(body, count):
    lines = "".join(f"    {line}\n" for line in body.split("\n"))
    return f"@ab.autobatch\ndef f({', '.join('abc'[:count])}):\n{lines}"


def member(value):
    return np.array(value) if np.ndim(value) else value.item()


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case[0]}-{case[1].dtype}".replace("\n", "; "))
def test_as_in_numpy(case):
    body, *args = case
    text = written(body, len(args))
    expected = [outcome(plain(text)["f"], *(member(arg[z]) for arg in args)) for z in range(2)]
    assert not any(isinstance(value, Exception) for value in expected)
    assert compare(batched(text)["f"].options(**INTERPRETED), tuple(args), expected) == "agreed"


@pytest.mark.compiles
def test_compiled():
    text = written("d = np.zeros(3)\nd[1] = a.sum()\nreturn np.sort(d + a), np.linalg.norm(a), a @ d", 1)
    expected = [plain(text)["f"](np.array(row)) for row in A]
    assert compare(batched(text)["f"], (A,), expected) == "agreed"


@pytest.mark.parametrize("z", ["0", "[1, 0, 2]"])
def test_integers_divided_by_zero_fail(z):
    """NumPy warns, and gives 0."""
    for function in ("floor_divide", "mod", "fmod"):
        text = written(f"return np.{function}(a, {z})", 1)
        with pytest.raises(AutobatchError):
            batched(text)["f"].options(**INTERPRETED)(INTS)


OF_UNKNOWN_SIZE = ("return np.nonzero(d > 1)[0].shape[0]", "return np.where(d > 1)[0].size", "return np.unique(d)")


@pytest.mark.parametrize("body", [*OF_UNKNOWN_SIZE, "r = d[0]\nd[0, 0] = a\nreturn r", "d.sort()\nreturn d"])
def test_what_is_refused(body):
    text = written(f"d = np.zeros((2, 2)) + a\n{body}", 1)
    assert compare(batched(text)["f"].options(**INTERPRETED), (N,), [0, 0]).startswith("refused")
