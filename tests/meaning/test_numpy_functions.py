"""Each of NumPy's functions that members can call, with its options, against NumPy."""

import re

import numpy as np
import pytest

from autobatch.language.numpy import _ALIKE, ATTRIBUTES, METHODS, OF_UNKNOWN_SIZE
from autobatch.language.numpy_own import FUNCTIONS
from tests import modes
from tests.fuzz.running import INTERPRETED, batched, compare, outcome, plain

nan, inf = float("nan"), float("inf")
ARGUMENTS = {
    "vector": np.array([[3.0, 1.0, -2.0, 2.5], [0.0, 0.25, 7.0, -0.0]]),
    "awkward": np.array([[3.0, nan, -2.0, 2.5], [inf, 1.0, 0.0, -inf]]),
    "integers": np.array([[3, 1, -2, 2], [0, 5, 7, 1]]),
    "matrix": np.array([[[4.0, 1.5], [2.0, 3.0]], [[1.0, 5.0], [0.0, 2.0]]]),
    "whole": np.array([[[4, 1], [2, 3]], [[1, -7], [0, 2]]]),
    "float32": np.array([[3.0, 1.0, -2.0, 2.5], [0.1, 0.2, 7.0, 8.0]], np.float32),
    "truth": np.array([[True, False, True, True], [False, False, True, False]]),
}
EXPRESSIONS = {  # for which arguments
    "vector matrix integers float32": """
        np.all(a) | np.any(a > 1) | a.any(axis=0) | a.all(-1) | np.sum(a) | np.prod(a) | np.mean(a) | np.std(a) |
        np.var(a) | np.sum(a, axis=-1, keepdims=True) | a.mean(axis=0) | np.std(a, axis=0) | np.var(a, ddof=1) |
        a.std(ddof=1) | np.var(a, axis=0, ddof=1, keepdims=True) | a.var(0) | np.cumsum(a) | a.cumsum(0) |
        np.cumprod(a, axis=-1) | a.cumprod() | np.diff(a) | np.diff(a, n=2, axis=0) | np.sum(a, dtype=float) |
        np.mean(a, dtype=np.float32) | a.prod(axis=-1) | np.sum(a, where=a > 1) | np.sum(a, initial=5) |
        np.prod(a, where=a > 1, initial=2) | np.mean(a, where=a > 0) | np.max(a, initial=2) |
        np.max(a, where=a > 1, initial=0) | np.min(a, where=a > 1, initial=9) | a.min(axis=0) |
        np.any(a > 1, where=a < 3) | np.all(a > 1, where=a > 0) | np.amax(a) | np.amin(a, axis=-1) |
        a.max(initial=2.5) | np.argmax(a, axis=0) | np.argmin(a, axis=-1, keepdims=True) | a.argmax(-1) |
        np.argmax(a, keepdims=True) | np.ptp(a) | np.ptp(a, axis=0) | np.average(a) | np.average(a, axis=0) |
        np.average(a, weights=a + 3, returned=True) | np.sort(a) | np.sort(a, axis=0) | np.sort(a, axis=None) |
        np.argsort(a, kind='stable') | a.argsort(axis=0) | np.median(a, axis=0) |
        np.median(a, axis=-1, keepdims=True) | np.quantile(a, 0.4) | np.quantile(a, [0.1, 1], axis=0) |
        np.percentile(a, [25, 75], keepdims=True) | np.percentile(a, 50, method='midpoint') |
        np.quantile(a, 0.5, method='lower') | np.quantile(a, 0.4, method='nearest') |
        np.quantile(a, 0.7, axis=-1, method='higher', keepdims=True) | np.take(a, -1) | np.take(a, [1, 0], axis=-1) |
        a.take([1, 0, 1]) | np.take(a, 7, mode='clip') | np.take(a, 9, mode='wrap') |
        np.take_along_axis(a, np.argsort(a, axis=-1), -1) | np.repeat(a, 2) | np.repeat(a, 2, axis=0) | a.repeat(2) |
        np.tile(a, (2, 1)) | np.roll(a, 1) | np.roll(a, -1, axis=-1) | np.roll(a, (1, 2), axis=(0, -1)) | np.flip(a) |
        np.flip(a, 0) | np.flipud(a) | np.append(a, 1.5) | np.append(a, a, axis=0) | np.concatenate([a, a], axis=-1) |
        np.stack([a, a], axis=-1) | np.vstack([a, a]) | np.hstack([a, a]) | np.dstack([a, a]) |
        np.column_stack([a, a]) | np.split(a, 2) | np.split(a, 2, axis=-1) | np.array_split(a, 3) | np.hsplit(a, 2) |
        np.expand_dims(a, -1) | np.squeeze(a[None]) | np.squeeze(a[None], axis=0) | a[None].squeeze() |
        np.atleast_1d(a[0]) | np.atleast_2d(a) | np.atleast_3d(a) | np.reshape(a, -1) | np.reshape(a, (2, -1)) |
        np.reshape(a, (2, 2), order='F') | a.reshape(-1, 2) | a.reshape(2, 2, order='F') | np.ravel(a, order='F') |
        a.ravel() | a.flatten('F') | np.swapaxes(a, 0, -1) | a.swapaxes(0, -1) | np.moveaxis(a, 0, -1) |
        np.transpose(a) | a.transpose() | np.broadcast_to(a, (3, *a.shape)) | np.full(3, a[0].sum()) |
        np.full_like(a, 1.5) | np.zeros_like(a) | np.ones_like(a, dtype=float) | np.tril(a) |
        np.empty_like(a) * 0 == 0 | np.triu(a, 1) | np.diag(a) | np.diag(a, -1) | np.diagflat(a) | np.dot(a, 2) |
        a.dot(2) | np.delete(a, 1) | np.delete(a, -1, axis=0) | np.delete(a, [0, 2]) | np.insert(a, 1, 9) |
        np.insert(a, -1, a[0], axis=0) | np.outer(a, a) | np.vdot(a, a) | np.kron(a, a) | np.tensordot(a, a, axes=0) |
        np.einsum('i...->...', a) | np.count_nonzero(a) | np.count_nonzero(a > 1, axis=0) |
        np.select([a > 2, a > 1], [a * 2, 1], 9) | np.copy(a) | np.where(a > 1, a, 0.5) | np.where(a[0] > 1, a, 0) |
        np.where(a > 1, 1, 0) | np.meshgrid(a, [1, 2], indexing='ij') | np.pad(a, 1) |
        np.pad(a, 1, constant_values=7) | np.pad(a, 1, mode='edge') | np.pad(a, 1, 'reflect') |
        np.pad(a, 2, 'symmetric') | np.pad(a, 1, mode='wrap') | np.linspace(0, a, 3) |
        np.logspace(0, a[0], 3, base=2) | np.linspace(a[0], a[1], 3, endpoint=False) |
        np.linspace(0, a.sum(), 5, retstep=True) | np.logspace(0, 1, 3) * a[0] | np.round(a, 1) | np.round(a, -1) |
        np.around(a * 1.05, 1) | np.rint(a) | np.fix(a) | np.trunc(a) | np.floor(a) | np.ceil(a) |
        np.clip(a, 0.5, 2) | a.clip(0) | np.abs(a) | np.fabs(a) | np.sign(a) | np.square(a) | np.cbrt(a) |
        np.sqrt(a) | np.negative(a) | np.positive(a) | np.exp(a) | np.exp2(a) | np.expm1(a) | np.log(a) |
        np.log1p(a) | np.log2(a) | np.log10(a) | np.sin(a) | np.cos(a) | np.tan(a) | np.sinh(a) | np.cosh(a) |
        np.tanh(a) | np.arcsinh(a) | np.arctan(a) | np.arccos(a / 8) | np.arcsin(a / 8) | np.arctanh(a / 8) |
        np.arccosh(abs(a) + 1) | np.sinc(a) | np.deg2rad(a) | np.rad2deg(a) | np.radians(a) | np.degrees(a) |
        np.arctan2(a, 2) | np.hypot(a, 3) | np.logaddexp(a, 1) | np.logaddexp2(a, 1) | np.float_power(abs(a), 2) |
        np.power(a, 2) | np.divmod(a, 3) | np.mod(a, 3) | np.remainder(a, 3) | np.fmod(a, -3) |
        np.floor_divide(a, 2) | np.divide(a, 2) | np.multiply(a, 3) | np.subtract(1, a) | np.add(a, 0.5) |
        np.copysign(a, -1) | np.modf(a) | np.heaviside(a, 1) | np.maximum(a, 1) | np.minimum(a, 1) | np.fmax(a, 1) |
        np.fmin(a, 1) | np.equal(a, 1) | np.logical_and(a, 1) | np.logical_or(a, 0) | np.logical_xor(a, 1) |
        np.logical_not(a) | np.not_equal(a, 1) | np.less(a, 2) | np.less_equal(a, 1) | np.greater(a, 1) |
        np.greater_equal(a, 1) | np.array_equal(a, a[::-1]) | np.array_equiv(a, a[:1]) | np.isreal(a) |
        np.iscomplex(a) | np.isscalar(a) | np.real(a) | np.imag(a) | np.conj(a) | a.conj() | a.real | np.shape(a)[0] |
        np.ndim(a) | np.size(a) | np.size(a, 0) | a.size | a.itemsize | a.nbytes | a.T | np.isnan(a) |
        np.isfinite(a) | np.isinf(a) | np.isposinf(a) | np.isneginf(a) | np.isclose(a, 1) | np.allclose(a, a) |
        np.signbit(a) | np.angle(a) | np.nan_to_num(a) | np.interp(a, [0, 1, 2], [5, 6, 9]) |
        np.interp(a, [0, 1, 2], [5, 6, 9], left=-1, right=99) | np.searchsorted([0, 1, 2], a) | np.isin(a, [1, 2]) |
        np.isin(2, a, invert=True) | np.digitize(a, [0, 1, 2], right=True) | np.digitize(a, [2, 1, 0]) |
        np.histogram(a, bins=3) | np.histogram(a, [0, 1, 2, 5]) | np.histogram(a, 4, (0, 4), density=True) |
        np.histogram(a, 2, weights=abs(a)) | np.gradient(a) | np.gradient(a, 0.5, axis=-1) | np.cov(a) |
        np.cov(a, bias=True) | np.corrcoef(a, a[::-1]) | np.cov(a, a[::-1], rowvar=False) | np.polyval([1, 2, 3], a) |
        np.polyval(a, 2) | np.trapezoid(a, axis=0) | np.array([a, a]) | np.asanyarray(a) | np.ascontiguousarray(a) |
        np.asarray(a) | np.linalg.norm(a) |
        np.linalg.norm(a, np.inf) | np.linalg.norm(a, axis=0) | np.linalg.norm(a, axis=-1, keepdims=True) |
        np.linalg.norm(a, 1) | np.linalg.norm(a, 2) | 1 in a | 9.0 in a | a[[1, 0]] | a[np.array([1, 0])] |
        a[[True, False, *[False] * (len(a) - 2)]] | a.item(1) | a.item(-1) | isinstance(a.shape, tuple) |
        a.dtype.kind == 'f' | a.dtype.itemsize | a[np.argsort(a.ravel())[:1] % 2] | a.copy() | a.astype(int) |
        np.broadcast_arrays(a, 1) | a.tolist()[0] | a.sum(where=a > 1)
    """,
    "vector integers float32": """
        np.average(a, weights=[1, 2, 3, 4]) | np.inner(a, a) | np.matmul(a, a) | np.cross(a[:3], a[1:]) |
        np.cross(a[:2], a[2:]) | np.take_along_axis(a, np.array([1, -1]), 0) | np.repeat(a, [1, 2, 0, 1]) |
        np.vander(a) | np.vander(a, 3, increasing=True) | np.searchsorted(np.sort(a), [1, 2], side='right') |
        a.searchsorted(2) | np.interp(1.5, np.sort(a), a) | np.convolve(a, [1, 2]) |
        np.convolve(a, [1, 2, 3], 'same') | np.convolve(a, [1, 2], 'valid') | np.convolve([1, 2], a) |
        np.correlate(a, [1, 2]) | np.correlate(a, [1, 2, 5], 'same') | np.correlate([1, 2], a, 'full') |
        np.correlate([1.0, 2], a, 'same') | np.gradient(a, [0, 1, 3, 4]) | np.trapezoid(a, [0, 1, 3, 4]) |
        np.split(a, [1, 3]) | np.pad(a, (1, 2)) | np.linalg.norm(a, 3) | np.linalg.norm(a, 0) |
        np.linalg.norm(a, -np.inf) | np.linalg.outer(a, a) | a[[2, 0, 1]] | a[np.argsort(a)] | a[[[0, 1], [2, -1]]] |
        np.delete(a, np.argmax(a)) | np.insert(a, np.argmin(a), a[0]) | np.roll(a, np.argmax(a))
    """,
    "matrix whole": """
        np.fliplr(a) | np.rot90(a) | np.rot90(a, 3) | np.vsplit(a, 2) | np.trace(a) | np.trace(a, offset=1) |
        a.trace() | a @ a | np.diagonal(a) | a.diagonal() | np.einsum('ij,jk->ik', a, a) | np.einsum('ii', a) |
        np.average(a, axis=0, weights=[1, 3]) | np.matmul(a, a) | np.inner(a, a) | a.dot(a) |
        np.transpose(a, (1, 0)) | np.average(a, axis=1, weights=a + 9) | np.pad(a, ((1, 0), (0, 1))) |
        np.linalg.matrix_power(a, 3) | np.linalg.matrix_power(a, 0) | np.linalg.matrix_power(a, -1) |
        np.linalg.slogdet(a) | np.linalg.matrix_rank(a) | np.linalg.cond(a) | np.linalg.cond(a, 1) |
        np.linalg.pinv(a) | np.linalg.svd(a)[1] | np.linalg.svd(a, compute_uv=False) | abs(np.linalg.qr(a)[1]) |
        abs(np.linalg.qr(a, 'r')) | np.linalg.eigvalsh(a + a.T) | np.linalg.eigh(a + a.T)[0] | np.linalg.solve(a, a) |
        np.linalg.solve(a, a[0]) | np.linalg.inv(a) | np.linalg.multi_dot([a, a, a]) | np.linalg.norm(a, 'nuc') |
        np.linalg.norm(a, -2) | np.linalg.norm(a, 'fro', keepdims=True) | np.linalg.det(a) |
        np.linalg.cholesky(a @ a.T) | a[[1, 0], [0, 1]] | a[[0, 1], :] | a[:, [1, 0]] | a[[0, -1]] |
        a[np.ix_([1], [0, 1])] | (lambda u, s, v: u * s @ v)(*np.linalg.svd(a)) |
        (lambda q, r: q @ r)(*np.linalg.qr(a))
    """,
    "integers": """
        np.bitwise_and(a, 6) | np.bitwise_or(a, 1) | np.bitwise_xor(a, 5) | np.invert(a) | np.left_shift(a, 1) |
        np.right_shift(a, 1) | np.bincount(abs(a), minlength=9) | np.bincount(abs(a), [0.5, 1, 2, 3], minlength=9) |
        np.reciprocal(a + 0.5)
    """,
    "awkward": """
        np.nansum(a) | np.nanmean(a) | np.nanprod(a) | np.nanmax(a) | np.nanmin(a) | np.nanstd(a[:3]) |
        np.nanvar(a[:3], ddof=1) | np.quantile(a, 0.4) | np.median(a) | np.linspace(0, a, 3) | np.fmax(a, 1) |
        np.fmin(1, a) | np.nan_to_num(a) | np.nan_to_num(a, nan=5.0, posinf=1.0, neginf=0.0) |
        np.polyval([1, 2, 3], a) | np.searchsorted(np.sort(a), a) | np.sort(a) | np.modf(a) | np.copysign(1, a) |
        np.max(a, initial=2) | np.interp(a, [0, 1, 2], [5, 6, 9]) | np.isin(a, [np.nan, np.inf])
    """,
    "truth": """
        np.sum(a) | np.cumsum(a) | np.any(a) | np.all(a, axis=0) | a.mean() | np.count_nonzero(a) |
        np.logical_not(a) | ~a | np.sort(a) | np.argsort(a) | np.where(a, 1, 2) | np.argmax(a) | np.max(a) |
        np.roll(a, 1) | np.append(a, 2)
    """,
}


def _expressions(text):
    return [each.strip() for each in text.strip().split(" |")]


def _chunks():
    """Some expressions at a time, with one of their arguments after the other, or with all."""
    every, k = modes.EVERY, 0
    for names, text in EXPRESSIONS.items():
        expressions = _expressions(text)
        for i in range(0, len(expressions), 12):
            for name in names.split() if every else [names.split()[k % len(names.split())]]:
                yield pytest.param(expressions[i : i + 12], name, id=f"{name}: {expressions[i]}")
            k += 1


CASES = [*_chunks()]


def written(expressions):
    return f"@ab.autobatch\ndef f(a):\n    return {', '.join(expressions)},\n"


def raises(expression, rows):
    results = [outcome(plain(written([expression]))["f"], np.array(row)) for row in rows]
    return any(isinstance(each, Exception) for each in results)


@pytest.mark.parametrize(("expressions", "name"), CASES)
def test_as_in_numpy(expressions, name):
    rows = ARGUMENTS[name]
    text = written([each for each in expressions if not raises(each, rows)])
    expected = [outcome(plain(text)["f"], np.array(row)) for row in rows]
    assert compare(batched(text)["f"].options(**INTERPRETED), (rows,), expected) == "agreed"


def test_all_are_compared():
    text = " ".join(EXPRESSIONS.values())
    named = {*re.findall(r"np\.((?:linalg\.)?\w+)", text)} | {*re.findall(r"\.(\w+)", text)}
    named |= {"absolute", "conjugate"}  # abs, conj
    functions = {function.__name__ for function in (*_ALIKE, *FUNCTIONS)} | {*METHODS, *ATTRIBUTES}
    refused = {"sort", "fill", "resize", "partition"}  # methods, which would change the array
    of_numbers = {"bit_length"}
    since_numpy_2 = {"svdvals", "matrix_transpose"}
    assert functions - named - refused - of_numbers - since_numpy_2 == set()
    assert {function for function in (*_ALIKE, *FUNCTIONS) if function.__name__ in OF_UNKNOWN_SIZE} == set()


@pytest.mark.parametrize(
    "expression",
    [
        "np.take(a, 7)", "np.take(a, -9)", "np.take_along_axis(a, np.array([9]), 0)", "np.insert(a, 9, 1.0)",
        "np.linalg.inv(np.outer(a, a))", "np.linalg.solve(np.outer(a, a), a)", "np.quantile(a, a[0] + 2)",
        "np.linalg.cholesky(-np.outer(a, a))", "np.average(a, weights=a - a)",
        "np.bincount(abs(a.astype(int)), minlength=1)",
        "a[[0, 9]]", "a[np.argsort(a) + 3]", "np.unique(a)", "a[a > 1]", "np.geomspace(1, a[0], 3)", "np.ptp(a > 1)",
    ],
)  # fmt: skip
def test_no_value_where_numpy_raises_or_members_differ_in_length(expression):
    function = batched(written([expression]))["f"].options(**INTERPRETED)
    compare(function, (ARGUMENTS["vector"],), [ValueError()] * 2)


def test_what_is_no_number_stays_so():
    """A matrix is not singular for it."""
    text = written(["np.linalg.solve(np.eye(2) + 1, a)"])
    rows = np.array([[np.nan, 1.0], [2.0, 3.0]])
    expected = [plain(text)["f"](row) for row in rows]
    assert compare(batched(text)["f"].options(**INTERPRETED), (rows,), expected) == "agreed"


WRITES = (
    "a[[0, 2]] = 9.0", "a[a > 1] = 0", "a[a > 1] = a[0]", "a[np.array([2, 0])] = a[:2]", "a[[0, 0]] = [1, 2]",
    "a[np.argsort(a, kind='stable')] = np.arange(4)", "a[np.array([1, 1]) * (a[0] > 0)] = [5.0, 6.0]", "m[[0, 1]] = 1",
    "m[m > 3] = -1", "m[:, [0, 1]] = m[:, [1, 0]]", "m[a > 1] = 7", "m[a > 1] = a",
    "m[[0, 1], [1, 2]] += 5", "y = a[[0, 1]]; y[0] = 9",
    "m[np.ix_([0, 1], [0, 2])] = 4", "m[np.argmax(a), [0, 1]] = a[:2]", "a[[0, 1]] *= 2",
)  # fmt: skip


@pytest.mark.parametrize("write", WRITES)
def test_items_are_replaced(write):
    text = f"@ab.autobatch\ndef f(a):\n    m = np.outer(a, a)\n    {write}\n    return a, m\n"
    rows = ARGUMENTS["vector"]
    expected = [plain(text)["f"](np.array(row)) for row in rows]
    assert compare(batched(text)["f"].options(**INTERPRETED), (rows,), expected) == "agreed"


@pytest.mark.compiles
def test_compiled():
    rows = ARGUMENTS["awkward"]
    text = written([each for each in _expressions(EXPRESSIONS["awkward"]) if "sort" not in each])
    with np.errstate(all="ignore"):
        expected = [plain(text)["f"](np.array(row)) for row in rows]
    assert compare(batched(text)["f"], (rows,), expected) == "agreed"
    body = "; ".join(["m = np.outer(a, a)", *WRITES, "return a, m, np.roll(m, 1, axis=-1)"])
    text = f"@ab.autobatch\ndef f(a):\n    {body}\n"
    rows = ARGUMENTS["vector"]
    expected = [plain(text)["f"](np.array(row)) for row in rows]
    assert compare(batched(text)["f"], (rows,), expected) == "agreed"
