"""A digest of values by what they hold, down to code and the globals that it names: the same in every process.

Where ``watch.py`` compares objects of libraries by identity, these are taken apart too.  What cannot be known in
another process has no digest: variables, files, what C code holds, whatever asks the system (``_PURE`` are the
packages that do not).
"""

from __future__ import annotations

import _abc  # pyright: ignore[reportMissingImports]
import abc
import collections
import copyreg
import dis
import functools
import hashlib
import itertools
import os
import sys
import sysconfig
import types
import weakref
from collections.abc import Iterable, Mapping
from threading import Lock, RLock
from typing import Any, NamedTuple

import numpy as np
import tensorflow as tf
from tensorflow.python.framework import ops

from autobatch.frontend.watch import (
    CACHED,
    Under,
    Watched,
    Watcher,
    attributes_of,
    found_by_name,
    is_library,
    module_of,
    names_in,
    parts_below,
)
from autobatch.language.values import is_of_jax, is_tensor

_PURE = {
    "_collections", "_thread", "_weakrefset", "abc", "autobatch", "bisect", "builtins", "cmath", "collections",
    "contextlib", "copy", "dataclasses", "enum", "fractions", "functools", "heapq", "itertools", "keras", "math",
    "numbers", "numpy", "operator", "re", "statistics", "string", "tensorflow", "tensorflow_probability", "tf_keras",
    "types", "typing", "weakref",
}  # fmt: skip
_ASKING = {  # or finding what it does not name
    "open", "input", "print", "id", "hash", "compile", "__import__", "globals", "eval", "exec", "__globals__",
    "__subclasses__", "__getattribute__",
}  # fmt: skip
_STDLIB = sysconfig.get_path("stdlib") + os.sep
_HEAP_TYPE = 1 << 9  # Py_TPFLAGS_HEAPTYPE: made by a class statement, if it is no C extension's


class UnknowableError(Exception):
    """Of what another process cannot know whether it is the same."""


class Content(NamedTuple):
    """digest: of the values; objects: all that they consist of, in an order that depends on the digest alone.

    watched: the static values, and what code reads from outside.
    """

    digest: str
    objects: list[Any]
    watched: tuple[Watched, ...]


def content(values: Iterable[Any], static: Mapping[str, Any] | None = None) -> Content:
    """Of values, and of static ones by name.

    Raises UnknowableError.
    """
    walk = _Walk()
    for value in values:
        walk.value(value)
    walk.static(static or {})
    return Content(walk.digest.hexdigest(), walk.objects, tuple(walk.watcher.found.values()))


class _Walk:
    def __init__(self) -> None:
        self.digest = hashlib.sha256()
        self.objects: list[Any] = []
        self.numbers: dict[int, int] = {}  # of the objects, by identity
        self.watcher = Watcher()
        self.told = 0  # how many of what the watcher found are in the digest
        self.functions: list[types.FunctionType] = []  # whose names are still to be looked up

    def value(self, value: Any) -> None:
        self._parts(value)
        self._functions()

    def static(self, values: Mapping[str, Any]) -> None:
        for each in (*values, *values.values()):
            self.value(each)
        self.watcher.static(values)
        self._watched()
        self._functions()

    def _functions(self) -> None:
        while self.functions:
            function = self.functions.pop(0)
            used = names_in(function.__code__)
            _check_imports(function.__code__)
            if function.__name__ != "__hash__" and (asking := _ASKING.intersection(used)):
                raise UnknowableError(min(asking))
            self.watcher.function(function)
            self._watched()

    def _watched(self) -> None:
        found = list(self.watcher.found.items())[self.told :]
        self.told += len(found)
        for (_, name), watched in found:
            self._say("name", str(name))
            self._parts(watched.value)

    def _say(self, *texts: str | bytes) -> None:
        for text in texts:
            encoded = text if isinstance(text, bytes) else text.encode("utf-8", "surrogatepass")
            self.digest.update(b"%d:" % len(encoded))
            self.digest.update(encoded)

    def _parts(self, value: Any) -> None:
        pending = [value]
        while pending:
            part = pending.pop()
            if type(part) in _PLAIN:
                self._say(type(part).__name__, repr(part))
                continue
            if id(part) in self.numbers:
                self._say("met", str(self.numbers[id(part)]))
                continue
            self.numbers[id(part)] = len(self.objects)
            self.objects.append(part)  # and so no other gets its identity
            said, parts = self._taken_apart(part)
            self._say(type(part).__qualname__, *said, str(len(parts)))
            pending.extend(reversed(parts))

    def _taken_apart(self, value: Any) -> tuple[tuple[str | bytes, ...], list[Any]]:
        """What to say of a value itself, and its parts."""
        if isinstance(value, types.CodeType):
            return _of_code(value)
        if isinstance(value, tf.DType | tf.TensorShape | np.dtype):
            return (repr(value),), []
        if is_tensor(value) or isinstance(value, np.ndarray | np.generic) or is_of_jax(value):
            return _of_array(value), []
        if isinstance(value, types.ModuleType):
            if not is_library(value) and (type(value) is not types.ModuleType or "__getattr__" in vars(value)):
                raise UnknowableError(value)
            return (_pure(value.__name__),), []
        if isinstance(value, types.FunctionType) and type(value) is not types.FunctionType:  # a proxy, as of wrapt
            raise UnknowableError(value)
        if isinstance(value, types.BuiltinFunctionType):
            return _of_builtin(value)
        if isinstance(value, type | types.FunctionType) and is_library(value):
            module = _pure(module_of(value))
            if isinstance(value, type) and module in sys.stdlib_module_names and not _is_found(value):
                raise UnknowableError(value)
            if "<locals>" not in value.__qualname__ or isinstance(value, type):
                return (module, value.__qualname__), []
        elif isinstance(value, types.FunctionType) and not value.__code__.co_filename.startswith(_STDLIB):
            self.functions.append(value)
        if isinstance(value, types.FunctionType):
            held = [*(value.__closure__ or ()), *attributes_of(value)]
            return (), [value.__code__, value.__defaults__, value.__kwdefaults__, *held]
        if isinstance(value, _HOLDING_NOTHING):
            return (), []
        if isinstance(value, weakref.ref):
            return (), [value()]
        if hasattr(type(value), "__autobatch_parts__"):
            return (), value.__autobatch_parts__()
        if isinstance(value, type):
            registered = _abc._get_dump(value)[0] if isinstance(value, abc.ABCMeta) else ()
            names = sorted(kind().__qualname__ for kind in registered if kind() is not None)
            return (value.__module__, value.__qualname__, *names), _parts(value)
        return self._of_object(value)

    def _of_object(self, value: Any) -> tuple[tuple[str, ...], list[Any]]:
        kind = type(value)
        if kind is not value.__class__ and hasattr(value, "__wrapped__"):  # TensorFlow's around a tuple or dict
            return (), [kind, value.__wrapped__]
        if isinstance(value, _DESCRIPTORS):
            return (value.__qualname__,), []
        if kind is range:
            return (repr(value),), []
        said = [base.__repr__(value) for base in _NUMBERS if isinstance(value, base)]
        said += [str(value.maxlen)] if isinstance(value, collections.deque) else []
        if kind.__module__.startswith("tensorflow.") and (function := getattr(value, "python_function", None)):
            return (), [kind, function]  # of a tf.function; the rest is what it has compiled
        if _is_of_python(kind) or kind in _KNOWN or issubclass(kind, BaseException):
            return tuple(said), _parts(value)
        if isinstance(value, np.ufunc) and getattr(np, value.__name__, None) is not value:  # of a Python function
            raise UnknowableError(value)
        origin = _of_c(kind.__module__)
        try:
            reduced = copyreg.dispatch_table.get(kind, lambda value: value.__reduce_ex__(4))(value)
        except Exception as error:
            raise UnknowableError(value) from error
        return (origin,), [kind, reduced] if isinstance(reduced, str) else [kind, *reduced[1:]]


_NUMBERS: tuple[Any, ...] = (int, float, complex, str, bytes)  # and texts
_PLAIN = (bool, int, float, complex, str, bytes, type(None), type(...), type(NotImplemented))
_HOLDING_NOTHING = (  # locks, and caches
    *(type(Lock()), type(RLock())),
    *(weakref.WeakSet, weakref.WeakKeyDictionary, weakref.WeakValueDictionary),
    type(vars(abc.ABC)["_abc_impl"]),
)
_DESCRIPTORS = (
    types.MemberDescriptorType,
    types.GetSetDescriptorType,
    types.MethodDescriptorType,
    types.WrapperDescriptorType,
    types.ClassMethodDescriptorType,
)
_KNOWN = {
    tuple, list, dict, set, frozenset, slice, property, staticmethod, classmethod, bytearray, object, types.CellType,
    types.MappingProxyType, types.MethodType, types.MethodWrapperType, collections.deque, collections.OrderedDict,
    collections.defaultdict, functools.partial,
}  # fmt: skip


def _parts(value: Any) -> list[Any]:
    """The names of attributes with them; of a cached property neither."""
    found: list[Any] = []
    for part in parts_below(value):
        if type(part) is not Under:
            found.append(part)
        elif part.name != CACHED:
            found += [part.name, part.part]
    return found


def _is_of_python(kind: type) -> bool:
    """Whether all that its objects hold is in attributes, or in a container below."""
    own = [base for base in kind.__mro__ if base not in _KNOWN and base.__module__ != "builtins"]
    made = [any("__dict__" in vars(c) or "__slots__" in vars(c) for c in base.__mro__) for base in own]
    return bool(own) and all(made) and all(base.__flags__ & _HEAP_TYPE for base in own)


def _of_code(code: types.CodeType) -> tuple[tuple[str | bytes, ...], list[Any]]:
    """With the file and the lines, which errors tell; of a notebook's cell, which is no file, without the process."""
    file = code.co_filename if os.path.isfile(code.co_filename) else os.path.basename(code.co_filename)
    said = (
        *(code.co_code, code.co_exceptiontable, code.co_linetable),
        *(code.co_qualname, file, str(code.co_firstlineno), str(code.co_flags)),
        *(str(code.co_argcount), str(code.co_posonlyargcount), str(code.co_kwonlyargcount)),
    )
    constants = [_unordered(each) if _is_only_asked(code, each) else each for each in code.co_consts]
    return said, [code.co_names, code.co_varnames, code.co_freevars, code.co_cellvars, constants]


def _is_only_asked(code: types.CodeType, constant: Any) -> bool:
    """Whether it is a set that code asks whether it contains something, but does not loop over."""
    if not isinstance(constant, frozenset):
        return False
    instructions = list(dis.get_instructions(code))
    following = [b.opname for a, b in itertools.pairwise(instructions) if a.argval is constant]
    return all(name == "CONTAINS_OP" for name in following)


def _unordered(items: frozenset) -> list[Any]:
    """The set as what does not depend on this process."""
    return ["set", *sorted(items, key=repr)]


def _is_found(kind: type) -> bool:
    """Whether it is in its module, under its name; those that C code makes and does not show count too."""
    return found_by_name(kind) is kind or not kind.__flags__ & _HEAP_TYPE


def _of_array(value: Any) -> tuple[str | bytes, ...]:
    is_eager = isinstance(value, ops.EagerTensor)
    is_known = is_eager or isinstance(value, np.generic) or type(value) is np.ndarray or is_of_jax(value)
    if isinstance(value, tf.Variable) or not is_known:
        raise UnknowableError(value)
    try:
        array = np.asarray(value)
    except TypeError:  # a typed key of JAX's
        raise UnknowableError(value) from None
    if array.dtype.hasobject and not is_eager:
        raise UnknowableError(value)
    if array.dtype.hasobject:  # of a tensor of texts: bytes
        return str(array.dtype), str(array.shape), repr(array.tolist())
    return str(array.dtype), str(array.shape), hashlib.sha256(_bytes(array)).digest()


def _bytes(array: np.ndarray) -> Any:
    """All of them, without a copy where that can be."""
    return np.ascontiguousarray(array).view(np.uint8).data if array.ndim and array.size else array.tobytes()


def _of_builtin(value: types.BuiltinFunctionType) -> tuple[tuple[str, ...], list[Any]]:
    owner = value.__self__
    if owner is not None and not isinstance(owner, types.ModuleType):
        return (value.__qualname__,), [owner]
    module = value.__module__ or (owner.__name__ if owner else "")
    if module == "builtins" and value.__name__ in _ASKING:
        raise UnknowableError(value)
    return (_of_c(module), value.__qualname__), []


def _check_imports(code: types.CodeType) -> None:
    """What a function imports while it runs is not looked at."""
    for instruction in dis.get_instructions(code):
        if instruction.opname == "IMPORT_NAME" and _pure(instruction.argval).partition(".")[0] not in _PURE:
            raise UnknowableError(instruction.argval)
    for inner in code.co_consts:
        if isinstance(inner, types.CodeType):
            _check_imports(inner)


def _of_c(name: str) -> str:
    """The name of a module of C code, with its version if TensorFlow does not come with it."""
    top = _pure(name).partition(".")[0]
    if top in _PURE:
        return name
    version = getattr(sys.modules.get(top), "__version__", None)
    if not isinstance(version, str):
        raise UnknowableError(name)
    return f"{name} {version}"


def _pure(name: str) -> str:
    """The name of a module, which neither asks the system nor changes by itself."""
    top = name.partition(".")[0]
    if top not in _PURE and top in sys.stdlib_module_names and top != "__main__":
        raise UnknowableError(name)
    return name
