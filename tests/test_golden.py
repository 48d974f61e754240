"""The text forms of small programs, compared with files in tests/golden/ (``make golden`` writes them anew)."""

import os
from pathlib import Path

import pytest
import tensorflow as tf

import autobatch as ab
from autobatch.ir.drawing import to_dot
from tests.programs import PROGRAMS

GOLDEN = Path(__file__).parent / "golden"


@ab.autobatch
def fibonacci(n):
    cond = n <= 1
    if cond:
        return 1
    else:
        n2 = n - 2
        left = fibonacci(n2)
        n1 = n - 1
        right = fibonacci(n1)
        return left + right


def check(name: str, text: str) -> None:
    path = GOLDEN / name
    if os.environ.get("AUTOBATCH_WRITE_GOLDEN"):
        path.parent.mkdir(exist_ok=True, parents=True)
        path.write_text(text + "\n")
    assert text + "\n" == path.read_text()


@pytest.mark.parametrize("stage", ["source", "ir", "stack"])
def test_fibonacci_of_the_paper(stage):
    check(f"fibonacci.{stage}.txt", fibonacci.lower(tf.constant([3, 7])).as_text(stage).rstrip())


def test_fibonacci_dot():
    lowered = fibonacci.lower(tf.constant([3, 7]))
    check("fibonacci.dot", lowered.to_dot())
    check("fibonacci.stack.dot", to_dot(lowered.stack_program))


@pytest.mark.parametrize("name", ["collatz", "count_primes", "ackermann", "is_even", "hanoi", "call_in_short_circuit"])
def test_program(name):
    function, args = PROGRAMS[name]
    lowered = function.lower(*args)
    text = "\n\n".join(lowered.as_text(stage).rstrip() for stage in ("source", "ir", "stack"))
    check(f"{name}.txt", text)
