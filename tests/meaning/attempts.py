"""``try``: what is caught, where control goes on, and what has happened by then."""

# ruff: noqa
import contextlib
import math
from contextlib import suppress

import numpy as np

import autobatch as ab
from tests.meaning.case import case

N = np.array
n = N([3, 0, -2, 5, 1])
x = N([0.5, 0.0, -2.0, 1e200])


@case(n)
def division(n):
    try:
        return 10 // n
    except ZeroDivisionError:
        return -1


@case(n, n[::-1])
def several_clauses(n, m):
    xs = [4, 5, 6]
    try:
        y = xs[n] + 10 % m
    except ZeroDivisionError:
        y = -1
    except (IndexError, KeyError):
        y = -2
    else:
        y += 100
    return y


@case(n)
def first_clause_that_fits(n):
    try:
        y = 6 // n
    except ArithmeticError:
        y = 1
    except ZeroDivisionError:
        y = 2
    return y


@case(n)
def bare_clause(n):
    try:
        if n > 2:
            raise KeyError(n)
        y = 6 // n
    except:
        y = n * 100
    return y


@case(n)
def not_caught(n):
    try:
        y = [1, 2, 3][n]
    except ZeroDivisionError:
        y = -1
    return y


@case(n)
def what_was_set_before(n):
    a = b = 1
    try:
        a = 2
        b = 10 // n
        a = 3
        c = 7 // (n - 1)
        a = 4 + c
    except ZeroDivisionError:
        b += 100
    return a, b


@case(n)
def nothing_of_a_failing_statement(n):
    xs, k = [1, 2, 3, 4], 0
    try:
        k += 1
        xs[n] = 10
        k += 1
        xs[n - 1] = 20 // (n - 1)
        k += 1
    except (IndexError, ZeroDivisionError):
        k += 10
    return xs, k


@case(n)
def array_items(n):
    v = np.zeros(4)
    try:
        v[n] = 1.0
        v[n + 1] = 2.0
        v[n + 2] = 3.0
    except IndexError:
        v[0] -= 5.0
    return v


@ab.autobatch
def inverse(n):
    if n < 0:
        raise ValueError("negative")
    return 12 // n


@case(n)
def calls(n):
    total = 0
    for i in range(-2, n):
        try:
            total += inverse(i)
        except ZeroDivisionError:
            total += 100
            continue
        except (ValueError, KeyError):
            total -= 7
        else:
            total += 1000
    return total


@case(n)
def a_call_that_is_not_caught(n):
    try:
        return inverse(n)
    except ZeroDivisionError:
        return -1


@ab.autobatch
def descend(n, limit):
    if n > limit:
        raise OverflowError(n)
    if n <= 0:
        return 0
    return n + descend(n - 1, limit) * 2


@ab.autobatch
def climb(n, limit):
    if n > limit:
        raise KeyError("too high")
    return climb(n + 1, limit) if n < 2 * limit else n


@case(n)
def out_of_a_recursion(n):
    k = 1
    try:
        k = 2
        k = climb(n, 3)
        k = 4
    except LookupError:
        k += 10
    try:
        k += descend(n, 4)
    except OverflowError:
        k += 1000
    return k


@ab.autobatch
def guarded(n):
    """A recursion that catches, on its way, what it raises further down."""
    if n == 0:
        raise ValueError
    try:
        return guarded(n - 1) + 1
    except ValueError:
        if n < 3:
            raise KeyError(n)
        return 100 * n


@case(N([1, 2, 3, 4, 6]))
def recursion_that_catches(n):
    try:
        return guarded(n)
    except KeyError:
        return -n


@ab.autobatch
def puts(xs, k, v):
    xs[0] += 1
    xs[k] = v // k
    xs[1] += 1


@case(n)
def what_a_call_has_changed(n):
    xs = [0, 0, 0]
    try:
        puts(xs, n, 6)
    except IndexError:
        xs[2] = 50
    except ZeroDivisionError:
        xs[2] = 70
    return xs


@case(n)
def appends(n):
    xs = []
    for i in range(-1, 3):
        try:
            xs.append(i)
            xs.append(12 // (i - n))
            xs.append([7, 8, 9][i + n])
        except ZeroDivisionError:
            xs.append(-100)
        except IndexError:
            xs.pop()
    return xs


@case(n)
def pops(n):
    xs, total = [1, 2], 0
    for i in range(n):
        try:
            total += xs.pop()
        except IndexError:
            total += 10
            xs.extend([i, i])
    return total, xs


@case(n)
def nested(n):
    k = 0
    try:
        k += 1
        try:
            k += 10 // n
            k += [1, 2][n]
        except IndexError:
            k += 100 // (n - 3)
        k += 5
    except ZeroDivisionError:
        k += 1000
    return k


@case(n)
def raised_in_a_clause(n):
    try:
        try:
            y = 10 // n
        except ZeroDivisionError as error:
            raise ValueError(f"{n} is zero") from error
    except ValueError:
        y = -1
    return y


@case(n)
def raised_again(n):
    k = 0
    try:
        try:
            k = 10 // n
        except ZeroDivisionError:
            k -= 1
            raise
    except ArithmeticError:
        k -= 10
    return k


@case(n)
def raised_again_by_name(n):
    try:
        return 10 // n
    except ZeroDivisionError as error:
        if n < 1:
            raise error
    return 5


@case(n)
def finally_runs(n):
    k = 0
    try:
        try:
            k = 1
            k = 2 + [4, 5, 6][n]
        finally:
            k += 50
    except IndexError:
        k += 100
    return k


@case(n)
def leaving_through_finally(n):
    count = 0
    for i in range(5):
        try:
            if i == n:
                return i * 10 + count
            if i > 3:
                break
            if i % 2:
                continue
            y = 1 // (i - 2)
        except ArithmeticError:
            n += 1
        finally:
            count += 1
    return n * 100 + count


@case(n)
def finally_of_a_result(n):
    k = 1
    try:
        return k
    finally:
        k = 10 // (n + 10)


@case(n)
def finally_that_returns(n):
    try:
        return 10 // n
    finally:
        return 3


@case(n)
def finally_fails_itself(n):
    k = 0
    try:
        try:
            k += 1
            if n > 2:
                return k
        finally:
            k += 10 // n
    except ZeroDivisionError:
        k += 100
    return k


@case(n)
def nested_finally(n):
    k = 0
    while True:
        try:
            try:
                k += 1
                if k > n:
                    break
                k += 6 // (k - 3)
            finally:
                k += 10
        except ZeroDivisionError:
            k += 100
        finally:
            k += 1000
    return k


@case(n)
def asserts(n):
    try:
        assert n > 0, "must be positive"
    except AssertionError:
        return -n
    return n


class Odd(ValueError):
    pass


@case(n)
def own_class(n):
    try:
        if n % 2:
            raise Odd(n)
        k = 1
    except ValueError:
        k = 2
    return k


@case(n)
def of_a_subclass_only(n):
    try:
        if n > 2:
            raise ValueError
        if n % 2:
            raise Odd(n)
        k = 1
    except Odd:
        k = 2
    return k


@case(x)
def domain_errors(x):
    try:
        y = math.sqrt(x)
    except ValueError:
        y = -1.0
    try:
        y += math.exp(x)
    except OverflowError:
        y += 0.5
    return y


@case(n)
def int_of_what_is_no_number(n):
    z = n * math.inf if n != 0 else math.nan
    try:
        return int(z if n < 5 else 2.5)
    except ValueError:
        return -1
    except OverflowError:
        return -2


@case(n)
def powers(n):
    try:
        return (n * 0.0) ** -2.0 if n < 3 else (n * 1e100) ** 5.0
    except ZeroDivisionError:
        return -1.0
    except OverflowError:
        return -2.0


@case(n)
def known_failures(n):
    table = {"a": 1}
    try:
        k = table["b"]
    except KeyError:
        k = 5
    try:
        k += [1, 2, 3][7] if n > 2 else 0
    except IndexError:
        k += 10
    try:
        k += 1 // 0
    except ZeroDivisionError:
        k += 100
    return k + n


@case(n)
def only_raises(n):
    try:
        raise ValueError("always")
    except ValueError:
        return n
    return -1


@case(n)
def nested_function(n):
    def safe(a, b):
        try:
            return a // b
        except ZeroDivisionError:
            return 0

    return safe(n, 2) + safe(2, n) * 10


@case(n)
def search_with_a_limit(n):
    found = -1
    try:
        for i in range(10):
            for j in range(10):
                if i * j == n * 3 and i > 1:
                    raise StopIteration
    except StopIteration:
        found = i * 10 + j
    return found


@case(n)
def unset_where_it_failed(n):
    try:
        y = 10 // n
    except ZeroDivisionError:
        pass
    return y


@case(n)
def comprehension(n):
    try:
        return sum([10 // (n - k) for k in range(4)])
    except ZeroDivisionError:
        return -1


@case(n)
def condition_of_a_loop(n):
    k = 0
    try:
        while 12 // (4 - k) < n + 4:
            k += 1
    except ZeroDivisionError:
        k += 100
    return k


@case(n)
def list_methods(n):
    xs = [1, 2, 3]
    try:
        at = xs.index(n)
    except ValueError:
        at = -1
    try:
        xs.remove(n)
    except ValueError:
        at -= 10
    try:
        a = xs[at + 11]
    except IndexError:
        a = 7
    return at, a, xs


@case(n, refused="exception-text")
def what_it_says(n):
    try:
        return 10 // n
    except ZeroDivisionError as error:
        return len(str(error))


@case(n, refused="except-clause")
def recursion_error(n):
    try:
        return inverse(n)
    except RecursionError:
        return 0


@case(n, refused="except-clause")
def class_of_a_member(n):
    kinds = (ValueError, KeyError)
    try:
        return 10 // n
    except kinds:
        return 0


@case(N([30, 5, 0]), fails=[0])
def limits_are_not_caught(n):
    k = 1
    try:
        for i in range(n):
            k *= 8
        k //= n
    except ArithmeticError:
        return -1
    return k


@case(n, refused="finally-leaves")
def finally_that_may_return(n):
    try:
        return 10 // n
    finally:
        if n > 3:
            return 3


@case(n)
def raised_again_of_several(n):
    try:
        return 10 // n
    except (ZeroDivisionError, KeyError):
        raise


@ab.autobatch
def even(n):
    if n == 0:
        raise StopIteration
    try:
        return odd(n - 1)
    except LookupError:
        return 7 * n


@ab.autobatch
def odd(n):
    if n == 0:
        raise KeyError
    try:
        return even(n - 1) + 1
    except (IndexError, StopIteration):
        return 100 * n


@case(N([0, 1, 2, 3, 4, 5]))
def mutual_recursion_that_catches(n):
    try:
        return even(n)
    except StopIteration:
        return -1


@case(N(range(7)))
def raises_at_first(n):
    """What is known when the line is first looked at raises; later values do not."""
    total, found = 0, []
    for i in range(n):
        try:
            total += 6 // i
            found.append(12 // i)
        except ZeroDivisionError:
            total += 10
    return total, found


@case(N(range(7)))
def tries_again(n):
    k = 0
    while True:
        try:
            q = 100 // k
            break
        except ZeroDivisionError:
            k += 1
            if k > 5:
                return -1
    return q + n


@case(N(range(7)))
def an_empty_list_at_first(n):
    stack = []
    for i in range(n):
        try:
            top = stack[-1]
        except IndexError:
            top = -1
        stack.append(i + top)
    return stack


@ab.autobatch
def twelfth(k, m):
    if m > 2:
        m += 1
    try:
        return 12 // k + m
    except ZeroDivisionError:
        return -1


@case(N(range(7)))
def known_arguments(n):
    return twelfth(0, n) + 10 * twelfth(1, n) + 100 * twelfth(2, n)


class OfTheirOwn(Exception):
    pass


def odd(i):
    if i % 3 == 0:
        raise OfTheirOwn("three")
    return i


@case(N(range(7)))
def classes_of_their_own_at_first(n):
    total = 0
    for i in range(n):
        try:
            total += odd(i)
        except OfTheirOwn:
            total += 10
    return total


@case(N(range(7)))
def raised_again_as_a_wider_class(n):
    try:
        try:
            assert n > 2
        except Exception:
            raise
    except AssertionError:
        return -1
    except Exception:
        return -2
    return n


@case(N([0, 1, 2, 3, 4, 5, -1, -4, 7, 9]), N([3, 0, 1, 2, 5, -2, 4, 1, 0, 6]))
def checks_of_what_is_known_later(n, m):
    a = 0
    b = 0
    v = [1, 2]
    if a == 0:
        v[m] += b
    if a >= n:
        b = int(b / 2)
    elif n > 3:
        b = m
    return b, v


@case(N(range(7)))
def a_result_that_nobody_reads(n):
    try:
        a = twelfth(n, n) // n
    except ZeroDivisionError:
        a = 5
    a = n + 1
    return a


@case(N([0, 2, -8, 10]), N([-1, -2, 3, 400]))
def powers_of_floats(n, m):
    try:
        return math.pow(n, m)
    except OverflowError:
        return -1.0
    except ValueError:
        return -2.0


@case(N([0, 2, -8]), N([0.0, 0.5, -2.0]))
def negative_powers(n, x):
    try:
        a = float(n) ** -1.0
    except ZeroDivisionError:
        a = -1.0
    try:
        b = 2.0**n
        c = float(x) ** -2
    except ZeroDivisionError:
        c = b = -3.0
    return a, b, c


@case(N([0, 1, 2, 3]), N([-1, 0, 3, 2]))
def negative_powers_of_ints(n, m):
    try:
        return (n - 1 + 1) ** m
    except ZeroDivisionError:
        return -1


@case(n)
def raised_for_a_value_that_is_known_at_first(n):
    total, kept = 0.0, []
    for i in range(n):
        try:
            total += math.sqrt(i - 2)
        except ValueError:
            total += 100
        try:
            total += [5, 3, 1].index(i) + [4, 2][i]
        except (ValueError, IndexError):
            total += 1000
        try:
            total += kept.pop()
        except IndexError:
            kept.append(i)
        try:
            total += int("none")
        except ValueError:
            total += 10_000
    return total


@case(N([3, 0, -2, 5, 1]))
def raised_where_nobody_gets(n):
    if n > 5:
        return math.sqrt(-1) + [1, 2].index(3)
    return n


@case(n)
def helpers_that_are_mapped(n):
    def checked(v):
        if v < 0:
            raise ValueError("negative")
        return v

    try:
        return sum(map(checked, [n - 2, n]))
    except ValueError:
        return -1


@case(N([1, 0, 3, 6]))
def finally_with_branches(n):
    s = 0
    try:
        s = 10 // n
    except ZeroDivisionError:
        s = -1
    finally:
        for i in range(n):
            if i == 2:
                break
            s += i
        if n == 6:
            s *= 2
        else:
            try:
                s += 6 // (n - 3)
            except ZeroDivisionError:
                s = 100
    return s


@case(n)
def leaves_two_at_once(n):
    v, log = n, []

    def walk():
        try:
            try:
                return log
            finally:
                log.append(n)
        finally:
            log.append(100)

    for i in range(4):
        try:
            try:
                if i == 1:
                    continue
                if i == n:
                    break
                v += 10 // (i - 2)
            except ZeroDivisionError:
                v += 100
                continue
            finally:
                v += 1
        finally:
            v *= 2
    return v, walk()


@case(n)
def returns_from_the_outer_of_two(n):
    try:
        try:
            return n
        finally:
            n += 1
    finally:
        return n


@case(n)
def returns_whatever_was_raised(n):
    try:
        if n > 1:
            return 1
        raise ValueError
    finally:
        return n * 2


@case(n)
def raised_in_the_inner_finally(n):
    x = [n]

    def tried():
        try:
            try:
                return x[0]
            finally:
                x[0] += 1
                x[0] = 10 // (n - 1) + x[0]
        except ZeroDivisionError:
            return -5
        finally:
            x[0] *= 3

    return tried(), x[0]


@case(n)
def none_for_those_who_read_it(n):
    a = None
    try:
        s = (a + 1 if n > 1 else n) % 13
    except TypeError:
        s = 20
    try:
        t = n > 1 and a + 1 > 3
    except TypeError:
        t = True
    try:
        s += a.x if n > 1 else n
    except AttributeError:
        s += 30
    return s, t


@case(n, fails=(0, 3))
def attributes_of_none(n):
    a = None
    return a.x if n > 1 else n


def divided(n):
    with suppress(ZeroDivisionError, KeyError):
        return 10 // n


@case(n)
def what_is_suppressed(n):
    total = divided(n) or 5
    for i in range(3):
        with suppress(LookupError):
            total += [1, 2][n - i]
            total += 100
        total += 1
    with contextlib.suppress(ZeroDivisionError):
        try:
            total += 7 // n
        finally:
            total += 1000
    return total
