"""Programs that outlive their process: the same bits, nothing lowered, and no harm from a bad folder."""

import errno
import os
import pickle
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest
import tensorflow as tf

import autobatch as ab
from autobatch import cache, files, reads
from autobatch.machine import pieces

ROOT = Path(__file__).parent.parent
NAME = "a" + cache.SUFFIX


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setenv(cache.SETTING, str(tmp_path / "programs"))
    return tmp_path / "programs"


def told(folder, where, *names):
    """What a process prints that calls all kinds of programs, or those."""
    command = [sys.executable, "-m", "tests.kept", str(where), *names]
    env = {**os.environ, cache.SETTING: str(folder)}
    env.pop("AUTOBATCH_VERIFY", None)
    run = subprocess.run(command, cwd=ROOT, env=env, capture_output=True, text=True)
    assert run.returncode == 0, run.stderr
    assert "Error parsing" not in run.stderr
    *lines, lowered = run.stdout.splitlines()
    return lines, lowered.removeprefix("lowered:").split()


def test_another_process_lowers_nothing_and_gets_the_same_bits(tmp_path):
    lines, lowered = told(tmp_path / "programs", tmp_path)
    assert len(lowered) == len(set(lowered)) == 11
    assert told(tmp_path / "programs", tmp_path) == (lines, [])
    damaged = list(map(damage, (tmp_path / "programs").iterdir()))
    assert sum(damaged) > len(lines)
    some = ["fibonacci", "sum_to, too far", "sum_to, by map", "a run"]
    found = [line for line in lines if line.split(": ")[0] in some]
    assert len(found) == len(some)
    assert told(tmp_path / "programs", tmp_path, *some) == (found, [])


def damage(file):
    """What XLA made of a piece, as if it were another processor's; whether the file is of one."""
    content = files.read(file, cache._TITLE)
    if pieces._Kept.__name__.encode() not in content[:200]:
        return False
    kept = pickle.loads(content)
    name, made = kept.executable
    files.write(file, cache._TITLE, pickle.dumps(replace(kept, executable=(name, made[: len(made) // 2]))))
    return True


@ab.autobatch
def doubled(x):
    while x < 8:
        x = 2 * x
    return x


def of_doubled():
    """Of a new function each time, so that nothing is in memory."""
    return ab.autobatch(doubled.__wrapped__)(tf.constant([1, 3])).numpy().tolist()


class Growth:
    def __init__(self, rate):
        self.rate = rate

    @ab.autobatch
    def step(self, x):
        return x * self.rate if x > 0 else x


def test_what_was_kept_for_an_object_is_not_for_what_the_object_becomes(folder):
    x = tf.constant([1.0, -1.0])
    for _ in range(2):  # the second is another object of the same content, and gets what was kept for the first
        growth = Growth(3.0)
        assert growth.step(x).numpy().tolist() == [3.0, -1.0]
        growth.rate = 5.0
        assert growth.step(x).numpy().tolist() == [5.0, -1.0]
    assert len(list(folder.iterdir())) == 4  # two programs, and a piece of each


LEVEL = 2.0


@ab.autobatch
def stairs(n):
    return 0.0 if n < 1.0 else stairs(n - 1.0) + LEVEL


def test_a_run_of_what_was_kept_does_not_go_on_with_another_program(folder, monkeypatch):
    ab.autobatch(stairs.__wrapped__).start(tf.constant([1.0, 2.0])).result()
    run = ab.autobatch(stairs.__wrapped__).start(tf.constant([1.0, 40.0]))
    monkeypatch.setattr(sys.modules[__name__], "LEVEL", 5.0)
    with pytest.raises(ab.errors.AutobatchError, match="`LEVEL`, which the program reads, has changed"):
        run.result()


def test_a_run_that_was_lowered_here_goes_on_as_it_began(folder, monkeypatch):
    run = ab.autobatch(stairs.__wrapped__).start(tf.constant([1.0, 40.0]))
    monkeypatch.setattr(sys.modules[__name__], "LEVEL", 5.0)
    assert run.result().numpy().tolist() == [2.0, 80.0]


def test_what_is_read_is_what_was_written(folder):
    assert cache.read(NAME) is None
    cache.write(NAME, b"content")
    assert cache.read(NAME) == b"content"
    assert folder.stat().st_mode & 0o077 == 0
    assert cache.folder() == folder
    assert cache.size() == (folder / NAME).stat().st_size
    cache.clear()
    assert (cache.size(), cache.read(NAME)) == (0, None)


@pytest.mark.parametrize("content", [b"", b"autobatch", b"autobatch program, version 0\nab\ncontent", b"\xff\n\xff"])
def test_a_file_that_is_none_is_passed_over_and_replaced(folder, content):
    cache.write(NAME, b"content")
    (folder / NAME).write_bytes(content)
    assert cache.read(NAME) is None
    assert not (folder / NAME).exists()
    cache.write(NAME, b"content")
    (folder / NAME).write_bytes((folder / NAME).read_bytes()[:-1])
    assert cache.read(NAME) is None


def test_a_folder_that_others_may_write_to_is_not_used(folder):
    cache.write(NAME, b"content")
    folder.chmod(0o770)
    assert cache.read(NAME) is None
    cache.write(NAME, b"other")
    folder.chmod(0o700)
    assert cache.read(NAME) == b"content"


def test_off(monkeypatch):
    for word in ("off", "0", "No", "false"):
        monkeypatch.setenv(cache.SETTING, word)
        assert cache.folder() is None
        cache.write(NAME, b"content")
        assert (cache.read(NAME), cache.size()) == (None, 0)
        cache.clear()


def test_a_folder_that_cannot_be(tmp_path, monkeypatch):
    (tmp_path / "file").write_text("")
    monkeypatch.setenv(cache.SETTING, str(tmp_path / "file"))
    assert of_doubled() == [8, 12]
    monkeypatch.setenv(cache.SETTING, str(tmp_path / "file" / "below"))
    assert of_doubled() == [8, 12]


@pytest.mark.parametrize("code", [errno.ENOSPC, errno.EROFS, errno.EACCES])
def test_a_disk_that_is_full_or_read_only(folder, monkeypatch, code):
    def write(*_args, **_how):
        raise OSError(code, os.strerror(code))

    monkeypatch.setattr(files, "write", write)
    assert of_doubled() == [8, 12]
    assert list(folder.iterdir()) == []


def test_what_was_used_longest_ago_goes(folder, monkeypatch):
    for k in range(3):
        cache.write(f"{k}{cache.SUFFIX}", bytes(1000))
        os.utime(folder / f"{k}{cache.SUFFIX}", (k, k))
    assert cache.read(f"0{cache.SUFFIX}") is not None  # and so it was used last
    monkeypatch.setattr(cache, "MOST", 3500)
    cache.write(f"3{cache.SUFFIX}", bytes(1000))
    assert sorted(path.name[0] for path in folder.iterdir()) == ["0", "2", "3"]


def test_a_program_that_reads_a_file_is_not_kept(folder, tmp_path):
    path = tmp_path / "number"
    path.write_text("3")

    def number():
        return int(path.read_text())

    @ab.autobatch
    def plus(x):
        return x + number()

    assert plus(tf.constant([1])).numpy() == [4]
    assert not folder.exists()


AXIS = tf.constant(-1)


@ab.autobatch
def halves_until_small(x):
    while tf.reduce_max(x) > 1.0:
        left, right = tf.split(x, 2, axis=AXIS)
        x = tf.concat([right, left], axis=-1) / 2.0
    return x


def test_an_axis_that_is_a_tensor_of_the_code(folder):
    """In a loop, XLA takes it for a constant where it compiles, and not where it writes StableHLO."""
    x = tf.constant([[8.0, 1.0], [1.0, 3.0]])
    np.testing.assert_array_equal(halves_until_small(x), [[0.125, 1.0], [0.25, 0.75]])


def test_reads_are_noticed_whoever_does_them(tmp_path):
    np.save(tmp_path / "a.npy", [1])
    with reads.noticed() as noticed:
        np.load(tmp_path / "a.npy")
    assert noticed == ["open"]
    with reads.noticed() as noticed:
        len("")
    assert noticed == []


def test_what_code_loads_while_it_is_lowered_is_not_kept(folder, tmp_path):
    np.save(tmp_path / "a.npy", [1])
    where = str(tmp_path / "a.npy")

    def loaded():
        return int(np.load(where)[0])

    @ab.autobatch
    def plus(x):
        return x + loaded()

    assert plus(tf.constant([1])).numpy() == [2]
    assert not folder.exists() or not list(folder.iterdir())


def test_what_acts_while_it_is_lowered_is_not_kept(folder):
    log = []

    def logged(x):
        log.append("called")
        return x + 1

    @ab.autobatch
    def plus(x):
        return logged(x)

    assert plus(tf.constant([1])).numpy() == [2]
    assert log
    assert not folder.exists()


def test_a_file_that_is_not_what_python_has_read(folder, tmp_path):
    """It is lowered from the file, and its key is of what Python has read: another process would be misled."""
    path = tmp_path / "edited.py"
    path.write_text("import autobatch as ab\n\n@ab.autobatch\ndef f(x):\n    return x + 1\n")
    module = ModuleType("edited")
    exec(compile(path.read_text(), str(path), "exec"), vars(module))
    path.write_text(path.read_text().replace("+ 1", "+ 2"))
    module.f(tf.constant([1]))
    assert not folder.exists()
