"""A process of test_distribution.py: makes calls with a strategy, and prints what they return."""

import json
import os
import sys

import numpy as np
import tensorflow as tf

import autobatch as ab
from autobatch.errors import MemberError


@ab.autobatch
def fibonacci(n):
    if n <= 1:
        return 1
    return fibonacci(n - 2) + fibonacci(n - 1)


@ab.autobatch
def sum_to(n):
    return 0 if n == 0 else n + sum_to(n - 1)


@ab.autobatch
def unlucky(n):
    assert n % 8 != 3, "unlucky"
    return 3 * n


@ab.autobatch(in_axes=(0, None))
def nested(pair, factor):
    total = pair[0]
    while total < 4:
        total = total + pair[1]
    return total * factor


@ab.primitive
def small(x):
    tf.debugging.assert_less(x, 100, "too large")
    return x


@ab.autobatch(jit_compile=False)
def fails_as_a_whole(n):
    return small(n) + 1


N = np.arange(12, dtype=np.int32)  # no tensor: devices are set up later


def tell(name, value):
    print(json.dumps([name, tf.nest.map_structure(lambda leaf: np.asarray(leaf).tolist(), value)]), flush=True)


def error_of(function, *args, says=False):
    """Class, members and the others' results of the error that the call raises."""
    try:
        function(*args)
    except MemberError as error:
        results = None if error.results is None else np.asarray(error.results).tolist()
        return [type(error).__name__, list(error.members), results, *([str(error)] if says else [])]
    return None


def one(count):
    """All that a strategy of so many CPUs is to do."""
    strategy = of_cpus(count)
    here = fibonacci.options(strategy=strategy)
    tell("fibonacci", here(N))
    tell("fewer members than replicas", here(N[3:4]))
    tell("no members", here(N[:0]))
    tell("deep", sum_to.options(strategy=strategy)(tf.constant([40, 2])))
    tell("nested", nested.options(strategy=strategy)((tf.constant([0, 1, 2]), tf.constant([4, 4, 4])), 10))
    tell("unlucky", error_of(unlucky.options(strategy=strategy), N))
    limited = error_of(sum_to.options(strategy=strategy, max_depth=10), N)
    tell("overflow", [*limited[:2], limited[2][:11]])
    tell("max_steps", error_of(fibonacci.options(strategy=strategy, max_steps=5), N))


def draws(count):
    """Chains on a strategy, and on one machine."""
    strategy = of_cpus(count)
    settings = {"num_results": 20, "num_warmup": 20, "seed": 0}
    samples = [
        ab.mcmc.sample(lambda x: -0.5 * tf.reduce_sum(x**2, -1), tf.zeros([6, 2]), strategy=s, **settings).samples
        for s in (None, strategy)
    ]
    tell("the same", bool(np.array_equal(*samples)))


def failing(count):
    """Replicas that fail as a whole."""
    here = fails_as_a_whole.options(strategy=of_cpus(count))
    tell("one fails", error_of(here, np.append(N[:-1], np.int32(100)), says=True))
    tell("all fail", error_of(here, N + 100, says=True))


def worker():
    """One of two processes, each with one CPU."""
    strategy = tf.distribute.MultiWorkerMirroredStrategy()
    tell("fibonacci", fibonacci.options(strategy=strategy)(N))
    tell("numbers", fails_as_a_whole.options(strategy=strategy)(tf.range(5) - 1))
    tell("unlucky", error_of(unlucky.options(strategy=strategy), N))
    tell("one fails", error_of(fails_as_a_whole.options(strategy=strategy), np.append(N[:-1], np.int32(100))))


def mortal():
    """One of two processes, of which the second dies between two calls."""
    strategy = tf.distribute.MultiWorkerMirroredStrategy()
    here = fibonacci.options(strategy=strategy)
    tell("before", here(N))
    if strategy.cluster_resolver.task_id == 1:
        os._exit(9)
    tell("one is dead", error_of(here, N, says=True))
    os._exit(0)  # the strategy's own end waits for the dead


def of_cpus(count):
    cpu = tf.config.list_physical_devices("CPU")[0]
    tf.config.set_logical_device_configuration(cpu, [tf.config.LogicalDeviceConfiguration()] * count)
    return tf.distribute.MirroredStrategy([f"CPU:{k}" for k in range(count)])


if __name__ == "__main__":
    kind, *counts = sys.argv[1:]
    {"one": one, "draws": draws, "failing": failing, "worker": worker, "mortal": mortal}[kind](*map(int, counts))
