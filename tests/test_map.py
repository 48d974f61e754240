"""Any number of members over a few lanes: the same answers, in order, and nothing lost."""

import gc
import itertools
import queue
import subprocess
import sys
import threading

import numpy as np
import pytest
import tensorflow as tf
from hypothesis import given, settings

import autobatch as ab
from autobatch.backends import members
from tests.backends import assert_same
from tests.fuzz.control import accepted, arguments, programs
from tests.fuzz.test_fuzz import fixed
from tests.programs import collatz


@ab.autobatch
def sum_to(n):
    assert n < 900, f"{n} is too far"
    return 0 if n == 0 else n + sum_to(n - 1)


@pytest.fixture
def small_pools(monkeypatch):
    """Pools of a few members, and results that may wait for few others."""
    monkeypatch.setattr(members, "LARGEST", 1)
    monkeypatch.setattr(members, "WAITING", 1)


@settings(fixed, max_examples=5)
@given(text=programs(), values=arguments)
def test_random_programs(text, values):
    f = accepted(text, values)
    assert_same(f.options(jit_compile=False).map(*values, lanes=2), f.options(backend="unbatched")(*values))


@pytest.mark.parametrize(("lanes", "shards"), [(1, 1), (7, 1), (64, 2), (300, 3), (5000, 1)])
def test_a_batch_in_order(lanes, shards, small_pools):
    n = np.arange(1, 3001)
    np.testing.assert_array_equal(collatz.options(shards=shards).map(n, lanes=lanes), collatz(n))


def test_an_empty_batch():
    assert_same(collatz.map(tf.zeros([0], tf.int32)), collatz(tf.zeros([0], tf.int32)))


def test_the_lanes_are_kept_busy():
    n = np.arange(1, 4001)
    plain, refilled = ab.profile(collatz, n).costliest, ab.profile(collatz, n, lanes=64).costliest
    assert refilled.active == plain.active
    assert plain.utilization < 0.5 and refilled.utilization > 0.9


def test_random_numbers_do_not_depend_on_the_lanes():
    @ab.autobatch
    def walk(key):
        x, steps = 0.0, 0
        while abs(x) < 2.0:
            x = x + ab.random.normal(ab.random.fold_in(key, steps))
            steps += 1
        return x, steps

    keys = ab.random.split(ab.random.key(0), 100)
    for got, expected in zip(walk.map(keys, lanes=8), walk(keys), strict=True):
        np.testing.assert_array_equal(got, expected)


# Members that come one by one


def test_a_generator(small_pools):
    found = list(collatz.options(shards=2).map((n for n in range(1, 2001)), lanes=32))
    assert found == collatz(tf.range(1, 2001)).numpy().tolist()


def test_a_generator_without_end(small_pools):
    taken = []
    stream = collatz.map((taken.append(n) or n for n in itertools.count(1)), lanes=8)
    assert list(itertools.islice(stream, 100)) == collatz(tf.range(1, 101)).numpy().tolist()
    stream.close()
    assert len(taken) < 400


def test_a_dataset_of_nests():
    @ab.autobatch(in_axes=(0, None))
    def scaled(point, by):
        x, name = point["x"], point["n"]
        while tf.reduce_sum(x) < by:
            x = 2.0 * x
        return {"x": x, "n": name}

    x = np.random.default_rng(0).uniform(0.1, 1.0, [50, 3]).astype(np.float32)
    data = tf.data.Dataset.from_tensor_slices({"x": x, "n": np.arange(50)})
    found = list(scaled.map(data, 5.0, lanes=8))
    expected = scaled({"x": x, "n": np.arange(50)}, 5.0)
    assert [one["n"] for one in found] == list(range(50))
    np.testing.assert_array_equal(np.stack([one["x"] for one in found]), expected["x"])


def test_several_streams():
    @ab.autobatch
    def power(x, n):
        result = 1.0
        for _ in range(n):
            result = result * x
        return result

    assert list(power.map(iter([2.0, 3.0, 0.5]), n=iter([3, 2, 1]))) == [8.0, 9.0, 0.5]


def test_one_stream_for_several_arguments():
    @ab.autobatch(static_argnames="times")
    def power(x, n, times=1):
        result = 1.0
        for _ in range(n):
            result = result * x
        return result * times

    pairs = [(2.0, 3), (3.0, 2), (0.5, 1)]
    assert list(power.map(iter(pairs))) == [8.0, 9.0, 0.5]
    data = tf.data.Dataset.from_tensor_slices(tuple(map(list, zip(*pairs, strict=True))))
    assert list(power.map(data, times=2, lanes=2)) == [16.0, 18.0, 1.0]
    found = power.map(iter([*pairs, (1.0, 2, 3)]))
    assert [next(found) for _ in pairs] == [8.0, 9.0, 0.5]
    with pytest.raises(ab.errors.BatchShapeError, match="`power` needs 2 arguments, and a member is not that many"):
        next(found)


def test_one_stream_for_one_argument_and_keywords():
    @ab.autobatch
    def scaled(x, *, by=2):
        return x * by

    @ab.autobatch
    def named(x, **kw):
        return x

    assert list(scaled.map(iter([1, 2]))) == [2, 4]
    with pytest.raises(ab.errors.UnsupportedSyntaxError, match=r"`\*\*kw` parameters"):
        list(named.map(iter([1, 2])))


def test_no_members():
    assert list(collatz.map(iter(()))) == []


def test_one_that_takes_long_holds_nobody_up_for_ever(small_pools):
    """The others' results wait for its turn, and the members behind them for room."""

    @ab.autobatch
    def count_to(n):
        k = 0
        while k < n:
            k += 1
        return k

    n = [300_000, *range(500)]
    assert list(count_to.options(shards=2).map(iter(n), lanes=4)) == n


# What goes wrong


def test_deeper_stacks(small_pools):
    n = np.array([3, 120, 7, 40, 0, 300, 5, 1, 2, 60, 2, 4] * 4, np.int32)
    for shards in (1, 2):
        np.testing.assert_array_equal(sum_to.options(shards=shards).map(n, lanes=6), n * (n + 1) // 2)


def test_stacks_that_may_not_be_deeper(small_pools):
    n = np.array([3, 120, 7, 40, 0, 300, 5], np.int32)
    with pytest.raises(ab.errors.StackOverflowError, match=r"2 members \(1, 5\).*max_depth=50") as raised:
        sum_to.options(max_depth=50).map(n, lanes=2)
    assert raised.value.members == (1, 5)
    assert raised.value.results.numpy()[[0, 2, 3, 4, 6]].tolist() == [6, 28, 820, 0, 15]
    assert sum_to.map(n, lanes=2).numpy().tolist() == (n * (n + 1) // 2).tolist()


def test_a_member_that_fails():
    n = np.array([3, 1000, 7, 2000, 5], np.int32)
    with pytest.raises(ab.errors.MemberAssertionError, match="1000 is too far") as raised:
        sum_to.map(n, lanes=2)
    assert raised.value.members == (1, 3)
    assert raised.value.results.numpy()[[0, 2, 4]].tolist() == [6, 28, 15]


def test_a_member_of_a_stream_that_fails():
    stream = sum_to.map(iter([3, 7, 1000, 5, 2000]), lanes=2)
    assert [next(stream), next(stream)] == [6, 28]
    with pytest.raises(ab.errors.MemberAssertionError, match="member 2.*1000 is too far"):
        next(stream)


def test_a_generator_that_uses_one_array_again():
    @ab.autobatch
    def double(x):
        return x * 2.0

    def arrays():
        array = np.zeros(2, np.float32)
        for k in range(5):
            array[:] = k
            yield array

    assert [row.tolist() for row in double.map(arrays(), lanes=2)] == [[2.0 * k, 2.0 * k] for k in range(5)]


def test_a_source_that_waits_holds_nobody_up():
    waiting = queue.Queue()
    for k in range(1, 31):
        waiting.put(k)
    stream = collatz.map(iter(waiting.get, None), lanes=1)
    assert next(stream) == 0
    closing = threading.Thread(target=stream.close)
    closing.start()
    waiting.put(None)
    closing.join(60)
    assert not closing.is_alive()


@ab.autobatch
def for_ever_if_negative(n):
    while n < 0:
        n = n - 0
    return n


@pytest.mark.parametrize("shards", [1, 2])
def test_a_member_without_end_holds_nobody_up_who_comes_before_it(shards):
    stream = for_ever_if_negative.options(shards=shards).map(iter([1, 2, -1, -1, 5, -1]), lanes=2)
    assert [next(stream), next(stream)] == [1, 2]
    stream.close()


def test_an_iterator_that_the_garbage_collector_finds():
    class Owner:
        pass

    for _ in range(3):
        owner = Owner()
        owner.stream, owner.itself = collatz.map(iter(range(1, 10_000)), lanes=4), owner
        next(owner.stream)
        del owner
        gc.collect()


@ab.autobatch
def power_of_ten(n):
    total = 1
    while n > 0:
        total, n = total * 10, n - 1
    return total


def test_a_result_that_does_not_fit_comes_in_its_turn():
    found = []
    with pytest.raises(ab.errors.MemberError, match="does not fit int32, in members 3") as raised:
        found.extend(power_of_ten.map(iter([1, 5, 9, 12, 2, 15]), lanes=2))
    assert found == [10, 10**5, 10**9] and raised.value.members[0] == 3  # and who else does not fit of the same harvest


@pytest.mark.parametrize("shards", [1, 2])
def test_a_generator_that_raises(small_pools, shards):
    def numbers():
        yield from range(1, 50)
        raise OSError("the disk is gone")

    found = []
    with pytest.raises(OSError, match="the disk is gone"):
        found.extend(collatz.options(shards=shards).map(numbers(), lanes=4))
    assert_same(tf.constant(found), collatz(tf.range(1, 50)))


@pytest.mark.parametrize(
    ("stream", "message"),
    [
        (lambda: [None, 1], "Member 0 is no tensor"),
        (lambda: [1, None], "Member 1 is not like the one before it"),
        (lambda: [1.0, 2.0, 3], "Member 2 is not like the one before it: float and int"),
        (lambda: [1, 2, 3, 2**40], "Member 3 is not like the one before it: an int does not fit int32"),
        (lambda: [np.float64(1.0), np.float32(2.0)], "Member 1 is not like the one before it: float32 and float64"),
        (lambda: [*map(tf.zeros, [[2]] * 9), tf.zeros([3])], "Member 9 is not like the one before it"),
        (lambda: [(1, 2.0), (2, 3.0), 3, (4, 5.0)], "Member 2 is not like the one before it"),
    ],
)
def test_members_that_are_not_alike(stream, message):
    @ab.autobatch
    def same(x):
        return x

    members, found = stream(), []
    with pytest.raises(ab.errors.BatchShapeError, match=message):
        found.extend(same.map(iter(members)))
    assert f"Member {len(found)} " in message


def test_later_members_that_are_not_alike(small_pools):
    stream, found = collatz.map(itertools.chain(range(1, 50), np.linspace(1, 2, 50)), lanes=1), []
    with pytest.raises(ab.errors.BatchShapeError, match=r"Member 49 .*(than those before it|not like)"):
        found.extend(stream)
    assert len(found) == 49


def test_streams_of_different_lengths():
    @ab.autobatch
    def added(x, y):
        return x + y

    with pytest.raises(ab.errors.BatchShapeError, match="different lengths"):
        list(added.map(iter([1, 2, 3]), iter([1, 2])))


def test_a_stream_beside_an_array():
    @ab.autobatch
    def added(x, y):
        return x + y

    with pytest.raises(ab.errors.BatchShapeError, match=r"they must in all that have a batch axis: iter\(x\)"):
        list(added.map(iter([1, 2, 3]), np.arange(3)))
    shared = list(added.options(in_axes=(0, None)).map(iter([1, 2]), np.arange(3, dtype=np.int32)))
    assert [x.tolist() for x in shared] == [[1, 2, 3], [2, 3, 4]]


@pytest.mark.parametrize(
    ("options", "lanes", "message"),
    [
        ({}, 0, "lanes must be an int of at least 1, not 0"),
        ({"backend": "local_static"}, 2, "has no lanes"),
        ({"max_steps": 10}, 2, "max_steps"),
    ],
)
def test_settings(options, lanes, message):
    with pytest.raises(ab.errors.SettingError, match=message):
        collatz.options(**options).map(tf.range(1, 5), lanes=lanes)


def test_not_inside_a_function():
    with pytest.raises(ab.errors.SettingError, match="outside of tf.function"):
        tf.function(lambda n: collatz.map(n), autograph=False)(tf.range(1, 5))


def test_not_with_a_primitive_that_knows_its_members():
    known = ab.primitive(lambda x: x + tf.range(4.0), batched=True, size=4)

    @ab.autobatch
    def f(x):
        return known(x)

    with pytest.raises(ab.errors.SettingError, match="by their lane"):
        f.map(tf.zeros([4]), lanes=4)


def test_a_bar(capsys):
    collatz.map(tf.range(1, 200), lanes=8, progress=True)
    assert "199/199" in capsys.readouterr().err


def test_an_iterator_that_is_left_does_not_keep_the_process_alive():
    program = (
        "import itertools, tests.programs as p\n"
        "results = p.PROGRAMS['collatz'][0].map(itertools.count(1), lanes=4)\n"
        "print(next(results), flush=True)\n"
    )
    ended = subprocess.run([sys.executable, "-c", program], timeout=120, capture_output=True, text=True)
    assert (ended.returncode, ended.stdout) == (0, "0\n"), ended.stderr


def test_members_that_return_no_tensors():
    @ab.autobatch
    def nothing(n):
        while n > 0:
            n = n - 1

    assert list(nothing.map(iter(range(3)), lanes=2)) == [None] * 3


def test_another_axis_of_what_has_none():
    with pytest.raises(ab.errors.SettingError, match="no batch axis"):
        collatz.options(in_axes=1).map(iter(range(3)), lanes=2)
