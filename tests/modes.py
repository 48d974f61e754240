"""The ways to run a program, and which programs the tests run in which.

To run every program in every way takes long, as each is compiled anew.  What differs from way to way is the machine,
and the machine knows operations, types and storage, not programs.  So every program runs on the default machine and on
the local-static backend, interpreted, and every feature of the language there, some on the machine; some programs go
all ways, and ``test_programs.py`` sees to it that these have, together, everything that any program is made of.
``make test-everything`` runs all programs, and all features, in all ways.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import jax
import pytest
import tensorflow as tf

import autobatch as ab
from autobatch import ir
from autobatch.calls.arguments import is_array
from autobatch.errors import SettingError
from autobatch.ir.types import Static, Tensor, leaves
from tests.backends import BACKENDS


def _called(backend: str) -> Any:
    return lambda function, *args: function.options(**BACKENDS[backend])(*args)


def _mapped(function: Any, *args: Any) -> Any:
    """Two lanes for all members."""
    return function.map(*args, lanes=2)


def _taken_up(function: Any, *args: Any) -> Any:
    """Saved and loaded before it begins, and again after three steps."""
    run = function.start(*args)
    with tempfile.TemporaryDirectory() as folder:
        for steps in (0, 3):
            run.advance(steps).save(Path(folder) / "run")
            run = ab.load_run(function, Path(folder) / "run")
    return run.result()


def _of_unknown_size(function: Any, *args: Any) -> Any:
    """In a ``tf.function`` that learns the batch size when it is called."""
    function = function.options(max_depth=40, max_length=64)
    axes = function._options.in_axes
    axes = axes if isinstance(axes, tuple) else [axes] * len(args)
    specs = [
        tf.nest.map_structure(lambda leaf, axis=axis: _without_size(leaf, axis), arg)
        for arg, axis in zip(args, axes, strict=True)
    ]
    graph = tf.function(function, autograph=False).get_concrete_function(*specs)
    flat = [leaf for leaf in tf.nest.flatten(args) if tf.is_tensor(leaf)]
    return tf.nest.pack_sequence_as(graph.structured_outputs, tf.nest.flatten(graph(*flat)))


def _under_jax(function: Any, *args: Any) -> Any:
    """What JAX makes of it on its CPU; it has no ragged arrays."""
    try:
        with jax.enable_x64(True):
            run = function.lower(*args).to_jax()
            return run(*(arg for arg in args if any(map(is_array, tf.nest.flatten(arg)))))
    except SettingError as refused:
        if "ragged" in refused.message or "unlike lengths" in refused.message:
            pytest.skip(refused.message)
        raise


def _without_size(leaf: Any, axis: int | None) -> Any:
    if not tf.is_tensor(leaf):
        return leaf
    shape = leaf.shape.as_list()
    if axis is not None:
        shape[axis] = None
    return tf.TensorSpec(shape, leaf.dtype)


MODES = {name: _called(name) for name in BACKENDS} | {
    "map": _mapped,
    "run": _taken_up,
    "of_unknown_size": _of_unknown_size,
    "jax": _under_jax,
}
ALWAYS = ("program_counter", "local_static")
EVERY = os.environ.get("AUTOBATCH_EVERY_MODE") == "1"  # every program in every way


def pairs(names: Iterable[str], modes: Iterable[str] = ALWAYS) -> list[Any]:
    """Each program in each of these ways, or, if the environment asks for it, in every way, for ``parametrize``.

    Those that XLA or TensorFlow's graphs compile have the mark ``compiles``, which ``make check`` leaves out.
    """
    modes = MODES if EVERY else tuple(modes)
    marks = {mode: [] if mode == "local_static" else [pytest.mark.compiles] for mode in modes}
    return [pytest.param(name, mode, marks=marks[mode], id=f"{name}-{mode}") for name in names for mode in modes]


def features(function: Any, args: tuple) -> set[tuple]:
    """What a machine must know to run the program: operations, ends of blocks, checks, and what lives where."""
    stored = function.lower(*args)._program.stack()
    found: set[tuple] = {("functions", min(len({owner.name for owner in stored.typed.owners}), 2))}
    for block in stored.program.blocks:
        end = block.terminator
        found.add(("end", type(end).__name__, type(getattr(end, "then", None)).__name__, ir.may_return(end)))
        found |= {("operation", type(op).__name__) for op in block.ops}
        found |= {("kind", op.function.kind) for op in block.ops if isinstance(op, ir.Update)}
    for where, live in (("register", stored.registers), ("stack", stored.stacked)):
        kinds = [leaves(stored.types[v]) for v, _ in live]
        found |= {(where, _kind(leaf)) for found_leaves in kinds for leaf in found_leaves}
        found.add((where, "of several leaves", any(len(found_leaves) > 1 for found_leaves in kinds)))
    found |= {("check", check.error and check.error.__name__) for check in stored.typed.checks}
    found |= {("shared", bool(stored.typed.shared)), ("epilogue", stored.typed.epilogue is not None)}
    return found


def _kind(leaf: Any) -> tuple:
    if isinstance(leaf, Tensor):
        return (leaf.dtype.name, min(len(leaf.shape), 2))
    return (
        type(leaf).__name__,
        getattr(leaf, "kind", type(getattr(leaf, "value", None)) if isinstance(leaf, Static) else None),
    )
