"""Sets that are filled, and sets that are asked."""

# ruff: noqa
import numpy as np

import autobatch as ab
from tests.meaning.case import case

N = np.array
n = N([3, 0, 19, 5, 7])
V = N([[3, 1, 3, 2, 1], [1, 2, 3, 4, 5], [7, 7, 7, 7, 7]])


@case(n)
def is_happy(n):
    seen = set()
    while n != 1 and n not in seen:
        seen.add(n)
        total = 0
        while n > 0:
            total += (n % 10) ** 2
            n //= 10
        n = total
    return n == 1, len(seen)


@case(V)
def distinct(v):
    seen = set()
    for x in v:
        seen.add(int(x))
    return len(seen), sorted(seen), sum(seen), max(seen), min(seen), 3 in seen


@case(V)
def from_items(v):
    seen = set(v)
    seen.add(100)
    seen.discard(3)
    seen.discard(3)
    return len(seen), sorted(seen), not seen


@case(n)
def of_a_display(n):
    s = {n, n % 3, 5, 2}
    s.update([n + 1, n, 6])
    s.update(range(3))
    return sorted(s), len(s), n in s


@case(n)
def removes(n):
    s = {1, 3, 5}
    s.remove(n)
    return sorted(s)


@case(n)
def pairs(n):
    visited = set()
    x = y = 0
    for k in range(12):
        visited.add((x, y))
        if (k * n) % 4 == 0:
            x += 1
        elif (k + n) % 3 == 0:
            x -= 1
        else:
            y = (y + 1) % 2
    return len(visited), (0, 0) in visited, (1, 1) in visited


@case(n)
def cleared_and_made_again(n):
    s = set()
    longest = 0
    t = set()
    for k in range(10):
        value = k * k % (n + 2)
        if value in s:
            longest = max(longest, len(s))
            s = set()
        s.add(value)
        t.add(value // 2)
        if len(t) > 2:
            t.clear()
    return longest, len(s), sorted(t)


@case(n)
def in_a_condition(n):
    s = set()
    for k in range(n):
        if s and k % 3 == 0:
            s.discard(k // 3)
        s.add(k)
    return len(s) if s else -1


@case(n)
def known_sets_stay(n):
    primes = {2, 3, 5, 7}
    both = primes & {3, 7, 9}
    return n in primes, len(both), sum(p for p in both), n in {0: "a", 7: "b"}, (n, 1) in {(3, 1), (0, 2)}


@case(n, refused="set-use")
def goes_over_a_set(n):
    s = set()
    s.add(n)
    s.add(2)
    return [x for x in s]


@case(n, refused="set-use")
def compares_sets(n):
    s = set()
    s.add(n)
    t = {n}
    return s == t


@case(n, refused="set-use")
def returns_a_set(n):
    s = set()
    s.add(n)
    return s


@case(n)
def filled_by_a_nested_function(n):
    seen = set()

    def walk(i):
        if i in seen:
            return 0
        seen.add(i)
        return 1 + walk((i * 3 + 1) % (n + 5))

    return walk(1), len(seen)


@case(n)
def asked_by_a_nested_function(n):
    digits = {2, n, n}

    def has(v):
        return v in digits

    return has(3), has(2), len(digits)


@case(n)
def asked_at_once(n):
    xs = [i * i % 5 for i in range(n)]
    remainders = {(i % 3, i // 5) for i in range(n)}
    return len(set(xs)), len(remainders), (1, 0) in remainders, sorted({n, 3, n * n})[-1], 4 in {n, len(xs) - 1}


@case(V)
def of_an_array(row):
    distinct = set(row)
    signs = frozenset(1 if x > 0 else -1 for x in row)
    return len(distinct) < len(row), max(distinct), 2 in distinct, len(signs)


@case(n)
def made_anew(n):
    letters = set("hello")
    kinds = {n % 2, n % 3}
    if len(kinds) > 1:
        kinds = {i // 4 for i in range(n)}
    return len(kinds) + len(letters) if kinds else -1


@case(n, refused="unhashable-member")
def goes_over_what_is_distinct(n):
    return [x for x in {n, 2}]


@case(n, refused="unhashable-member")
def compares_what_is_distinct(n):
    return {n, 2} == {2, n}


@case(np.array([1, 4, 9, 12]))
def two_sets_in_one_statement(n):
    seen, again, count = set(), set(), 0
    for k in range(n):
        if k * k % 7 in seen:
            again.add(k)
            count += 1
        seen.add(k * k % 7)
    return len(seen), len(again), count, sum(again)


@case(np.array([1, 3, 4]))
def sets_that_a_nested_function_fills(n):
    columns, rising, falling = set(), set(), set()

    def place(row):
        if row == n:
            return 1
        total = 0
        for c in range(n):
            if c in columns or row + c in rising or row - c in falling:
                continue
            columns.add(c)
            rising.add(row + c)
            falling.add(row - c)
            total += place(row + 1)
            columns.remove(c)
            rising.remove(row + c)
            falling.remove(row - c)
        return total

    return place(0)
