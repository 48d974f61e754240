"""What is printed can be read back, and what is none is refused at its line."""

import pytest

import autobatch as ab
from autobatch import ir, passes
from autobatch.errors import InvalidProgramError
from autobatch.ir.parser import parse, parse_typed
from tests.conformance import FEATURES
from tests.programs import PROGRAMS


def _autobatched(function):
    while not isinstance(function, ab.Autobatched):
        function = function.__wrapped__
    return function


CASES = PROGRAMS | {
    name: (_autobatched(feature.function), feature.args) for name, feature in FEATURES.items() if feature.error is None
}
CAPTURE = {"lambdas and comprehensions", "nested functions and closures, also over loop variables"}
NOTHING = {
    "methods that branch and change their object, `raise` in `__init__`, properties",
    "lists of objects, and loops that change them",
    "`len(p)`, `if p:`, `p[k]`, `p[k] = v`, `x in p`, `p(x)` by methods that branch",
    "an attribute that is `None` for some members",
}


def operations(program):
    functions = program.functions if isinstance(program, ir.Program) else [program]
    return [op for function in functions for block in function.blocks for op in block.ops]


@pytest.mark.parametrize("name", CASES)
def test_programs_read_back(name):
    function, args = CASES[name]
    lowered = function.lower(*args)
    for program in (lowered.program, lowered.stack_program):
        again = parse(str(program))
        assert str(again) == str(program)
        for op, read in zip(operations(program), operations(again), strict=True):
            assert (type(read), ir.writes(read)) == (type(op), ir.writes(op))
            if name not in CAPTURE | NOTHING:  # what a helper captures is not in the text, nor results that are None
                assert set(ir.reads(read)) == set(ir.reads(op))
    for typed in (lowered._program.typed, lowered._program.stack().typed):
        assert str(parse_typed(str(typed))) == str(typed)


def test_the_program_after_each_pass():
    function, args = PROGRAMS["fibonacci"]
    lowered = function.lower(*args)
    texts = {each.name: lowered.as_text(each.name) for each in passes.PASSES}
    assert texts["visit_order"].startswith(lowered.as_text("stack"))
    assert "= call fibonacci(" in texts["webs"] and "pushjump" in texts["stack_lowering"]
    assert "storage:" in texts["storage"] and "visited:" in texts["visit_order"]


def test_what_an_expression_reads():
    program = parse(
        "function f(n, x.1, s) -> r\n"
        "block 0:\n"
        "  y, z = [n + x.1.shape[0] for n in range(s)], x.1\n"
        "  r = g('n', f'{n} of {s!r}', k=y)\n"
        "  print_(lambda n: n + z)\n"
        "  return\n"
    )
    read = [op.inputs for op in program.entry.blocks[0].ops]
    assert read == [("x.1", "s"), ("n", "s", "y"), ("z",)]
    assert str(program.entry.blocks[0].ops[0].function.template).startswith("[n + «0».shape[0] for n in range(«1»)]")


@pytest.mark.parametrize(
    ("text", "message", "line"),
    [
        ("function f(n) -> r\nblock 0:\n  r = n +\n  return", "This is no expression", 3),
        ("function f(n) -> r\nblock 1:\n  return", "This should be block 0", 2),
        ("function f(n) -> r\nblock 0:\n  r = n", "The text ends where an operation or a terminator should come", 3),
        ("program(n) -> n\nstacks: pc\nregisters: none\nblock 0:\n  add n\n  return", "neither an operation", 5),
        ("program(n) -> n\nstacks: n\nregisters: none\nblock 0:\n  return", "This is not the list of stacks", 2),
        ("n + 1", "This is not a function", 1),
        ("function f(n) -> n\nblock 0:\n  return\nand more", "This is not part of a program", 4),
    ],
)
def test_what_is_no_program(text, message, line):
    with pytest.raises(InvalidProgramError, match=message) as caught:
        parse(text)
    ((place, _),) = caught.value.places
    assert place.line == line


def test_what_is_no_type():
    with pytest.raises(InvalidProgramError, match="This is no type that can be read"):
        parse_typed("function f(n) -> n\nblock 0:\n  return\ntypes:\nfunction f\n  n: int32[2")
