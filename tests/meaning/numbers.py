"""Ints of any width, division by zero, Python's floats, bools as numbers."""

# ruff: noqa
import numpy as np
import tensorflow as tf

import autobatch as ab
from tests.meaning.case import ARRAYS, X, case, i32, i64

N = np.array


@case(N([3, 40], i32))
def grows_then_cast(x):
    n = 0
    while x > 0:
        n = n * 2 + 1
        x = x - 1
    return tf.cast(n, tf.float64)


@case(N([3, 40], i32))
def grows_then_abs(x):
    n = 0
    while x > 0:
        n = n * 2 + 1
        x = x - 1
    return abs(n) + 0.0


@case(N([3, 40], i32), fails=(1,))
def grows_then_tfabs(x):
    n = 0
    while x > 0:
        n = n * 2 + 1
        x = x - 1
    return tf.abs(n)


@case(N([3, 40], i32), fails=(1,))
def grows_then_stack(x):
    n = 0
    while x > 0:
        n = n * 2 + 1
        x = x - 1
    return tf.stack([n, n])


@case(N([3, 40], i32))
def grows_then_key(x):
    n = 0
    while x > 0:
        n = n * 2 + 1
        x = x - 1
    return ab.random.uniform(ab.random.key(n))


@case(N([3, 40], i32))
def grows_then_fold(x):
    n = 0
    while x > 0:
        n = n * 2 + 1
        x = x - 1
    return ab.random.uniform(ab.random.fold_in(ab.random.key(1), n))


@case(N([3, 40], i32), fails=(1,))
def joins(x):
    n = 0
    k = x
    while k > 0:
        n = n * 2 + 1
        k = k - 1
    return x if x < 5 else n


@case(N([3, 40], i32), fails=(1,))
def joins_if(x):
    n = 0
    k = x
    while k > 0:
        n = n * 2 + 1
        k = k - 1
    if x < 5:
        r = x
    else:
        r = n
    return r


@case(N([3, 40], i32), fails=(1,))
def joins_add(x):
    n = 0
    k = x
    while k > 0:
        n = n * 2 + 1
        k = k - 1
    return x + n


@case(N([3, 40], i32))
def compares(x):
    n = 0
    k = x
    while k > 0:
        n = n * 2 + 1
        k = k - 1
    return n == x or n < x


@case(N([3, 63], i32), fails=(1,))
def edge_abs(x):
    n = -1
    while x > 0:
        n = n * 2
        x = x - 1
    return abs(n) % 1000


@case(N([3, 63], i32), fails=(1,))
def edge_neg(x):
    n = -1
    while x > 0:
        n = n * 2
        x = x - 1
    return -n % 1000


@case(N([3, 63], i32), fails=(1,))
def edge_div(x):
    n = -1
    while x > 0:
        n = n * 2
        x = x - 1
    return n // -1 % 1000


@case(N([3, 63], i32), fails=(1,))
def edge_sub(x):
    n = -1
    while x > 0:
        n = n * 2
        x = x - 1
    return (n - 1) % 1000


@case(N([3, 62], i32), fails=(1,))
def edge_add(x):
    n = 1
    while x > 0:
        n = n * 2 + 1
        x = x - 1
    return (n + 1) % 1000


@case(N([3, 53], i32))
def float_equal(x):
    n = 1
    while x > 0:
        n = n * 2
        x = x - 1
    return n + 1 == float(n)


@case(N([3, 38], i32), fails=(1,))
def divides(x):
    n = 1
    while x > 0:
        n = n * 3 + 1
        x = x - 1
    return n / 3


@case(N([3, 62, 63], i64), fails=(2,))
def two_power(n):
    return 2**n


@case(N([3, 30, 50], i64), fails=(2,))
def weak_power(x):
    n = 0
    while n < x:
        n = n + 1
    return 3**n % 1000


@case(N([3, 0], i32))
def div0(x):
    return x // 0


@case(N([3, 0], i32))
def mod0(x):
    return x % 0


ZERO = 0


@case(N([3, 0], i32))
def div_global(x):
    return x // ZERO


@case(N([3, 0], i32))
def div0_branch(x):
    if x > 2:
        return x // ZERO
    return x


@case(N([3, 0], i32))
def div_lambda(x):
    f = lambda y: 7 // y
    return f(x)


@case(N([3, 0], i32))
def mod_lambda(x):
    return (lambda y: 7 % y)(x)


@case(N([3, 0], i32))
def div_comp(x):
    return sum([7 // (x - k) for k in range(3)])


@case(N([3, 0], i32))
def div_nested(x):
    def g(y):
        return 7 // y

    return g(x) + 1


def helper_div(a, b):
    return a // b


@case(N([3, 0], i32))
def div_helper(x):
    return helper_div(7, x)


@case(N([3, 2], i32), N([3, -1], i32), fails=(1,))
def neg_exp(x, y):
    return 2**y + 0 * x


@case(N([3, 2], i32), N([3, -1], i32), fails=(1,))
def pow_builtin(x, y):
    return pow(x, y)


@case(N([3, 2], i32), N([3, -1], i32), fails=(1,))
def pow_lambda(x, y):
    return (lambda a, b: a**b)(x, y)


@case(N([3, 2], i32), N([3, -1], i32))
def neg_shift(x, y):
    return x << y


@case(N([3, 2], i32), N([3, -1], i32))
def neg_rshift(x, y):
    return x >> y


@case(N([-3, 2], i32), N([40, 70], i32))
def wide_rshift(x, y):
    return x >> y


@case(N([3, -1], i32))
def lit_shift(y):
    return 1 << y


@case(N([1.0, 0.3, -5.0, 5.0, 1.0]), N([0.1, 0.1, np.inf, -np.inf, 0.0]))
def ffloordiv(x, y):
    return x // y


@case(N([1.0, 0.3, -5.0, 5.0, -1.0, 1.0]), N([0.1, 0.1, np.inf, -np.inf, 3.0, 0.0]))
def fmod(x, y):
    return x % y


@case(N([1.0, 0.3]), N([0.0, 0.1]))
def fdiv(x, y):
    return x / y


@case(N([0.0, 10.0, 2.0]), N([-1.0, 400.0, 0.5]))
def fpow(x, y):
    return x**y


@case(N([-4.0, 4.0]), N([0.5, 0.5]))
def fpow_neg(x, y):
    return x**y


@case(N([1.0, 0.3, -5.0]), N([0.1, 0.1, 2.0]))
def fdivmod(x, y):
    q, r = divmod(x, y)
    return q + r


@case(N([1, 7], i32), N([2, 0], i32))
def idiv_true(x, y):
    return x / y


@case(N([0.05, 0.25]))
def weak_fdiv(x):
    t = 0.0
    while t < x:
        t = t + 0.1
    return 1.0 // t


@case(N([150.0, 350.0]))
def weak_fpow(x):
    t = 0.0
    while t < x:
        t = t + 100.0
    return 10.0**t


@case(N([0.5, 2.0]))
def weak_fpow0(x):
    t = 0.0
    while t < x:
        t = t + 1.0
    return 0.0 ** (1.0 - t)


@case(N([1.5, 3e9]), fails=(1,))
def int_of_float(x):
    return int(x * 1e10)


@case(N([0.5, 1.5, 2.5, -0.5]))
def round_half(x):
    return round(x)


@case(N([3, 18, 19, 25], i32), fails=(2, 3))
def int_mul_overflow(x):
    n = 1
    while x > 0:
        n = n * 10
        x = x - 1
    return n % 7


@case(N([5, 20, 21], i64), fails=(2,))
def fact(n):
    r = 1
    for k in range(2, n + 1):
        r = r * k
    return r


@case(N([[1, 2, 3], [4, 5, 6]], i32), N([-1, -4], i32))
def neg_index(x, i):
    return x[i]


@case(N([2, -2, 3], i32))
def floor_neg(x):
    return -7 // x


@case(N([2, -3, 3], i32))
def mod_neg(x):
    return -7 % x


@case(N([7.5, -7.5]), N([2, 2], i32))
def f_floor_int(x, y):
    return x // y


@case(N([0, 2, 5], i32))
def chain_cmp(n):
    k = 0
    while k < n:
        k = k + 1
    return 0 < k <= 3 != k


@case(N([0, 2, 5], i32))
def bool_arith(x):
    return (x > 1) + (x > 2) * 2


@case(N([0, 2, 5], i32))
def bool_neg(x):
    return -(x > 1)


@case(N([0, 2], i32), N([[1, 2, 3], [4, 5, 6]], i32), refused="index-type")
def bool_idx(x, t):
    return t[x > 1]


@case(N([0, 2], i32))
def bool_div(x):
    return (x > 1) / 2


@case(N([0, 2, 5], i32))
def bool_sub(x):
    return (x > 1) - (x > 2)


@case(N([0, 2, 5], i32), refused="tensorflow-refuses")
def bool_lt(x):
    return (x > 1) < (x > 2)


@case(N([0, 2, 5], i32))
def bool_eq_int(x):
    return (x > 1) == 1


@case(N([0, 2, 5], i32))
def int_and_bool(x):
    return x & (x > 1)


@case(N([0, 2, 5], i32))
def int_xor(x):
    n = 0
    while n < x:
        n += 1
    return n ^ 5 | 8 & ~n


@case(N([0, 2, 5], i32))
def sum_bools(x):
    return sum([x > k for k in range(4)])


@case(N([0, 2, 5], i32))
def max_mixed(x):
    return max(x, 2.5)


@case(N([np.nan, 1.0]), N([1.0, np.nan]))
def nan_max(x, y):
    return max(x, y)


@case(N([np.nan, 1.0]), N([1.0, np.nan]))
def nan_min(x, y):
    return min(x, y)


@case(N([np.nan, 1.7, -1.7]))
def int_nan(x):
    return int(x)


@case(N([1, 2], i32))
def mult_str(x):
    return len("ab" * 3) + x


@case(N([9007199254740992.0, 1.0]))
def float_int_cmp(x):
    return x == 9007199254740993


@case(N([0, 1, 2], i32))
def i64_float_mix(x):
    n = 0
    while n < x:
        n += 1
    return (n + 9007199254740992) * 1.0 == 9007199254740992.0


@case(N([0, 1, 2], i32))
def weak_floor_float(x):
    n = 0.0
    while n < x:
        n = n + 1.0
    return int(n // 0.1)


@case(N([3, 62, 63, 64, 70], i32), fails=(1, 2, 3, 4))
def shl_big(x):
    n = 1
    k = 0
    while k < x:
        k += 1
    return n << k


@case(N([1.0, 2.0]))
def exp_div(x):
    return 1 / (x - x)


@case(N([1.0, 2.0]))
def mod_float_lit(x):
    return x % 0.0


@case(X, refused="int-beyond-dtype")
def adds_a_wide_literal(x):
    return x + 3_000_000_000


@case(X)
def compares_with_a_wide_literal(x):
    return x < 3_000_000_000 and x != 3_000_000_000 and x > -3_000_000_000


@case(X, refused="int-beyond-dtype")
def chooses_a_wide_literal(x):
    return x if x > 1 else 3_000_000_000


@case(ARRAYS, refused="int-beyond-dtype")
def writes_a_wide_literal(a):
    a[0] = 3_000_000_000
    return a


@case(X, refused="path-types-differ")
def joins_a_wide_literal(x):
    y = 3_000_000_000
    if x > 1:
        y = x
    return y


@case(i64([1, 2, 3]))
def constant_arrays_keep_their_dtype(n):
    a = np.array([1.5, 2.5])
    return a + n, n + a, n * a, a - n, a > n, n < a, a**n, n / a, n % a, np.float32(1.5) * n


@case(N([1.5, -2.0]))
def constant_integers_meet_floats(x):
    k = np.array([1, 2, 3])
    return k * x, x - k, k // x, x**k, np.int64(3) + x


@case(N([1.5, -2.0, 3.0]), N([1.0, 5.0, 2.0]))
def extremes_by_a_key(x, y):
    return max([x, y], key=lambda v: -v * v), min((x, y), (y, x), key=lambda p: p[0]), max((v * 2 for v in (x, y)))


@case(N([0, 5, 6, 255, -3]), N([0, 3, 4, 9, 5]))
def shifted_by_a_counter(x, n):
    ones = mask = 0
    for i in range(n):
        if (x >> i) & 1:
            ones += 1
        mask |= (i + 1) << (x & 1)
    return ones, mask


@case(X)
def two_names_of_a_number(x):
    s = 0
    t = s
    for i in range(x):
        s += 1
    return s * 10 + t


@case(np.array([-(2**63), 2**63 - 1, 5, -(2**62)]))
def compares_with_floats_at_the_edge(k):
    i = int(k)
    return i == -(2.0**63), i > -(2.0**63), i <= -(2.0**63), i < 2.0**63


@case(X, refused="int-beyond-dtype")
def tensorflow_gets_an_int_beside_a_narrow_one(x):
    low = -3
    while low < x:
        low += 1
    return tf.maximum(low, 3000000000)


@case(np.array([10**6, 10**12, 17, 2**62]), fails=(1, 3))
def products_of_integers_that_leave_their_width(n):
    low, high = 0, n
    while low < high:
        mid = (low + high + 1) // 2
        if mid * mid <= n:
            low = mid
        else:
            high = mid - 1
    return low


@case(np.array([7, 46341, -46341, 46340], np.int32), np.array([3, 46341, 46341, -46340], np.int32), fails=(1, 2))
def products_of_small_integers_that_leave_their_width(a, b):
    return a * b


@case(N([1, 2, 7]), N([2.5, 3.5, 1.5]))
def int_or_float(n, x):
    y = n
    if n > 1:
        y = x
    z = n / 2 if n % 2 else n // 2
    return y * 2, z, y // 1


@case(N([1, 2]), refused="int-or-float")
def asked_which(n):
    y = n / 2 if n % 2 else n
    return isinstance(y, int)


@case(np.array([0, 7, -3, 4_000_000_000, -5_000_000_000, 3_037_000_499, 2_097_151]), fails=(3, 4))
def squares_beyond_64_bits(n):
    return n**2, (n % 1000) ** 6, -(n**2)


@case(np.array([0, 7, -3, 4_000_000_000, 2_097_151]), fails=(3,))
def cubes_beyond_64_bits(n):
    return pow(n, 3)
