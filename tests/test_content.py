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


@pytest.mark.parametrize(("before", "value"), UNKNOWABLE)
def test_what_no_other_process_can_know(before, value):
    with pytest.raises(UnknowableError):
        content([module(before, value, 0).f])


def test_objects_come_in_an_order_that_the_digest_fixes():
    (before, _) = PAIRS[0]
    first, second = (content([module(*before, 0).f]) for _ in range(2))
    assert [type(value) for value in first.objects] == [type(value) for value in second.objects]
    assert [watched.name for watched in first.watched] == [watched.name for watched in second.watched]
