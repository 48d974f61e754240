"""Programs as functions of JAX's arrays; ``test_programs.py`` runs all kinds of them."""

import dataclasses
import os
import subprocess
import sys

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import tensorflow as tf

import autobatch as ab
from autobatch.errors import (
    AutobatchError,
    BatchShapeError,
    ListFullError,
    MemberError,
    MissingPackageError,
    SettingError,
    StackOverflowError,
    StepLimitError,
    TypeMismatchError,
)
from tests.backends import assert_same


@ab.autobatch
def depth_of(n):
    return 0 if n == 0 else 1 + depth_of(n - 1)


@ab.autobatch
def last_square(n):
    squares = []
    for k in range(n):
        squares.append(k * k)
    return squares[-1] + len(squares)


@ab.autobatch
def all_below(n):
    return list(range(n))


@ab.autobatch
def next_of(n):
    return n + 1


@ab.autobatch
def root(x):
    if x < 0:
        raise ValueError("negative")
    return x**0.5


@ab.autobatch(in_axes=(0, None))
def scaled_until(state, weights):
    """Structures, a shared argument, and a constant that the code closes over."""
    while state["x"] < 100.0:
        state = {"x": state["x"] * weights["w"] + TABLE[state["n"]], "n": state["n"] + 1}
    return state, state["n"]


TABLE = tf.constant([1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0, 128.0])
NUMBERS = np.array([-4, 9], np.float32)


def test_stacks_grow_outside_of_jit():
    n = jnp.array([1000, 3])
    found = depth_of.lower(n).to_jax()(n)
    assert isinstance(found, jax.Array)
    assert found.tolist() == [1000, 3]


def test_lists_grow_outside_of_jit():
    assert last_square.lower(np.int32([3, 4])).to_jax()(np.int32([3, 100])).tolist() == [4 + 3, 99**2 + 100]


@pytest.mark.parametrize(
    ("function", "n", "options", "error"),
    [(depth_of, 20, {"max_depth": 32}, StackOverflowError), (last_square, 40, {"max_length": 64}, ListFullError)],
)
def test_inside_of_jit_the_room_must_be_known(function, n, options, error):
    n = np.int32([n, 2])
    with pytest.raises(error, match="Inside of jax.jit"):
        jax.jit(function.lower(n).to_jax())(n)
    inside = jax.jit(function.options(**options).lower(n).to_jax())
    np.testing.assert_array_equal(inside(n), function(n))
    too_many = inside(4 * n)
    assert too_many[0] == np.iinfo(np.int32).min
    assert too_many[1] == function(4 * n)[1]


def test_a_given_room_does_not_grow():
    with pytest.raises(StackOverflowError, match="max_depth=4"):
        depth_of.options(max_depth=4).lower(np.int32([9])).to_jax()(np.int32([9]))
    with pytest.raises(StepLimitError, match="max_steps=40"):
        depth_of.options(max_steps=40).lower(np.int32([900])).to_jax()(np.int32([900]))


def test_members_that_fail():
    function = root.lower(NUMBERS).to_jax()
    with pytest.raises(MemberError, match="ValueError: negative") as caught:
        function(NUMBERS)
    assert caught.value.members == (0,)
    assert caught.value.places[0][0].file == __file__
    np.testing.assert_array_equal(caught.value.results, [np.nan, 3])
    np.testing.assert_array_equal(jax.jit(function)(NUMBERS), [np.nan, 3])


def test_structures_shared_arguments_and_what_is_closed_over():
    state, weights = {"x": jnp.array([1.0, 30.0, 200.0]), "n": jnp.array([0, 2, 5])}, {"w": jnp.array(2.0)}
    function = scaled_until.lower(state, weights).to_jax()
    assert_same(function(weights=weights, state=state), scaled_until(state, weights))
    other = {"w": jnp.array(3.0)}
    assert_same(jax.jit(function)(state, other), scaled_until(state, other))


@pytest.mark.parametrize(
    ("given", "words"),
    [(np.float64([1]), r"float64\[1\], .* float32\[2\]"), (jnp.zeros(3), "lower it for arrays"), ([1.0, 2.0], "built")],
)
def test_other_arguments_than_it_was_lowered_for(given, words):
    with pytest.raises(BatchShapeError, match=words):
        root.lower(NUMBERS).to_jax()(given)


def test_64_bits():
    n = np.int64([2**40, 3])
    function = next_of.lower(n).to_jax()
    with pytest.raises(SettingError, match="64 bits"):
        function(n)
    with jax.enable_x64(True):
        assert function(jnp.array(n)).tolist() == [2**40 + 1, 4]


@pytest.mark.parametrize(
    ("transformed", "words"),
    [
        (lambda f: jax.vmap(f)(NUMBERS[None]), "batched function already"),
        (lambda f: jax.vmap(jax.jit(f))(NUMBERS[None]), "batched function already"),
        (lambda f: jax.grad(lambda x: jnp.sum(f(x)))(NUMBERS), "no derivatives"),
    ],
)
def test_what_jax_cannot_do_with_it(transformed, words):
    with pytest.raises(SettingError, match=words):
        transformed(root.lower(NUMBERS).to_jax())


def test_refusals():
    with pytest.raises(SettingError, match="deadline"):
        root.options(deadline=1.0).lower(NUMBERS).to_jax()
    with pytest.raises(SettingError, match="lists of unlike lengths"):
        all_below.lower(np.int32([3, 4])).to_jax()(np.int32([3, 4]))


@ab.autobatch(in_axes=(0, None, None))
def affine(x, a, b):
    while x < 10:
        x = x * a - b
    return x


def test_a_known_argument_is_told_from_another_that_is_like_it():
    x, a, b = np.float32([9, 8, 7]), np.float32(2), jnp.float32(5)
    of_b, of_a = affine.lower(x, a, b).to_jax(), affine.lower(x, b, a).to_jax()
    assert of_b(x, b).tolist() == affine(x, a, b).numpy().tolist() == [13, 11, 13]
    assert of_a(x, b).tolist() == affine(x, b, a).numpy().tolist() == [43, 38, 33]


@ab.autobatch
def doubled(n):
    power = 1
    for _ in range(n):
        power = power * 2
    return power


@ab.autobatch
def large(n):
    return 2**40, n


def test_ints_that_do_not_fit():
    n = np.int32([3, 33, 5])
    with pytest.raises(MemberError, match="does not fit int32, in members 1") as caught:
        doubled.lower(n).to_jax()(n)
    assert caught.value.results.tolist() == [8, np.iinfo(np.int32).min, 32]
    with pytest.raises(MemberError, match="in members 0, 1, 2"):
        large.lower(n).to_jax()(n)


STEP, CHECKS = 1, True


@ab.autobatch
def steps(n):
    return 0 if n <= 0 else STEP + steps(n - 1)


@ab.autobatch
def checked(x):
    if CHECKS:
        if x > 5:
            raise ValueError("large")
    while x < 3:
        x = x + 1
    return x


def test_what_it_reads_is_as_it_was(monkeypatch):
    n, x = np.int32([3, 4]), np.int32([1, 9, 3])
    of_steps, of_checked = steps.lower(n).to_jax(), checked.lower(x).to_jax()
    assert of_steps(n).tolist() == [3, 4]
    lowered, of_two = checked.lower(x), checked.lower(x[:2])
    monkeypatch.setattr(sys.modules[__name__], "STEP", 10)
    assert of_steps(n).tolist() == [3, 4]
    with pytest.raises(AutobatchError, match="`STEP`, .* has changed since it was lowered"):
        of_steps(np.int32([3, 400]))
    assert steps.lower(n).to_jax()(n).tolist() == [30, 40]
    with pytest.raises(MemberError, match="large"):
        of_checked(x)
    monkeypatch.setattr(sys.modules[__name__], "CHECKS", False)
    with pytest.raises(MemberError, match="large") as caught:
        of_checked(x)
    assert caught.value.members == (1,)
    with pytest.raises(MemberError, match="large"):  # the same program, which is compiled already
        lowered.to_jax()(x)
    with pytest.raises(AutobatchError, match="`CHECKS`, .* has changed since it was lowered"):
        of_two.to_jax()(x[:2])


def test_what_is_known_while_jax_traces():
    n, function = jnp.array([3, 4]), depth_of.options(max_depth=32).lower(np.int32([3, 4])).to_jax()
    assert jax.jit(lambda m: function(n) + m)(n).tolist() == [6, 8]
    assert jax.vmap(lambda m: function(n) + m)(n[None]).tolist() == [[6, 8]]
    with pytest.raises(StackOverflowError, match="Inside of jax.jit"):
        jax.jit(lambda m: depth_of.lower(n).to_jax()(n) + m)(n)


@ab.autobatch
def with_constants(x):
    return {"next": x + 1, "none": None, "name": "abc"}, x


@ab.autobatch
def nothing(x):
    x = x + 1


class Point:
    def __init__(self, x):
        self.x = x


@ab.autobatch
def point(x):
    return Point(x)


def test_results_that_are_no_arrays():
    found, same = with_constants.lower(NUMBERS).to_jax()(NUMBERS)
    assert (found["next"].tolist(), found["none"], found["name"], same.tolist()) == ([-3, 10], None, "abc", [-4, 9])
    assert nothing.lower(NUMBERS).to_jax()(NUMBERS) is None
    with pytest.raises(SettingError, match="returns a Point"):
        point.lower(NUMBERS).to_jax()(NUMBERS)


@ab.autobatch
def side(x):
    return "left" if x < 0 else "right"


def test_texts_that_differ():
    with pytest.raises(SettingError, match="texts that differ"):
        side.lower(NUMBERS).to_jax()(NUMBERS)


def test_complex_numbers_have_no_more_bits_than_their_parts():
    z = np.complex64([1j, 2])
    assert next_of.lower(z).to_jax()(z).tolist() == [1 + 1j, 3]
    with pytest.raises(SettingError, match="64 bits"):
        next_of.lower(np.complex128(z)).to_jax()(np.complex128(z))


@ab.struct
@dataclasses.dataclass
class Ball:
    height: float
    speed: float


@ab.autobatch
def dropped(balls):
    ball, bounces = balls["first"], 0
    while ball.height > 0.0:
        ball = Ball(ball.height + 0.1 * ball.speed, ball.speed - 1.0)
        bounces += 1
    return ball, bounces


def test_jit_takes_the_users_structures():
    balls = {"first": Ball(jnp.array([1.0, 2.0]), jnp.array([0.0, 1.0]))}
    function = dropped.lower(balls).to_jax()
    for found in (function(balls), jax.jit(function)(balls), jax.jit(lambda b: function(b))(balls)):
        assert isinstance(found[0], Ball)
        assert_same(found, dropped(balls))
    assert jax.tree.leaves(dropped.lower(balls).to_jax()(balls)[0])[1].tolist() == found[0].speed.tolist()


def test_typed_keys():
    keys = jax.random.split(jax.random.key(0), 3)
    function = uniform.lower(jax.random.key_data(keys)).to_jax()
    assert function(keys).tolist() == function(jax.random.key_data(keys)).tolist()
    with pytest.raises(BatchShapeError, match="key_data"):
        uniform.lower(keys)


@ab.autobatch
def uniform(key):
    return ab.random.uniform(key)


def test_calls_that_do_not_fit():
    function = depth_of.lower(np.int32([1, 2])).to_jax()
    with pytest.raises(TypeError, match=r"depth_of\(n\): missing a required argument: 'n'"):
        function()
    with pytest.raises(BatchShapeError, match="is a ndarray, and the call was lowered for int32"):
        function(np.array(["a", "b"]))
    with pytest.raises(SettingError, match="inside of a tf.function"):
        tf.function(lambda n: function(n), autograph=False)(tf.constant([1, 2]))
    with pytest.raises(BatchShapeError, match=r"to_jax\(\)"):
        jax.jit(lambda n: depth_of(n))(jnp.array([1, 2]))
    with pytest.raises(SettingError, match="batched function already"):  # nor does it ask for max_depth first
        jax.vmap(function)(jnp.array([[1, 2]]))


TABLE_OF_JAX = jnp.array([1.0, 2.0, 4.0])


@ab.autobatch
def looked_up(i):
    return TABLE_OF_JAX[i] * 2 + TABLE_OF_JAX[0]


@ab.autobatch
def sine(x):
    return jnp.sin(x)


def test_arrays_of_jax_are_constants(monkeypatch):
    assert looked_up(np.int32([0, 2])).numpy().tolist() == [3, 9]
    monkeypatch.setattr(sys.modules[__name__], "TABLE_OF_JAX", TABLE_OF_JAX + 1)
    assert looked_up(np.int32([0, 2])).numpy().tolist() == [6, 12]
    assert looked_up.lower(np.int32([0, 2])).to_jax()(np.int32([0, 2])).tolist() == [6, 12]
    with pytest.raises(TypeMismatchError, match="use TensorFlow's"):
        sine(NUMBERS)


def test_what_is_kept_depends_on_arrays_of_jax(tmp_path):
    (tmp_path / "program.py").write_text(
        "import sys, numpy as np, jax.numpy as jnp, autobatch as ab\n"
        "TABLE = float(sys.argv[1]) * jnp.array([1.0, 2.0, 4.0])\n"
        "@ab.autobatch\n"
        "def looked_up(i):\n"
        "    return TABLE[i]\n"
        "print(looked_up(np.int32([0, 2])).numpy().tolist())\n"
    )
    own = {**os.environ, "AUTOBATCH_CACHE": str(tmp_path / "cache")}
    for factor in "15":
        words = [sys.executable, tmp_path / "program.py", factor]
        done = subprocess.run(words, capture_output=True, text=True, check=True, env=own)
        assert done.stdout == f"{[1.0 * int(factor), 4.0 * int(factor)]}\n"


def test_without_jax(monkeypatch):
    monkeypatch.setitem(sys.modules, "jax", None)
    with pytest.raises(MissingPackageError, match=r"autobatch\[jax\]"):
        root.lower(NUMBERS).to_jax()


def test_jax_can_write_it_for_a_machine_without_tensorflow(tmp_path):
    function = depth_of.options(max_depth=32).lower(np.int32([1, 2])).to_jax()
    shape = jax.ShapeDtypeStruct((2,), jnp.int32)
    for platform in ("cuda", "tpu", "cpu"):
        written = jax.export.export(jax.jit(function), platforms=[platform])(shape)
        (tmp_path / "depth_of").write_bytes(written.serialize())
    code = (
        "import sys; sys.modules |= dict.fromkeys(['tensorflow', 'autobatch'])\n"
        "import jax, numpy as np\n"
        "read = jax.export.deserialize(open(sys.argv[1], 'rb').read())\n"
        "print(read.call(np.int32([20, 3])).tolist())"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, tmp_path / "depth_of"], capture_output=True, text=True, check=True
    )
    assert done.stdout == "[20, 3]\n"


def test_plain_calls_take_jax_arrays():
    n = jnp.array([5, 3])
    assert depth_of(n).numpy().tolist() == [5, 3]
    assert scaled_until({"x": jnp.array([99.0]), "n": jnp.array([0])}, {"w": jnp.array(2.0)})[1].numpy() == [1]
