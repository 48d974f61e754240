"""Machines that stop, and go on deeper or smaller: nothing that was computed is lost, and nothing changes."""

import numpy as np
import pytest
import tensorflow as tf

import autobatch as ab
from autobatch.backends import compaction
from autobatch.backends.compaction import Account
from autobatch.machine import dispatch
from tests.backends import assert_same
from tests.programs import PROGRAMS


@pytest.fixture
def small_engines(monkeypatch):
    """Counts of members for which engines were made."""
    monkeypatch.setattr(compaction, "SMALLEST", 1)
    monkeypatch.setattr(compaction, "RATIO", 2)
    monkeypatch.setattr(dispatch, "LOOK", 1)
    made = []
    monkeypatch.setattr(Account, "__init__", _noted(Account.__init__, made))
    return made


def _noted(init, made):
    def wrapper(self, machine, parts, count, *others):
        made.append((count, machine.depth))
        init(self, machine, parts, count, *others)

    return wrapper


@pytest.mark.parametrize("name", ["fibonacci", "hofstadter_female", "tak", "adaptive_simpson"])
@pytest.mark.parametrize("jit_compile", [True, False])
def test_a_run_that_ends_in_small_engines_gives_the_same(name, jit_compile, small_engines):
    function, args = PROGRAMS[name]
    small = function.options(compact="always", jit_compile=jit_compile)
    assert_same(small(*args), function.options(backend="unbatched")(*args))
    assert len(small_engines) > 1
    assert_same(small(*args), function.options(backend="unbatched")(*args))


@ab.autobatch
def sum_to(n):
    assert n < 900, "too far"
    return 0 if n == 0 else n + sum_to(n - 1)


N = np.array([3, 40, 7, 20, 0, 70, 5, 1, 2, 24, 2, 4], np.int32)


@pytest.mark.parametrize("parts", [1, 3])
def test_smaller_and_deeper(parts, small_engines):
    f = sum_to.options(compact="always", shards=parts)
    np.testing.assert_array_equal(f(N), N * (N + 1) // 2)
    counts, depths = {count for count, _ in small_engines}, {depth for _, depth in small_engines}
    assert counts >= {12, 6, 3}
    assert depths >= {16, 32, 128}


def test_who_has_finished_keeps_its_results_when_others_need_too_deep_stacks():
    with pytest.raises(ab.errors.StackOverflowError) as caught:
        sum_to.options(max_depth=30)(N)
    assert caught.value.members == (1, 5)
    finished = np.delete(np.arange(12), [1, 5])
    np.testing.assert_array_equal(np.asarray(caught.value.results)[finished], (N * (N + 1) // 2)[finished])


@pytest.mark.parametrize("compact", ["always", "never"])
def test_failed_checks_are_kept(compact, small_engines):
    n = np.array([950, *N, 1000], np.int32)
    with pytest.raises(ab.errors.MemberAssertionError, match="too far") as caught:
        sum_to.options(compact=compact)(n)
    assert caught.value.members == (0, 13)
    np.testing.assert_array_equal(np.asarray(caught.value.results)[1:13], N * (N + 1) // 2)


def test_a_smaller_engine_is_compiled_once_it_would_have_paid(monkeypatch):
    """Times are as we say here: compiling takes 10 s, a look 1 s."""

    class Clock:
        now = 0.0

        def perf_counter(self):
            return self.now

    clock = Clock()
    monkeypatch.setattr(compaction, "time", clock)
    monkeypatch.setattr(compaction, "FIRST_PATIENCE", 2)
    monkeypatch.setattr(compaction, "FIRST_MOVING", 0.0)
    lowered = PROGRAMS["collatz"][0].lower(tf.range(1, 65))
    account = lowered._program.executable(64, lowered._options).account(0, 64)
    monkeypatch.setattr(account, "gain", 0.5)
    assert account.floor == 16
    limits = []

    def go(limit):
        limits.append(limit)
        if limit.looks == 0:  # to compile it
            clock.now += 10.0
            return _stop(looks=0, late=0)
        clock.now += limit.patience + 3
        return _stop(looks=limit.patience + 3, late=limit.patience)

    account.run(go)
    assert (account.price, account.pace, account.lost) == (10.0, 1.0, 1.0)
    assert not account.is_due(16)
    account.run(go)
    assert limits[-1].patience == 1 + 18  # 9 s are left, of which half a second is lost at each look
    assert account.is_due(16) and not account.is_due(17)


def _stop(looks, late):
    return compaction.Stop(None, [], dispatch.Looks(tf.constant(looks), tf.constant(late)))  # type: ignore[arg-type]


def test_what_is_never_cut_down():
    def floor(**options):
        lowered = PROGRAMS["collatz"][0].options(**options).lower(tf.range(1, 65))
        return lowered._program.executable(64, lowered._options).account(0, 64).floor

    assert floor() == 16
    assert floor(compact="never") == 0
    assert floor(max_steps=10) == 0


def test_the_call_that_only_compiles_runs_nothing():
    n = tf.range(1, 66)
    lowered = PROGRAMS["collatz"][0].options(shards=2).lower(n)  # parts of 33 lanes, of which one is empty
    account, looks = lowered._program.executable(65, lowered._options).account(0, 65), []
    stored = lowered._program.arguments(lowered._taken)

    def go(limit):
        stop = account.engine.begin(stored, [], limit)
        looks.append(int(stop.looks.all))
        return stop

    account.run(go)
    assert looks[0] == 0
    assert looks[1] > 0
