"""Every feature of the language works on every backend, or is refused with the error that the table says."""

import functools
import inspect
from pathlib import Path

import pytest

import autobatch as ab
from autobatch.errors import AutobatchError
from tests.backends import assert_same
from tests.conformance import FEATURES, refused, table
from tests.modes import MODES, pairs
from tests.test_golden import check

WORKING = [name for name, feature in FEATURES.items() if feature.error is None]
REFUSED = [name for name, feature in FEATURES.items() if feature.error is not None]


@functools.cache
def expected(name):
    feature = FEATURES[name]
    return _autobatched(feature.function).options(backend="unbatched")(*feature.args)


@pytest.mark.parametrize(("name", "mode"), pairs(WORKING))
def test_feature(name, mode):
    feature = FEATURES[name]
    assert_same(MODES[mode](_autobatched(feature.function), *feature.args), expected(name))


def _autobatched(function):
    while not isinstance(function, ab.Autobatched):
        function = function.__wrapped__
    return function


@pytest.mark.parametrize("name", REFUSED)
def test_refusal(name):
    feature = FEATURES[name]
    with pytest.raises(AutobatchError) as caught:
        feature.function(*feature.args)
    assert type(caught.value) is feature.error, caught.value
    file = inspect.getsourcefile(refused) and inspect.getsourcefile(feature.function.__wrapped__)
    lines = Path(file).read_text().splitlines()
    shown = [place.line for place, _ in caught.value.places]
    assert any("# here" in lines[line - 1] for line in shown), caught.value
    assert caught.value.help


def test_the_documentation_has_this_table():
    check("../../docs/features.md", table().rstrip())
