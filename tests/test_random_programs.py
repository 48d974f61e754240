"""Random programs: every backend agrees with the oracle on control flow that nobody thought of.

``python -m tests.fuzz`` looks further.
"""

from hypothesis import HealthCheck, given, settings

from tests.backends import BACKENDS, assert_same
from tests.fuzz import arguments, load
from tests.generator import programs
from tests.interpreter import interpret

fixed = settings(derandomize=True, deadline=None, database=None, suppress_health_check=list(HealthCheck))


@settings(fixed, max_examples=60)
@given(text=programs(), values=arguments)
def test_the_stack_program_is_right(text, values):
    f = load(text)
    assert_same(interpret(f, *values), f.options(backend="unbatched")(*values))


@settings(fixed, max_examples=8)
@given(text=programs(), values=arguments)
def test_every_backend_is_right(text, values):
    f = load(text)
    expected = f.options(backend="unbatched")(*values)
    for name in ("program_counter_no_xla", "local_static", "program_counter"):
        assert_same(f.options(**BACKENDS[name])(*values), expected)
