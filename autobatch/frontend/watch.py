"""What a program read from outside when it was lowered: globals, closures, attributes of objects.

Python reads these at every call, so a program in which one has changed is out of date.  Containers and objects are
compared part by part, all the way down, and so is all that the methods of their classes mention; tensors, layers and
what other libraries made are compared by identity, and the code of libraries counts as constant.
"""

from __future__ import annotations

import array
import builtins
import collections
import contextvars
import ctypes
import dataclasses
import dis
import functools
import itertools
import logging
import marshal
import sys
import types
import weakref
import zlib
from collections.abc import Collection, ItemsView, Iterable, Iterator, KeysView, Mapping, Sequence, ValuesView
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import gast
import numpy as np

from autobatch.frontend.source import Source
from autobatch.frontend.trees import walk

_MISSING = object()
_PLAIN = (bool, int, float, complex, str, bytes, type(None))
_IMMUTABLE = (*_PLAIN, tuple, types.MethodType, types.CodeType)
_LIBRARIES = {
    "tensorflow",
    "keras",
    "tf_keras",
    "tensorflow_probability",
    "numpy",
    "jax",
    "jaxlib",
    "autobatch",
    *sys.stdlib_module_names,
} - {"__main__"}


@dataclass(frozen=True)
class Watched:
    """A name in a namespace, and all that its value consisted of."""

    namespace: Mapping[Any, Any]
    name: Any
    parts: tuple[Any, ...]
    names: tuple[str, ...]  # each part's: its own, or that of the attribute below it to which the part belongs

    @property
    def owner(self) -> Any:
        """Whose name it is: a dictionary or a cell."""
        return _owner(self.namespace)

    @property
    def is_bound_for_good(self) -> bool:
        """Whether the name is of a static value, and so always the same object's."""
        return isinstance(self.namespace, types.MappingProxyType)

    @property
    def value(self) -> Any:
        return self.namespace.get(self.name, _MISSING)

    def is_unchanged(self) -> bool:
        value = self.value
        if value is self.parts[0] and self.is_immutable:
            return True
        return _all_same(self.parts, _parts(value, "")[0])

    def changes(self) -> set[str]:
        """The names, its own and of attributes below it, of what is not as it was; of a cached property none."""
        value = self.value
        if value is _MISSING or (value is self.parts[0] and self.is_immutable):
            return set()
        before, now = _by_name(self.parts, self.names), _by_name(*_parts(value, str(self.name)))
        return {name for name in before | now if not _all_same(before.get(name, []), now.get(name, []))} - {CACHED}

    @cached_property
    def is_immutable(self) -> bool:
        return all(isinstance(part, _IMMUTABLE) or _is_opaque(part) for part in self.parts)


def watch(sources: Iterable[Source]) -> tuple[Watched, ...]:
    """Everything outside that these functions, and the helpers that they call, refer to."""
    return tuple(watch_with_functions(sources)[0].values())


def watch_with_functions(sources: Iterable[Source]) -> tuple[dict[tuple, Watched], list[types.FunctionType]]:
    """The same, each with what it is told by; and the functions that refer to it."""
    watcher = Watcher()
    for source in sources:
        watcher.source(source)
    return watcher.found, watcher.functions


def watch_callables(callables: Iterable[Any]) -> tuple[Watched, ...]:
    """The parts of these functions, methods and objects, and everything outside that they refer to."""
    watcher = Watcher()
    for k, value in enumerate(callables):
        watcher.add({k: value}, k)
    return tuple(watcher.found.values())


class _Cell(Mapping):
    """A closure's cell as a namespace."""

    def __init__(self, cell: types.CellType):
        self.cell = cell

    def __getitem__(self, name: str) -> Any:
        try:
            return self.cell.cell_contents
        except ValueError:  # empty
            raise KeyError(name) from None

    def __iter__(self) -> Any:
        return iter(())

    def __len__(self) -> int:
        return 0


def _owner(namespace: Mapping[Any, Any]) -> Any:
    return namespace.cell if isinstance(namespace, _Cell) else namespace


class Watcher:
    """Collects what functions refer to."""

    def __init__(self) -> None:
        self.found: dict[tuple, Watched] = {}
        self.seen: set[int] = set()  # functions
        self.functions: list[types.FunctionType] = []
        self.used: dict[str, None] = {}  # names that the functions mention, in order
        self.texts: set[str] = set()  # those of them that are texts, for ``getattr``
        self.modules: dict[int, types.ModuleType] = {}  # whose attributes such names may mean, however they are reached

    def source(self, source: Source) -> None:
        self.function(source.function)
        self.static(source.static)
        for node in walk(source.tree):
            if isinstance(node, gast.ImportFrom) and not node.level and (module := sys.modules.get(node.module)):
                self.module(module, {each.name for each in node.names})

    def static(self, values: Mapping[str, Any]) -> None:
        for name, value in values.items():
            self.add(types.MappingProxyType({name: value}), name)  # which nothing is bound to anew

    def function(self, function: Any) -> None:
        if id(function) in self.seen:
            return
        self.seen.add(id(function))
        self.functions.append(function)
        used = names_in(function.__code__)
        texts = _texts_in(function.__code__) if _OF_ANY_NAME.intersection(used) else []
        self.texts.update(texts)
        used = tuple(dict.fromkeys([*used, *texts]))
        new = [name for name in used if name not in self.used]
        self.used |= dict.fromkeys(used)
        for module in tuple(self.modules.values()):
            self._attributes(module, new)
        read = _global_names(function.__code__)
        for name in (name for name in read if name in _BY_NAME):  # what it reads is not known
            self.found["", name] = Watched({}, name, (object(),), ("",))
        for name, cell in zip(function.__code__.co_freevars, function.__closure__ or (), strict=True):
            self.add(_Cell(cell), name)
            self.module(_Cell(cell).get(name))
        for name in read:
            if name in function.__globals__:
                self.add(function.__globals__, name)
                self.module(function.__globals__[name])
            elif hasattr(builtins, name):
                self.add(function.__globals__, name)  # which may come to be there
                if not isinstance(getattr(builtins, name), type | types.BuiltinFunctionType):
                    self.add(vars(builtins), name)

    def module(self, value: Any, also: Collection[str] = ()) -> None:
        """What of a module's attributes the names may mean; ``also``: names of what was imported from it."""
        if isinstance(value, types.ModuleType) and (id(value) not in self.modules or also):
            self.modules[id(value)] = value
            self._attributes(value, [*self.used, *also])

    def _attributes(self, module: types.ModuleType, used: Collection[str]) -> None:
        """Of a library's module only data, such as ``os.environ``."""
        known, own = vars(module), not is_library(module)
        held = _OF_ANY_NAME.intersection(used)
        data = [k for k, part in known.items() if k[:2] != "__" and (own or not callable(part))] if held else []
        for name in (*used, *data):
            attribute = known.get(name, _MISSING)
            if own and (attribute is not _MISSING or name in self.texts):  # which may come to be there
                self.add(known, name)
                self.module(attribute)
            elif isinstance(attribute, Mapping | list | set | bool | int | float | str):
                self.add(known, name)

    def add(self, namespace: Mapping[Any, Any], name: Any) -> None:
        owner = _owner(namespace)
        value = namespace.get(name, _MISSING)
        if (id(owner), name) in self.found:
            return
        watched = self.found[id(owner), name] = Watched(namespace, name, *_parts(value, str(name)))
        for part in watched.parts:
            if isinstance(part, types.FunctionType) and not is_library(part):
                self.function(part)
            elif isinstance(part, types.ModuleType) and not is_library(part):
                self.module(part)


_LOOKING_UP = {"LOAD_GLOBAL", "LOAD_NAME", "LOAD_FROM_DICT_OR_GLOBALS"}
_BY_NAME = {"globals", "eval", "exec"}
_OF_ANY_NAME = {"getattr", "hasattr", "dir", "vars", "__dict__", "attrgetter", "methodcaller"}


def names_in(code: types.CodeType) -> list[str]:
    """The global names and attributes that a function and the functions inside it mention, in order."""
    inner = [names_in(constant) for constant in code.co_consts if isinstance(constant, types.CodeType)]
    named = filter(str.isidentifier, code.co_names)  # others are of pytest, which rewrites asserts
    return [*named, *itertools.chain(*inner)]


def _global_names(code: types.CodeType) -> dict[str, None]:
    """What a function and the functions and classes inside it look up among the globals, in order."""
    own = {each.argval: None for each in dis.get_instructions(code) if each.opname in _LOOKING_UP}
    inner = [_global_names(constant) for constant in code.co_consts if isinstance(constant, types.CodeType)]
    return dict.fromkeys(filter(str.isidentifier, itertools.chain(own, *inner)))


def _texts_in(code: types.CodeType) -> list[str]:
    """The texts in a function and the functions inside it that may be names."""
    inner = [_texts_in(constant) for constant in code.co_consts if isinstance(constant, types.CodeType)]
    own = [constant for constant in code.co_consts if type(constant) is str and constant.isidentifier()]
    return [*own, *itertools.chain(*inner)]


def module_of(value: Any) -> str:
    """The name of the module that a class or function is of."""
    if type(value) is types.FunctionType:  # whose ``__module__`` may be another's, after ``functools.wraps``
        name = value.__globals__.get("__name__", "")
    else:
        name = getattr(value, "__module__", "")
    return name if isinstance(name, str) else ""


def found_by_name(value: Any) -> Any:
    """What the module of a class or function has under its name; None if it has nothing."""
    found = sys.modules.get(value.__module__)
    for name in value.__qualname__.split("."):
        found = getattr(found, name, None)
    return found


def is_library(value: Any) -> bool:
    name = value.__name__ if isinstance(value, types.ModuleType) else module_of(value)
    return name.split(".")[0] in _LIBRARIES


MOST_PARTS = 100_000  # of one value; what is beyond them counts as changed


CACHED = ""  # the name of what a cached property holds, which is the same whenever it is asked for


class Under(NamedTuple):
    """A part of an attribute, with the attribute's name."""

    name: str
    part: Any


def _parts(value: Any, name: str) -> tuple[tuple[Any, ...], tuple[str, ...]]:
    """The value and, all the way down, the parts of containers, of the user's objects, classes and functions.

    And the name of each: that of the nearest attribute that it belongs to, or else the value's.
    """
    found: list[Any] = []
    named: list[str] = []
    seen: set[int] = set()
    pending, owners = [value], [name]
    while pending:
        part, name = pending.pop(), owners.pop()
        found.append(part)
        named.append(name)
        if type(part) in _PLAIN or id(part) in seen:
            continue
        if len(found) > MOST_PARTS:
            return (value, object()), (name, CACHED)  # which is like no other
        seen.add(id(part))
        data = _summary_of_data(part)
        for each in [data] if data else [] if _is_opaque(part) else parts_below(part):
            under = type(each) is Under
            pending.append(each.part if under else each)
            owners.append(each.name if under else name)
    return tuple(found), tuple(named)


def _by_name(parts: Iterable[Any], names: Iterable[str]) -> dict[str, list[Any]]:
    found: dict[str, list[Any]] = {}
    for part, name in zip(parts, names, strict=True):
        found.setdefault(name, []).append(part)
    return found


def _all_same(old: Sequence[Any], new: Sequence[Any]) -> bool:
    return len(old) == len(new) and all(map(_same, old, new))


def _is_opaque(value: Any) -> bool:
    """Whether it is compared by identity alone: modules, whose attributes are watched, and what libraries made."""
    if isinstance(value, types.FunctionType | type):
        return is_library(value)
    if getattr(type(value), "__autobatch_static__", False):
        return not hasattr(value, "fn")  # an autobatched function has its own watch
    if isinstance(value, types.BuiltinFunctionType):
        return value.__self__ is None or isinstance(value.__self__, types.ModuleType)
    if isinstance(value, types.ModuleType | types.CodeType):
        return True
    module = type(value).__module__.split(".")[0]
    if module in _BOOKS:
        return not isinstance(value, logging.Logger)
    has_parts = module in sys.stdlib_module_names or isinstance(value, np.ndarray | np.poly1d)
    return module in _LIBRARIES and not has_parts and not dataclasses.is_dataclass(value)


_BOOKS = {"logging", "typing", "warnings"}  # whose objects keep books of their own
_OF_C = ctypes._SimpleCData | ctypes.Array | ctypes.Structure
_VIEWS = KeysView | ValuesView | ItemsView


def parts_below(value: Any) -> list[Any]:
    if isinstance(value, _VIEWS):
        return list(value)
    if isinstance(value, bytearray | memoryview | array.array | _OF_C):
        return [bytes(value)]
    if isinstance(value, ctypes._Pointer):
        return [bytes(value.contents)] if value else []
    if isinstance(value, types.CellType):
        return [_Cell(value).get("", _MISSING)]
    if isinstance(value, logging.Logger):
        return [value.level, value.disabled]
    if isinstance(value, contextvars.ContextVar):
        return [value.get(None)]
    if getattr(type(value), "__autobatch_static__", False):
        return [value.fn]
    if isinstance(value, Source):  # whose tree is the frontend's own
        return [value.function, value.static]
    if isinstance(value, types.MethodType):
        return [value.__func__, value.__self__]
    if isinstance(value, types.BuiltinFunctionType | types.MethodWrapperType):
        return [value.__self__]
    if isinstance(value, weakref.ref):
        return [value()]
    if isinstance(value, staticmethod | classmethod):
        return [value.__func__]
    if isinstance(value, property):
        return [value.fget, value.fset, value.fdel]
    if isinstance(value, functools.partial):
        return [value.func, value.args, value.keywords]
    if isinstance(value, types.FunctionType):
        return [value.__code__, value.__defaults__, value.__kwdefaults__, *attributes_of(value)]
    if isinstance(value, type):
        return [*_data(vars(value)), *(base for base in (type(value), *value.__mro__[1:]) if not is_library(base))]
    return [type(value), *attributes_of(value), *_slots(value), *_contents(value)]


def _contents(value: Any) -> Iterable[Any]:
    """What a container holds, whatever the user's class makes of it; of an object of C code its state."""
    if isinstance(value, set | frozenset):
        return list(value)  # in the order that loops over it see, which is that of this process
    if isinstance(value, np.ndarray):
        kept = list(value.flat) if value.dtype.hasobject else [_summary(value)]
        return [value.shape, value.dtype.str, *kept]
    kinds: tuple[Any, ...] = (tuple, list, collections.deque)
    for kind in kinds:
        if isinstance(value, kind):
            return kind.__iter__(value)
    if isinstance(value, Mapping):
        made = [value.default_factory] if isinstance(value, collections.defaultdict) else []
        return [*made, *value.keys(), *value.values()]
    if type(value).__module__.split(".")[0] not in sys.stdlib_module_names:
        return []
    if isinstance(value, Sequence):
        return list(value)
    if not any(name in vars(kind) for kind in type(value).__mro__[:-1] for name in _REDUCING):
        return []
    try:
        _, *state = value.__reduce_ex__(4)
    except Exception:  # a lock, a file
        return []
    return [_frozen(part) for part in state if not isinstance(part, Iterator)]


_REDUCING = ("__reduce__", "__reduce_ex__", "__getstate__")


def _frozen(value: Any) -> Any:
    """What is made anew each time that an object is asked for its state, as what is compared by its parts."""
    if type(value) is dict:
        return tuple((k, _frozen(part)) for k, part in value.items())
    return tuple(map(_frozen, value)) if type(value) in (list, tuple) else value


def _slots(value: Any) -> list[Any]:
    found = []
    for kind in type(value).__mro__:
        for name in _names(vars(kind).get("__slots__", ())):
            if name in ("__dict__", "__weakref__"):  # no attributes of its own
                continue
            private = name.startswith("__") and not name.endswith("__")
            name = f"_{kind.__name__.lstrip('_')}{name}" if private else name
            found.append(Under(name, getattr(value, name, _MISSING)))
    return found


def attributes_of(value: Any) -> list[Any]:
    """The names and values of an object's own attributes, in order."""
    held, kind = getattr(value, "__dict__", {}), type(value)
    named = {k: CACHED if isinstance(getattr(kind, k, None), functools.cached_property) else k for k in held}
    return [*(Under(named[k], k) for k in held), *(Under(named[k], part) for k, part in held.items())]


def _summary(array: np.ndarray) -> Any:
    """What of an array's contents tells whether it has changed."""
    return array.tobytes() if array.nbytes <= SMALL_ARRAY else zlib.crc32(np.ascontiguousarray(array).data)


def _summary_of_data(value: Any) -> bytes | None:
    """The same of a long list of numbers, texts, and lists and tuples of them, or a long tuple of numbers and texts."""
    if type(value) not in (list, tuple) or len(value) < LONG:
        return None
    try:
        if not _is_data(value) or (type(value) is tuple and not _KINDS.issuperset(map(type, value))):
            return None
        written = marshal.dumps(value, 2)  # later versions write what is referred to twice in another way
    except (ValueError, RecursionError):  # too deep, or it contains itself
        return None
    return written if len(written) <= SMALL_ARRAY else b"%d %d" % (len(written), zlib.crc32(written))


def _is_data(value: Sequence[Any]) -> bool:
    """Whether nothing else is in it: of an array, say, marshal writes the bytes without the dtype."""
    kinds = set(map(type, value)) - _KINDS
    return kinds <= {list, tuple} and (not kinds or all(_is_data(each) for each in value if type(each) in kinds))


_KINDS = {*_PLAIN}
LONG = 100  # items of a list that is looked at as a whole
SMALL_ARRAY = 4096  # bytes, up to which an array's contents are kept


def _names(slots: Any) -> tuple[str, ...]:
    return (slots,) if isinstance(slots, str) else tuple(slots)


def _data(namespace: Mapping[str, Any]) -> list[Any]:
    """What a class holds, without what Python puts there itself."""
    return [Under(name, part) for name, part in namespace.items() if name not in _PYTHONS]


_PYTHONS = {
    "__module__", "__dict__", "__weakref__", "__doc__", "__qualname__", "__firstlineno__", "__annotations__",
    "__slotnames__", "__static_attributes__",
}  # fmt: skip


def _same(old: Any, new: Any) -> bool:
    return old is new or (type(old) is type(new) and isinstance(old, (*_PLAIN, tuple)) and _told(old) == _told(new))


def _told(value: Any) -> str:
    """Whatever the user's class makes of ``repr``."""
    kinds: tuple[Any, ...] = (*_PLAIN, tuple)
    return next(kind.__repr__(value) for kind in kinds if isinstance(value, kind))
