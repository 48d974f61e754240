"""Floats of one member, to the last bit: what compilers would fold, fuse or reorder."""

import numpy as np
import pytest

import autobatch as ab
from tests.meaning.test_meaning import MODES


def terms(a, b, c, d):
    folded = (a + 0.1) + 0.2, a * 0.1 * 0.3, a / 0.7 / 0.3, (a - 0.1) - 0.2, 0.1 + (0.2 + a), 1 - a - b - 1
    fused = a * b + c * d, a * b - c, c - a * b, a * a - b * b * 0.5, (a * b) ** 2 - a * b
    others = a + b + c + d, a - b - c + d, a * b * c * d, a / b / c, a * 3.0 / 7.0, 2.0 * (a * 0.1), a / 49
    return folded, fused, others


def to_digits(x):
    y = float(x)
    return round(y, 0), round(y, 1), round(y, 2), round(y, 5), round(y, 12), round(y, -1), round(y, -3)


@pytest.mark.parametrize("mode", ["local_static", pytest.param("program_counter", marks=pytest.mark.compiles)])
def test_operators(mode):
    rng = np.random.default_rng(0)
    args = rng.normal(size=(4, 5000)) * 10.0 ** rng.integers(-3, 3, (4, 5000))
    found = ab.autobatch(terms, **MODES[mode])(*args)
    for ours, python in zip(found, terms(*args), strict=True):
        for k, (value, expected) in enumerate(zip(ours, python, strict=True)):
            np.testing.assert_array_equal(value, expected, err_msg=str(k))


@pytest.mark.parametrize("mode", ["local_static", pytest.param("program_counter", marks=pytest.mark.compiles)])
def test_round(mode):
    rng = np.random.default_rng(0)
    near_halves = (rng.integers(-(10**6), 10**6, (3, 2000)) / np.array([[1e3], [128], [1e5]])).ravel() + 0.0005
    x = np.concatenate([near_halves, rng.normal(size=4000) * 10.0 ** rng.integers(-5, 3, 4000)])
    found = ab.autobatch(to_digits, **MODES[mode])(x)
    for value, expected in zip(found, zip(*map(to_digits, x), strict=True), strict=True):
        np.testing.assert_array_equal(value, expected)
