"""Dicts whose keys are known ints, asked for what each member says."""

# ruff: noqa
from collections import deque

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
