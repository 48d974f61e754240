"""Some random programs of each family; ``python -m tests.fuzz`` looks further."""

import pytest
from hypothesis import HealthCheck, given, settings

from tests.backends import BACKENDS, assert_same
from tests.fuzz.__main__ import FAMILIES
from tests.fuzz.control import accepted, arguments, in_plain_python, programs

fixed = settings(derandomize=True, deadline=None, database=None, suppress_health_check=list(HealthCheck))


@pytest.mark.parametrize("family", FAMILIES.values(), ids=FAMILIES)
def test_family(family):
    @settings(fixed, max_examples=4)
    @given(example=family.examples)
    def run(example):
        family.check(example)

    run()


@pytest.mark.compiles
@settings(fixed, max_examples=6)
@given(text=programs(), values=arguments)
def test_every_backend_is_right(text, values):
    f = accepted(text, values)
    expected = in_plain_python(text, values)
    assert_same(f.options(backend="unbatched")(*values), expected)
    for name in ("program_counter_no_xla", "local_static", "program_counter"):
        assert_same(f.options(**BACKENDS[name])(*values), expected)
