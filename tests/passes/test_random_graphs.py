"""Random control-flow graphs mean the same before and after every pass."""

from dataclasses import replace

import pytest
from hypothesis import assume, event, given, settings
from hypothesis import strategies as st

from autobatch import passes
from autobatch.ir.parser import parse, parse_typed
from autobatch.ir.stored import StoredProgram
from autobatch.ir.verifier import verify
from tests.fuzz.test_fuzz import fixed
from tests.passes.generator import programs, typed
from tests.passes.interpreter import OutOfFuel, run

LOCAL = passes.until("simplify")  # what comes before inference, which needs code that runs
STACK = passes.after("ir")
ARGUMENTS = [(0, 1, 2), (1, 5, 3), (2, 0, 4), (3, 3, 3)]
optimizations = st.one_of(st.just(passes.OPTIMIZATIONS), st.frozensets(st.sampled_from(sorted(passes.OPTIMIZATIONS))))


def results(program, count):
    return [run(program, arguments[:count]) for arguments in ARGUMENTS]


given_graphs = given(text=programs(), kept=optimizations, costly=st.frozensets(st.integers(0, 9)))


def check(text, kept, costly):
    """Whether each pass leaves a valid program that returns the same, by the interpreters."""
    program = parse(text)
    assert str(program) == text
    verify(program)
    count = len(program.entry.inputs)
    try:
        expected = results(program, count)
    except OutOfFuel:
        assume(False)
    for each in (*LOCAL, None, *STACK):
        if each is None:
            program = typed(program)
            verify(program)
            continue
        program = passes.run([each], program, kept)
        verify(program)
        assert results(program, count) == expected, each.name
        if isinstance(program, StoredProgram) and program.costs and each.name == "costs":
            program = replace(program, costs=tuple(1e5 * (i in costly) for i in range(len(program.blocks))))
        if hasattr(program, "owners"):
            assert str(parse_typed(str(program))) == str(program)
    event(f"{len(program.program.blocks)} blocks, {len(program.stacked)} stacks")


@pytest.mark.thorough
@settings(fixed, max_examples=100)
@given_graphs
def test_every_pass_keeps_the_meaning(text, kept, costly):
    """``python -m tests.passes`` looks further."""
    check(text, kept, costly)
