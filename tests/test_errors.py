"""Bad input gets an error of our own class, which names the file, the line, and the line's text."""

import functools
import inspect
import math

import numpy as np
import pytest
import tensorflow as tf

import autobatch as ab
from autobatch.errors import (
    AutobatchError,
    BatchShapeError,
    MemberAssertionError,
    MemberError,
    MemberIndexError,
    StackOverflowError,
    TypeMismatchError,
    UndefinedVariableError,
    UnsupportedSyntaxError,
    VectorizationError,
)
from tests.backends import BACKENDS

X = tf.constant([1.0, -2.0, 3.0])
N = tf.constant([1, 2, 3])


def helper_that_branches(x):
    if x > 0:
        return x
    return -x


def uses_with(x):
    with tf.GradientTape() as tape:  # here
        tape.watch(x)
    return x


def uses_try(x):
    try:  # here
        return x
    except ValueError:
        return -x


def uses_lambda_call(x):
    return tf.map_fn(lambda y: absolute(y), x)  # here


def loops_over_scalar(x):
    for y in x:  # here
        x = x + y
    return x


def loops_over_unlike(x):
    for name in ["a", "b"]:  # here
        x = x + len(name)
    return x


def break_in_else(x):
    for _ in range(3):
        while x > 0:
            x = x - 1
        else:
            break  # here
    return x


def assigns_attribute(x):
    x.foo = 3  # here
    return x


def float_range(x):
    for _ in range(x):  # here
        x = x + 1.0
    return x


def zero_step(x):
    for _ in range(3, 5, 0):  # here
        x = x + 1.0
    return x


def late_binding(x):
    y = x
    add = lambda z: z + y  # noqa: E731  # here
    y = y * 2.0
    return add(x)


def lambda_across_branch(x):
    add = lambda z: z + x  # noqa: E731
    if x > 0:
        y = tf.exp(x)
    else:
        y = x
    return add(y)  # here


COUNTER = tf.Variable(0.0)


def changes_variable(x):
    COUNTER.assign_add(1.0)  # here
    return x


def string_choice(x):
    mode = "up" if x > 0 else "down"  # here
    return x if mode == "up" else -x


def wrong_unpacking(x):
    a, b, c = tf.stack([x, x])  # here
    return a + b + c


def mixed_keys(x):
    table = {1: x, "a": x}  # here
    if x > 0:
        x = tf.exp(x)
    return table[1] + x


def as_text(x):
    i = 0
    while i < x:
        i += 1
    return x + len(f"{i}")  # here


def math_function(x):
    return math.sqrt(x)  # here


def numpy_function(x):
    return np.sin(x)  # here


def indexes_scalar(x):
    i = 0
    while i < x:
        i = i + 1
    return x[i]  # here


def walrus(x):
    return (y := x) + y  # here


def deletes(x):
    del x  # here


def nested_def(x):
    def inner(y):  # here
        return y

    return inner(x)


def prints(x):
    print(x)  # here
    return x


def declares_global(x):
    global X  # here
    X = x
    return x


def may_be_unset(x):
    if x > 0:
        y = x
    return y + 1.0  # here


def unset_after_loop(x):
    for i in range(3):
        last = i
    return last  # here


def different_dtypes(x):
    if x > 0:
        return x
    return tf.cast(x, tf.int32)  # here


def different_shapes(x):
    y = 0.0
    for _ in range(3):
        y = y + tf.stack([x, x])  # here
    return y


def none_on_one_path(x):
    if x > 0:  # here
        return x


def vector_condition(x):
    if tf.stack([x, x]) > 0:  # here
        return x
    return -x


def calls_branching_helper(x):
    return helper_that_branches(x)  # here


def bad_shapes(x):
    y = tf.stack([x, x])
    return tf.linalg.matmul(y, y)  # here


def mixed_arithmetic(x):
    n = tf.cast(x, tf.int32)
    return x + n  # here


def unknown_name(x):
    return x + unknown_thing  # noqa: F821  # here


def svd(x):
    y = tf.eye(2) * x
    s = tf.linalg.svd(y, compute_uv=False)  # here
    return s


def tf_random(x):
    y = tf.random.normal([])  # here
    return x + y


def tf_while(x):
    return tf.while_loop(lambda y: y < 5.0, lambda y: (y + 1.0,), (x,))[0]  # here


def object_across_branch(x):
    state = object()
    if x > 0:
        x = x + 1.0
    return x + (1.0 if state else 2.0)  # here


def never_returns(x):  # here
    return never_returns_batched(x)


never_returns_batched = ab.autobatch(never_returns)


def changes_list_across_branch(x):
    found = [x, x]
    if x > 0:
        found.append(x)  # here
    return found[0]


def wrong_number_of_arguments(x):
    return absolute(x, x)  # here


def varargs(*xs):  # here
    return xs[0]


def slice_assignment(x):
    y = tf.stack([x, x])
    y[0:1] = x  # here
    return y


@ab.autobatch
def absolute(x):
    return x if x > 0 else -x


CASES = [
    (uses_with, UnsupportedSyntaxError), (uses_try, UnsupportedSyntaxError), (uses_lambda_call, UnsupportedSyntaxError),
    (loops_over_scalar, TypeMismatchError), (loops_over_unlike, TypeMismatchError),
    (break_in_else, UnsupportedSyntaxError),
    (assigns_attribute, UnsupportedSyntaxError), (walrus, UnsupportedSyntaxError),
    (math_function, TypeMismatchError), (numpy_function, TypeMismatchError), (indexes_scalar, TypeMismatchError),
    (late_binding, UnsupportedSyntaxError), (lambda_across_branch, TypeMismatchError),
    (changes_variable, UnsupportedSyntaxError),
    (string_choice, TypeMismatchError), (wrong_unpacking, TypeMismatchError), (mixed_keys, TypeMismatchError),
    (as_text, TypeMismatchError),
    (float_range, TypeMismatchError), (zero_step, TypeMismatchError), (deletes, UnsupportedSyntaxError),
    (nested_def, UnsupportedSyntaxError), (prints, UnsupportedSyntaxError), (declares_global, UnsupportedSyntaxError),
    (may_be_unset, UndefinedVariableError), (unset_after_loop, UndefinedVariableError),
    (different_dtypes, TypeMismatchError), (different_shapes, TypeMismatchError), (none_on_one_path, TypeMismatchError),
    (vector_condition, TypeMismatchError), (calls_branching_helper, UnsupportedSyntaxError),
    (bad_shapes, TypeMismatchError), (mixed_arithmetic, TypeMismatchError), (unknown_name, UndefinedVariableError),
    (svd, VectorizationError), (tf_random, VectorizationError), (tf_while, VectorizationError),
    (object_across_branch, TypeMismatchError), (never_returns, TypeMismatchError),
    (changes_list_across_branch, UnsupportedSyntaxError), (wrong_number_of_arguments, UnsupportedSyntaxError),
    (varargs, UnsupportedSyntaxError), (slice_assignment, UnsupportedSyntaxError),
]  # fmt: skip


@pytest.mark.parametrize(("function", "kind"), CASES, ids=lambda x: x.__name__)
def test_error_names_the_line(function, kind):
    lines, first = inspect.getsourcelines(function)
    marked = next(k for k, line in enumerate(lines) if "# here" in line)
    with pytest.raises(AutobatchError) as caught:
        ab.autobatch(function)(X)
    assert type(caught.value) is kind, caught.value
    message = str(caught.value)
    assert f"{__file__}:{first + marked}" in message
    assert lines[marked].strip() in message
    assert "help:" in message or kind is TypeMismatchError


def test_a_function_without_source():
    scope = {}
    exec("def f(x):\n    return x", scope)
    with pytest.raises(UnsupportedSyntaxError, match="source"):
        ab.autobatch(scope["f"])(X)


def test_not_a_def():
    for function in (lambda x: x, functools.partial(lambda_free_sum, 1.0), 3):
        with pytest.raises(UnsupportedSyntaxError, match="made by `def`"):
            ab.autobatch(function)
    with pytest.raises(UnsupportedSyntaxError, match=f"{__file__}:"):
        ab.autobatch(lambda x: x)


def test_methods_are_refused():
    class Model:
        @ab.autobatch
        def step(self, x):
            return x

    with pytest.raises(UnsupportedSyntaxError, match=r"Model\.step"):
        Model().step(X)


def test_an_int_that_does_not_fit():
    @ab.autobatch
    def grow(n):
        i, total = 0, 1
        while i < n:
            i, total = i + 1, total * 10
        return total

    assert grow(tf.constant([2, 9])).numpy().tolist() == [100, 10**9]
    with pytest.raises(MemberError, match="does not fit int32, in members 1"):
        grow(tf.constant([2, 12]))
    assert grow(tf.constant([2, 12], tf.int64)).numpy().tolist() == [100, 10**12]


def test_users_own_exception_keeps_its_type_and_gains_a_note():
    def check(x):
        raise KeyError("my own")

    def program(x):
        return check(x)

    with pytest.raises(KeyError, match="my own") as caught:
        ab.autobatch(program)(X)
    assert "return check(x)" in "".join(caught.value.__notes__)


def test_batch_shapes():
    with pytest.raises(BatchShapeError, match="contains 1.0, a Python float, which has no batch axis"):
        absolute([1.0, 2.0])
    with pytest.raises(BatchShapeError, match="which has no batch axis 0"):
        absolute(tf.constant(1.0))
    with pytest.raises(BatchShapeError, match="3 in `a`, 2 in `b`"):
        ab.autobatch(lambda_free_sum)(X, tf.constant([1.0, 2.0]))
    with pytest.raises(BatchShapeError, match="static_argnames"):
        absolute(object())
    with pytest.raises(BatchShapeError, match="in_axes has 3 entries"):
        ab.autobatch(lambda_free_sum, in_axes=(0, 0, 0))(X, X)
    with pytest.raises(BatchShapeError, match="unbatched"):
        ab.autobatch(lambda_free_sum, in_axes=None)(X, X)


def lambda_free_sum(a, b):
    return a + b


def test_compiled_refuses_other_shapes():
    compiled = absolute.lower(X).compile()
    np.testing.assert_array_equal(compiled(X), [1.0, 2.0, 3.0])
    with pytest.raises(BatchShapeError, match="compiled for a batch of 3"):
        compiled(tf.constant([1.0]))


@ab.autobatch
def runaway(n):
    if n == 2:
        return runaway(n) + 1
    return n


@pytest.mark.parametrize("options", [{}, {"jit_compile": False}, {"backend": "local_static"}], ids=str)
def test_stack_overflow_names_the_members(options):
    with pytest.raises(StackOverflowError, match="max_depth=40") as caught:
        runaway.options(max_depth=40, **options)(N)
    assert caught.value.members == (1,)
    assert "return runaway(n) + 1" in str(caught.value)


@pytest.mark.parametrize("backend", BACKENDS)
def test_an_index_out_of_range_names_the_members(backend):
    @ab.autobatch(**BACKENDS[backend])
    def pick(x, i, j):
        y = x * 2
        if i >= 0:
            y[j] += x[i]
        return y

    x = tf.constant([[1, 2], [3, 4], [5, 6]])
    assert pick(x, tf.constant([0, 1, -9]), tf.constant([-1, 0, 9])).numpy().tolist() == [[2, 5], [10, 8], [10, 12]]
    with pytest.raises(MemberIndexError, match="an index is out of range for an axis of size 2") as caught:
        pick(x, tf.constant([2, 9, -7]), tf.constant([0, 1, 0]))
    assert caught.value.members == (0, 1)
    assert "In 2 members (0, 1)" in str(caught.value)
    assert "y[j] += x[i]" in str(caught.value)
    with pytest.raises(MemberError) as caught:
        pick(x, tf.constant([1, 0, 1]), tf.constant([0, 1, -3]))
    assert caught.value.members == (2,)


@pytest.mark.parametrize("backend", BACKENDS)
def test_assert_names_the_members(backend):
    @ab.autobatch(**BACKENDS[backend])
    def positive(x, limit=2.5):
        for _ in range(2):
            x = x + 1.0
            assert x > 0.0, f"below {limit}"
        return x

    assert positive(tf.constant([1.0, -0.5])).numpy().tolist() == [3.0, 1.5]
    with pytest.raises(MemberAssertionError, match="In 2 members.*`assert x > 0.0` failed: below 2.5") as caught:
        positive(tf.constant([-1.5, 0.0, -3.0]))
    assert caught.value.members == (0, 2)
    assert isinstance(caught.value, AssertionError)
    assert 'assert x > 0.0, f"below {limit}"' in str(caught.value)


def test_endless_recursion_ends(monkeypatch):
    monkeypatch.setattr("autobatch.runtime.program_counter.DEEPEST", 100)
    with pytest.raises(StackOverflowError, match="max_depth=100"):
        ab.autobatch(misses_its_base_case)(N)


def misses_its_base_case(n):
    return 0 if n == 0 else 1 + misses_its_base_case_batched(n - 2)


misses_its_base_case_batched = ab.autobatch(misses_its_base_case)


def test_inside_a_tf_function_recursion_needs_max_depth():
    with pytest.raises(StackOverflowError, match="max_depth"):
        tf.function(runaway, autograph=False)(N)


def test_endless_specialisation():
    @ab.autobatch(static_argnames="n")
    def climb(x, n):
        return climb(x, n + 1) if x > 0 else x

    with pytest.raises(UnsupportedSyntaxError, match="different choices of static arguments"):
        climb(X, 0)


def test_bad_options():
    with pytest.raises(ValueError, match="backend must be one of"):
        absolute.options(backend="gpu")
    with pytest.raises(TypeError, match="no option maxdepth; the options are in_axes"):
        absolute.options(maxdepth=3)
    with pytest.raises(ValueError, match="in_axes must be"):
        absolute.options(in_axes={"x": 0})
    with pytest.raises(ValueError, match="no parameter"):
        ab.autobatch(lambda_free_sum, static_argnames="c")
    with pytest.raises(ValueError, match="max_depth"):
        absolute.options(max_depth=-1)
