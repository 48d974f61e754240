"""The plain programs of ``benchmarks/plain.py`` in Numba: compiled for one member, in a parallel loop over all.

Floats are float32 and random words Threefry's, as on the other sides.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numba
import numpy as np
import tensorflow as tf

from benchmarks.rarely import MATRIX, RARITY, ROUNDS, SIZE, TURNS

f32, i64, u32 = np.float32, np.int64, np.uint32
compiled = numba.njit

Peer = Callable[..., Callable[[], Any]]  # for arguments, what runs them
PEERS: dict[str, Peer] = {}  # by the program's name


def for_each_member(types: str, axes: str) -> Callable[[Callable[..., None]], Peer]:
    """Makes of a function of one member (its results are arrays, as NumPy's guvectorize has it) the loop over all."""

    def decorate(one: Callable[..., None]) -> Peer:
        def make(*args: tf.Tensor) -> Callable[[], Any]:
            run = numba.guvectorize([f"void({types})"], axes, target="parallel", nopython=True)(one)
            arrays = [np.asarray(arg) for arg in args]
            return lambda: run(*arrays)

        PEERS[one.__name__] = make
        return make

    return decorate


@numba.njit(numba.int64(numba.int64))
def _fibonacci(n):
    if n <= 1:
        return 1
    return _fibonacci(n - 1) + _fibonacci(n - 2)


@for_each_member("int32[:], int32[:]", "()->()")
def fibonacci(n, out):
    out[0] = _fibonacci(n[0])


@for_each_member("int64[:], int64[:]", "()->()")
def collatz(n, out):
    n, steps = n[0], 0
    while n != 1:
        n = n // 2 if n % 2 == 0 else 3 * n + 1
        steps += 1
    out[0] = steps


@compiled
def _bump(x):
    return np.exp(-(x * x)) * np.sin(f32(5) * x)


@compiled
def _simpson(a, b):
    return (b - a) / f32(6) * (_bump(a) + f32(4) * _bump((a + b) / f32(2)) + _bump(b))


@numba.njit(numba.float32(numba.float32, numba.float32, numba.float32))
def _quadrature(a, b, tolerance):
    middle = (a + b) / f32(2)
    left, right = _simpson(a, middle), _simpson(middle, b)
    if abs(left + right - _simpson(a, b)) < f32(15) * tolerance:
        return left + right
    return _quadrature(a, middle, tolerance / f32(2)) + _quadrature(middle, b, tolerance / f32(2))


@for_each_member("float32[:], float32[:], float32[:], float32[:]", "(),(),()->()")
def quadrature(a, b, tolerance, out):
    out[0] = _quadrature(a[0], b[0], tolerance[0])


_row_i, _row_f = numba.types.Array(numba.int32, 1, "A"), numba.types.Array(numba.float32, 1, "A")


@numba.njit(numba.float32(_row_i, _row_f, _row_i, _row_i, numba.int32))
def _evaluate(kind, value, left, right, node):
    if kind[node] == 0:
        return value[node]
    first = _evaluate(kind, value, left, right, left[node])
    if kind[node] == 3:
        return np.sin(first)
    second = _evaluate(kind, value, left, right, right[node])
    return first + second if kind[node] == 1 else first * second


@for_each_member("int32[:], float32[:], int32[:], int32[:], int32[:], float32[:]", "(m),(m),(m),(m),()->()")
def trees(kind, value, left, right, node, out):
    out[0] = _evaluate(kind, value, left, right, node[0])


@numba.njit(numba.int64(*[numba.int64] * 5))
def _queens(n, row, columns, rising, falling):
    if row == n:
        return 1
    count = 0
    for column in range(n):
        bit, up, down = 1 << column, 1 << (row + column), 1 << (row - column + n)
        if (columns & bit) == 0 and (rising & up) == 0 and (falling & down) == 0:
            count += _queens(n, row + 1, columns | bit, rising | up, falling | down)
    return count


@for_each_member("int32[:], int32[:], int32[:], int32[:], int32[:], int32[:]", "(),(),(),(),()->()")
def queens(n, row, columns, rising, falling, out):
    out[0] = _queens(n[0], row[0], columns[0], rising[0], falling[0])


@for_each_member("float32[:], float32[:], float32[:], int64[:]", "(),()->(),()")
def oscillator(stiffness, tolerance, out, out_steps):
    stiffness, tolerance = stiffness[0], tolerance[0]
    one, half, end = f32(1), f32(0.5), f32(10)
    y, v, t, h, steps = f32(2), f32(0), f32(0), f32(0.01), 0
    while t < end:
        k = stiffness * (one - y * y) * v - y
        y_next, v_next = y + h * v, v + h * k
        k_next = stiffness * (one - y_next * y_next) * v_next - y_next
        error = half * h * max(abs(v_next - v), abs(k_next - k))
        if error < tolerance:
            y, v, t = y + half * h * (v + v_next), v + half * h * (k + k_next), t + h
        factor = min(f32(2), max(f32(0.2), f32(0.9) * np.sqrt(tolerance / (error + f32(1e-12)))))
        h = min(h * factor, end - t + f32(1e-6))
        steps += 1
    out[0], out_steps[0] = y, steps


@for_each_member("int32[:], float32[:]", "()->()")
def rarely(word, out):
    word, v, new = i64(word[0]), np.ones(SIZE, f32), np.empty(SIZE, f32)
    for _ in range(TURNS):
        word = (word * 75 + 74) % 65537
        if word % RARITY == 0:
            for _ in range(ROUNDS):
                np.dot(MATRIX, v, new)
                for j in range(SIZE):
                    v[j] = np.tanh(new[j])
        else:
            for j in range(SIZE):
                v[j] += f32(0.01)
    out[0] = v.sum()


@compiled
def _rotated(x, by):
    return u32(u32(x << u32(by)) | u32(x >> u32(32 - by)))


@compiled
def _threefry(k0, k1, x0, x1):
    """Threefry-2x32 (Salmon et al. 2011), twenty rounds."""
    keys = (k0, k1, u32(k0 ^ k1 ^ u32(0x1BD11BDA)))
    x0, x1 = u32(x0 + k0), u32(x1 + k1)
    for group in range(5):
        rotations = (13, 15, 26, 6) if group % 2 == 0 else (17, 29, 16, 24)
        for rotation in rotations:
            x0 = u32(x0 + x1)
            x1 = u32(_rotated(x1, rotation) ^ x0)
        x0 = u32(x0 + keys[(group + 1) % 3])
        x1 = u32(x1 + keys[(group + 2) % 3] + u32(group + 1))
    return x0, x1


@compiled
def _uniform(k0, k1, place):
    first, second = _threefry(k0, k1, u32(0), u32(place))
    return f32(u32(first ^ second) >> u32(9)) * f32(2.0**-23)


@for_each_member("uint32[:], float32[:], int64[:], float32[:]", "(k),()->(),()")
def epidemic(key, infection, out, out_time):
    infection = infection[0]
    susceptible, infected, time, event = 990, 10, f32(0), 0
    while infected > 0:
        k0, k1 = _threefry(key[0], key[1], u32(0), u32(event))
        wait, which = _uniform(k0, k1, 0), _uniform(k0, k1, 1)
        rate_in = infection * f32(susceptible) * f32(infected) / f32(1000)
        rate = rate_in + f32(infected)
        time -= np.log(f32(1) - wait) / rate
        if which * rate < rate_in:
            susceptible, infected = susceptible - 1, infected + 1
        else:
            infected -= 1
        event += 1
    out[0], out_time[0] = susceptible, time


@numba.njit(numba.int64(*[numba.int64] * 3))
def _tak(x, y, z):
    if y >= x:
        return z
    return _tak(_tak(x - 1, y, z), _tak(y - 1, z, x), _tak(z - 1, x, y))


@for_each_member("int32[:], int32[:], int32[:], int32[:]", "(),(),()->()")
def tak(x, y, z, out):
    out[0] = _tak(x[0], y[0], z[0])


@for_each_member("float32[:], float32[:], int64[:]", "(),()->()")
def escape(re, im, out):
    re, im, x, y, steps = re[0], im[0], f32(0), f32(0), 0
    while x * x + y * y <= f32(4) and steps < 500:
        x, y = x * x - y * y + re, f32(2) * x * y + im
        steps += 1
    out[0] = steps


@for_each_member("int64[:], int64[:], int64[:]", "(),()->()")
def euclid(a, b, out):
    a, b = a[0], b[0]
    while b != 0:
        a, b = b, a % b
    out[0] = a
