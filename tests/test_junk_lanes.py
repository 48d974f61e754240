"""What a member does not reach cannot fail for it: idle lanes compute, if at all, on harmless data."""

import numpy as np
import pytest
import tensorflow as tf

import autobatch as ab
from tests.backends import BACKENDS, assert_same

CASES = {}


def case(*args):
    def register(function):
        CASES[function.__name__] = ab.autobatch(function), args
        return function

    return register


@case(tf.constant([7, 8, 9]), tf.constant([2, 0, 3]))
def integer_division(a, b):
    total = 0
    while a > 0:
        if b != 0:
            total += a // b + a % b
        a -= 3
    return total


@case(tf.constant([3, 0, 1]))
def division_by_what_was_counted_down(n):
    result = 0
    while n > 0:
        result += 12 // n
        n -= 1
    return result


@case(tf.constant([[[2.0, 0.5], [0.5, 1.0]], [[0.0, 1.0], [1.0, 0.0]], [[4.0, 0.0], [0.0, 9.0]]]))
def cholesky(a):
    steps = 0
    while a[0, 0] * a[1, 1] - a[0, 1] * a[1, 0] > 0.5:
        factor = tf.linalg.cholesky(a)
        a = a - 0.5 * tf.linalg.matmul(factor, tf.transpose(factor)) * tf.eye(2)
        steps += 1
    return a, steps


@case(tf.constant([[1, 2, 3], [4, 5, 6], [7, 8, 9]]), tf.constant([0, 2, 5]))
def gather(x, i):
    total = 0
    while i < 3:
        total += x[i] + tf.gather(x, i)
        i += 1
    return total


@case(tf.constant([[1, 2, 3], [4, 5, 6], [7, 8, 9]]), tf.constant([0, 2, 5]))
def scatter(x, i):
    while i < 3:
        x[i] = x[i] * 10
        i += 1
    return x


@case(tf.constant([4.0, -1.0, 0.0]))
def nan_and_inf(x):
    y = 0.0
    if x > 0:
        y = tf.math.log(x) + 1.0 / x
    elif x < 0:
        y = tf.sqrt(-x)
    while y > 0.5:
        y = y - 1.0 / y
    return y


@case(tf.constant([1.0, float("nan"), float("inf"), -2.0]))
def one_members_nan_is_its_own(x):
    total = x
    for _ in range(3):
        if total < 10.0:
            total = total + 1.0
    return total


@case(tf.constant([5, 0, 2]))
def recursion_over_a_shrinking_divisor(n):
    return 1 if n == 0 else 10 // n + _again(n - 1)


@ab.autobatch
def _again(n):
    return 1 if n == 0 else 10 // n + _again(n - 1)


@case(tf.constant([2, 1, 0]), tf.constant([[1.0, 2.0, 3.0]] * 3))
def checked_only_where_reached(i, x):
    while i > 0:
        assert x[i] > 0.0, f"item {i}"
        i -= 1
    return i


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("name", CASES)
def test_idle_lanes_do_no_harm(name, backend):
    function, args = CASES[name]
    expected = function.options(backend="unbatched")(*args)
    assert_same(function.options(**BACKENDS[backend])(*args), expected)


def test_a_failure_leaves_the_others_results():
    @ab.autobatch
    def root(x):
        assert x >= 0.0, f"{x} is negative"
        return tf.sqrt(x)

    for backend in BACKENDS.values():
        with pytest.raises(ab.errors.MemberAssertionError, match="-1.0 is negative") as caught:
            root.options(**backend)(tf.constant([4.0, -1.0, 9.0]))
        assert caught.value.members == (1,)
        np.testing.assert_allclose(np.asarray(caught.value.results)[[0, 2]], [2.0, 3.0])
