"""Data."""

import dataclasses
from collections import namedtuple

import tensorflow as tf

import autobatch as ab
from tests.conformance import N, V, X, feature

Point = namedtuple("Point", ["x", "y"])
RAGGED = tf.ragged.constant([[1.0, 2.0, -3.0], [], [4.0]])


@ab.struct
@dataclasses.dataclass(frozen=True)
class Particle:
    position: tf.Tensor
    velocity: tf.Tensor
    bounces: int = 0

    def speed(self):
        return tf.abs(self.velocity)


@feature("tuples, lists, dicts, namedtuples of tensors: variables, arguments, results", {"p": (X, N)}, Point(X, X))
def nests(d, point):
    p, k = d["p"]
    found = [p, k]
    while point.x < 5.0:
        point = point._replace(x=point.x + 2.0, y=point.y * p)
        found = [point.y, found[1] + 1]
        d = {**d, "p": (p, found[1])}
    return point, found, d


@feature("dataclasses, decorated with `@ab.struct`", Particle(X, X * 2.0, N))
def dataclass(particle):
    while particle.speed() > 0.5:
        particle = dataclasses.replace(
            particle, position=particle.position + particle.velocity, velocity=particle.velocity * 0.5
        )
        if particle.position > 3.0:
            particle = Particle(6.0 - particle.position, -particle.velocity, particle.bounces + 1)
    return particle


@feature("`tf.RaggedTensor` arguments: `for row in x`, `enumerate(x)`, `len(x)`, `x[i]`", RAGGED, X)
def ragged(rows, x):
    total = 0.0
    for row in rows:
        total += row * x
    for i, row in enumerate(rows):
        total += row if i % 2 == 1 else 0.0
    if len(rows) > 1:
        total += rows[-1] * 100.0 + rows[len(rows) - 2]
    return total, len(rows)


@feature("arguments that all members share", X, tf.constant([1.0, 2.0]), note="`in_axes=None`", in_axes=(0, None))
def shared(x, weights):
    while x < 5.0:
        for w in weights:
            x = tf.abs(x) + w
    return x


@feature("variables that are `None`, strings, functions, where all members agree", X)
def agreed(x):
    mode, extra, apply = "sin", None, tf.sin
    while x > 0.5:
        x = apply(x) * 0.9 if mode == "sin" else x
        x = x if extra is None else x + extra
    return x, extra


@feature("a name that is used again for another type", X)
def reused_name(x):
    n = tf.cast(x, tf.int32)
    x = tf.stack([x, x])
    x = tf.reduce_sum(x)
    n = tf.cast(n, tf.float32) + x
    return n


@feature("a list that is built and used within one block", X, V)
def lists(x, v):
    parts = []
    for k in ab.unroll(range(3)):
        parts.append(v[k] * x)
    table = {}
    table["sum"] = sum(parts)
    return tf.stack(parts), table


@feature("a list that is filled in a loop with branches", X, V, note="assign a new list (`[*parts, y]`), unrolled")
def grown_lists(x, v):
    parts = []
    for k in ab.unroll(range(3)):
        y = v[k]
        if y > x:
            y = x
        parts = [*parts, y]
    return tf.stack(parts)
