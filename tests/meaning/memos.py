"""Dicts that functions hand on, or objects hold, and that members fill at keys of their own."""

# ruff: noqa
import numpy as np

import autobatch as ab
from tests.meaning.case import case

n = np.array([0, 1, 2, 3, 5, 4, 7, 6])
k = np.array([2, 0, 3, 1, 1, 4, 2, 6])


def fib(n, memo):
    if n in memo:
        return memo[n]
    if n <= 2:
        return 1
    memo[n] = fib(n - 1, memo) + fib(n - 2, memo)
    return memo[n]


@case(n, k)
def handed_to_a_recursion(n, k):
    memo = {}
    return fib(n, memo) + fib(k, memo), fib(n, {}), len(memo)


def paths(r, c, memo):
    if (r, c) in memo:
        return memo[(r, c)]
    if r == 0 or c == 0:
        return 1
    memo[(r, c)] = paths(r - 1, c, memo) + paths(r, c - 1, memo)
    return memo[(r, c)]


@case(n, k)
def of_pairs(n, k):
    return paths(n % 4, k % 4, {})


def filled(n, memo):
    if n not in memo:
        memo[n] = filled(n - 1, memo) + filled(n - 2, memo)
    return memo[n]


@case(n, k)
def with_what_is_known(n, k):
    memo = {0: 0, 1: 1}
    return filled(n, memo) + filled(k, memo)


class Solution:
    def climb(self, n):
        self.memo = {}
        return self.go(n), len(self.memo)

    def go(self, n):
        if n <= 1:
            return 1
        if n in self.memo:
            return self.memo[n]
        self.memo[n] = self.go(n - 1) + self.go(n - 2)
        return self.memo[n]


class Seen:
    def __init__(self):
        self.at = {}

    def see(self, what, where):
        first = self.at.get(what)
        self.at[what] = where
        return first

    def has(self, what):
        return what in self.at


@case(n, k)
def held_by_objects(n, k):
    seen = Seen()
    first = seen.see(n, 10)
    again = seen.see(k, 20)
    last = seen.see(n, 30)
    return Solution().climb(n), first is None, -1 if again is None else again, last, seen.has(3), len(seen.at)


@case(n, k)
def sought_in_vain(n, k):
    def walk(m, memo):
        try:
            return memo[m]
        except KeyError:
            pass
        memo[m] = 1 if m < 1 else walk(m - 1, memo) + walk(m - 2, memo)
        return memo[m]

    return walk(n, {}) + walk(k, {})


def put(d, key, value):
    if value != -100:
        d[key] = value


def add(d, key):
    d[key] = d.get(key, 0) + 1


@case(n, k, fails=[1, 2, 3, 4, 6])
def asked_for_what_is_not_there(n, k):
    d = {}
    put(d, n, 5)
    return d[k] if n > 0 else 0


@case(n, k)
def changed_by_helpers(n, k):
    d, pairs, words = {}, {}, {}
    add(d, n)
    add(d, k)
    add(d, n)
    d[n] += k
    d[k] = d[n] * 3 if k in d else -1
    put(pairs, n, (k, 1.5))
    put(pairs, k, (n, 2.5))
    put(words, "a" if n > k else "b", n)
    first, second = pairs[n]
    return d[n], d[k], len(d), first, second, words.get("a", -1), [x for x in range(4) if x in d], isinstance(d, dict)


@case(n, k)
def what_it_is(n, k):
    d = {}
    put(d, n, k)
    return type(d) is dict, isinstance(d, (list, int)), d is d, 1 if d else 2


@case(n, k, refused="dict-handed-on")
def gone_through(n, k):
    d, s = {}, 0
    put(d, n, k)
    for key in d:
        s += key
    return s


@case(n, k, refused="dict-handed-on")
def its_values(n, k):
    d = {}
    put(d, n, k)
    return sum(d.values())


@case(n, k, refused="dict-handed-on")
def compared(n, k):
    d = {}
    put(d, n, k)
    return d == {1: 2}


@case(n, k, refused="dict-handed-on")
def returned(n, k):
    d = {}
    put(d, n, k)
    return n, d


@case(n, k, refused="python-refuses")
def keys_that_have_no_hash(n, k):
    d = {}
    put(d, [n], k)
    return len(d)


class Inventory:
    def __init__(self):
        self.items, self.moves = {}, 0

    def add(self, what, count):
        self.items[what] = self.items.get(what, 0) + count
        self.moves += 1

    def remove(self, what, count):
        if what not in self.items:
            raise KeyError(what)
        if self.items[what] < count:
            raise ValueError("not enough")
        self.items[what] -= count


class Sets:
    def __init__(self):
        self.parent = {}

    def find(self, x):
        if x not in self.parent:
            self.parent[x] = x
        while self.parent[x] != x:
            x = self.parent[x]
        return x

    def union(self, a, b):
        self.parent[self.find(a)] = self.find(b)


@case(n, k)
def classes_of_textbooks(n, k):
    stock, sets = Inventory(), Sets()
    stock.add(n, 5)
    stock.add(k, 2)
    try:
        stock.remove(k, 3)
    except ValueError:
        stock.moves += 10
    sets.union(n, 2)
    sets.union(k, 3)
    return stock.items[n], stock.moves, len(stock.items), sets.find(n) == sets.find(k), len(sets.parent)


def visited(node, graph, seen):
    if node in seen:
        return 0
    seen[node] = True
    total = 1
    for other in graph[node]:
        total += visited(other, graph, seen)
    return total


GRAPH = {0: [1, 2], 1: [3], 2: [3], 3: [], 4: [0], 5: [5], 6: [4, 5], 7: [0, 4]}


@case(n)
def seen_in_a_graph(n):
    seen = {}
    return visited(n, GRAPH, seen), len(seen)


def fib_from_none(n, memo=None):
    if memo is None:
        memo = {}
    if n in memo:
        return memo[n]
    if n < 2:
        return n
    memo[n] = fib_from_none(n - 1, memo) + fib_from_none(n - 2, memo)
    return memo[n]


def ways(r, c, cache=None):
    cache = {} if cache is None else cache
    if r == 0 or c == 0:
        return 1
    key = (r, c)
    if key not in cache:
        cache[key] = ways(r - 1, c, cache) + ways(r, c - 1, cache)
    return cache[key]


@case(n, k)
def begun_where_none_is_given(n, k):
    return fib_from_none(n), fib_from_none(k, None), ways(n % 4, k % 4)


@case(n)
def begun_where_it_is_entered(n, memo=None):
    memo = memo if memo is not None else {}
    if n in memo:
        return memo[n]
    if n < 2:
        return n
    memo[n] = begun_where_it_is_entered(n - 1, memo) + begun_where_it_is_entered(n - 2, memo)
    return memo[n]


def steps(n, path=None):
    path = [] if path is None else path
    path.append(n)
    if n > 0:
        steps(n - 1 - n % 2, path)
    return path


@case(n, k)
def lists_as_well(n, k):
    given = [k]
    steps(n, given)
    return len(steps(n)), sum(given), given[0]


def named(n, memo):
    memo.x = 1
    return memo[n] + memo.x


@case(n, refused="item-of-member")
def attributes_that_no_dict_has(n):
    memo = {}
    memo[n] = n
    return named(n, memo)
