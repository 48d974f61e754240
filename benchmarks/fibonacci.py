"""Fibonacci of 1,000 numbers in 3..12: this library against TFP's auto_batching, in the same run."""

from __future__ import annotations

import numpy as np
import tensorflow as tf
from tensorflow_probability.python.experimental import auto_batching

from benchmarks.timing import in_turn
from examples.fibonacci import fibonacci

_context = auto_batching.Context()


@_context.batch(type_inference=lambda args: args[0])
def theirs(n):
    if n <= 1:
        return 1
    else:
        left = theirs(n - 2)
        right = theirs(n - 1)
        return left + right


def run(rounds: int) -> dict[str, dict[str, float]]:
    n = tf.constant(np.random.default_rng(0).integers(3, 13, 1000), tf.int32)
    backend = auto_batching.TensorFlowBackend()
    tfp_xla = tf.function(lambda x: theirs(x, max_stack_depth=15, backend=backend), jit_compile=True, autograph=False)
    systems = {
        "autobatch, guarded": lambda: fibonacci(n),
        "autobatch, switch_case": lambda: fibonacci.options(dispatch="switch_case")(n),
        "autobatch, hybrid": lambda: fibonacci.options(backend="local_static")(n),
        "TFP auto_batching, XLA": lambda: tfp_xla(n),
    }
    results = in_turn(systems, rounds)
    answers = [np.asarray(system()) for system in systems.values()]
    assert all(np.array_equal(answer, answers[0]) for answer in answers)
    return results
