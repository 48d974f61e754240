"""Programs for the differential tests: each with a batch of arguments, all written for one example."""

from __future__ import annotations

import functools
import math
from collections import namedtuple

import numpy as np
import tensorflow as tf

import autobatch as ab

PROGRAMS: dict[str, tuple] = {}


def program(*args, **options):
    """Registers a function as an autobatched program with these batched arguments."""

    def register(function):
        batched = ab.autobatch(function, **options)
        PROGRAMS[function.__name__] = (batched, args)
        return batched

    return register


def ints(*values):
    return tf.constant(values, tf.int32)


def floats(*values):
    return tf.constant(values, tf.float32)


# --- recursion of every shape -------------------------------------------------------------------


@program(ints(3, 7, 4, 5, 0, 1))
def fibonacci(n):
    if n <= 1:
        return 1
    return fibonacci(n - 2) + fibonacci(n - 1)


@program(tf.constant([3, 7, 4, 5], tf.int64))
def fibonacci_64(n):
    if n <= 1:
        return n
    return fibonacci_64(n - 2) + fibonacci_64(n - 1)


@program(ints(0, 1, 5, 12))
def factorial(n):
    return 1 if n < 2 else n * factorial(n - 1)


@program(ints(0, 1, 2, 2), ints(3, 4, 3, 0))
def ackermann(m, n):
    if m == 0:
        return n + 1
    if n == 0:
        return ackermann(m - 1, 1)
    return ackermann(m - 1, ackermann(m, n - 1))


@program(ints(99, 45, 101, 87, 30))
def mccarthy(n):
    if n > 100:
        return n - 10
    return mccarthy(mccarthy(n + 11))


@program(ints(4, 6, 2, 5), ints(2, 1, 0, 3), ints(3, 2, 1, 0))
def tak(x, y, z):
    if not y < x:
        return z
    return tak(tak(x - 1, y, z), tak(y - 1, z, x), tak(z - 1, x, y))


@program(ints(10, 7, 0, 1))
def is_even(n):
    if n == 0:
        return True
    return is_odd(n - 1)


@program(ints(10, 7, 0, 1))
def is_odd(n):
    if n == 0:
        return False
    return is_even(n - 1)


@program(ints(6, 9, 3, 0))
def hofstadter_female(n):
    return 1 if n == 0 else n - hofstadter_male(hofstadter_female(n - 1))


@ab.autobatch
def hofstadter_male(n):
    return 0 if n == 0 else n - hofstadter_female(hofstadter_male(n - 1))


@program(ints(48, 17, 100, 9), ints(36, 5, 75, 0))
def gcd(a, b):
    if b == 0:
        return a
    return gcd(b, a % b)


@program(ints(20, 3, 14))
def deep_sum(n):
    if n == 0:
        return 0
    return n + deep_sum(n - 1)


@program(ints(3, 1, 4), ints(0, 0, 0), ints(2, 2, 2), ints(1, 1, 1))
def hanoi(n, source, target, spare):
    if n == 0:
        return 0
    first = hanoi(n - 1, source, spare, target)
    last = hanoi(n - 1, spare, target, source)
    return first + last + 10 * source + target


@program(floats(2.0, 0.5, -1.5), ints(5, 0, 8))
def power(x, n):
    if n == 0:
        return 1.0
    half = power(x, n // 2)
    return half * half if n % 2 == 0 else half * half * x


@program(ints(5, 3, 8), ints(2, 0, 4))
def binomial(n, k):
    if k == 0 or k == n:
        return 1
    return binomial(n - 1, k - 1) + binomial(n - 1, k)


@program(ints(5, 2, 7))
def sum_of_calls_in_loop(n):
    total = 0
    for i in range(n):
        total += triangle(i) * 2
    return total


@ab.autobatch
def triangle(n):
    if n <= 0:
        return 0
    return n + triangle(n - 1)


@program(ints(3, 10, 27))
def call_in_while_condition(n):
    steps = 0
    while triangle(steps) < n:
        steps = steps + 1
    return steps


@program(ints(3, 10, 14))
def call_in_short_circuit(n):
    if n > 5 and triangle(n) > 100:
        return triangle(n)
    return -1 if n < 4 or triangle(n) > 1000 else n


@program(ints(3, 0, 5), ints(1, 2, 3))
def unread_between_calls(n, w):
    extra = w * 2
    if n <= 0:
        return w
    return unread_between_calls(n - 1, w + 1) + unread_between_calls(n - 2, w + 2) + extra


# --- loops --------------------------------------------------------------------------------------


@program(ints(27, 1, 97, 6))
def collatz(n):
    steps = 0
    while n != 1:
        n = n // 2 if n % 2 == 0 else 3 * n + 1
        steps += 1
    return steps


@program(ints(10, 30, 2))
def count_primes(n):
    count = 0
    for candidate in range(2, n):
        prime = True
        for divisor in range(2, candidate):
            if divisor * divisor > candidate:
                break
            if candidate % divisor == 0:
                prime = False
                break
        if not prime:
            continue
        count += 1
    return count


@program(ints(3, 8, 0), ints(1, 3, 5))
def ranges(n, step):
    total = 0
    for i in range(n, 40, step):
        total = total * 3 % 1009 + i
    for i in range(40, n, -3):
        total = total * 5 % 1009 + i
    for _ in range(n):
        total += 1
    return total


@program(ints(5, 0, 12), ints(3, -2, -4))
def range_with_tensor_step(start, step):
    total = 0
    for i in range(start, start * step, step):
        total = total + i
    return total


@program(ints(5, 1, 12))
def early_return_from_nested_loops(n):
    i = 0
    while True:
        i += 1
        for j in range(i):
            if i * j > n:
                return 100 * i + j
            if j > 8:
                continue


@program(ints(12, 7, 1, 0))
def while_with_continue(n):
    total, i = 0, 0
    while i < n:
        i += 1
        if i % 3 == 0:
            continue
        if i > 10:
            break
        total += i
    return total, i


@program(floats(2.0, 10.0, 0.01))
def newton_sqrt(a):
    x = a
    while abs(x * x - a) > 1e-4 * a:
        x = 0.5 * (x + a / x)
    return x


@program(floats(0.3, 2.5, -1.0), floats(-0.6, 0.0, 0.3))
def mandelbrot(re, im):
    x, y, n = re, im, 0
    while x * x + y * y <= 4.0 and n < 50:
        x, y = x * x - y * y + re, 2.0 * x * y + im
        n += 1
    return n


# --- numerics -----------------------------------------------------------------------------------


def bump(x):
    return tf.exp(-(x**2)) * tf.sin(5.0 * x)


@program(floats(0.0, -1.0, 0.5), floats(1.0, 2.0, 0.6), floats(1e-3, 1e-4, 1e-2))
def adaptive_simpson(a, b, tolerance):
    middle = (a + b) / 2
    whole = (b - a) / 6 * (bump(a) + 4 * bump(middle) + bump(b))
    left = (middle - a) / 6 * (bump(a) + 4 * bump((a + middle) / 2) + bump(middle))
    right = (b - middle) / 6 * (bump(middle) + 4 * bump((middle + b) / 2) + bump(b))
    if abs(left + right - whole) < 15 * tolerance:
        return left + right
    return adaptive_simpson(a, middle, tolerance / 2) + adaptive_simpson(middle, b, tolerance / 2)


@program(floats([1.0, 0.0], [0.5, -0.5]), floats(2.0, 0.7))
def adaptive_ode(y, end):
    t, h, steps = 0.0, 0.1, 0
    while t < end and steps < 200:
        h = min(h, end - t)
        k1 = tf.stack([y[1], -y[0]])
        middle = y + 0.5 * h * k1
        k2 = tf.stack([middle[1], -middle[0]])
        error = tf.reduce_max(tf.abs(h * (k2 - k1)))
        if error > 1e-2:
            h = 0.5 * h
            continue
        y, t, steps = y + h * k2, t + h, steps + 1
        if error < 1e-3:
            h = 2.0 * h
    return y, steps


@program(floats(0.5, 2.0, 3.7))
def bisection(target):
    low, high = 0.0, 10.0
    for _ in range(40):
        middle = 0.5 * (low + high)
        if middle**3 + middle < target:
            low = middle
        else:
            high = middle
    return low


@program(tf.constant([1.0, 9.0, 2.0], tf.float64))
def float64_with_literals(x):
    h, total = 0.1, 0.0
    while h < x:
        total, h = total + x * h, h * 1.7
    return total


# --- indexing -----------------------------------------------------------------------------------


@program(ints([3, 1, 2, 0, 5], [5, 4, 3, 2, 1], [1, 1, 1, 0, 0]))
def bubble_sort(x):
    for i in range(5):
        for j in range(4 - i):
            if x[j] > x[j + 1]:
                x[j], x[j + 1] = x[j + 1], x[j]
    return x


@program(floats([3.0, 1.0, 2.0, 0.5], [-1.0, 4.0, 2.5, 9.0]), ints(0, 0), ints(3, 3))
def quicksort(x, low, high):
    if low >= high:
        return x
    pivot, store = x[high], low
    for i in range(low, high):
        if x[i] < pivot:
            x[i], x[store] = x[store], x[i]
            store += 1
    x[store], x[high] = x[high], x[store]
    x = quicksort(x, low, store - 1)
    return quicksort(x, store + 1, high)


@program(ints([1, 3, -1, 5, -1, -1], [1, 2, 3, 4, 5, -1]), ints([2, 4, -1, -1, -1, -1], [-1] * 6), ints(0, 0))
def tree_depth(left, right, node):
    if node < 0:
        return 0
    return 1 + max(tree_depth(left, right, left[node]), tree_depth(left, right, right[node]))


@program(ints([1, 3, 5, 7, 9, 11], [2, 2, 4, 8, 16, 32]), ints(7, 3))
def binary_search(x, target):
    low, high = 0, len(x)
    while low < high:
        middle = (low + high) // 2
        if x[middle] < target:
            low = middle + 1
        else:
            high = middle
    return low


@program(ints(4, 5, 6))
def n_queens(n):
    return place_queens(n, 0, 0, 0, 0)


@ab.autobatch
def place_queens(n, row, columns, rising, falling):
    if row == n:
        return 1
    count = 0
    for column in range(n):
        bit = tf.bitwise.left_shift(1, column)
        up = tf.bitwise.left_shift(1, row + column)
        down = tf.bitwise.left_shift(1, row - column + n)
        if (columns & bit) == 0 and (rising & up) == 0 and (falling & down) == 0:
            count += place_queens(n, row + 1, columns | bit, rising | up, falling | down)
    return count


@program(floats([[1.0, 2.0], [3.0, 4.0]], [[0.0, 1.0], [5.0, -1.0]]), ints(0, 1), ints(-1, 0))
def matrix_items(m, i, j):
    m[i, j] += 10.0
    m[j, 1] = m[i, 0]
    return m[i], m[:, j], m[-1, j]


# --- nests, closures, mixtures of types ---------------------------------------------------------

Particle = namedtuple("Particle", ["position", "velocity", "bounces"])


@program(Particle(floats(1.0, 2.0), floats(0.0, -3.0), ints(0, 5)), ints(30, 12))
def bouncing_ball(ball, steps):
    for _ in range(steps):
        velocity = ball.velocity - 0.98
        position = ball.position + 0.1 * velocity
        if position < 0:
            ball = Particle(-position, -0.8 * velocity, ball.bounces + 1)
        else:
            ball = ball._replace(position=position, velocity=velocity)
    return ball


@program({"value": floats(1.0, 5.0), "count": ints(0, 3)})
def dict_state(state):
    while state["value"] < 100.0:
        state = {"value": state["value"] * 2.0, "count": state["count"] + 1}
        if state["count"] > 4:
            state = {**state, "value": state["value"] + 50.0}
    return state


@program(floats(1.0, -2.0), ints(3, 4))
def nested_tuples(x, n):
    pair = ((x, n), {"total": 0.0})
    for _ in range(n):
        (a, k), extra = pair
        pair = ((a * 1.5, k + 1), {"total": extra["total"] + a})
    return pair


def make_closure(scale, table):
    @ab.autobatch
    def closure(x):
        total = 0.0
        for i in range(3):
            if x > table[i]:
                total += scale * table[i]
            else:
                total -= x
        return total

    return closure


PROGRAMS["closure"] = (make_closure(2.5, tf.constant([0.5, 1.0, 2.0])), (floats(0.7, 3.0, 0.1),))


@program(ints(5, -3, 0), floats(2.5, 1.5, -1.0), tf.constant([True, False, True]))
def mixed_types(i, x, flag):
    ratio = i / 4
    if flag and i:
        x = x + tf.cast(i % 3, tf.float32)
    elif not flag or x < 0:
        x = x - 0.5
    inside = -2 < x <= 4 != i
    count = int(x) + int(flag)
    return x * tf.cast(ratio, tf.float32), inside, count, float(i) / 2


@program(ints(4, 9, 16))
def rebinding(x):
    x = tf.cast(x, tf.float32)
    y = x
    x = tf.stack([x, y])
    x = tf.reduce_sum(x)
    if x > 10:
        x = x > 20
    else:
        x = x > 5
    return x


@program(floats([1.0, 2.0], [3.0, -1.0]), ints(2, 5))
def linear_algebra(x, n):
    matrix = tf.eye(2) * 2.0
    for k in range(n):
        matrix = matrix @ tf.linalg.diag(x / math.sqrt(2.0)) + 0.01 * tf.cast(k, tf.float32)
    return tf.linalg.cholesky(matrix @ tf.transpose(matrix) + tf.eye(2)), tf.linalg.trace(matrix)


@program(floats(0.1, 0.7, 0.3), 7, tf.constant(np.arange(6, dtype=np.float32)), in_axes=(0, None, None))
def shared_arguments(x, n, table):
    total = x
    for i in range(n):
        if total < 10:
            total += table[i % len(table)] * x
    return total


@program(floats(0.1, 20.0), True, 0, in_axes=(0, None, None))
def shared_conditions(x, halve, keep):
    while x > 1:
        if halve:
            x = x / 2
        if keep:
            return x
    return x


@program(ints(3, 5), floats(0.5, 0.1), floats([1.0, 2.0], [3.0, -1.0]))
def handed_on_unchanged(n, x, weights):
    if n <= 0:
        return x
    left = handed_on_unchanged(n - 1, x, weights)
    return left * weights[n % 2] + handed_on_unchanged(n - 2, x, weights) + x


@program(floats(2.0, 9.0))
def default_arguments(x, n=3, scale=0.5):
    if n == 0:
        return x
    return default_arguments(x * scale, n=n - 1) + default_arguments(x, n - 1, scale=0.25)


@ab.primitive(batched=True)
def softmax_of_batch(x):
    return tf.nn.softmax(x, axis=1)


@program(floats([1.0, 2.0, 3.0], [0.0, 0.0, 9.0]), ints(3, 1))
def batched_primitive(x, n):
    for _ in range(n):
        x = x + softmax_of_batch(x)
        if x[0] > 2:
            x = x - 1.0
    return x


@program(tf.constant([[0, 1], [0, 2], [7, 9]], tf.uint32))
def random_walk(key):
    position, steps = 0.0, 0
    while abs(position) < 3.0 and steps < 100:
        key, now = ab.random.split(key)
        position += ab.random.uniform(now, minval=-1.0, maxval=1.0)
        steps += 1
    return position, steps


@program(ints(0, 6, 3, 8), ints(2, 0, 3, 0))
def integer_division_of_idle_members(x, y):
    if y == 0:
        return x
    return x // y + x % y


@program(ints(2, 5, 7))
def swap_in_recursion(n):
    return swap_helper(n, 1, 2)


@ab.autobatch
def swap_helper(n, a, b):
    if n == 0:
        return a * 10 + b
    c = swap_helper(n - 1, b, a)
    return c + swap_helper(n - 2, b, a + b) if n > 1 else c


@program(ints(-1, 2, 100))
def chain_short_circuits(n):
    if n == 100:
        return 5
    if 0 < n < chain_short_circuits(n - 1) + 10 < 100:
        return 1
    return 0


@program(ints(0, 3, 20))
def chain_guards_division(n):
    return 1 if 0 < n < 10 // n < triangle(n) + 7 < 100 else 0


@program(ints(1, 0, 4), floats(0.5, 2.0, -1.0))
def range_of_tensors_gives_python_ints(a, x):
    total, steps = 0.0, 0
    for i in range(a, 5):
        total = total + x * i
    for i in range(0, 9, a + 1):
        steps += i
    return total, steps


@program(tf.constant([1, 2, 40], tf.uint8))
def range_of_bytes(n):
    total = 0
    for i in range(n, -1, -1):
        total += i
    return total


@program(ints([3, 1, 2, 0], [4, 3, 2, 1]))
def scatter_sort(x):
    n = len(x)
    for i in range(n):
        for j in range(n - 1 - i):
            a, b = x[j], x[j + 1]
            if a > b:
                x = tf.tensor_scatter_nd_update(x, [[j], [j + 1]], tf.stack([b, a]))
        last = tf.gather(x, [i, 0])
        if last[0] < 0:
            break
    return x


@program(ints(1, 5, 9))
def loop_variable_after_the_loop(n):
    for i in range(2, 8, 2):
        if i > n:
            break
    return i


@program(ints(1, 2, 3), ints(7, 3, 200))
def python_number_habits(n, m):
    i = 0
    while i < n:
        i += 1
    quotient, remainder = divmod(i * 7, 3)
    kind = 10 if isinstance(i, int) else 20
    kind = kind + 1 if type(i) is int else kind
    return kind, quotient, remainder, i << 3, n in (1, 3), m not in [7, i], max([i, 2])


@program(ints(42, 43, 44))
def python_numbers_are_precise(n):
    t, steps = 0.0, 0
    while t < 1.0:
        t, steps = t + 0.1, steps + 1
    seed = int(n)
    for _ in range(n % 3):
        seed = (seed * 1103515245 + 12345) % 1000003
    return steps, seed


@program(floats([1.0, 4.0, 2.0], [-1.0, 0.0, 3.0]), ints(0, 1))
def comprehensions(x, i):
    first = tf.stack([max(x[k], 2.0) for k in range(3)])
    second = sum(x[i + k] for k in range(2))
    third = max([x[k] for k in range(3)])
    return first, second, third


def doubled(function):
    @functools.wraps(function)
    def wrapper(x):
        return 2 * function(x)

    return wrapper


@doubled
def increment(x):
    return x + 1


PROGRAMS["wrapped"] = (ab.autobatch(increment), (floats(1.0, 2.0, 3.0),))


@program(ints(2, 0, 3))
def static(n):
    return 0 if n <= 0 else 1 + static(n - 1)


@program(floats(1.0, 2.0), ints(1, 3))
def positional_only(x, n, /):
    y: tf.Tensor = tf.stack([x, x])
    for _ in range(n):
        y[1]: float = y[1] + y[0]
    return y


@program(ints(1, 2, 3))
def choice_of_loop_values(n):
    best, i = -1, 0
    while i < n:
        best = i if i * i % 3 == 1 or i > best + 1 else best
        i += 1
    return best


@program(ints(2, 12, 25, 7))
def loops_with_else(n):
    score = 0
    for divisor in range(2, n):
        if n % divisor == 0:
            break
    else:
        score += 100
    while n > 5:
        n -= 4
        if n == 6:
            break
    else:
        if score > 50:
            return -score
        for _ in range(2):
            score += 1
            continue
    return score


@program(floats(1.0, 4.0))
def passing_asserts(x):
    assert x > 0
    while x > 1.5:
        x = tf.sqrt(x)
        assert x < 100.0, f"{x} is large"
    return x


@program(floats([1.0, -2.0, 3.0], [0.5, 0.5, -9.0]), ints(3, 1))
def loops_over_rows(x, n):
    total, last = 0.0, 0.0
    for value in x:
        if value < 0:
            continue
        total += value
    for a, b in [(x, 1.5), (2.0 * x, -1.0)]:
        total += a[0] * b
    for k in [1, 5, n]:
        if k > 4:
            break
        last = last + x[0] * tf.cast(k, tf.float32)
    for weight in (0.5, 0.25):
        total = total + weight * x[1]
    for position, value in enumerate((n, n + 1)):
        total = total * 2.0 + tf.cast(position * value, tf.float32)
    return total, last, (10, 20, 30, 40)[n] * 1.5


THRESHOLD = tf.constant(2)


# --- found by random programs, by reviewers ------------------------------------------------------


@program(ints(1, 2, 3), ints([1, 2, 3], [4, 5, 6], [7, 8, 9]))
def known_names_as_arguments_and_conditions(n, x):
    for k in ab.unroll(range(2)):
        n = n + (k if k % 2 == 0 or factorial(k) > 3 else factorial(THRESHOLD))
    if THRESHOLD:
        n = n + 100
    return [factorial(x[(j + 1) % 3] % 4) for j in (n, n + 1)][1], n, 0 in (1, n, 103)


@program(floats(1.0, -2.0))
def functions_made_in_each_copy(x):
    total = 0.0
    for function, scale in ((tf.sin, 1.0), (tf.cos, 2.0), (tf.abs, 3.0), (tf.square, 4.0)):
        helper = lambda y: function(y) * scale

        def chosen(y):
            if y > 0:
                return helper(y) + scale
            return function(y)

        alias = function
        total = total + helper(x) + chosen(x) * 0.5 + alias(x)
    return total


@program(ints([1, 1, 2, 2, 0], [1, 2, 2, 0, 0], [1, 1, 1, 1, 2]), ints(0, 0, 0))
def balanced_brackets(tokens, depth):
    position = 0
    while position < len(tokens) and (token := tokens[position]) != 0:
        position += 1
        if token == 1:
            depth += 1
        elif token == 2 and (depth := depth - 1) < 0:
            return False, position
        if depth > 3:
            return False, -position
    return depth == 0, position


@program(ints(1, 4, 5))
def queens(n, row=0, columns=0, falling=0, rising=0):
    if row == n:
        return 1
    count = 0
    for column in range(n):
        a, b, c = 1 << column, 1 << (row + column), 1 << (row - column + 8)
        if not (columns & a) and not (falling & b) and not (rising & c):
            count += queens(n, row + 1, columns | a, falling | b, rising | c)
    return count


@program(floats(0.3, 2.2, -1.0), floats(3.0, 3.1, 0.5))
def simpson_with_helpers(a, b, depth=0):
    def f(t):
        return tf.sin(t * t) + 1.5

    def rule(left, right):
        return (right - left) / 6.0 * (f(left) + 4.0 * f((left + right) / 2.0) + f(right))

    middle = (a + b) / 2.0
    halves = rule(a, middle) + rule(middle, b)
    if depth > 5 or abs(halves - rule(a, b)) < 1e-3:
        return halves
    return simpson_with_helpers(a, middle, depth + 1) + adaptive_simpson(middle, b, depth + 1)


@program(floats(1.0, -2.0), ints(2, 0), ints([1, 2], [3, 1]))
def lambdas_with_control_flow(x, n, v):
    sign = lambda y: 1.0 if y > 0 else -1.0
    factorial = lambda k: 1 if k <= 0 else k * factorial(k - 1)
    return sign(x), factorial(n), any(q > 2 for q in v), all([q > 0 for q in (x, x + 5.0)]), 7 % (n + 1), 9 // (n + 2)


@program(floats([1.0, 2.0, 3.0], [4.0, 5.0, 6.0]), floats([9.0, 8.0, 7.0], [6.0, 5.0, 4.0]), ints(0, 1), ints(2, 1))
def write_and_rebind(a, b, i, n):
    if n > 1:
        a[i] = 5.0
        a = b
    return a, b
