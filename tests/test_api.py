"""The public face: stages, options, contexts in which a call may stand."""

import enum

import numpy as np
import pytest
import tensorflow as tf

import autobatch as ab
from autobatch.errors import BatchShapeError, TypeMismatchError
from tests.backends import BACKENDS
from tests.programs import PROGRAMS

fibonacci, (N,) = PROGRAMS["fibonacci"]
collatz, (C,) = PROGRAMS["collatz"]


def test_unbatched_is_plain_python():
    assert fibonacci.unbatched(7) == 21
    sort, (x,) = PROGRAMS["bubble_sort"]
    assert sort.unbatched(x[0]).numpy().tolist() == [0, 1, 2, 3, 5]


def test_unbatched_leaves_the_callers_array_alone():
    @ab.autobatch
    def marked(x):
        y = x
        y[0] = 99
        return x, y

    x = np.array([1, 2])
    assert [part.numpy().tolist() for part in marked.unbatched(x)] == [[99, 2], [99, 2]]
    assert x.tolist() == [1, 2]


def test_wraps_the_function():
    assert fibonacci.__name__ == "fibonacci"
    assert repr(fibonacci) == "<autobatched fibonacci>"


def test_stages():
    lowered = fibonacci.lower(N)
    assert "push" in lowered.as_text("stack")
    assert "call fibonacci" in lowered.as_text()
    assert "def fibonacci(n)" in lowered.as_text("source")
    assert "  n: int32[]\n" in lowered.as_text("types")
    assert "lowered for a batch of 6" in repr(lowered)
    assert "stablehlo.while" in lowered.as_text("stablehlo")
    assert lowered.to_dot().startswith("digraph {")
    np.testing.assert_array_equal(lowered.compile()(N), fibonacci(N))
    with pytest.raises(ValueError, match="stage must be"):
        lowered.as_text("hlo")


@pytest.mark.parametrize("jit", [False, True])
def test_inside_a_tf_function(jit):
    f = tf.function(lambda n: fibonacci.options(max_depth=20)(n) + 1, jit_compile=jit, autograph=False)
    np.testing.assert_array_equal(f(N), fibonacci(N) + 1)
    g = tf.function(collatz, jit_compile=jit, autograph=False)
    np.testing.assert_array_equal(g(C), collatz(C))


def test_a_default_that_is_passed_is_a_default():
    """``tf.function`` passes them all."""

    @ab.autobatch
    def scaled(x, by=2, shift=None):
        return x * by if shift is None else x * by + shift

    x = tf.constant([1.0, 2.0])
    for function in (scaled, tf.function(scaled, autograph=False), scaled.options(in_axes=(0,))):
        assert function(x, 2).numpy().tolist() == [2.0, 4.0]
        assert function(x, by=2, shift=None).numpy().tolist() == [2.0, 4.0]
    assert tf.function(scaled, autograph=False)(x).numpy().tolist() == [2.0, 4.0]
    assert scaled.options(in_axes=(0, None))(x, 2).numpy().tolist() == [2.0, 4.0]
    for other in (3, 2.0, True):
        with pytest.raises(BatchShapeError, match=f"contains {other!r}"):
            scaled(x, other)


def test_overflow_inside_a_tf_function_is_never_silent():
    @ab.autobatch(max_depth=3, jit_compile=False)
    def total(n):
        return 0.0 if n == 0 else 1.0 + total(n - 1)

    with pytest.raises(tf.errors.InvalidArgumentError, match="max_depth=3"):
        tf.function(total, autograph=False)(tf.constant([2, 9]))
    compiled = tf.function(total.options(jit_compile=True), jit_compile=True, autograph=False)
    assert np.isnan(compiled(tf.constant([2, 9]))).tolist() == [False, True]
    fib = tf.function(fibonacci.options(max_depth=2), jit_compile=True, autograph=False)
    assert fib(tf.constant([3, 8])).numpy().tolist() == [3, tf.int32.min]


def test_stacks_grow():
    total, _ = PROGRAMS["deep_sum"]
    assert total(tf.constant([3, 300])).numpy().tolist() == [6, 45150]


@pytest.mark.parametrize("backend", BACKENDS)
def test_in_axes(backend):
    @ab.autobatch(in_axes=(1, None))
    def weighted(x, w):
        total = 0.0
        for i in range(len(w)):
            if x[i] > 0:
                total += w[i] * x[i]
        return total

    x = tf.constant([[1.0, -1.0, 2.0], [3.0, 4.0, -5.0]])
    result = weighted.options(**BACKENDS[backend])(x, tf.constant([10.0, 1.0]))
    np.testing.assert_allclose(result, [13.0, 4.0, 20.0])


@pytest.mark.parametrize("backend", BACKENDS)
def test_python_numbers_take_the_width_of_the_arguments(backend):
    @ab.autobatch(**BACKENDS[backend])
    def count(x):
        steps, size = 0, 1.0
        while size < x:
            steps, size = steps + 1, size * 2.0
        return steps, size

    assert [r.dtype for r in count(tf.constant([3.0, 9.0]))] == [tf.int32, tf.float32]
    assert [r.dtype for r in count(tf.constant([3.0, 9.0], tf.float64))] == [tf.int64, tf.float64]


def test_numpy_arguments_and_keywords():
    @ab.autobatch
    def scale(x, factor):
        return x * factor

    x = np.array([1.0, 2.0])
    np.testing.assert_array_equal(scale(x, factor=x), [1.0, 4.0])
    np.testing.assert_array_equal(scale(factor=x, x=x), [1.0, 4.0])


def test_a_batch_of_one_and_a_new_batch_size():
    assert fibonacci(tf.constant([9])).numpy().tolist() == [55]
    assert fibonacci(tf.constant([9, 1])).numpy().tolist() == [55, 1]


@pytest.mark.parametrize("backend", BACKENDS)
def test_an_empty_batch(backend):
    assert fibonacci.options(**BACKENDS[backend])(tf.zeros([0], tf.int32)).shape == (0,)


def test_batched_primitive_called_directly_is_itself():
    @ab.primitive(batched=True)
    def center(x):
        return x - tf.reduce_mean(x, axis=1, keepdims=True)

    np.testing.assert_allclose(center(tf.constant([[1.0, 3.0]])), [[-1.0, 1.0]])
    with pytest.raises(ValueError, match="batched=True"):
        ab.primitive(batched=False)


def test_results_that_are_the_same_for_all():
    @ab.autobatch
    def constants(x):
        return 3, None, (x, 2.5), True

    three, none, (x, half), true = constants(tf.constant([1, 2]))
    assert (three.numpy().tolist(), none, half.numpy().tolist()) == ([3, 3], None, [2.5, 2.5])
    assert true.dtype == tf.bool


def test_local_names_shadow_globals():
    @ab.autobatch
    def shadow(N):
        if N > 2:
            N = N * 10
        return N

    assert shadow(tf.constant([1, 5])).numpy().tolist() == [1, 50]


def test_one_members_nan_stays_its_own():
    @ab.autobatch
    def root(x):
        y = tf.sqrt(x)
        while y > 1.5:
            y = tf.sqrt(y)
        return y

    result = root(tf.constant([-1.0, 16.0])).numpy()
    assert np.isnan(result[0])
    assert result[1] == np.sqrt(np.sqrt(np.float32(2.0))) or np.isclose(result[1], 2.0**0.5)


def test_a_second_call_does_not_trace_again():
    traces = []

    @ab.autobatch
    def traced(x):
        y = traces.append(None) or x
        return y + 1

    traced(tf.constant([1, 2]))
    before = len(traces)
    traced(tf.constant([3, 4]))
    assert len(traces) == before


def test_item_assignment_evaluates_once_and_in_pythons_order():
    @ab.autobatch
    def write(x):
        queue = [0, 1, 2]
        x[queue.pop()] = x[queue.pop()] * 100.0
        x[queue.pop()] += 10.0
        i = 0
        x[(i := i + 1)] *= -1.0
        return x, i

    for backend in ({}, {"backend": "unbatched"}):
        x, i = write.options(**backend)(tf.constant([[1.0, 2.0, 3.0]]))
        assert (x.numpy().tolist(), i.numpy().tolist()) == ([[11.0, -300.0, 3.0]], [1])


@ab.autobatch
def in_several_ways(n):
    """Fails for -1, is endless for -2, and nests n calls."""
    assert n != -1
    while n == -2:
        pass
    return 7 if n <= 0 else 1 + in_several_ways(n - 1)


N_WAYS = tf.constant([1, -1, 50, 2])


@pytest.mark.parametrize("way", ["call", "map", "start"])
def test_members_that_fail_in_different_ways_are_all_named(way):
    f = in_several_ways.options(max_depth=6)
    call = {"call": f, "map": lambda n: f.map(n, lanes=2), "start": lambda n: f.start(n).result()}[way]
    with pytest.raises(ab.errors.StackOverflowError, match="Member 2 nested .* failed in other ways") as caught:
        call(N_WAYS)
    assert caught.value.members == (1, 2)
    assert caught.value.results.numpy()[[0, 3]].tolist() == [8, 9]


@pytest.mark.parametrize("limit", [{"deadline": 0.2}, {"max_steps": 500}], ids=str)
def test_a_limit_leaves_a_run_though_a_member_failed(limit):
    with pytest.raises(ab.errors.UnfinishedError, match="did not finish") as caught:
        in_several_ways.options(**limit)(tf.constant([1, -1, -2]))
    assert set(caught.value.members) >= {1, 2}  # on a busy computer 0.2 seconds may be too few for the others
    assert caught.value.run.finished.tolist()[2] is False


class Size(enum.IntEnum):
    SMALL = 1
    LARGE = 2


class Side(enum.Enum):
    LEFT = 1
    RIGHT = 2


def test_texts_of_the_unbatched_backend():
    @ab.autobatch(backend="unbatched")
    def f(n):
        return "many" if n > 2 else "few", "same", Size.LARGE if n > 2 else Size.SMALL

    words, same, sizes = f(tf.constant([1, 5]))
    assert words.numpy().tolist() == [b"few", b"many"]
    assert same.numpy().tolist() == [b"same", b"same"]
    assert sizes.numpy().tolist() == [1, 2]

    @ab.autobatch(backend="unbatched")
    def g(n):
        return Side.LEFT if n > 2 else Side.RIGHT

    with pytest.raises(TypeMismatchError, match="no tensor holds"):
        g(tf.constant([1, 5]))
