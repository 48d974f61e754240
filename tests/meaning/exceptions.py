"""Members that raise, and lines that Python would not get through."""

# ruff: noqa
import math

import numpy as np

import autobatch as ab
from tests.meaning.case import case

N = np.array
n = N([3, 0, -2, 5])


class Negative(ValueError):
    def __init__(self, value, more):
        super().__init__(value, more)
        self.value = value


EMPTY = KeyError("nothing")


@case(n)
def raises(n):
    if n < 0:
        raise ValueError(f"{n} is negative")
    return n + 1


@case(n)
def raises_in_many_ways(n):
    if n < 0:
        raise Negative(n, "negative")
    elif n == 0:
        raise EMPTY
    elif n == 5:
        raise IndexError
    return n * 2


@case(n)
def validates(n):
    if not isinstance(n, int):
        raise TypeError("n must be an int")
    if n < 0:
        raise ValueError("n must not be negative, but is " + str(n)) from None
    k = 0
    while True:
        k += 1
        if k > 4:
            raise RuntimeError("%d turns are too many for %s" % (k, n))
        if k > n:
            return k


@ab.autobatch
def factorial(n):
    if n < 0:
        raise ValueError("no factorial")
    return 1 if n == 0 else n * factorial(n - 1)


@case(n)
def callee_raises(n):
    return factorial(n) + 1


@ab.autobatch
def fail(n):
    raise ValueError(n)


@case(n)
def callee_always_raises(n):
    if n < 0:
        fail(n)
    return n


@case(n)
def always_raises(n):
    raise ValueError("{} {n:.1f}".format(1, n=n))


@case(n)
def after_a_loop(n):
    for i in range(4):
        if i == n:
            break
    else:
        raise StopIteration("not found")
    return i


@case(n)
def nested_function_raises(n):
    def check(v):
        if v < 0:
            raise ValueError("negative")
        return v

    return check(n) + check(n + 2)


@case(n)
def beyond_a_known_list(n):
    total, xs = 0, [1, 2, 3]
    for i in ab.unroll(range(4)):
        if i < n:
            total += xs[i]
    return total


@case(n)
def known_division(n):
    if n > 3:
        return 1 // 0
    return n


@case(n)
def known_key(n):
    d = {"a": 1}
    if n > 3:
        return d["b"]
    return n


def at_most_two(k):
    if k > 2:
        raise KeyError(k)
    return k


@case(n)
def helper_raises(n):
    if n > 3:
        return at_most_two(3)
    return n + at_most_two(1)


@case(n)
def wrong_unpacking(n):
    if n > 3:
        a, b = (1, 2, 3)
        return a
    return n


@case(n)
def unset_in_a_branch(n):
    if n > 0:
        y = n * 2.0
    return y


@case(n)
def unset_after_a_loop(n):
    for k in range(n):
        last = (k, n)
    if n > 4:
        last = last[0], 7
    a, b = last
    return a + b


@case(n)
def unset_in_a_loop(n):
    total = 0
    for k in range(4):
        if k == 2 and n > 2:
            word = "seen"
        if n < 4 and k == 3:
            best += k
        if k == n:
            best = k
        total += k
    assert word == "seen"
    return best + total


@case(n)
def unset_in_the_arm_not_taken(n):
    for i in range(n):
        last = i * i
    if n > 0:
        big = last
    known = n > 0 and big >= 0
    return (big if n > 0 else n) + (last if known or 0 < n < last else 0)


@case(n)
def unset_array_is_changed(n):
    if n > 0:
        array = np.zeros(3) + n
    array[1] = 2.0
    return array.sum()


@ab.autobatch
def counts_down(n):
    if n == 0:
        return 0
    if n > 0:
        rest = counts_down(n - 1)
    if n != 2:
        deep = n + 1
    return rest + deep


@case(n)
def unset_in_a_recursion(n):
    return counts_down(n)


@ab.autobatch
def never(v, k):
    if k < 0:
        raise ValueError("negative")
    while k > 0:
        k -= 1
    return v


def refused(v):
    raise KeyError(v)


@case(N([3, 0, 7]))
def calls_that_do_not_return(n):
    return never(n, -2) + n


@case(N([3, 0, 7]))
def calls_that_do_not_return_for_some(n):
    if n > 4:
        n = never(n, -1) * 2
        n += refused(n)
    elif n == 0:
        return refused(n)[0]
    return n


@case(N([3, 0, 7]))
def calls_that_do_not_return_are_caught(n):
    total = 0
    for k in (2, -1, 0):
        try:
            total += never(n, k) + 1
            total += refused(k) * 2
        except ValueError:
            total += 10
        except KeyError:
            total += 100
    return total


@case(N([3, 0, 7]))
def combinations_of_less_than_nothing(n):
    return math.comb(n, -2) + n


@case(N([3, 0, 7]))
def keys_of_several_texts_that_some_dicts_lack(n):
    d, w, found = {"a": 0, "bb": 0}, "bb", 0
    if n > 2:
        w = "a"
    for k in range(2):
        try:
            d[w[0]] += n
            found += 1
        except KeyError:
            found += 5
            w = "a" if k else w
    return d["a"], found


def said(k):
    return 12 // (k - 1)


@case(N([0, 1, 2, 4, 5, 3]), N([2, 5, 0, 1, 2, 1]))
def what_an_exception_is_given_raises(n, k):
    s = 0
    try:
        if n > 1:
            raise ValueError(12 // (k - 1))
    except ValueError:
        s += 1
    except ZeroDivisionError:
        s += 2
    try:
        assert n < 2, f"bad {[1, 2][k]}"
    except AssertionError:
        s += 10
    except IndexError:
        s += 20
    try:
        if n > 2:
            raise KeyError("v", said(k))
    except LookupError:
        s += 100
    except ArithmeticError:
        s += 200
    return s


@case(N([0, 1, 2, 4, 5, 3]), N([2, 5, 0, 1, 2, 1]), fails=(3, 5))
def what_it_is_given_raises_on(n, k):
    try:
        if n > 1:
            raise ValueError(12 // (k - 1))
    except ValueError:
        return 1
    return n


@case(N([1, 2, 4, 3]))
def texts_of_numbers_beyond_64_bits(n):
    try:
        if n > 1:
            raise ValueError(f"{n**40 * n**40}")
    except ValueError:
        return -1
    return n


class Absent(Exception):
    pass


def present(n):
    if n < 1:
        raise Absent("none")
    return n


@case(N([0, 1, 2, 4]))
def what_helpers_raise_in_a_message(n):
    s = 0
    try:
        assert n > 1, present(s)
    except Absent:
        s += 1
    try:
        assert n > 2, present(n)
    except Absent:
        s += 10
    except AssertionError:
        s += 20
    return s
