"""Number theory, as in exercises."""

# ruff: noqa
import math

from tests.collection.case import case

N = [0, 1, 2, 7, 12, 30, 97, 100]
PAIRS = [12, 18, 7, 0, 100, 45, 17, 9], [18, 12, 3, 5, 75, 60, 51, 28]


@case(*PAIRS)
def gcd(a, b):
    while b:
        a, b = b, a % b
    return abs(a)


@case(*PAIRS)
def lcm(a, b):
    if a == 0 or b == 0:
        return 0
    x, y = a, b
    while y != 0:
        x, y = y, x % y
    return a // x * b


@case(N)
def is_prime(n):
    if n < 2:
        return False
    if n % 2 == 0:
        return n == 2
    for d in range(3, int(n**0.5) + 1, 2):
        if n % d == 0:
            return False
    return True


@case(N)
def count_divisors(n):
    if n <= 0:
        raise ValueError("n must be positive")
    return sum(1 for d in range(1, n + 1) if n % d == 0)


@case(N)
def digit_sum(n):
    total = 0
    while n > 0:
        total += n % 10
        n //= 10
    return total


@case(N)
def reverse_number(n):
    result = 0
    while n:
        n, digit = divmod(n, 10)
        result = result * 10 + digit
    return result


@case(N)
def is_palindrome(n):
    original, reverse = n, 0
    while n > 0:
        reverse = reverse * 10 + n % 10
        n = n // 10
    return original == reverse


@case([2, 3, 5, 10, 7, 2, 3, 1], [10, 5, 3, 4, 13, 30, 20, 99], [1000, 7, 13, 97, 11, 1009, 50, 3])
def power_mod(base, exponent, modulus):
    if modulus == 1:
        return 0
    result = 1
    base = base % modulus
    while exponent > 0:
        if exponent & 1:
            result = (result * base) % modulus
        exponent >>= 1
        base = (base * base) % modulus
    return result


@case([3, 10, 7, 4], [11, 17, 26, 8])
def mod_inverse(a, m):
    old_r, r = a, m
    old_s, s = 1, 0
    while r != 0:
        quotient = old_r // r
        old_r, r = r, old_r - quotient * r
        old_s, s = s, old_s - quotient * s
    if old_r != 1:
        raise ValueError(f"{a} has no inverse modulo {m}")
    return old_s % m


@case([0, 1, 2, 10, 40, 90])
def fibonacci(n):
    a, b = 0, 1
    for _ in range(n):
        a, b = b, a + b
    return a


@case([0, 1, 5, 12, 20])
def factorial(n):
    if n < 0:
        raise ValueError("factorial is not defined for negative numbers")
    result = 1
    for i in range(2, n + 1):
        result *= i
    return result


@case([1, 6, 27, 97])
def collatz_length(n):
    steps = 0
    while n != 1:
        if n % 2 == 0:
            n = n // 2
        else:
            n = 3 * n + 1
        steps += 1
    return steps


@case([1, 6, 28, 496, 12])
def is_perfect(n):
    if n < 2:
        return False
    total = 1
    d = 2
    while d * d <= n:
        if n % d == 0:
            total += d
            if d != n // d:
                total += n // d
        d += 1
    return total == n


@case([1, 36, 97, 1000])
def euler_phi(n):
    result = n
    p = 2
    while p * p <= n:
        if n % p == 0:
            while n % p == 0:
                n //= p
            result -= result // p
        p += 1
    if n > 1:
        result -= result // n
    return result


@case([2, 15, 84, 97])
def largest_prime_factor(n):
    factor = 2
    largest = 1
    while factor <= n // factor:
        if n % factor == 0:
            largest = factor
            n //= factor
        else:
            factor += 1
    return max(largest, n)


@case([10, 20, 50])
def count_primes(limit):
    sieve = [True] * 60
    sieve[0] = sieve[1] = False
    for i in range(2, 8):
        if sieve[i]:
            for j in range(i * i, 60, i):
                sieve[j] = False
    return sum(1 for k in range(limit) if sieve[k])


@case([153, 370, 100, 9474])
def is_armstrong(n):
    digits = int(math.log10(n)) + 1
    total, rest = 0, n
    while rest > 0:
        total += (rest % 10) ** digits
        rest //= 10
    return total == n


@case([5, 10, 6], [2, 3, 6])
def binomial(n, k):
    if k < 0 or k > n:
        return 0
    k = min(k, n - k)
    result = 1
    for i in range(k):
        result = result * (n - i) // (i + 1)
    return result


@case([0, 1, 4, 10])
def catalan(n):
    result = 1
    for k in range(2, n + 1):
        result = result * (n + k) // k
    return result


@case([0, 1, 15, 16, 17, 99])
def integer_sqrt(n):
    if n < 0:
        raise ValueError
    if n == 0:
        return 0
    x = n
    y = (x + 1) // 2
    while y < x:
        x = y
        y = (x + n // x) // 2
    return x


@case([1, 10, 255])
def to_binary_digits(n):
    digits = []
    while n > 0:
        digits.append(n % 2)
        n //= 2
    return len(digits)


@case([1, 2, 10])
def harmonic(n):
    return sum(1 / k for k in range(1, n + 1))


@case([3, 5, 13, 9])
def is_fibonacci(n):
    def perfect_square(x):
        s = int(math.sqrt(x))
        return s * s == x

    return perfect_square(5 * n * n + 4) or perfect_square(5 * n * n - 4)


@case([4, 9, 15, 100])
def digital_root(n):
    return 1 + (n - 1) % 9 if n else 0
