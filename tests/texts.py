"""What is printed of a program can be read back."""

from autobatch import ir
from autobatch.ir.parser import parse, parse_typed

# What a helper captures is not in the text, nor results that are None.
READS_MORE = {
    "lambdas and comprehensions",
    "nested functions and closures, also over loop variables",
    "methods that branch and change their object, `raise` in `__init__`, properties",
    "lists of objects, and loops that change them",
    "`len(p)`, `if p:`, `p[k]`, `p[k] = v`, `x in p`, `p(x)` by methods that branch",
    "an attribute that is `None` for some members",
}


def check_read_back(name, lowered):
    """Of a program of the tests: before and after the stack lowering, with types and without."""
    for program in (lowered.program, lowered.stack_program):
        again = parse(str(program))
        assert str(again) == str(program)
        for op, read in zip(operations(program), operations(again), strict=True):
            assert (type(read), ir.writes(read)) == (type(op), ir.writes(op))
            if name not in READS_MORE:
                assert set(ir.reads(read)) == set(ir.reads(op))
    for typed in (lowered._program.typed, lowered._program.stack().typed):
        assert str(parse_typed(str(typed))) == str(typed)


def operations(program):
    functions = program.functions if isinstance(program, ir.Program) else [program]
    return [op for function in functions for block in function.blocks for op in block.ops]
