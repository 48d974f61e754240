"""What is kept of a program besides its compiled pieces, and under which key.

The key is a digest of all that the program depends on (``frontend/content.py``) and of what compiles it: so another
process that has the same finds it, and one that has anything else does not.
"""

from __future__ import annotations

import functools
import hashlib
import io
import linecache
import os
import pickle
import platform
import re
import sys
from collections.abc import Callable, Collection, Iterable
from dataclasses import replace
from importlib import metadata
from pathlib import Path
from types import CodeType, FunctionType
from typing import Any, NamedTuple

import numpy as np
import tensorflow as tf
from tensorflow.python.framework import ops

from autobatch import cache, errors, ir
from autobatch.calls.arguments import Arguments
from autobatch.calls.fingerprint import fingerprint, of_layout
from autobatch.flags import SMALL_LOOP
from autobatch.frontend.content import Content, content
from autobatch.frontend.core import Callee
from autobatch.frontend.source import Source
from autobatch.frontend.watch import Watched, is_library, module_of, watch_with_functions
from autobatch.ir.leaves import Step
from autobatch.ir.stored import StoredProgram
from autobatch.ir.typed import TypedProgram, TypedStackProgram
from autobatch.language.objects import MemberObject, member_class, users_class
from autobatch.machine.pieces import Shelf
from autobatch.options import Options

_PACKAGES = ("tensorflow", "tensorflow-probability", "tf-keras", "gast", "astunparse")


def keeps(options: Options) -> bool:
    """Whether what such a call compiles may be kept; the same with the cache off, as the bits shall be."""
    return options.backend == "program_counter" and options.jit_compile and options.strategy is None


class Kept(NamedTuple):
    """interface: what callers know of it, the types of what it takes and returns, and its checks."""

    interface: TypedProgram
    stored: StoredProgram
    fingerprint: str


def book(callee: Callee, taken: Arguments, list_capacity: int) -> Book | None:
    """For what depends on these; None if another process could not know whether it is the same."""
    try:
        given = [callee.function, callee.static, callee.receiver, taken.types, taken.shared_types, taken.wide]
        found = content(given, taken.static)
        parts = found.digest, list_capacity, _environment(), _settings()
    except Exception:  # of what is not known; and objects of other libraries may raise anything when they are looked at
        return None
    return Book(found, hashlib.sha256(repr(parts).encode()).hexdigest())


class Book:
    """What is kept of a program, in any of its forms, under its key."""

    def __init__(self, found: Content, key: str):
        self._found, self._key = found, key
        self._kept: dict[frozenset[str], Kept] = {}
        self.watched = found.watched

    def covers(self, sources: Collection[Source]) -> bool:
        """Whether the program that these functions have become depends on nothing that is not in the key.

        What they read from outside must be watched, or be part of what is, and nothing of it may have changed
        meanwhile: what code does besides, while it is lowered, another process would not do.
        """
        inner = _nested(sources)  # whose code is part of what they stand in
        own = [s for s in sources if not is_library(s.function) and s.function not in inner]
        if any(watched.changes() for watched in self.watched) or not all(_is_of_its_file(s.function) for s in own):
            return False
        found = {(id(w.owner), w.name) for w in self.watched}
        parts = {id(part) for w in self.watched for part in w.parts}
        cells = {id(cell) for function in inner for cell in function.__closure__ or ()}
        watched = watch_with_functions(own)[0].values()

        def is_covered(w: Watched) -> bool:
            is_ours = isinstance(w.value, FunctionType | type) and module_of(w.value).startswith("autobatch.")
            is_inner = isinstance(w.value, Callee) and w.value.function in inner
            is_part = w.is_bound_for_good and (is_ours or is_inner or id(w.value) in parts)
            return is_part or id(w.owner) in cells or (id(w.owner), w.name) in found

        return all(map(is_covered, watched))

    def read(self, optimizations: Collection[str]) -> Kept | None:
        form = frozenset(optimizations)
        if form not in self._kept:
            pickled = cache.read(self._file(form))
            found = None if pickled is None else _loaded(pickled, self._found.objects)
            if found is None:
                return None
            self._kept[form] = found
        return self._kept[form]

    def write(
        self, optimizations: Collection[str], typed: TypedProgram, stored: StoredProgram, watched: Iterable[Watched]
    ) -> Kept | None:
        """Keeps it; None if it holds what cannot be pickled."""
        found = Kept(typed, stored, fingerprint(stored, watched))
        pickled = _dumped(found, self._found.objects)
        if pickled is None:
            return None
        cache.write(self._file(frozenset(optimizations)), pickled)
        self._kept[frozenset(optimizations)] = found
        return found

    def shelf(
        self,
        optimizations: Collection[str],
        code: Callable[[Collection[str]], StoredProgram],
        is_open: Callable[[], bool],
    ) -> Shelf:
        """For the pieces of the machine; ``code`` gives the program with its code."""
        form = frozenset(optimizations)
        kept = self._kept[form].stored

        def program() -> StoredProgram:
            found = code(form)
            if of_layout(found) != of_layout(kept):
                cache.forget(self._file(form))
                raise errors.AutobatchError(
                    "What is kept of this program is not what it is lowered to.", help="call it again."
                )
            return found

        return Shelf(f"{self._key} {sorted(form)}", program, is_open)

    def _file(self, form: frozenset[str]) -> str:
        return hashlib.sha256(repr((self._key, sorted(form))).encode()).hexdigest() + cache.SUFFIX


@functools.cache
def _environment() -> str:
    """What compiles: versions, the processor, and how this process was told to compile."""
    ours = Path(errors.__file__).parent
    sources = sorted((str(path.relative_to(ours)), path.read_bytes()) for path in ours.rglob("*.py"))
    versions = tf.version.GIT_VERSION, np.__version__, *map(_version, _PACKAGES)
    devices = [(device.device_type, device.name) for device in tf.config.list_logical_devices()]
    system = sys.version, sys.flags.optimize, platform.platform(), _processor()
    return hashlib.sha256(repr((sources, versions, devices, system)).encode()).hexdigest()


def _version(package: str) -> str:
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:  # of another name, as tensorflow-cpu
        return ""


def _nested(sources: Iterable[Source]) -> set[Callable]:
    """The functions inside of these that are functions of the program's own."""
    values = [value for source in sources for value in source.static.values()]
    return {value.function for value in values if isinstance(value, Callee) and value.source is not None}


def _is_of_its_file(function: Any) -> bool:
    """Whether the file, from which it was lowered, is still what Python has read."""
    code = function.__code__
    try:
        module = compile("".join(linecache.getlines(code.co_filename)), code.co_filename, "exec", dont_inherit=True)
    except (SyntaxError, ValueError):
        return False
    pending = [module]
    while pending:
        found = pending.pop()
        if found == code:
            return True
        pending += [part for part in found.co_consts if isinstance(part, CodeType)]
    return False


def _settings() -> tuple[Any, ...]:
    """What the user may set at any time."""
    told = {k: v for k, v in os.environ.items() if k.startswith(("TF_", "XLA_")) and k != "TF_CPP_MIN_LOG_LEVEL"}
    told["XLA_FLAGS"] = re.sub(rf"{SMALL_LOOP}=\d+", "", told.get("XLA_FLAGS", ""))  # which is each piece's own
    return (
        sorted(told.items()),
        ops.is_auto_dtype_conversion_enabled(),
        hasattr(tf.Tensor, "T"),  # NumPy's behaviour
        tf.config.experimental.tensor_float_32_execution_enabled(),
        tf.config.threading.get_inter_op_parallelism_threads(),
        *(tf.keras.backend.floatx(), tf.keras.backend.epsilon(), tf.keras.backend.image_data_format()),
        len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count(),
    )


def _processor() -> str:
    """Its name and what it can do, as far as the system tells."""
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return platform.processor()
    return "\n".join(sorted({line for line in lines if line.startswith(("flags", "Features", "model name"))}))


def _dumped(kept: Kept, objects: list[Any]) -> bytes | None:
    """The program without code; None if it holds what cannot be pickled."""
    typed, entry = kept.interface, kept.interface.program.entry
    seen = {(entry.name, v): typed.types[entry.name, v] for v in (*entry.inputs, *entry.outputs)}
    interface = replace(typed, program=ir.Program((entry,)), types=seen, undecided=None)
    file = io.BytesIO()
    try:
        _Pickler(file, objects).dump(kept._replace(interface=interface))
    except Exception:  # of many kinds
        return None
    return file.getvalue()


def _loaded(pickled: bytes, objects: list[Any]) -> Kept | None:
    try:
        return _Unpickler(io.BytesIO(pickled), objects).load()
    except Exception:  # of many kinds
        return None


class _Pickler(pickle.Pickler):
    """What the digest has seen is not copied, but named by its place, where the other process has its own."""

    def __init__(self, file: io.BytesIO, objects: list[Any]):
        super().__init__(file, protocol=5)
        self._places = {id(value): k for k, value in enumerate(objects)}

    def persistent_id(self, obj: Any) -> int | None:
        return self._places.get(id(obj))

    def reducer_override(self, obj: Any) -> Any:
        if isinstance(obj, ir.Expression) and obj.call is not ir.no_code:
            place = obj.place and ir.no_code
            return _same, (replace(obj, call=ir.no_code, place=place, instead=None),)
        if isinstance(obj, Step) and obj.work:
            return _same, (replace(obj, work=()),)
        if isinstance(obj, TypedProgram | TypedStackProgram) and obj.traces:
            return _same, (replace(obj, traces={}),)
        if (
            isinstance(obj, type)
            and issubclass(obj, errors.MemberError)
            and getattr(errors, obj.__name__, None) is not obj
        ):
            if "together" in vars(obj):
                return errors.raised_together, obj.together
            return errors.raised_by_members, (obj.raised,)
        if issubclass(type(obj), MemberObject):
            value: Any = obj
            return _object, (users_class(value), *value.__tf_flatten__())
        if isinstance(obj, type) and issubclass(obj, MemberObject) and obj is not MemberObject:
            return member_class, (obj.__mro__[1],)
        if isinstance(obj, tf.DType):
            return tf.as_dtype, (obj.name,)
        return NotImplemented


def _same(value: Any) -> Any:
    return value


def _object(cls: type, names: tuple, parts: tuple) -> Any:
    made: Any = member_class(cls)
    return made.__tf_unflatten__(names, parts)


class _Unpickler(pickle.Unpickler):
    def __init__(self, file: io.BytesIO, objects: list[Any]):
        super().__init__(file)
        self._objects = objects

    def persistent_load(self, pid: int) -> Any:
        return self._objects[pid]
