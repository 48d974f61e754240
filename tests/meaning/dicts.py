"""Dicts that are asked for what each member says, and dicts that members fill."""

# ruff: noqa
from collections import Counter, defaultdict, deque

import numpy as np

from tests.meaning.case import case

n = np.array([3, 0, 1, 7])
NEXT = {0: 1, 1: 0, 3: 7, 7: 3}


@case(n)
def of_numbers(n):
    d, mixed = {0: 5, 1: 7, 3: 9, 7: -1}, {0: 0.5, 1: n * 1.5, 3: 1, 7: 0}
    return d[n], mixed[n], NEXT[NEXT[n]], n in d


@case(n)
def of_tuples(n):
    d = {0: (n, 1), 3: (2, n), 1: (0, 0), 7: (1, 2)}
    a, b = d[n]
    return a * 10 + b


@case(n)
def a_key_that_is_not_there(n):
    d = {0: 5, -1: 7, 3: n}
    return d[-n] if n < 2 else d[n]


@case(n)
def a_key_that_is_not_there_is_caught(n):
    d = {0: 5, 1: 7}
    try:
        return d[n]
    except KeyError:
        return -1


@case(n)
def a_graph(n):
    graph = {0: [1, 2], 1: [3], 2: [3], 3: []}
    seen, start, order = [False] * 4, n % 4, []
    queue = deque([start])
    seen[start] = True
    while queue:
        u = queue.popleft()
        order.append(u)
        for v in graph[u]:
            if not seen[v]:
                seen[v] = True
                queue.append(v)
    return order, len(graph[start])


@case(n, refused="shared-array")
def what_was_read_is_changed(n):
    d = {0: [n], 1: [2]}
    row = d[n % 2]
    row.append(4)
    return len(d[0])


@case(n, refused="shared-array")
def what_was_read_is_changed_by_its_key(n):
    d = {0: [n], 1: [2]}
    row = d[n % 2]
    d[0].append(4)
    return len(row)


@case(n)
def filled_at_keys_of_members(n):
    squares, total = {}, 0
    for i in range(n):
        squares[i % 4] = i * i
        total += squares[i % 4] + squares.get(i + 1, -1)
    del squares[0]
    last = squares.pop(3, -5)
    missing = squares.setdefault(9, n)
    squares[9] += 1
    return total, len(squares), last, missing, [k for k in squares], sum(squares.values()), 2 in squares


@case(n)
def keys_that_are_missing(n):
    known = {}
    for i in range(3):
        known[i * n] = i
    return known[2 * n] + known[n + 1]


@case(n)
def counted_digits(n):
    counts, other, k = Counter(), {}, n * 37 + 11
    while k > 0:
        counts[k % 10] += 1
        other[k % 10] = other.get(k % 10, 0) + 1
        k //= 10
    most = max(counts, key=counts.get)
    best = 0
    for digit, times in other.items():
        best = max(best, times * 10 + digit)
    return counts[1], counts[n], len(counts), most, best, max(counts.values()), sorted(other)


@case(n)
def counted_items(n):
    items = [n % 3, 1, (n + 1) % 3, 2]
    counts = Counter(items)
    return counts[0], counts[1], counts[7], len(counts)


@case(n)
def groups_by_remainder(n):
    groups, sums, seen = defaultdict(list), defaultdict(float), defaultdict(int)
    for i in range(n):
        groups[i % 3].append(i)
        sums[i % 2] += i / 2
        seen[i * i % 5]
    return len(groups), len(groups[1]), sum(groups[0]), sums[1], len(seen), len(groups)


@case(n)
def two_that_sum(n):
    seen = {}
    for i, x in enumerate([2, 7, 11, 15]):
        if n - x in seen:
            return seen[n - x], i
        seen[x] = i
    return -1, -1


@case(n)
def remembered_results(n):
    memo, calls = {}, 0

    def ways(k):
        nonlocal calls
        calls += 1
        if k in memo:
            return memo[k]
        if k < 2:
            return 1
        memo[k] = ways(k - 1) + ways(k - 2)
        return memo[k]

    return ways(n), calls, len(memo)


@case(n)
def remembered_pairs(n):
    memo = {}

    def paths(i, j):
        if i == 0 or j == 0:
            return 1
        if (i, j) not in memo:
            memo[i, j] = paths(i - 1, j) + paths(i, j - 1)
        return memo[(i, j)]

    return paths(n % 5, 3), len(memo)


@case(n)
def displays_and_comprehensions_of_members(n):
    given = {n: 1, n + 1: 2, 2 * n: 3}
    made = {(v * n) % 5: v for v in range(4)}
    given = {k: v + len(given) for k, v in given.items()}
    if n > 3:
        made = {0: n}
    return len(given), given[n], list(made), made[0]


@case(n)
def values_before_keys(n):
    order, d = [], {}

    def noted(v):
        order.append(v)
        d[v] = v
        return v

    d[noted(n)] = noted(2)
    d[noted(3)] += noted(n + 5)
    return order, list(d.keys()), list(d.values())


@case(n, refused="unhashable-member")
def filled_while_gone_through(n):
    d = {n: 1}
    for k in d:
        d[k + 1] = 2
    return len(d)


@case(n)
def annotated(n):
    seen: dict[int, int] = {}
    best: int = -1
    for i in range(n):
        seen[i * i % 3] = i
        best = max(best, seen[i * i % 3])
    return best, len(seen)


def squares_of(n):
    found = {}
    for i in range(n):
        found[i] = i * i + 0.5
    return sum(found.values())


@case(n)
def dicts_of_helpers(n):
    found = {}
    for i in range(n):
        found[i % 2, i] = i
    return squares_of(n), len(found), squares_of(n + 1)


@case(np.array([0, 2, 3, 5]))
def updated(n):
    d = {}
    for i in range(n):
        d.update({i % 3: i, n: d.get(i % 3, 7)})
        d.update({0: d.get(n, 1), n: d.get(0, 2)})
    d.update()
    return len(d), d.get(0, -1), d.get(n, -1), sum(d.values())


@case(np.array([0, 2, 3, 5]))
def updated_by_name(n):
    d = {"a": n}
    if n > 2:
        d.update(b=n, a=d["a"] + 1)
        d.update({"c": 1}, a=9)
    return len(d), d["a"], "b" in d, d.get("c", 0)


@case(np.array([0, 2, 3, 5]))
def last_items(n):
    d, s = {}, 0
    for i in range(n):
        d[i * i % 7] = i
    while d:
        k, v = d.popitem()
        s = s * 10 + k + v
    return s, len(d)


@case(np.array([0, 2, 3, 5]))
def the_last_of_none(n):
    d = {}
    for i in range(n):
        d[i] = i
    k, v = d.popitem()
    return k + v


@case(np.array([0, 2, 3, 5, 9]))
def most_common(n):
    counts = Counter()
    for i in range(n):
        counts[i * i % 4] += 1
    ranked = counts.most_common()
    first = counts.most_common(n - 2)
    names = Counter("abracadabra"[i] for i in range(n))
    best = names.most_common(1)
    total = 0
    for k, v in counts.most_common(2):
        total = total * 10 + k + v
    return ranked, [k for k, _ in first], best[0][0] if best else "none", len(counts.most_common(-1)), total


@case(np.array([0, 2, 3, 5, 9]))
def counted_at_once(n):
    counts = Counter([i % 3 for i in range(n)])
    return counts[0], counts[n], len(counts)


PAIRS = {(i, j): 10 * i + j for i in range(4) for j in range(4)}
MIXED = {1: 2, "a": 3, (1, 2): 4, None: 5, 2.5: 6, (1, (2, 3)): 7}
ANSWERS, NAMES = {True: "yes", False: "no"}, {0: "none", 1: "one", 3: "three"}
SQUARES = {k: k * k for k in range(0, 9000, 3)}


@case(n)
def with_a_default(n):
    return NEXT.get(n, -1), NEXT.get(n - 1, n * 2), NEXT.get(n // 2, NEXT.get(n + 1, -3)), SQUARES.get(n * 1000, -1)


@case(n)
def none_where_it_is_not_there(n):
    found, other = NEXT.get(n - 1), NEXT.get(n, None)
    if found is None:
        return other
    return found + other if NEXT.get(n + 1) is not None else found


@case(n)
def texts_by_number(n):
    return len(NAMES.get(n, "many")), ANSWERS[n > 2] == "yes", NAMES.get(n + 1) is None


@case(n)
def keys_that_are_tuples(n):
    total = PAIRS.get((n, 2), 0) + PAIRS.get((1, n), 0) + MIXED.get((n, 2), -1) + MIXED.get((1, (n - 1, 3)), -2)
    for i in range(n):
        if (i, i + 1) in PAIRS:
            total += PAIRS[i, i + 1]
    return total


@case(n)
def keys_of_every_kind(n):
    name = "a" if n > 2 else "b"
    found = [MIXED.get(k, 0) for k in (n, n / 2, n + 0.5, name)]
    return found, n in MIXED, (n > 2) in MIXED, (n, 2) in MIXED, MIXED.get(name, -1), n in [1, "a", 3], n in {0, "a"}


@case(n)
def floats_as_keys(n):
    halves = {0.5: 1, 1.5: 2, 3: 3, 0.0: 4}
    return halves[n / 2] if n < 7 else halves.get(n / 2, 9), halves.get(n, -1), n / 2 in halves


@case(n)
def a_float_key_that_is_not_there(n):
    return {0.5: 1, 1.5: 2, 3.5: 3}[n / 2]


@case(n)
def in_a_helper(n):
    return got(n) + got(n + 1)


def got(k):
    return NEXT.get(k, -1)


@case(n)
def values_that_are_containers(n):
    return {0: [1, 2], 1: [3, 4]}.get(n, [5, 6])[1], {0: (1, 2.5), 7: (3, 4.5)}.get(n, (0, 0.5))[1]


@case(n)
def empty_ones_that_make_their_values(n):
    made, counts = defaultdict(int), Counter()
    s = 0
    while n > 2:
        s, n = (s * 3 + n) % 17, n - 1
    return s, len(made), len(counts)
