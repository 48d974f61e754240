"""Which programs are the same in another process, and which are not."""

import os
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest

from autobatch.frontend.content import UnknowableError, content
from tests.changes import UNKNOWABLE, module, pairs

PAIRS = pairs()


@cache
def elsewhere():
    """The digests in another process, where sets have another order."""
    env = {**os.environ, "PYTHONHASHSEED": "7"}
    run = subprocess.run(
        [sys.executable, "-m", "tests.changes"],
        cwd=Path(__file__).parent.parent,
        env=env,
        capture_output=True,
        text=True,
    )
    assert run.returncode == 0, run.stderr
    return run.stdout.split()


@pytest.mark.parametrize("number", range(len(PAIRS)))
def test_a_change_is_seen_and_another_process_is_not(number):
    before, after = PAIRS[number]
    digest = content([module(*before, number).f]).digest
    assert digest == content([module(*before, number).f]).digest
    assert digest != content([module(*after, number).f]).digest
    assert digest == elsewhere()[number]


CHANGED_OUTSIDE = [number for number, (before, after) in enumerate(PAIRS) if before[0] != after[0]]


@pytest.mark.parametrize("number", CHANGED_OUTSIDE)
def test_a_change_in_this_process_is_watched(number):
    before, after = PAIRS[number]
    live, other = module(*before, number), module(*after, number)
    watched = content([live.f]).watched
    assert not any(each.changes() for each in watched)
    for name, value in vars(other).items():
        if name != "f" and name[:2] != "__":
            setattr(live, name, value)
    assert any(each.changes() for each in watched)


def test_static_values_are_watched():
    live = module("class Box: pass", "x", 0)
    box = live.Box()
    box.size = 1
    watched = content([live.f], {"box": box}).watched
    assert not any(each.changes() for each in watched)
    box.size = 2
    assert [name for each in watched for name in each.changes()] == ["size"]


@pytest.mark.parametrize(("before", "value"), UNKNOWABLE)
def test_what_no_other_process_can_know(before, value):
    with pytest.raises(UnknowableError):
        content([module(before, value, 0).f])


def test_objects_come_in_an_order_that_the_digest_fixes():
    (before, _) = PAIRS[0]
    first, second = (content([module(*before, 0).f]) for _ in range(2))
    assert [type(value) for value in first.objects] == [type(value) for value in second.objects]
    assert [watched.name for watched in first.watched] == [watched.name for watched in second.watched]
