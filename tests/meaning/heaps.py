"""``heapq`` and ``bisect``: lists that are heaps, and lists that stay sorted."""

# ruff: noqa
import bisect
import heapq
from heapq import heappop, heappush

import numpy as np

from tests.meaning.case import case

n = np.array([3, 0, 7, 12])


@case(n)
def heaps_that_grow(n):
    heap = []
    for i in range(n):
        heapq.heappush(heap, i * 7 % 5)
    layout, total = [*heap], 0
    while heap:
        total = total * 3 + heapq.heappop(heap)
    return layout, total


@case(n)
def heaps_of_pairs(n):
    heap, out = [(0, 0.5)], []
    for i in range(n):
        heappush(heap, (i * 7 % 5, -i / 2))
    while heap:
        d, k = heappop(heap)
        out.append(d * 100 + k)
    return out


@case(n)
def all_at_once(n):
    xs, ys = [n, 5, 2, 8, n + 1], [i * 7 % 5 for i in range(n)]
    heapq.heapify(xs)
    heapq.heapify(ys)
    least = heapq.heappop(xs), heapq.heapreplace(xs, n * 2), heapq.heappushpop(xs, 3), heapq.heappushpop(ys, -1)
    return least, xs, ys


@case(n)
def pops_too_many(n):
    heap = [n]
    for i in range(n % 3 + 1):
        heapq.heappop(heap)
    return len(heap)


@case(n)
def shortest_paths(n):
    weights = [[0, 4, 1, 9], [4, 0, 2, 5], [1, 2, 0, n + 1], [9, 5, n + 1, 0]]
    distances = [10**9] * 4
    distances[0] = 0
    queue = [(0, 0)]
    while queue:
        d, u = heappop(queue)
        if d > distances[u]:
            continue
        for v in range(4):
            if weights[u][v] and d + weights[u][v] < distances[v]:
                distances[v] = d + weights[u][v]
                heappush(queue, (distances[v], v))
    return distances


@case(n)
def sorted_lists(n):
    known, grown = [1, 3, 5, 7], []
    for i in range(n):
        bisect.insort(grown, i * 5 % 7)
    left, right = bisect.bisect_left(known, n), bisect.bisect(known, n)
    return left, right, grown, bisect.bisect_right(grown, 3)


@case(n)
def under_two_names(n):
    heap = [n]
    same = heap
    heapq.heappush(heap, 3)
    return same, len(same)


@case(n)
def in_their_turn(n):
    heap, other, ys = [n, 5], [1, 5, n + 9], [0] * 3
    first = heap[0] * 10 + heapq.heappop(heap)
    three = sum(other), heapq.heappop(other), sum(other)
    ys[len(other)] = heapq.heappop(other) + n
    return first, three, ys
