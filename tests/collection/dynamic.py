"""Dynamic programming, queues and stacks, grids, games."""

# ruff: noqa
import math
from collections import deque

import numpy as np

from tests.collection.case import case

N = [1, 4, 7, 10]
GRIDS = [[[1, 1, 0], [0, 1, 0], [1, 0, 1]], [[0, 0, 0], [1, 1, 1], [1, 0, 1]], [[1, 1, 1], [1, 1, 1], [1, 1, 1]]]
COSTS = [[[1.0, 3.0, 1.0], [1.0, 5.0, 1.0], [4.0, 2.0, 1.0]], [[2.0, 2.0, 2.0], [9.0, 1.0, 1.0], [1.0, 1.0, 1.0]]]
A = [[3, 1, 4, 1, 5], [2, 7, 1, 8, 2], [9, 9, 9, 9, 9]]


@case(N)
def climb_stairs(n):
    if n <= 2:
        return n
    one_before, two_before = 2, 1
    for _ in range(3, n + 1):
        one_before, two_before = one_before + two_before, one_before
    return one_before


@case(N)
def fibonacci_table(n):
    table = [0] * (n + 2)
    table[1] = 1
    for i in range(2, n + 1):
        table[i] = table[i - 1] + table[i - 2]
    return table[n]


@case([0, 2, 5, 12])
def count_partitions(n):
    ways = [1] + [0] * n
    for part in range(1, n + 1):
        for total in range(part, n + 1):
            ways[total] += ways[total - part]
    return ways[n]


@case([[1, 3, 4, 5]] * 3, [[1, 4, 5, 7]] * 3, [3, 7, 9])
def knapsack(weights, values, capacity):
    best = [0] * (capacity + 1)
    for w, v in zip(weights, values):
        for c in range(capacity, w - 1, -1):
            best[c] = max(best[c], best[c - w] + v)
    return best[capacity]


@case(A, [[1, 2, 3, 4, 5], [7, 8, 2, 1, 1], [9, 1, 9, 2, 9]])
def longest_common_subsequence(a, b):
    table = np.zeros((6, 6), int)
    for i in range(5):
        for j in range(5):
            if a[i] == b[j]:
                table[i + 1, j + 1] = table[i, j] + 1
            else:
                table[i + 1, j + 1] = max(table[i, j + 1], table[i + 1, j])
    return table[5, 5]


@case(COSTS)
def minimum_path(cost):
    rows, columns = cost.shape
    best = np.zeros((rows, columns))
    for i in range(rows):
        for j in range(columns):
            if i == 0 and j == 0:
                best[i, j] = cost[i, j]
            elif i == 0:
                best[i, j] = best[i, j - 1] + cost[i, j]
            elif j == 0:
                best[i, j] = best[i - 1, j] + cost[i, j]
            else:
                best[i, j] = min(best[i - 1, j], best[i, j - 1]) + cost[i, j]
    return best[-1, -1]


@case(A)
def longest_increasing_subsequence(a):
    length = [1] * len(a)
    for i in range(1, len(a)):
        for j in range(i):
            if a[j] < a[i]:
                length[i] = max(length[i], length[j] + 1)
    return max(length)


@case([[[0, 4, 1, 9], [4, 0, 2, 1], [1, 2, 0, 5], [9, 1, 5, 0]]] * 2)
def floyd_warshall(d):
    n = len(d)
    dist = d.copy()
    for k in range(n):
        for i in range(n):
            for j in range(n):
                if dist[i, k] + dist[k, j] < dist[i, j]:
                    dist[i, j] = dist[i, k] + dist[k, j]
    return dist


@case([[[0.0, 4, 1, 9], [4, 0, 2, 1], [1, 2, 0, 5], [9, 1, 5, 0]]] * 3, [0, 1, 3])
def dijkstra(weights, source):
    n = len(weights)
    dist = np.full(n, np.inf)
    done = np.zeros(n, bool)
    dist[source] = 0
    for _ in range(n):
        nearest = -1
        for v in range(n):
            if not done[v] and (nearest == -1 or dist[v] < dist[nearest]):
                nearest = v
        done[nearest] = True
        for v in range(n):
            if dist[nearest] + weights[nearest, v] < dist[v]:
                dist[v] = dist[nearest] + weights[nearest, v]
    return dist


@case([3, 10, 6])
def josephus(n):
    people = list(range(1, n + 1))
    at = 0
    while len(people) > 1:
        at = (at + 2) % len(people)
        people.pop(at)
    return people[0]


@case([5, 13, 40])
def sieve(n):
    prime = [True] * (n + 1)
    prime[0] = prime[1] = False
    for p in range(2, int(math.sqrt(n)) + 1):
        if prime[p]:
            for multiple in range(p * p, n + 1, p):
                prime[multiple] = False
    return sum(prime)


@case([6, 28, 17, 60])
def prime_factors(n):
    factors = []
    divisor = 2
    while n > 1:
        while n % divisor == 0:
            factors.append(divisor)
            n //= divisor
        divisor += 1
    return sum(factors), len(factors)


@case([2, 3, 9])
def queue_simulation(n):
    queue = deque(range(n))
    last = -1
    while queue:
        last = queue.popleft()
        if queue:
            queue.append(queue.popleft())
    return last


@case([[1, 2, 0, 0], [1, 1, 2, 2], [2, 1, 0, 0]])
def balanced_brackets(marks):
    depth = 0
    for mark in marks:
        if mark == 1:
            depth += 1
        elif mark == 2:
            depth -= 1
            if depth < 0:
                return False
    return depth == 0


@case([[2, 1, 5, 6], [2, 4, 2, 2], [1, 1, 1, 1]])
def largest_rectangle(heights):
    best = 0
    for i in range(len(heights)):
        low = heights[i]
        for j in range(i, len(heights)):
            low = min(low, heights[j])
            best = max(best, low * (j - i + 1))
    return best


@case([[73, 74, 75, 71, 69], [5, 4, 3, 2, 1], [1, 9, 2, 8, 3]])
def days_until_warmer(temperatures):
    answer = [0] * len(temperatures)
    waiting = []
    for day, t in enumerate(temperatures):
        while waiting and temperatures[waiting[-1]] < t:
            before = waiting.pop()
            answer[before] = day - before
        waiting.append(day)
    return answer


@case(GRIDS)
def count_islands(grid):
    seen = grid.copy()
    rows, columns = grid.shape

    def sink(i, j):
        if i < 0 or j < 0 or i >= rows or j >= columns or seen[i, j] == 0:
            return
        seen[i, j] = 0
        sink(i + 1, j)
        sink(i - 1, j)
        sink(i, j + 1)
        sink(i, j - 1)

    islands = 0
    for i in range(rows):
        for j in range(columns):
            if seen[i, j] == 1:
                islands += 1
                sink(i, j)
    return islands


@case(GRIDS)
def flood_fill(grid):
    stack = [(0, 0)]
    seen = np.zeros(grid.shape, bool)
    count = 0
    while stack:
        i, j = stack.pop()
        if not (0 <= i < 3 and 0 <= j < 3) or seen[i, j] or grid[i, j] != grid[0, 0]:
            continue
        seen[i, j] = True
        count += 1
        stack.extend([(i + 1, j), (i - 1, j), (i, j + 1), (i, j - 1)])
    return count


@case(GRIDS)
def game_of_life(grid):
    new = np.zeros_like(grid)
    for i in range(3):
        for j in range(3):
            alive = sum(
                grid[a, b]
                for a in range(max(0, i - 1), min(3, i + 2))
                for b in range(max(0, j - 1), min(3, j + 2))
                if (a, b) != (i, j)
            )
            new[i, j] = 1 if alive == 3 or (alive == 2 and grid[i, j]) else 0
    return new


@case(GRIDS)
def perimeter(grid):
    edges = 0
    for i in range(3):
        for j in range(3):
            if grid[i, j]:
                for di, dj in ((0, 1), (1, 0), (0, -1), (-1, 0)):
                    a, b = i + di, j + dj
                    if a < 0 or b < 0 or a > 2 or b > 2 or grid[a, b] == 0:
                        edges += 1
    return edges


@case([[1, 1, 1, 0, 2, 0, 0, 2, 0], [1, 2, 1, 2, 1, 2, 2, 1, 2], [2, 0, 1, 0, 2, 1, 1, 0, 2]])
def tic_tac_toe_winner(board):
    lines = [(0, 1, 2), (3, 4, 5), (6, 7, 8), (0, 3, 6), (1, 4, 7), (2, 5, 8), (0, 4, 8), (2, 4, 6)]
    for a, b, c in lines:
        if board[a] != 0 and board[a] == board[b] == board[c]:
            return board[a]
    return 0


@case([1, 4, 7, 21])
def nim_winner(stones):
    wins = [False]
    for n in range(1, stones + 1):
        wins.append(any(not wins[n - take] for take in (1, 2, 3) if take <= n))
    return wins[stones]


@case([1, 3, 5])
def queens(n):
    def place(row, columns, down, up):
        if row == n:
            return 1
        count = 0
        for c in range(n):
            bit = 1 << c
            if columns & bit or down & (1 << (row + c)) or up & (1 << (row - c + n)):
                continue
            count += place(row + 1, columns | bit, down | (1 << (row + c)), up | (1 << (row - c + n)))
        return count

    return place(0, 0, 0, 0)


@case(A, [5, 9, 18])
def two_sum(numbers, target):
    for i in range(len(numbers)):
        for j in range(i + 1, len(numbers)):
            if numbers[i] + numbers[j] == target:
                return i, j
    return -1, -1


@case(A)
def product_except_self(numbers):
    result = []
    for i in range(len(numbers)):
        product = 1
        for j, value in enumerate(numbers):
            if j != i:
                product *= value
        result.append(product)
    return result
