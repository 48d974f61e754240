"""Each function of the collection agrees with plain Python or is refused; ``docs/collection.md`` has which."""

import importlib.util
import os
import sys
from pathlib import Path

import numpy as np
import pytest

import autobatch as ab
from tests.fuzz.running import AGREED, INTERPRETED, compare, outcome

FILES = ("number_theory", "bits", "arrays", "science")


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


ALL = "AUTOBATCH_EVERY_MODE" in os.environ  # which takes some minutes


@pytest.mark.parametrize(("file", "name"), NAMES if ALL else NAMES[::12])
def test_function(file, name):
    assert run(file, name) == REFUSALS.get(name, AGREED)


REFUSALS = {
    name: f"refused ({kind})"
    for kind, found in {
        "python-refuses": ["count_divisors", "count_primes", "harmonic", "hamming_distance"],
        "changed-container": ["to_binary_digits"],
        "path-types-differ": ["majority"],
        "list-item-of-member": ["coin_change", "dice_ways"],
        "truth-of-member": ["has_duplicates"],
        "maybe-unset": ["bisection"],
        "try-statement": ["clamp"],
    }.items()
    for name in found
}
