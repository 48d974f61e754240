"""``f.map(lanes="auto")``: the number of lanes is found by trying, and no member is lost or run twice by it."""

import numpy as np
import pytest
import tensorflow as tf

import autobatch as ab
from autobatch.calls import lanes, mapping
from tests.programs import collatz


@pytest.fixture
def few(monkeypatch):
    """Trials with few lanes."""
    monkeypatch.setattr(lanes, "NUMBERS", (2, 8, 32))
    monkeypatch.setattr(lanes, "USUAL", 8)


@pytest.mark.parametrize(
    ("rates", "best", "tried"),
    [
        ({1: 1.0, 2: 2.0, 3: 3.0, 4: 4.0}, 4, {2, 3, 4}),
        ({1: 1.0, 2: 2.0, 3: 3.0, 4: 2.0}, 3, {2, 3, 4}),
        ({1: 3.0, 2: 2.0, 3: 1.0, 4: 9.0}, 1, {1, 2, 3}),
        ({1: 1.0, 2: 2.0, 3: 1.0, 4: 9.0}, 2, {1, 2, 3}),
    ],
)
def test_the_climb(rates, best, tried):
    asked = set()

    def rate(number):
        asked.add(number)
        return rates[number]

    assert lanes.climbed([1, 2, 3, 4], 2, rate) == best
    assert asked == tried
    assert lanes.climbed([1], 2, rate) == 1, "the usual number is not among those worth trying"


def test_what_is_worth_trying():
    assert lanes.worth_trying(1000) == []
    assert lanes.worth_trying(100_000) == [256, 1024]
    assert lanes.worth_trying(1_000_000) == [256, 1024, 4096]
    assert lanes.worth_trying(2**20) == [256, 1024, 4096, 16384]


@pytest.mark.parametrize("size", [2100, 1100, 300, 70, 3])
def test_all_members_in_order(size, few):
    counted = collatz.options(shards=2)
    n = np.arange(1, size + 1)
    np.testing.assert_array_equal(counted.map(n, lanes="auto"), collatz(n))


def test_failed_members_are_told(few):
    @ab.autobatch
    def halved(n):
        assert n % 700 != 3, f"{n} fails"
        steps = 0
        while n > 0:
            n, steps = n // 2, steps + 1
        return steps

    with pytest.raises(ab.errors.MemberAssertionError, match="703 fails|3 fails") as caught:
        halved.map(tf.range(2000), lanes="auto")
    assert caught.value.members == (3, 703, 1403)


def test_found_once(few, monkeypatch):
    @ab.autobatch
    def counted(n):
        steps = 0
        while n > 1:
            n, steps = n // 3, steps + 1
        return steps

    n = np.arange(1, 2001)
    first = counted.map(n, lanes="auto")
    monkeypatch.setattr(mapping, "Trials", None)
    np.testing.assert_array_equal(counted.map(n, lanes="auto"), first)


def test_a_bar_says_which(few, capsys):
    collatz.map(np.arange(1, 2001), lanes="auto", progress=True)
    told = capsys.readouterr().err
    assert "2000/2000" in told and " lanes" in told


def test_not_of_a_stream():
    with pytest.raises(ab.errors.SettingError, match="tries with members of a batch"):
        collatz.map(iter([1, 2, 3]), lanes="auto")
    with pytest.raises(ab.errors.SettingError, match="tries with members of a batch"):
        ab.profile(collatz, np.arange(1, 5), lanes="auto")
