"""What is installed, and whether it works: ``autobatch doctor``."""

from __future__ import annotations

import os
import platform
import time
from collections.abc import Callable
from importlib import metadata

import numpy as np
import tensorflow as tf
from rich.console import Console
from rich.table import Table

from autobatch.api import autobatch
from autobatch.machine import xla
from autobatch.random import threefry

PACKAGES = (
    "autobatch", "tensorflow", "tensorflow-probability", "tf-keras", "gast", "astunparse", "numpy", "arviz",
    "matplotlib", "pygraphviz", "jax",
)  # fmt: skip
N = np.array([3, 7, 4, 5, 12, 1], np.int32)
FIBONACCI = [3, 21, 5, 8, 233, 1]


@autobatch
def fibonacci(n):
    if n <= 1:
        return 1
    return fibonacci(n - 2) + fibonacci(n - 1)


@autobatch
def halvings(x):
    steps = 0
    while x > 1:
        x, steps = x / 2, steps + 1
    return steps, x


def report(console: Console) -> bool:
    """Prints it; returns whether all is well."""
    console.print(_installed(), _devices(), "")
    results = [_tried(console, name, check) for name, check in CHECKS.items()]
    console.print("All is well." if all(results) else "[red]Something is wrong, see above.[/]")
    return all(results)


def _installed() -> Table:
    table = Table("package", "version", box=None, pad_edge=False)
    table.add_row("Python", f"{platform.python_version()}, {platform.system()} {platform.machine()}")
    for name in PACKAGES:
        try:
            table.add_row(name, metadata.version(name))
        except metadata.PackageNotFoundError:
            table.add_row(name, "[dim]not installed[/]")
    return table


def _devices() -> Table:
    table = Table("setting", "value", box=None, pad_edge=False)
    table.add_row("devices", ", ".join(device.name.removeprefix("/physical_device:") for device in _physical()))
    table.add_row("cores", str(os.cpu_count()))
    threads = tf.config.threading.get_intra_op_parallelism_threads()
    table.add_row("threads of an operation", str(threads or "one for each core"))
    for name in ("XLA_FLAGS", "TF_XLA_FLAGS", "TF_CPP_MIN_LOG_LEVEL", "CUDA_VISIBLE_DEVICES"):
        table.add_row(name, os.environ.get(name, "[dim]not set[/]"))
    if "TF_CPP_MIN_LOG_LEVEL" not in os.environ:
        table.add_row("advice", "TF_CPP_MIN_LOG_LEVEL=3 silences TensorFlow's own messages")
    if not any(device.device_type == "CPU" for device in _physical()) or len(_physical()) > 1:
        table.add_row("advice", "autobatch is measured on CPUs only; see docs/performance.md")
    if xla.may_set:
        table.add_row("XLA's options", "none need setting: autobatch sets what pays as it compiles")
    else:
        table.add_row("advice", "import autobatch before XLA compiles anything, and leave XLA_FLAGS alone")
    return table


def _physical() -> list:
    return tf.config.list_physical_devices()


def _tried(console: Console, name: str, check: Callable[[], bool]) -> bool:
    start = time.perf_counter()
    try:
        is_well, why = check(), "wrong result"
    except Exception as error:
        is_well, why = False, f"{type(error).__name__}: {error}"
    mark = "[green]ok[/]  " if is_well else "[red]bad[/] "
    console.print(f"{mark} {name} [dim]({time.perf_counter() - start:.1f} s)[/]")
    if not is_well:
        console.print(why, markup=False)
    return is_well


def _recursion(**options: object) -> bool:
    return fibonacci.options(**options)(N).numpy().tolist() == FIBONACCI


def _loop() -> bool:
    steps, rest = halvings(np.array([8.0, 1.0, 5.0], np.float32))
    return steps.numpy().tolist() == [3, 0, 3] and rest.numpy().tolist() == [1.0, 1.0, 0.625]


def _gradient() -> bool:
    x = tf.constant([8.0, 1.0, 5.0])
    with tf.GradientTape() as tape:
        tape.watch(x)
        _, rest = halvings.options(backend="local_static", jit_compile=False)(x)
    slope = tape.gradient(rest, x)
    return slope is not None and slope.numpy().tolist() == [0.125, 1.0, 0.125]


def _any_number() -> bool:
    return fibonacci.map(np.tile(N, 100), lanes=32).numpy().tolist() == FIBONACCI * 100


def _random() -> bool:
    zero = tf.zeros([], tf.uint32)
    return [int(word) for word in threefry(zero, zero, zero, zero)] == [0x6B200159, 0x99BA4EFE]  # Random123's own test


CHECKS: dict[str, Callable[[], bool]] = {
    "the program-counter machine": _recursion,
    "the paper's switch_case": lambda: _recursion(dispatch="switch_case"),
    "the local-static interpreter": lambda: _recursion(backend="local_static", jit_compile=False),
    "without XLA": lambda: _recursion(jit_compile=False),
    "a loop": _loop,
    "gradients": _gradient,
    "any number of members, lanes refilled": _any_number,
    "random numbers": _random,
}
