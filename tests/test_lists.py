"""Lists of each member's own length in all ways to call a function: their room, their results, saved runs, graphs."""

import numpy as np
import pytest
import tensorflow as tf

import autobatch as ab

N = tf.constant([3, 0, 50, 4])
LENGTHS = [3, 0, 50, 4]
INTERPRETED = {"backend": "local_static", "jit_compile": False}


@ab.autobatch(**INTERPRETED)
def squares(n):
    found = []
    for i in range(n):
        found.append(i * i % 7)
    return found


@ab.autobatch
def compiled(n):
    found = []
    for i in range(n):
        found.append(i * i % 7)
    return found


def python(n):
    return [i * i % 7 for i in range(n)]


def test_a_list_grows_beyond_its_first_room():
    assert squares(N).to_list() == [python(n) for n in LENGTHS]


@pytest.mark.compiles
def test_a_compiled_list_grows_too():
    assert compiled(N).to_list() == compiled.map(N, lanes=2).to_list() == [python(n) for n in LENGTHS]


def test_a_greatest_length():
    with pytest.raises(ab.errors.ListFullError, match="In member 2, a list has more than 10 items") as caught:
        squares.options(max_length=10)(N)
    assert caught.value.members == (2,)
    assert caught.value.results[3].numpy().tolist() == python(4)
    assert squares.options(max_length=50)(N).row_lengths().numpy().tolist() == LENGTHS
    with pytest.raises(ValueError, match="max_length must be None or an int of at least 1"):
        squares.options(max_length=0)


def test_a_greatest_length_of_a_list_that_begins_with_items():
    @ab.autobatch(max_length=8)
    def powers(x, n):
        out = [x]
        for _ in range(n):
            out.append(out[-1] * x)
        return sum(out)

    x, n = np.array([2, 3, 1]), np.array([0, 2, 6])
    assert powers(x, n).numpy().tolist() == [2, 39, 7]


def test_lists_that_grow_for_ever_end(monkeypatch):
    monkeypatch.setattr("autobatch.api.LONGEST", 300)
    with pytest.raises(ab.errors.ListFullError, match="more than 256 items"):
        squares(tf.constant([1000]))


@pytest.mark.compiles
def test_members_that_come_one_by_one():
    long_enough = compiled.options(max_length=64)
    found = list(long_enough.map(iter(N.numpy()), lanes=2))
    assert [one.tolist() for one in found] == [python(n) for n in LENGTHS]
    with pytest.raises(ab.errors.ListFullError, match="more than 20 items"):
        list(compiled.options(max_length=20).map(iter(N.numpy()), lanes=2))


@pytest.mark.compiles
def test_a_saved_run(tmp_path):
    long_enough = compiled.options(max_length=64)
    long_enough.start(N, autosave=tmp_path / "run").result()
    assert ab.load_run(long_enough, tmp_path / "run").result().to_list() == [python(n) for n in LENGTHS]


@pytest.mark.compiles
def test_inside_a_graph():
    inside = tf.function(compiled.options(max_length=64), autograph=False)
    assert inside(N).to_list() == [python(n) for n in LENGTHS]
    with pytest.raises(ab.errors.SettingError, match="Inside a tf.function lists cannot grow"):
        tf.function(compiled, autograph=False)(N)


def test_the_batch_in_plain_python():
    assert squares.options(backend="unbatched")(N).to_list() == [python(n) for n in LENGTHS]


def test_results_keep_their_dtype():
    assert squares(N).dtype == tf.int32
    assert squares(tf.cast(N, tf.int64)).dtype == tf.int64
    with pytest.raises(ab.errors.MemberError, match="does not fit int32, in members 1") as caught:
        powers(tf.constant([2, 40]))
    assert caught.value.members == (1,)


def test_all_whose_ints_do_not_fit_are_named_beside_other_failures():
    @ab.autobatch
    def f(n):
        a = b = 0
        for _ in range(n):
            a += 1_000_000_000
        for _ in range(4 - n):
            b += 1_000_000_000
        return a, b, 7 // (n - 2)

    @ab.autobatch
    def known(n):
        return 3000000000**3, 7 // n

    with pytest.raises(ZeroDivisionError) as caught:
        f(np.array([0, 1, 2, 3], np.int32))
    a, b, _ = caught.value.results
    assert caught.value.members == (0, 1, 2, 3)
    assert (a.numpy()[1], b.numpy()[3]) == (10**9, 10**9)
    with pytest.raises(ZeroDivisionError) as caught:
        known(np.array([1, 0, 2]))
    assert caught.value.members == (0, 1, 2)


@ab.autobatch(**INTERPRETED)
def powers(n):
    return [2**i for i in range(n)]


@ab.autobatch(**INTERPRETED)
def walk(x, n):
    path = [x]
    for _ in range(n):
        path.append(path[-1] * x)
    return sum(path)


def test_gradients():
    x = tf.constant([1.5, 2.0, 3.0])
    with tf.GradientTape() as tape:
        tape.watch(x)
        total = walk(x, tf.constant([2, 0, 1]))
    np.testing.assert_allclose(tape.gradient(total, x), [1 + 2 * 1.5 + 3 * 1.5**2, 1.0, 1 + 2 * 3.0], rtol=1e-6)


@ab.autobatch(**INTERPRETED)
def taken(values, n):
    while len(values) < n:
        values.append(values[-1] + 1)
    return values


def test_a_list_as_an_argument():
    values = [tf.constant([1, 5, 7]), tf.constant([2, 3, 9])]
    assert taken(values, tf.constant([4, 1, 3])).to_list() == [[1, 2, 3, 4], [5, 3], [7, 9, 10]]


def test_what_a_list_shows():
    with pytest.raises(AssertionError, match=r"too long: \[0, 1, 4, 2\]"):
        limited(tf.constant([2, 4]))


@ab.autobatch(**INTERPRETED)
def limited(n):
    found = [i * i % 7 for i in range(n)]
    assert len(found) < 3, f"too long: {found}"
    return found


@pytest.mark.compiles
def test_a_list_that_nobody_reads_any_more():
    @ab.autobatch
    def f(n):
        one, some = [n], [i for i in range(n)]
        if len(one) > 0:
            one.append(n)
            some.append(n)
        return n + 1

    np.testing.assert_array_equal(f(np.array([1, 2, 3])), [2, 3, 4])
