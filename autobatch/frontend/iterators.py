"""The functions of ``itertools`` as generators, for the number of arguments that they are called with."""

from __future__ import annotations

import builtins
import itertools
from collections.abc import Callable

_COUNT = """
def count(start=0, step=1):
    while True:
        yield start
        start += step
"""
_REPEAT = """
def repeat(value):
    while True:
        yield value
"""
_REPEAT_TIMES = """
def repeat(value, times):
    for _ in range(times):
        yield value
"""
_CYCLE = """
def cycle(items):
    pool = list(items)
    while len(pool) > 0:
        for item in pool:
            yield item
"""
_ACCUMULATE = """
def accumulate(items):
    begun, total = False, 0
    for item in items:
        total = total + item if begun else item
        begun = True
        yield total
"""
_ACCUMULATE_BY = """
def accumulate(items, function):
    begun, total = False, 0
    for item in items:
        if begun:
            total = function(total, item)
        else:
            total = item
        begun = True
        yield total
"""
_PAIRWISE = """
def pairwise(items):
    begun = False
    for item in items:
        if begun:
            yield before, item
        before = item
        begun = True
"""
_SLICE = """
def islice(items, stop):
    if stop < 0:
        raise ValueError("Stop argument for islice() must be None or an integer: 0 <= x <= sys.maxsize.")
    taken = 0
    if stop > 0:
        for item in items:
            yield item
            taken += 1
            if taken >= stop:
                return
"""
_SLICE_BETWEEN = """
def islice(items, start, stop):
    if start < 0 or stop < 0:
        raise ValueError("Indices for islice() must be None or an integer: 0 <= x <= sys.maxsize.")
    taken, end = 0, max(start, stop)
    if end > 0:
        for item in items:
            if taken >= start:
                yield item
            taken += 1
            if taken >= end:
                return
"""
_TAKE_WHILE = """
def takewhile(test, items):
    for item in items:
        if not test(item):
            return
        yield item
"""
_DROP_WHILE = """
def dropwhile(test, items):
    begun = False
    for item in items:
        if not begun:
            begun = not test(item)
        if begun:
            yield item
"""
_FILTER_FALSE = """
def filterfalse(test, items):
    for item in items:
        if not test(item):
            yield item
"""
_MAP = """
def map(function, items):
    for item in items:
        yield function(item)
"""
_FILTER = """
def filter(test, items):
    for item in items:
        if test(item):
            yield item
"""
_ENUMERATE = """
def enumerate(items, start=0):
    for item in items:
        yield start, item
        start += 1
"""


def _chain(arguments: int) -> str:
    names = [f"items_{k}" for k in range(arguments)]
    loops = [f"    for item in {name}:\n        yield item\n" for name in names]
    return f"def chain({', '.join(names)}):\n" + "".join(loops)


def _product(arguments: int) -> str:
    text = f"def product({', '.join(f'items_{k}' for k in range(arguments))}):\n"
    for k in range(arguments):
        text += f"    pool_{k} = list(items_{k})\n"
    for k in range(arguments):
        text += f"{'    ' * (k + 1)}for item_{k} in pool_{k}:\n"
    return f"{text}{'    ' * (arguments + 1)}yield ({''.join(f'item_{k}, ' for k in range(arguments))})\n"


def _choices(name: str, size: int) -> str:
    """``combinations`` and ``permutations``, of so many items at a time."""
    text = f"def {name}(items, size):\n    pool = list(items)\n"
    for k in range(size):
        indent = "    " * (k + 1)
        if name == "permutations":
            text += f"{indent}for at_{k} in range(len(pool)):\n"
            for other in range(k):
                text += f"{indent}    if at_{k} == at_{other}:\n{indent}        continue\n"
        else:
            text += f"{indent}for at_{k} in range({f'at_{k - 1} + 1' if k else 0}, len(pool)):\n"
    return f"{text}{'    ' * (size + 1)}yield ({''.join(f'pool[at_{k}], ' for k in range(size))})\n"


_WRITTEN: tuple[tuple[Callable, tuple[str | None, ...]], ...] = (  # the texts for no, one, two, three arguments
    (itertools.count, (_COUNT, _COUNT, _COUNT)),
    (itertools.repeat, (None, _REPEAT, _REPEAT_TIMES)),
    (itertools.cycle, (None, _CYCLE)),
    (itertools.accumulate, (None, _ACCUMULATE, _ACCUMULATE_BY)),
    (itertools.pairwise, (None, _PAIRWISE)),
    (itertools.islice, (None, None, _SLICE, _SLICE_BETWEEN)),
    (itertools.takewhile, (None, None, _TAKE_WHILE)),
    (itertools.dropwhile, (None, None, _DROP_WHILE)),
    (itertools.filterfalse, (None, None, _FILTER_FALSE)),
    (builtins.map, (None, None, _MAP)),
    (builtins.filter, (None, None, _FILTER)),
    (builtins.enumerate, (None, _ENUMERATE, _ENUMERATE)),
)
MOST_AT_A_TIME = 4  # of combinations and permutations
ENDLESS = (itertools.count, itertools.cycle, itertools.repeat)


def text_of(function: object, arguments: int) -> str | None:
    """The generator that stands for a function of ``itertools`` that is called with so many arguments."""
    if function is itertools.chain:
        return _chain(arguments) if arguments else None
    if function is itertools.product:
        return _product(arguments) if arguments else None
    texts = next((texts for known, texts in _WRITTEN if known is function), ())
    return texts[arguments] if arguments < len(texts) else None


def text_of_choices(function: object, size: object) -> str | None:
    """Likewise for ``combinations(items, size)`` and ``permutations(items, size)``."""
    if not isinstance(size, int) or not 0 < size <= MOST_AT_A_TIME:
        return None
    if function is itertools.combinations:
        return _choices("combinations", size)
    return _choices("permutations", size) if function is itertools.permutations else None
