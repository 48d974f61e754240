"""Bit tricks."""

# ruff: noqa
from tests.collection.case import case

N = [0, 1, 5, 12, 255, 1023]


@case(N)
def count_bits(n):
    count = 0
    while n:
        n &= n - 1
        count += 1
    return count


@case(N)
def is_power_of_two(n):
    return n > 0 and n & (n - 1) == 0


@case(N)
def parity(n):
    p = 0
    while n:
        p ^= n & 1
        n >>= 1
    return p


@case(N)
def next_power_of_two(n):
    if n < 1:
        return 1
    p = 1
    while p < n:
        p <<= 1
    return p


@case(N)
def reverse_byte(n):
    result = 0
    for _ in range(8):
        result = (result << 1) | (n & 1)
        n >>= 1
    return result


@case(N, [5, 3, 1, 7, 128, 1000])
def hamming_distance(x, y):
    return bin(x ^ y).count("1")


@case(N)
def gray_code(n):
    return n ^ (n >> 1)


@case(N)
def bit_length(n):
    return n.bit_length()


@case(N, [3, 5, 1, 2, 7, 9])
def add_without_plus(a, b):
    while b != 0:
        carry = a & b
        a = a ^ b
        b = carry << 1
    return a


@case(N)
def lowest_set_bit(n):
    return n & -n


@case([[1, 2, 1, 3, 3], [7, 7, 5, 2, 2]])
def single_number(numbers):
    result = 0
    for x in numbers:
        result ^= x
    return result


@case(N, [0, 1, 2, 3, 4, 5])
def set_bit(n, k):
    if not 0 <= k < 32:
        raise ValueError("bit index out of range")
    return n | (1 << k)
