"""What a program changes outside, and reads, is refused, whatever reads it; what nobody reads may change."""

import functools
import heapq

import numpy as np
import pytest

import autobatch as ab
from autobatch.errors import UnsupportedSyntaxError

N = np.array([1, 2, 5])


def what_a_helper_appends():
    log = []

    def helper(x):
        log.append(1)
        return x

    def f(n):
        s = 0
        for i in range(n):
            s += helper(i)
        return s + len(log)

    return f


def in_a_branch():
    items = [1, 2, 3]

    def f(n):
        if n > 1:
            items.append(4)
        return n + len(items)

    return f


def in_a_condition():
    items = []

    def helper():
        items.append(1)
        return len(items) > 1

    def f(n):
        return n if helper() else -n

    return f


def in_a_loop_condition():
    items = []

    def helper():
        items.append(1)
        return len(items)

    def f(n):
        s = 0
        while helper() < 3 and s < 10:
            s += n
        return s

    return f


def what_settles():
    seen = {}

    def once():
        if "x" in seen:
            return 0
        seen.setdefault("x", 1)
        return 100

    def f(n):
        return n + once() + once()

    return f


def in_place_by_numpy():
    array = np.array([0, 0])

    def tick():
        np.add(array, 1, out=array)
        return array[0]

    def f(n):
        return n * 10 + tick()

    return f


def by_a_truth_value():
    items = []

    class Switch:
        def __bool__(self):
            items.append(1)
            return len(items) % 2 == 0

    switch = Switch()

    def f(n):
        if switch:
            return n
        return -n

    return f


def rarely_seen():
    items = []

    def parity():
        items.append(1)
        return len(items) // 4

    def f(n):
        return n * 10 + parity()

    return f


def by_a_heap():
    heap = [3, 4]

    def helper(x):
        heapq.heappush(heap, 1)
        return x

    def f(n):
        return helper(n) + len(heap)

    return f


def by_a_lambda():
    items = [3, 1, 2]
    take = lambda: items.pop()  # noqa: E731

    def f(n):
        return n * 10 + take() * 2 + len(items)

    return f


def of_an_object():
    class Lazy:
        def __init__(self):
            self._value = None

        def value(self):
            if self._value is None:
                self._value = 5
            return self._value

    lazy = Lazy()

    def f(n):
        return n + lazy.value()

    return f


@pytest.mark.parametrize(
    "make",
    [
        what_a_helper_appends, in_a_branch, in_a_condition, in_a_loop_condition, what_settles, in_place_by_numpy,
        by_a_truth_value, rarely_seen, by_a_heap, by_a_lambda, of_an_object,
    ],
)  # fmt: skip
def test_read(make):
    function = ab.autobatch(make()).options(backend="local_static", jit_compile=False)
    with pytest.raises(UnsupportedSyntaxError, match="outside"):
        function(N)


def a_log():
    log = []

    def f(n):
        log.append(n)
        return n

    return f


def a_count_of_calls():
    class Target:
        calls = 0

        def __call__(self, x):
            self.calls += 1
            return 2 * x

    target = Target()

    def f(n):
        return target(n)

    return f


def what_is_cached():
    class Table:
        @functools.cached_property
        def size(self):
            return 7

    table = Table()

    @functools.cache
    def fibonacci(k):
        return 1 if k < 2 else fibonacci(k - 1) + fibonacci(k - 2)

    def f(n):
        return n * table.size + fibonacci(20)

    return f


@pytest.mark.parametrize("make", [a_log, a_count_of_calls, what_is_cached])
def test_not_read(make):
    function = ab.autobatch(make()).options(backend="local_static", jit_compile=False)
    for _ in range(2):
        assert [*function(N).numpy()] == [make()(int(n)) for n in N]
