"""Numbers in graphs: one constant for all places that take the same, while programs are made."""

import numpy as np
import tensorflow as tf

from autobatch import context
from autobatch.language.values import is_tensor  # where what converts numbers is registered


def taken(numbers, dtype=None):
    """What places that take these numbers get, in a graph of a program."""
    with context.tracing_lock, tf.__internal__.FuncGraph("program").as_default():
        found = [tf.convert_to_tensor(number, dtype) for number in numbers]
    assert all(map(is_tensor, found))
    return found


def test_the_same_number_is_one_constant():
    for number in (3, 2.5, True, float("nan")):
        assert len({*map(id, taken([number] * 3))}) == 1


def test_numbers_that_are_equal_and_not_the_same_are_apart():
    for numbers, dtype in (((0.0, -0.0), None), ((1, True, 1.0), None), ((0, 0.0, -0.0), tf.float64)):
        found = taken(numbers, dtype)
        assert len({*map(id, found)}) == len(numbers)
        for tensor, number in zip(found, numbers, strict=True):
            assert str(tf.get_static_value(tensor)) == str(np.array(number, tensor.dtype.as_numpy_dtype))
    assert [tensor.dtype for tensor in taken((1, True, 1.0))] == [tf.int32, tf.bool, tf.float32]


def test_a_number_of_another_dtype_is_another_constant():
    with context.tracing_lock, tf.__internal__.FuncGraph("program").as_default():
        found = [tf.convert_to_tensor(1, dtype) for dtype in (None, tf.int32, tf.int64, tf.float32, tf.int64)]
    assert [tensor.dtype for tensor in found] == [tf.int32, tf.int32, tf.int64, tf.float32, tf.int64]
    assert found[2] is found[4]


def test_each_graph_has_its_own():
    with context.tracing_lock, tf.__internal__.FuncGraph("outer").as_default():
        outer = tf.convert_to_tensor(7)
        inner = taken([7])[0]
        assert tf.convert_to_tensor(7) is outer
    assert inner.graph is not outer.graph


def test_graphs_of_the_users_own_are_as_they_were():
    graph = tf.function(lambda x: (x + 1) * (x - 1)).get_concrete_function(tf.TensorSpec([])).graph
    assert sum(operation.type == "Const" for operation in graph.get_operations()) == 2


def test_constants_of_a_control_flow_context_are_not_for_what_comes_after():
    with context.tracing_lock, tf.Graph().as_default() as graph:
        chosen = tf.compat.v1.placeholder(tf.bool, [])
        tf.compat.v1.disable_control_flow_v2()
        try:
            tf.compat.v1.cond(chosen, lambda: tf.convert_to_tensor(11) + 1, lambda: tf.convert_to_tensor(12) + 1)
        finally:
            tf.compat.v1.enable_control_flow_v2()
        after = tf.convert_to_tensor(11) + 1
    with tf.compat.v1.Session(graph=graph) as session:
        assert session.run(after, {chosen: False}) == 12
