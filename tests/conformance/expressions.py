"""Expressions."""

import tensorflow as tf

import autobatch as ab
from tests.conformance import INDEX, N, V, X, feature


@ab.autobatch
def half(n):
    return n if n < 1 else half(n // 2) + 1


@feature("`and`, `or`, `not`, short-circuit for each member", N, V)
def short_circuit(n, v):
    i = 0
    while i < 4 and v[i] != 3.0:
        i += 1
    return i, not (n > 1 or v[n] > 1.0), n and 7, n or 5


@feature("`a < b < c`, with a call in it", N)
def chains(n):
    return 0 < half(n) <= 2, 1 < n < 5 < n + 5


@feature("`x if c else y`, with a call in it", N)
def choice(n):
    return (half(n) if n > 2 else n - 1) * 2


@feature("`:=`", N, note="refused where the same statement reads the name before")
def walrus(n):
    total = 0
    while (n := n - 1) > 0:
        total += n
    if (k := half(total)) > 1 and k < 5:
        total += k
    return total, k


@feature("`+=` and its kin, on names and items", X, V)
def augmented(x, v):
    x += 1.0
    x *= x
    x -= 0.5
    x **= 2
    v[1] += x
    v[-1] /= 2.0
    return x, v


@feature("tuple assignment, swaps, nested targets, starred targets", X)
def unpacking(x):
    a, (b, c) = x, (x + 1.0, 2.0)
    a, b = b, a
    first, *rest = (a, b, c)
    p = q = first + sum(rest)
    while p < 10.0:
        a, b = b, a + 5.0
        p = p + 4.0
    return a, b, p, q


@feature("`x[i]`, `x[i, j]`, `x[:, i]`, `x[..., i]`, with each member's own and negative indices", V, INDEX)
def reads(v, i):
    m = tf.stack([v, v * 2.0])
    return v[i], m[i % 2, i], m[:, i], m[..., i - 1], v[1:3], v[::-1], m[-1]


@feature(
    "`x[i] = v`, `x[i, j] = v`, `x[1:3] = v`, `x[:, i] = v`", V, INDEX, note="in place: the cost is that of the part"
)
def writes(v, i):
    m = tf.stack([v, v])
    v[i] = 10.0
    v[1:3] = v[i] + v[1:3]
    m[:, i] = 7.0
    m[i % 2, 0:2] = v[:2]
    m[..., -1] = 0.0
    old = v
    v[0] = -1.0
    return v, m, old


@feature("an index of a list or tuple that differs between members", N, X)
def list_index(n, x):
    return [x, x + 1.0, 2.0 * x, 0.0][n] + (10.0, 20.0, 30.0, 40.0)[n]


@feature("`in` a list or tuple", N)
def contained(n):
    return n in (0, 3), 2 in [n, 1], n not in [0]


@feature("`int` and `float` and `bool` together; shifts; `divmod`, `round`, `pow` of three", X, N)
def mixed(x, n):
    sign = (x > 0) - (x < 0)
    return n * 0.5 + x, n**0.5, sign + n, n << 3 >> 1, divmod(n + 7, 3), round(x * 2), pow(n, 5, 7)


@feature("`min`, `max`, `abs`, `int`, `float`, `bool`, `len`, `sum`, `divmod`", X, N, V)
def builtin_functions(x, n, v):
    count = 0
    while count < n:
        count += 1
    q, r = divmod(count + 7, 3)
    return min(x, 1.0, 2.0), max(count, 2), abs(x), float(count) / 2.0, int(x), bool(n), len(v), sum([x, 1.0]), q, r


@feature(
    "Python numbers that come to differ between members", X, note="held in 64 bits; adopt the dtype that they meet"
)
def weak_numbers(x):
    n, scale = 0, 1.0
    while scale < x:
        n, scale = n + 1, scale * 1.5
    return n, scale, n / 4, n // 2, 7 % (n + 2), x * n, n > 1


@feature("lambdas and comprehensions", X, V)
def comprehensions(x, v):
    scale = lambda y: y * x
    squares = [scale(y) for y in (1.0, 2.0) if y > 1]
    return squares, {k: v[k] * x for k in range(2)}, sum(v[k] for k in range(4))


@feature("comprehensions with branches and calls in them", X, N)
def busy_comprehensions(x, n):
    return [half(n + k) for k in range(2)], [y if y > 0 else -y for y in (x, 2.0 * x)], max(half(n - k) for k in (0, 1))
