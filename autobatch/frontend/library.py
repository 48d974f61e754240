"""Functions of Python's standard library that loop or branch, as autobatched Python."""

from __future__ import annotations

import bisect
import builtins
import functools
import heapq
import math
import os
import statistics
from collections.abc import Callable, Hashable, Sequence
from dataclasses import replace
from typing import Any

from autobatch import ir
from autobatch.frontend.core import Callee
from autobatch.frontend.source import signature
from autobatch.language.numbers import pow_


def gcd(a, b):
    if not (isinstance(a, int) and isinstance(b, int)):
        raise TypeError("math.gcd needs ints")
    a, b = abs(int(a)), abs(int(b))
    while b > 0:
        a, b = b, a % b
    return a


def lcm(a, b):
    if not (isinstance(a, int) and isinstance(b, int)):
        raise TypeError("math.lcm needs ints")
    a, b = abs(int(a)), abs(int(b))
    if a == 0 or b == 0:
        return 0
    c, d = a, b
    while d > 0:
        c, d = d, c % d
    return a // c * b


def comb(n, k):
    if not (isinstance(n, int) and isinstance(k, int)):
        raise TypeError("math.comb needs ints")
    n, k = int(n), int(k)
    if n < 0 or k < 0:
        raise ValueError("math.comb needs ints that are not negative")
    if k > n:
        return 0
    chosen, ways = 0, 1
    k = min(k, n - k)
    while chosen < k:
        common, rest = ways, chosen + 1
        while rest > 0:
            common, rest = rest, common % rest
        # ways * (n - chosen) // (chosen + 1), without a number that is greater than the result
        ways = ways // common * ((n - chosen) // ((chosen + 1) // common))
        chosen += 1
    return ways


def perm(n, k):
    if not (isinstance(n, int) and isinstance(k, int)):
        raise TypeError("math.perm needs ints")
    n, k = int(n), int(k)
    if n < 0 or k < 0:
        raise ValueError("math.perm needs ints that are not negative")
    ways = 1 if k <= n else 0
    while k > 0 and ways > 0:
        ways *= n
        n -= 1
        k -= 1
    return ways


def power_modulo(base, exp, mod):
    if mod == 0:
        raise ValueError("pow() 3rd argument cannot be 0")
    if exp >= 0:
        return pow_(base, exp, mod)
    size = abs(mod)
    rest, common, inverse, factor = base % size, size, 1, 0  # Euclid: rest is inverse * base modulo size
    while rest > 0:
        times = common // rest
        rest, common, inverse, factor = common - times * rest, rest, factor - times * inverse, inverse
    if common != 1:
        raise ValueError("base is not invertible for the given modulus")
    return pow_(factor % size, -exp, mod)


def fsum(seq):
    partials, special, infinite = [0.0], 0.0, 0.0
    for value in seq:
        x = float(value)
        if not math.isfinite(x):
            special += x
            if math.isinf(x):
                infinite += x
            continue
        kept = []
        for y in partials:  # each sum of two is rounded, and what it loses is a partial of its own
            total = x + y
            if not math.isfinite(total):
                raise OverflowError("intermediate overflow in fsum")
            lost = y - (total - x) if abs(x) >= abs(y) else x - (total - y)
            if lost != 0.0:
                kept.append(lost)
            x = total
        kept.append(x)
        partials = kept
    if special != 0.0:  # infinities, or NaN
        if math.isnan(infinite):
            raise ValueError("-inf + inf in fsum")
        return special
    k = len(partials) - 1
    total, lost = partials[k], 0.0
    while k > 0 and lost == 0.0:
        k -= 1
        before = total
        total = before + partials[k]
        lost = partials[k] - (total - before)
    if k > 0 and ((lost < 0.0 and partials[k - 1] < 0.0) or (lost > 0.0 and partials[k - 1] > 0.0)):
        twice = lost * 2.0  # halfway between two floats, and what follows says to which it belongs
        if (total + twice) - total == twice:
            total += twice
    return total


def mean(data):
    if len(data) < 1:
        raise statistics.StatisticsError("mean requires at least one data point")
    return sum(data) / len(data)


def fmean(data):
    if len(data) < 1:
        raise statistics.StatisticsError("fmean requires at least one data point")
    return math.fsum(data) / len(data)


def median(data):
    if len(data) < 1:
        raise statistics.StatisticsError("no median for empty data")
    values = sorted(data)
    half = len(values) // 2
    if len(values) % 2 == 1:
        return values[half]
    return (values[half - 1] + values[half]) / 2


def pvariance(data):
    center = statistics.mean(data)
    return sum([(value - center) ** 2 for value in data]) / len(data)


def variance(data):
    if len(data) < 2:
        raise statistics.StatisticsError("variance requires at least two data points")
    return statistics.pvariance(data) * (len(data) / (len(data) - 1))


def pstdev(data):
    return math.sqrt(statistics.pvariance(data))


def stdev(data):
    return math.sqrt(statistics.variance(data))


def reduce(function, sequence):
    begun = False
    for each in sequence:
        if begun:
            total = function(total, each)  # noqa: F821
        else:
            total = each
            begun = True
    if not begun:
        raise TypeError("reduce() of empty iterable with no initial value")
    return total


def reduce_from(function, sequence, initial):
    for each in sequence:
        initial = function(initial, each)
    return initial


# In heaps and sorted lists items are compared as tuples of one, because they may be tuples themselves.


def heappush(heap, item):
    heap.append(item)
    _rise(heap, 0, len(heap) - 1)


def heappop(heap):
    last = heap.pop()
    if len(heap) == 0:
        return last
    least = heap[0]
    heap[0] = last
    _sink(heap, 0)
    return least


def heapreplace(heap, item):
    least = heap[0]
    heap[0] = item
    _sink(heap, 0)
    return least


def heappushpop(heap, item):
    if len(heap) > 0 and (heap[0],) < (item,):
        least = heap[0]
        heap[0] = item
        _sink(heap, 0)
        return least
    return item


def heapify(x):
    for k in range(len(x) // 2 - 1, -1, -1):
        _sink(x, k)


def _rise(heap, top, k):
    """Moves the item at ``k`` up while it is less than its parent, at most to ``top``."""
    item = heap[k]
    while k > top:
        parent = (k - 1) // 2
        if (item,) < (heap[parent],):
            heap[k] = heap[parent]
            k = parent
        else:
            break
    heap[k] = item


def _sink(heap, k):
    """Moves the item at ``k`` down to a leaf, below the least child each time, and from there up as far as it goes."""
    top, item, count = k, heap[k], len(heap)
    child = 2 * k + 1
    while child < count:
        if child + 1 < count and (heap[child + 1],) <= (heap[child],):
            child += 1
        heap[k] = heap[child]
        k = child
        child = 2 * k + 1
    heap[k] = item
    _rise(heap, top, k)


def bisect_left(a, x):
    low, high = 0, len(a)
    while low < high:
        middle = (low + high) // 2
        if (a[middle],) < (x,):
            low = middle + 1
        else:
            high = middle
    return low


def bisect_right(a, x):
    low, high = 0, len(a)
    while low < high:
        middle = (low + high) // 2
        if (x,) < (a[middle],):
            high = middle
        else:
            low = middle + 1
    return low


def insort_left(a, x):
    a.insert(bisect.bisect_left(a, x), x)


def insort_right(a, x):
    a.insert(bisect.bisect_right(a, x), x)


# A dict's, of the lists of its keys and of its values (dicts.py).  Each dict has functions of its own (``of``), as the
# variables of a function have one type.


def find(keys, key, of):
    if key not in keys:
        raise KeyError(key)
    return keys.index(key)


def get(keys, values, key, default, of):
    if key in keys:
        return values[keys.index(key)]
    return default


def placed(keys, values, key, default, of):
    if key not in keys:
        keys.append(key)
        values.append(default)
    return keys.index(key)


def put(keys, values, key, value, of):
    if key in keys:
        values[keys.index(key)] = value
    else:
        keys.append(key)
        values.append(value)


def popped(keys, values, key, of):
    at = find(keys, key, of)
    keys.pop(at)
    return values.pop(at)


def popped_or(keys, values, key, default, of):
    if key in keys:
        at = keys.index(key)
        keys.pop(at)
        return values.pop(at)
    return default


def pop_last(keys, values, of):
    if not keys:
        raise KeyError("popitem(): dictionary is empty")
    key = keys.pop()
    return key, values.pop()


def most_common(keys, values, of):
    return sorted(zip(keys, values), key=lambda pair: pair[1], reverse=True)  # noqa: B905


def so_many_most_common(keys, values, count, of):
    return most_common(keys, values, of)[: max(count, 0)]


# --- what functools.total_ordering makes of one comparison ----------------------------------------------------------


def gt_from_lt(self, other):
    return not self < other and self != other


def le_from_lt(self, other):
    return self < other or self == other


def ge_from_lt(self, other):
    return not self < other


def ge_from_le(self, other):
    return not self <= other or self == other


def lt_from_le(self, other):
    return self <= other and self != other


def gt_from_le(self, other):
    return not self <= other


def lt_from_gt(self, other):
    return not self > other and self != other


def ge_from_gt(self, other):
    return self > other or self == other


def le_from_gt(self, other):
    return not self > other


def le_from_ge(self, other):
    return not self >= other or self == other


def gt_from_ge(self, other):
    return self >= other and self != other


def lt_from_ge(self, other):
    return not self >= other


_ORDERS = (
    gt_from_lt, le_from_lt, ge_from_lt, ge_from_le, lt_from_le, gt_from_le, lt_from_gt, ge_from_gt, le_from_gt,
    le_from_ge, gt_from_ge, lt_from_ge,
)  # fmt: skip

# By how many arguments the call has.
_FUNCTIONS: dict[tuple[object, int], Callable] = {
    (math.gcd, 2): gcd, (math.lcm, 2): lcm, (math.comb, 2): comb, (math.perm, 2): perm, (math.fsum, 1): fsum,
    (builtins.pow, 3): power_modulo, (functools.reduce, 2): reduce, (functools.reduce, 3): reduce_from,
    (statistics.mean, 1): mean, (statistics.fmean, 1): fmean, (statistics.median, 1): median,
    (statistics.pvariance, 1): pvariance, (statistics.variance, 1): variance, (statistics.pstdev, 1): pstdev,
    (statistics.stdev, 1): stdev, (_rise, 3): _rise, (_sink, 2): _sink, (heapq.heappush, 2): heappush,
    (heapq.heappop, 1): heappop, (heapq.heapreplace, 2): heapreplace, (heapq.heappushpop, 2): heappushpop,
    (heapq.heapify, 1): heapify, (bisect.bisect_left, 2): bisect_left, (bisect.bisect_right, 2): bisect_right,
    (find, 3): find, (get, 5): get, (placed, 5): placed, (put, 5): put, (popped, 4): popped, (popped_or, 5): popped_or,
    (pop_last, 3): pop_last, (most_common, 3): most_common, (so_many_most_common, 4): so_many_most_common,
    (bisect.insort_left, 2): insort_left,
    (bisect.insort_right, 2): insort_right,
    **{(getattr(functools, f"_{order.__name__}"), 2): order for order in _ORDERS},
}  # fmt: skip


def written(function: object, arguments: int) -> Callee | None:
    """What stands for a function of the standard library that is called with so many arguments."""
    found = _FUNCTIONS.get((function, arguments)) if isinstance(function, Hashable) else None
    own = {"of"} & {*signature(found).parameters} if found is not None else ()
    return Callee("autobatched", found, static=tuple(own)) if found is not None else None


def at_calls(functions: Sequence[ir.Function]) -> list[ir.Function]:
    """The functions, of which ours stand where the user calls them."""
    ours = {f.name: f for f in functions if os.path.dirname(f.location.file) == os.path.dirname(__file__)}
    sites: dict[str, dict[ir.Location, None]] = {name: {} for name in ours}
    calls = [(f.name, op) for f in functions for b in f.blocks for op in b.ops if isinstance(op, ir.Call)]
    for _ in ours:  # which may call each other
        for caller, op in calls:
            if op.function in ours:
                sites[op.function] |= sites[caller] if caller in ours else {op.location: None}
    return [_moved(f, *sites[f.name]) if f.name in ours else f for f in functions]


def _moved(function: ir.Function, first: ir.Location, *others: ir.Location) -> ir.Function:
    place = replace(first, also=others)

    def moved(part: Any) -> Any:
        return replace(part, location=place) if hasattr(part, "location") else part

    blocks = [replace(b, ops=tuple(map(moved, b.ops)), terminator=moved(b.terminator)) for b in function.blocks]
    return replace(function, blocks=tuple(blocks), location=place)
