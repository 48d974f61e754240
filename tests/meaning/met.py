"""Ints that meet floats, lists that meet arrays and tuples, and objects that are gone through by index."""

# ruff: noqa
import numpy as np

from tests.meaning.case import case

N = np.array([3, 1, 5])
LARGE = 2**53 + 1


@case(N, fails=(0, 2))
def chosen(n):
    x = LARGE if n > 2 else 0.5
    return x % 10


@case(N, fails=(0, 2))
def assigned(n):
    x = 0.5
    if n > 2:
        x = LARGE
    return x % 10


def either(n):
    if n > 2:
        return LARGE
    return 0.5


@case(N, fails=(0, 2))
def returned(n):
    return either(n) % 10


@case(N, fails=(0, 1, 2))
def put_into_a_list(n):
    xs = [0.5] * n
    xs[0] = LARGE
    return xs[0] % 10


@case(N, fails=(0, 1, 2))
def appended(n):
    xs = [0.5 for _ in range(n)]
    xs.append(2**53 + n)
    return xs[-1] % 10


@case(N, fails=(0, 1, 2))
def among_floats(n):
    xs = [0.5, LARGE]
    return xs[n % 2] % 10


@case(N, fails=(0, 1, 2))
def sought(n):
    xs = [2.0**53 for _ in range(n)]
    return LARGE in xs


@case(N, fails=(0, 1, 2))
def of_a_dict(n):
    d = {}
    d[n] = 1
    d[n] = LARGE
    d[n + 1] = 0.5
    return d[n] % 10


@case(N)
def exact_ones(n):
    xs = [0.5, 3, 2**53]
    ys = [0.5] * n
    ys.append(2**52 + n)
    x = 2**53 if n > 2 else 0.5
    return xs[n % 3], ys[-1], x


class ByIndex:
    def __init__(self, values):
        self.values = values

    def __getitem__(self, i):
        return self.values[i]


@case(N)
def gone_through_by_index(n):
    held = ByIndex([n, 2, 3])
    total = 0
    for v in held:
        total += v
    return total, sum(held), list(held), [v * 2 for v in held]


@case(N, refused="object-looped")
def gone_through_of_own_length(n):
    """It did not end."""
    return [v * 2 for v in ByIndex(list(range(n)))]


@case(N, refused="object-looped")
def unpacked(n):
    a, b = ByIndex(list(range(n)))
    return a + b


@case(N, refused="range-of-members")
def bound_of_a_range(n):
    r = range(n, 20, 3)
    return r.start


@case(N, refused="python-refuses")
def list_and_tuple(n):
    return list(range(n)) + (1,)


@case(N, refused="python-refuses")
def list_and_range(n):
    return list(range(n)) + range(3)


@case(N, refused="python-refuses")
def list_and_number(n):
    return list(range(n)) > 1


@case(N)
def list_and_array(n):
    xs = [1, 2]
    xs += np.array([3, 4]) * n
    return xs


@case(N)
def rows_of_an_array(n):
    m = np.ones((2, 2)) * n
    for row in m:
        row[n % 2] = 100
    return m


@case(N)
def counters_and_arrays(n):
    k = 0
    while k < n:
        k += 1
    return np.ones(3) * k, k - np.arange(3), np.array([1, 2]) == k, np.array([k, 2.5])


@case(N)
def narrow_arrays(n):
    x = np.zeros(2, np.int8) + 3
    return np.array([x[0], 1000]), np.concatenate([x, [1]]) * 10**9, np.append(x, 1000), np.dot(x, 1000)


@case(N, fails=(2,))
def of_eight_bits(n):
    return np.int8(n * 40), np.array([n * 40], dtype=np.int8), np.full(2, n * 40, dtype=np.int8)


@case(N)
def in_an_array(n):
    x = np.arange(4) * n
    return n in x, 3 in x, 2.5 in x, n not in x


@case(N)
def ranges_of_both_kinds(n):
    total = 0
    for r in (range(n), range(2)):
        for v in r:
            total += v
    return total
