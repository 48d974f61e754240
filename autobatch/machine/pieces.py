"""Functions that XLA compiles once for all processes: kept as StableHLO, and as what XLA made of it.

TensorFlow gives XLA a function of one operation, XlaCallModule, whose name and text are the same in every process.
So its cache of executables, which is in memory here (``flags.EXECUTABLES``), finds what an earlier process has
compiled, once that is put there.  Neither the user's code nor a block of the machine is traced then.
"""

from __future__ import annotations

import hashlib
import pickle
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any
from weakref import WeakValueDictionary

import numpy as np
import tensorflow as tf
from tensorflow.compiler.tf2xla.python import xla as tf2xla
from tensorflow.python.eager.polymorphic_function import atomic_function, compiler_ir

from autobatch import cache, reads
from autobatch.flags import EXECUTABLES, looks_for_executables
from autobatch.ir.stored import StoredProgram
from autobatch.machine.blocks import Machine
from autobatch.machine.xla import whole_loops
from autobatch.quiet import without
from autobatch.tracing.graphs import GraphFunction

_VERSION = 9  # of XlaCallModule's attributes
_NOISE = b"Error parsing text-format tensorflow.XlaSerializedCacheEntry"  # it tries whether the file is text


@dataclass(frozen=True)
class Shelf:
    """Where the pieces of one program are kept.

    key: of the program; code: gives the program with the code that it was made of, which is not kept.
    is_open: whether it is known that all that the program depends on is in the key.
    """

    key: str
    code: Callable[[], StoredProgram]
    is_open: Callable[[], bool]

    def name(self, *parts: Any) -> str:
        """Of a file."""
        return hashlib.sha256(repr((self.key, *parts)).encode()).hexdigest() + cache.SUFFIX


@dataclass(frozen=True)
class _Kept:
    """text: StableHLO; results: a nest of numbers; types: of each result; executable: a file's name and content.

    captured: the tensors that the code closes over, which come behind the arguments.
    """

    text: bytes
    results: Any
    types: Sequence[tuple[str, tuple[int, ...]]]
    captured: Sequence[np.ndarray]
    executable: tuple[str, bytes] | None = None


def piece(
    shelf: Shelf,
    purpose: Sequence[Any],
    machine: Machine,
    make: Callable[[Machine], Callable],
    arguments: Any,
    limit: int,
) -> Callable:
    """The function that ``make`` makes of the machine, compiled; by one thread at a time.

    purpose: what the function depends on beside the program, the machine and its arguments' types.
    arguments: for which it has nothing to do; limit: as for ``whole_loops``.
    """
    made = machine.size, machine.depth, machine.safe, machine.max_steps, machine.saves_singly, machine.counts
    file = shelf.name(*purpose, made, limit)
    kept, concrete = _read(file), None
    if kept is None:
        with reads.noticed() as noticed:
            real = replace(machine, stored=shelf.code())
            concrete = tf.function(make(real), autograph=False, jit_compile=True).get_concrete_function(*arguments)
        kept = None if noticed or not shelf.is_open() else _exported(concrete)
        if kept is None:
            return compiled(concrete, arguments)
    captured = list(map(tf.constant, kept.captured))
    flat = [*tf.nest.flatten(arguments), *captured]
    try:
        function = _Function.of(kept, flat, limit)
        found = _compiled(function, kept, flat, limit)
        if found is None:  # what was kept does not load here
            kept = replace(kept, executable=None)
            function = _Function.of(kept, flat, limit, again=True)
            found = _compiled(function, kept, flat, limit)
    except tf.errors.OpError:  # TensorFlow does not read what it has written
        if concrete is None:
            raise
        return compiled(concrete, arguments)
    if found is not kept:
        cache.write(file, pickle.dumps(found))

    def run(*arguments: Any) -> Any:
        return tf.nest.pack_sequence_as(kept.results, function([*tf.nest.flatten(arguments), *captured]))

    return run


def compiled(concrete: Callable, arguments: Sequence[Any]) -> Callable:
    """The function, called from a graph and compiled: XLA compiles it anew for a call that comes from none."""
    in_graph = GraphFunction(concrete, *arguments)
    in_graph(*arguments)
    return in_graph


def _read(file: str) -> _Kept | None:
    content = cache.read(file)
    if content is None:
        return None
    try:
        return pickle.loads(content)
    except Exception:  # of another version
        cache.forget(file)
        return None


def _exported(concrete: Any) -> _Kept | None:
    """None where it closes over a variable, or does what StableHLO has no word for (``erf``, a word of ``mhlo``).

    So where a tensor that the code closes over is the axis of a split, say: when compiled, it is a constant in a loop.
    """
    if any(tensor.dtype == tf.resource for tensor in concrete.captured_inputs):
        return None
    results = concrete.structured_outputs
    flat = tf.nest.flatten(results)
    try:
        text = compiler_ir.from_concrete_function(concrete)(stage="stablehlo_serialized")
    except ValueError:
        return None
    if b"\0mhlo\0" in text:
        return None
    types = [(leaf.dtype.name, tuple(leaf.shape)) for leaf in flat]
    captured = [tensor.numpy() for tensor in concrete.captured_inputs]
    return _Kept(text, tf.nest.pack_sequence_as(results, range(len(flat))), types, captured)


class _Function:
    """A function of one operation, under a name that is the same in every process.

    XLA compiles it anew for a call that comes from no graph, so that it always comes from one.
    """

    _made: WeakValueDictionary[str, _Function] = WeakValueDictionary()

    def __init__(self, name: str, kept: _Kept, arguments: Sequence[tf.Tensor]):
        def call(*arguments: tf.Tensor) -> Any:
            return tf2xla.call_module(
                arguments,
                version=_VERSION,
                module=kept.text,
                Tout=[tf.as_dtype(dtype) for dtype, _ in kept.types],
                Sout=[shape for _, shape in kept.types],
                platforms=[_platform()],
            )

        specs = [tf.TensorSpec(tensor.shape, tensor.dtype) for tensor in arguments]
        concrete = tf.function(call, specs, autograph=False, jit_compile=True).get_concrete_function()
        definition = concrete.function_def
        definition.signature.name = self.name = name
        self._in_graph: Any = atomic_function.from_function_def(definition, concrete.function_type).call_flat
        self._eager: Any = tf.function(self._in_graph, specs, autograph=False).get_concrete_function()

    def __call__(self, arguments: Sequence[tf.Tensor]) -> Sequence[tf.Tensor]:
        return (self._eager if tf.executing_eagerly() else self._in_graph)(*arguments)

    @classmethod
    def of(cls, kept: _Kept, arguments: Sequence[tf.Tensor], limit: int, again: bool = False) -> _Function:
        """``again``: not the one that did not load."""
        digest = hashlib.sha256(kept.text + repr((kept.types, limit, again)).encode()).hexdigest()
        name = f"autobatch_{digest[:32]}"
        found = cls._made.get(name)
        if found is None:
            found = cls._made[name] = cls(name, kept, arguments)
        return found


def _platform() -> str:
    kinds = {"GPU": "CUDA", "TPU": "TPU"}
    return next((kinds[d.device_type] for d in tf.config.list_logical_devices() if d.device_type in kinds), "CPU")


def _compiled(function: _Function, kept: _Kept, arguments: Sequence[tf.Tensor], limit: int) -> _Kept | None:
    """What is kept, with what XLA made of it, if that is new; None if what was kept does not load."""
    _empty()
    if kept.executable is not None and looks_for_executables:
        name, content = kept.executable
        with tf.io.gfile.GFile(f"{EXECUTABLES}/{name}", "wb") as file:
            file.write(content)
        try:
            with without(_NOISE):
                function(arguments)
        except tf.errors.OpError:
            return None
        finally:
            _empty()
        return kept
    with whole_loops(limit):
        function(arguments)
    made = _of(function.name)
    _empty()
    return kept if made is None and kept.executable is not None else replace(kept, executable=made)


def _of(name: str) -> tuple[str, bytes] | None:
    """The file in the directory with what XLA made of the function."""
    for file in _listed():
        with tf.io.gfile.GFile(f"{EXECUTABLES}/{file}", "rb") as opened:
            content = opened.read()
        if name.encode() in content:
            return file, content
    return None


def _listed() -> list[str]:
    return tf.io.gfile.listdir(EXECUTABLES) if looks_for_executables and tf.io.gfile.isdir(EXECUTABLES) else []


def _empty() -> None:
    """Removes what others have put there, who have it compiled already."""
    for file in _listed():
        tf.io.gfile.remove(f"{EXECUTABLES}/{file}")
