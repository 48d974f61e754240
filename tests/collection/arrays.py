"""Lists and arrays of numbers: sorting, searching, dynamic programming."""

# ruff: noqa
import numpy as np

from tests.collection.case import case

A = [[3, 1, 2, 5, 4], [9, 8, 7, 6, 5], [1, 1, 2, 2, 0]]
F = [[0.5, -1.0, 2.0, 3.5], [4.0, 4.0, -2.0, 0.0]]
SORTED = [[1, 3, 5, 7, 9], [2, 2, 4, 8, 16], [-5, 0, 1, 2, 3]]


@case(A)
def bubble_sort(a):
    n = len(a)
    for i in range(n):
        swapped = False
        for j in range(0, n - i - 1):
            if a[j] > a[j + 1]:
                a[j], a[j + 1] = a[j + 1], a[j]
                swapped = True
        if not swapped:
            break
    return a


@case(A)
def insertion_sort(a):
    for i in range(1, len(a)):
        key = a[i]
        j = i - 1
        while j >= 0 and a[j] > key:
            a[j + 1] = a[j]
            j -= 1
        a[j + 1] = key
    return a


@case(A)
def selection_sort(a):
    for i in range(len(a)):
        smallest = i
        for j in range(i + 1, len(a)):
            if a[j] < a[smallest]:
                smallest = j
        a[i], a[smallest] = a[smallest], a[i]
    return a


@case(A)
def shell_sort(a):
    gap = len(a) // 2
    while gap > 0:
        for i in range(gap, len(a)):
            temp = a[i]
            j = i
            while j >= gap and a[j - gap] > temp:
                a[j] = a[j - gap]
                j -= gap
            a[j] = temp
        gap //= 2
    return a


@case(SORTED, [7, 3, 0])
def binary_search(a, target):
    low, high = 0, len(a) - 1
    while low <= high:
        mid = (low + high) // 2
        if a[mid] == target:
            return mid
        elif a[mid] < target:
            low = mid + 1
        else:
            high = mid - 1
    return -1


@case(A, [2, 7, 5])
def linear_search(a, target):
    for i, value in enumerate(a):
        if value == target:
            return i
    return -1


@case(F)
def max_subarray(a):
    best = current = a[0]
    for x in a[1:]:
        current = max(x, current + x)
        best = max(best, current)
    return best


@case(F)
def mean(values):
    if len(values) == 0:
        raise ValueError("mean of nothing")
    return sum(values) / len(values)


@case(F)
def variance(values):
    m = sum(values) / len(values)
    return sum((x - m) ** 2 for x in values) / (len(values) - 1)


@case(F)
def median(values):
    s = sorted(values)
    n = len(s)
    if n % 2 == 1:
        return s[n // 2]
    return (s[n // 2 - 1] + s[n // 2]) / 2


@case(A)
def second_largest(a):
    first = second = float("-inf")
    for x in a:
        if x > first:
            first, second = x, first
        elif x > second and x != first:
            second = x
    return second


@case(A)
def is_sorted(a):
    return all(a[i] <= a[i + 1] for i in range(len(a) - 1))


@case(A)
def count_inversions(a):
    count = 0
    for i in range(len(a)):
        for j in range(i + 1, len(a)):
            if a[i] > a[j]:
                count += 1
    return count


@case(A, [1, 2, 3])
def rotate(a, k):
    n = len(a)
    result = np.zeros(n, dtype=int)
    for i in range(n):
        result[(i + k) % n] = a[i]
    return result


@case(A)
def prefix_sums(a):
    total = 0
    out = np.zeros(len(a))
    for i in range(len(a)):
        total += a[i]
        out[i] = total
    return out


@case(F, F)
def dot_product(u, v):
    if len(u) != len(v):
        raise ValueError("vectors of different lengths")
    return sum(x * y for x, y in zip(u, v))


@case([[1, 2, 5], [1, 5, 10], [2, 3, 7]], [11, 18, 12])
def coin_change(coins, amount):
    best = [0] + [10**6] * 20
    for value in range(1, 21):
        for coin in coins:
            if coin <= value:
                best[value] = min(best[value], best[value - coin] + 1)
    return best[amount]


@case([[2, 7, 9, 3, 1], [5, 1, 1, 5, 9]])
def house_robber(houses):
    take, skip = 0, 0
    for money in houses:
        take, skip = skip + money, max(skip, take)
    return max(take, skip)


@case([[7, 1, 5, 3, 6, 4], [7, 6, 4, 3, 1, 0]])
def max_profit(prices):
    lowest = float("inf")
    profit = 0
    for price in prices:
        if price < lowest:
            lowest = price
        elif price - lowest > profit:
            profit = price - lowest
    return profit


@case(A)
def longest_increasing_run(a):
    longest = run = 1
    for previous, current in zip(a, a[1:]):
        if current > previous:
            run += 1
            longest = max(longest, run)
        else:
            run = 1
    return longest


@case([[0, 1, 0, 2, 1, 0, 1, 3], [4, 2, 0, 3, 2, 5, 0, 1]])
def trapped_water(heights):
    left, right = 0, len(heights) - 1
    left_max = right_max = total = 0
    while left < right:
        if heights[left] < heights[right]:
            left_max = max(left_max, heights[left])
            total += left_max - heights[left]
            left += 1
        else:
            right_max = max(right_max, heights[right])
            total += right_max - heights[right]
            right -= 1
    return total


@case(A)
def majority(a):
    count = 0
    candidate = None
    for x in a:
        if count == 0:
            candidate = x
        count += 1 if x == candidate else -1
    return candidate


@case([[[1.0, 2.0], [3.0, 4.0]], [[2.0, 0.0], [1.0, 5.0]]])
def determinant_2x2(m):
    return m[0][0] * m[1][1] - m[0][1] * m[1][0]


@case([[[4.0, 1.0], [2.0, 3.0]], [[1.0, 1.0], [1.0, 1.0]]], [[1.0, 2.0], [2.0, 2.0]])
def solve_2x2(m, b):
    det = m[0][0] * m[1][1] - m[0][1] * m[1][0]
    if abs(det) < 1e-12:
        raise ZeroDivisionError("singular matrix")
    x = (b[0] * m[1][1] - b[1] * m[0][1]) / det
    y = (m[0][0] * b[1] - m[1][0] * b[0]) / det
    return x, y


@case([[[2.0, 1.0, -1.0, 8.0], [-3.0, -1.0, 2.0, -11.0], [-2.0, 1.0, 2.0, -3.0]]])
def gauss(m):
    n = len(m)
    for i in range(n):
        pivot = i
        for r in range(i + 1, n):
            if abs(m[r, i]) > abs(m[pivot, i]):
                pivot = r
        for c in range(n + 1):
            m[i, c], m[pivot, c] = m[pivot, c], m[i, c]
        for r in range(i + 1, n):
            factor = m[r, i] / m[i, i]
            for c in range(i, n + 1):
                m[r, c] -= factor * m[i, c]
    x = np.zeros(n)
    for i in range(n - 1, -1, -1):
        s = m[i, n]
        for c in range(i + 1, n):
            s -= m[i, c] * x[c]
        x[i] = s / m[i, i]
    return x


@case([[[1, 1, 0], [0, 1, 1], [1, 0, 1]], [[0, 0, 0], [1, 1, 1], [0, 1, 0]]])
def count_neighbours(grid):
    rows, columns = grid.shape
    out = np.zeros((3, 3), dtype=int)
    for i in range(rows):
        for j in range(columns):
            for di in (-1, 0, 1):
                for dj in (-1, 0, 1):
                    if (di or dj) and 0 <= i + di < rows and 0 <= j + dj < columns:
                        out[i, j] += grid[i + di, j + dj]
    return out


@case(A)
def has_duplicates(a):
    return len(set(a)) < len(a)


@case(A)
def quick_select(a):
    return sorted(a)[len(a) // 2]


@case(F)
def normalize(v):
    length = np.sqrt(np.sum(v**2))
    if length == 0:
        return v
    return v / length


@case(F)
def softmax(x):
    e = np.exp(x - np.max(x))
    return e / e.sum()
