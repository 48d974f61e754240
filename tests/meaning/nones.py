"""Variables and results that are None for some members; a batch cannot return None."""

# ruff: noqa
import numpy as np

import autobatch as ab
from tests.meaning.case import case

N = np.array

x = np.array([0, 1, 2, 3, 4, 5, 9, 16, 49, 50, 7, 6])
n = np.array([0, 1, 2, 3, 4, 5, 6, 7, 8, 3, 4, 2])


@case(x, n)
def best_of(x, n):
    best = None
    for i in range(n):
        v = (x * (i + 3)) % 7
        if best is None or v > best:
            best = v
    return -1 if best is None else best


@case(x, n, fails=[0, 1, 2, 3, 5, 9, 10, 11])
def find(x, n):
    for i in range(n):
        if i * i == x:
            return i
    return None


@case(x, n)
def use(x, n):
    i = find(x, n)
    if i is None:
        return -1
    return i + 10


@case(x, n)
def prev(x, n):
    last = None
    total = 0
    for i in range(n):
        y = (x + i * 5) % 11
        if last is not None:
            total += abs(y - last)
        last = y
    return total


@case(x, n)
def two(x, n):
    lo, hi = None, None
    for i in range(n):
        y = (x * i + 3) % 13
        if lo is None or y < lo:
            lo = y
        if hi is None or y > hi:
            hi = y
    if lo is None or hi is None:
        return -1
    return hi * 100 + lo


@case(x, n)
def maybe(x, n):
    y = x / n if n > 2 else None
    if y is None:
        return 0.0
    return y + 1


@case(x, n, fails=[0])
def rec(x, n):
    if n <= 0:
        return None
    if x % n == 0:
        return n
    return rec(x, n - 1)


@case(x, n)
def rec2(x, n):
    r = rec(x, n)
    if not r:
        return 0
    return r


@case(x, n)
def reset(x, n):
    start, best = None, 0
    for i in range(n):
        if (x >> i) & 1:
            if start is None:
                start = i
            best = max(best, i - start + 1)
        else:
            start = None
    return best


@case(x, n, fails=[0])
def tup(x, n):
    best = None
    for i in range(n):
        if best is None or (x * i) % 5 > best[0]:
            best = ((x * i) % 5, i)
    return best


@case(x, n)
def default(x, n, y=None):
    if y is None:
        y = n + 1
    return x * y


@case(x, n)
def calls(x, n):
    return default(x, n) + default(x, n, x)


@case(x, n, fails=[0, 1, 2, 4, 7, 9, 11])
def lists(x, n):
    found = None
    xs = []
    for i in range(n):
        xs.append((x * i) % 4)
        if found is None and xs[-1] == 3:
            found = len(xs)
    return found


@case(x, n, fails=[0])
def flo(x, n):
    guess = None
    for k in range(n):
        guess = float(x) if guess is None else 0.5 * (guess + x / (guess + 1.0))
    return guess


@case(x, n, fails=[0])
def computes_with_none(x, n):
    best = None
    while n > 0:
        best = n * x
        n -= 3
    return best + 1


@case(x, n)
def in_arms(x, n):
    low = None if n < 3 else x
    high = x + n if n % 2 else None
    if low is not None and high is not None and low < high:
        return high - low
    if low is None and high is None:
        return -1
    return 0 if high is None else high


@case(x, n)
def handed_on(x, n):
    def width(low, high):
        if low is None or high is None:
            return 0
        return high - low

    low = high = None
    for i in range(n):
        if (x * i) % 3 == 1:
            low = i if low is None else low
            high = i
    return width(low, high) + width(None, n) + width(x, n)


@case(x, n)
def of_lists(x, n):
    longest = None
    for i in range(n):
        xs = [i * k % (x + 1) for k in range(i)]
        if longest is None or len(xs) > len(longest):
            longest = xs
    return 0 if longest is None else sum(longest) + len(longest)


@case(x, n)
def within_try(x, n):
    best = None
    for i in range(n):
        try:
            if best is None or x // i < best:
                best = x // i
        except ZeroDivisionError:
            best = None
    return -1 if best is None else best


@case(x, n)
def unpacked(x, n):
    def divided(a, b):
        if b == 0:
            return None
        return a // b, a % b

    found = divided(x, n % 3)
    if found is None:
        return -1
    q, r = found
    return q * 10 + r


@case(x, n)
def is_true(x, n):
    last = None
    count = 0
    for i in range(n):
        if last:
            count += 1
        if not last:
            count += 10
        last = (x + i) % 3 if i % 2 else None
    return count


@case(x, n)
def takes_none(x, n):
    best = None
    for i in range(n):
        if best is None or x * i % 5 > best:
            best = x * i % 5
    a = (best is None, best is not None, 1)
    b = best or x
    c = best in (None, 2)
    d = best == 2, best != 2
    e = bool(best)
    f = best + 1 if best else -1
    g = not best and n < 3
    return a, b, c, d, e, f, g


@case(x, n)
def two_that_may_be_none(x, n):
    low = x if x > 3 else None
    high = n if n > 3 else None
    return low == high, (low or 0) + (high or 0), low is None or high is None or low < high


@case(x, n)
def calls_that_return_none(x, n):
    return find(x, n) == find(x + 1, n), find(x, n) is None, find(x, n) or -1, not find(4, n)


@case(x, n)
def a_tuple_or_none(x, n):
    best = None
    for i in range(n):
        if best is None or x * i % 5 > best[0]:
            best = (x * i % 5, i)
    return best[1] if best else -1


@case(x, n)
def computing_with_none_is_caught(x, n):
    low = x if x > 3 else None
    try:
        low = low + n
    except TypeError:
        low = -1
    total = 0
    try:
        total = 5 - (None if n < 3 else n)
    except (TypeError, ValueError) as e:
        total = 100
    return low, total


@case(x, n, fails=[0, 1, 2, 3])
def none_in_a_tuple(x, n):
    low = x if x > 3 else None
    pair = (low, n)
    return pair[1]


def collected(n, found=None):
    if found is None:
        found = []
    if n < 3:
        found.append(n)
        return found
    collected(n // 3, found)
    found.append(n % 3)
    return found


@case(x, n)
def a_list_that_is_made_where_none_is_given(x, n):
    digits = collected(x)
    more = [7]
    collected(n, more)
    return sum(digits), sum(d * k for k, d in enumerate(more)), len(collected(x + n))


@case(x)
def appended_to_a_default(x, found=None):
    if found is None:
        found = []
    found.append(x)
    return len(found), found[0]


@case(n)
def given_only_to_itself(n, found=None):
    if found is None:
        found = [1]
    if n <= 0:
        return len(found)
    found.append(n)
    return given_only_to_itself(n - 1, found) + found[-1]


def between(x, low=None, high=None):
    if low is None and high is None:
        return x
    if low is None:
        return x if x < high else high
    if high is None:
        low = low + 1
        return x if x > low else low
    return x * low + high


@case(x, n)
def each_default_given_or_not(x, n):
    return between(x), between(x, n), between(x, high=n), between(x, n, 5), between(x, None, 3), between(n, 1, None)


def evens(n, steps=None):
    if steps is None:
        steps = n
    return True if steps == 0 else odds(n, steps - 1)


def odds(n, steps=None):
    if steps is None:
        steps = n
    return False if steps == 0 else evens(n, steps - 1)


@case(n)
def defaults_of_functions_that_call_each_other(n):
    return evens(n), odds(n)


@case(x, n)
def an_argument_that_becomes_none(x, n):
    def chosen(x, y=None):
        if x % 2 == 0:
            y = None
        if y is None:
            return 0
        return y

    return chosen(x), chosen(x, n)


@case(n, x)
def set_in_a_loop(n, x, first=None, second=None):
    while n > 3:
        if first is None:
            first = n
        n -= 1
    while second is None:
        second = x
    return n + second if first is None else n + first + second


@case(x, n)
def none_of_several_names_at_once(x, n):
    a, b = None, [None, 3][1]
    if x > 3:
        a = n
    if a is None:
        return b
    return a


@case(N([1, 2]))
def none_as_an_operand(n):
    s = None
    try:
        s = s + n
    except ValueError:
        s = -5
    except TypeError:
        s = n
    try:
        if n < None:
            s = 3
    except TypeError:
        s = s + 1
    return s, n == None, n != None


def or_zero(a):
    return 0 if a is None else a + 1


def first_of(a, b):
    return a if a is not None else b


def is_missing(v):
    return v is None


def labelled(a, *others):
    return -1 if a is None else a + len(others)


@case(x, n)
def none_given_to_helpers_that_test_it(x, n):
    best = None
    for k in range(n):
        if k * k > x:
            best = k
            break
    a = n if n > 2 else None
    return or_zero(best), first_of(a, 7) + first_of(None, 3), first_of(best, a) or 5, 1 if is_missing(a) else 2


@case(x, n)
def none_given_to_lambdas_that_test_it(x, n):
    a = None
    if n > 2:
        a = x
    gone = lambda v: v is None
    either = lambda v, w: w if v is None else v
    return gone(a), either(a, n), either(n, a)


@case(x, n, fails=[0, 1, 2, 11])
def none_given_to_helpers_that_compute_with_it(x, n):
    def twice(v):
        return v * 2

    a = None
    if n > 2:
        a = x
    return twice(a) + or_zero(a)


@case(x, n)
def none_as_a_first_operand(x, n):
    a = None
    if n > 2:
        a = x
    b = a and 5
    c = a and n
    d = (a or None) and x + 1
    return b is None, 0 if c is None else c, d or 7


@case(x, n)
def helpers_that_return_none_for_none(x, n):
    def halved(v):
        return v and v // 2

    a = halved(x if n > 3 else None)
    return -1 if a is None else a


@case(x, n)
def operands_that_are_not_reached(x, n):
    best = None
    for k in range(n):
        if k * k > x:
            best = k
    found = best is not None
    a = 1 if found and best > 3 else 0
    b = best if n % 2 else 5
    c = best + 1 if found else 0
    d = not found or best < 3
    while found and best < 10:
        best += 3
    return a, -1 if b is None else b, c, d, best or 0


@case(x, n)
def none_given_to_a_helper_within_try(x, n):
    def twice(v):
        return v * 2

    a = x if n > 3 else None
    try:
        b = twice(a) + or_zero(a)
    except TypeError:
        b = or_zero(a)
    return b


@case(x, n)
def none_among_several_names_at_once(x, n):
    a, b, s = None, find(x, n), 0
    c = -1 if b is None else b
    a, b = b, a
    d, e, f = a, n, None
    if n > 3:
        d, f, s = f, d, s + 1
    return c, or_zero(a), or_zero(b), -1 if d is None else d, e, -1 if f is None else f, s


@case(x, n)
def exchanged_in_a_loop(x, n):
    a, b = None, None if x % 2 else x
    for i in range(n):
        try:
            a, b = b, a
            if b is None and i == 2:
                b = i
        except TypeError:
            a = 3
    return or_zero(a), or_zero(b), a is None, b is None


class Seen:
    def __init__(self, v):
        self.v, self.last = v, None


def nothing(v):
    return None


@case(x, n)
def none_for_all_beside_none_for_some(x, n):
    seen = Seen(x)
    a = None
    for _ in range(n):
        a = x
    b, c = seen.last, nothing(x)
    if n > 3:
        b = c = x
    return or_zero(seen.last), or_zero(a), or_zero(b), or_zero(nothing(x)), first_of(nothing(n), c) or 2


@case(x, n)
def none_for_all_that_is_copied(x, n):
    seen = Seen(x)
    a, count = None, 0
    for k in range(n):
        a = seen.last
        b = a
        if b is None:
            count += 1
        a = b if k % 2 else x
    c = nothing(x)
    if a is not None and a > 3:
        c = a
    return count, -1 if a is None else a, or_zero(c)


@case(N([0, 1, -3]))
def computed_with_none_where_nobody_gets(n):
    a = None
    s = 0
    if n < 5:
        s = (a + 1 if n > 1 else n) % 13
    return s, n > 1 and a > 3


@case(n)
def inside_other_expressions(n):
    v = None if n > 2 else n
    return int(v is None) + 2 * (v is not None), [v is None, n > 1], (1 if v is None else v, not (v is None))


def one_from_two(a):
    return None if a < 2 else a


@case(n)
def whether_it_is_none_or_none(n):
    found = None if n > 6 else one_from_two(n) is None
    other = one_from_two(n) is not None if n > 3 else None
    return -1 if found is None else int(found), 7 if other is None else int(other)


@case(n)
def asked_what_it_is(n):
    v = None if n > 4 else n
    kinds = [isinstance(v, (int, type(None))), type(v) is int, hasattr(v, "nothing"), v.__class__ is int]
    return kinds, {None: 1, 2: 2}.get(v, 9)


class Kept:
    def __init__(self, v):
        self.v, self.last = v, None


def from_three(k):
    return None if k < 3 else k


@case(n)
def another_in_its_place(n):
    b = from_three(n)
    p, xs, d = Kept(n), [n], {}
    p.last, p.v = b or 5, b if b is not None else -1
    xs.append(b or 7)
    xs.insert(0, b if b else 2)
    d[1] = b or 3
    p.last += p.last or 1
    return p.last, p.v, xs, d[1], max(b or 4, 5), [b or 0, n][n % 2], (b or 1) + abs(b or -2), b and b + 1 or n


def unless_of_three(a):
    return a if a % 3 else None


@case(N([0, 5, -3, 2]), N([3, 4, 1, 0]))
def choices_within_choices(n, m):
    s, k = 0, 0
    arm = m if n > 1 else max(unless_of_three(n) or m, 3)
    either = n > 1 and min(unless_of_three(n) or 7, 4) > 2
    while k < max(unless_of_three(k) or 2, 1):
        k += 1
    for i in range(3):
        s += int(unless_of_three(i) or 9) + [4, 5, 6][(unless_of_three(i) or 0) % 3]
    return arm, either, k, s, sum(max(unless_of_three(v) or m, 1) for v in (n, m, 3))


@case(N([0, 5, -3]), N([3, 4, 1]))
def behind_what_changes(n, m):
    o, xs, i = Kept(n), [n], iter([n, m, 3])

    def put(a):
        xs.append(a)
        return a

    first = (next(i), abs(next(i) or 9)), (put(m), abs(xs[-1] or 9))
    o.v = put(7) + (xs[-1] or 3)
    xs.append(put(n) + (xs[-1] or 2))
    xs.append(xs[-1] + (put(4) or 3))
    return first, o.v, xs


@case(n, np.array([1, 3, 3, 0, 2, 2, 9, 4, 8, 3, 2, 0]))
def tests_of_what_may_be_none_as_numbers(n, k):
    x = None if n < 3 else n
    y = None if k < 2 else k
    counts = [int(not x), int(x == 3), [7, 8][x == 4], int(x == y) + (x != y), {True: 3, False: 4}[bool(x)]]
    counts.append(x == k)
    counts[0] += x == 5
    found = any(x == i for i in range(6)), len([i for i in range(3) if x is None]), x not in range(1, 5)
    return counts, sum([x == 2, n == 3]), [x == 2, n == 3].count(True), found, (bool(x), n) < (True, 4)


@case(n)
def runs_of_equal_ones(n):
    runs, before, low, high = 0, None, None, None
    for v in [n % 3, n % 2, n % 2, 1]:
        runs += int(v != before)
        before = v
        if low is None or v < low:
            low = v
        if high is None or v > high:
            high = v
    return runs, int(low == high)


@case(n)
def what_needs_a_value_in_a_try(n):
    x = None if n < 3 else n
    xs = None if n < 4 else [n, 2]
    found = []
    for k in range(5):
        try:
            if k == 0:
                found.append(len(xs))
            elif k == 1:
                found.append(max(x, 4))
            elif k == 2:
                for v in xs:
                    found.append(v)
            elif k == 3:
                found.append({3: 5, 4: 1}[x])
            else:
                found.append(sum(range(x)))
        except TypeError:
            found.append(-1)
        except KeyError:
            found.append(-2)
    return found


@case(n, np.array([1, 3, 3, 0, 2, 2, 9, 4, 8, 3, 2, 0]), fails=(6, 8))
def what_is_only_said_of_none(n, k):
    x = None if n < 3 else n
    assert k < 8, x * 2
    s = 0
    try:
        assert k < 4, x * 2
    except AssertionError:
        s += 1
    except TypeError:
        s += 2
    try:
        if k == 3:
            raise ValueError(x + 1)
    except ValueError:
        s += 10
    except TypeError:
        s += 20
    print(x, f"{x} of {k}")
    return s


@case(n, np.array([1, 3, 3, 0, 2, 2, 9, 4, 8, 3, 2, 0]))
def texts_that_may_be_none(n, k):
    x = None if n < 2 else "ab" if n > 4 else "c"
    y = None if n < 3 else n
    found = [x in (n, 3, k), "pq"[not x] == "p", (lambda v: 1 if v else 0)(x) == 1, (x, 1) == ("c", 1)]
    return found, (y, 1) == (n, 1), sum(1 for i in range(3) if x == "c")


def grown(a):
    return a + 1


@case(n, np.array([1, 3, 3, 0, 2, 2, 9, 4, 8, 3, 2, 0]))
def operands_of_helpers_that_only_some_need(n, k):
    a = None if n < 3 else n
    return grown(a + 1 if n > 3 else n) % 13, grown((a or 3) + 1)
