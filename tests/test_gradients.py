"""Gradients through a call: each member's own, as the oracle and finite differences have them."""

import math
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
import tensorflow as tf

import autobatch as ab
from autobatch.backends.history import History
from autobatch.errors import GradientError, MemberError, SettingError
from autobatch.machine import reels, reversible
from tests.programs import PROGRAMS


@ab.autobatch
def power(x, n):
    if n == 0:
        return tf.ones_like(x)
    half = power(x, n // 2)
    return half * half if n % 2 == 0 else x * half * half


@ab.autobatch
def newton(x, n):
    """The root of x, in as many steps as the member asks for."""
    y = x
    while n > 0:
        y = 0.5 * (y + x / y)
        n = n - 1
    return y


@ab.autobatch
def kinked(x, n):
    if x > 1.0:
        return tf.sin(x) * tf.cast(n, x.dtype)
    return x**3


@ab.autobatch
def norm(x, n):
    total = 0.0
    for k in range(3):
        if k < n:
            total = total + x[k] ** 2
    return tf.sqrt(total + 1.0)


X = tf.constant([0.5, 1.5, 2.0, 3.0], tf.float64)
N = tf.constant([0, 1, 3, 5])
CASES = {f.__name__: (f, X) for f in (power, newton, kinked)}
CASES["norm"] = (norm, tf.reshape(tf.range(12.0, dtype=tf.float64), [4, 3]))


def gradient(call, x):
    with tf.GradientTape() as tape:
        tape.watch(x)
        value = call(x)
    return tape.gradient(value, x)


@pytest.mark.parametrize("options", [{"backend": "local_static"}, {"backend": "local_static", "jit_compile": False}])
@pytest.mark.parametrize("name", CASES)
def test_each_member_has_its_own(name, options):
    function, x = CASES[name]
    found = gradient(lambda x: function.options(**options)(x, N), x)
    assert isinstance(found, tf.Tensor)
    for z, row in enumerate(found):
        one = gradient(lambda x, z=z: function.unbatched(x, N[z]), x[z])
        np.testing.assert_allclose(row, tf.zeros_like(x[z]) if one is None else one, rtol=1e-12)
    step = 1e-6
    for k in range(x.shape[-1] if x.shape.rank > 1 else 1):
        nudge = step * (tf.one_hot(k, x.shape[-1], dtype=x.dtype) if x.shape.rank > 1 else 1.0)
        difference = (function(x + nudge, N) - function(x - nudge, N)) / (2 * step)
        np.testing.assert_allclose(found[:, k] if x.shape.rank > 1 else found, difference, rtol=1e-5, atol=1e-8)


@pytest.mark.parametrize("name", CASES)
def test_the_machine_outside_of_xla(name):
    function, x = CASES[name]
    expected = gradient(lambda x: function.options(backend="local_static")(x, N), x)
    found = gradient(lambda x: function.options(jit_compile=False)(x, N), x)
    np.testing.assert_allclose(tf.convert_to_tensor(found), expected, rtol=1e-12)


def test_outside_of_xla_what_was_made_inside():
    """The graph is that of an XLA program, and serves for one that is none, where TensorFlow's gradients go through."""

    @ab.autobatch(jit_compile=False, max_depth=8)
    def power(x, n):
        y = 1.0
        while n > 0:
            y, n = y * x, n - 1
        return y

    x, n = tf.constant([2.0, 3.0]), tf.constant([3, 2])
    expected = tf.function(lambda x: power(x, n), jit_compile=True, autograph=False)(x)
    np.testing.assert_array_equal(expected, [8.0, 9.0])
    found = tf.function(lambda x: gradient(lambda x: power(x, n), x), autograph=False)(x)
    np.testing.assert_array_equal(found, [12.0, 6.0])


def weighted(result):
    """One number, on which each number of a result has an influence of its own."""
    leaves = [tf.convert_to_tensor(leaf) for leaf in tf.nest.flatten(result, expand_composites=True)]
    floats = [tf.cast(tf.reshape(leaf, [-1]), tf.float64) for leaf in leaves if leaf.dtype.is_floating]
    return sum(
        tf.reduce_sum(leaf * (k + 1.1 + tf.sin(tf.range(leaf.shape[0], dtype=tf.float64))))
        for k, leaf in enumerate(floats)
    )


def floats_of(args):
    return [leaf for leaf in tf.nest.flatten(args) if tf.is_tensor(leaf) and leaf.dtype.is_floating]


def gradients(function, args, others=()):
    with tf.GradientTape() as tape:
        watched = floats_of(args)
        tape.watch([*watched, *(each for each in others if isinstance(each, tf.Tensor))])
        value = weighted(function(*args))
    return tape.gradient(value, [*watched, *others], unconnected_gradients="zero") if tf.is_tensor(value) else []


def assert_same(found, expected, rtol=1e-6):
    for one, other in zip(found, expected, strict=True):
        np.testing.assert_allclose(tf.convert_to_tensor(one), tf.convert_to_tensor(other), rtol=rtol, atol=rtol / 100)


def widened(args):
    return tf.nest.map_structure(
        lambda leaf: tf.cast(leaf, tf.float64) if tf.is_tensor(leaf) and leaf.dtype == tf.float32 else leaf, args
    )


@ab.autobatch
def tree(x, n):
    if n < 2:
        return tf.sin(x)
    left = tree(x * 0.9, n - 1)
    right = tree(x + 0.1, n - 2)
    return left * right + x


@ab.autobatch
def deep(x, n):
    """A sum that is as deep as it is long."""
    if n == 0:
        return x
    return 0.999 * tf.sin(deep(x, n - 1)) + 0.001 * x


CASES |= {"tree": (tree, X)}
WITH_FLOATS = [name for name, (_, args) in PROGRAMS.items() if floats_of(args)]


@pytest.mark.compiles
@pytest.mark.parametrize("name", WITH_FLOATS)
def test_every_program(name):
    """As the local-static backend's operations have them, in float64 where the program takes that."""
    function, args = PROGRAMS[name]
    try:
        function.lower(*widened(args))
        args = widened(args)
    except ab.errors.AutobatchError:
        pass
    expected = gradients(function.options(backend="local_static", jit_compile=False), args)
    narrow = any(leaf.dtype == tf.float32 for leaf in floats_of(args))
    assert_same(gradients(function, args), expected, rtol=1e-4 if narrow else 1e-6)


@pytest.mark.parametrize("name", CASES)
def test_the_machine(name):
    function, x = CASES[name]
    expected = gradients(function.options(backend="local_static"), (x, N))
    assert_same(gradients(function, (x, N)), expected, rtol=1e-12)
    (found,), step = gradients(function, (x, N)), 1e-6
    for place in np.ndindex(*x.shape):
        nudge = np.zeros(x.shape)
        nudge[place] = step
        difference = (weighted(function(x + nudge, N)) - weighted(function(x - nudge, N))) / (2 * step)
        np.testing.assert_allclose(found[place], difference, rtol=1e-6, atol=1e-8)


@ab.autobatch
def there(x, n):
    if n <= 0:
        return x
    return back(x, n - 1) * x


@ab.autobatch
def back(x, n):
    return there(x, n - 1)


def test_what_is_handed_on_and_back_as_it_is():
    """One register holds both functions' x, which nobody writes, and frames hold it too."""
    np.testing.assert_allclose(there(X, N), X ** (1 + (N.numpy() + 1) // 2))
    powers = 1.0 + (N.numpy() + 1) // 2
    np.testing.assert_allclose(gradient(lambda x: there(x, N), X), powers * X.numpy() ** (powers - 1))


@pytest.mark.parametrize("memory", [0, 10_000, 2**30])
def test_within_a_budget(memory, monkeypatch):
    """Tapes of a few steps, of which none, some or all are kept."""
    monkeypatch.setattr(reversible, "FEWEST", 4)
    monkeypatch.setattr(reversible, "MOST", 4)
    x, n = tf.linspace(tf.constant(0.5, tf.float64), 2.0, 50), tf.range(50) % 8
    expected = gradients(tree.options(backend="local_static"), (x, n))
    runs = []
    original = History._run
    monkeypatch.setattr(History, "_run", lambda self, k, states: runs.append(k) or original(self, k, states))
    assert_same(gradients(ab.autobatch(tree._fn, tape_memory=memory), (x, n)), expected, rtol=1e-12)
    assert len(set(runs)) > 10
    assert (len(runs) > len(set(runs))) == (memory < 2**30)


def test_deep_recursion():
    """Stacks that grow while the tape is on."""
    x, n = tf.constant([0.5, 1.0, 2.0], tf.float64), tf.constant([0, 40, 1000])
    (found,) = gradients(deep, (x, n))
    for z in range(3):
        value, slope = float(x[z]), 1.0
        for _ in range(int(n[z])):
            slope = 0.999 * np.cos(value) * slope + 0.001
            value = 0.999 * np.sin(value) + 0.001 * float(x[z])
        np.testing.assert_allclose(found[z], (1.1 + np.sin(z)) * slope, rtol=1e-9)


@pytest.mark.parametrize("options", [{"shards": 3}, {"schedule": "earliest"}, {"optimizations": ()}, {"max_depth": 9}])
def test_ways_to_run(options):
    x, n = tf.linspace(tf.constant(0.5, tf.float64), 2.0, 7), tf.range(7)
    expected = gradients(tree.options(backend="local_static"), (x, n))
    assert_same(gradients(tree.options(**options), (x, n)), expected, rtol=1e-12)


def test_of_no_members():
    (found,) = gradients(tree, (X[:0], N[:0]))
    assert found.shape == [0]


def test_lanes_without_members():
    """What they compute is no number, and must not count for what all members share."""
    weight = tf.Variable(2.0, dtype=tf.float64)

    @ab.autobatch
    def scored(x, n):
        while n > 0:
            x = x + 0.5
            n = n - 1
        return tf.math.log(x) * weight / x

    x, n = tf.linspace(tf.constant(0.5, tf.float64), 2.0, 7), tf.range(7)
    expected = gradients(scored.options(backend="local_static", jit_compile=False), (x, n), [weight])
    assert_same(gradients(scored.options(shards=3), (x, n), [weight]), expected, rtol=1e-12)


def test_failed_members():
    @ab.autobatch
    def picky(x, n):
        assert n < 5, f"{n}"
        return tree(x, n)

    with pytest.raises(AssertionError) as raised:
        gradients(picky, (X, N))
    assert raised.value.members == (3,)


def test_what_the_code_closes_over():
    """Variables, as they are when the call is made; tensors; a layer; rows of a table."""
    scale, table = (
        tf.Variable(2.0, dtype=tf.float64),
        tf.Variable(tf.random.stateless_normal([10, 3], [1, 2], dtype=tf.float64)),
    )
    matrix = tf.random.stateless_normal([3, 3], [3, 4], dtype=tf.float64)
    small = tf.constant([1.0, 2.0, 0.5], tf.float64)

    @ab.autobatch
    def cell(h, k, n):
        while n > 0:
            h = tf.tanh(tf.linalg.matvec(matrix, h) * scale + table[k] * small)
            h = h + tf.gather(table, (k + 1) % 10) / (1.0 + tf.linalg.matmul(table, h[:, tf.newaxis])[0] ** 2)
            k = (k * 3 + 1) % 10
            n = n - 1
        return h

    h, k = tf.random.stateless_normal([4, 3], [5, 6], dtype=tf.float64), tf.range(4)
    others = [scale, table, matrix, small]

    def one_by_one(h, k, n):
        return tf.stack([cell.unbatched(h[z], k[z], n[z]) for z in range(4)])

    expected = gradients(one_by_one, (h, k, N), others)
    assert_same(gradients(cell, (h, k, N), others), expected, rtol=1e-9)
    with tf.GradientTape() as tape:
        value = weighted(cell(h, k, N))
    scale.assign(3.0)
    assert_same([tape.gradient(value, scale)], [expected[1]], rtol=1e-9)


def test_a_batched_primitive():
    weight = tf.Variable([1.0, -2.0, 0.5], dtype=tf.float64)

    @ab.primitive(batched=True)
    def scored(x):
        return tf.math.log(x) * weight

    @ab.autobatch
    def repeated(x, n):
        while n > 0:
            x = 2.0 + tf.sin(scored(x))
            n = n - 1
        return x

    x = tf.reshape(tf.range(1.0, 13.0, dtype=tf.float64), [4, 3])
    expected = gradients(repeated.options(backend="local_static", jit_compile=False), (x, N), [weight])
    assert_same(gradients(repeated, (x, N), [weight]), expected, rtol=1e-9)


@ab.autobatch
def endless_where_unused(x, n):
    """What nobody uses is times a constant without end, and divided by one that is zero."""
    steep = tf.where(x > 1.0, x, x * math.inf)
    return n * tf.where(x > 1.0, steep, x / tf.zeros([], x.dtype)) if n > 0 else x


def test_constants_that_zero_may_not_be_multiplied_with():
    found = gradient(lambda x: endless_where_unused(x, tf.cast(N, tf.float64)), X)
    np.testing.assert_array_equal(found, [1.0, 1.0, 3.0, 5.0])


def test_what_is_added_to_itself_again_and_again():
    @ab.autobatch(in_axes=(0, None))
    def doubled(x, w):
        for _ in ab.unroll(range(40)):
            w = w + w
        return w * x

    w = tf.constant(0.5, tf.float64)
    np.testing.assert_allclose(gradient(lambda w: doubled(X, w), w), 2.0**40 * np.sum(X), rtol=1e-12)


def test_lists_and_items():
    @ab.autobatch
    def cumulated(x, n):
        seen = [x[0]]
        for k in range(1, n):
            seen.append(seen[-1] * x[k])
            x[k - 1] = seen[-1] + x[k]
        total = 0.0
        for item in seen:
            total = total + item
        return total, x

    x = tf.reshape(tf.range(1.0, 17.0, dtype=tf.float64), [4, 4]) / 7
    n = tf.constant([1, 4, 2, 3])
    expected = gradients(cumulated.options(backend="local_static", jit_compile=False), (x, n))
    assert_same(gradients(cumulated, (x, n)), expected, rtol=1e-9)


@pytest.mark.parametrize("in_graph", [False, True])
def test_forward_derivatives_are_refused(in_graph):
    def slope(function):
        with tf.autodiff.ForwardAccumulator(X, tf.ones_like(X)) as accumulator:
            value = function(X, N)
        return accumulator.jvp(value)

    call = tf.function(slope, autograph=False) if in_graph else slope
    with pytest.raises(GradientError, match="backwards only"):
        call(newton)
    if not in_graph:
        expected = gradient(lambda x: newton(x, N), X)
        np.testing.assert_allclose(call(newton.options(backend="local_static")), expected, rtol=1e-12)


def test_second_derivatives_are_refused():
    with tf.GradientTape() as outer:
        outer.watch(X)
        slope = gradient(lambda x: tree(x, N), X)
    with pytest.raises(GradientError, match="first only"):
        outer.gradient(slope, X)


@pytest.mark.parametrize("place", ["inside", "around"])
@pytest.mark.parametrize("jit_compile", [False, True])
@pytest.mark.parametrize("name", ["tree", "newton"])
def test_in_a_graph(name, jit_compile, place):
    function, x = CASES[name]
    expected = gradient(lambda x: function.options(backend="local_static")(x, N), x)
    bounded = function.options(max_depth=10, max_steps=200 if jit_compile else None)
    if place == "inside":
        found = tf.function(lambda x: gradient(lambda x: bounded(x, N), x), autograph=False, jit_compile=jit_compile)(x)
    else:
        found = gradient(tf.function(lambda x: bounded(x, N), autograph=False, jit_compile=jit_compile), x)
    np.testing.assert_allclose(found, expected, rtol=1e-12)


@ab.autobatch
def mostly_first(x, n):
    """Its first loop records x, its second nothing, and runs twice."""
    total, k = 0.0 * x, 2
    while n > 0:
        x, n = tf.sin(x), n - 1
    while k > 0:
        total, k = total + x, k - 1
    return total


@pytest.mark.parametrize("bounded", [False, True])
def test_a_tape_for_steps_that_record_more_than_most(bounded, monkeypatch):
    """It is full before its steps are, and somebody takes it away; where nobody can, there is room for all."""
    monkeypatch.setattr(reversible, "MOST", 64)
    n = tf.constant([80, 7, 80, 1])
    steps = sum(block.counts[0] for block in mostly_first.options(shards=1, compact="never").lower(X, n).count().blocks)
    expected = gradient(lambda x: mostly_first.options(backend="local_static")(x, n), X)
    function = mostly_first.options(max_steps=int(steps) if bounded else None)
    call = tf.function(function, autograph=False, jit_compile=True) if bounded else function
    np.testing.assert_allclose(gradient(lambda x: call(x, n), X), expected, rtol=1e-12)


@ab.autobatch
def wanders(x, n):
    """Behind a turn of its loop some return and some go on."""
    while n > 0:
        x = tf.sin(x) + x * wanders(0.5 * x, n - 2)
        n = n - 1
    return x


@ab.autobatch
def on_its_own_way(x, n):
    both = tf.stack([x, 0.5 * x])
    if n <= 0:
        return x
    both = in_between(x, n - 1) * both
    return x + 0.0 * both[0]


@ab.autobatch
def in_between(x, n):
    return on_its_own_way(x, n)


@ab.autobatch
def ends_outside(x, n):
    """Its own last block runs behind the machine, not on it."""
    return in_between(x, n - 1) + x, tf.tanh(x)


@ab.autobatch
def ends_inside(x, n):
    if n <= 0:
        return x
    y = ends_inside(0.5 * x, n - 1)
    return x * turned(y, n)


@ab.autobatch
def turned(y, n):
    while n > 0:
        y = tf.sin(y) + y * ends_inside(y, n - 3)
        n = n - 1
    return y


@pytest.mark.parametrize("function", [ends_outside, ends_inside], ids=lambda f: f.__name__)
def test_depth_where_members_ended(function):
    expected = gradients(function.options(backend="local_static"), (X, N))
    assert_same(gradients(function, (X, N)), expected, rtol=1e-12)


def test_depth_is_recorded_only_where_some_return_and_some_go_on():
    text = wanders.lower(X, N).as_text("adjoint")
    assert "depth +1" in text
    assert ", depth\n" in text
    expected = gradients(wanders.options(backend="local_static"), (X, N))
    assert_same(gradients(wanders, (X, N)), expected, rtol=1e-12)


def test_tapes_that_stay():
    """A persistent tape, and one around another: first derivatives only."""
    with tf.GradientTape() as outer:
        outer.watch(X)
        with tf.GradientTape(persistent=True) as tape:
            tape.watch(X)
            y = newton(X, N)
            z = 2.0 * y
        first = tape.gradient(y, X), tape.gradient(z, X)
        product = X * y
    once = gradient(lambda x: newton(x, N), X)
    np.testing.assert_allclose([*first, outer.gradient(product, X) - y], [once, 2.0 * once, X * once])


def test_runs_that_wait_to_be_undone_have_tapes_of_their_own():
    """Each with its rows, whatever comes between, from several threads too; and what is done hands them to the next."""
    slopes = [gradient(lambda x, k=k: newton(x + k, N), X) for k in range(4)]
    runs = []
    for k in range(4):
        with tf.GradientTape() as tape:
            tape.watch(X)
            value = newton(X + float(k), N)
        runs.append((tape, value))
    for k in (2, 0, 3, 1):
        tape, value = runs[k]
        np.testing.assert_array_equal(tape.gradient(value, X), slopes[k])
    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(lambda k: gradient(lambda x: newton(x + k, N), X), [0, 1, 2, 3] * 5))
    np.testing.assert_array_equal(found, slopes * 5)


def test_reels_are_lent_and_kept_up_to_a_limit(monkeypatch):
    made, original = [], reels._variable
    monkeypatch.setattr(reels, "_variable", lambda value: made.append(value) or original(value))
    call = ab.autobatch(newton._fn)
    counts = []
    for _ in range(3):
        gradient(lambda x: call(x, N), X)
        counts.append(len(made))
    assert counts[0] == counts[1] == counts[2] > 0
    monkeypatch.setattr(reels, "KEPT", 0)
    other = ab.autobatch(newton._fn)
    for _ in range(3):
        gradient(lambda x: other(x, N), X)
    assert len(made) == 4 * counts[0]


def test_of_variables_in_a_graph():
    weight = tf.Variable(1.5, dtype=tf.float64)

    @ab.autobatch
    def decayed(x, n):
        while n > 0:
            x = x * weight
            n = n - 1
        return x

    @tf.function
    def train():
        with tf.GradientTape() as tape:
            value = tf.reduce_sum(decayed(X, N))
        return tape.gradient(value, weight)

    np.testing.assert_allclose(train(), np.sum(X.numpy() * N.numpy() * 1.5 ** (N.numpy() - 1.0)))


@pytest.mark.parametrize("options", [{}, {"jit_compile": False}])
def test_of_members_in_turn(options):
    """Five members on two lanes: the last batch begins among those that are done."""
    weight = tf.Variable(1.5, dtype=tf.float64)

    @ab.autobatch(**options)
    def powers(x, n):
        y, seen = weight, []
        while n > 0:
            y, n = y * x, n - 1
            seen.append(y)
        assert x > 0
        return y, seen

    x, n = np.array([0.5, 1.5, 2.0, 3.0, 1.25]), np.array([0, 1, 3, 5, 2])
    with tf.GradientTape() as tape:
        y, seen = powers.map(x, n, lanes=2)
        total = tf.reduce_sum(y) + tf.reduce_sum(seen.flat_values)
    assert seen.row_lengths().numpy().tolist() == n.tolist()
    np.testing.assert_allclose(y, 1.5 * x**n)
    expected = sum(each**k + sum(each**j for j in range(1, k + 1)) for each, k in zip(x, n, strict=True))
    np.testing.assert_allclose(tape.gradient(total, weight), expected)
    with tf.GradientTape(), pytest.raises(MemberError) as caught:
        powers.map(-x, n, lanes=2)
    assert caught.value.members == (0, 1, 2, 3, 4)


def test_what_a_graph_refuses():
    with pytest.raises(GradientError, match="max_steps"):
        gradient(tf.function(lambda x: newton(x, N), jit_compile=True, autograph=False), X)

    @tf.function(input_signature=[tf.TensorSpec([None], tf.float64), tf.TensorSpec([None], tf.int32)], autograph=False)
    def of_any_size(x, n):
        return newton(x, n)

    with pytest.raises(GradientError, match="size of the batch"):
        gradient(lambda x: of_any_size(x, N), X)


@pytest.mark.parametrize(
    "call",
    [
        lambda x: power.start(x, N).result(),
        lambda x: power.options(deadline=60.0)(x, N),
        lambda x: power.options(strategy=tf.distribute.OneDeviceStrategy("/cpu:0"))(x, N),
    ],
)
def test_what_a_tape_cannot_follow(call):
    with pytest.raises(SettingError, match="has no gradients"):
        gradient(call, X)


def test_as_text():
    text = tree.lower(X, N).as_text("adjoint")
    assert "cotangents: registers result, x; stacks left, x" in text
    assert "d left, d right, d x from result" in text


def test_of_shared_arguments():
    @ab.autobatch(in_axes=(0, None), backend="local_static")
    def scaled(n, weight):
        y = weight
        while n > 0:
            y = y * weight
            n = n - 1
        return y

    weight = tf.constant(2.0)
    found = gradient(lambda weight: scaled(tf.constant([0, 1, 2]), weight), weight)
    np.testing.assert_allclose(found, 1.0 + 2 * 2.0 + 3 * 4.0)
    found = gradient(lambda weight: scaled.options(backend="program_counter")(tf.constant([0, 1, 2]), weight), weight)
    np.testing.assert_allclose(found, 1.0 + 2 * 2.0 + 3 * 4.0)
