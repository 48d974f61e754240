"""Every feature of the language works on every backend, or is refused with the error that the table says."""

import functools
import inspect
from pathlib import Path

import pytest

import autobatch as ab
from autobatch.errors import AutobatchError
from tests.backends import assert_same
from tests.conformance import FEATURES, refused, table
from tests.modes import ALWAYS, MODES, pairs
from tests.test_golden import check
from tests.texts import check_read_back

WORKING = [name for name, feature in FEATURES.items() if feature.error is None]
# Features are the frontend's, and nothing to the machine, which runs the first of each three.
PAIRS = [pair for k, name in enumerate(WORKING) for pair in pairs([name], ALWAYS if k % 3 == 0 else ["local_static"])]
REFUSED = [name for name, feature in FEATURES.items() if feature.error is not None]


@functools.cache
def expected(name):
    feature = FEATURES[name]
    return _autobatched(feature.function).options(backend="unbatched")(*feature.args)


@pytest.mark.parametrize(("name", "mode"), PAIRS)
def test_feature(name, mode):
    function, args = _autobatched(FEATURES[name].function), FEATURES[name].args
    assert_same(MODES[mode](function, *args), expected(name))
    if mode == "local_static":
        check_read_back(name, function.lower(*args))


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
