"""Which loops XLA's CPU compiler makes one function of.

It makes a task of each operation of a loop, and to start one takes some 80 ns: with few lanes, most of a machine's
time.  Only of a loop that touches few bytes in a round it makes one function.  How few is an option of the process,
1 KiB by default; machines are compiled with a higher one (docs/performance.md has what that changes).

It has no effect if XLA has compiled something before autobatch was imported (``flags.py``).
"""

from __future__ import annotations

import functools
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import tensorflow as tf
from tensorflow.core.protobuf import config_pb2
from tensorflow.python.eager import context as eager_context
from tensorflow.python.ops import control_flow_util

from autobatch import context, flags
from autobatch.machine.blocks import Machine
from autobatch.options import Options
from autobatch.passes.costs import smallest_product

LARGEST = 2 * 2**20  # bytes; beside as much work, tasks cost nothing
MOST_SAVED_SINGLY = 256  # lanes
MOST_IN_ONE = 32  # blocks of a machine that may become one function; LLVM's time grows with the square of its length


def fitted(machine: Machine, options: Options) -> tuple[Machine, int]:
    """The machine as it is faster in ``whole_loops``, and the limit for it.

    That is less than any loop has that multiplies matrices: in such a function, that is done by three nested loops.
    """
    if not may_set or machine.safe or "whole_loops" not in options.optimizations:
        return machine, flags.DEFAULT
    limit = int(max(flags.DEFAULT, min(LARGEST, smallest_product(machine.stored, machine.size))))
    saves_singly = limit == LARGEST and 0 < machine.size <= MOST_SAVED_SINGLY
    return replace(machine, saves_singly=saves_singly), limit


@contextmanager
def whole_loops(limit: int) -> Iterator[None]:
    """What is compiled in it, by one thread at a time, has one function for each loop that touches fewer bytes."""
    with context.tracing_lock:
        if not may_set:
            yield
            return
        before = flags.set_small_loop(limit)
        try:
            yield
        finally:
            flags.set_small_loop(before)


@contextmanager
def as_traced() -> Iterator[None]:
    """What is called in it skips TensorFlow's graph optimizer, which takes a second for what XLA does again."""
    eager: Any = eager_context.context()
    usual = eager.function_call_options
    eager.function_call_options = _unoptimized(usual.executor_type, usual.config_proto_serialized)
    try:
        yield
    finally:
        eager.function_call_options = usual


@functools.cache
def _unoptimized(executor: str | None, serialized: bytes) -> eager_context.FunctionCallOptions:
    config = config_pb2.ConfigProto.FromString(serialized)
    config.graph_options.rewrite_options.disable_meta_optimizer = True
    return eager_context.FunctionCallOptions(executor, config)


def is_part_of_program() -> bool:
    """Whether the graph at hand is to be part of one XLA program, which runs loops one after the other."""
    return control_flow_util.GraphOrParentsInXlaContext(tf.compat.v1.get_default_graph())


def not_in_one(number: tf.Tensor) -> tf.Tensor:
    """The number, by way of a scatter, which is not made a part of such a function, nor the loop that it stands in."""
    place = tf.stack([tf.minimum(number, 1), 1])
    return tf.reduce_max(tf.tensor_scatter_nd_update(tf.zeros([2], tf.int32), place[:, tf.newaxis], [number, number]))


may_set = flags.heeds_small_loops
