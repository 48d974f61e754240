"""Expressions as large as programs write them, and objects that would grow without end."""

import importlib.util

import numpy as np
import pytest
import tensorflow as tf

import autobatch as ab
from autobatch.errors import TypeMismatchError

X = np.array([0, 3], np.int32)
BODIES = {
    "a sum of a thousand terms": " + ".join(["x"] * 1000),
    "three hundred conditions": " and ".join(f"x > {-k}" for k in range(300)),
    "three hundred conditions that may fail": " and ".join(f"x // {k + 1} > -1" for k in range(300)),
}


@pytest.mark.thorough
@pytest.mark.parametrize("name", BODIES)
def test_a_long_expression(name, tmp_path):
    path = tmp_path / "long_expression.py"
    path.write_text(f"def f(x):\n    return {BODIES[name]}\n")
    spec = importlib.util.spec_from_file_location("long_expression", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    f = ab.autobatch(module.f, backend="local_static", jit_compile=False)
    np.testing.assert_array_equal(f(tf.constant(X)), [module.f(0), module.f(3)])


class Node:
    def __init__(self, key):
        self.key = key
        self.left = None
        self.right = None


def inserted(root, key):
    if root is None:
        return Node(key)
    if key < root.key:
        root.left = inserted(root.left, key)
    else:
        root.right = inserted(root.right, key)
    return root


def search_tree(n):
    root = None
    for k in [3, n]:
        root = inserted(root, k)
    return root.key


def test_a_tree_of_objects():
    """Its type doubles with each level, and was looked at thirty levels deep."""
    with pytest.raises(TypeMismatchError, match="deeper at each turn"):
        ab.autobatch(search_tree, backend="local_static", jit_compile=False)(X)
