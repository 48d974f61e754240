"""What is said while it takes long."""

import io
import sys
import time
from types import SimpleNamespace

import pytest
import tensorflow as tf

import autobatch as ab
from autobatch import progress


@pytest.fixture
def terminal(capsys, monkeypatch):
    """Returns what was written to it since the last time."""
    monkeypatch.setattr(progress, "is_watched", lambda: True)
    monkeypatch.setattr(progress, "PATIENCE", 0.0)
    monkeypatch.setattr(progress, "_PAUSE", 0.01)
    return lambda: capsys.readouterr().err


class Terminal(io.StringIO):
    def isatty(self):
        return True


def test_a_terminal_and_a_notebook_are_watched(monkeypatch):
    monkeypatch.setattr(sys, "stderr", io.StringIO())
    assert not progress.is_watched()
    monkeypatch.setattr(sys, "stderr", Terminal())
    assert progress.is_watched()
    monkeypatch.setattr(sys, "stderr", io.StringIO())
    kernel = SimpleNamespace(config={"IPKernelApp": {}})
    monkeypatch.setitem(sys.modules, "IPython", SimpleNamespace(get_ipython=lambda: kernel))
    assert progress.is_watched()


@ab.autobatch
def halvings(x):
    turns = 0
    while x > 1.0:
        x, turns = x / 2.0, turns + 1
    return turns


@pytest.mark.compiles
def test_a_call_that_compiles_says_so_in_a_terminal_and_takes_it_back(terminal):
    halvings(tf.constant([1.0, 5.0, 9.0]))
    said = terminal()
    assert "autobatch: compiling halvings, 00:00" in said
    assert not said.split("\r")[-1].strip() and not said.split("\r")[-2].strip()  # the line is empty
    halvings(tf.constant([1.0, 5.0, 9.0]))
    time.sleep(0.1)
    assert terminal() == ""


@pytest.mark.compiles
def test_nothing_is_said_where_nobody_looks(capsys, monkeypatch):
    monkeypatch.setattr(progress, "PATIENCE", 0.0)
    monkeypatch.setattr(progress, "_PAUSE", 0.01)
    halvings.options(max_steps=1000)(tf.constant([1.0, 5.0]))
    assert capsys.readouterr().err == ""


def test_what_is_compiled_in_turn_is_told_as_one(terminal, monkeypatch):
    monkeypatch.setattr(progress, "_PAUSE", 0.2)
    monkeypatch.setattr(progress, "PATIENCE", 0.5)
    for _ in range(8):
        with progress.compiling("f"), progress.compiling("g"):
            time.sleep(0.1)
    said = terminal()
    assert "compiling f" in said and "compiling g" not in said


def test_a_failure_to_compile_takes_the_line_back(terminal):
    def fail():
        time.sleep(0.5)
        raise ValueError("no")

    with pytest.raises(ValueError, match="no"), progress.compiling("f"):
        fail()
    assert "compiling f" in terminal()
    time.sleep(0.1)
    assert terminal() == ""


def test_the_time_that_is_left_is_of_the_work_alone(terminal):
    with progress.Bar(total=100, mininterval=0.0) as bar:
        for _ in range(5):
            with progress.compiling("f"):
                time.sleep(0.2)
            time.sleep(0.01)
            bar.update(1)
        assert bar.format_dict["rate"] > 20  # a second; with compiling in it, 5


@pytest.mark.compiles
@pytest.mark.filterwarnings("ignore::autobatch.mcmc.SamplingWarning")
@pytest.mark.parametrize(("told", "shows"), [(None, True), (False, False)])
def test_sample_has_a_bar_in_a_terminal_unless_it_is_told_not_to(terminal, told, shows):
    given = {} if told is None else {"progress": told}
    ab.mcmc.sample(lambda x: -0.5 * tf.reduce_sum(x**2, -1), tf.zeros([4, 2]), 20, 10, seed=0, **given)
    assert ("30/30" in terminal()) == shows
