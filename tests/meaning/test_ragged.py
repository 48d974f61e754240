"""Ragged arguments of numbers, where a program does with them what only lists can, against plain Python on lists."""

import itertools
import statistics

import pytest
import tensorflow as tf

import autobatch as ab
from autobatch.errors import MemberError
from tests.fuzz.running import of_member, same

ROWS = [[3, 1, 2], [4], [5, 3, 3, 9], [2, 1]]
MODES = {"local_static": {"backend": "local_static", "jit_compile": False}, "program_counter": {}}


def merged(left, right):
    result = []
    i = j = 0
    while i < len(left) and j < len(right):
        if left[i] <= right[j]:
            result.append(left[i])
            i += 1
        else:
            result.append(right[j])
            j += 1
    result.extend(left[i:])
    result.extend(right[j:])
    return result


def merge_sort(xs):
    if len(xs) < 2:
        return xs
    middle = len(xs) // 2
    return merged(merge_sort(xs[:middle]), merge_sort(xs[middle:]))


def bubble_sort(xs):
    swaps = 0
    for i in range(len(xs)):
        for j in range(len(xs) - 1 - i):
            if xs[j] > xs[j + 1]:
                xs[j], xs[j + 1] = xs[j + 1], xs[j]
                swaps += 1
    return swaps, xs


def median(xs):
    ordered = sorted(xs)
    n = len(ordered)
    return ordered[n // 2] if n % 2 else (ordered[n // 2 - 1] + ordered[n // 2]) / 2


def windows(xs):
    return [sum(xs[i : i + 2]) for i in range(len(xs) - 1)]


def queries(xs):
    return max(xs) - min(xs), xs.index(max(xs)), xs.count(3), 3 in xs, xs == xs[::-1], statistics.mean(xs)


def consumed(xs):
    total = 0
    while xs:
        total = total * 10 + xs.pop()
    return total


def second(xs):
    ys = xs[:]
    ys.append(0)
    return ys[1:][1]  # of the shortest row there is none


class Missing(KeyError):
    pass


def absent(xs):
    missing = []

    def get(i):
        if i >= len(xs):
            raise Missing(i)
        return xs[i]

    total = 0
    for i in [0, 2, 3]:
        try:
            total += get(i)
        except KeyError as error:
            missing.append(error.args[0])
    return total * 100 + sum(missing)


def in_a_circle(xs):
    sums, total = [], 0
    for x in itertools.cycle(xs[:]):
        total += x
        sums.append(total)
        if len(sums) > 40:  # more than a list has room for at first
            return total, sums[len(xs)]


FUNCTIONS = (merge_sort, bubble_sort, median, windows, queries, consumed, second, absent, in_a_circle)
ALL = [pytest.param(f, "local_static", id=f.__name__) for f in FUNCTIONS] + [
    pytest.param(merge_sort, "program_counter", id="merge_sort-compiled", marks=pytest.mark.compiles)
]


@pytest.mark.parametrize(("function", "mode"), ALL)
def test_as_a_list(function, mode):
    batched = ab.autobatch(function).options(**MODES[mode])
    expected, right = [], []
    for row in ROWS:
        try:
            expected.append(function(list(row)))
            right.append(row)
        except IndexError:
            with pytest.raises(MemberError) as caught:
                batched(tf.ragged.constant(ROWS, tf.int64))
            assert isinstance(caught.value, IndexError)
    result = batched(tf.ragged.constant(right, tf.int64))
    for z, value in enumerate(expected):
        assert same(of_member(result, z), value)


def test_what_works_with_rows_stays_so():
    @ab.autobatch(jit_compile=False)
    def total(xs):
        found = 0
        for x in xs:
            found += x
        return found

    rows = tf.ragged.constant(ROWS, tf.int64)
    assert "list_of_rows" not in total.lower(rows).as_text()
    assert total(rows).numpy().tolist() == [6, 4, 20, 3]
