"""Lists that grow, shrink and are changed as each member says."""

# ruff: noqa
from collections import deque

import numpy as np

import autobatch as ab
from tests.meaning.case import case

N = np.array
n = N([3, 0, 7, 12])
m = N([2, 5, 0, 4])
x = N([1.5, -2.0, 0.25, 3.0])
xs = N([[3.0, -1.0, 2.5, 0.0], [5.0, 9.0, -7.0, 8.0], [0.5, 0.5, -2.0, 1.0], [1.0, 2.0, 3.0, 4.0]])
ks = N([[3, 1, 2, 0], [5, 9, 7, 8], [5, 5, 2, 1], [1, 2, 3, 4]])


@case(n)
def appends(n):
    found = []
    for i in range(n):
        if i % 3 != 1:
            found.append(i * i)
    return found


@case(n, x)
def of_floats_and_ints(n, x):
    found = [0]
    while n > 0:
        found.append(n * x)
        n -= 2
    found.append(x)
    return found


@case(n)
def digits(n):
    rest, out = n * n + 10, []
    while rest:
        out.append(rest % 7)
        rest //= 7
    out.reverse()
    return out, len(out), out[0], out[-1]


@case(n)
def stack_of_work(n):
    work, count = [n], 0
    while work:
        k = work.pop()
        count += 1
        if k > 1:
            work.append(k // 2)
            work.append(k - 1 - k // 2)
    return count


@case(n)
def pops_twice(n):
    st = list(range(n + 2))
    st.append(5)
    return st.pop() - st.pop(), st, len(st)


@case(n)
def pops_in_a_condition(n):
    st, c = list(range(n)), 0
    while len(st) > 0 and st.pop() != 4:
        c += 1
    if st and st.pop() == 3:
        c += 100
    return c, st


@case(n)
def pop_of_an_empty_list(n):
    st = [0] * (n - 1)
    return st.pop(), len(st)


@case(n, m)
def pops_elsewhere(n, m):
    st = [i * 3 for i in range(n + m + 1)]
    a = st.pop(0)
    b = st.pop(m)
    c = st.pop(-1) if len(st) > 1 else -1
    return a, b, c, st


@case(n)
def queue(n):
    q, seen = deque([n]), []
    while q:
        k = q.popleft()
        seen.append(k)
        if k % 2 == 0 and k > 0:
            q.append(k // 2)
            q.appendleft(k - 1)
        elif k > 2:
            q.append(k - 3)
    return seen


@case(n, m)
def table(n, m):
    dp = [0] * (n + 1)
    dp[0] = 1
    for k in (1, 2, 5):
        for i in range(k, n + 1):
            dp[i] += dp[i - k]
    dp[m] = dp[m] + 1 if m <= n else dp[-1]
    return dp


@case(n)
def index_out_of_range(n):
    dp = [1, 2, 3] * (n // 3)
    return dp[4]


@case(n)
def known_list_at_a_members_index(n):
    counts = [0, 0, 0]
    for i in range(n):
        counts[i % 3] += i
    return counts


@case(n, m)
def slices(n, m):
    v = list(range(10, 10 + n))
    return v[1:], v[:m], v[-2:], v[::-1], v[::2], v[m:n], v[:-1], v[m::-1], v[n - m : 3]


@case(ks, n)
def slices_of_a_known_list(ks, n):
    v = [k for k in ks]
    return v[: n % 4], v[n % 3 :], sum(v[: n % 5])


@case(n)
def palindrome(n):
    bits = []
    while n:
        bits.append(n % 2)
        n //= 2
    return bits == bits[::-1], bits != [1, 1], [1, 1] == bits


@case(n, m)
def sums(n, m):
    v = [i - 4 for i in range(n)]
    w = v + [m]
    return sum(v), max(w), min(w), any(v), all(v), len(v), sum(v, 10), max(v, default=m), min(v, default=-1)


@case(n)
def extreme_of_nothing(n):
    return max([i * 2 % 7 for i in range(n)])


@case(n, m)
def contains(n, m):
    v = [i * i % 5 for i in range(n)]
    return m in v, 4 not in v, v.count(m), v.count(1)


@case(n)
def index_of(n):
    v = list(range(1, n))
    return v.index(3)


@case(n, m)
def sorts(n, m):
    v = [(i * 5 + 3) % 11 - m for i in range(n)]
    w = sorted(v)
    v.sort(reverse=True)
    return v, w, sorted(w, reverse=True)


@case(n, m)
def inserts_and_removes(n, m):
    v = []
    for i in range(n):
        v.insert(0, i)
    v.insert(m, 100)
    v.insert(-1, 7)
    v.remove(100)
    return v


@case(n)
def removes_what_is_not_there(n):
    v = list(range(n))
    v.remove(5)
    return v


@case(n, m)
def joins(n, m):
    v = [1] * n
    w = [i for i in range(m) if i != 1]
    v.extend(w)
    v += [9, n]
    return v + w, [0] + v, w * 2, 2 * w + [m]


@case(n)
def clears(n):
    v = [n]
    for i in range(n):
        v.append(i)
        if i % 5 == 4:
            v.clear()
    return v


@case(n)
def enumerates(n):
    v = [i * 2 for i in range(n)]
    s = 0
    for k, item in enumerate(v):
        s += k * item
    for a, b in zip(v, v[1:]):
        s += b - a
    for item in reversed(v):
        s = s * 2 % 1000 + item
    return s


@case(n)
def comprehensions_of_a_list(n):
    v = [i * 3 % 5 for i in range(n)]
    w = [a + 1 for a in v if a != 3]
    pairs = [a * b for a in v for b in w if a < b]
    return w, sum(a * a for a in v), len(pairs), [k * a for k, a in enumerate(v)], any(a == 2 for a in v)


@case(n, m)
def choices_in_a_comprehension(n, m):
    return [i if i % 2 else -i for i in range(n)], [i for i in [1, 2, 3] if i < m], [a > 1 and a for a in range(m)]


@case(n, m)
def two_names(n, m):
    v = [1]
    w = v
    for i in range(n):
        v.append(i)
    w.append(m)
    return v, len(w)


@case(n)
def copies(n):
    v = [0] * n
    w, u, t = v[:], list(v), v.copy()
    w.append(1)
    u.append(2)
    t.append(3)
    v.append(4)
    return v, w, u, t


@case(n, m)
def swaps(n, m):
    v = list(range(n + 3))
    v[0], v[-1] = v[-1], v[0]
    i = m % (n + 3)
    v[i], v[1] = v[1], v[i]
    return v


@case(ks)
def bubble_sort(ks):
    v = list(ks)
    for i in range(len(v)):
        for j in range(len(v) - 1 - i):
            if v[j] > v[j + 1]:
                v[j], v[j + 1] = v[j + 1], v[j]
    return v


@ab.autobatch
def push(values, item):
    values.append(item)
    return len(values)


@case(n)
def given_to_a_function(n):
    v = []
    total = 0
    for i in range(n):
        total += push(v, i)
    return v, total


@ab.autobatch
def collected(k, out):
    if k > 0:
        collected(k - 1, out)
        out.append(k)
        if k % 3 == 0:
            collected(k - 2, out)


@case(n)
def given_to_a_recursion(n):
    out = []
    collected(n % 8, out)
    return out


@ab.autobatch
def factors(k, d):
    if k == 1:
        return []
    if k % d == 0:
        return [d] + factors(k // d, d)
    return factors(k, d + 1)


@case(n)
def returned_by_a_recursion(n):
    return factors(n * n + 7, 2)


@case(n)
def captured(n):
    seen = []

    def visit(k):
        seen.append(k)
        if k > 1:
            visit(k // 2)

    visit(n)
    return seen


@case(n, x)
def of_tuples(n, x):
    v = [(0, x)]
    for i in range(n):
        k, y = v[-1]
        v.append((k + i, y * 0.5))
    k, y = v.pop()
    total = 0.0
    for a, b in v:
        total += a * b
    return k, y, total, v


@case(n, xs)
def of_arrays(n, xs):
    v = [xs]
    for i in range(n % 4):
        v.append(v[-1] * 0.5 + i)
    return v[-1], v[0], sum(v)


@case(n, m)
def grid(n, m):
    g = [[0] * (m + 1) for _ in range(n + 1)]
    for i in range(n + 1):
        for j in range(m + 1):
            if i == 0 or j == 0:
                g[i][j] = 1
            else:
                g[i][j] = g[i - 1][j] + g[i][j - 1]
    return g[n][m], len(g), len(g[0]), sum(g[-1])


@case(n)
def triangle(n):
    rows = []
    for i in range(n % 6):
        row = [1] * (i + 1)
        for j in range(1, i):
            row[j] = rows[i - 1][j - 1] + rows[i - 1][j]
        rows.append(row)
    return rows


@case(n)
def buckets(n):
    b = [[] for _ in range(3)]
    for i in range(n):
        b[i % 3].append(i)
    return len(b[0]), sum(b[1]), b[2]


@case(n)
def grows_while_it_is_looped_over(n):
    v = [n]
    for item in v:
        if item > 1:
            v.append(item // 2)
        if item % 2 and len(v) < 20:
            v.append(item - 1)
    return v


@case(n)
def truth_of_a_list(n):
    v = [0] * n
    return (1 if v else 2), not v, bool(v)


@case(n)
def chosen(n):
    v, w = [1, 2, 3], [4] * n
    u = v if n > 3 else w
    return len(u), u[0] if u else -1


@case(n)
def is_a_list(n):
    v = [0] * n
    return 1 if isinstance(v, list) else 0, 1 if isinstance(v, (tuple, int)) else 0, 1 if type(v) is list else 0


@case(n)
def raises_with_a_list(n):
    v = list(range(n))
    if len(v) > 3:
        raise ValueError(f"too long: {v}")
    return v


@case(n)
def augmented_by_a_list(n):
    v = [0] * n
    u = v
    w = [1] * (n + 1)
    v += w
    w += (2, n)
    return v, u, w


@ab.autobatch
def longer(v, w):
    v += w


@case(n, refused="list-augmented")
def augmented_under_a_parameters_name(n):
    v = [0] * n
    longer(v, v[1:])
    return v


@case(n)
def spread_displays(n):
    v = [i for i in range(n)]
    parts = []
    for i in range(n):
        parts = [*parts, i, *v[:2]]
    return parts, [*v, *v], [n, *v]


@case(n)
def long_list(n):
    v = []
    for i in range(n * n):
        v.append(i)
    return len(v), v[-1] if v else 0, v[n // 2] if n else 0


@case(n)
def sieve(n):
    is_prime = [True] * (n + 2)
    is_prime[0] = is_prime[1] = False
    for p in range(2, n + 2):
        if is_prime[p]:
            for q in range(p * p, n + 2, p):
                is_prime[q] = False
    return [i for i, p in enumerate(is_prime) if p], sum(is_prime)


@case(n)
def unset_list(n):
    if n > 0:
        v = [n]
    v.append(1)
    return v


@case(n)
def chosen_of_unlike_lengths(n):
    v, w, e = [1, 2, 3], [n, 5], []
    u = v if n > 3 else w
    t = e if n > 3 else w
    return u, t, len(u), len(w)


@case(n)
def numbers_of_another_list(n):
    g = [i for i in range(n + 2)]
    h = g[::-1] + [1]
    h[0] = 100
    g.append(1)
    return g, h


@case(n, m)
def pops_of_items(n, m):
    stacks = [[i] * (i + 1) for i in range(n + 2)]
    a = stacks[1].pop()
    b = stacks[n % 3].pop(0) + stacks[-1].pop()
    return a, b, [len(s) for s in stacks], sum(stacks[n])


@case(n)
def towers_of_hanoi(n):
    pegs, moves = [[i for i in range(n % 4, 0, -1)], [], []], 0

    def move(k, a, b, c):
        nonlocal_moves = 0
        if k > 0:
            nonlocal_moves += move(k - 1, a, c, b)
            nonlocal_moves += 1
            nonlocal_moves += move(k - 1, c, b, a)
        return nonlocal_moves

    moves = move(n % 4, 0, 1, 2)
    if n % 4:
        pegs[2].append(pegs[0].pop())
    return moves, len(pegs[0]), len(pegs[2])


@case(n, m)
def deletes(n, m):
    v, w = list(range(n + 1)), [1, 2, 3]
    del v[n // 2], w[1]
    if n > 3:
        del v[-1]
    del w[m % 2]
    return v, w


@case(n)
def deletes_what_is_not_there(n):
    v = list(range(n))
    del v[3]
    return v


@case(n)
def subsets(n):
    out = [[]]
    for i in range(n % 5):
        out += [s + [i] for s in out]
    return len(out), sum(sum(s) for s in out), out[-1]


@case(n)
def permutations(n):
    out, current, used = [], [], [False] * (n % 4)

    def go():
        if len(current) == n % 4:
            out.append(current[:])
            return
        for i in range(n % 4):
            if not used[i]:
                used[i] = True
                current.append(i)
                go()
                current.pop()
                used[i] = False

    go()
    return len(out), out[-1], current


@case(n)
def merge_sort(n):
    def sort(v):
        if len(v) <= 1:
            return v
        half = len(v) // 2
        a, b = sort(v[:half]), sort(v[half:])
        out, i, j = [], 0, 0
        while i < len(a) and j < len(b):
            if a[i] <= b[j]:
                out.append(a[i])
                i += 1
            else:
                out.append(b[j])
                j += 1
        return out + a[i:] + b[j:]

    return sort([(i * 7) % 5 for i in range(n)])


@case(n)
def breadth_first(n):
    near = [[] for _ in range(n + 2)]
    for i in range(n + 1):
        near[i].append(i + 1)
        if i % 2 == 0 and i + 2 < len(near):
            near[i].append(i + 2)
    distance, queue = [-1] * (n + 2), [0]
    distance[0] = 0
    while queue:
        u = queue.pop(0)
        for v in near[u]:
            if distance[v] < 0:
                distance[v] = distance[u] + 1
                queue.append(v)
    return distance


# --- what is ordinary, and must not be refused ------------------------------------------------------


@case(n)
def prefixes(n):
    out, current = [], []
    for i in range(n):
        current.append(i)
        out.append(current[:])
        out.append(list(current))
    return out


@case(n)
def chunks(n):
    v = list(range(n))
    return [v[i : i + 3] for i in range(0, len(v), 3)]


@case(n, m)
def common_subsequence(n, m):
    a, b = [i * 7 % 5 for i in range(n)], [i * 3 % 5 for i in range(m)]
    t = [[0] * (len(b) + 1) for _ in range(len(a) + 1)]
    for i in range(len(a)):
        for j in range(len(b)):
            if a[i] == b[j]:
                t[i + 1][j + 1] = t[i][j] + 1
            else:
                t[i + 1][j + 1] = max(t[i][j + 1], t[i + 1][j])
    return t[-1][-1]


@case(n)
def copied_rows(n):
    g = [[i, n] for i in range(n)]
    h = [row[:] for row in g]
    for row in g:
        h.append(row.copy())
    if n > 1:
        h[0][0] = 100
    return g, h


@case(n)
def paths_on_a_stack(n):
    stack, longest = [(n, [n])], []
    while stack:
        k, path = stack.pop()
        if len(path) > len(longest):
            longest = path[:]
        if k > 1:
            stack.append((k // 2, path + [k // 2]))
            stack.append((k - 3, path + [k - 3]))
    return longest


@case(n)
def items_outlive_the_list(n):
    g = [[i] for i in range(n + 1)]
    row = g[0]
    g.append([7])
    g.pop(0)
    return row, g


@case(N([0, 1, 2, 5, 7]))
def last_in_a_ring(n):
    queue = deque(range(n))
    last = -1
    while queue:
        last = queue.popleft()
        if queue:
            queue.append(queue.popleft())
    return last


@case(N([0, 1, 2, 5, 7]))
def tested_after_a_write(n):
    ys, k = list(range(n)), 0
    while ys and k < 20:
        zs = ys
        x = zs.pop()
        k += 1
        if zs and k < 10:
            zs.append(x + zs.pop(0))
        ys = zs
    return k, ys


SQUARES = [k * k % 97 for k in range(5000)]
MIXED, FLAGS = (1, 2.5, True, -7), [True, False, True]


@case(N([0, 17, 4999, -1, 300]))
def tables_of_known_numbers(n):
    total = SQUARES[n]
    while n > 0:
        total += SQUARES[n] * MIXED[n % 4]
        n //= 3
    return total, MIXED[n % 3], FLAGS[n % 3], [2**40, 3][n % 2]


@case(N([0, 5000, -5001]))
def beyond_a_table(n):
    return SQUARES[n]


def mirrored(v):
    if v > 2:
        return -v
    return v


@case(n)
def sorted_by_keys(n):
    points = [(n, 2), (1, n), (5, 5)]
    squares = [(i * i % 5, i) for i in range(n + 2)]
    squares.sort(key=lambda v: (v[0], -v[1]))
    first, second = sorted(points, key=lambda p: p[0])[:2]
    return first, second, [v for v, _ in squares], sorted([n, 2, 7], key=mirrored, reverse=True)


@case(n)
def places_by_keys(n):
    xs = [i * i % 5 for i in range(n + 2)]
    order = sorted(range(len(xs)), key=lambda i: xs[i])
    near = min(xs, key=lambda d: abs(d - n))
    return order, max(range(len(xs)), key=lambda i: xs[i]), near, max([n, 2, 7], key=mirrored)


@case(n)
def the_greatest_of_none(n):
    xs = [v for v in [n] if v > 2]
    return max(xs, key=lambda v: v)


@case(n)
def other_names_of_what_is_sorted(n):
    xs = [i * i % 5 for i in range(n)]
    ys = xs
    zs = sorted(xs, key=lambda v: -v)
    xs.sort(key=lambda v: -v)
    ys.append(n)
    return xs, ys, zs


@case(n, refused="shared-array")
def items_of_what_is_sorted(n):
    g = [[n, 1], [2, 3]]
    h = sorted(g, key=lambda r: r[0])
    h[0][0] = 50
    return g[0][0]


@case(n)
def counts_in_a_tuple(n):
    a = [n, 2, 1]
    return (n, 2, 0.5).count(2), (n, 2, n).index(2), list(a) == sorted(a), sorted(a) != [1, 2, n]


@case(np.array([[1, 2, 1], [2, 2, 2]]))
def tables_filled_in_straight_loops(a):
    d = [[0] * 4 for _ in range(4)]
    for i in range(3):
        d[i][0] = a[i]
    for i in range(1, 4):
        for j in range(1, 4):
            match = 1 if a[i - 1] == a[j - 1] else 0
            d[i][j] = max(d[i - 1][j], d[i][j - 1], d[i - 1][j - 1] + match)
    return d


def dealt(n):
    buckets = [[] for _ in range(4)]
    for i in range(n):
        buckets[i % 4].append(i)
    return buckets


@case(n)
def loops_over_lists_of_lists(n):
    buckets, total = [[] for _ in range(4)], 0
    for i in range(n):
        buckets[i % 4].append(i)
    for k, bucket in enumerate(buckets):
        total = total * 10 + len(bucket)
        for item in bucket:
            total += item * k
    return total, [item for bucket in buckets for item in bucket]


@case(n)
def comprehensions_over_lists_of_lists(n):
    buckets = dealt(n)
    lengths, sums = [len(b) for b in buckets], list(map(sum, buckets))
    firsts = [b[0] if b else -1 for b in buckets]
    longest = max(range(4), key=lambda k: len(buckets[k])), len(max(buckets, key=len)), max(len(b) for b in buckets)
    return (
        lengths,
        sums,
        firsts,
        longest,
        any(len(b) == 2 for b in buckets),
        sum(k * len(b) for k, b in enumerate(buckets)),
    )


@case(N([1, 2, 3, 4]))
def nan_stays_in_its_list(n):
    return len(sorted([3.0, 1.0, float("nan"), float("inf")][:n])), max([float("nan"), 1.0, 2.0, 0.0][:n])


@case(N([1, 2, 3]))
def nan_is_not_above(n):
    return max([1.0, float("nan"), 2.0][:n]), min([1.0, float("nan"), 0.5][:n])


def _grown(n):
    xs = []
    for i in range(n):
        xs.append(i)
    return xs


@case(n, refused="kept-iterator")
def an_iterator_under_a_name(n):
    it = reversed(_grown(n))
    total = 0
    for x in it:
        total += x
    for x in it:
        total += 100 * x
    return total


@case(n, refused="kept-iterator")
def an_iterator_that_a_nested_function_reads_twice(n):
    def both(it):
        return sum(it) + sum(it) * 1000

    return both(reversed(_grown(n)))
