"""Functions of Python's standard library that need loops of their own, as autobatched Python."""

from __future__ import annotations

import math
from collections.abc import Callable

from autobatch.frontend.core import Callee


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
        ways = ways * (n - chosen) // (chosen + 1)
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


_FUNCTIONS: dict[Callable, Callable] = {math.gcd: gcd, math.lcm: lcm, math.comb: comb, math.perm: perm}


def written(function: object, arguments: int) -> Callee | None:
    """What stands for a function of the standard library that is called with so many arguments."""
    found = next((ours for theirs, ours in _FUNCTIONS.items() if theirs is function), None)
    return Callee("autobatched", found) if found is not None and arguments == 2 else None
