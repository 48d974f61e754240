"""What is known when the program is lowered."""

import tensorflow as tf

import autobatch as ab
from tests.conformance import N, V, X, feature

LAYERS = [
    (tf.constant([[1.0, -1.0, 0.5], [0.0, 2.0, 1.0]]), True),
    (tf.constant([[1.0], [2.0], [-1.0]]), False),
]
CONFIG = {"steps": 2, "kind": "sum"}


@ab.autobatch(static_argnames=("f", "steps"))
def iterate(f, x, steps):
    for _ in range(steps):
        x = f(x)
        if x > 2.0:
            x = x * 0.5
    return x


@ab.autobatch
def square(x):
    return x * x if x > 0 else 1.0 - x


@feature("static arguments: numbers, objects, functions, autobatched functions", X, note="`static_argnames`")
def static_arguments(x):
    return iterate(square, x, 2) + iterate(tf.sin, x, steps=3)


@feature("conditions on what is known", X)
def static_conditions(x):
    if CONFIG["kind"] == "sum" and len(LAYERS) == 2:
        y = tf.stack([x, x])
    else:
        y = None
    return y


@feature("`for` over a known list of unlike things", X, note="unrolled; the items are known in each copy")
def layers(x):
    h = tf.stack([x, x + 1.0])
    for weights, has_activation in LAYERS:
        h = tf.linalg.matvec(weights, h, transpose_a=True)
        if has_activation:
            h = tf.nn.relu(h)
        elif h[0] > 3.0:
            h = h - 3.0
    return h


@feature("`for` over functions, autobatched ones and lambdas among them", X)
def functions(x):
    total = 0.0
    for f in (square, tf.sin, lambda y: y + 1.0, lambda y: y if y > 0 else -y):
        total += f(x)
    return total


@feature("`for` over a dict's items, or a tuple of unlike tensors", {"a": X, "b": V}, note="unrolled")
def items(d):
    total = 0.0
    for key, value in d.items():
        for part in (value, tf.stack([value, value])):
            if tf.reduce_sum(part) < 0.0:
                continue
            total += tf.reduce_sum(part)
            if key == "b" and total > 30.0:
                break
    return total


@feature("`ab.unroll(...)`", X, V, note="copies the body for each item, on demand")
def unrolled(x, v):
    for i in ab.unroll(range(3)):
        x = [tf.sin, tf.cos, tf.square][i](x)
        if x > 0.5:
            x = x + v[i]
    for row in ab.unroll(v):
        x = x + row
    return x


@feature("closures, globals, attributes", N)
def closures(n):
    return sum(CONFIG["steps"] for _ in range(2)) + n
