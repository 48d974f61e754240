"""Each pass by itself, text to text: ``texts/`` has programs before and after; ``make golden`` writes what comes after.

A case is "=== title", the program before the pass, "--->", and the program after it.  What the pass needs from those in
between comes from them: leaf flow and storage have no text of their own.
"""

import os
import re
from dataclasses import replace
from pathlib import Path

import pytest

from autobatch import passes
from autobatch.ir.parser import parse, parse_typed
from autobatch.ir.verifier import verify

TEXTS = Path(__file__).parent / "texts"
NEEDS = {  # what runs before the pass, on a program that was read
    "tail_duplication": ["leaf_flow"],
    "storage": ["leaf_flow"],
    **dict.fromkeys(["jump_threading", "epilogue_last", "costly_last", "visit_order"], ["leaf_flow", "storage"]),
}
CASES = [
    (path.stem, title, before, after)
    for path in sorted(TEXTS.glob("*.txt"))
    for title, before, after in re.findall(
        r"^=== ([^\n]*)\n(.*?)--->\n(.*?)(?=^=== |\Z)", path.read_text(), re.DOTALL | re.MULTILINE
    )
]
PASSES = {each.name: each for each in passes.PASSES}


def transformed(name, before):
    """The program after the pass; lines may say what blocks cost (``costs:``) and what is left out (``without:``)."""
    settings = dict(re.findall(r"^(costs|without): (.*)\n", before, re.MULTILINE))
    before = re.sub(r"^(costs|without): (.*)\n", "", before, flags=re.MULTILINE)
    program = parse_typed(before) if "types:" in before else parse(before)
    verify(program)
    kept = passes.OPTIMIZATIONS - set(settings.get("without", "").split())
    program = passes.run([PASSES[each] for each in NEEDS.get(name, [])], program, kept)
    if "costs" in settings:
        program = replace(program, costs=tuple(map(float, settings["costs"].split())))
    program = passes.run([PASSES[name]], program, kept)
    verify(program)
    return str(program)


@pytest.mark.parametrize(("name", "title", "before", "after"), CASES, ids=lambda part: part[:40].split("\n")[0])
def test_text(name, title, before, after):
    found = transformed(name, before)
    if os.environ.get("AUTOBATCH_WRITE_GOLDEN"):
        path = TEXTS / f"{name}.txt"
        case = f"=== {title}\n{before}--->\n"
        path.write_text(path.read_text().replace(case + after, f"{case}{found}\n\n"))
        return
    assert found.split("\n") == after.rstrip().split("\n")


def test_every_pass_that_can_be_tried_on_text_is():
    by_code = {
        "inference",
        "aliasing",
        "item_writes",
        "if_conversion",
        "leaf_flow",
        "costs",
    }  # these run the user's code
    assert {name for name, *_ in CASES} == PASSES.keys() - by_code
