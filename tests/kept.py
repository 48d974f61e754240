"""A process that calls all kinds of programs; what it prints another must print too, without lowering any.

    python -m tests.kept FOLDER [CALL]...

Prints a line for each call, all or those named, and which programs were lowered. Runs are saved in the folder.
"""

import hashlib
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import numpy as np
import tensorflow as tf

import autobatch as ab
from autobatch.calls.specialisation import Specialisation

SCALES = np.linspace(0.5, 2.0, 3).astype(np.float32)


class Pair(NamedTuple):
    x: tf.Tensor
    n: int


@ab.struct
@dataclass(frozen=True)
class Point:
    x: tf.Tensor
    y: tf.Tensor


class Account:
    def __init__(self, start):
        self.total = start

    def add(self, x):
        self.total += x
        return self


@ab.autobatch
def fibonacci(n):
    return n if n < 2 else fibonacci(n - 1) + fibonacci(n - 2)


@ab.autobatch
def sum_to(n):
    assert n < 200, f"{n} is too far"
    return 0 if n == 0 else n + sum_to(n - 1)


def halved(n):
    return n // 2


def shrunk(n):
    while n > 3:
        n -= 3
    return n


@ab.autobatch
def stepped(n):
    step = halved if n > 4 else shrunk
    for k in range(3):
        n = step(n + k)
        if n > 2:
            step = [shrunk, halved][k % 2]
    return n


@ab.autobatch(static_argnames="step")
def walked(pair, step):
    point, n = Point(pair.x, -pair.x), pair.n
    while n > 0:
        point, n = Point(step(point.x), point.y + SCALES), n - 1
    return Pair(point.x, n), {"point": point, "step": step}


def twice(x):
    return x * 2.0


@ab.autobatch
def evens(n):
    found = []
    for k in range(n):
        if k % 2 == 0:
            found.append(k)
    return found, len(found)


@ab.autobatch
def saved(n):
    account = Account(0.5)
    for k in range(n):
        account.add(float(k))
    return account.total


@ab.autobatch
def divided(n, d):
    try:
        return n // d
    except ZeroDivisionError:
        if n < 0:
            raise ValueError(f"no quotient of {n}") from None
        return n


def paths(n, memo):
    if n not in memo:
        memo[n] = 1 if n < 2 else paths(n - 1, memo) + paths(n - 2, memo)
    return memo[n]


@ab.autobatch
def counted(n):
    seen = {}

    def first(k):
        if k not in seen:
            seen[k] = 1 if k < 1 else first(k - 1) + int(SCALES[1])
        return seen[k]

    return paths(n, {}) + first(n)


@ab.primitive
def positive(x):
    return tf.maximum(x, 0.0)


@ab.autobatch
def rectified(x):
    while tf.reduce_sum(x) < 10.0:
        x = positive(x) + 1.0
    return x


def log_density(x):
    return -0.5 * tf.reduce_sum((x / SCALES) ** 2, axis=-1)


def digest(value):
    """Of the bits of all that it holds."""
    found = hashlib.sha256()
    for leaf in tf.nest.flatten(value, expand_composites=True):
        bits = np.asarray(leaf).tobytes() if tf.is_tensor(leaf) else repr(getattr(leaf, "__name__", leaf)).encode()
        found.update(bits)
    return found.hexdigest()[:16]


def told(call):
    try:
        return digest(call())
    except ab.errors.AutobatchError as error:
        return f"{type(error).__name__}: {' '.join(str(error).split())}"


def calls(folder):
    n = tf.constant([3, 7, 1, 12, 5, 0, 9, 2] * 16)
    x = tf.reshape(tf.linspace(-1.0, 1.0, 128 * 3), [128, 3])
    yield "fibonacci", lambda: fibonacci(n)
    yield (
        "fibonacci, on fewer and fewer lanes of two machines",
        lambda: fibonacci.options(compact="always", shards=2, dispatch="switch_case")(n),
    )
    yield "sum_to, in deeper stacks", lambda: sum_to(n * 5)
    yield "sum_to, too far", lambda: sum_to(n * 30)
    yield "sum_to, too deep", lambda: sum_to.options(max_depth=16)(n * 5)
    yield "sum_to, by map", lambda: sum_to.map(n, lanes=8)
    yield "sum_to, by a stream", lambda: list(sum_to.map(iter(n.numpy()[:9]), lanes=4))
    yield "walked", lambda: walked(Pair(x, n), twice)
    yield "stepped", lambda: stepped(n)
    yield "evens", lambda: evens(n)
    yield "saved", lambda: saved(n)
    yield "divided", lambda: divided(n, n % 3)
    yield "divided, with errors", lambda: divided(-n, n % 3)
    yield "counted", lambda: counted(n)
    yield "rectified", lambda: rectified(x)
    yield "ragged", lambda: ragged(tf.ragged.constant([[1, 2], [], [3, 4, 5]] * 4))
    yield "a run", lambda: run(folder, n)
    yield "sample", lambda: sample()


@ab.autobatch
def ragged(xs):
    total = 0
    for x in xs:
        total += x
    return total


def run(folder, n):
    started = fibonacci.start(n)
    started.advance(3).save(folder / "run")
    return ab.load_run(fibonacci, folder / "run").result()


def sample():
    from autobatch import mcmc

    result = mcmc.sample(log_density, tf.zeros([16, 3]), num_results=9, num_warmup=9, seed=1)
    return result.samples


def main(folder, *names):
    lowered = []
    lower = Specialisation._lower

    def counted(self):
        if self._lowered is None:
            lowered.append(self._callee.function.__name__)
        return lower(self)

    Specialisation._lower = counted
    for name, call in calls(folder):
        if name in names or not names:
            print(name, told(call), sep=": ", flush=True)
    print("lowered:", *lowered)


if __name__ == "__main__":
    main(Path(sys.argv[1]), *sys.argv[2:])
