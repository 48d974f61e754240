"""Every program gives the oracle's answer on every backend."""

import pytest

from tests.backends import BACKENDS, assert_same
from tests.programs import PROGRAMS


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("name", PROGRAMS)
def test_program(name, backend):
    function, args = PROGRAMS[name]
    expected = function.options(backend="unbatched")(*args)
    assert_same(function.options(**BACKENDS[backend])(*args), expected)
