"""Floats of one member, to the last bit: what compilers would fold, fuse or reorder."""

import numpy as np
import pytest

import autobatch as ab
from tests.meaning.test_meaning import MODES


def terms(a, b, c, d):
    folded = (a + 0.1) + 0.2, a * 0.1 * 0.3, a / 0.7 / 0.3, (a - 0.1) - 0.2, 0.1 + (0.2 + a), 1 - a - b - 1
    fused = a * b + c * d, a * b - c, c - a * b, a * a - b * b * 0.5, (a * b) ** 2 - a * b
    negated = -(a * b) + c, a + -(b * c), -(a * b) - c, a - -(b * c)
    others = a + b + c + d, a - b - c + d, a * b * c * d, a / b / c, a * 3.0 / 7.0, 2.0 * (a * 0.1), a / 49
    return folded, fused, others, negated


def of_few(a, b, c):
    d, e = a * b + c, (a + 0.1) + 0.2
    chosen = (a * b if c > 0 else b * c) + a, d - (-(a * b) if c > 0 else a * c)
    if b < c:
        c = ((a + c) * a - b) / 7.0
    return c, d, e, a / 3.0 / 7.0, *chosen


def divided_by_zero(a):
    return a / 0.0, -a / 0.0, 1.0 / (a * 0.0)


def to_digits(x):
    y = float(x)
    return round(y, 0), round(y, 1), round(y, 2), round(y, 5), round(y, 12), round(y, -1), round(y, -3)


@pytest.mark.parametrize("mode", ["local_static", pytest.param("program_counter", marks=pytest.mark.compiles)])
def test_operators(mode, optimized):
    rng = np.random.default_rng(0)
    args = rng.normal(size=(4, 5000)) * 10.0 ** rng.integers(-3, 3, (4, 5000))
    found = ab.autobatch(terms, **MODES[mode])(*args)
    for ours, python in zip(found, terms(*args), strict=True):
        for k, (value, expected) in enumerate(zip(ours, python, strict=True)):
            np.testing.assert_array_equal(value, expected, err_msg=str(k))


@pytest.mark.parametrize("mode", ["local_static", pytest.param("program_counter", marks=pytest.mark.compiles)])
def test_round(mode, optimized):
    rng = np.random.default_rng(0)
    near_halves = (rng.integers(-(10**6), 10**6, (3, 2000)) / np.array([[1e3], [128], [1e5]])).ravel() + 0.0005
    x = np.concatenate([near_halves, rng.normal(size=4000) * 10.0 ** rng.integers(-5, 3, 4000)])
    found = ab.autobatch(to_digits, **MODES[mode])(x)
    for value, expected in zip(found, zip(*map(to_digits, x), strict=True), strict=True):
        np.testing.assert_array_equal(value, expected)


@pytest.mark.parametrize(
    "mode",
    ["local_static", *(pytest.param(m, marks=pytest.mark.compiles) for m in ("program_counter", "local_static_xla"))],
)
def test_single_members_and_some(mode, optimized):
    """Of a single one compilers know more."""
    rng = np.random.default_rng(0)
    modes = {**MODES, "local_static_xla": {"backend": "local_static", "jit_compile": True}}
    function = ab.autobatch(of_few, **modes[mode])
    for args in rng.normal(size=(60, 3)).tolist():
        found = function(*(np.array([each]) for each in args))
        assert [float(each[0]) for each in found] == list(of_few(*args))
    columns = rng.normal(size=(3, 61))
    together = np.stack(function(*columns), axis=1)
    np.testing.assert_array_equal(together, [of_few(*args) for args in columns.T.tolist()])


@pytest.mark.parametrize("mode", MODES)
def test_known_zeros_keep_their_sign(mode, optimized):
    a = np.array([1.0, -2.0])
    with np.errstate(divide="ignore"):
        expected = divided_by_zero(a)
    for found, each in zip(ab.autobatch(divided_by_zero, **MODES[mode])(a), expected, strict=True):
        np.testing.assert_array_equal(found, each)


def negated(a, b):
    return not a < b, 1 if not a >= b else 2, not (a > b or a <= b), not a == b


@pytest.mark.parametrize("mode", MODES)
def test_what_is_not_so_of_nan(mode, optimized):
    a, b = np.array([np.nan, 1.0, 2.0, 1.0]), np.array([1.0, np.nan, 1.0, 2.0])
    found = np.stack([np.asarray(each) for each in ab.autobatch(negated, **MODES[mode])(a, b)], axis=1)
    np.testing.assert_array_equal(found, [negated(x, y) for x, y in zip(a.tolist(), b.tolist(), strict=True)])
