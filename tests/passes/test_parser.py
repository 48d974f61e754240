"""What is printed can be read back (see also tests/texts.py), and what is none is refused at its line."""

import pytest

from autobatch import passes
from autobatch.errors import InvalidProgramError
from autobatch.ir.parser import parse, parse_typed
from tests.programs import PROGRAMS


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
