"""Functions and methods."""

import bisect
import functools
import heapq
import itertools
import math
import statistics

import tensorflow as tf

import autobatch as ab
from tests.conformance import N, V, X, feature


@feature("recursion", N + 4)
def fibonacci(n):
    return n if n < 2 else fibonacci(n - 1) + fibonacci(n - 2)


@feature("mutual recursion", N + 4)
def is_even(n):
    return True if n == 0 else is_odd(n - 1)


@ab.autobatch
def is_odd(n):
    return False if n == 0 else is_even(n - 1)


@ab.autobatch
def power(x, n=2, *, negate=False):
    result = x
    for _ in range(n - 1):
        result = result * x
    return -result if negate else result


@feature("default and keyword arguments, keyword-only parameters", X, N)
def keywords(x, n):
    return power(x), power(n=n + 1, x=x), power(x, 3, negate=True)


@feature("undecorated helpers, lambdas, library functions", X, V, note="straight-line code, which runs while tracing")
def helpers(x, v):
    return _norm(v) + tf.linalg.norm(v) * x


def _norm(v):
    return sum(v[k] * v[k] for k in range(4)) ** 0.5


@feature("gradients, by `tf.GradientTape` in a helper", X)
def gradients(x):
    for _ in range(3):
        x = x - 0.1 * _slope(x)
    return x


def _slope(x):
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = tf.sin(x) * x
    return tape.gradient(y, x)


@feature("nested functions and closures, also over loop variables", X, N)
def nested(x, n):
    total = 0.0

    def scaled(y, times=2):
        while times > 0:
            y, times = y + x * total, times - 1
        return y

    for i in range(n):
        shift = lambda y: y + tf.cast(i, tf.float32)

        def climb(k):
            return 0.0 if k <= 0 else shift(1.0) + climb(k - 1)

        total = total + scaled(x) + climb(i)
    return total


def _halves(n):
    while n > 0:
        yield n
        n //= 2


@feature("generators that are looped over or taken in as a whole", N, note="and `itertools`, `next(... for ...)`")
def generators(n):
    total = 0
    for half in _halves(n + 5):
        if half % 2:
            continue
        total += half
    for a, b in itertools.combinations(range(n), 2):
        total += a * b
    return total, sum(_halves(n)), next(k for k in itertools.count(1) if k * k > n)


class Model:
    scale = 2.0

    def __init__(self):
        self.layers = [tf.sin, tf.cos, tf.abs]

    @feature("methods: `self` is known when the program is lowered", X)
    @staticmethod
    def method(x):
        return MODEL.descend(x)

    @ab.autobatch
    def descend(self, x):
        for layer in self.layers:
            x = layer(x) * self.scale
        return x if x < 1.5 else self.descend(x - 1.0)

    @staticmethod
    @ab.autobatch
    def clipped(x):
        return x if x < 1.0 else 1.0

    @classmethod
    @ab.autobatch
    def scaled(cls, x):
        return cls.scale * x if x > 0 else x


MODEL = Model()


@feature("static methods, class methods", X)
def other_methods(x):
    return Model.clipped(x) + MODEL.clipped(x) * Model.scaled(x)


@feature("local names of functions", N)
def aliases(n):
    fib, function = fibonacci, tf.abs
    return fib(n) + function(fib(n + 1))


def _traced(function):
    @functools.wraps(function)
    def wrapper(*args):
        return function(*args)

    return wrapper


@feature("`heapq` and `bisect`: lists that are heaps, or stay sorted", N)
def of_heaps(n):
    heap, ordered = [], []
    for i in range(n):
        heapq.heappush(heap, (i * 7 % 5, -i))
        bisect.insort(ordered, i * 5 % 7)
    return (heapq.heappop(heap) if heap else (0, 0)), bisect.bisect(ordered, 3)


@feature("`statistics`: `mean`, `median`, `variance`, `stdev` and their like, of lists that grow too", N)
def of_statistics(n):
    values = [i * i for i in range(n + 2)]
    return statistics.median(values) + statistics.stdev(values), statistics.fmean(0.5 * v for v in values)


@feature("functions under other decorators (`functools.wraps`)", N)
@_traced
@ab.autobatch
def wrapped(n):
    return n if n > 2 else wrapped(n + 1)


@feature("helpers that branch, loop or recurse, without a decorator", X)
def undecorated(x):
    return _steps(_toward, x, 3) + math.hypot(x, 1.0)


def _steps(step, x, count):
    for _ in range(count):
        x = step(x)
    return x


def _toward(x):
    if abs(x) < 0.1:
        return 0.0
    return x - 0.5 if x > 0 else -_toward(-x)


def _bisect(function, low, high):
    while high - low > 0.1:
        middle = (low + high) / 2
        if function(middle) < 0:
            low = middle
        else:
            high = middle
    return low


@feature("nested functions and lambdas given to functions", X, N)
def closures(x, n):
    def curve(v):
        return v * v - n if v > x else -1.0

    return _bisect(curve, 0.0, 5.0) + _bisect(lambda v: v - x, -1.0, 3.0)


def _inverse(n):
    try:
        return 1 / n
    except ZeroDivisionError:
        return 0.0


@feature("helpers that catch", N)
def catching(n):
    return _inverse(n - 2)


@feature("`import` in a function", X)
def imports(x):
    from math import exp
    from math import pi as half_turn

    return exp(x) * half_turn


@feature("`nonlocal`", X, N)
def nonlocal_(x, n):
    total = 0.0

    def add(y):
        nonlocal total
        if y > 0:
            total += y

    for i in range(n):
        add(x + i)
    return total
