"""What a program reads from outside: changes between calls, statics of equal value, dicts in another order.

A scenario is a program, and what happens then: calls, with one static value and one order of keys or another, and
changes of what the program reads. The same happens in plain Python, on objects of its own.
"""

from __future__ import annotations

import collections
import decimal

import numpy as np
from hypothesis import strategies as st

import autobatch as ab
from autobatch.errors import AutobatchError
from tests.fuzz.running import AGREED, INTERPRETED, REFUSED, batched, outcome, plain, same

WORLD = """import array, collections, contextvars, dataclasses, functools, io, math, threading, types
LEVEL, OTHER = 1, 2
class Base:
    base = 3
    def __init__(self, a): self.a = a
    def method(self): return self.a + LEVEL
    @property
    def prop(self): return self.a * 2 + OTHER
    @staticmethod
    def static(): return LEVEL * 2
    @classmethod
    def of_class(cls): return cls.base
    def __call__(self, x): return x + self.a
    def __getitem__(self, k): return k + LEVEL
    def __len__(self): return self.a
    def __add__(self, x): return self.a + x + OTHER
    def __getattr__(self, name):
        if name == "far": return LEVEL + 7
        raise AttributeError(name)
class Box(Base):
    @functools.cached_property
    def cached(self): return LEVEL
box, inner = Box(4), types.SimpleNamespace(box=Box(5), level=6)
table, items, row = {"p": 1, "q": 2}, [1, 2, 3], (1, [2, 3])
chars, queue, chain = array.array("i", [1, 2]), collections.deque([1, 2]), collections.ChainMap({"a": 1}, {"b": 2})
numbers, context = np.arange(5), contextvars.ContextVar("context", default=3)
counter, default = collections.Counter(a=1), collections.defaultdict(int, a=2)
def helper(x, by=1): return x + by + LEVEL
def second(x): return helper(x) + OTHER
def another(x, by=1): return x - by
part = functools.partial(helper, by=5)
nothing = None
def made(k):
    def closure(x): return x + k
    return closure
closed = made(3)
word = "ab"
class Number(int): pass
number = Number(4)
number.k = 2
class Private:
    __slots__ = ("__k",)
    def __init__(self): self.__k = 1
    def get(self): return self.__k
    def put(self, k): self.__k = k
private, event, text = Private(), threading.Event(), io.StringIO("abc")
views = table.keys(), table.values()
size = items.__len__
log, seen, marks = [], {}, []
def noted(x):
    log.append(x)
    return x + 1
def once():
    if "x" in seen: return 0
    seen["x"] = 1
    return 5
def marked(x):
    if x > 1: marks.append(1)
    return len(marks)
"""
READS = (
    "LEVEL", "OTHER", "box.a", "box.method()", "box.prop", "Box.static()", "box.of_class()", "box(x)", "box[1]",
    "len(box)", "(box + 1)", "box.far", "inner.box.method()", "inner.level", "table['p']",
    "next(iter(table.values()))", "sum(k * v for k, v in enumerate(table.values()))", "items[-1]", "len(items)",
    "sum(items)", "row[1][0]", "chars[0]", "queue[0]", "chain['a']", "int(numbers[2])", "context.get()",
    "counter['a']", "default['a']", "helper(x)", "second(x)", "part(x)", "closed(x)", "len(word)",
    "(1 if nothing is None else 2)", "getattr(box, 'a')", "(1 if hasattr(box, 'extra') else 2)", "len(vars(inner))",
    "(1 if isinstance(box, Box) else 2)", "Box.base", "max(items)", "(3 if 2 in items else 4)",
    "(5 if 'q' in table else 6)", "sorted(items)[0]", "int(numbers.sum())", "len([k for k in table if table[k] > 1])",
    "Box(LEVEL).a", "Box(2).cached", "type(inner.box).base", "[f(1) for f in (closed, helper)][0]",
    "(lambda: LEVEL)()", "ord(word[0])", "number.k", "private.get()", "(1 if event.is_set() else 2)",
    "len(text.getvalue())", "len(views[0])", "sum(views[1])", "size()", "noted(x)", "once()", "marked(x)",
)  # fmt: skip
CHANGES = (
    "LEVEL += 1", "OTHER = LEVEL + 3", "box.a += 1", "inner.box = Box(9)", "inner.box.a -= 1", "inner.level = 2.0",
    "table['p'] += 4", "table['r'] = 5", "table['p'] = table.pop('p')", "items.append(4)", "items[-1] = 7",
    "items.pop()", "items.reverse()", "row[1][0] += 1", "row = (2, [7])", "chars[0] += 1", "queue.appendleft(6)",
    "chain['a'] = 8", "numbers[2] += 1", "numbers = np.arange(3) + 5", "context.set(context.get() + 1)",
    "number.k += 1", "private.put(private.get() + 1)", "event.set()", "text.write('defghi')", "seen.clear()",
    "counter['a'] += 1", "default['a'] = 9", "helper.__defaults__ = (7,)", "helper.__code__ = another.__code__",
    "part = functools.partial(helper, by=2)", "closed = made(LEVEL)", "word = 'xyz'", "nothing = 1", "box.extra = 1",
    "inner.more = 2", "Box.base = 11", "Base.base += 1", "Base.method = lambda self: self.a - LEVEL",
    "Box.method = lambda self: 20", "Base.__call__ = lambda self, x: x * 2",
    "Base.__getitem__ = lambda self, k: k * 5", "Base.__len__ = lambda self: 8",
    "box.__class__ = type('Box', (Box,), {'base': 30})", "box = Box(6)", "helper = another",
    "Base.prop = property(lambda self: OTHER)", "Base.static = staticmethod(lambda: 5)", "table = dict(p=3, q=8)",
    "Base.__init__ = lambda self, a: setattr(self, 'a', a + 10)", "closed.__closure__[0].cell_contents += 2",
    "box.prop2 = 3", "LEVEL = True", "LEVEL = 1.0", "LEVEL = 1", "OTHER = -0.0", "OTHER = 0.0",
    "LEVEL, OTHER = OTHER, LEVEL", "inner.__dict__ = dict(reversed(inner.__dict__.items()))", "items = (1, 2, 3)",
    "items = [True, 2, 3]",
)  # fmt: skip
STATIC_READS = (
    "len(str(c))", "(1 if c is True else 2)", "(3 if isinstance(c, int) else 4)", "(1 if c else 2)", "len(repr(c))",
    "(5 if repr(c)[0] == '-' else 6)", "(ord(type(c).__name__[0]))",
    "(hash(type(c).__name__) * 0 + len(type(c).__name__))",
)  # fmt: skip
STATICS = (
    (1, True, 1.0, decimal.Decimal(1), "1"), (0.0, -0.0, 0, False), ((1, 2), (True, 2), [1, 2], (1.0, 2)),
    (decimal.Decimal("1.0"), decimal.Decimal("1.00")), (range(0, 3, 2), range(0, 4, 2), (0, 2)),
    (frozenset({1}), frozenset({True}), frozenset({1, 2}), {1}),
    ({"a": 1, "b": 2}, {"b": 2, "a": 1}, collections.OrderedDict(b=2, a=1)), (None, False, 0, ""), (b"a", "a"),
)  # fmt: skip
SHAPES = (
    "return x + {sum}",
    "y = x\nif x > 1:\n    y = y + {one}\nreturn y + {sum}",
    "k, y = 0, x\nwhile k < 3:\n    k, y = k + 1, y + {one}\nreturn y + {sum}",
    "return inside(x) + {sum}",
    "def nested(z):\n    return z + {one}\nreturn nested(x) + {sum}",
    "return (lambda z: z + {one})(x) + {sum}",
    "return x + sum([{one} for _ in range(2)]) + {sum}",
    "assert x > -9, str({one})\nreturn x + {sum}",
    "r = 0\nfor v in d.values():\n    r = r * 7 + v\nreturn r + {sum}",
    "r = 0\nfor v in ab.unroll(list(d)):\n    r = r * 7 + d[v]\nreturn r + x + {sum}",
    "return x + next(iter(d.values())) + {sum}",
)
ORDERS = (("a", "z"), ("z", "a"))
X = np.array([0, 3], np.int64)
D = {"a": np.array([1, 4], np.int64), "z": np.array([2, 2], np.int64)}


@st.composite
def _examples(draw):
    reads = draw(st.lists(st.sampled_from(READS), min_size=1, max_size=4))
    one, statics = draw(st.sampled_from(READS)), draw(st.sampled_from(STATICS))
    if draw(st.booleans()):
        reads.append(draw(st.sampled_from(STATIC_READS)))
    body = draw(st.sampled_from(SHAPES)).format(sum=" + ".join(reads), one=one)
    text = f"""@ab.autobatch
def inside(x):
    return x + {one} if x > 0 else x


def f(x, d, c):
    {body.replace(chr(10), chr(10) + "    ")}
"""
    call = st.tuples(st.sampled_from(ORDERS), st.sampled_from(statics))
    step = st.one_of(call, st.sampled_from(CHANGES))
    return text, draw(st.tuples(call)) + tuple(draw(st.lists(step, min_size=2, max_size=6))) + draw(st.tuples(call))


examples = _examples()


def check(example):
    """Compares each call with plain Python's at that moment."""
    text, steps = example
    ours, python = batched(WORLD + text), plain(WORLD + text)
    f, results = ab.autobatch(ours["f"], static_argnames="c", **INTERPRETED), []
    for step in steps:
        if isinstance(step, str):
            wrong = [isinstance(outcome(exec, step, scope), Exception) for scope in (ours, python)]
            assert wrong[0] == wrong[1]
            continue
        order, c = step
        expected = [
            outcome(python["f"], X[z].item(), {key: D[key][z].item() for key in order}, c) for z in range(len(X))
        ]
        try:
            found = f(X, {key: D[key] for key in order}, c)
        except AutobatchError as error:
            results.append(REFUSED)
            if getattr(error, "kind", None) in ("changes-outside", "changing-result"):  # it has changed by now
                break
            continue
        except Exception as error:  # what tracing itself raises, as Python does for all members
            if all(type(error) is type(value) for value in expected):
                results.append(AGREED)
                continue
            raise
        for z, value in enumerate(expected):
            assert not isinstance(value, Exception), (z, value, found)
            assert same(np.asarray(found)[z], value), (steps, step, found, expected)
        results.append(AGREED)
    return AGREED if AGREED in results else REFUSED
