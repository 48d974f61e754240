"""Modules with a function ``f``, and what each of them becomes by a change that may change what ``f`` means."""

import types

HEAD = """
import collections, dataclasses, enum, functools, math, operator
from typing import Any, NamedTuple
import numpy as np
import tensorflow as tf
import tensorflow_probability as tfp
import autobatch as ab
"""

# Globals, (before, after), that ``f`` mentions.
_VALUES = """
1 | 2
1 | 1.0
1 | True
0.0 | -0.0
1.0 | float(np.nextafter(1.0, 2.0))
float("nan") | float("inf")
1j | 2j
"a" | "b"
"a" | b"a"
None | False
... | None
2**70 | 2**70 + 1
(1, 2) | (2, 1)
(1, 2) | [1, 2]
[1, 2] | [1, 2, 3]
[[1], [2]] | [[1, 2], []]
[[1, 2]] | [(1, 2)]
{"a": 1, "b": 2} | {"b": 2, "a": 1}
{"a": 1} | {"a": 1.0}
{"a": 1} | {"b": 1}
{1: "a"} | {True: "a"}
{1, 2} | {1, 3}
{1} | frozenset({1})
frozenset({1}) | frozenset({True})
range(0, 4, 2) | range(0, 3, 2)
range(3) | [0, 1, 2]
slice(1) | slice(2)
bytearray(b"a") | bytearray(b"b")
np.float32(1) | np.float64(1)
np.int32(1) | np.int32(2)
np.zeros(3) | np.ones(3)
np.zeros(3) | np.zeros((3, 1))
np.zeros(3) | np.zeros(3, np.float32)
np.arange(10_000) | np.arange(10_000)[::-1]
np.arange(10_000) | np.arange(10_000) + (np.arange(10_000) == 9_999)
np.dtype("int32") | np.dtype("int64")
tf.constant(1) | tf.constant(2)
tf.constant(1) | tf.constant(1.0)
tf.constant([1, 2]) | tf.constant([[1, 2]])
tf.constant([0.0]) | tf.constant([-0.0])
tf.constant("a") | tf.constant("b")
tf.ragged.constant([[1], [2, 3]]) | tf.ragged.constant([[1, 2], [3]])
tf.float32 | tf.float64
tf.TensorShape([1]) | tf.TensorShape([2])
collections.deque([1], maxlen=1) | collections.deque([1], maxlen=2)
collections.OrderedDict(a=1, b=2) | collections.OrderedDict(b=2, a=1)
collections.Counter("ab") | collections.Counter("aab")
collections.defaultdict(int) | collections.defaultdict(float)
collections.ChainMap({"a": 1}) | collections.ChainMap({"a": 2})
types.MappingProxyType({"a": 1}) | types.MappingProxyType({"a": 2})
types.SimpleNamespace(a=1) | types.SimpleNamespace(a=2)
functools.partial(max, 1) | functools.partial(max, 2)
functools.partial(max, key=abs) | functools.partial(max, key=len)
operator.itemgetter(1) | operator.itemgetter(2)
operator.attrgetter("a") | operator.attrgetter("b")
math.sin | math.cos
np.sin | np.cos
tf.sin | tf.cos
math | np
max | min
[1].append | [2].append
iter([1, 2]) | iter([2, 2])
lambda x: x + 1 | lambda x: x + 2
lambda x, k=1: x | lambda x, k=2: x
lambda x, *, k=1: x | lambda x, *, k=2: x
lambda x: (lambda y: x) | lambda x: (lambda y: y)
(lambda k: lambda x: x + k)(1) | (lambda k: lambda x: x + k)(2)
tf.function(lambda x: x + 1) | tf.function(lambda x: x + 2)
ab.primitive(lambda x: x, size=1) | ab.primitive(lambda x: x, size=2)
tfp.distributions.Normal(0.0, 1.0) | tfp.distributions.Normal(0.0, 2.0)
tfp.distributions.Normal(0.0, 1.0) | tfp.distributions.Cauchy(0.0, 1.0)
tfp.distributions.Normal(0.0, 1.0).log_prob | tfp.distributions.Normal(0.0, 1.0).prob
tfp.bijectors.Chain([tfp.bijectors.Exp()]) | tfp.bijectors.Chain([tfp.bijectors.Softplus()])
"""

# Statements before ``f``, and its body.
_MODULES = [
    ("", "x + 1", "", "x + 2"),
    ("", "x + 1", "", "x - 1"),
    ("", "x + 1", "", "1 + x"),
    ("", "(lambda y: y + 1)(x)", "", "(lambda y: y + 2)(x)"),
    ("", "[i * x for i in range(3)]", "", "[i * x for i in range(4)]"),
    ("K = 1", "(lambda y: (lambda: y + K)())(x)", "K = 2", "(lambda y: (lambda: y + K)())(x)"),
    ("def g(x): return x + 1", "g(x)", "def g(x): return x + 2", "g(x)"),
    ("def g(x): return h(x)\ndef h(x): return 1", "g(x)", "def g(x): return h(x)\ndef h(x): return 2", "g(x)"),
    ("K = [1]\ndef g(x): return x + K[0]", "g(x)", "K = [2]\ndef g(x): return x + K[0]", "g(x)"),
    ("def g(x): return max(x, 1)", "g(x)", "def g(x): return max(x, 1)\ndef max(x, y): return y", "g(x)"),
    ("class C:\n    k = 1", "x + C.k", "class C:\n    k = 2", "x + C.k"),
    ("class C:\n    k = 1\nclass D(C): pass", "D.k", "class C:\n    k = 2\nclass D(C): pass", "D.k"),
    ("class C:\n    def g(s, x): return 1", "C().g(x)", "class C:\n    def g(s, x): return 2", "C().g(x)"),
    ("class C:\n    @property\n    def k(s): return 1", "C().k",
     "class C:\n    @property\n    def k(s): return 2", "C().k"),
    ("class C:\n    @staticmethod\n    def k(): return 1", "C.k()",
     "class C:\n    @classmethod\n    def k(): return 1", "C.k()"),
    ("K = 1\nclass C:\n    def g(s): return K", "C().g()", "K = 2\nclass C:\n    def g(s): return K", "C().g()"),
    ("class C:\n    def __init__(s): s.k = 1", "C().k", "class C:\n    def __init__(s): s.k = 2", "C().k"),
    ("class C: pass\nc = C()\nc.k = 1", "c.k", "class C: pass\nc = C()\nc.k = 2", "c.k"),
    ("class C: pass\nc = C()\nc.k = 1", "c.k", "class C: pass\nc = C()\nc.j = 1", "c.k"),
    ("class C: __slots__ = 'k'\nc = C()\nc.k = 1", "c.k", "class C: __slots__ = 'k'\nc = C()\nc.k = 2", "c.k"),
    ("class C(int): pass\nc = C(1)", "c + x", "class C(int): pass\nc = C(2)", "c + x"),
    ("class C(list): pass\nc = C([1])", "c[0]", "class C(list): pass\nc = C([2])", "c[0]"),
    ("class C(dict): pass\nc = C(a=1)", "c['a']", "class C(dict): pass\nc = C(a=2)", "c['a']"),
    ("class M(type): k = 1\nclass C(metaclass=M): pass", "C.k",
     "class M(type): k = 2\nclass C(metaclass=M): pass", "C.k"),
    ("class C(NamedTuple):\n    k: Any = 1", "C().k", "class C(NamedTuple):\n    k: Any = 2", "C().k"),
    ("class C(enum.Enum):\n    k = 1", "C.k.value", "class C(enum.Enum):\n    k = 2", "C.k.value"),
    ("class C(enum.Enum):\n    k = 1\n    j = 2", "(C.k if x > 0 else C.j).name",
     "class C(enum.Enum):\n    j = 2\n    k = 1", "(C.k if x > 0 else C.j).name"),
    ("class C(enum.Enum):\n    k = 1", "C.k is C.k", "class C(enum.Enum):\n    k = 1\n    j = 2", "C.k is C.k"),
    ("class C(enum.Enum):\n    k = 1\n    def g(s): return 1", "C.k.g()",
     "class C(enum.Enum):\n    k = 1\n    def g(s): return 2", "C.k.g()"),
    ("class C(enum.Enum):\n    k = 1\n    j = 1", "C.j.name", "class C(enum.Enum):\n    j = 1\n    k = 1", "C.j.name"),
    (
        "@dataclasses.dataclass(frozen=True)\nclass C:\n    k: int = 1\nc = C()", "c.k",
        "@dataclasses.dataclass(frozen=True)\nclass C:\n    k: int = 1\nc = C(2)", "c.k",
    ),
    (
        "@dataclasses.dataclass\nclass C:\n    k: int = dataclasses.field(default=1, compare=False)\nc = C(1)", "c.k",
        "@dataclasses.dataclass\nclass C:\n    k: int = dataclasses.field(default=1, compare=False)\nc = C(2)", "c.k",
    ),
    ("def g(x): return x\ng.k = 1", "g.k", "def g(x): return x\ng.k = 2", "g.k"),
    ("def wrap(h, k):\n    return lambda x: h(x) + k\ng = wrap(abs, 1)", "g(x)",
     "def wrap(h, k):\n    return lambda x: h(x) + k\ng = wrap(abs, 2)", "g(x)"),
    ("@functools.cache\ndef g(x): return 1", "g(1)", "@functools.cache\ndef g(x): return 2", "g(1)"),
    ("@ab.autobatch\ndef g(x): return 1", "g(x)", "@ab.autobatch\ndef g(x): return 2", "g(x)"),
    ("@ab.autobatch(static_argnames='k')\ndef g(x, k): return x", "g(x, 1)",
     "@ab.autobatch\ndef g(x, k): return x", "g(x, 1)"),
    ("import abc\nclass C(abc.ABC): pass", "isinstance(1, C)",
     "import abc\nclass C(abc.ABC): pass\nC.register(int)", "isinstance(1, C)"),
    ("m = types.ModuleType('m')\nm.g = lambda x: 1", "getattr(m, 'g')(x)",
     "m = types.ModuleType('m')\nm.g = lambda x: 2", "getattr(m, 'g')(x)"),
    ("m = types.ModuleType('m')\nm.g = lambda x: 1", "operator.methodcaller('g', x)(m)",
     "m = types.ModuleType('m')\nm.g = lambda x: 2", "operator.methodcaller('g', x)(m)"),
    ("m = types.ModuleType('m')\nm.g = lambda x: 1", "m.g(x)",
     "m = types.ModuleType('m')\nm.g = lambda x: 2", "m.g(x)"),
    ("L = [1]\nclass C:\n    k = L", "C.k", "L = [2]\nclass C:\n    k = L", "C.k"),
    ("A = [1]\nB = A", "(A, B)", "A = [1]\nB = [1]", "(A, B)"),
    # A module that is reached otherwise than by its name.
    ("m = types.ModuleType('m')\nm.k = 1\nclass C: pass\nc = C()\nc.m = m", "c.m.k",
     "m = types.ModuleType('m')\nm.k = 2\nclass C: pass\nc = C()\nc.m = m", "c.m.k"),
    ("m = types.ModuleType('m')\nm.k = 1\nM = {'m': m}\ndel m", "M['m'].k",
     "m = types.ModuleType('m')\nm.k = 2\nM = {'m': m}\ndel m", "M['m'].k"),
    ("m = types.ModuleType('m')\nm.k = 1\ndef g(a, x): return a.k", "g(m, x)",
     "m = types.ModuleType('m')\nm.k = 2\ndef g(a, x): return a.k", "g(m, x)"),
    ("m = types.ModuleType('m')\nm.k = 1\ndef g(x, a=m): return a.k\ndel m", "g(x)",
     "m = types.ModuleType('m')\nm.k = 2\ndef g(x, a=m): return a.k\ndel m", "g(x)"),
    ("m = types.ModuleType('m')", "hasattr(m, 'k')", "m = types.ModuleType('m')\nm.k = 2", "hasattr(m, 'k')"),
    ("m = types.ModuleType('m')", "getattr(m, 'k', 1)", "m = types.ModuleType('m')\nm.k = 2", "getattr(m, 'k', 1)"),
    # What has the name of a library's.
    ("K = 1\n@functools.wraps(functools.wraps)\ndef g(x): return K", "g(x)",
     "K = 2\n@functools.wraps(functools.wraps)\ndef g(x): return K", "g(x)"),
    # What Python tells apart.
    ("K = {0, 8}", "next(iter(K))", "K = {8, 0}", "next(iter(K))"),
    ("class C:\n    __slots__ = 'k'\nc = C()", "hasattr(c, 'k')",
     "class C:\n    __slots__ = 'k'\nc = C()\nc.k = None", "hasattr(c, 'k')"),
    ("class C(float):\n    def __repr__(s): return 'C'\nc = C(1)", "x * c",
     "class C(float):\n    def __repr__(s): return 'C'\nc = C(2)", "x * c"),
]  # fmt: skip

# What no other process can know, or what may be another there.
UNKNOWABLE = [
    ("", "open('a').read()"),
    ("", "id(x)"),
    ("", "print(x)"),
    ("import warnings", "warnings.warn('a')"),
    ("", "hash('a')"),
    ("", "eval('x')"),
    ("", "f.__globals__['K']"),
    ("class C: pass", "C.__subclasses__()"),
    ("import os", "os.environ['HOME']"),
    ("import os", "os.getpid()"),
    ("import time", "time.time()"),
    ("import datetime", "datetime.date.today()"),
    ("import random", "random.random()"),
    ("from random import random", "random()"),
    ("import pathlib", "pathlib.Path('a').read_text()"),
    ("import socket", "socket.gethostname()"),
    ("import decimal", "decimal.Decimal(1) / 3"),
    ("v = tf.Variable(1.0)", "x * v"),
    ("layer = tf.keras.layers.Dense(1)\nlayer.build([1])", "layer(x)"),
    ("def g():\n    yield 1\nit = g()", "next(it)"),
    ("a = np.array([object()])", "a[0]"),
    ("def g(x):\n    import os\n    return os.getpid()", "g(x)"),
    ("m = types.ModuleType('m')\nm.__getattr__ = lambda name: 1", "m.k"),
    ("class M(types.ModuleType):\n    k = property(lambda s: 1)\nm = M('m')", "m.k"),
    ("C = types.new_class('C', (), {}, lambda names: names.update(k=1))", "C.k"),
    ("import wrapt\n@wrapt.decorator\ndef d(g, own, a, b): return 1\n@d\ndef g(x): return x", "g(x)"),
    ("g = np.frompyfunc(lambda x: x, 1, 1)", "g(1.0)"),
    ("import io\nfile = io.StringIO('a')", "file.read()"),
]


def module(before: str, value: str, number: int) -> types.ModuleType:
    made = types.ModuleType(f"changes_{number}")
    text = f"{HEAD}import types\n{before}\ndef f(x):\n    return {value}\n"
    exec(compile(text, f"changes_{number}.py", "exec"), vars(made))
    return made


def pairs() -> list[tuple[tuple[str, str], tuple[str, str]]]:
    values = [line.split(" | ") for line in _VALUES.strip().splitlines()]
    found = [((f"K = {old}", "(K, x)"), (f"K = {new}", "(K, x)")) for old, new in values]
    return found + [((a, b), (c, d)) for a, b, c, d in _MODULES]


def main() -> None:
    """Prints the digest of each first one."""
    from autobatch.frontend.content import UnknowableError, content

    for number, (before, _) in enumerate(pairs()):
        try:
            print(content([module(*before, number).f]).digest)
        except UnknowableError:
            print("unknowable")


if __name__ == "__main__":
    main()
