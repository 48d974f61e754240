"""NumPy's functions and methods for members, against NumPy."""

import numpy as np
import pytest

from autobatch.errors import AutobatchError
from tests.fuzz.running import INTERPRETED, batched, compare, outcome, plain

A = np.array([[1.0, 2.0, 3.0], [-4.0, 5.0, 0.5]])
INTS = np.array([[1, 2, 3], [4, -5, 6]], np.int32)
M = np.arange(8.0).reshape(2, 2, 2) + np.eye(2)
N, X = np.array([2, 1]), np.array([0.5, 2.0])

OF_VECTORS = (
    "np.sqrt(np.abs(a))", "np.sum(a)", "a.sum()", "a.mean()", "a.max()", "a.T", "a.size", "a.copy()", "np.dot(a, a)",
    "a.dot(a)", "a @ a", "np.linalg.norm(a)", "np.array([a[0], a[1] * 2, 1.0])", "np.where(a > 0, a, 0.0)",
    "np.maximum(a, 0)", "np.exp(a).sum()", "a.astype(int)", "a.reshape(3, 1)", "a.argmax()", "np.argsort(a)",
    "np.sort(a)", "np.cumsum(a)", "np.clip(a, 0, 1)", "a.tolist()[1]", "a.std()", "np.mean(a) + np.var(a)",
    "np.concatenate([a, a])", "np.stack([a, a])", "np.zeros(3) + a", "np.float64(a[0])", "np.int64(a[0])",
    "np.outer(a, a)", "np.zeros_like(a)", "np.allclose(a, a)", "np.all(a > 0)", "(a > 0).any()", "a.round()",
    "np.prod(a)", "a[::-1].copy()", "[np.sin(v) for v in a]", "(lambda v: np.cos(v))(a)", "np.add(a, 1)",
    "np.power(a, 2)", "np.pi * a", "a.shape[0] + a[0]", "a.ndim + a[0]", "np.round(a / 3, 2)", "np.minimum(a, 1.5)",
    "np.around(a / 3, 1)", "np.median(a)", "np.trapezoid(a)", "np.trapezoid(a, dx=0.5)", "np.trunc(a / 2)",
    "np.radians(a)", "np.degrees(a)", "np.fmod(a, 1.5)", "np.trapezoid(a, [0.0, 1.0, 3.0])", "np.median([a[0], 2])",
)  # fmt: skip
AWKWARD = np.array([[3.0, np.nan, -1.5, 2.5], [np.inf, 0.0, -0.0, -np.inf], [np.nan, np.inf, 2.0, 2.0]])
OF_AWKWARD = (
    "np.max(a)", "np.min(a)", "a.max()", "a.min()", "np.argmax(a)", "a.argmin()", "np.ptp(a)", "np.clip(a, 0, 2)",
    "a.clip(0, 2)", "np.maximum(1.0, a)", "np.minimum(a[::-1], a)", "np.heaviside(a, 0.5)", "np.sort(a)",
    "np.argsort(a)", "np.isclose(a, a)", "np.isclose(a, a, equal_nan=True)", "np.allclose(a, a)", "np.signbit(a)",
    "np.isinf(a)", "np.isposinf(a)", "np.max(a.reshape(2, 2), axis=0)", "np.argmin(a.reshape(2, 2), axis=1)",
    "a.reshape(2, 2).min(axis=-1, keepdims=True)", "np.median(a)", "np.angle(a)", "a.dtype == float",
    "a.dtype == np.float64", "float == a.dtype", "a.dtype != int",
)  # fmt: skip
OF_INTEGERS = (
    "np.isinf(a)", "np.fmod(a, 3)", "np.floor_divide(a, 2)", "np.mod(a, -3)", "np.power(a, [0, 1, 2])",
    "a.dtype == int", "np.argsort(-a)", "np.dtype(a.dtype).kind == 'i'", "np.zeros(2, dtype=a.dtype) + a[0]",
)  # fmt: skip
OF_MATRICES = (
    "np.linalg.norm(a, 1)", "np.linalg.norm(a, -1)", "np.linalg.norm(a, np.inf)", "np.linalg.norm(a, 'fro')",
    "np.linalg.det(a - a[0])", "np.eye(2) @ a[0]", "np.array([[1.5, 2.0], [3, 4]]) @ a", "np.concatenate(a)",
    "np.linalg.det(a[::-1] * [1e-3, 5])", "np.linalg.det(np.stack([a, a.T]))", "np.clip(a, None, 0.5)", "a.clip(min=1)",
    "np.ptp(a, axis=0)", "np.max(a, axis=1, keepdims=True)", "getattr(a, 'T')",
    "np.linalg.det(a)", "np.linalg.inv(a)", "np.linalg.solve(a, a[0])", "a.trace()", "a @ a", "a.T @ a", "a @ a[0]",
    "np.trace(a)", "a.sum(axis=0)", "np.matmul(a, a)", "a.flatten()", "a.ravel()", "np.diag(a)", "np.transpose(a)",
    "np.linalg.norm(a)", "a[0] @ a", "np.linalg.eigvalsh(a + a.T)",
)  # fmt: skip
PROGRAMS = (
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
    *((f"return {expression}", AWKWARD) for expression in OF_AWKWARD),
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
    awkward = [each for each in OF_AWKWARD if "sort" not in each]  # zeros of both signs are sorted anyhow
    text = written(f"return ({', '.join(awkward)})", 1)  # XLA's reductions take others than nan
    with np.errstate(invalid="ignore"):
        expected = [plain(text)["f"](np.array(row)) for row in AWKWARD]
    assert compare(batched(text)["f"], (AWKWARD,), expected) == "agreed"


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
