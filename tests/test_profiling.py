"""What ``ab.profile`` counts: it depends on how the machine runs, but for what the members themselves do."""

import numpy as np
import pytest
import tensorflow as tf

import autobatch as ab
from autobatch.backends import compaction
from autobatch.machine import dispatch, partial
from autobatch.machine.counts import MOMENTS
from examples.fibonacci import fibonacci

N = tf.constant([3, 7, 5, 4, 10, 6, 9, 1, 2, 8, 8, 3], tf.int32)


@ab.autobatch
def halvings(n):
    steps = 0
    while n > 1:
        n, steps = n // 2, steps + 1
    return steps


def test_a_loop():
    """The members halve 2, 5 and 0 times."""
    before, body = ab.profile(halvings, tf.constant([4, 32, 1])).blocks
    assert (before.runs, before.active, before.lanes) == (1, 3, 3)
    assert (body.runs, body.active, body.lanes) == (5, 7, 15)
    assert body.utilization == pytest.approx(7 / 15)
    assert [line for _, line in body.lines] == [halvings.__wrapped__.__code__.co_firstlineno + k for k in (3, 4)]


def calls(n):
    return 1 if n <= 1 else 1 + calls(n - 1) + calls(n - 2)


@pytest.fixture
def small(monkeypatch):
    """Chunks and engines of few members."""
    monkeypatch.setattr(partial, "LARGEST", 2)
    monkeypatch.setattr(compaction, "SMALLEST", 1)
    monkeypatch.setattr(compaction, "RATIO", 2)
    monkeypatch.setattr(dispatch, "LOOK", 1)


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"schedule": "weighed"},
        {"dispatch": "switch_case"},
        {"dispatch": "sweep"},
        {"dispatch": "rounds"},
        {"partial": "gather"},
        {"compact": "always"},
        {"compact": "always", "shards": 2, "partial": "gather"},
    ],
    ids=str,
)
def test_what_the_members_do_does_not_depend_on_the_machine(options, small):
    blocks = ab.profile(fibonacci.options(**options), N).blocks
    active = [block.active for block in blocks]
    inner = sum(calls(n) // 2 for n in N.numpy())
    assert sorted(active) == sorted([len(N), inner + len(N), inner, inner, inner])
    asks = options.get("dispatch") != "rounds"  # who waits, before it runs a block
    assert all(block.runs * asks <= block.active <= block.lanes for block in blocks)


def test_the_local_static_backend():
    """Of a recursion it runs each place of the tree by itself: never more members than call there."""
    profile = ab.profile(fibonacci.options(backend="local_static"), N)
    inner = sum(calls(n) // 2 for n in N.numpy())
    assert {block.name.split()[0] for block in profile.blocks} == {"fibonacci"}
    assert profile.blocks[0].active == 2 * inner + len(N)
    assert profile.blocks[0].lanes == len(N) * profile.blocks[0].runs
    assert profile.blocks[0].runs == calls(10)


def test_lanes_are_those_that_cost_time(small):
    whole = ab.profile(fibonacci.options(compact="never", partial="mask"), N)
    assert all(block.lanes == len(N) * block.runs for block in whole.blocks)
    chunks = ab.profile(fibonacci.options(compact="never", partial="gather"), N)
    assert any(block.lanes == 2 * block.runs for block in chunks.blocks)


@ab.autobatch
def sum_to(n):
    return 0 if n == 0 else n + sum_to(n - 1)


def test_stacks_that_grow():
    n = np.array([3, 200, 7], np.int32)
    assert max(block.active for block in ab.profile(sum_to, n).blocks) in (n.sum(), n.sum() + 3)


def test_the_table():
    profile = ab.profile(halvings, tf.constant([4, 32, 1]))
    head, _, *rows = str(profile).splitlines()
    assert head.startswith("halvings: 3 members, 6 block runs, ")
    first = halvings.__wrapped__.__code__.co_firstlineno
    (loop,) = [row for row in rows if "while n > 1" in row]
    assert loop.split()[0] == str(first + 3)
    (block,) = [row for row in rows if row.split()[:2] == ["1", "lines"]]
    assert "46.7%" in block
    assert "while n &gt; 1" in profile._repr_html_()


def test_lines_are_sums_over_their_blocks():
    """The test of the loop is in both blocks."""
    profile = ab.profile(halvings, tf.constant([4, 32, 1]))
    lines = {line.source: line for line in profile.lines}
    assert (lines["while n > 1:"].runs, lines["while n > 1:"].active) == (6, 10)
    assert (lines["n, steps = n // 2, steps + 1"].runs, lines["n, steps = n // 2, steps + 1"].active) == (5, 7)
    assert sum(line.share for line in profile.lines) == pytest.approx(1)
    assert sum(block.share for block in profile.blocks) == pytest.approx(1)


def test_a_line_with_calls_runs_as_often_as_python_runs_it():
    """The line of the calls is in three blocks, and begins in one of them."""
    profile = ab.profile(fibonacci, N)
    inner = sum(calls(n) // 2 for n in N.numpy())
    lines = {line.source: line.active for line in profile.lines}
    assert lines["return fibonacci(n - 2) + fibonacci(n - 1)"] == inner
    assert lines["if n <= 1:"] == 2 * inner + len(N)
    assert lines["return 1"] == inner + len(N)
    interpreted = ab.profile(fibonacci.options(backend="local_static"), N)
    assert {line.source: line.active for line in interpreted.lines} == lines


def test_the_spread_of_active_lanes():
    """Of 1, 2, ... 10 halvings: at the k-th run of the loop 11 - k of 10 members are active."""
    body = ab.profile(halvings, tf.constant([2**k for k in range(1, 11)])).blocks[1]
    assert body.spread == (1,) * 10
    assert body.active_each == 5.5


def test_what_a_call_returns():
    profile = ab.profile(fibonacci, N)
    np.testing.assert_array_equal(profile.result, fibonacci(N))
    assert (profile.function, profile.members) == ("fibonacci", len(N))
    np.testing.assert_array_equal(ab.profile(fibonacci, N, lanes=2).result, fibonacci(N))
    np.testing.assert_array_equal(ab.profile(fibonacci.options(backend="local_static"), N).result, fibonacci(N))


@pytest.mark.parametrize("options", [{}, {"shards": 2}, {"compact": "always"}, {"backend": "local_static"}], ids=str)
def test_the_depth_of_the_stacks(options, small):
    assert ab.profile(sum_to.options(**options), np.array([40, 3, 7], np.int32)).depth == 40
    assert ab.profile(halvings.options(**options), np.array([40, 3, 7], np.int32)).depth is None


@pytest.mark.parametrize("options", [{}, {"shards": 2}, {"backend": "local_static"}], ids=str)
def test_the_history_ends_with_the_counts(options):
    n = np.tile([1, 40, 700], 4)
    profile = ab.profile(sum_to.options(**options), n)
    assert profile.history is not None
    assert 10 < len(profile.history) < 2 * MOMENTS
    assert (np.diff(profile.history, axis=0) >= 0).all()
    assert profile.history[-1].tolist() == [[b.runs, b.active, b.lanes] for b in profile.blocks]


def test_advice():
    fading = ab.profile(halvings, tf.constant([2] * 60 + [2**30] * 4))
    assert "f.map" in fading.advice
    assert "line" in str(fading).splitlines()[-2]
    even = ab.profile(halvings, tf.constant([2**20] * 64))
    assert even.advice is None


def test_an_empty_batch(tmp_path):
    profile = ab.profile(fibonacci, N[:0])
    assert str(profile).startswith("fibonacci: 0 members, 0 block runs")
    profile.to_html(tmp_path / "f.html")
    with pytest.raises(ab.errors.SettingError, match="nothing to draw"):
        profile.plot(tmp_path / "f.png")


def test_what_cannot_be_profiled(tmp_path):
    with pytest.raises(ab.errors.SettingError, match="autobatched functions, not <built-in function len>"):
        ab.profile(len, N)
    with pytest.raises(ab.errors.SettingError, match="lanes and steps"):
        ab.profile(fibonacci, N).to_html(tmp_path / "f.html", lanes=0)


@pytest.mark.parametrize("lanes", [None, 4])
def test_the_picture(tmp_path, lanes):
    profile = ab.profile(fibonacci, N, lanes=lanes)
    profile.plot(tmp_path / "f.png")
    profile.plot(tmp_path / "f.svg")
    assert (tmp_path / "f.png").read_bytes().startswith(b"\x89PNG")
    assert "utilization" in (tmp_path / "f.svg").read_text()


def test_errors_are_those_of_a_call():
    with pytest.raises(ab.errors.StackOverflowError):
        ab.profile(sum_to.options(max_depth=5), np.array([3, 200], np.int32))
