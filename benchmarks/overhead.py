"""What a call costs beyond the ``tf.function`` that it runs: a second call with the same signature."""

from __future__ import annotations

import tensorflow as tf

from autobatch.machine.dispatch import Limit
from benchmarks.timing import in_turn
from examples.fibonacci import fibonacci


def run(rounds: int) -> dict[str, dict[str, float]]:
    n = tf.constant([3, 7, 4, 5])
    lowered = fibonacci.lower(n)
    lowered.compile()
    taken, program = lowered._taken, lowered._program
    executable = program.executable(taken.size, fibonacci._options)
    engine = executable.account(executable.depth, taken.size).engine  # type: ignore[union-attr]
    arguments = program.arguments(taken)

    def decorate():
        def function(x):
            return x

        return fibonacci.__class__(function, fibonacci._options) and 0

    return in_turn(
        {
            "the tf.function alone": lambda: engine.begin(arguments, taken.shared, Limit()).outcome.results,
            "the autobatched function": lambda: fibonacci(n),
            "decorating a function": decorate,
        },
        rounds,
    )
