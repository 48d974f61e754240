"""Each function of the collection agrees with plain Python or is refused; ``docs/collection.md`` has which."""

import importlib.util
import os
import sys
from pathlib import Path

import numpy as np
import pytest

import autobatch as ab
from tests.fuzz.running import AGREED, INTERPRETED, compare, outcome
from tests.test_golden import check

FILES = ("number_theory", "bits", "arrays", "science", "dynamic", "simulations")


def loaded(file, decorated):
    """The file's functions by name, each under the decorator or none."""
    path = Path(__file__).with_name(f"{file}.py")
    name = f"collection_{file}{'_decorated' * decorated}"
    spec = importlib.util.spec_from_file_location(name, path)
    module = sys.modules[name] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    found = {name: value for name, value in vars(module).items() if hasattr(value, "columns")}
    if decorated:
        vars(module).update({name: ab.autobatch(function, **INTERPRETED) for name, function in found.items()})
    return {name: vars(module)[name] for name in found}


PLAIN = {file: loaded(file, decorated=False) for file in FILES}
DECORATED = {file: loaded(file, decorated=True) for file in FILES}
NAMES = [(file, name) for file in FILES for name in PLAIN[file]]


def member(value):
    return np.array(value) if np.ndim(value) else value.item()


def run(file, name):
    """Whether the function agrees with Python, or how it is refused."""
    plain = PLAIN[file][name]
    columns = plain.columns
    expected = [outcome(plain, *(member(column[z]) for column in columns)) for z in range(len(columns[0]))]
    return compare(DECORATED[file][name], columns, expected)


ALL = "AUTOBATCH_EVERY_MODE" in os.environ  # which takes a minute


@pytest.mark.parametrize(("file", "name"), NAMES if ALL else NAMES[::12])
def test_function(file, name):
    assert run(file, name) == REFUSALS.get(name, AGREED)


REFUSALS = {
    name: f"refused ({kind})"
    for kind, found in {
        "text-of-members": ["hamming_distance"],
    }.items()
    for name in found
}  # fmt: skip


def table():
    """What the documentation says of the collection."""
    rows = ["| file | functions | right as they are | refused |", "| --- | --- | --- | --- |"]
    for file in FILES:
        names = [name for other, name in NAMES if other == file]
        refused = [f"`{name}` ({REFUSALS[name].split('(')[1]}" for name in names if name in REFUSALS]
        rows.append(f"| `{file}.py` | {len(names)} | {len(names) - len(refused)} | {', '.join(refused)} |")
    right = len(NAMES) - len(REFUSALS)
    share = f"**{right} of {len(NAMES)} ({right / len(NAMES):.0%}) are right, none is wrong**"
    return "\n".join([INTRODUCTION.format(share=share), "", *rows])


INTRODUCTION = """# A collection of functions

`tests/collection/` has short functions as people write them for textbooks, exercises and scripts: number theory, bit
tricks, arrays, roots, physics, finance, dynamic programming, grids, games, simulations. They run as they are, with
nothing but the decorator added, and are compared with plain Python, member by member, exceptions included: {share}; the
others are refused, with the line and what to write instead ([errors.md](errors.md) has the names in parentheses).

"""


def test_the_documentation_has_this_table():
    check("../../docs/collection.md", table())
