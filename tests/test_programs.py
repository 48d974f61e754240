"""Every program gives the oracle's answer, in every way that it may be run."""

import functools

import pytest

from tests.backends import assert_same
from tests.modes import MODES, features, pairs
from tests.programs import PROGRAMS
from tests.texts import check_read_back

EVERYWHERE = (  # these have, together, what all programs are made of
    "batched_primitive", "bisection", "bubble_sort", "fibonacci", "fibonacci_64", "float64_with_literals",
    "loops_over_rows", "matrix_items", "passing_asserts", "python_number_habits", "random_walk",
    "range_of_bytes", "ranges", "shared_arguments", "simpson_with_helpers",
)  # fmt: skip
PAIRS = [pair for name in PROGRAMS for pair in (pairs([name], MODES) if name in EVERYWHERE else pairs([name]))]


@functools.cache
def expected(name):
    function, args = PROGRAMS[name]
    return function.options(backend="unbatched")(*args)


@pytest.mark.parametrize(("name", "mode"), PAIRS)
def test_program(name, mode):
    function, args = PROGRAMS[name]
    assert_same(MODES[mode](function, *args), expected(name))
    if mode == "local_static":
        check_read_back(name, function.lower(*args))


def test_some_have_all_that_programs_are_made_of():
    made_of = {name: features(*PROGRAMS[name]) for name in PROGRAMS}
    missing = set().union(*made_of.values()) - set().union(*(made_of[name] for name in EVERYWHERE))
    who = {f: [n for n in made_of if f in made_of[n]][:4] for f in missing}
    assert not missing, f"nothing of {who} is met in every way: send one of these programs EVERYWHERE"
