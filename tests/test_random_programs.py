"""Random programs: every backend agrees with plain Python on control flow that nobody thought of.

``python -m tests.fuzz`` looks further.
"""

from hypothesis import HealthCheck, given, settings

from tests.backends import BACKENDS, assert_same
from tests.fuzz import accepted, arguments, in_plain_python
from tests.generator import programs
from tests.interpreter import interpret

fixed = settings(derandomize=True, deadline=None, database=None, suppress_health_check=list(HealthCheck))


@settings(fixed, max_examples=60)
@given(text=programs(), values=arguments)
def test_the_stack_program_is_right(text, values):
    f = accepted(text, values)
    assert_same(interpret(f, *values), in_plain_python(text, values))


@settings(fixed, max_examples=8)
@given(text=programs(), values=arguments)
def test_every_backend_is_right(text, values):
    f = accepted(text, values)
    expected = in_plain_python(text, values)
    assert_same(f.options(backend="unbatched")(*values), expected)
    for name in ("program_counter_no_xla", "local_static", "program_counter"):
        assert_same(f.options(**BACKENDS[name])(*values), expected)
