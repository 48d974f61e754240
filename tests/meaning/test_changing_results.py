"""What gives another result each time that it is called is refused: traced, it would give all members the same."""

import collections
import datetime
import itertools
import time
import uuid

import numpy as np
import pytest
import tensorflow as tf

import autobatch as ab
from autobatch.errors import UnsupportedSyntaxError

COUNT, TABLE, LOG, NUMBERS = [0], [3, 1, 4], [], itertools.count()
STACK = collections.deque(range(1000))


def new_number():
    COUNT[0] += 1
    return COUNT[0]


def next_number():
    return next(NUMBERS)


class Pool:
    def __init__(self):
        self.taken, self.numbers = 0, iter(range(1000))

    def take(self):
        self.taken += 1
        return self.taken

    def twice(self, x):
        return 2 * x


POOL = Pool()


def counts(n):
    return n + new_number()


def counts_in_a_lambda(n):
    add = lambda a: a + new_number()  # noqa: E731
    return add(n)


def counts_from_outside(n):
    return n * next_number()


def takes_from_a_pool(n):
    return n + POOL.take()


def takes_from_a_stack(n):
    return n + STACK.pop()


def takes_from_an_attribute(n):
    return n + next(POOL.numbers)


def looks_at_the_clock(n):
    return n + time.perf_counter_ns()


def looks_at_the_calendar(n):
    return n + datetime.datetime.now().microsecond


def reads_what_it_appends_to(n):
    LOG.append(n)
    return len(LOG)


def reads_what_a_helper_appends_to(n):
    logged(n)
    return n + len(LOG)


def asks_for_a_name(n):
    return n + uuid.uuid4().int % 1000


@pytest.mark.parametrize(
    "function",
    [
        counts, counts_in_a_lambda, counts_from_outside, takes_from_a_pool, takes_from_a_stack, looks_at_the_clock,
        takes_from_an_attribute, looks_at_the_calendar, asks_for_a_name, reads_what_it_appends_to,
        reads_what_a_helper_appends_to,
    ],
)  # fmt: skip
def test_refused(function):
    with pytest.raises(UnsupportedSyntaxError):
        ab.autobatch(function)(np.array([1, 1]))


def logged(n):
    LOG.append(n)
    return 2 * n


def table_of(n):
    return {k: n * k for k in TABLE}


@tf.custom_gradient
def with_a_gradient(x):
    return x * 2, lambda upstream: upstream * 3


def reads_a_list(n):
    return n + TABLE[1]


def writes_a_log(n):
    return logged(n) + 1


def asks_an_object(n):
    return POOL.twice(n)


def gets_a_dict(n):
    return table_of(n)[4]


def has_a_gradient(n):
    return with_a_gradient(n)


def first_of(items):
    return next(items)


def bumped(array):
    array[0] += 1
    return array[0]


def called(function):
    return function()


def put(method, value):
    method(value)


def counter():
    count = [0]

    def more():
        count[0] += 1
        return count[0]

    return more


def takes_from_its_own(n):
    items = iter([1, 2, 3])
    return n * first_of(items) + first_of(items)


def bumps_its_own(n):
    array = np.array([n, 2])
    return bumped(array) * 10 + bumped(array)


def given_a_method(n):
    items = [n]
    put(items.append, 5)
    return len(items) * 10 + TABLE[1]


def counts_by_its_own(n):
    more = counter()
    return n * called(more) + called(more)


@pytest.mark.parametrize(
    "function",
    [
        reads_a_list, writes_a_log, asks_an_object, gets_a_dict, has_a_gradient, takes_from_its_own, bumps_its_own,
        counts_by_its_own, given_a_method,
    ],
)  # fmt: skip
def test_repeated(function):
    """What is done besides returning a value may differ."""
    found = ab.autobatch(function).options(backend="local_static", jit_compile=False)(np.array([1, 5]))
    assert [*found.numpy()] == [function(1), function(5)]
