"""Runs that are cut, saved, killed and taken up again: bit for bit what a call returns."""

import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
import tensorflow as tf
from hypothesis import given, settings
from hypothesis import strategies as st

import autobatch as ab
from autobatch.backends import execution
from autobatch.calls import run_file, runs
from autobatch.errors import (
    DeadlineError,
    MemberAssertionError,
    RunFileError,
    SettingError,
    StackOverflowError,
    StepLimitError,
)
from tests import killed
from tests.backends import assert_same
from tests.fuzz.control import accepted, arguments, programs
from tests.fuzz.test_fuzz import fixed
from tests.programs import collatz
from tests.replicas import fibonacci, sum_to

FACTOR = 2


def scaled(x):
    return FACTOR * x


@ab.autobatch
def tripled(n):
    assert n != 13, "unlucky"
    return 3 * n


@ab.autobatch
def doubled(n):
    total = 0
    while n > 0:
        total = total + scaled(n)
        n = n - 1
    return total


@pytest.fixture
def quick(monkeypatch):
    """Rounds as short as can be."""
    monkeypatch.setattr(runs, "ROUND", 0.0)


def taken_up(run, function, path):
    run.save(path)
    return ab.load_run(function, path)


@settings(fixed, max_examples=6)
@given(text=programs(), values=arguments, cuts=st.lists(st.integers(0, 20), max_size=3))
def test_random_programs(text, values, cuts):
    f = accepted(text, values)
    run = f.options(jit_compile=False).start(*values)
    for steps in cuts:
        run.advance(steps)
    assert_same(run.result(), f.options(backend="unbatched")(*values))


@pytest.mark.parametrize("options", [{}, {"shards": 2}, {"compact": "always"}, {"compact": "never"}])
def test_wherever_it_is_cut(options, tmp_path):
    n = tf.constant(np.random.default_rng(0).integers(0, 15, 200))
    f, rng, expected = fibonacci.options(**options), random.Random(0), fibonacci(n).numpy()
    run = f.start(n)
    while not run.is_over:
        run.advance(rng.choice([0, 1, 10, 100, 1000]))
        members, results = run.partial_result()
        np.testing.assert_array_equal(members, np.flatnonzero(run.finished))
        np.testing.assert_array_equal(results, expected[members])
        if rng.random() < 0.3:
            run = taken_up(run, f, tmp_path / "run")
    np.testing.assert_array_equal(run.result(), expected)
    assert run.progress.finished == run.progress.members == 200


def test_it_is_loaded_into_other_parts(tmp_path):
    n = tf.range(20)
    fibonacci.options(shards=3).start(n).advance(5).save(tmp_path / "run")
    run = ab.load_run(fibonacci.options(shards=2), tmp_path / "run")
    assert 0 < run.progress.finished < 20
    np.testing.assert_array_equal(run.result(), fibonacci(n))


def test_a_step_is_a_turn():
    run = fibonacci.start(tf.constant([20]))
    assert run.advance(7).progress == (0, 1, 7)
    assert run.advance(0).progress.steps == 7
    assert run.advance(seconds=0).progress.steps == 7
    assert repr(run) == "<Run of fibonacci: 0 of 1 members finished after 7 steps>"


def test_a_limit_in_seconds():
    run = fibonacci.start(tf.constant([31]))
    start = time.monotonic()
    assert not run.advance(seconds=0.2).is_over
    assert time.monotonic() - start < 2


def test_stacks_deepen(tmp_path):
    run = sum_to.start(tf.constant([100, 3]))
    while not run.is_over:
        run = taken_up(run.advance(20), sum_to, tmp_path / "run")
    np.testing.assert_array_equal(run.result(), [5050, 6])


def test_an_error_keeps_the_others(tmp_path):
    run = taken_up(tripled.start(tf.constant([3, 13, 4])).advance(), tripled, tmp_path / "run")
    assert run.is_over and run.finished.all()
    np.testing.assert_array_equal(run.partial_result()[0], [0, 2])
    np.testing.assert_array_equal(run.partial_result()[1], [9, 12])
    with pytest.raises(MemberAssertionError, match="unlucky") as caught:
        run.result()
    assert caught.value.members == (1,)


def test_a_call_that_ran_out_of_steps(tmp_path):
    with pytest.raises(StepLimitError) as caught:
        fibonacci.options(max_steps=50)(tf.constant([3, 20, 5]))
    run = caught.value.run
    assert not run.is_over and not run.finished[1]
    np.testing.assert_array_equal(taken_up(run, fibonacci, tmp_path / "run").result(), [3, 10946, 8])
    with pytest.raises(StepLimitError) as caught:
        collatz.options(max_steps=50)(tf.range(1, 100))
    np.testing.assert_array_equal(caught.value.run.result(), collatz(tf.range(1, 100)))


def test_a_call_that_ran_out_of_time(tmp_path, monkeypatch):
    monkeypatch.setattr(runs, "ROUND", 0.02)  # a busy computer makes a long one of half a second
    n = tf.constant([3, 28, 5])
    with pytest.raises(DeadlineError, match=r"Member 1 did not finish within deadline=0\.2 seconds\.") as caught:
        fibonacci.options(deadline=0.2)(n)
    error, expected = caught.value, fibonacci(n).numpy()
    assert error.members == (1,) and error.places
    np.testing.assert_array_equal(error.results.numpy()[[0, 2]], expected[[0, 2]])
    run = error.run
    assert run.finished.tolist() == [True, False, True]
    np.testing.assert_array_equal(taken_up(run, fibonacci, tmp_path / "run").result(), expected)
    np.testing.assert_array_equal(fibonacci.options(deadline=600)(n), expected)
    compiled = fibonacci.options(deadline=600).lower(n).compile()
    np.testing.assert_array_equal(compiled(n), expected)


def test_a_deadline_that_cannot_be_kept():
    n = tf.constant([3])
    with pytest.raises(SettingError, match="no state that could be paused"):
        fibonacci.options(deadline=1, backend="local_static")(n)
    with pytest.raises(SettingError, match="unbatched backend has no deadline"):
        fibonacci.options(deadline=1, backend="unbatched")(n)
    with pytest.raises(SettingError, match="not both"):
        fibonacci.options(deadline=1, max_steps=3)(n)
    with pytest.raises(SettingError, match="limits of a call"):
        fibonacci.options(deadline=1).map(n)
    with pytest.raises(SettingError, match="limits of a call"):
        fibonacci.options(deadline=1).start(n)
    with pytest.raises(ValueError, match="deadline must be None or seconds, at least 0, not -1"):
        fibonacci.options(deadline=-1)


def test_too_deep():
    run = sum_to.options(max_depth=20).start(tf.constant([3, 30, 4]))
    with pytest.raises(StackOverflowError) as caught:
        run.result()
    assert caught.value.members == (1,)
    assert run.is_over and run.finished.tolist() == [True, False, True]


def test_no_members():
    assert_same(collatz.start(tf.zeros([0], tf.int32)).result(), collatz(tf.zeros([0], tf.int32)))


def test_interrupted(monkeypatch, tmp_path):
    fresh = ab.autobatch(fibonacci._fn)  # whose stacks have not grown yet
    n, go_on, rounds = tf.constant([20, 3]), execution.go_on, []

    def interrupted(*args):
        rounds.append(args)
        if len(rounds) == 2:  # when the stacks are full; how many there are else depends on the machine
            signal.raise_signal(signal.SIGINT)
        return go_on(*args)

    run = fresh.start(n, autosave=tmp_path / "run", every=1e9)
    monkeypatch.setattr(execution, "go_on", interrupted)
    with pytest.raises(KeyboardInterrupt, match=r"1 of 2 members finished after .* is paused; \.advance\(\)"):
        run.result()
    assert len(rounds) == 2
    assert ab.load_run(fresh, tmp_path / "run").progress == run.progress
    np.testing.assert_array_equal(run.result(), fresh(n))


def test_a_file_that_cannot_be_written_keeps_nobody_from_the_result(tmp_path):
    n = tf.constant([3, 5])
    for path in (tmp_path, tmp_path / "nowhere" / "run"):
        with pytest.raises(SettingError, match="autosave must be a file in a folder"):
            fibonacci.start(n, autosave=path)
    folder = tmp_path / "soon_gone"
    folder.mkdir()
    run = fibonacci.start(n, autosave=folder / "run")
    folder.rmdir()
    with pytest.warns(RuntimeWarning, match="could not save itself"):
        assert run.result().numpy().tolist() == [3, 8]


def test_it_saves_itself(quick, tmp_path):
    run = fibonacci.start(tf.constant([16, 3]), autosave=tmp_path / "run", every=0.0)
    run.advance(100)
    assert ab.load_run(fibonacci, tmp_path / "run").progress == run.progress
    result = run.result()
    np.testing.assert_array_equal(ab.load_run(fibonacci, tmp_path / "run").result(), result)
    assert os.listdir(tmp_path) == ["run"]


def test_a_bar(capsys):
    run = fibonacci.start(tf.constant([3, 20, 5]), progress=True)
    run.result()
    shown = capsys.readouterr().err
    assert "3/3" in shown and "steps/s" in shown and "of the lanes at work" in shown
    fibonacci.start(tf.constant([3, 20, 5])).result()
    assert not capsys.readouterr().err


# Files


@pytest.fixture
def saved(tmp_path):
    path = tmp_path / "run"
    doubled.start(tf.range(100)).advance(10).save(path)
    return path


def test_a_file_that_was_cut_off(saved):
    content = saved.read_bytes()
    for size in (*range(120), len(content) // 2, len(content) - 1):
        saved.write_bytes(content[:size])
        with pytest.raises(RunFileError):
            ab.load_run(doubled, saved)


def test_a_damaged_file(saved):
    content, rng = saved.read_bytes(), random.Random(0)
    for place in (*range(100), *(rng.randrange(len(content)) for _ in range(100))):
        saved.write_bytes(content[:place] + bytes([content[place] ^ 1 << rng.randrange(8)]) + content[place + 1 :])
        with pytest.raises(RunFileError):
            ab.load_run(doubled, saved)


def test_a_file_of_another_version(saved, monkeypatch):
    monkeypatch.setattr(run_file, "VERSION", run_file.VERSION + 1)
    with pytest.raises(RunFileError, match=r"is of version \d; this is version \d"):
        ab.load_run(doubled, saved)


def test_a_file_that_is_not_there(tmp_path):
    with pytest.raises(FileNotFoundError):
        ab.load_run(doubled, tmp_path / "run")


def test_another_function(saved):
    with pytest.raises(RunFileError, match="holds a run of `doubled`"):
        ab.load_run(sum_to, saved)


@pytest.mark.parametrize(("name", "value"), [("FACTOR", 3), ("scaled", lambda x: x)])
def test_what_it_reads_from_outside_has_changed(saved, monkeypatch, name, value):
    monkeypatch.setitem(globals(), name, value)
    with pytest.raises(RunFileError, match="it has changed, or what it reads from outside has"):
        ab.load_run(doubled, saved)


def test_other_optimizations(saved):
    with pytest.raises(RunFileError, match="it has changed"):
        ab.load_run(doubled.options(optimizations=("registers",)), saved)


def test_what_cannot_be_pickled(tmp_path):
    @ab.autobatch(static_argnames=("f",))
    def applied(f, x):
        while x < 10:
            x = f(x)
        return x

    with pytest.raises(RunFileError, match="cannot be pickled"):
        applied.start(lambda x: x + 1, tf.range(3)).save(tmp_path / "run")
    assert not os.listdir(tmp_path)


def test_what_cannot_be_started():
    with pytest.raises(SettingError, match="no state that could be paused"):
        collatz.options(backend="local_static").start(tf.range(1, 3))
    with pytest.raises(SettingError, match="max_steps"):
        collatz.options(max_steps=10).start(tf.range(1, 3))
    with pytest.raises(SettingError, match="outside of tf.function"):
        tf.function(lambda n: collatz.start(n), autograph=False)(tf.range(1, 3))


def test_killed_at_random_moments(tmp_path):
    """Four times, with SIGKILL: each process goes on from where the last one saved itself."""
    path, rng, seen = tmp_path / "run", random.Random(0), 0
    command, root = [sys.executable, "-m", "tests.killed", path], Path(__file__).parent.parent
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.DEVNULL}
    with subprocess.Popen(command, cwd=root, text=True, **pipes) as processes:
        for _ in range(4):
            print(file=processes.stdin, flush=True)
            process, steps = map(int, processes.stdout.readline().split())  # it has begun
            assert steps >= seen
            seen = steps
            time.sleep(rng.uniform(0, 0.15))
            os.kill(process, signal.SIGKILL)
        processes.stdin.close()
    run = ab.load_run(killed.slow, path)
    assert run.progress.steps >= seen > 0
    np.testing.assert_array_equal(run.result(), killed.slow(tf.constant(killed.MEMBERS)))
