"""Bad input gets an error of our own class, which names the file, the line, and the line's text."""

import collections
import contextlib
import dataclasses
import functools
import itertools
import linecache
import math
import pickle
import random
import re

import numpy as np
import pytest
import tensorflow as tf

import autobatch as ab
from autobatch.errors import (
    AutobatchError,
    BatchShapeError,
    MemberArithmeticError,
    MemberAssertionError,
    MemberError,
    MemberIndexError,
    StackOverflowError,
    TypeMismatchError,
    UndefinedVariableError,
    UnsupportedSyntaxError,
    VectorizationError,
)
from autobatch.language.structs import Rows
from tests import errors_page, refusals
from tests.backends import BACKENDS
from tests.test_golden import check

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


def uses_lambda_call(x):
    return tf.map_fn(lambda y: absolute(y), x)  # here


def loops_over_scalar(x):
    for y in x:  # here
        x = x + y
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


COUNTER = tf.Variable(0.0)


def changes_variable(x):
    COUNTER.assign_add(1.0)  # here
    return x


def function_choice(x):
    change = tf.square if x > 0 else 2.0  # here
    return change is not tf.square


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
    return math.modf(x)[0]  # here


def numpy_function(x):
    return np.unique(x)  # here


def indexes_scalar(x):
    i = 0
    while i < x:
        i = i + 1
    return x[i]  # here


def deletes(x):
    del x  # here


def prints(x):
    print(x)  # here
    return x


def declares_global(x):
    global X  # here
    X = x
    return x


def never_set(x):
    z = y + 1.0  # noqa: F821  # here
    y = x
    return y * z


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
    pair = (x, None)
    if x > 0:
        pair = (x, x)  # here
    return pair[0]


def vector_condition(x):
    if tf.stack([x, x]) > 0:  # here
        return x
    return -x


def calls_branching_helper(x):
    return max(x, -x, key=helper_that_branches)  # here


def bad_shapes(x):
    y = tf.stack([x, x])
    return tf.linalg.matmul(y, y)  # here


def mixed_arithmetic(x):
    n = tf.cast(x, tf.int32)
    return tf.add(x, n)  # here


def unknown_name(x):
    return x + unknown_thing  # noqa: F821  # here


def lu(x):
    y = tf.eye(2) * x
    s, _ = tf.linalg.lu(y)  # here
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


def changes_dict_across_branch(x):
    found = {"a": x}
    if x > 0:
        found |= {"b": x}  # here
    return found["a"]


def wrong_number_of_arguments(x):
    return absolute(x, x)  # here


def varargs(*xs):  # here
    return xs[0]


def walrus_after_read(x):
    y = x
    return y + (y := x * 2.0)  # here


def walrus_in_comprehension(x):
    return [(y := x + k) for k in range(2)]  # noqa: F841  # here


def kept_closure(x):
    y = x
    functions = [lambda z: z + y]  # here
    y = y * 2.0
    return functions[0](x)


def redefined_helper(x):
    def inner(y):  # here
        return y

    def inner(y):  # noqa: F811
        return -y

    return inner(x)


def helper_used_elsewhere(x):
    if x > 0:

        def inner(y):  # here
            return y + 1.0

    return inner(x)


def member_slice(x):
    values = tf.stack([x, x, x])
    n = tf.cast(x, tf.int32)
    return tf.reduce_sum(values[:n])  # here


def member_slice_write(x):
    values = tf.stack([x, x, x])
    n = tf.cast(x, tf.int32)
    values[n:] = 0.0  # here
    return values[0]


def too_many_indices(x):
    values = tf.stack([x, x])
    values[0, 1] = x  # here
    return values


def wrong_item_shape(x):
    values = tf.stack([x, x])
    values[0] = tf.stack([x, x])  # here
    return values


def helper_with_a_type_error(x):
    return adds_text(x)


def adds_text(y):
    return y + "text"  # here


def filters_by_truth(x):
    return list(itertools.compress([1.0, x], [x, 2.0 * x]))[0]  # here


def branching_lambda(x):
    sign = lambda y: 1.0 if y > 0 else -1.0  # noqa: E731  # here
    return tf.vectorized_map(sign, tf.stack([x, x]))


def grows_in_a_loop(x):
    h = x
    for weights in (tf.ones([3, 2]), tf.ones([3, 2])):
        h = tf.linalg.matvec(weights, tf.stack([x, x]))  # here
    return h


def wrong_targets(x):
    for a, b in [(1, 2, 3), ("x", "y", "z")]:  # here
        x = x + a + b
    return x


def filters(x):
    return {k: y for k, y in ((1, x), (2, -x)) if y > 0 and y < 3}  # here


def length_of_a_scalar(x):
    return len(x)  # here


def nonlocal_helper(x):
    if x > 0:
        total = 0.0
    else:
        total = 1.0

    def add(y):
        nonlocal total  # here
        total = total + y

    add(x)
    return total


@ab.autobatch
def halved(x):
    return halved(x / 2) if x > 1 else x


def calls_in_a_key(x):
    return max(x, 2.0, key=lambda v: halved(v))  # here


def static_from_member(x):
    return scaled(x, x)  # here


@ab.autobatch(static_argnames="factor")
def scaled(x, factor):
    return x * factor if x > 0 else x


def unregistered_dataclass(x):
    box = Box(x)
    if x > 0:
        x = x + 1.0
    return box.value + x  # here


@dataclasses.dataclass
class Box:
    value: float

    def __getattr__(self, name):
        raise AttributeError(name)


def kept_method(x):
    ys = [x]
    add = ys.append
    if x > 0:
        x = x + 1.0
    add(x)  # here
    return ys


def kept_function(x):
    k = x
    shift = lambda v: v + k  # noqa: E731
    functions = []
    functions.append(shift)
    k = 100.0
    return functions[0](x)  # here


def text_of_a_member(x):
    if f"{x}" == "1.0":  # here
        return 1
    return 0


def formats_a_member(x):
    return {f"{x:.1f}": x}  # here


def key_of_a_member(x):
    n = tf.cast(x, tf.int32)
    return collections.Counter({0: x, 1: -x})[n]  # here


def dict_item_of_a_member(x):
    n = tf.cast(x, tf.int32)
    values = {"all": x}
    values[n] = x  # here
    return values["all"]


def returns_a_memo(x):
    n = tf.cast(x, tf.int32)
    values = {0: 0.0, 1: 1.0}
    values[n] = x
    return values  # here


def grows_a_list(x):
    parts = []
    while len(parts) < x:
        parts.append(None)  # here
    return len(parts)


def a_function_or_a_number(x):
    if x > 0:
        scale = tf.sin
    else:
        scale = 2.0  # here
    return scale is tf.sin


def truth_of_ragged(x):
    rows = ragged_rows(x)
    if rows:  # here
        return 1
    return 0


def ragged_rows(x):
    return Rows(tf.stack([x, x]), 2)


def prints_in_a_lambda(x):
    show = lambda y: print(y)  # noqa: E731  # here
    show(x)
    return x


def unseen_call(x):
    functions = {"absolute": absolute, "other": x}
    return functions["absolute"](x)  # here


def numpy_random(x):
    return x + np.random.normal()  # here


def python_random(x):
    y = x
    if random.random() < 0.5:  # here
        y = -y
    return y


def int_or_float(x):
    k = 1 if x > 0 else 2.5
    return 1.0 if isinstance(k, int) else 2.0  # here


def inverse_of_an_integer(x):
    return tf.cast(x, tf.int32) ** -1  # here


@ab.autobatch
def absolute(x):
    return x if x > 0 else -x


CASES = [
    (uses_with, UnsupportedSyntaxError),
    (uses_lambda_call, UnsupportedSyntaxError), (loops_over_scalar, TypeMismatchError),
    (assigns_attribute, UnsupportedSyntaxError), (math_function, TypeMismatchError),
    (numpy_function, TypeMismatchError), (indexes_scalar, TypeMismatchError),
    (changes_variable, UnsupportedSyntaxError), (function_choice, TypeMismatchError),
    (wrong_unpacking, TypeMismatchError), (as_text, TypeMismatchError),
    (float_range, TypeMismatchError), (zero_step, TypeMismatchError), (deletes, UnsupportedSyntaxError),
    (prints, UnsupportedSyntaxError), (declares_global, UnsupportedSyntaxError),
    (never_set, UndefinedVariableError),
    (different_dtypes, TypeMismatchError), (different_shapes, TypeMismatchError),
    (none_on_one_path, TypeMismatchError), (vector_condition, TypeMismatchError),
    (calls_branching_helper, UnsupportedSyntaxError), (bad_shapes, TypeMismatchError),
    (mixed_arithmetic, TypeMismatchError), (unknown_name, UndefinedVariableError), (lu, VectorizationError),
    (tf_random, VectorizationError), (tf_while, VectorizationError), (object_across_branch, TypeMismatchError),
    (mixed_keys, TypeMismatchError),
    (never_returns, TypeMismatchError), (changes_dict_across_branch, UnsupportedSyntaxError),
    (wrong_number_of_arguments, UnsupportedSyntaxError), (varargs, UnsupportedSyntaxError),
    (walrus_after_read, UnsupportedSyntaxError), (walrus_in_comprehension, UnsupportedSyntaxError),
    (kept_closure, UnsupportedSyntaxError), (redefined_helper, UnsupportedSyntaxError),
    (helper_used_elsewhere, UnsupportedSyntaxError), (member_slice, TypeMismatchError),
    (member_slice_write, UnsupportedSyntaxError), (too_many_indices, TypeMismatchError),
    (wrong_item_shape, TypeMismatchError), (helper_with_a_type_error, TypeMismatchError),
    (filters_by_truth, UnsupportedSyntaxError), (branching_lambda, UnsupportedSyntaxError),
    (grows_in_a_loop, TypeMismatchError),
    (wrong_targets, TypeMismatchError), (filters, UnsupportedSyntaxError), (length_of_a_scalar, TypeMismatchError),
    (nonlocal_helper, UnsupportedSyntaxError), (calls_in_a_key, UnsupportedSyntaxError),
    (static_from_member, UnsupportedSyntaxError),
    (unregistered_dataclass, TypeMismatchError), (kept_method, TypeMismatchError),
    (kept_function, UnsupportedSyntaxError), (text_of_a_member, TypeMismatchError),
    (formats_a_member, TypeMismatchError), (key_of_a_member, TypeMismatchError),
    (dict_item_of_a_member, TypeMismatchError), (returns_a_memo, TypeMismatchError), (grows_a_list, TypeMismatchError),
    (a_function_or_a_number, TypeMismatchError), (truth_of_ragged, TypeMismatchError),
    (prints_in_a_lambda, UnsupportedSyntaxError), (unseen_call, UnsupportedSyntaxError),
    (numpy_random, UnsupportedSyntaxError), (python_random, UnsupportedSyntaxError),
    (inverse_of_an_integer, TypeMismatchError), (int_or_float, TypeMismatchError), *refusals.CASES,
]  # fmt: skip


@functools.cache
def error_of(function):
    with pytest.raises(AutobatchError) as caught:
        ab.autobatch(function)(X)
    return caught.value


def test_every_kind_of_message_has_a_section_and_a_program():
    caught = {function: error_of(function) for function, _ in CASES}
    check("../../docs/errors.md", errors_page.page(caught))
    shown = {error.kind for error in caught.values()}
    assert errors_page.said_in_the_code().keys() - errors_page.classes().keys() - shown == WITHOUT_A_PROGRAM
    assert not shown & errors_page.classes().keys(), "messages of the language without a name"


WITHOUT_A_PROGRAM = {  # that a function of one number could get by itself
    "choice-of-unlike", "nothing-returned", "second-gradient", "forward-gradient",
    "gradient-needs-steps", "gradient-of-unknown-size",
    "nested-function-as-value", "no-source", "not-a-function",
    "ragged-as-tensor", "ragged-changed", "ragged-slice", "static-argument-assigned", "super-without-arguments",
}  # fmt: skip


@pytest.mark.parametrize(("function", "kind"), CASES, ids=lambda x: x.__name__)
def test_error_names_the_line(function, kind):
    error = error_of(function)
    assert type(error) is kind, error
    assert str(error).endswith(f"\n\n[{error.kind}]")
    check(f"errors/{function.__name__}.txt", without_places(str(error)))
    shown = [place for place, _ in error.places]
    assert all(place.file in (__file__, refusals.__file__) for place in shown)
    assert any("# here" in linecache.getline(place.file, place.line) for place in shown)
    assert all(place.source in str(error) for place in shown)
    assert error.help or kind is TypeMismatchError


def without_places(message):
    """The message without paths and line numbers, which change whenever a test is added."""
    message = re.sub(r"^\S*/(\w+\.py):\d+$", r"\1", message, flags=re.M)
    return re.sub(r"^  (\d+| +) \|", "  |", message, flags=re.M).rstrip()


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
    with pytest.raises(UnsupportedSyntaxError, match="`absolute` is autobatched already"):
        ab.autobatch(absolute)


@pytest.mark.compiles
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
    with pytest.raises(MemberError) as caught:
        grow(tf.constant([2, 12, 3]))
    assert caught.value.results.numpy()[[0, 2]].tolist() == [100, 1000]


@pytest.mark.compiles
@pytest.mark.parametrize("backend", ["program_counter", "local_static"])
def test_a_constant_that_does_not_fit(backend):
    @ab.autobatch(backend=backend)
    def constant(n):
        return n, 3_000_000_000

    with pytest.raises(MemberError, match="does not fit int32, in members 0, 1"):
        constant(tf.constant([1, 2]))
    assert constant(tf.constant([1, 2], tf.int64))[1].numpy().tolist() == [3_000_000_000] * 2

    @ab.autobatch(backend=backend)
    def huge(n):
        return 2**70

    for n in (tf.constant([1]), tf.constant([1], tf.int64)):
        with pytest.raises(MemberError, match="does not fit int"):
            huge(n)


def test_users_own_exception_keeps_its_type_and_gains_a_note():
    def check(x):
        with contextlib.nullcontext():  # which keeps it from being lowered
            raise KeyError("my own")

    def program(x):
        return check(x)

    with pytest.raises(KeyError, match="my own") as caught:
        ab.autobatch(program)(X)
    assert type(caught.value) is KeyError
    assert "return check(x)" in "".join(caught.value.__notes__)


def test_functions_of_the_standard_library_fail_at_the_users_line():
    def program(n):
        total = math.comb(n, 3)
        if n > 5:
            total += math.comb(n, -n)
        return total

    with pytest.raises(MemberError, match="math.comb needs ints that are not negative") as caught:
        ab.autobatch(program).options(backend="local_static", jit_compile=False)(np.array([3, 40]))
    shown = [(place.source.strip(), remark) for place, remark in caught.value.places]
    assert shown == [("total = math.comb(n, 3)", ""), ("total += math.comb(n, -n)", "or here")]
    assert pickle.loads(pickle.dumps(caught.value)).places == caught.value.places


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


@pytest.mark.compiles
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


@pytest.mark.compiles
@pytest.mark.parametrize("options", [{}, {"jit_compile": False}, {"backend": "local_static"}], ids=str)
def test_stack_overflow_names_the_members(options):
    with pytest.raises(StackOverflowError, match="max_depth=40") as caught:
        runaway.options(max_depth=40, **options)(N)
    assert caught.value.members == (1,)
    assert "return runaway(n) + 1" in str(caught.value)


@pytest.mark.compiles
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


@pytest.mark.compiles
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


@pytest.mark.compiles
def test_endless_recursion_ends(monkeypatch):
    monkeypatch.setattr("autobatch.backends.program_counter.DEEPEST", 100)
    with pytest.raises(StackOverflowError, match="max_depth=100"):
        ab.autobatch(misses_its_base_case)(N)


def misses_its_base_case(n):
    return 0 if n == 0 else 1 + misses_its_base_case_batched(n - 2)


misses_its_base_case_batched = ab.autobatch(misses_its_base_case)


@pytest.mark.compiles
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


@pytest.mark.compiles
@pytest.mark.parametrize("backend", BACKENDS)
def test_arithmetic_that_python_refuses(backend):
    def divides(n):
        return 7 // n

    def grows(n):
        total = 1
        for _ in range(n * 30):
            total = total + total
        return total

    def grows_by_much(n):
        total = 0
        while n > 0:
            total, n = total + 2**62, n - 1
        return total

    def counts(n):
        k = 0
        while k < n:
            k += 1
        return 1.0 / (k - 2)

    def truncates(n):
        return int(1.0 / tf.cast(n, tf.float32))

    def raises(n):
        return 2 * n ** (n - 2)

    n = tf.constant([3, 0, 2])
    cases = [
        (divides, (1,), "divided by zero"),
        (grows, (0, 2), "does not fit 64 bits"),  # and 2**60 no int32, as which results come
        (grows_by_much, (0, 2), "does not fit 64 bits"),
        (counts, (2,), "divided by zero"),
        (raises, (1,), "negative power"),
    ]
    for function, members, text in [*cases, (truncates, (1,), "an infinite number becomes an int")]:
        with pytest.raises(MemberArithmeticError, match=text) as caught:
            ab.autobatch(function, **BACKENDS[backend])(n)
        assert caught.value.members == members
        assert isinstance(caught.value, ArithmeticError)


@pytest.mark.compiles
def test_only_members_that_divide_are_checked():
    @ab.autobatch
    def share(n, k):
        return (k * k * k if k < 100 else 0) + (7 // n if n != 0 else 0)

    k = tf.constant([2, 10**9])
    assert share(tf.constant([0, 7]), k).numpy().tolist() == [8, 1]
